// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll(loop): the iterations stand one after another. The loop stays where it is; lowering rewrites it.
//
// Legality: CAPACITY, a constant extent of at most 1024.
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

void apply_unroll(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  // prove
  prove_constant_extent(c, loop, 1024);
  // rewrite; handles stay
  loop.loop_kind = ir::LoopKind::unrolled;
  loop.where = c.step.where;
}

}  // namespace ashlar::schedule
