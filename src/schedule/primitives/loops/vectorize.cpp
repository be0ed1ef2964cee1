// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorize(loop): the iterations are the lanes of vectors. The loop stays where it is; one late pass of lowering rewrites it.
//
// Legality: CAPACITY, a constant extent, or a multiple of vscale; DISJOINT, independent iterations: no reduction (rfactor makes
// lanes of one).
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

void apply_vectorize(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  // prove
  if (!prove_scalable(c, loop)) prove_constant_extent(c, loop, 1024);
  prove_vectorizable(c, loop);
  // rewrite; handles stay
  loop.loop_kind = ir::LoopKind::vectorized;
  loop.where = c.step.where;
}

}  // namespace ashlar::schedule
