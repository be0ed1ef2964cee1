// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the rules for programs look at: the tree in order of execution and every expression once, and the rules themselves. The
// table that names them stands in verify/program.cpp.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <ashlar/analysis/verify.h>
#include <ashlar/ir/build.h>

#include <ashlar/analysis/reads.h>
#include <ashlar/analysis/unchanged.h>

#include "analysis/nodes.h"

namespace ashlar::analysis::verifier {

using ir::Axis;
using ir::Buffer;
using ir::Part;
using ir::Stage;

// What a piece of a stage reads: an init starts accumulators, an update only combines.
std::vector<const Expr*> loads_of(const Stage& s, ir::Piece piece = ir::Piece::whole);

// The tree flattened in order of execution, but for statements at its top that are as they were in a program that was verified:
// each statement with its parent and the nest around it.
struct Place {
  const Stmt* stmt = nullptr;
  int parent = -1, nest = -1;  // positions; nest: the innermost around it, not itself
  int end = 0;                 // one past its last descendant
};

class View {
 public:
  // `before`: the program from which a step made this one, which was verified.
  explicit View(const Program& program, bool with_definitions = true, const Program* before = nullptr)
      : p(program), before_(before && same_arguments(program, *before) ? before : nullptr) {
    if (before_) unchanged_.emplace(*before_, p);
    for (const Stmt& s : program.body)
      if (!unchanged_ || !unchanged_->inside(s.id)) flatten(s, -1, -1);
    collect(with_definitions);
  }

  const Program& p;
  std::vector<Place> places;
  struct Node {
    const Expr* e;
    const std::string* where;  // the stage, buffer or axis it belongs to
  };
  std::vector<Node> nodes;  // of all expressions of the program (those of stages with definitions), shared ones once

  const Stmt& at(int k) const { return *places[static_cast<std::size_t>(k)].stmt; }
  const Place& place(int k) const { return places[static_cast<std::size_t>(k)]; }
  int size() const { return static_cast<int>(places.size()); }

  // Was the stage defined by these formulas before, over the same symbols?
  bool defined_before(const Stage& s) const {
    if (!before_) return false;
    const auto at = before_->stages.find(s.id);
    return at != before_->stages.end() && same_definition(s, at->second);
  }

  // Does what the definitions and the nest's own loops say hold as it did before?
  bool loops_before(const Stmt& nest) const { return unchanged_ && unchanged_->definitions() && unchanged_->nest(nest.id); }

  std::string name(const Stmt& s) const {
    const auto named = [](const auto& map, Id id) {
      const auto it = map.find(id);
      return it == map.end() ? "?" : it->second.name;
    };
    return ir::match(
        s, [&](const NestStmt& nest) { return "nest " + named(p.stages, nest.stage); },
        [&](const LoopStmt& loop) { return "loop " + named(p.axes, loop.axis); },
        [&](const BlockStmt& block) { return "block " + named(p.stages, block.stage); },
        [&](const AllocStmt& alloc) { return "alloc " + named(p.buffers, alloc.buffer); },
        [&](const PrefetchStmt& prefetch) { return "prefetch " + named(p.buffers, prefetch.buffer); });
  }
  // The loops around a statement up to its nest, outermost first.
  std::vector<const LoopStmt*> own_loops(int k) const {
    std::vector<const LoopStmt*> loops;
    for (int i = place(k).parent; i >= 0 && i != place(k).nest; i = place(i).parent)
      if (const LoopStmt* loop = at(i).as<LoopStmt>()) loops.push_back(loop);
    std::reverse(loops.begin(), loops.end());
    return loops;
  }
  // Is there such a statement around one?
  template <class F>
  bool inside(int k, F&& wanted) const {
    for (int i = place(k).parent; i >= 0; i = place(i).parent)
      if (wanted(at(i))) return true;
    return false;
  }
  // Calls f(place, statement, node) for each node of this kind, but for those that a verified program had, with their nests and
  // all that is around them.
  template <class Node, class F>
  void each(F&& f) const {
    for (int k = 0; k < size(); ++k)
      if (const Node* node = at(k).as<Node>(); node && !as_before(k)) f(k, at(k), *node);
  }
  // What the nest around a statement computes, which the rules nest.own and loop.own say there is.
  const NestStmt& nest(int k) const { return at(place(k).nest).get<NestStmt>(); }

