// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/unchanged.h>

#include <algorithm>

#include <ashlar/analysis/reads.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

bool same(const Expr& a, const Expr& b) {
  if (a.node() == b.node()) return true;
  return a.node() && b.node() && ir::same(a, b);
}
bool same(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const Expr& x, const Expr& y) { return same(x, y); });
}

bool same(const ir::IterVar& a, const ir::IterVar& b) {
  return a.id == b.id && a.kind == b.kind && a.descending == b.descending && same(a.begin, b.begin) && same(a.end, b.end);
}
bool same(const ir::Reducer& a, const ir::Reducer& b) {
  return a.kind == b.kind && a.order == b.order && a.fused == b.fused && a.left == b.left && a.right == b.right &&
         a.unjoinable == b.unjoinable && same(a.combine, b.combine) && same(a.identity, b.identity);
}
bool same(const ir::Stage& a, const ir::Stage& b) {
  return a.buffers == b.buffers && a.along == b.along && a.origin == b.origin && a.origin_of == b.origin_of &&
         a.has_fill == b.has_fill && a.atomic == b.atomic && same(a.values, b.values) && same(a.inits, b.inits) &&
         same(a.domain, b.domain) && same(a.targets, b.targets) && same(a.keep, b.keep) && same(a.fill, b.fill) &&
         same(a.reducer, b.reducer) && same(a.scan, b.scan) && a.iters.size() == b.iters.size() &&
         std::equal(a.iters.begin(), a.iters.end(), b.iters.begin(),
                    [](const ir::IterVar& x, const ir::IterVar& y) { return same(x, y); });
}
bool same(const ir::Layout& a, const ir::Layout& b) {
  return a.vars == b.vars && a.dropped == b.dropped && a.align_dim == b.align_dim && a.pad_to == b.pad_to &&
         same(a.map, b.map) && same(a.strides, b.strides);
}
bool same(const ir::Buffer& a, const ir::Buffer& b) {
  return a.type == b.type && a.rank == b.rank && a.role == b.role && a.stage == b.stage && a.scope == b.scope &&
         a.align == b.align && a.may_alias_inputs == b.may_alias_inputs && a.injective == b.injective &&
         a.streamed == b.streamed && a.order == b.order && a.packed_by_caller == b.packed_by_caller && a.data == b.data &&
         same(a.extents, b.extents) && same(a.layout, b.layout);
}
bool same(const ir::Axis& a, const ir::Axis& b) {
  return a.origin == b.origin && a.iter == b.iter && a.parent == b.parent && a.parts == b.parts && a.tail == b.tail &&
         a.outer == b.outer && a.inner == b.inner && a.reduce == b.reduce && a.became == b.became && same(a.factor, b.factor) &&
         same(a.extent, b.extent);
}
bool same(const ir::Pipeline& a, const ir::Pipeline& b) {
  return a.stages == b.stages && a.async_copy == b.async_copy && a.any_alignment == b.any_alignment && a.loads == b.loads;
}
bool same(const ir::Symbol& a, const ir::Symbol& b) {
  return a.min == b.min && a.max == b.max && a.multiple_of == b.multiple_of;
}

// Calls f(id, now, before) for what stands in both maps; false if something stands in one of them alone.
template <class Map, class F>
bool each_in_both(const Map& now, const Map& before, F&& f) {
  auto a = now.begin();
  auto b = before.begin();
  bool all = now.size() == before.size();
  while (a != now.end() && b != before.end()) {
    if (a->first == b->first)
      f(a->first, a->second, b->second), ++a, ++b;
    else
      all = false, a->first < b->first ? ++a : ++b;
  }
  return all;
}

// What stands between the statements of a nest itself: what is computed inside of it, and storage.
bool is_own(const Stmt& s) { return s.is<LoopStmt>() || s.is<BlockStmt>(); }

}  // namespace

Unchanged::Unchanged(const ir::Program& before, const ir::Program& now) : before_(before), now_(now) {
  flags_.resize(static_cast<std::size_t>(now.next_id));
  then_.resize(static_cast<std::size_t>(before.next_id));
  arguments_ = same(now.assumptions, before.assumptions) && now.arguments.size() == before.arguments.size() &&
               std::equal(now.arguments.begin(), now.arguments.end(), before.arguments.begin(),
                          [](const ir::Argument& a, const ir::Argument& b) { return a.id == b.id && a.kind == b.kind; });
  arguments_ &= each_in_both(now.symbols, before.symbols,
                             [&](Id, const ir::Symbol& a, const ir::Symbol& b) { arguments_ = arguments_ && same(a, b); });
  compare_definitions();
  compare_axes();
  note(before.body, 0);
  compare(now.body, 0, true);
  for (const Then& t : then_)
    if (const NestStmt* nest = t.statement ? t.statement->as<NestStmt>() : nullptr) left_.push_back(nest->stage);
}

void Unchanged::note(const std::vector<Stmt>& body, Id parent) {
  for (const Stmt& s : body) {
    if (s.id >= then_.size()) then_.resize(static_cast<std::size_t>(s.id) + 1);
    then_[s.id] = {&s, parent};
    note(s.body(), s.id);
  }
}

