// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The program: what the algorithm defines (arguments, buffers, stages) and how it is carried out (a tree of nests, loops,
// blocks and allocations). Every schedule step maps one Program to another; nothing else changes a Program.
//
//   Stage   a definition: iteration variables, domain, values, reducer. Bodies index buffers in absolute coordinates.
//   Nest    one place where a stage is computed: for each iteration variable the box [begin, begin+extent) computed there.
//           The box of a nest that is not a stage's declared domain is *derived* from what its readers need
//           (analysis/regions.h) after every step; it is never stale.
//   Axis    one loop variable of a nest, counting from 0, and where it came from (root, split, fuse, skew). A root axis r of
//           iteration variable v means v = begin + r. Extents follow from the roots along the provenance.
//   Loop    a statement running over an axis, or over a stated part of it (peeled loops share their axis).
//   Block   a piece of a stage at the leaves: reads the axes around it through the provenance, writes its buffer.
//   Alloc   a position; the box of the buffer is derived from what the loops below touch.
//
// Example, after tile(i, j, 32, 32) and compute_at(P, jo):
//
//   nest C [0, M) x [0, N)
//     for io in M /^ 32        parallel
//       for jo in N /^ 32
//         alloc P
//         nest P [io*32, …) x [jo*32, …)
//           for i … for j … block P
//         for ii in 32
//           for ji in 32       vectorized
//             block C          where io*32 + ii < M, jo*32 + ji < N
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/device.h>
#include <ashlar/ir/scope.h>
#include <ashlar/ir/thread_axis.h>

