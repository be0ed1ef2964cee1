// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensorize(loop, intrinsic): one call does what the loop and all inside it do.
//
//   for ai in 16                               for ai in 16            by npu_gemm
//     for aj in 16                               for aj in 16
//       for ki in 16                 ->            for ki in 16
//         update acc                                 update acc
//
// The loops stay: they say what the call means, and erasing the mark leaves the program as it was. Lowering puts the call in
// their place. A later step that changes what they compute, or where a tile lies, proves the match again or is refused.
//
// Legality: the description of the intrinsic unifies with the loops (analysis/tensorize.h); legality/tensorize.cpp has the
// rest.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_tensorize(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  LoopStmt& l = loop.get<LoopStmt>();
  const ir::Intrinsic& f = *c.arg(1).intrinsic;
  require_serial(c, loop);
  require_whole(c, loop);
  require_no_recurrence(c, stage_around(c.p, loop.id), "");
  // prove
  prove_tensorized(c, loop, f);
  // rewrite; handles stay
  Id id = 0;
  for (const auto& [known, other] : c.p.intrinsics)
    if (other == &f) id = known;
  if (!id) c.p.intrinsics[id = c.p.fresh()] = &f;
  l.kind = ir::LoopKind::tensorized;
  l.intrinsic = id;
  loop.where = c.step.where;
}

bool draw_tensorize(Draw& d) {
  const std::vector<const Stmt*> loops = loops_of(d.p, d.stage());
  if (loops.empty()) return false;
  const Stmt& loop = *d.any(loops);
  const ir::Intrinsic* f = d.intrinsic_for(loop);
  return f && d.step("tensorize", {Arg::loop(loop.id), Arg::call_of(*f)});
}

}  // namespace

extern constexpr Primitive tensorize_primitive{
    .name = "tensorize",
    .spelling = "tensorize",
    .parameters = {takes::loop(), takes::intrinsic()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_tensorize,
    .cpp = of_loop,
    .draw = Drawing{.often = 3, .draw = draw_tensorize},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::tensorize(Loop l, const Intrinsic& f, Where w) const {
  return done(schedule::tensorize_primitive, {own(l, schedule::tensorize_primitive, w), Arg::call_of(f.node())}, w);
}

}  // namespace ashlar
