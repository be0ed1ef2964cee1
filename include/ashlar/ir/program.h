// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The program: the definitions of the algorithm (arguments, buffers, stages), and how they are carried out (a tree of
// statements, see ir/statement.h). Every schedule step maps one Program to another; nothing else changes a Program.
//
//   Stage     a definition: iteration variables, domain, values, reducer. It indexes buffers in absolute coordinates.
//   Nest      one place where a stage is computed: for each iteration variable the box [begin, begin + extent) computed there.
//             A box that the definition does not declare is *derived* from what the readers need (analysis/regions.h) after
//             every step; it is never stale.
//   Axis      one loop variable of a nest, counting from 0, and where it came from (root, split, fuse, skew). A root axis r of
//             the iteration variable v means v = begin + r. Extents follow from the roots along this provenance.
//   Loop      runs over an axis, or over a stated part of it (loops that peel made share their axis).
//   Block     computes a stage, or a piece of it, at the leaves: it reads the axes around it through the provenance, and
//             writes the stage's buffers.
//   Alloc     a position; the box of the buffer is derived from what the loops below touch.
//   Prefetch  a position and a loop; what is asked for follows from what the loop reads.
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
#include <ashlar/ir/hint.h>
#include <ashlar/ir/scope.h>
#include <ashlar/ir/statement.h>

namespace ashlar::ir {

// ---- arguments -------------------------------------------------------------------------------------------------------
// An extent known at the call; var nodes with this id stand for it.
struct Symbol {
  Id id = 0;
  std::string name;
  std::int64_t min = 0, max = INT64_MAX, multiple_of = 1;
  Where where = {};
};
// A number passed by value; var nodes with this id stand for it.
struct ScalarArg {
  Id id = 0;
  std::string name;
  Type type;
  Where where = {};
};

enum class ArgumentKind { input, output, scalar };
// In the order of declaration; the id is that of a buffer or a scalar.
struct Argument {
  ArgumentKind kind;
  Id id;
};

// ---- buffers and layout ----------------------------------------------------------------------------------------------
// A Layout maps logical indices to physical coordinates, and those to an address. A panel layout at(n / 16, k, n % 16) and a
// ring at(y % 8, x) are both values of `map`.
struct Layout {
  std::vector<Id> vars;
  std::vector<Expr> map;  // physical coordinate p is map[p] over vars (vars[d] is logical index d); empty: the identity
  // Element strides of the physical dimensions. Arguments have them, symbolic. Temporaries have none: their physical box is
  // derived and stored densely, row-major, each row padded to `pad_to` elements.
  std::vector<Expr> strides;
  // Logical dimensions that no coordinate of `map` uses (drop_dim): the value is the same all along them, and is stored once.
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
  std::vector<Expr> extents;  // arguments, constants: the declared shape, starting at 0. Temporaries: empty, the box is derived
  Scope scope = Scope::global;
  Layout layout;
  std::int64_t align = 0;  // bytes promised (arguments) or wanted (temporaries); 0: the element's own
  bool may_alias_inputs = false;
  bool injective = false;  // inputs: the caller promises that no two elements are equal
  bool streamed = false;   // outputs: non-temporal stores are allowed; changes no value
  enum class Order { inner_unit_stride, dense, any } order = Order::inner_unit_stride;  // what the caller promises
  bool packed_by_caller = false;  // arguments: the caller has laid it out by `layout` (Pack::by_caller)
  // Constants: the elements, row-major, in their form in memory. Shared, and never changed.
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
  bool descending = false;  // its loop runs from the last value to the first: some ordered variables, and `reverse`d ones
};

enum class ReducerKind { none, sum, strict_sum, product, minimum, maximum, custom };
struct Reducer {
  ReducerKind kind = ReducerKind::none;
  // What a schedule may do with the terms: nothing; regroup them; regroup and reorder them.
  enum class Order { exact, regroup, any } order = Order::any;
  // The term of the sum was a product where it was defined, so it accumulates by fma (numeric contract). Inlining does not
  // change this.
  bool fused = false;
  std::string name;             // custom
  std::vector<Id> left, right;  // custom: the placeholders of `combine`, one for each component
  std::vector<Expr> combine;
  std::vector<Expr> identity;  // custom: constants, combine(identity, x) = x
  // custom: a counterexample to combine(identity, identity) = identity; empty if there is none. A reducer that has one
  // accumulates terms from its identity, but an empty part must not be combined with another.
  std::string unjoinable;
};
// One step: combine(accumulated, values), an expression for each component.
std::vector<Expr> combine(const Reducer&, const std::vector<Expr>& accumulated, const std::vector<Expr>& values);

struct Stage {
  Id id = 0;
  std::string name;
  Where where = {};
  std::vector<IterVar> iters;  // spatial (in the definition's order), then reduce
  std::vector<Expr> domain;    // further conditions (`where`, bounds of triangles)
  std::vector<Expr> values;    // one for each component, over the iteration variables, with loads of buffers
  std::vector<Expr> inits;     // reductions: the start of the accumulation (identity or `.from`), over spatial iters
  Reducer reducer;
  std::vector<Id> buffers;  // one for each component, written at the spatial iteration variables, in order
  // Recurrences, which read their own buffers (ir/recurrence.h): the dimensions that they run along, slowest first. Their
  // variables are of kind `ordered`.
  std::vector<std::size_t> along;
  // Recurrences that are scans: the step is scan(previous element, term), so blocks may be scanned separately. The kind is
  // `none` for every other recurrence.
  Reducer scan;
  // Stages that a schedule made from another one: an identity copy (cache_read, cache_write), a partial result (rfactor),
  // totals and blocks of a scan.
  enum class Origin { user, cache_read, cache_write, rfactor, scan } origin = Origin::user;
  Id origin_of = 0;       // the buffer that was copied, or the stage that was factored or scanned
  bool has_fill = false;  // cache_read with a fill value: reads outside the box of the source give `fill`
  Expr fill;
  // Scatters: the element that a step combines into, one index for each dimension, over the reduce variables. A dimension whose
  // target is its own variable is an ordinary one; only the loops of the init run over the others. Empty: not a scatter.
  std::vector<Expr> targets;
  Expr keep;  // scatters: steps at which it is false combine nothing; empty: all do
  // Reductions whose steps may run concurrently and update the same element: each update of memory is atomic.
  bool atomic = false;

