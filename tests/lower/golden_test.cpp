// What small kernels look like after lowering. ASHLAR_BLESS=1 writes the goldens anew.
#include "check.h"
#include "programs.h"

using namespace handmade;

TEST_CASE("a vectorized loop with a tail runs whole vectors without a mask") {
  Elementwise e;
  e.kind(e.split(e.axis(e.stage_b, "i"), 16).second, LoopKind::vectorized);
  golden("scale_vectorized", ir::text(e.lowered()));
}

TEST_CASE("repeated borders: the interior reads contiguous vectors") {
  Blur b;
  b.kind(b.split(b.axis(b.stage_across, "x"), 8).second, LoopKind::vectorized);
  b.kind(b.split(b.axis(b.stage_out, "x"), 8).second, LoopKind::vectorized);
  const auto [yo, yi] = b.split(b.axis(b.stage_out, "y"), 32);
  b.compute_at(b.stage_across, yo);
  b.kind(yo, LoopKind::parallel);
  golden("blur", ir::text(b.lowered()));
}

TEST_CASE("a tiled product") {
  Matmul m;
  const auto t = m.tiled(2, 16, 64);
  m.kind(t.ii, LoopKind::unrolled);
  m.kind(t.ji, LoopKind::vectorized);
  golden("matmul_tiled", ir::text(m.lowered()));
}
