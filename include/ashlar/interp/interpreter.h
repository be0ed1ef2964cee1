// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The reference interpreter: what a program means, run one value at a time with every access checked.
//
//   run_algorithm   the stage definitions alone, each point computed when a reader first asks for it. The oracle: it shares
//                   nothing with schedules, regions or lowering.
//   run(Program)    the scheduled tree: nests, loops, parts, blocks, allocations with their derived boxes and layouts.
//                   Parallel, vectorized and unrolled loops run serially (their marks promise that this changes nothing; on
//                   demand, two iterations that touch one element are looked for).
//   run(Kernel)     the lowered form, flat addresses and vector lanes included; launches thread by thread, with barriers,
//                   asynchronous copies that land as late as they may, and on demand a search for races (docs/parallel.md).
//
// Invariant: a run that returns has read only what was written before, inside its box; anything else is a RunError that
// names the stage, the iteration and the index.
//
//   interp::Arguments args{Array::zeros(f32, {64, 32}), Array::zeros(f32, {32, 48}), Array::zeros(f32, {64, 48})};
//   interp::Counters n = interp::run_algorithm(matmul, args);   // args[2].array now holds the product
//   n.evaluations[stage_id];                                    // 64 * 48 * 32
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/program.h>

namespace ashlar::interp {

// A tensor of the caller: `bytes` holds it, strides count elements (empty: dense, row-major).
struct Array {
  Type type;
  std::vector<std::int64_t> shape, strides;
  std::vector<std::byte> bytes;

  static Array zeros(Type, std::vector<std::int64_t> shape);
  static Array make(Type, std::vector<std::int64_t> shape, const std::function<double(std::span<const std::int64_t>)>& value);
  std::int64_t elements() const;                                   // the product of the shape
  std::int64_t offset(std::span<const std::int64_t> index) const;  // in elements; InternalError outside the shape
  ir::Value at(std::span<const std::int64_t> index) const;
  double real(std::initializer_list<std::int64_t> index) const;  // as a double, whatever the type
  std::int64_t integer(std::initializer_list<std::int64_t> index) const;
  void set(std::span<const std::int64_t> index, const ir::Value&);
};

// One actual argument: an array, or the value of a Scalar.
struct Actual {
  Actual(Array a) : array(std::move(a)) {}
  Actual(ir::Value v) : scalar(v), is_scalar(true) {}
  Array array;
  ir::Value scalar;
  bool is_scalar = false;
};
using Arguments = std::vector<Actual>;  // in the order of declaration, outputs included with their shapes

struct Options {
  enum class Order { forward, reverse, shuffled } parallel_order = Order::forward;
  std::uint64_t seed = 0;  // of the shuffle
  // A tensorized loop of a scheduled program: by the meaning of its intrinsic, or by the loops that it stands for.
  enum class Intrinsics { described, erased } intrinsics = Intrinsics::described;
  int vscale = 2;  // of scalable vectors: how many times the lanes that are written (ir/vscale.h)
  // Every two conflicting accesses must be ordered: of launches, by synchronisation; of a scheduled program, by loops whose
  // iterations do not run at once.
  bool races = false;
  bool layouts = false;         // a scheduled program: points share an element of a layout in rings alone
  std::int64_t max_blocks = 0;  // a scheduled program: how often its blocks may execute, over all (0: without end)
};

struct Counters {
  std::map<ir::Id, std::int64_t> evaluations;  // of each stage: how often its value expressions were evaluated (inits apart)
  std::map<ir::Id, std::int64_t> bytes_of;     // of each temporary: the largest box it was given, in bytes
  std::int64_t peak_bytes = 0;                 // most bytes of temporaries alive at once
  std::int64_t allocations = 0;                // entries of temporaries into life
};

class RunError : public std::exception {
 public:
  enum class Kind {
    arguments,
    out_of_bounds,
    uninitialised,
    broken_promise,
    overflow,
    limit,  // Options::max_blocks
    // launches (docs/parallel.md, "What the interpreter reports")
    deadlock,
    divergence,
    synchronisation,
    in_flight,
    race
  };
  RunError(Kind k, std::string text) : kind(k), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  Kind kind;
  std::vector<Where> lines;          // launches: of the statements concerned, as the text names them
  std::vector<std::string> buffers;  // launches: what was accessed or waited for

 private:
  std::string text_;
};

Counters run_algorithm(const ir::Program&, Arguments&);
Counters run(const ir::Program&, Arguments&, const Options& = {});
Counters run(const ir::Kernel&, Arguments&, const Options& = {});

// Symbols solved from the shapes, in order of declaration; refused (RunError::Kind::arguments) where a shape, a fact or an
// assumption does not hold. `steps`: strides of arguments need no solving, they come from the arrays.
std::map<ir::Id, std::int64_t> solve_symbols(const std::vector<ir::Argument>&, const std::map<ir::Id, ir::Buffer>&,
                                             const std::map<ir::Id, ir::Symbol>&, const std::vector<Expr>& assumptions,
                                             const Arguments&);

// "" if equal (all NaNs equal, -0 and +0 not), else the first element that differs: "[3, 4]: 1.5, expected 1.25; 12 of 64
// differ".
std::string difference(const Array& found, const Array& expected);
// The same with a bound on the error relative to the larger magnitude, and an absolute one.
std::string difference(const Array& found, const Array& expected, double relative, double absolute);

}  // namespace ashlar::interp