  bool is_reduction() const { return reducer.kind != ReducerKind::none; }
  bool scatters() const { return !targets.empty(); }
  bool scattered(Id iter) const;  // whether it is the variable of a dimension that is not an ordinary one
  bool is_recurrence() const { return !along.empty(); }
  int spatial_rank() const {
    int n = 0;
    for (const IterVar& v : iters) n += v.kind != IterKind::reduce;
    return n;
  }
};

// ---- programs ---------------------------------------------------------------------------------------------------------
struct Program;

// Another schedule of the same algorithm (specialize). A call uses the first variant whose condition holds, or the program that
// owns the variants if none does.
struct Variant {
  Expr condition;  // over symbols
  // The position of the condition among the assumptions of `program`. The general program has the opposite at the same
  // position.
  std::size_t assumed = 0;
  std::shared_ptr<const Program> program;
  Where where = {};
};

struct Program {
  std::string name;
  std::vector<Argument> arguments;
  std::map<Id, Symbol> symbols;
  std::map<Id, ScalarArg> scalars;
  std::map<Id, Buffer> buffers;
  // Ids ascend in order of definition: a stage reads only itself, stages with smaller ids, and copies.
  std::map<Id, Stage> stages;
  std::map<Id, Axis> axes;
  std::map<Id, const Intrinsic*> intrinsics;  // of tensorized loops; each lives as long as the process
  std::vector<Stmt> body;
  std::vector<Expr> assumptions;  // every proof uses them; the entry checks them, but not the conditions of variants
  std::vector<TileHint> hints;    // to the assembler of tiles
  std::vector<Variant> variants;  // with the same arguments, symbols and scalars, under the same ids
  Id next_id = 1;                 // ids inside a Program are dense and deterministic, so they may be printed and saved
  Id fresh() { return next_id++; }

  const Buffer& buffer(Id id) const;
  const Stage& stage(Id id) const;
  const Axis& axis(Id id) const;
};

// ---- walking the tree ------------------------------------------------------------------------------------------------
// The statements from the top of the tree to this one, outermost first, including the statement itself; empty if none has this
// id.
std::vector<const Stmt*> path_to(const Program&, Id statement);
Stmt* find(Program&, Id statement);
const Stmt* find(const Program&, Id statement);
std::vector<const Stmt*> nests_of(const Program&, Id stage);
std::vector<const Stmt*> blocks_of(const Program&, Id stage);
// The alloc statement with this id, or of this buffer (copies that peel made are distinguished by the id of the statement).
const Stmt* alloc_of(const Program&, Id alloc_or_buffer);

// Builds the body of a nest from its block and from loops without bodies, one for each iteration variable of the stage in
// order: each loop is nested in the previous one. For a scatter: the loops over ordinary dimensions contain first those of the
// init and then those of the update.
std::vector<Stmt> nest_body(Program&, const Stage&, std::vector<Stmt> loops, Stmt block);
// The indices at which a piece of the stage stores: its spatial variables, or the targets of a scatter's steps.
std::vector<Expr> stored_at(const Stage&, Piece);

// Adds the root axis of an iteration variable, and returns its id.
Id add_root_axis(Program&, const IterVar&);

// The variable of an axis; its var nodes carry the id of the axis.
Expr axis_var(const Program&, Id axis);
// The value of an axis as an expression over the variables of the loops that it became. Split: outer * f + inner, or with
// Tail::shift min(outer * f, E - f) + inner. Fused: f / E_inner and f % E_inner. Skewed along t by f: skewed - f * t.
Expr axis_value(const Program&, Id axis);
bool is_leaf(const Program&, Id axis);  // whether loops run over it: it was not split, fused or skewed
// What an axis became: {outer, inner}, {fused}, {skewed}, or nothing for a leaf.
std::vector<Id> successors(const Program&, Id axis);
// The root axes that a leaf came from (several after fuse and skew), and all leaves that decide the value of a root axis.
std::vector<Id> roots_of(const Program&, Id axis);
std::vector<Id> leaves_of(const Program&, Id axis);

// The iterations [begin, end) of its axis that a loop runs over.
struct LoopRange {
  Expr begin, end;
};
LoopRange range_of(const Program&, const Stmt& loop);
// The extent to which the loop's part refers: that of its axis or, in the tight inner loop of a split, the rest of the axis
// that was split.
Expr extent_of(const Program&, const LoopStmt&);

// The value of an iteration variable in a nest: root begin + axis_value(root axis), or root begin + extent - 1 - axis_value if
// it descends.
Expr iter_value(const Program&, const NestStmt&, Id iter);
Substitution iter_values(const Program&, const NestStmt&);  // for all of them: stages are defined over iteration variables

}  // namespace ashlar::ir