namespace ashlar::ir {

// ---- arguments -------------------------------------------------------------------------------------------------------
struct Symbol {  // an extent known at the call; var nodes with this id stand for it
  Id id = 0;
  std::string name;
  std::int64_t min = 0, max = INT64_MAX, multiple_of = 1;
  Where where = {};
};
struct ScalarArg {
  Id id = 0;
  std::string name;
  Type type;
  Where where = {};
};  // by value; var nodes with this id

enum class ArgumentKind { input, output, scalar };
struct Argument {
  ArgumentKind kind;
  Id id;
};  // id of a buffer or a scalar; in the order of declaration

// ---- buffers and layout ----------------------------------------------------------------------------------------------
// One Layout maps logical indices to physical coordinates and those to an address.
//   map      physical coordinate p = map[p] over vars (vars[d] is logical index d). Empty: the identity.
//   strides  element strides of the physical dimensions: given for arguments (symbolic), empty for temporaries, whose
//            physical box is derived and stored densely, row-major, each row padded to `pad_to` elements.
//   A panel layout at(n / 16, k, n % 16) and a ring at(y % 8, x) are both values of `map`.
struct Layout {
  std::vector<Id> vars;
  std::vector<Expr> map;
  std::vector<Expr> strides;
  // Logical dimensions that are in no coordinate of `map`: the value is the same all along them (drop_dim), and stored once.
  std::vector<int> dropped;
  std::int64_t align_dim = -1, pad_to = 1;  // the extent of physical dimension align_dim is rounded up to a multiple of pad_to
};

enum class Role { input, output, temporary, constant };

struct Buffer {
  Id id = 0;
  std::string name;
  Type type;
  int rank = 0;
  Role role = Role::temporary;
  Id stage = 0;               // the stage that writes it; 0 for inputs and constants
  std::vector<Expr> extents;  // arguments, constants: the declared shape, all mins zero. Temporaries: empty, the box is derived
  Scope scope = Scope::global;
  Layout layout;
  std::int64_t align = 0;  // bytes promised (arguments) or wanted (temporaries); 0: the element's own
  bool may_alias_inputs = false;
  bool injective = false;  // inputs: no two elements are equal, which the caller promises
  bool streamed = false;   // outputs: stores may go past the caches; changes no value
  enum class Order { inner_unit_stride, dense, any } order = Order::inner_unit_stride;  // what the caller promises
  // A packed argument: the caller has laid it out by `layout` (Pack::by_caller).
  bool packed_by_caller = false;
  // A constant: its elements, row-major, as they lie in memory. Shared and never changed.
  std::shared_ptr<const std::vector<std::byte>> data;
  Where where = {};
};

// ---- stages ----------------------------------------------------------------------------------------------------------
enum class IterKind { spatial, reduce, ordered };

struct IterVar {
  Id id = 0;
  std::string name;
  IterKind kind = IterKind::spatial;
  Expr begin, end;  // the declared domain, half open; both empty: inferred from the readers
  Where where = {};
  bool descending = false;  // its loop counts down, from the last value to the first: ordered ones, and `reverse`d ones
};

enum class ReducerKind { none, sum, strict_sum, product, minimum, maximum, custom };
struct Reducer {
  ReducerKind kind = ReducerKind::none;
  enum class Order { exact, regroup, any } order = Order::any;  // what a schedule may do: nothing; associate; and commute
  // A sum whose term was a product when it was defined: it accumulates by fma (numeric contract). Inlining does not change it.
  bool fused = false;
  std::string name;             // custom
  std::vector<Id> left, right;  // custom: the placeholders of `combine`, one a component
  std::vector<Expr> combine;
  std::vector<Expr> identity;  // custom: constants, combine(identity, x) = x
  // custom: what shows that combine(identity, identity) is not the identity; empty if it is. Such a reducer accumulates terms
  // from its identity, but an empty part may not meet another.
  std::string unjoinable;
};
// One step: combine(accumulated, values), a component each.
std::vector<Expr> combine(const Reducer&, const std::vector<Expr>& accumulated, const std::vector<Expr>& values);

struct Stage {
  Id id = 0;
  std::string name;
  Where where = {};
  std::vector<IterVar> iters;  // spatial (in the definition's order), then reduce
  std::vector<Expr> domain;    // further atoms (`where`, bounds of triangles)
  std::vector<Expr> values;    // one a component; over the iteration variables, with loads of buffers
  std::vector<Expr> inits;     // reductions: what the accumulation starts from (identity or `.from`), over spatial iters
  Reducer reducer;
  std::vector<Id> buffers;  // one a component; written at the spatial iteration variables, in order
  // A recurrence, which reads its own buffers (ir/recurrence.h): the dimensions that it runs along, the slowest first. Their
  // variables are ordered ones.
  std::vector<std::size_t> along;
  // A recurrence that is a scan: its step is scan(the element before, a term), so that blocks of it may be scanned apart. Its
  // kind is none for every other recurrence.
  Reducer scan;
  // What this stage is of another: an identity copy made by cache_read/cache_write, a partial made by rfactor, totals and
  // blocks of a scan. 0: user's own.
  enum class Origin { user, cache_read, cache_write, rfactor, scan } origin = Origin::user;
  Id origin_of = 0;       // the buffer copied (caches) or the stage factored, or scanned
  bool has_fill = false;  // cache_read with a fill value: reads outside the source's box give `fill`
  Expr fill;
  // A scatter: the element that a step combines into, an index for each dimension, over the reduce variables. A dimension whose
  // target is its own variable is an ordinary one; over the others run only the loops of the init. Empty: no scatter.
  std::vector<Expr> targets;
  Expr keep;  // scatters: steps at which it is false combine nothing; empty: all do
  // A reduction whose steps may run at once and meet in one element: each combines into memory indivisibly (`atomic`).
  bool atomic = false;

