// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// slide(stage, loop): each iteration computes only what the iterations before have not.
//
//   for y in H                                       for y in H
//     nest P rows [y - 1, y + 1]             ->        nest P rows [y == 0 ? y - 1 : y + 1, y + 1]
//
// Storage that no store_at placed begins around the loop, and the inner loop of a guarded split is tightened. Readers may slide
// along the same loop: of each the window that it has as if it did not slide is what counts, so a chain of stages slides as its
// last stage does.
//
// Legality: COVER: the window moves forward without gaps, the loop is serial, the storage lies outside of it.
#include <algorithm>

#include <ashlar/ir/skew.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

// Storage that begins in the loop begins around it instead, unless store_at put it there.
void store_outside(Context& c, const ir::Stage& stage, Id loop) {
  const std::vector<const Stmt*> path = ir::path_to(c.p, loop);
  std::size_t around = path.size() - 1;  // of the path: what stands between the loop and this is its own nest
  while (around > 0 && path[around - 1]->is<NestStmt>()) --around;
  const Id parent = around > 0 ? path[around - 1]->id : 0;
  for (Id b : stage.buffers) {
    const Stmt* alloc = ir::alloc_of(c.p, b);
    if (!alloc || alloc->get<AllocStmt>().pinned || !encloses(c.p, loop, alloc->id)) continue;
    std::vector<Stmt> one;
    one.push_back(take(c.p, alloc->id));
    insert_before_use(c.p, parent ? ir::find(c.p, parent)->body() : c.p.body, std::move(one), {b});
  }
}

// Iterations past the end of a guarded split need no window: the loop ends where the split does, if its outer loops stand
// around it.
void end_with_split(Context& c, Id id) {
  Stmt& loop = *ir::find(c.p, id);
  LoopStmt& l = loop.get<LoopStmt>();
  const ir::Axis& a = c.p.axis(l.axis);
  if (l.tight || l.kind != ir::LoopKind::serial || l.part != ir::Part::all || a.reduce ||
      a.origin != ir::Axis::Origin::split_inner || (a.tail != ir::Tail::guard && a.tail != ir::Tail::predicate) ||
      !ir::skews_of(c.p, l.axis).empty())
    return;
  const std::vector<const Stmt*> path = ir::path_to(c.p, id);
  for (Id leaf : ir::leaves_of(c.p, c.p.axis(a.parent).became.front()))
    if (std::none_of(path.begin(), path.end(), [&](const Stmt* s) { return ir::runs_over(*s, leaf); })) return;
  l.tight = true;
}

void apply_slide(Context& c) {
  // match: the one dimension of the window that moves with the loop
  const ir::Stage& stage = c.stage(0);
  const Id loop_id = c.loop(1).id, nest_id = only_nest(c, stage).id;
  if (!encloses(c.p, loop_id, nest_id))
    c.refuse("a loop that " + stage.name + " is computed inside (compute_at it first)", name_of(c.p, c.loop(1)));
  if (only_nest(c, stage).get<NestStmt>().after)
    c.refuse("a stage computed before its readers", stage.name + ", which was put after its producer by fuse_into");
  if (!only_nest(c, stage).get<NestStmt>().slides.empty()) c.refuse("a stage that does not slide yet", stage.name);
  store_outside(c, stage, loop_id);
  end_with_split(c, loop_id);
  Stmt& nest = only_nest(c, stage);
  const Stmt& loop = c.loop(1);
  const LoopStmt& l = loop.get<LoopStmt>();
  ir::Slide& slide = nest.get<NestStmt>().slides.emplace_back(ir::Slide{loop_id, 0, c.step.where});
  const auto window = analysis::required_region(c.p, nest_id);
  if (window.size() != static_cast<std::size_t>(stage.spatial_rank()))
    throw InternalError(stage.name + " has no readers around where it is computed");
  std::vector<Id> moving;
  std::size_t d = 0;
  for (const ir::IterVar& v : stage.iters) {
    if (v.kind == ir::IterKind::reduce) continue;
    if (ir::uses_var(window.at(d).lo, l.axis) || ir::uses_var(window.at(d).hi, l.axis)) moving.push_back(v.id);
    ++d;
  }
  if (moving.size() != 1)
    c.refuse("a window that moves with " + name_of(c.p, loop) + " in one dimension",
             stage.name + " moves in " + (moving.empty() ? "none" : std::to_string(moving.size()) + " of them"));
  slide.iter = moving.front();
  prove_slide(c, nest, slide);
}

// Of a stage as it is placed; or a whole window: compute_at, store_at further out, slide, and often a ring.
bool draw_slide(Draw& d) {
  if (d.pick(5) > 2) return draw_at(d, "slide");
  const Id id = d.temporary();
  const std::vector<Id> readers = readers_of(d.p, id);
  if (readers.empty()) return false;
  std::vector<const Stmt*> chain;  // the loops around a block of the reader, outermost first
  const auto blocks = ir::blocks_of(d.p, d.any(readers));
  if (blocks.empty()) return false;
  for (const Stmt* s : ir::path_to(d.p, d.any(blocks)->id))
    if (s->is<LoopStmt>()) chain.push_back(s);
  if (chain.size() < 2) return false;
  const std::size_t at = 1 + d.pick(static_cast<std::uint32_t>(chain.size() - 1));
  const std::size_t outside = d.pick(static_cast<std::uint32_t>(at));
  const Arg stage = Arg::stage(id);
  d.step("compute_at", {stage, Arg::loop(chain[at]->id)});
  d.step("store_at", {stage, Arg::loop(chain[outside]->id)});
  d.step("slide", {stage, Arg::loop(chain[at]->id)});
  const int rank = d.p.stage(id).spatial_rank();
  if (rank > 0 && !d.one_in(3))
    d.step("fold", {stage, Arg::integer(d.pick(static_cast<std::uint32_t>(rank))), Arg::integer(d.factor())});
  return true;
}

}  // namespace

extern constexpr Primitive slide_primitive{
    .name = "slide",
    .spelling = "slide",
    .parameters = {takes::stage(), takes::loop()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_slide,
    .cpp = of_stage,
    .draw = Drawing{.often = 5, .draw = draw_slide},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::slide(Loop l, Where w) const { return of_any(schedule::slide_primitive, l, w); }

}  // namespace ashlar
