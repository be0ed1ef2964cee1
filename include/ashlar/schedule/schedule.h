// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The schedule: handles to stages and loops, and the primitives. Each call applies, or throws a RefusalError.
//
//   auto [i, j] = s[C].spatial<2>();
//   auto [io, jo, ii, ji] = s[C].tile(i, j, 64, 64);
//   s[C].vectorize(ji, s.target().lanes(f32)).parallel(io);
//   s[P].compute_at(jo);
//
// Handles are values: an id and the schedule that they came from. Only that schedule accepts them; a copy of a schedule has its
// own handles. A consumed loop remembers what became of it: using k after split(k, ...) is refused with "k of C, which was
// split into ko and ki at matmul.cpp:31".
//
// This order of steps always works: loops of the consumer, placement of producers, their loops, storage, then vectorize,
// parallel and the like.
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
#include <ashlar/schedule/choices.h>
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

class Factor {  // a C++ integer or a Param; never an Expr, because a schedule is fixed before anything runs
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

// What a split does if the factor does not divide the extent. guard (the default) tests each point, shift moves the last tile
// back, pad computes past the end, peel makes a separate loop for the last tile, exact requires a proof that the factor
// divides. cover tests like guard, but stages placed inside the loops are computed for whole tiles. predicate is another name
// for guard.
enum class Tail { guard, predicate, shift, pad, peel, exact, cover };
enum class Peel { first, last };
enum class Place { last, first };  // whether rfactor's new dimension comes after or before the others
struct Ends {                      // the loops over the iterations taken out at both ends
  Loop first, last;
};
// by_caller: the argument arrives packed, which changes the ABI. at_entry: the kernel packs it; a constant is packed at compile
// time.
enum class Pack { at_entry, by_caller };

// Hints to the assembler of tiles (docs/tiles.md): about a launch, and about the loads and stores of a tensor in it.
enum class LaunchHint { occupancy, cluster, worker_warps };
enum class AccessHint { latency, tma };
enum class TileChip { any, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121 };

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

class Stage {  // a handle to a stage. Each step returns it, or the loops or stages that it made
 public:
  Stage(const Stage&) = default;
  Stage& operator=(const Stage&) = default;

