// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The loop tree of a program: axes, and the statements that run over them.
//
// A statement is a Stmt: an id, a line of the user's code, and one of five nodes. Each node has only the fields that it needs.
//
//   NestStmt      computes a box of a stage; holds its loops
//   LoopStmt      runs its body over an axis, or over part of it
//   BlockStmt     computes a point of a stage; these are the leaves
//   AllocStmt     storage of a buffer, live until the end of the body that contains it
//   PrefetchStmt  prefetches memory that later iterations read
//
// Example: the loops of reductions over threads, below a statement.
//
//   walk(s.body(), [&](const Stmt& below) {
//     if (const LoopStmt* loop = below.as<LoopStmt>(); loop && loop->combines) found.push_back(below.id);
//   });
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <ashlar/ir/expr.h>
#include <ashlar/ir/thread_axis.h>

namespace ashlar::ir {

// ---- axes ------------------------------------------------------------------------------------------------------------
// How a split handles an extent that its factor does not divide.
enum class Tail { guard, predicate, shift, pad, peel, exact, cover };

// One loop variable of a nest. It counts from 0 and records where it came from.
struct Axis {
  Id id = 0;
  std::string name;
  Where where = {};
  enum class Origin { root, split_outer, split_inner, fused, skewed } origin = Origin::root;
  Id iter = 0;    // root: the iteration variable
  Id parent = 0;  // splits: the axis that was split; skewed: the one that was skewed
  // Splits: the extent of the inner axis. Skewed: the number of iterations by which each step of `outer` shifts `parent`.
  Expr factor;
  std::int64_t parts = 0;   // split into Parts: the factor follows the extent, ceil(extent / parts)
  Tail tail = Tail::guard;  // splits (peel is guard, with the parts of the loop taken apart)
  // Fused: the two axes that were fused. Skewed: `outer` is the axis along which `parent` was skewed; it does not change.
  Id outer = 0, inner = 0;
  bool reduce = false;     // comes from reduce iteration variables
  std::vector<Id> became;  // {outer, inner} after split, {fused} after fuse, {skewed} after skew; empty: a leaf
  Expr extent;             // derived from the box of the nest, along the provenance
};

// ---- loops -----------------------------------------------------------------------------------------------------------
// Which iterations of its axis a loop runs over. Peeling makes siblings whose parts cover the axis, each iteration once.
// E is the extent of the axis.
enum class Part {
  all,
  first,      // [0, 1)
  but_first,  // [1, E)
  last,       // [E - 1, E)
  but_last,   // [0, E - 1)
  middle,     // with `first` and `end`: [1, E - 1)
  end,        // with `first` and `middle`: [max(1, E - 1), E)
  full,       // outer axis of a split: iterations whose whole inner range lies inside the domain
  rest,       // outer axis of a split: the others
  below,      // of an axis that was cut: [0, min(to, E))
  above,      // with `below`, which was cut at the same place: [from, E)
  between,    // with `below`, of two cuts: [from, min(to, E))
  beyond,     // with `below` and `between`: [from, E)
};

enum class LoopKind {
  serial,
  parallel,
  vectorized,
  unrolled,
  bound,       // the iterations are the blocks or threads of a launch
  vthread,     // virtual threads, which one thread computes statement by statement: the first of all, then the second of all
  tensorized,  // one call of an intrinsic does what the loop does
  tile,        // the iterations are a dimension of the tiles that the stage is computed in (docs/tiles.md)
};

// The `loads` of the loop run stages - 1 iterations ahead, into a ring of `stages` buffers.
struct Pipeline {
  int stages = 0;              // at least 2
  std::vector<Id> loads = {};  // stages, each computed in the loop
  bool async_copy = false;
  // Each call tests whether rows begin at multiples of the copies' size, and uses ordinary copies if they do not.
  bool any_alignment = false;
  Where where = {};
};

// ---- nests -----------------------------------------------------------------------------------------------------------
// One iteration variable of a nest: its axis, and the box [begin, begin + extent) that the nest computes. `begin` and `extent`
// are empty until boxes are derived. The extent may be 0 but is never negative.
struct Root {
  Id iter = 0, axis = 0;
  Expr begin = {}, extent = {};
};

// A nest that slides along an outer loop computes, in every iteration but the first, only what earlier ones have not.
struct Slide {
  Id loop = 0;  // the statement
  Id iter = 0;
  Where where = {};
};

// A nest that shares a loop of another nest (fuse_siblings). It is inside the loops that the axis `loop` of the other nest
// became; an iteration of `loop` is an iteration of its own `axis` (analysis/siblings.h).
struct Sibling {
  Id loop = 0, axis = 0;
};

// ---- blocks ----------------------------------------------------------------------------------------------------------
// Which piece of its stage a block computes.
//   whole            a plain store; of a reduction, init and update
//   init, update     of a reduction: what the accumulation starts from, and its steps
//   begin, combine   of a reduction over threads, while lowering: `begin` sets each thread's part to the identity, `update`
//                    accumulates into it, and `combine` stores what the parts of all threads give together
enum class Piece { whole, init, update, begin, combine };

// Which components a block stores. If the stage has components with dropped dimensions, the block is split when it runs: first
// it stores those with all dimensions, then the others, once along the dropped dimensions (analysis/dropped.h).
enum class Stores { all, whole, dropped };

// ---- statements ------------------------------------------------------------------------------------------------------
struct Stmt;

struct NestStmt {
  Id stage = 0;
  std::vector<Root> roots = {};  // one for each iteration variable of the stage, in their order
  std::vector<Slide> slides = {};
  Id after = 0;  // fuse_into: the producing stage whose finished points determine the box of this nest; 0: none
  std::optional<Sibling> sibling = {};
  std::vector<Stmt> body;  // in order of execution
};

struct LoopStmt {
  Id axis = 0;
  LoopKind kind = LoopKind::serial;
  ThreadAxis bound_to = {};  // bound: to which blocks or threads
  Id intrinsic = 0;          // tensorized: by which of the program's intrinsics
  Part part = Part::all;
  Expr from = {}, to = {};  // below, above, between, beyond: the iterations at which the axis was cut, at least 0, over symbols
  // The loop has only iterations that reach a point of the axes that it came from: min(f, E - outer * f) in the inner loop of a
  // split; in a loop of skewed axes, those at which the skewed axis is within its extent.
  bool tight = false;
  std::int64_t width = 0;  // tile: the extent of the dimension, a power of two that is at least the loop's
  bool combines = false;   // a reduction over threads: each accumulates a part, and all get the combination of the parts
  // Vectorized, on a device: arguments need not promise that the accessed rows begin at multiples of a vector. Each call tests
  // it.
  bool any_alignment = false;
  std::optional<Pipeline> pipeline = {};
  std::vector<Stmt> body;  // in order of execution
};

struct BlockStmt {
  Id stage = 0;
  Piece piece = Piece::whole;
  // Reductions: the step at which all reduce variables are at their begin combines its value with the init, not with memory.
  // There is then no need for an init pass, unless the reduce domain is empty (lowering tests for that).
  bool first_stores = false;
  std::vector<Expr> when = {};  // further conditions, over axis variables
  Stores stores = Stores::all;
};

struct AllocStmt {
  Id buffer = 0;
  bool pinned = false;  // put here by store_at: a compute_at further inside does not move it
};

// Prefetches the line of `buffer` that `loop` will read `distance` iterations later.
struct PrefetchStmt {
  Id buffer = 0;
  Id loop = 0;  // the statement, around this one
  std::int64_t distance = 0;
};

struct Stmt {
  Id id = 0;       // handles refer to it
  Id copy_of = 0;  // the statement that this is a copy of (peel), for people
  Where where = {};
  std::variant<BlockStmt, NestStmt, LoopStmt, AllocStmt, PrefetchStmt> node;

