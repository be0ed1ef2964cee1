// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorize(loop): the iterations are the lanes of vectors. The loop stays where it is; one late pass of lowering rewrites it.
// With any_alignment a program for a device is lowered twice, and each call shows whether it may access vectors
// (lower/alignment.cpp).
//
// Legality: CAPACITY, a constant extent, or a multiple of vscale; DISJOINT, independent iterations: no reduction (rfactor makes
// lanes of one).
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

extern const Primitive split_primitive;

namespace {

void apply_vectorize(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  // prove
  if (c.count() > 1 && !c.target.is_gpu())
    c.refuse("a device (processors access vectors at any address)", std::string(c.target.text()));
  if (!prove_scalable(c, loop)) prove_constant_extent(c, loop, 1024);
  prove_vectorizable(c, loop);
  // rewrite; handles stay
  loop.get<LoopStmt>().kind = ir::LoopKind::vectorized;
  loop.get<LoopStmt>().any_alignment = c.count() > 1;
  loop.where = c.step.where;
}

// Of a target whose vectors are as long as the machine's most often a split into those; now and then of another one too.
bool draw_vectorize(Draw& d) {
  static constexpr int lanes[] = {4, 8, 2, 16, 1};
  const std::vector<const Stmt*> loops = loops_of(d.p, d.stage());
  if (loops.empty()) return false;
  const Arg loop = Arg::loop(d.any(loops)->id);
  if (d.scalable ? d.pick(8) < 7 : d.one_in(3)) {
    d.step("split", {loop, Arg::integer(d.any(lanes)), Arg::text("guard"), Arg::text("keep"), Arg::text("scalable")});
    return d.step("vectorize", {Arg::loop(d.p.next_id + 2)});  // the inner loop is the third id that the split takes
  }
  if (d.launch && d.one_in(2)) return d.step("vectorize", {loop, Arg::text("any_alignment")});
  return d.step("vectorize", {loop});
}

}  // namespace

extern constexpr Primitive vectorize_primitive{
    .name = "vectorize",
    .spelling = "vectorize",
    .parameters = {takes::loop(), takes::word("alignment", "any_alignment").as("gpu::").maybe()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_vectorize,
    .cpp = of_loop,
    .draw = Drawing{.often = 2, .draw = draw_vectorize, .likely = [](const Draw& d) { return d.scalable; }},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::vectorize(Loop l, Where w) const { return of_own(schedule::vectorize_primitive, l, w); }
Stage Stage::vectorize(Loop l, gpu::AnyAlignment, Where w) const {
  const schedule::Primitive& vectorize = schedule::vectorize_primitive;
  return done(vectorize, {own(l, vectorize, w), Arg::text("any_alignment")}, w);
}
Stage Stage::vectorize(Loop l, Factor lanes, Where w) const {
  detail::Transaction transaction(*state_, "vectorize");
  const schedule::Primitive& split = schedule::split_primitive;
  const ir::Id inner =
      apply(split, {own(l, split, w), Arg::integer(lanes.value()), Arg::text("guard"), Arg::text("keep")}, w)[1];
  apply(schedule::vectorize_primitive, {Arg::loop(inner)}, w);
  transaction.keep();
  return *this;
}
Stage Stage::vectorize(Loop l, Scalable lanes, Where w) const {
  detail::Transaction transaction(*state_, "vectorize");
  const schedule::Primitive& split = schedule::split_primitive;
  const ir::Id inner =
      apply(split,
            {own(l, split, w), Arg::integer(lanes.lanes.value()), Arg::text("guard"), Arg::text("keep"), Arg::text("scalable")},
            w)[1];
  apply(schedule::vectorize_primitive, {Arg::loop(inner)}, w);
  transaction.keep();
  return *this;
}

}  // namespace ashlar