  bool is_reduction() const { return reducer.kind != ReducerKind::none; }
  bool scatters() const { return !targets.empty(); }
  bool scattered(Id iter) const;  // is it the variable of a dimension that is no ordinary one?
  bool is_recurrence() const { return !along.empty(); }
  int spatial_rank() const {
    int n = 0;
    for (const IterVar& v : iters) n += v.kind != IterKind::reduce;
    return n;
  }
};

// ---- the tree --------------------------------------------------------------------------------------------------------
enum class Tail { guard, predicate, shift, pad, peel, exact };

struct Axis {
  Id id = 0;
  std::string name;
  Where where = {};
  enum class Origin { root, split_outer, split_inner, fused, skewed } origin = Origin::root;
  Id iter = 0;              // root: the iteration variable
  Id parent = 0;            // splits: the axis that was split; skewed: the one that was skewed
  Expr factor;              // splits: extent of the inner axis; skewed: iterations by which a step of `outer` shifts `parent`
  std::int64_t parts = 0;   // split into Parts: the factor follows the extent, ceil(extent / parts)
  Tail tail = Tail::guard;  // splits (peel is guard with the loop parts taken apart)
  Id outer = 0, inner = 0;  // fused: what was fused; skewed: `outer` is the axis along which, which stays as it is
  bool reduce = false;      // comes from reduce iteration variables
  std::vector<Id> became;   // {outer, inner} after split, {fused} after fuse, {skewed} after skew; empty: a leaf
  Expr extent;              // derived from the nest's box along the provenance
};

// Which iterations of its axis a loop runs over. Peeling makes siblings whose parts cover the axis, each iteration once.
enum class Part {
  all,
  first,
  but_first,  // [0, 1) and [1, extent)
  last,
  but_last,  // [extent-1, extent) and [0, extent-1)
  middle,
  end,  // with `first`: [1, extent-1) and [max(1, extent-1), extent)
  full,
  rest,  // outer axes of a split: the iterations whose whole inner range lies inside the domain, and the others
  below,
  above,  // of a cut `from`: [0, min(to, extent)) and [from, extent), where `to` of the first is `from` of the second
  between,
  beyond,  // with `below`, of two cuts: [from, min(to, extent)) and [from, extent)
};

// bound: the iterations are the blocks or threads of a launch. vthread: those of virtual threads, which one thread computes
// statement by statement, the first statement of all before the second of any. tensorized: one call of an
// intrinsic does what the loop does.
enum class LoopKind { serial, parallel, vectorized, unrolled, bound, vthread, tensorized };

struct Root {
  Id iter = 0, axis = 0;
  Expr begin, extent;
};  // of a nest; extent may be 0, never negative

// slide: this nest computes, at every iteration of `loop` but its first, only what earlier iterations have not.
struct Slide {
  Id loop = 0;
  Id iter = 0;
  Where where = {};
};

// pipeline: what `loads` compute for an iteration of the loop is computed stages - 1 iterations earlier, into a ring of as many
// buffers; by asynchronous copies where `async_copy`. 0 stages: none.
struct Pipeline {
  int stages = 0;
  std::vector<Id> loads;  // stages
  bool async_copy = false;
  Where where = {};
};

struct Stmt {
  enum class Kind { nest, loop, block, alloc, prefetch };
  Kind kind = Kind::block;
  Id id = 0;       // of the nest, loop or block itself; handles refer to it
  Id copy_of = 0;  // the statement this is a copy of (peel), for people
  Where where = {};
  std::vector<Stmt> body;  // nest, loop: in order of execution

  // nest
  Id stage = 0;             // nest, block
  std::vector<Root> roots;  // one for each iteration variable of the stage
  std::vector<Slide> slides;
  Id after = 0;  // reverse_compute_at: the producing stage whose finished points decide this nest's box
  // fuse_siblings: `loop` is the axis of another nest's loop around this one; in each of its iterations the nest computes what
  // the one of its own `axis` has (analysis/siblings.h). 0: none.
  // loop
  Id axis = 0;
  LoopKind loop_kind = LoopKind::serial;
  ThreadAxis bound_to = {};  // bound: to what
  Id intrinsic = 0;          // tensorized: by which of the program's
  Part part = Part::all;
  Expr from, to;  // below, above, between, beyond: iterations at which the axis was cut, at least 0, over symbols
  // The loop has the iterations alone that reach a point of the axes it came from: the inner loop of a split, inside its outer
  // one, min(f, E - outer * f); a loop of two skewed axes, those where the one that was skewed is in its extent.
  bool tight = false;
  // A reduction loop whose iterations are threads: each accumulates a part of its own, and all get what the parts give
  // together.
  bool combines = false;
  Pipeline pipeline;
  // block
  // whole: plain store, or init and update of a reduction. While lowering, of a reduction over threads: `begin` makes the part
  // of each thread the identity, `update` adds to it, `combine` stores what the parts of all threads give together.
  enum class Piece { whole, init, update, begin, combine } piece = Piece::whole;
  // Reductions: the step at which all reduce variables are at their begin combines its value with the init expression instead
  // of with memory, so no init pass is needed but where the reduce domain is empty (lowering guards for that).
  bool first_stores = false;
  std::vector<Expr> when;  // further conditions, over axis variables
  // Which components it stores. A block whose stage has components with dropped dimensions is taken apart when it runs: those
  // that have all dimensions first, then, once for all along the dropped ones, the others (analysis/dropped.h).
  enum class Stores { all, whole, dropped } stores = Stores::all;
  // alloc, prefetch
  Id buffer = 0;
  bool pinned = false;  // alloc: put here by store_at; compute_at further in leaves it
  // prefetch: asks for the line `ahead` iterations of `loop` from now, of what `reader` will read of `buffer`
  Id loop = 0;
  std::int64_t ahead = 0;
};

struct Program;

// Another schedule of the same algorithm (specialize), which a call takes where the condition holds; the first whose condition
// holds is taken, and where none does the program that they stand in.
struct Variant {
  Expr condition;  // over symbols
  std::size_t assumed =
      0;  // its place among the assumptions of `program`; the general program has the opposite at the same place
  std::shared_ptr<const Program> program;
  Where where = {};
};

struct Program {
  std::string name;
  std::vector<Argument> arguments;
  std::map<Id, Symbol> symbols;
  std::map<Id, ScalarArg> scalars;
  std::map<Id, Buffer> buffers;
  // Ids ascend in order of definition: a stage only reads itself, stages of smaller id, or copies.
  std::map<Id, Stage> stages;
  std::map<Id, Axis> axes;
  std::map<Id, const Intrinsic*> intrinsics;  // of tensorized loops; each lives as long as the process
  std::vector<Stmt> body;
  std::vector<Expr> assumptions;  // checked at entry, but for the conditions of variants; used by every proof
  std::vector<Variant> variants;  // of the same arguments, symbols and scalars, by the same ids
  Id next_id = 1;                 // ids inside a Program are dense and deterministic, so they may be printed and saved
  Id fresh() { return next_id++; }

