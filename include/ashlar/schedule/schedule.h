// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The schedule: handles to stages and loops, and the primitives. Each call applies, or throws a Refusal at the caller's line.
//
//   auto [i, j] = s[C].spatial<2>();
//   auto [io, jo, ii, ji] = s[C].tile(i, j, 64, 64);
//   s[C].vectorize(ji, s.target().lanes(f32)).parallel(io);
//   s[P].compute_at(jo);
//
// Handles are values: an id and the schedule that they came from. Only this schedule accepts them; a copy of a schedule has its
// own handles. A consumed loop remembers what it became: using k after split(k, ...) is refused with "k of C, which was split
// into ko and ki at matmul.cpp:31".
//
// This order of steps always works: consumer loops, placement, producer loops, storage, kinds of loops.
#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <ashlar/ir/refusal.h>
#include <ashlar/ir/scope.h>
#include <ashlar/ir/thread_axis.h>
#include <ashlar/lang/compute.h>
#include <ashlar/instructions/intrinsic.h>
#include <ashlar/target/target.h>

namespace ashlar {

class Schedule;
class Stage;
struct Async;
namespace schedule {
struct Scheduled;
struct Arg;
struct Primitive;
}  // namespace schedule
namespace lang {
struct Built;
}
namespace ir {
struct Program;
}
namespace detail {
struct ScheduleState;
}

class Loop {  // a handle to one loop of a stage, for the schedule that it came from
 public:
  Loop() = default;
  Expr extent(Where = Where::current()) const;             // over symbols and the variables of loops around it
  std::string_view label(Where = Where::current()) const;  // "io"
  ir::Id id() const { return id_; }
  friend bool operator==(Loop a, Loop b) { return a.id_ == b.id_; }

 private:
  friend class Stage;
  friend class Schedule;
  Loop(ir::Id id, detail::ScheduleState* s) : id_(id), state_(s) {}
  ir::Id id_ = 0;
  detail::ScheduleState* state_ = nullptr;
};
struct LoopAt {  // carries the line past a pack
  Loop loop;
  Where where;
  LoopAt(Loop l, Where w = Where::current()) : loop(l), where(w) {}
};

class Factor {  // a C++ integer or a Param: never an Expr, a schedule is decided before anything runs
 public:
  template <Number T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  Factor(T value) : value_(static_cast<std::int64_t>(value)) {}
  template <class T>
  Factor(const Param<T>& p) : value_(static_cast<std::int64_t>(static_cast<const T&>(p))) {}
  template <std::derived_from<Expr> E>
  Factor(const E&) {
    static_assert(detail::never<E>,
                  "a factor is a C++ number or a Param, decided when the generator runs; a Symbol has no value yet "
                  "(split(k, Parts{n}) splits into n parts)");
  }
  std::int64_t value() const { return value_; }

