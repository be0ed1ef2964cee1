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
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

void apply_tensorize(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  const ir::Intrinsic& f = *c.expect(1, Arg::Kind::intrinsic, "an intrinsic").intrinsic;
  require_serial(c, loop);
  require_whole(c, loop);
  require_no_recurrence(c, c.p.stage(nest_of(c.p, loop.id).stage), "");
  // prove
  prove_tensorized(c, loop, f);
  // rewrite; handles stay
  Id id = 0;
  for (const auto& [known, other] : c.p.intrinsics)
    if (other == &f) id = known;
  if (!id) c.p.intrinsics[id = c.p.fresh()] = &f;
  loop.loop_kind = ir::LoopKind::tensorized;
  loop.intrinsic = id;
  loop.where = c.step.where;
}

}  // namespace ashlar::schedule
