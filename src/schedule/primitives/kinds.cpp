// unroll(loop), vectorize(loop), parallel(loop): how the iterations of a loop are carried out. The loop stays where it is;
// lowering rewrites it, erasing the kind leaves the meaning.
//
//   vectorize needs a constant extent and independent iterations (DISJOINT)
//   unroll    needs a constant extent
//   parallel  needs independent iterations, or such as write the same values (DISJOINT or IDEMPOTENT)
#include "schedule/legality.h"
#include "schedule/primitives.h"

namespace ashlar::schedule {
namespace {

void annotate(Context& c, Stmt& loop, ir::LoopKind kind) {
  loop.loop_kind = kind;
  loop.where = c.step.where;
}

}  // namespace

void apply_unroll(Context& c) {
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  prove_constant_extent(c, loop, 1024);
  annotate(c, loop, ir::LoopKind::unrolled);
}

void apply_vectorize(Context& c) {
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  prove_constant_extent(c, loop, 1024);
  prove_vectorizable(c, loop);
  annotate(c, loop, ir::LoopKind::vectorized);
}

void apply_parallel(Context& c) {
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  prove_parallel(c, loop);
  annotate(c, loop, ir::LoopKind::parallel);
}

}  // namespace ashlar::schedule