 private:
  std::int64_t value_ = 0;
};
struct Scalable {
  Factor lanes;
};  // vectorize(l, Scalable{4}): 4 * vscale lanes, as many as the machine has
struct Parts {
  Factor count;
};  // split(k, Parts{8}): into 8, instead of by 8

// What a split does with an extent that the factor does not divide: guard (the default) tests, shift moves the last tile back,
// pad computes past the end, peel makes a separate loop for the last tile, exact proves that the factor divides. cover tests as
// guard does, but what is computed inside of the loops is computed for whole tiles. predicate is another name for guard.
enum class Tail { guard, predicate, shift, pad, peel, exact, cover };
enum class Peel { first, last };
enum class Place { last, first };  // rfactor's new dimension comes after or before the others
struct Ends {                      // the loops over the iterations taken out at both ends
  Loop first, last;
};
// by_caller changes the ABI: the argument arrives packed. at_entry: the kernel packs it; a constant when it is compiled.
enum class Pack { at_entry, by_caller };

struct Split {  // what a loop became
  Loop outer, inner;
};
struct Tiles {  // the loops of a tile, outermost first
  Loop outer_i, outer_j, inner_i, inner_j;
};

template <std::size_t N>
struct At {
  std::array<Expr, N> index;
};
template <class... I>
At<sizeof...(I)> at(const I&... i) {
  return {{value_of(i)...}};
}  // the result of an index map

namespace detail {
// Calls an index map, [](Var k, Var n) { return at(n / 16, k, n % 16); }, with fresh variables.
template <class F>
void map_of(F& map, std::vector<Expr>& vars, std::vector<Expr>& exprs) {
  static_assert(written_out_parameters<F>, "an index map: write the parameters as Var, not auto, so that the rank is known");
  constexpr std::size_t rank = arity<decltype(&std::remove_cvref_t<F>::operator())>::value;
  const Indices from = new_indices(nullptr, rank);
  const auto to = call(map, from, std::make_index_sequence<rank>{});
  for (std::size_t k = 0; k < rank; ++k) vars.push_back(from[static_cast<int>(k)]);
  for (const Expr& e : to.index) exprs.push_back(e);
}
}  // namespace detail

class StageRef {  // a tensor or a stage
 public:
  StageRef(const Tensor& t) : tensor_(t.id()) {}
  StageRef(const Stage& s);

 private:
  friend class Schedule;
  friend class Stage;
  ir::Id tensor_ = 0, stage_ = 0;
  detail::ScheduleState* state_ = nullptr;  // of a stage
};
struct TensorAt {  // carries the line into an operator
  const Tensor& tensor;
  Where where;
  TensorAt(const Tensor& t, Where w = Where::current()) : tensor(t), where(w) {}
};
struct StageAt {
  const Stage& stage;
  Where where;
  StageAt(const Stage& s, Where w = Where::current()) : stage(s), where(w) {}
};

class Stage {  // a handle to a stage: each step returns it, or what it made
 public:
  Stage(const Stage&) = default;
  Stage& operator=(const Stage&) = default;

  // handles
  template <std::size_t N>
  std::array<Loop, N> spatial(Where w = Where::current()) const {  // over dimensions, in their order
    return pick<N>(false, w);
  }
  template <std::size_t N>
  std::array<Loop, N> reduction(Where w = Where::current()) const {  // over terms; of a scatter over points
    return pick<N>(true, w);
  }
  template <class T = void>
  std::array<Loop, 1> spatial(Where = Where::current()) const {
    static_assert(detail::never<T>, "spatial: write how many dimensions the stage has: auto [i, j] = s[C].spatial<2>()");
    return {};
  }
  Loop reduction(Where = Where::current()) const;                                                     // exactly one, or refused
  std::vector<Loop> spatial_loops(Where w = Where::current()) const { return roots_(false, {}, w); }  // as many as there are
  std::vector<Loop> reduction_loops(Where w = Where::current()) const { return roots_(true, {}, w); }
  Loop loop(const Axis&, Where = Where::current()) const;           // by identity
  std::vector<Loop> nest(Where = Where::current()) const;           // in the current order, outermost first
  std::vector<Loop> loops(Where = Where::current()) const;          // all there are, peeled ones and copies among them
  Loop copy(Loop of, Loop peeled, Where = Where::current()) const;  // inside a peeled loop, the copy of a loop
  // The stage of this name inside of this recurrence; without a name, the only one. A reduction that is written in the step has
  // no tensor, and is found by its name: s[x].inside("x_sum").
  Stage inside(const char* name = nullptr, Where = Where::current()) const;
  ir::Id id() const { return id_; }
  const char* name() const;

