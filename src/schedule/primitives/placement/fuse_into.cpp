// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuse_into(stage, loop) — reverse compute_at: a reader is computed inside a loop of its producer, at the points that are
// finished there; inside reduction loops, at their last step.
//
//   for i { for k { update P } }          for i
//   for i { C[i] = f(P[i]) }      ->        for k
//                                             update P
//                                             nest C: block C          when k == K - 1
//
// Where the last step of k was peeled, the reader may be fused into that part, and needs no condition.
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {
namespace {

// match: the stage reads its producer only at its own point, each spatial variable once
void require_pointwise(const Context& c, const ir::Stage& stage, const ir::Stage& producer) {
  std::vector<Expr> point;
  for (const analysis::Read& r : analysis::reads_of(stage)) {
    if (c.p.buffer(r.load.node()->id).stage != producer.id) continue;
    const std::vector<Expr> at(ir::args_of(r.load).begin(), ir::args_of(r.load).end());
    if (point.empty()) point = at;
    if (!std::equal(point.begin(), point.end(), at.begin(), at.end(),
                    [](const Expr& x, const Expr& y) { return ir::same(x, y); }))
      return c.unproved(Obligation::order, stage.name + " to read " + producer.name + " at one point alone", ir::text(r.load),
                        "the point before it in the loop may not be finished");
    std::vector<Id> seen;
    for (const Expr& e : ir::args_of(r.load)) {
      const bool own = ir::is(e, ir::Op::var) && std::any_of(stage.iters.begin(), stage.iters.end(), [&](const ir::IterVar& v) {
                         return v.id == e.node()->id && v.kind != ir::IterKind::reduce;
                       });
      if (!own || std::find(seen.begin(), seen.end(), e.node()->id) != seen.end())
        return c.unproved(Obligation::order, stage.name + " to read " + producer.name + " at its own point alone",
                          ir::text(r.load), "the point before it in the loop may not be finished");
      seen.push_back(e.node()->id);
    }
    if (static_cast<int>(seen.size()) != stage.spatial_rank())
      c.refuse(stage.name + " and " + producer.name + " of one rank", ir::text(r.load));
  }
}

void apply_fuse_into(Context& c) {
  const ir::Stage& stage = c.stage(0);
  Stmt& loop = c.loop(1);
  const Stmt& target = nest_of(c.p, loop.id);
  const ir::Stage& producer = c.p.stage(target.get<NestStmt>().stage);
  Stmt& nest = only_nest(c, stage);
  const auto here = ir::path_to(c.p, nest.id);
  if (here.size() != 1 || nest.get<NestStmt>().after)
    c.refuse("a stage computed at root", stage.name + ", which is computed inside another");
  if (ir::path_to(c.p, target.id).size() != 1) c.refuse("a loop of a producer that is computed at root", name_of(c.p, loop));
  if (producer.scatters())
    c.unproved(Obligation::order, "a producer that finishes its points one by one",
               producer.name + ", a scatter, whose last step may choose any of them");
  if (std::any_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) { return reads_buffer(producer, b); }) &&
      std::none_of(producer.buffers.begin(), producer.buffers.end(), [&](Id b) { return reads_buffer(stage, b); }))
    c.refuse("a loop of a stage that " + stage.name + " reads",
             name_of(c.p, loop) + ", which reads " + stage.name + ": compute_at puts a stage into a loop of its reader");
  if (stage.is_reduction()) c.refuse("a stage that is not a reduction", stage.name + ", which is one");
  require_no_recurrence(c, stage, "");
  if (stage.iters.empty() || stage.iters.front().begin.empty())
    c.refuse("a stage with a stated domain, compute(\"" + stage.name + "\", {...}, ...)",
             stage.name + ", whose domain is inferred");
  if (std::none_of(producer.buffers.begin(), producer.buffers.end(), [&](Id b) { return reads_buffer(stage, b); }))
    c.refuse("a loop of a stage that " + stage.name + " reads", name_of(c.p, loop));
  require_pointwise(c, stage, producer);
  for (const Stmt* s : ir::path_to(c.p, loop.id))
    if (ir::is_loop(*s, ir::LoopKind::vectorized))
      c.refuse("a loop outside of vectorized ones", name_of(c.p, *s) + ", which is vectorized");
  for (const Stmt* s : ir::path_to(c.p, loop.id))
    if (const LoopStmt* l = s->as<LoopStmt>();
        l && l->part != ir::Part::all && !(c.p.axis(l->axis).reduce && l->part == ir::Part::last))
      c.unproved(Obligation::cover, "a loop that every point passes through (whole, or the last step of a reduction)",
                 name_of(c.p, *s) + ", a part of a loop that was peeled");
  for (const Stmt* s : ir::path_to(c.p, loop.id))
    if (const LoopStmt* over = s->as<LoopStmt>(); over && over->tight && c.p.axis(over->axis).reduce)
      if (const ir::Axis& outer = c.p.axis(c.p.axis(c.p.axis(over->axis).parent).became.front()); !outer.became.empty())
        c.unproved(Obligation::cover, "a last step of the reduction (move this call before the tighten)",
                   name_of(c.p, *s) + ", which was tightened: where " + outer.name +
                       ", which was split again, is at its last it may have none");
  // the points of the reader are finished by the producer: its domain lies inside the producer's
  const analysis::Facts facts = analysis::facts_of_arguments(c.p);
  for (const analysis::Read& r : analysis::reads_of(stage)) {
    if (c.p.buffer(r.load.node()->id).stage != producer.id) continue;
    for (std::size_t d = 0; d < ir::args_of(r.load).size(); ++d)
      for (const ir::IterVar& v : stage.iters)
        if (v.id == ir::args_of(r.load)[d].node()->id && !producer.iters[d].begin.empty()) {
          const ir::IterVar& w = producer.iters[d];
          for (const Expr& same : {ir::eq(v.begin, w.begin), ir::eq(v.end, w.end)})
            if (const auto proof = analysis::prove(same, facts); !proof)
              c.unproved(Obligation::cover, "the domains of " + stage.name + " and " + producer.name + " to be the same",
                         v.name + " in [" + ir::text(v.begin) + ", " + ir::text(v.end) + ") and " + w.name + " in [" +
                             ir::text(w.begin) + ", " + ir::text(w.end) + ")",
                         proof.why);
        }
  }
  // rewrite: the nest goes to the end of the loop; inside reduction loops its blocks wait for the last step
  std::vector<Expr> when;
  for (const Stmt* s : ir::path_to(c.p, loop.id))
    if (const LoopStmt* run = s->as<LoopStmt>(); run && c.p.axis(run->axis).reduce)
      when.push_back(ir::eq(ir::axis_var(c.p, run->axis), ir::sub(ir::extent_of(c.p, *run), ir::index(1))));
  const Id loop_id = loop.id;
  Stmt moved = take(c.p, nest.id);
  moved.get<NestStmt>().after = producer.id;
  ir::walk(moved.body(), [&](Stmt& s) {
    if (BlockStmt* block = s.as<BlockStmt>()) block->when.insert(block->when.end(), when.begin(), when.end());
  });
  ir::find(c.p, loop_id)->body().push_back(std::move(moved));
  // its storage, if it has any, lies around the producer
  for (Id b : stage.buffers)
    if (const Stmt* alloc = ir::alloc_of(c.p, b)) {
      Stmt a = take(c.p, alloc->id);
      c.p.body.insert(c.p.body.begin(), std::move(a));
    }
}

bool draw_fuse_into(Draw& d) {
  const Id stage = d.stage();
  std::vector<Id> producers;
  for (const auto& [id, other] : d.p.stages)
    for (const Id b : other.buffers)
      if (id != stage && reads_buffer(d.p.stage(stage), b)) producers.push_back(id);
  if (producers.empty() || d.one_in(16)) producers = d.stages();
  const std::vector<const Stmt*> loops = loops_of(d.p, d.any(producers));
  return !loops.empty() && d.step("fuse_into", {Arg::stage(stage), Arg::loop(d.any(loops)->id)});
}

}  // namespace

extern constexpr Primitive fuse_into_primitive{
    .name = "fuse_into",
    .spelling = "fuse_into",
    .parameters = {takes::stage(), takes::loop("producer_loop")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_fuse_into,
    .cpp = of_stage,
    .draw = Drawing{.often = 2, .draw = draw_fuse_into},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::fuse_into(Loop l, Where w) const { return of_any(schedule::fuse_into_primitive, l, w); }

}  // namespace ashlar