  // handles
  template <std::size_t N>
  std::array<Loop, N> spatial(Where w = Where::current()) const {  // over dimensions, in their order
    return pick<N>(false, w);
  }
  template <std::size_t N>
  std::array<Loop, N> reduction(Where w = Where::current()) const {  // over terms; for a scatter, over points
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
  std::vector<Loop> loops(Where = Where::current()) const;          // all of them, including peeled ones and copies
  Loop copy(Loop of, Loop peeled, Where = Where::current()) const;  // inside a peeled loop, the copy of a loop
  // The stage with this name inside this recurrence; without a name, the only one. A reduction written in the step has no
  // tensor and is found by its name: s[x].inside("x_sum").
  Stage inside(const char* name = nullptr, Where = Where::current()) const;
  ir::Id id() const { return id_; }
  const char* name() const;

  // loops
  Split split(Loop, Factor, Tail = Tail::guard, Where = Where::current()) const;  // the inner loop: Factor iterations
  Split split(Loop, Parts, Tail = Tail::guard, Where = Where::current()) const;   // the outer loop: at most Parts
  Loop fuse(Loop outer, Loop inner, Where = Where::current()) const;              // one loop of both
  // With each iteration of `along`, the second loop begins `by` iterations later. A reorder may then move it outside `along` (a
  // wavefront).
  Loop skew(Loop along, Loop, Factor by, Where = Where::current()) const;
  Tiles tile(Loop i, Loop j, Factor, Factor, Tail = Tail::guard, Where = Where::current()) const;  // two splits, reordered
  template <std::same_as<Loop>... L>
  Stage reorder(LoopAt outermost, L... rest) const {  // these loops, outermost first, in the positions they occupy
    const Loop loops[] = {outermost.loop, rest...};
    return reorder(loops, outermost.where);
  }
  Stage reorder(std::span<const Loop> outermost_first, Where = Where::current()) const;
  Loop peel(Loop, Peel, Where = Where::current()) const;  // the loop over the iteration taken out
  Ends peel(Loop, Where = Where::current()) const;        // at both ends: in between, clamps and guards are often decided
  // Cuts the loop at iteration `at`, counted from 0: a number or a formula of Symbols. The loop keeps the iterations before
  // `at`; the returned loop has the others.
  Loop partition(Loop, Operand at, Where = Where::current()) const;
  Stage reverse(Loop, Where = Where::current()) const;                  // from the last value of its variable to the first
  Stage tighten(Loop, Where = Where::current()) const;                  // ends where the domain ends, instead of a guard
  Stage vectorize(Loop, Where = Where::current()) const;                // constant extent
  Stage vectorize(Loop, Factor lanes, Where = Where::current()) const;  // the loop stays, as the outer one
  // For devices with vector accesses to memory (CUDA), which need rows that begin at multiples of a vector. With
  // gpu::any_alignment arguments need not promise this: each call tests it, and accesses single elements if it does not hold.
  Stage vectorize(Loop, gpu::AnyAlignment, Where = Where::current()) const;
  // Vectors whose length the machine determines, for targets with scalable vectors (aarch64+sve): 2 or more lanes for each 128
  // bits.
  Stage vectorize(Loop, Scalable, Where = Where::current()) const;
  Stage unroll(Loop, Where = Where::current()) const;            // as code, one iteration after another; constant extent
  Stage unroll(Loop, Factor, Where = Where::current()) const;    // the loop stays, as the outer one
  Stage unroll_and_jam(Loop, Where = Where::current()) const;    // inside the serial loops in it
  Stage parallel(Loop, Where = Where::current()) const;          // on the threads of the pool; independent iterations
  Stage bind(Loop, ThreadAxis, Where = Where::current()) const;  // to gpu::block_x, gpu::thread_x, ...
  Stage vthread(Loop, Where = Where::current()) const;           // virtual threads: one thread computes them, interleaved
  // For targets with tiles: the iterations become a dimension of the tiles in which the stage is computed. Without a width, the
  // extent must be a constant power of two. With one, which is a power of two, the extent must not exceed it.
  template <std::same_as<Loop>... L>
  Stage as_tile(LoopAt loop, L... more) const {
    const Loop loops[] = {loop.loop, more...};
    return as_tile(std::span<const Loop>(loops), loop.where);
  }
  Stage as_tile(std::span<const Loop>, Where = Where::current()) const;
  Stage as_tile(Loop, Factor width, Where = Where::current()) const;
  // Hints for targets with tiles. They change no value. The stage is computed at the root, so it has a launch of its own.
  Stage hint_launch(LaunchHint, Factor, TileChip = TileChip::any, Where = Where::current()) const;
  Stage hint_access(StageRef, AccessHint, Factor, TileChip = TileChip::any, Where = Where::current()) const;

  // ---- placement. A Loop belongs to one stage, so the stage need not be named as well
  Stage compute_at(Loop, Where = Where::current()) const;  // inside a loop of its reader, for what an iteration reads
  Stage compute_root(Where = Where::current()) const;      // outside all loops: each point once
  Stage inline_(Where = Where::current()) const;           // replaces each read by its formula
  Stage fuse_into(Loop producer_loop, Where = Where::current()) const;  // reverse compute_at
  Stage fuse_siblings(Loop sibling, Where = Where::current()) const;    // one loop of both outermost ones, of equal extent
  Stage store_at(Loop, Where = Where::current()) const;                 // storage that lives for one iteration of this loop
  Stage slide(Loop, Where = Where::current()) const;                    // computes only what earlier iterations have not
  Stage fold(int dim, Factor, Where = Where::current()) const;          // a ring: row d lies in slot d % Factor

  // storage
  Stage store_in(Scope, Where = Where::current()) const;         // which memory it lies in
  Stage align(int dim, Factor, Where = Where::current()) const;  // rounds the stored extent up to a multiple
  Stage widen(Type, Where = Where::current()) const;             // for a copy: stores the type that readers convert to
  Stage stream_store(Where = Where::current()) const;            // for an output: non-temporal stores
  template <class F>
  Stage transform_layout(F&& map, Where w = Where::current()) const {  // element (i, j) lies at map(i, j)
    std::vector<Expr> vars, exprs;
    detail::map_of(map, vars, exprs);
    return set_layout_(vars, exprs, w);
  }
  // A layout that permutes the stored elements, [](Var r, Var c) { return at(r, c ^ (r % 4 * 8)); }, and adds no storage.
  template <class F>
  Stage swizzle(F&& map, Where w = Where::current()) const {
    std::vector<Expr> vars, exprs;
    detail::map_of(map, vars, exprs);
    return swizzle_(vars, exprs, w);
  }
  // Removes a dimension from the storage of a component (0 for a stage of one value) whose value does not depend on it.
  Stage drop_dim(int component, int dim, Where = Where::current()) const;
  // A layout that leaves `by` elements free after each row of a dimension: row r of 32 elements starts at r * (32 + by).
  Stage pad(int dim, Factor by, Where = Where::current()) const;
  Stage prefetch(Loop, StageRef, Factor ahead,
                 Where = Where::current()) const;  // fetches what is read `ahead` iterations later
  // Loads one iteration ahead: in each iteration of the loop where this stage is placed, its values for the next iteration are
  // computed before those of the current one are read. This is a pipeline of two stages; several loads of one loop share it.
  Stage double_buffer(Where = Where::current()) const;
  // Runs the loads of the loop stages - 1 iterations ahead.
  Stage pipeline(Loop, const Async&, Where = Where::current()) const;

  // reduction
  Stage rfactor(Loop, Where = Where::current()) const;  // a new stage of partial results, in a new last dimension
  Stage rfactor(Loop, Place, Where = Where::current()) const;
  // A new stage combines the terms of earlier iterations of `blocks`; this stage continues from it with the other terms.
  // `blocks` is the outer loop of a split by a constant, of a dimension of this stage or of a stage that reads it there.
  Stage cut(Loop terms, Loop blocks, Where = Where::current()) const;
  // Scans in blocks. Returns three new stages: the total of each block, the running total before each block, and each block
  // scanned by itself. This stage combines them, so its points are independent. The loop is the outer one of a split by a
  // constant of the loop that the stage scans along.
  std::array<Stage, 3> associative_scan(Loop, Where = Where::current()) const;
  // Lets the loop be bound to threads: each thread reduces a part, and every thread gets the result of all parts.
  Stage cross_thread_reduce(Loop, Where = Where::current()) const;
  Stage decompose_init(Loop, Where = Where::current()) const;  // moves the init before the loop, apart from the update
  // Steps that run concurrently (parallel, or bound to blocks or threads) update memory atomically.
  Stage atomic(Where = Where::current()) const;
  // Multiplies out a sum of integers whose term is a product of sums: (x - z) * w becomes a sum of x * w and a sum of w.
  // Returns the N sums, those with most dimensions first. This stage adds them and no longer has a reduction loop.
  template <std::size_t N>
  std::array<Stage, N> distribute(Where w = Where::current()) const {
    const std::vector<Stage> sums = distribute_(N, w);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::array<Stage, N>{sums[K]...};
    }(std::make_index_sequence<N>());
  }
  // Merges this sum with the maximum (or minimum) that its terms read into one reduction, which makes one pass over their
  // common points. At each new maximum the sum so far is multiplied by rescale(old, now). You declare this factor; it is tested
  // on sample values. Returns the reduction, which replaces the maximum.
  //
  //   s[total].roll(top, [](Expr old, Expr now) { return exp(old - now); });      // sum of exp(x - top)
  template <class F>
  Stage roll(StageRef leader, F&& rescale, Where w = Where::current()) const {
    const std::array<Expr, 2> values = values_of_(leader, w);
    return roll_(leader, values, rescale(values[0], values[1]), w);
  }
  // Makes the terms of this stage read the maximum (or minimum) of their own part, which rfactor made, instead of that of all
  // parts. Where the sums of the parts are added, they are multiplied by rescale(maximum of the part, maximum of all). `roll`
  // can then merge them into one pass.
  template <class F>
  Stage rebase(StageRef leader, F&& rescale, Where w = Where::current()) const {
    const std::array<Expr, 2> values = values_of_(leader, w);
    return rebase_(leader, values, rescale(values[0], values[1]), w);
  }
  Stage init(Where = Where::current()) const;  // afterwards: the same stage, with the loops of its init

