// Products of f16 with sums in f16, for tests/vulkan/radv_test.py: the library's products of f16 have sums in f32. As the
// family schedules them, a product and a sum are rounded each; by the device's fused multiply-add on request.
#include <ashlar/ashlar.h>
#include <ashlar/schedules/gpu_matmul.h>

#include "tests/vulkan/fused_halves.h"

using namespace ashlar;

class Halves : public Generator {
 public:
  Input A{"A", f16, {1024, 1024}}, B{"B", f16, {1024, 1024}};
  Output C{"C", f16, {1024, 1024}};
  Axis k{"k", 1024};
  void algorithm() override {
    C = compute("C", {1024, 1024}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  }
  void schedule(Schedule& s) override { schedules::gpu_matmul(s, s[C], A, B); }
};
ASHLAR_GENERATOR(Halves, "halves");

class FusedHalves : public Halves {
 public:
  void schedule(Schedule& s) override { fused_halves(s, C, A, B); }
};
ASHLAR_GENERATOR(FusedHalves, "fused_halves");