  // loops
  Split split(Loop, Factor, Tail = Tail::guard, Where = Where::current()) const;  // the inner loop: Factor iterations
  Split split(Loop, Parts, Tail = Tail::guard, Where = Where::current()) const;   // the outer loop: at most Parts
  Loop fuse(Loop outer, Loop inner, Where = Where::current()) const;              // one loop of both
  // With each iteration of `along`, the second loop begins `by` iterations later. A reorder may then move it outside of
  // `along`: wavefronts.
  Loop skew(Loop along, Loop, Factor by, Where = Where::current()) const;
  Tiles tile(Loop i, Loop j, Factor, Factor, Tail = Tail::guard, Where = Where::current()) const;  // two splits, reordered
  template <std::same_as<Loop>... L>
  Stage reorder(LoopAt outermost, L... rest) const {  // these loops, outermost first, in the places that they have
    const Loop loops[] = {outermost.loop, rest...};
    return reorder(loops, outermost.where);
  }
  Stage reorder(std::span<const Loop> outermost_first, Where = Where::current()) const;
  Loop peel(Loop, Peel, Where = Where::current()) const;  // the loop over the iteration taken out
  Ends peel(Loop, Where = Where::current()) const;        // at both ends: in between, clamps and guards are often decided
  // Cuts the loop at iteration `at`, counted from 0, a number or a formula of Symbols. The loop keeps the iterations before it;
  // the returned loop has the others.
  Loop partition(Loop, Operand at, Where = Where::current()) const;
  Stage reverse(Loop, Where = Where::current()) const;                  // from the last value of its variable to the first
  Stage tighten(Loop, Where = Where::current()) const;                  // ends where the domain ends, instead of a guard
  Stage vectorize(Loop, Where = Where::current()) const;                // constant extent
  Stage vectorize(Loop, Factor lanes, Where = Where::current()) const;  // the loop stays, as the outer one
  // On a device with vector accesses to memory (CUDA): they need rows that begin at multiples of a vector, which arguments
  // need not promise with gpu::any_alignment. Each call shows whether they do, and takes accesses of elements otherwise.
  Stage vectorize(Loop, gpu::AnyAlignment, Where = Where::current()) const;
  // Vectors as long as the machine has them: a target with scalable vectors (aarch64+sve), 2 or more lanes of 128 bits.
  Stage vectorize(Loop, Scalable, Where = Where::current()) const;
  Stage unroll(Loop, Where = Where::current()) const;            // as code, one iteration after another; constant extent
  Stage unroll(Loop, Factor, Where = Where::current()) const;    // the loop stays, as the outer one
  Stage unroll_and_jam(Loop, Where = Where::current()) const;    // inside of the serial loops in it
  Stage parallel(Loop, Where = Where::current()) const;          // on the threads of the pool; independent iterations
  Stage bind(Loop, ThreadAxis, Where = Where::current()) const;  // to gpu::block_x, gpu::thread_x, ...
  Stage vthread(Loop, Where = Where::current()) const;           // virtual threads: one thread computes them, interleaved
  // On a target with tiles: the iterations are a dimension of the tiles that the stage is computed in. Without a width the
  // extent is a constant power of two; with one, a power of two, at most that.
  template <std::same_as<Loop>... L>
  Stage as_tile(LoopAt loop, L... more) const {
    const Loop loops[] = {loop.loop, more...};
    return as_tile(std::span<const Loop>(loops), loop.where);
  }
  Stage as_tile(std::span<const Loop>, Where = Where::current()) const;
  Stage as_tile(Loop, Factor width, Where = Where::current()) const;

  // ---- placement. A Loop belongs to one stage, so the stage is not named as well
  Stage compute_at(Loop, Where = Where::current()) const;  // inside a loop of its reader, for what an iteration reads
  Stage compute_root(Where = Where::current()) const;      // outside of all loops: each point once
  Stage inline_(Where = Where::current()) const;           // replaces each read by its formula
  Stage fuse_into(Loop producer_loop, Where = Where::current()) const;  // reverse compute_at
  Stage fuse_siblings(Loop sibling, Where = Where::current()) const;    // one loop of both outermost ones, of equal extent
  Stage store_at(Loop, Where = Where::current()) const;                 // storage that lives around this loop's iteration
  Stage slide(Loop, Where = Where::current()) const;                    // only what the iterations before have not computed
  Stage fold(int dim, Factor, Where = Where::current()) const;          // a ring: row d of it in slot d % Factor

