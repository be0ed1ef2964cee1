// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tighten(loop): the inner loop of a guarded split ends where the domain ends, so that its guard is not needed.
//
//   for io in (M + 31) / 32                          for io in (M + 31) / 32
//     for ii in 32                          ->         for ii in min(32, M - io * 32)
//       block C     where io * 32 + ii < M               block C
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_tighten(Context& c) {
  Stmt& loop = c.loop(0);
  LoopStmt& l = loop.get<LoopStmt>();
  require_serial(c, loop);
  require_whole(c, loop);
  prove_tight(c, loop);
  ir::walk(loop.body(), [&](const Stmt& s) {
    if (const NestStmt* nest = s.as<NestStmt>(); nest && nest->after && c.p.axis(l.axis).reduce)
      c.unproved(Obligation::cover, "a reduction loop with nothing put into its last step (move this call before fuse_into)",
                 c.p.stage(nest->stage).name + " inside " + name_of(c.p, loop));
  });
  l.tight = true;
}

}  // namespace

extern constexpr Primitive tighten_primitive{
    .name = "tighten",
    .spelling = "tighten",
    .parameters = {takes::loop()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_tighten,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = [](Draw& d) { return draw_loop(d, "tighten"); }},
};

}  // namespace ashlar::schedule

namespace ashlar {

Stage Stage::tighten(Loop l, Where w) const { return of_own(schedule::tighten_primitive, l, w); }

}  // namespace ashlar
