// Products by gpu_matmul with options that the library's generators do not have, for tests/cuda/sass_test.py.
#include <ashlar/ashlar.h>
#include <ashlar/schedules/gpu_matmul.h>

using namespace ashlar;

class Product : public Generator {
 public:
  Param<Type> type{"type", bf16, {{bf16, f16, f32}}};
  Param<int> stages{"stages", 0, between(0, 16)};
  Param<int> part_k{"part_k", 0, between(0, 1 << 20)};
  Param<int> raster{"raster", 0, between(0, 1024)};
  ExtentParam M{"M"}, N{"N"}, K{"K"};
  Input A{"A", type, {M, K}}, B{"B", type, {K, N}};
  Output C{"C", f32, {M, N}};
  void algorithm() override {
    const Axis k{"k", K};
    C = compute("C", {M, N}, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k); });
  }
  void schedule(Schedule& s) override {
    schedules::gpu_matmul(s, s[C], A, B, {.stages = stages, .part_k = part_k, .raster = raster});
  }
};
ASHLAR_GENERATOR(Product, "product");