  // storage
  Stage store_in(Scope, Where = Where::current()) const;         // which memory it lies in
  Stage align(int dim, Factor, Where = Where::current()) const;  // rounds the stored extent up to a multiple
  Stage widen(Type, Where = Where::current()) const;             // of a copy: holds what readers convert to
  Stage stream_store(Where = Where::current()) const;            // of an output: past the caches
  template <class F>
  Stage transform_layout(F&& map, Where w = Where::current()) const {  // element (i, j) lies at map(i, j)
    std::vector<Expr> vars, exprs;
    detail::map_of(map, vars, exprs);
    return set_layout_(vars, exprs, w);
  }
  // A layout that permutes what is stored, [](Var r, Var c) { return at(r, c ^ (r % 4 * 8)); }: no storage is added.
  template <class F>
  Stage swizzle(F&& map, Where w = Where::current()) const {
    std::vector<Expr> vars, exprs;
    detail::map_of(map, vars, exprs);
    return swizzle_(vars, exprs, w);
  }
  // The storage of a component (0 for a stage of one value) lacks a dimension that its value does not depend on.
  Stage drop_dim(int component, int dim, Where = Where::current()) const;
  // A layout that leaves `by` elements free behind each row of a dimension: row r of 32 starts at r * (32 + by).
  Stage pad(int dim, Factor by, Where = Where::current()) const;
  Stage prefetch(Loop, StageRef, Factor ahead,
                 Where = Where::current()) const;  // fetches what is read `ahead` iterations later
  // Loads ahead: in each iteration of the loop where this stage is placed, its values for the next one are computed before
  // those of the current one are read. This is a pipeline of two stages; several loads of one loop share one.
  Stage double_buffer(Where = Where::current()) const;
  // What the loads compute for an iteration of the loop is computed stages - 1 iterations earlier.
  Stage pipeline(Loop, const Async&, Where = Where::current()) const;

  // reduction
  Stage rfactor(Loop, Where = Where::current()) const;  // a new stage of partial results; their dimension is the last
  Stage rfactor(Loop, Place, Where = Where::current()) const;
  // A new stage combines the terms of earlier iterations of `blocks`; this stage continues from it with the other terms.
  // `blocks` is the outer loop of a split, by a constant, of a dimension of this stage or of a stage that reads it there.
  Stage cut(Loop terms, Loop blocks, Where = Where::current()) const;
  // Scans in blocks. Returns three new stages: the total of each block, what precedes each block, and each block scanned by
  // itself. This stage combines them, so its points are independent. The loop is the outer one of a split, by a constant, of
  // the loop that the stage scans along.
  std::array<Stage, 3> associative_scan(Loop, Where = Where::current()) const;
  // The loop may be bound to threads: each sums a part, and every thread gets the sum of all parts.
  Stage cross_thread_reduce(Loop, Where = Where::current()) const;
  Stage decompose_init(Loop, Where = Where::current()) const;  // moves the init before the loop, separate from the update
  // Steps that run at the same time (parallel, or bound to blocks or threads) update memory atomically.
  Stage atomic(Where = Where::current()) const;
  // Multiplies out a sum of integers whose term is a product with sums in it: (x - z) * w becomes one sum of x * w and one of
  // w. Returns the N sums, those of most dimensions first. This stage adds them up and has no reduction loop any more.
  template <std::size_t N>
  std::array<Stage, N> distribute(Where w = Where::current()) const {
    const std::vector<Stage> sums = distribute_(N, w);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::array<Stage, N>{sums[K]...};
    }(std::make_index_sequence<N>());
  }
  // Merges this sum and the maximum (or minimum) that its terms read into one reduction: one pass over the points, which both
  // have in common. At each new maximum the sum so far is multiplied by rescale(old, now), your declaration, which is tested
  // on sample values. Returns the reduction, which takes the place of the maximum.
  //
  //   s[total].roll(top, [](Expr old, Expr now) { return exp(old - now); });      // sum of exp(x - top)
  template <class F>
  Stage roll(StageRef leader, F&& rescale, Where w = Where::current()) const {
    const std::array<Expr, 2> values = values_of_(leader, w);
    return roll_(leader, values, rescale(values[0], values[1]), w);
  }
  // The terms of this stage read the maximum (or minimum) of their own part, which rfactor made, in place of that of all parts;
  // the sums of the parts are multiplied by rescale(maximum of the part, of all) where they are added. `roll` makes one pass of
  // them then.
  template <class F>
  Stage rebase(StageRef leader, F&& rescale, Where w = Where::current()) const {
    const std::array<Expr, 2> values = values_of_(leader, w);
    return rebase_(leader, values, rescale(values[0], values[1]), w);
  }
  Stage init(Where = Where::current()) const;  // afterwards: the same stage, by the loops of its init