  // This stage in the variant for calls that satisfy the condition (Schedule::specialize).
  Stage specialize(Operand condition, Where = Where::current()) const;

  // Replaces the loop and everything inside it with one call of an instruction.
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
  bool async_copy = false;  // uses asynchronous copies, if the device has them
  // With async_copy: arguments need not promise that their rows begin at multiples of the copies' size. Each call tests it, and
  // uses ordinary copies if they do not.
  bool any_alignment = false;
};

class Schedule {  // the schedule of a program; a value: copies are deep
 public:
  Schedule(const Schedule&);  // the copy has its own handles
  Schedule& operator=(const Schedule&);
  ~Schedule();

  Stage operator[](TensorAt) const;  // by value: cheap, and nothing can dangle
  Stage operator[](StageAt) const;   // in a variant: its own version of a stage from before specialize()
  // Another stage with the same definition, which the given readers read instead. It can be computed elsewhere.
  Stage clone(StageRef, std::initializer_list<StageRef> readers, Where = Where::current());
  Stage cache_read(StageRef source, std::initializer_list<StageRef> readers, Scope, Where = Where::current());  // a copy
  // The same; the copy holds `fill` where the source has no element, so readers may read past the end.
  Stage cache_read(StageRef source, std::initializer_list<StageRef> readers, Scope, Operand fill, Where = Where::current());
  // A stage with what one reader reads of the source, by the reader's own variables: x_terms[i, k] = x[2 * i + k]. Then the
  // elements of a tile of the reader are a tile too, for tensorize and Scope::fragment, however far apart they are in the
  // source. The reader has one read of the source, whose indices do not depend on data. An index that is a sum of multiples of
  // variables becomes these variables; any other stays as it is.
  Stage cache_terms(StageRef source, StageRef reader, Scope, Where = Where::current());
  Stage cache_write(StageRef, Scope, Where = Where::current());  // a new stage computes, and the old one copies from it
  // A condition over symbols that proofs may use from here on. The entry checks it and refuses calls that break it.
  void assume(Operand condition, Where = Where::current());
  // Promises that no two elements of this integer input are equal, so steps of a scatter that choose their elements by it may
  // run concurrently. The interpreter checks the promise; compiled code relies on it.
  void injective(const Tensor& table, Where = Where::current());
  // A variant: another schedule, for calls whose Symbols satisfy the condition. Its proofs may use the condition. It begins
  // with the steps taken so far. Each call uses the first variant whose condition holds, or this schedule if none does. The
  // variant lives as long as this schedule; existing handles are valid in both. The same condition gives the same variant.
  //
  //   Schedule& narrow = s.specialize(N <= 8);        narrow[C].unroll(j);        s[C].vectorize(j, 8);
  Schedule& specialize(Operand condition, Where = Where::current());
  template <class F>
  void pack_argument(const Tensor& input, F&& layout, Pack pack, Where w = Where::current()) {  // for inputs and constants
    std::vector<Expr> vars, exprs;
    detail::map_of(layout, vars, exprs);
    pack_argument_(input, vars, exprs, pack, w);
  }
  // Applies all of the steps or none; returns the refusal instead of throwing it.
  template <class F>
  std::optional<Refusal> attempt(F&& steps) {
    return attempt_([](void* f) { (*static_cast<std::remove_reference_t<F>*>(f))(); }, &steps);
  }
  // Choices, which can be decided from outside (choices.h). `usual` is the place of the value that is taken otherwise.
  std::int64_t choose(const char* name, std::initializer_list<std::int64_t> values, std::size_t usual = 0,
                      Where = Where::current());
  std::int64_t choose(const char* name, std::span<const std::int64_t> values, std::size_t usual = 0, Where = Where::current());
  // A factor for a split of the loop: the usual one, or one of the candidates. The choice is called STAGE.LOOP.
  std::int64_t choose_factor(Loop, const Factors&, Factor usual, Where = Where::current());
  // Calls one of the alternatives, the first unless it is decided otherwise; returns its place.
  std::size_t choose_one_of(const char* name, std::initializer_list<Way>, Where = Where::current());
  void decide(std::span<const Decision>);  // for the choices from here on; replaces earlier decisions
  void draw_choices(std::uint64_t seed);   // from here on, those that are not decided are drawn at random
  std::vector<Chosen> choices() const;     // those made so far
  const Target& target() const;            // the target of the code: lanes, caches, features
  std::string text() const;                // the current program
  std::string trace() const;               // one line for each step
  std::string json() const;                // the steps, to save and replay
  // The steps as C++ calls: a file with one function that takes the schedule, the tensors and whatever else the steps name. For
  // a variant, trace(), json() and to_cpp() give the whole schedule.
  std::string to_cpp(std::string_view function = "schedule") const;
  std::uint64_t trace_hash() const;  // of the steps, their arguments and results, but not their source lines
  void replay(std::string_view json,
              Where = Where::current());  // all or nothing; a step that is no longer legal is refused, with its place

  // For the layers above: a program with the definitions it was built from. Reads outside their tensors are refused.
  Schedule(lang::Built, const Target&);
  const schedule::Scheduled& scheduled() const;
  const ir::Program& algorithm() const;  // before any step
  // Calls the function after every step, with the text of the step and of the program. Null turns this off.
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
