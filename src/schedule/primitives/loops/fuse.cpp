// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuse(outer, inner): one loop over both.
//
//   for i in M                   for i_j in M * N
//     for j in N         ->        block C               i = i_j / N, j = i_j % N
//       block C
//
// A prefetch along the inner loop runs along the fused one afterwards, as many iterations ahead.
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_fuse(Context& c) {
  // match
  Stmt& outer = c.loop(0);
  LoopStmt& outer_loop = outer.get<LoopStmt>();
  const Stmt& wanted = c.loop(1);
  const LoopStmt& wanted_loop = wanted.get<LoopStmt>();
  require_serial(c, outer), require_serial(c, wanted);
  require_whole(c, outer), require_whole(c, wanted);
  if (outer.body().size() != 1 || outer.body().front().id != wanted.id) {
    const bool reversed = wanted.body().size() == 1 && wanted.body().front().id == outer.id;
    c.refuse("a loop whose body is exactly the other one",
             name_of(c.p, wanted) + " is not directly inside " + name_of(c.p, outer) +
                 (reversed ? ": the outer loop is named first, here " + c.p.axis(wanted_loop.axis).name : ""));
  }
  const ir::Axis a = c.p.axis(outer_loop.axis), b = c.p.axis(wanted_loop.axis);
  for (Id axis : {a.id, b.id}) {
    int over = 0;
    ir::walk(c.p.body, [&](const Stmt& s) { over += ir::runs_over(s, axis); });
    if (over != 1)
      c.refuse("loops that stand at one place",
               c.p.axis(axis).name + " of " + stage_around(c.p, outer.id).name + copied_by(c.p, outer, "fuse"));
  }
  for (const Stmt* loop : {static_cast<const Stmt*>(&outer), &wanted})
    if (slides_along(c.p.body, loop->id))
      c.refuse("loops that no stage slides along", name_of(c.p, *loop) + " (move the fuse before the slide)");
  // prove: both run over one kind of iteration, and the inner extent is the same for every outer iteration
  if (a.reduce != b.reduce)
    c.refuse("two loops of one kind", std::string(a.reduce ? "a reduction, " : "a spatial loop, ") + a.name + ", and " +
                                          (b.reduce ? "a reduction, " : "a spatial loop, ") + b.name);
  if (outer_loop.tight) c.refuse("an outer loop that was not tightened", name_of(c.p, outer));
  if (ir::uses_var(b.extent, a.id))
    c.refuse("an inner loop whose extent does not depend on the outer one", b.name + " in " + ir::text(b.extent));
  std::int64_t outer_extent = 0, inner_extent = 0, product = 0;
  if (ir::is_int(a.extent, &outer_extent) && ir::is_int(b.extent, &inner_extent) &&
      (__builtin_mul_overflow(outer_extent, inner_extent, &product) || product > std::int64_t{1} << 62))
    c.refuse("a number of iterations that 62 bits hold",
             std::to_string(outer_extent) + " times " + std::to_string(inner_extent));
  bool table =
      false;  // such an extent is read where the outer loop has not run past its end, which a split of the fused one may
  ir::walk(b.extent, [&](const Expr& e) { return table |= ir::is(e, ir::Op::load), !table; });
  if (table) c.refuse("an inner loop whose extent is read from no table", b.name + " in " + ir::text(b.extent));
  // rewrite
  ir::Axis fused;
  fused.id = c.p.fresh();
  fused.name = a.name + "_" + b.name;
  fused.where = c.step.where;
  fused.origin = ir::Axis::Origin::fused;
  fused.outer = a.id, fused.inner = b.id;
  fused.reduce = a.reduce;
  fused.extent = ir::mul(a.extent, b.extent);
  c.p.axes[fused.id] = fused;
  c.p.axes[a.id].became = c.p.axes[b.id].became = {fused.id};
  const std::string outer_name = name_of(c.p, outer), inner_name = name_of(c.p, wanted);
  const Id outer_id = outer.id, inner_id = wanted.id;
  std::vector<Stmt> body = std::move(outer.body().front().body());
  replace_axis(body, a.id, ir::axis_value(c.p, a.id));
  replace_axis(body, b.id, ir::axis_value(c.p, b.id));
  outer.body() = std::move(body);
  outer.id = c.p.fresh();
  move_prefetches(outer.body(), inner_id, outer.id);
  outer_loop.axis = fused.id;
  outer.where = c.step.where;
  c.results = {outer.id};
  // remap
  c.consume(outer_id, outer_name, "was fused into", c.results);
  c.consume(inner_id, inner_name, "was fused into", c.results);
}

bool draw_fuse(Draw& d) {
  const std::vector<const Stmt*> loops = loops_of(d.p, d.stage());
  if (loops.empty()) return false;
  const Stmt *outer = d.any(loops), *inner = d.any(loops);
  for (const Stmt& below : outer->body())
    if (below.is<LoopStmt>() && !d.one_in(10)) inner = &below;
  return d.step("fuse", {Arg::loop(outer->id), Arg::loop(inner->id)});
}

}  // namespace

extern constexpr Primitive fuse_primitive{
    .name = "fuse",
    .spelling = "fuse",
    .parameters = {takes::loop("outer"), takes::loop("inner")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_fuse,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = draw_fuse},
};

}  // namespace ashlar::schedule

namespace ashlar {

Loop Stage::fuse(Loop outer, Loop inner, Where w) const {
  const schedule::Primitive& fuse = schedule::fuse_primitive;
  return Loop(apply(fuse, {own(outer, fuse, w), own(inner, fuse, w)}, w)[0], state_);
}

}  // namespace ashlar
