// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// skew(along, loop, factor): the loop begins `factor` iterations later with each iteration of the loop along which.
//
//   for i in M                     for i in M
//     for j in N          ->         for js in N + M - 1        j = js - i
//       block u                        block u                  where 0 <= js - i < N
//
// What u[i, j] reads of u[i - 1, j] and u[i, j - 1] lies one iteration of js back: with js outermost the iterations of i have
// nothing to do with each other, and are the points of a wavefront. tighten leaves those alone that exist:
//
//   for js in N + M - 1
//     for i from max(0, js - (N - 1)) to min(M, js + 1) of M       parallel
//       block u
//
// Legality: none of points; what a recurrence reads must still lie before its reader, which is proved of the nest (ORDER). The
// steps of a reduction keep their loops, whose order is that of its terms.
#include <ashlar/ir/skew.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_skew(Context& c) {
  // match: two loops of one nest, each at one place
  const Stmt& along = c.loop(0);
  Stmt& loop = c.loop(1);
  LoopStmt& node = loop.get<LoopStmt>();
  const std::int64_t factor = c.integer(2);
  if (along.id == loop.id) c.refuse("two loops", name_of(c.p, loop) + " twice");
  for (const Stmt* l : {&along, static_cast<const Stmt*>(&loop)}) {
    require_serial(c, *l);
    require_whole(c, *l);
    const ir::Axis& axis = c.p.axis(l->get<LoopStmt>().axis);
    int over = 0;
    ir::walk(c.p.body, [&](const Stmt& s) { over += ir::runs_over(s, axis.id); });
    if (over != 1) c.refuse("loops that stand at one place", name_of(c.p, *l) + copied_by(c.p, *l, "skew"));
    if (slides_along(c.p.body, l->id))
      c.refuse("loops that no stage slides along", name_of(c.p, *l) + " (move the skew before the slide)");
    if (axis.reduce) c.refuse("loops over points", name_of(c.p, *l) + ", a reduction");
    if (l->get<LoopStmt>().tight)
      c.refuse("loops that were not tightened (move this call before the tighten)", name_of(c.p, *l));
  }
  const Stmt& nest = nest_of(c.p, loop.id);
  const NestStmt& n = nest.get<NestStmt>();
  if (nest_of(c.p, along.id).id != nest.id)
    c.refuse("two loops of one stage", name_of(c.p, along) + " and " + name_of(c.p, loop));
  if (c.p.stage(n.stage).scatters()) c.refuse("a stage that stores each point once", c.p.stage(n.stage).name + ", a scatter");
  if (!encloses(c.p, along.id, loop.id) && !encloses(c.p, loop.id, along.id))
    c.refuse("loops around one another", name_of(c.p, along) + " and " + name_of(c.p, loop) + " are not on one path");
  for (const Stmt* s : ir::path_to(c.p, along.id))  // afterwards the value of the skewed one is known inside of both
    if (const LoopStmt* run = s->as<LoopStmt>();
        run && s->id != along.id && ir::uses_var(c.p.axis(run->axis).extent, node.axis))
      c.refuse("loops around " + name_of(c.p, along) + " that do not end where " + name_of(c.p, loop) + " says",
               name_of(c.p, *s) + " in " + ir::text(c.p.axis(run->axis).extent));
  if (factor == 0) c.refuse("a factor other than 0", "0, which leaves the loop as it is");
  // so that the extent, of both loops together, stays far from the largest index
  if (factor > 1024 || factor < -1024) c.refuse("a factor from -1024 to 1024", std::to_string(factor));
  // rewrite
  const ir::Axis old = c.p.axis(node.axis);
  const std::string name = name_of(c.p, loop);
  const Id old_id = loop.id;
  ir::Axis skewed;
  skewed.id = c.p.fresh();
  skewed.name = old.name + "s";
  skewed.where = c.step.where;
  skewed.origin = ir::Axis::Origin::skewed;
  skewed.parent = old.id;
  skewed.outer = along.get<LoopStmt>().axis;
  skewed.factor = ir::index(factor);
  skewed.extent = ir::skewed_extent(c.p, skewed);
  c.p.axes[skewed.id] = skewed;
  c.p.axes[old.id].became = {skewed.id};
  replace_axis(c.p.body, old.id, ir::axis_value(c.p, old.id));
  loop.id = c.p.fresh();
  move_prefetches(loop.body(), old_id, loop.id);
  node.axis = skewed.id;
  loop.where = c.step.where;
  c.results = {loop.id};
  // remap
  c.consume(old_id, name, "was skewed into", c.results);
}

// And often what is made of it, a wavefront: the skewed loop outside, tight, at once.
bool draw_skew(Draw& d) {
  static constexpr int by[] = {1, 1, 2, -1, 3, -2};
  const Id stage = d.stage();
  std::vector<const Stmt*> chain;
  for (const Stmt* l : loops_of(d.p, stage))
    if (!d.p.axis(l->get<LoopStmt>().axis).reduce || d.one_in(12)) chain.push_back(l);
  if (chain.size() < 2 || (!d.p.stage(stage).is_recurrence() && d.pick(2))) return false;
  const std::size_t along = d.pick(static_cast<std::uint32_t>(chain.size()));
  std::size_t other = d.pick(static_cast<std::uint32_t>(chain.size() - 1));
  other += other >= along;
  const Arg skewed = Arg::loop(d.p.next_id + 1), loop = Arg::loop(chain[along]->id);  // it takes two ids: an axis, the loop
  d.step("skew", {loop, Arg::loop(chain[other]->id), Arg::integer(d.any(by))});
  if (d.one_in(4)) return true;
  const bool outside = !d.one_in(3);
  if (outside) d.step("reorder", {skewed, loop});
  if (!d.one_in(3)) d.step("tighten", {outside ? loop : skewed});
  if (!d.one_in(3)) d.step("parallel", {d.one_in(6) ? skewed : loop});
  return true;
}

}  // namespace

extern constexpr Primitive skew_primitive{
    .name = "skew",
    .spelling = "skew",
    .parameters = {takes::loop("along"), takes::loop(), takes::number("factor")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::of_one_nest, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_skew,
    .cpp = of_loop,
    .draw = Drawing{.often = 2, .draw = draw_skew},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Loop Stage::skew(Loop along, Loop l, Factor by, Where w) const {
  const schedule::Primitive& skew = schedule::skew_primitive;
  return Loop(apply(skew, {own(along, skew, w), own(l, skew, w), Arg::integer(by.value())}, w)[0], state_);
}

}  // namespace ashlar