void Unchanged::compare_definitions() {
  bool all = arguments_, formulas = arguments_;
  const bool buffers = each_in_both(now_.buffers, before_.buffers, [&](Id id, const ir::Buffer& a, const ir::Buffer& b) {
    if (same(a, b)) return set(id, buffer), set(id, typed);
    all = false;
    if (same_definition(a, b)) return set(id, typed);
    formulas = false;
    if (a.role != ir::Role::temporary && !same(a.extents, b.extents)) arguments_ = false;
  });
  const bool stages = each_in_both(now_.stages, before_.stages, [&](Id id, const ir::Stage& a, const ir::Stage& b) {
    const Buffers read = buffers_read(a);
    const auto are = [&](Flag f) {
      const auto kept = [&](Id buffer_id) { return has(buffer_id, f); };
      return std::all_of(a.buffers.begin(), a.buffers.end(), kept) && std::all_of(read.begin(), read.end(), kept);
    };
    const bool alike = same(a, b);
    if (alike && are(typed)) set(id, defined);
    if (alike && are(buffer)) set(id, definition);
    all = all && has(id, definition), formulas = formulas && has(id, defined);
  });
  definitions_ = all && buffers && stages, formulas_ = formulas && buffers && stages;
}

void Unchanged::compare_axes() {
  each_in_both(now_.axes, before_.axes, [&](Id id, const ir::Axis& a, const ir::Axis& b) {
    if (same(a, b)) set(id, axis);
  });
}

bool Unchanged::axes_below(Id id) const {
  if (!has(id, axis)) return false;
  const auto& became = now_.axis(id).became;
  return std::all_of(became.begin(), became.end(), [&](Id n) { return axes_below(n); });
}

bool Unchanged::same_nest(const NestStmt& a, const NestStmt& b) const {
  if (a.stage != b.stage || a.after != b.after || a.sibling.has_value() != b.sibling.has_value() ||
      a.roots.size() != b.roots.size() || a.slides.size() != b.slides.size())
    return false;
  if (a.sibling && (a.sibling->loop != b.sibling->loop || a.sibling->axis != b.sibling->axis)) return false;
  for (std::size_t k = 0; k < a.roots.size(); ++k) {
    const ir::Root &r = a.roots[k], &q = b.roots[k];
    if (r.iter != q.iter || r.axis != q.axis || !same(r.begin, q.begin) || !same(r.extent, q.extent) || !axes_below(r.axis))
      return false;
  }
  return std::equal(a.slides.begin(), a.slides.end(), b.slides.begin(),
                    [](const ir::Slide& x, const ir::Slide& y) { return x.loop == y.loop && x.iter == y.iter; });
}

bool Unchanged::same_loop(const LoopStmt& a, const LoopStmt& b) const {
  return a.axis == b.axis && a.kind == b.kind && a.bound_to == b.bound_to && a.intrinsic == b.intrinsic && a.part == b.part &&
         same(a.from, b.from) && same(a.to, b.to) && a.tight == b.tight && a.combines == b.combines &&
         a.any_alignment == b.any_alignment && a.pipeline.has_value() == b.pipeline.has_value() &&
         (!a.pipeline || same(*a.pipeline, *b.pipeline)) && has(a.axis, axis);
}

bool Unchanged::same_statement(const Stmt& now, const Stmt& before) const {
  if (now.node.index() != before.node.index()) return false;
  return ir::match(
      now, [&](const NestStmt& a) { return same_nest(a, before.get<NestStmt>()); },
      [&](const LoopStmt& a) { return same_loop(a, before.get<LoopStmt>()); },
      [&](const BlockStmt& a) {
        const BlockStmt& b = before.get<BlockStmt>();
        return a.stage == b.stage && a.piece == b.piece && a.first_stores == b.first_stores && a.stores == b.stores &&
               same(a.when, b.when);
      },
      [&](const AllocStmt& a) {
        const AllocStmt& b = before.get<AllocStmt>();
        return a.buffer == b.buffer && a.pinned == b.pinned;
      },
      [&](const PrefetchStmt& a) {
        const PrefetchStmt& b = before.get<PrefetchStmt>();
        return a.buffer == b.buffer && a.loop == b.loop && a.distance == b.distance;
      });
}

bool Unchanged::same_shape(const Stmt& now, const Stmt& before) const {
  auto b = before.body().begin();
  for (const Stmt& a : now.body()) {
    if (!is_own(a)) continue;
    while (b != before.body().end() && !is_own(*b)) ++b;
    if (b == before.body().end() || a.id != b->id || !same_statement(a, *b) || !same_shape(a, *b)) return false;
    ++b;
  }
  return std::none_of(b, before.body().end(), is_own);
}

// Is each statement of the list, with all that is in it, as it was? `around`: is what stands around it?
bool Unchanged::compare(const std::vector<Stmt>& body, Id parent, bool around) {
  bool all = true;
  for (const Stmt& s : body) {
    const Then then = s.id < then_.size() ? std::exchange(then_[s.id], {}) : Then{};
    const bool alike = around && then.statement && then.parent == parent && same_statement(s, *then.statement);
    bool within = compare(s.body(), s.id, alike) && alike && s.body().size() == then.statement->body().size();
    for (std::size_t k = 0; within && k < s.body().size(); ++k) within = s.body()[k].id == then.statement->body()[k].id;
    within = within && ir::match(
                           s, [&](const NestStmt& nest) { return has(nest.stage, definition); },
                           [&](const BlockStmt& block) { return has(block.stage, definition); },
                           [&](const AllocStmt& alloc) { return has(alloc.buffer, buffer); },
                           [&](const PrefetchStmt& prefetch) { return has(prefetch.buffer, buffer); },
                           [](const LoopStmt&) { return true; });
    if (alike) set(s.id, own);
    if (alike && s.is<NestStmt>() && same_shape(s, *then.statement)) set(s.id, shape);
    if (within) set(s.id, whole);
    all = all && within;
  }
  return all;
}

}  // namespace ashlar::analysis