 private:
  const Program* const before_;
  std::optional<Unchanged> unchanged_;

  bool as_before(int k) const {
    if (!unchanged_) return false;
    const Stmt& s = at(k);
    if (const NestStmt* nest = s.as<NestStmt>()) return unchanged_->nest(s.id) && unchanged_->stage(nest->stage);
    return place(k).nest >= 0 && unchanged_->place(s.id) && unchanged_->stage(nest(k).stage);
  }

  void collect(bool with_definitions) {
    std::unordered_set<const ir::Node*> seen;
    seen.reserve(1024);
    std::vector<const Expr*> pending;
    const auto add = [&](const Expr& root, const std::string& where) {
      if (root.empty()) return;
      pending.push_back(&root);
      while (!pending.empty()) {
        const Expr& e = *pending.back();
        pending.pop_back();
        if (!seen.insert(e.node()).second) continue;
        nodes.push_back({&e, &where});
        for (const Expr& x : ir::args_of(e)) pending.push_back(&x);
      }
    };
    for (const auto& [id, s] : p.stages) {
      if (!with_definitions) break;
      if (unchanged_ && unchanged_->stage(id)) continue;
      for (const ir::IterVar& v : s.iters) add(v.begin, s.name), add(v.end, s.name);
      for (const auto* list : {&s.domain, &s.values, &s.inits, &s.reducer.combine, &s.targets})
        for (const Expr& e : *list) add(e, s.name);
      add(s.fill, s.name), add(s.keep, s.name);
    }
    for (const auto& [id, b] : p.buffers)
      if (unchanged_ && unchanged_->storage(id))
        continue;
      else
        for (const auto* list : {&b.extents, &b.layout.map, &b.layout.strides})
          for (const Expr& e : *list) add(e, b.name);
    for (const auto& [id, x] : p.axes)
      if (!unchanged_ || !unchanged_->provenance(id)) add(x.extent, x.name), add(x.factor, x.name);
    static const std::string conditions = "a condition", box = "a box", cut = "a cut", assumption = "an assumption";
    for (const Place& place : places) {
      const std::string& where = place.stmt->is<NestStmt>() ? box : place.stmt->is<LoopStmt>() ? cut : conditions;
      ir::for_each_expr(*place.stmt, [&](const Expr& e) { add(e, where); });
    }
    for (const Expr& e : p.assumptions) add(e, assumption);
  }

  void flatten(const Stmt& s, int parent, int nest) {
    const int here = size();
    places.push_back({&s, parent, nest, 0});
    for (const Stmt& inner : s.body()) flatten(inner, here, s.is<NestStmt>() ? here : nest);
    places[static_cast<std::size_t>(here)].end = size();
  }
};

using Broken = std::string;  // what breaks the rule; empty: it holds

// verify/definitions.cpp
Broken ids_resolve(const View&);
Broken ids_unique(const View&);
Broken ids_variables(const View&);
Broken types_operands(const View&);
Broken types_loads(const View&);
Broken types_conditions(const View&);
Broken stage_components(const View&);
Broken stage_rank(const View&);
Broken stage_reduction(const View&);
Broken stage_scope(const View&);
Broken stage_scatter(const View&);
Broken stage_atomic(const View&);
Broken stage_acyclic(const View&);
Broken stage_recurrence(const View&);
Broken loop_ordered(const View&);
Broken buffer_arguments(const View&);
Broken buffer_layout(const View&);

// verify/tree.cpp, verify/attributes.cpp
Broken nest_roots(const View&);
Broken axis_provenance(const View&);
Broken nest_after(const View&);
Broken loop_own(const View&);
Broken loop_once(const View&);
Broken loop_parallel(const View&);
Broken loop_constant(const View&);
Broken loop_reduction(const View&);
Broken loop_part(const View&);
Broken loop_tight(const View&);
Broken loop_bound(const View&);
Broken loop_combined(const View&);
Broken loop_tensorized(const View&);
Broken loop_pipeline(const View&);
Broken block_own(const View&);
Broken block_leaves(const View&);
Broken block_cover(const View&);
Broken block_init(const View&);
Broken block_order(const View&);
Broken block_stores(const View&);
Broken storage_live(const View&);
Broken order_produced(const View&);
Broken order_outputs(const View&);
Broken nest_beside(const View&);
Broken slide_loop(const View&);
Broken prefetch_loop(const View&);

}  // namespace ashlar::analysis::verifier