  // This stage in the variant of the schedule for calls that satisfy the condition (Schedule::specialize).
  Stage specialize(Operand condition, Where = Where::current()) const;

  // The loop and all inside it become one call of an instruction.
  Stage tensorize(Loop outermost_of_block, const Intrinsic&, Where = Where::current()) const;  // proved to mean the same

 private:
  friend class Schedule;
  friend class StageRef;
  Stage(ir::Id id, detail::ScheduleState* s, bool init = false) : id_(id), state_(s), init_(init) {}
  template <std::size_t N>
  std::array<Loop, N> pick(bool reduce, Where w) const {
    std::array<Loop, N> loops;
    const std::vector<Loop> all = roots_(reduce, N, w);
    for (std::size_t k = 0; k < N; ++k) loops[k] = all[k];
    return loops;
  }
  std::array<Expr, 2> values_of_(StageRef, Where) const;
  Stage roll_(StageRef, const std::array<Expr, 2>& values, const Expr& rescale, Where) const;
  Stage rebase_(StageRef, const std::array<Expr, 2>& values, const Expr& rescale, Where) const;
  std::pair<ir::Id, Expr> leader_and_rescale_(const schedule::Primitive&, StageRef, const std::array<Expr, 2>& values,
                                              const Expr& rescale, Where) const;
  std::vector<Loop> roots_(bool reduce, std::optional<std::size_t> expected, Where) const;
  std::vector<Stage> distribute_(std::size_t expected, Where) const;
  Stage set_layout_(const std::vector<Expr>& vars, const std::vector<Expr>& map, Where) const;
  Stage swizzle_(const std::vector<Expr>& vars, const std::vector<Expr>& map, Where) const;
  const std::vector<ir::Id>& apply(const schedule::Primitive&, std::vector<schedule::Arg>, Where) const;
  Stage done(const schedule::Primitive&, std::vector<schedule::Arg>, Where) const;  // which gives out no handle
  Stage of_own(const schedule::Primitive&, Loop, Where) const;                      // such a step of one loop, of this stage,
  Stage of_any(const schedule::Primitive&, Loop, Where) const;                      // or of this stage and a loop of any
  schedule::Arg own(Loop, const schedule::Primitive&, Where) const;                 // a loop of this stage
  schedule::Arg any(Loop, const schedule::Primitive&, Where) const;                 // a loop of this schedule
  schedule::Arg any(Loop, const char* call, Where) const;
  static ir::Id buffer_of(const detail::ScheduleState&, StageRef, const char* primitive, Where);

  ir::Id id_ = 0;
  detail::ScheduleState* state_ = nullptr;
  bool init_ = false;  // its loops are those of the init
};

struct Async {  // how a loop is pipelined
  int stages = 2;
  std::vector<Stage> loads = {};
  bool async_copy = false;  // by the asynchronous copies of the device, where it has them
  // With async_copy: arguments need not promise that their rows begin at multiples of the copies' size. Each call shows it, and
  // takes ordinary copies if they do not.
  bool any_alignment = false;
};