  // Arguments that are checked as a shape: the order in which symbols are solved at entry follows `arguments`.
  const Buffer& buffer(Id id) const;
  const Stage& stage(Id id) const;
  const Axis& axis(Id id) const;
};

// ---- walking the tree ------------------------------------------------------------------------------------------------
// The chain of statements from the top to `id` (both nests and loops), outermost first, ending with the statement itself;
// empty if there is none.
std::vector<const Stmt*> path_to(const Program&, Id statement);
Stmt* find(Program&, Id statement);
const Stmt* find(const Program&, Id statement);
std::vector<const Stmt*> nests_of(const Program&, Id stage);
std::vector<const Stmt*> blocks_of(const Program&, Id stage);
// The body of a nest, of a loop for each iteration variable of its stage, in their order and without bodies, and its block:
// each loop inside the one before. Of a scatter: the loops over ordinary dimensions, and in them one behind the other those of
// the init and those of the update.
std::vector<Stmt> nest_body(Program&, const Stage&, std::vector<Stmt> loops, Stmt block);
// Where a piece of the stage stores: at its spatial variables; steps of a scatter at its targets.
std::vector<Expr> stored_at(const Stage&, Stmt::Piece);
// Calls enter for every statement top-down, in order of execution.
void walk(const std::vector<Stmt>&, const std::function<void(const Stmt&)>& enter);
// The alloc statement with this id, or of this buffer (copies made by peel are told apart by their statement id).
const Stmt* alloc_of(const Program&, Id alloc_or_buffer);

// An axis as an expression over the variables of the loops that it became (var nodes carry the axis id):
// split: outer * f + inner, with Tail::shift min(outer * f, E - f) + inner; fused: f / E_inner and f % E_inner; skewed along t
// by f: skewed - f * t.
Expr axis_var(const Program&, Id axis);  // its own variable
Expr axis_value(const Program&, Id axis);
bool is_leaf(const Program&, Id axis);  // it was neither split, fused nor skewed: loops run over it
// What one axis became: {outer, inner}, {fused}, {skewed}, or nothing for a leaf.
std::vector<Id> successors(const Program&, Id axis);
// The root axes that a leaf came from (several after fuse and skew), and all leaves that a root axis has its value from.
std::vector<Id> roots_of(const Program&, Id axis);
std::vector<Id> leaves_of(const Program&, Id axis);

// The iterations [begin, end) of its axis that a loop runs over.
struct LoopRange {
  Expr begin, end;
};
LoopRange range_of(const Program&, const Stmt& loop);
// The extent that the loop's part is taken of: its axis's, or in the tight inner loop of a split, what is left of what was
// split.
Expr extent_of(const Program&, const Stmt& loop);

// An iteration variable of a nest: root begin + axis_value(root axis); one that descends, root begin + extent - 1 -
// axis_value.
Expr iter_value(const Program&, const Stmt& nest, Id iter);
Substitution iter_values(const Program&, const Stmt& nest);  // for all of them: bodies are over iteration variables

}  // namespace ashlar::ir
