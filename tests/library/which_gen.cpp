// y = 2 x + the number of the target that the code is for: a caller can tell which variant ran. That of zen4 comes from a
// parameter, which has another value for it than for the others; the others' from what the target has. In two stages, so that
// there is a workspace; rows are blocks along y on a device, of which a launch has 65535. The product is one of 64 bits, so
// that there is a feature that a device for Vulkan may lack.
#include <ashlar/ashlar.h>

using namespace ashlar;

class Which : public Generator {
 public:
  Param<int> own{"own", 0, between(0, 99), "the number, in the place of the target's"};
  Symbol M{"M"}, N{"N"};
  Input x{"x", i32, {M, N}};
  Output y{"y", i32, {M, N}};
  Tensor twice;

  void algorithm() override {
    twice = compute("twice", {M, N}, [&](Var i, Var j) { return i32(i64(x(i, j)) * 2); });
    y = compute("y", {M, N}, [&](Var i, Var j) { return twice(i, j) + number(); });
  }
  void schedule(Schedule& s) override {
    for (Stage stage : {s[twice], s[y]}) {
      auto [i, j] = stage.spatial<2>();
      if (!s.target().is_gpu()) {
        stage.vectorize(j, s.target().lanes(i32));
        continue;
      }
      auto [jo, ji] = stage.split(j, 64);
      stage.bind(i, gpu::block_y).bind(jo, gpu::block_x).bind(ji, gpu::thread_x);
    }
  }

 private:
  int number() const {
    const Target& t = target();
    if (own != 0) return own;
    if (t.architecture() == Architecture::aarch64) return t.has("sve2") ? 13 : t.has("dotprod") ? 12 : 11;
    if (t.architecture() == Architecture::arm) return t.has("vfp4") ? 22 : 21;
    if (t.architecture() == Architecture::riscv64) return t.has("v") ? 32 : 31;
    if (!t.is_gpu()) return t.has("avx512f") ? 4 : t.has("avx2") ? 3 : t.has("sse4.2") ? 2 : 1;
    return t.device().kind == Device::Kind::vulkan ? 7 : t.has("sm_90a") ? 90 : 80;
  }
};
ASHLAR_GENERATOR(Which, "which");
