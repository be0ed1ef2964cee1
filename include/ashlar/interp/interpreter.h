// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The reference interpreter. It defines what a program means: it runs one value at a time and checks every access.
//
//   run_algorithm   runs the definitions of the stages alone, each point when a reader first needs it. This is the oracle: it
//                   shares nothing with schedules, regions or lowering.
//   run(Program)    runs the scheduled tree: nests, loops, parts, blocks, allocations with their boxes and layouts. Parallel,
//                   vectorized and unrolled loops run serially, since their marks promise that this changes nothing. On request
//                   it searches for two iterations that access one element.
//   run(Kernel)     runs the lowered form, with flat addresses and vector lanes. Launches run thread by thread, with barriers.
//                   Asynchronous copies arrive as late as they may. On request it searches for races (docs/parallel.md).
//
// Invariant: a run that returns has read only elements that were written before, inside their boxes. Anything else is a
// RunError, which names the stage, the iteration and the index.
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

// A tensor: `bytes` holds its elements. Strides count elements; without strides it is dense and row-major.
struct Array {
  Type type;
  std::vector<std::int64_t> shape, strides;
  std::vector<std::byte> bytes;

  static Array zeros(Type, std::vector<std::int64_t> shape);
  static Array make(Type, std::vector<std::int64_t> shape, const std::function<double(std::span<const std::int64_t>)>& value);
  std::int64_t elements() const;                                   // the product of the shape
  std::int64_t offset(std::span<const std::int64_t> index) const;  // in elements; InternalError outside the shape
  ir::Value at(std::span<const std::int64_t> index) const;
  double real(std::initializer_list<std::int64_t> index) const;  // as a double, for every type
  std::int64_t integer(std::initializer_list<std::int64_t> index) const;
  void set(std::span<const std::int64_t> index, const ir::Value&);
};

// An argument of a run: an array, or the value of a Scalar.
struct Actual {
  Actual(Array a) : array(std::move(a)) {}
  Actual(ir::Value v) : scalar(v), is_scalar(true) {}
  Array array;
  ir::Value scalar;
  bool is_scalar = false;
};
using Arguments = std::vector<Actual>;  // in the order of declaration; outputs are arrays of their shapes

struct Options {
  enum class Order { forward, reverse, shuffled } parallel_order = Order::forward;
  std::uint64_t seed = 0;  // for Order::shuffled
  // How a tensorized loop runs: by the description of its intrinsic, or as the loops that the intrinsic replaced.
  enum class Intrinsics { described, erased } intrinsics = Intrinsics::described;
  std::int64_t misaligned = 0;  // for kernels that test alignment: every argument begins this far past a multiple of 16 bytes
  int vscale = 2;               // the length of scalable vectors: a multiple of the lanes that are written (ir/vscale.h)
  // Checks that conflicting accesses are ordered: in launches by synchronization, in scheduled programs by loops whose
  // iterations do not run concurrently.
  bool races = false;
  bool layouts = false;         // scheduled programs: checks that points share an element of a layout only in rings
  std::int64_t max_blocks = 0;  // scheduled programs: the most blocks to execute, in total (0: no limit)
};

struct Counters {
  std::map<ir::Id, std::int64_t> evaluations;  // for each stage, how often its values were evaluated (without initial values)
  std::map<ir::Id, std::int64_t> bytes_of;     // for each temporary, the bytes of its largest box
  std::int64_t peak_bytes = 0;                 // the maximum bytes of live temporaries
  std::int64_t allocations = 0;                // the number of times that temporaries were allocated
};

class RunError : public std::exception {
 public:
  enum class Kind {
    arguments,
    out_of_bounds,
    uninitialized,
    broken_promise,
    overflow,
    limit,  // Options::max_blocks was reached
    // Launches (docs/parallel.md, "What the interpreter reports").
    deadlock,
    divergence,
    synchronization,
    in_flight,
    race
  };
  RunError(Kind k, std::string text) : kind(k), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  Kind kind;
  std::vector<Where> lines;          // of launches: the lines of the statements that the text names
  std::vector<std::string> buffers;  // of launches: what was accessed or waited for

 private:
  std::string text_;
};

// Run a program or a kernel on the arguments and write the outputs into their arrays. Failures are RunErrors.
Counters run_algorithm(const ir::Program&, Arguments&);
Counters run(const ir::Program&, Arguments&, const Options& = {});
Counters run(const ir::Kernel&, Arguments&, const Options& = {});

// Solves for the symbols from the shapes, in order of declaration. A shape, a fact or an assumption that does not hold is a
// RunError of Kind::arguments. Strides of arguments come from the arrays.
std::map<ir::Id, std::int64_t> solve_symbols(const std::vector<ir::Argument>&, const std::map<ir::Id, ir::Buffer>&,
                                             const std::map<ir::Id, ir::Symbol>&, const std::vector<Expr>& assumptions,
                                             const Arguments&);

// "" if the arrays are equal, otherwise the first difference: "[3, 4]: 1.5, expected 1.25; 12 of 64 differ". All NaNs are
// equal; -0 and +0 differ.
std::string difference(const Array& found, const Array& expected);
// The same with two bounds on the error: relative to the larger magnitude, and absolute.
std::string difference(const Array& found, const Array& expected, double relative, double absolute);

}  // namespace ashlar::interp