  template <class Node>
  bool is() const {
    return std::holds_alternative<Node>(node);
  }
  // The node, or null if the statement is another one.
  template <class Node>
  const Node* as() const {
    return std::get_if<Node>(&node);
  }
  template <class Node>
  Node* as() {
    return std::get_if<Node>(&node);
  }
  // The node. InternalError if the statement is another one.
  template <class Node>
  const Node& get() const {
    if (const Node* n = as<Node>()) return *n;
    refuse_node();
  }
  template <class Node>
  Node& get() {
    if (Node* n = as<Node>()) return *n;
    refuse_node();
  }

  // The statements inside a nest or loop. The body of a leaf is empty; asking to change it is an InternalError.
  bool has_body() const { return is<NestStmt>() || is<LoopStmt>(); }
  const std::vector<Stmt>& body() const;
  std::vector<Stmt>& body();

 private:
  [[noreturn]] void refuse_node() const;
};

// Calls the function that takes the statement's node. Does not compile unless there is one for each node.
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class S, class... Cases>
decltype(auto) match(S& statement, Cases&&... cases) {
  return std::visit(Overloaded<std::decay_t<Cases>...>{std::forward<Cases>(cases)...}, statement.node);
}

// Calls f(expression) for each non-empty expression of the statement itself: the conditions of a block, the cuts of a loop, the
// box of a nest; not for those of its body. S is Stmt or const Stmt.
template <class S, class F>
void for_each_expr(S& statement, F&& f) {
  const auto each = [&](auto&... slots) { ((slots.empty() ? void() : void(f(slots))), ...); };
  match(
      statement,
      [&](std::conditional_t<std::is_const_v<S>, const BlockStmt, BlockStmt>& block) {
        for (auto& condition : block.when) each(condition);
      },
      [&](std::conditional_t<std::is_const_v<S>, const NestStmt, NestStmt>& nest) {
        for (auto& root : nest.roots) each(root.begin, root.extent);
      },
      [&](std::conditional_t<std::is_const_v<S>, const LoopStmt, LoopStmt>& loop) { each(loop.from, loop.to); },
      [](const AllocStmt&) {}, [](const PrefetchStmt&) {});
}

// Calls enter for every statement, top-down, in order of execution.
void walk(const std::vector<Stmt>&, const std::function<void(const Stmt&)>& enter);
void walk(std::vector<Stmt>&, const std::function<void(Stmt&)>& enter);

// Whether it is a loop of this kind; over this axis.
inline bool is_loop(const Stmt& s, LoopKind kind) { return s.is<LoopStmt>() && s.as<LoopStmt>()->kind == kind; }
inline bool runs_over(const Stmt& s, Id axis) { return s.is<LoopStmt>() && s.as<LoopStmt>()->axis == axis; }
// Whether it is a nest of this stage; a block of it.
inline bool is_nest_of(const Stmt& s, Id stage) { return s.is<NestStmt>() && s.as<NestStmt>()->stage == stage; }
inline bool is_block_of(const Stmt& s, Id stage) { return s.is<BlockStmt>() && s.as<BlockStmt>()->stage == stage; }

}  // namespace ashlar::ir