class Schedule {  // of a program: a value, copying is deep
 public:
  Schedule(const Schedule&);  // with handles of its own
  Schedule& operator=(const Schedule&);
  ~Schedule();

  Stage operator[](TensorAt) const;  // by value: cheap, and nothing can dangle
  Stage operator[](StageAt) const;   // in a variant: its own version of a stage from before specialize()
  // Another stage with the same definition, which these readers read instead; it may be computed elsewhere.
  Stage clone(StageRef, std::initializer_list<StageRef> readers, Where = Where::current());
  Stage cache_read(StageRef source, std::initializer_list<StageRef> readers, Scope, Where = Where::current());  // a copy
  // The copy holds `fill` where the source has no element, so readers may read past the end.
  Stage cache_read(StageRef source, std::initializer_list<StageRef> readers, Scope, Operand fill, Where = Where::current());
  Stage cache_write(StageRef, Scope, Where = Where::current());  // a new stage computes; the old one copies from it
  // A condition over symbols that every proof may use from here on; checked at entry, where a call that breaks it is refused.
  void assume(Operand condition, Where = Where::current());
  // No two elements of an input of integers are equal: steps of a scatter that choose their element by it may run at once. A
  // promise of the caller, checked by the interpreter.
  void injective(const Tensor& table, Where = Where::current());
  // A variant: another schedule, for calls whose Symbols satisfy the condition, which its proofs may use. It begins with the
  // steps made so far. Each call takes the first variant whose condition holds, and this schedule if none does. The variant
  // lives as long as this schedule; loops and stages from before are valid in both. The same condition gives the same variant.
  //
  //   Schedule& narrow = s.specialize(N <= 8);        narrow[C].unroll(j);        s[C].vectorize(j, 8);
  Schedule& specialize(Operand condition, Where = Where::current());
  template <class F>
  void pack_argument(const Tensor& input, F&& layout, Pack pack, Where w = Where::current()) {  // an input's or constant's
    std::vector<Expr> vars, exprs;
    detail::map_of(layout, vars, exprs);
    pack_argument_(input, vars, exprs, pack, w);
  }
  // Applies all or nothing; the refusal is returned instead of thrown.
  template <class F>
  std::optional<Refusal> attempt(F&& steps) {
    return attempt_([](void* f) { (*static_cast<std::remove_reference_t<F>*>(f))(); }, &steps);
  }
  const Target& target() const;  // what code is made for: lanes, caches, features
  std::string text() const;      // the current program
  std::string trace() const;     // a line a step
  std::string json() const;      // the steps, to save and replay
  // The steps as C++ calls: a file with one function of the schedule, the tensors and whatever else the steps name. Asked of a
  // variant, trace(), json() and to_cpp() give the whole schedule.
  std::string to_cpp(std::string_view function = "schedule") const;
  std::uint64_t trace_hash() const;  // of the steps, their arguments and results; not of where they were written
  void replay(std::string_view json,
              Where = Where::current());  // all or nothing; a step that no longer holds is refused by its place

  // For the layers above: a program with what it was built from. Refused: reads that are not inside what they read.
  Schedule(lang::Built, const Target&);
  const schedule::Scheduled& scheduled() const;
  const ir::Program& algorithm() const;  // before any step
  // Calls the function after every step, with the text of the step and that of the program. Null: no calls.
  void observe(void (*)(void*, const std::string& step, const std::string& program), void*);

 private:
  friend struct detail::ScheduleState;
  explicit Schedule(detail::ScheduleState* variant) : state_(variant) {}
  std::optional<Refusal> attempt_(void (*)(void*), void*);
  void pack_argument_(const Tensor&, const std::vector<Expr>& vars, const std::vector<Expr>& map, Pack, Where);
  std::vector<schedule::Arg> reader_args(StageRef source, std::initializer_list<StageRef> readers, const Scope&,
                                         const Operand* fill, Where) const;
  ir::Id stage_of(StageRef, const char* primitive, Where) const;
  detail::ScheduleState* state_;
};

}  // namespace ashlar
