// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is proved again after every step, and what must hold when the schedule is complete.
#include <ashlar/schedule/capacity.h>
#include <algorithm>
#include <functional>
#include <set>

#include <ashlar/analysis/scope_call.h>
#include <ashlar/analysis/dropped.h>
#include <ashlar/ir/recurrence.h>

#include "schedule/legality/inside.h"
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"
#include "schedule/still_proved.h"
#include "schedule/primitives/storage/storage.h"

namespace ashlar::schedule {
namespace {

// A padded split reads past the box of its nest, which every placement moves; of a covering one, what is computed inside.
bool pads(const Program& p) {
  return std::any_of(p.axes.begin(), p.axes.end(), [](const auto& a) {
    return (a.second.tail == ir::Tail::pad || a.second.tail == ir::Tail::cover) && !a.second.factor.empty();
  });
}

// A loop without iterations, as in a variant for calls without elements: nothing in it is called.
bool never_runs(const Program& p, const Stmt& loop) {
  const ir::LoopRange range = ir::range_of(p, loop);
  return analysis::can_prove(ir::le(range.end, range.begin), analysis::facts_of_arguments(p));
}

void recheck_loop(Context& c, const Stmt& s, const StillProved& still_proved) {
  const LoopStmt& loop = s.get<LoopStmt>();
  if (loop.tight && !still_proved.place(s)) prove_tight(c, s);
  if (loop.kind == ir::LoopKind::parallel && !still_proved.apart(s)) prove_parallel(c, s);
  if (loop.kind == ir::LoopKind::bound) prove_bound(c, s);
  if (loop.kind == ir::LoopKind::vthread) prove_virtual(c, s);
  if (loop.kind == ir::LoopKind::tile) prove_tile(c, s);
  if (loop.combines) prove_combined(c, s);
  if (loop.pipeline) prove_pipeline(c, s);
  if (loop.kind == ir::LoopKind::vectorized && !still_proved.inside(s)) {
    if (!prove_scalable(c, s)) prove_constant_extent(c, s, 1024);
    prove_vectorizable(c, s);
  }
  if (loop.kind == ir::LoopKind::unrolled && !still_proved.place(s)) prove_constant_extent(c, s, 1024);
  if (loop.kind == ir::LoopKind::tensorized && !never_runs(c.p, s)) prove_tensorized(c, s, *c.p.intrinsics.at(loop.intrinsic));
}

// The bounds of a reduction may use the points around it. Where these are narrow nothing of them is left in the bounds, and a
// loop over terms may stand outside; a step that widens them brings them back.
void require_bounds_around(Context& c, const Stmt& nest) {
  std::set<Id> own, around;
  for (const ir::Root& r : nest.get<NestStmt>().roots)
    for (Id leaf : ir::leaves_of(c.p, r.axis)) own.insert(leaf);
  const std::function<void(const Stmt&)> visit = [&](const Stmt& parent) {
    for (const Stmt& s : parent.body()) {
      const LoopStmt* loop = s.as<LoopStmt>();
      if (!loop) continue;
      if (c.p.axis(loop->axis).reduce)
        for (Id v : ir::free_vars(ir::extent_of(c.p, *loop)))
          if (own.count(v) && !around.count(v))
            c.refuse("loops inside those that bound them (move this call before the reorder)",
                     c.p.axis(loop->axis).name + " in " + ir::text(ir::extent_of(c.p, *loop)) + " outside " + c.p.axis(v).name);
      const bool added = around.insert(loop->axis).second;
      visit(s);
      if (added) around.erase(loop->axis);
    }
  };
  visit(nest);
}

// `recurrence`: the one that the nest's stage is inside of, or 0.
void recheck_nest(Context& c, const Stmt& nest, Id recurrence, const StillProved& still_proved) {
  const NestStmt& node = nest.get<NestStmt>();
  const Program& p = c.p;
  const ir::Stage& stage = p.stage(node.stage);
  if (!still_proved.nest(nest)) {
    if (stage.is_reduction()) require_bounds_around(c, nest);
    std::vector<Id> pending;
    for (const ir::Root& r : node.roots) pending.push_back(r.axis);
    while (!pending.empty()) {
      const ir::Axis& a = p.axis(pending.back());
      pending.pop_back();
      for (Id n : a.became) pending.push_back(n);
      if (a.became.size() == 2) prove_split(c, nest, p.axis(a.became[0]));
    }
  }
  const bool defined = still_proved.definitions();
  if (stage.is_recurrence() && !(defined && still_proved.nest(nest))) prove_recurrence(c, nest);
  prove_external(c, nest);
  if (recurrence && !(defined && still_proved.place(nest) && still_proved.window(nest))) prove_inside(c, nest, recurrence);
  for (const ir::Slide& slide : node.slides)
    if (!still_proved.window(nest)) prove_slide(c, nest, slide);
  if (node.after) prove_after(c, nest);
  if (node.sibling) prove_beside(c, nest);
  if (!defined && !node.after && !node.sibling && stores_outputs(p, stage) && ir::path_to(p, nest.id).size() > 1)
    prove_needed(c, stage);
  if (stage.scatters() && !still_proved.inside(nest)) prove_scatter_place(c, nest);
  if (stage.atomic && !(defined && still_proved.inside(nest))) prove_atomic(c, nest);
  if (!(defined && still_proved.inside(nest)) && analysis::drops(p, stage)) prove_dropped(c, nest);
}

}  // namespace

Id rearranged(const Context& c) {
  if (c.target.is_gpu() || pads(c.p) || traits_of(c).boxes != Boxes::of_one_nest) return 0;
  const Stmt& nest = nest_of(c.p, c.results.empty() ? c.step.args.front().id : c.results.front());
  // The box of what is computed inside has other words now, and so has what it reads from outside; and where loops follow other
  // ones (a triangle) the hull of what they reach has them too.
  bool alone = true;
  std::set<Id> own;
  ir::walk(nest.body(), [&](const Stmt& s) {
    alone = alone && !s.is<NestStmt>();
    if (const LoopStmt* loop = s.as<LoopStmt>()) own.insert(loop->axis);
  });
  ir::for_each_expr(nest, [&](const Expr& e) {
    for (Id v : ir::free_vars(e))
      if (c.p.axes.count(v))
        for (Id leaf : ir::leaves_of(c.p, v)) alone = alone && !own.count(leaf);
  });
  return alone ? nest.id : 0;
}

void recheck(Context& c, const Program* before) {
  const Program& p = c.p;
  const Traits traits = traits_of(c);
  const StillProved still_proved(before && !c.target.is_gpu() ? before : nullptr, p);
  std::vector<const Stmt*> nests;
  ir::walk(p.body, [&](const Stmt& s) {
    if (s.is<NestStmt>()) nests.push_back(&s);
    if (s.is<LoopStmt>()) recheck_loop(c, s, still_proved);
    if (const AllocStmt* alloc = s.as<AllocStmt>()) {
      const ir::Buffer& b = p.buffer(alloc->buffer);
      const bool mapped = b.layout.dropped.empty() ? !b.layout.map.empty()
                                                   : !std::all_of(b.layout.map.begin(), b.layout.map.end(),
                                                                  [](const Expr& e) { return ir::is(e, ir::Op::var); });
      if (b.scope == Scope::fragment && (mapped || b.layout.align_dim >= 0))
        c.refuse("a fragment without a layout of its own: its intrinsics say which lane holds what",
                 b.name + ", which has one");
      if (!b.layout.map.empty() && !still_proved.storage(s)) {
        prove_fold(c, b);
        if (traits.layouts != Layouts::kept) prove_bijective(c, s);
      }
    }
  });
  const std::map<Id, Id> around = ir::recurrences_around(p);
  for (const Stmt* nest : nests) {
    const auto it = around.find(nest->get<NestStmt>().stage);
    recheck_nest(c, *nest, it == around.end() ? 0 : it->second, still_proved);
  }
  if (traits.reads == Reads::changed || (traits.reads == Reads::moved && pads(p))) prove_reads(c);
  if (before) prove_still_in_place(c, *before);
}

void require_capacity(const Program& p, const ir::Buffer& b) {
  if (b.role != ir::Role::temporary) return;
  const bool users = !(b.scope == Scope::shared) && b.scope.limits.bytes > 0;  // the language's own, or a scratchpad
  if (!users && !(b.scope == Scope::stack) && !(b.scope == Scope::registers)) return;
  const Stmt* alloc = ir::alloc_of(p, b.id);
  if (!alloc) throw InternalError("no alloc of " + b.name);
  const std::int64_t most = b.scope.limits.bytes > 0 ? b.scope.limits.bytes : 16 * 1024;
  std::int64_t bytes = b.type.bytes();
  for (const Expr& e : analysis::storage_extents(p, alloc->id)) {
    const auto n = e.empty() ? std::nullopt : analysis::constant_max(e, analysis::facts_of_arguments(p));
    if (!n)
      ashlar::refuse(analysis::scope_call(p, b),
                     "a constant size for " + b.name + " in " + b.scope.name +
                         " (place it inside a tile of constant extent, or use Scope::global)",
                     e.empty() ? "an extent without bound" : "an extent of " + ir::text(e), b.where);
    bytes *= std::clamp<std::int64_t>(*n, 0, most + 1);
    if (bytes > most) break;
  }
  if (bytes > most)
    ashlar::refuse(analysis::scope_call(p, b), "at most " + std::to_string(most) + " bytes in " + b.scope.name,
                   b.name + " of " + std::to_string(bytes) + " or more", b.where);
}

void finish(const Scheduled& state, const Target& target) {
  for (const Scheduled& v : state.variants) finish(v, target);
  Scheduled copy = state;
  Step step;
  step.primitive = "schedule";
  Context c{copy, copy.program, target, step, {}};
  ir::walk(copy.program.body, [&](const Stmt& s) {
    if (s.is<NestStmt>()) prove_external(c, s);
  });
  prove_in_place(copy.program);
  finish_launches(c);
  finish_fragments(c);
  for (const auto& [id, b] : copy.program.buffers) require_capacity(copy.program, b);
  for (const auto& [id, b] : copy.program.buffers)
    if (target.has_tiles() && target.device().chip == std::string("sm_80") && (b.type == e4m3 || b.type == e5m2))
      refuse("tiles", "elements of a type that sm_80 has",
             b.name + " of " + ir::text(b.type) + ", which chips have from sm_89 on", b.where);
}

}  // namespace ashlar::schedule
