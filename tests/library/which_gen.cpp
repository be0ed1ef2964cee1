// y = 2 x + the number of the target that the code is for: a caller can tell which variant ran. In two stages, so that there is
// a workspace; rows are blocks along y on a device, of which it has 65535.
#include <ashlar/ashlar.h>

using namespace ashlar;

class Which : public Generator {
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", i32, {M, N}};
  Output y{"y", i32, {M, N}};
  Tensor twice;

  void algorithm() override {
    twice = compute("twice", {M, N}, [&](Var i, Var j) { return x(i, j) * 2; });
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
    if (!t.is_gpu()) return t.has("avx512f") ? 4 : t.has("avx2") ? 3 : t.has("sse4.2") ? 2 : 1;
    return t.device().kind == Device::Kind::vulkan ? 7 : t.has("sm_90a") ? 90 : 80;
  }
};
ASHLAR_GENERATOR(Which, "which");
