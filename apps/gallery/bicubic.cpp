// Resizing by Keys' cubic convolution (Keys, Cubic convolution interpolation for digital image processing, 1981; a = -1/2),
// across and then down, edges repeated, pixel centers aligned.
#include <ashlar/ashlar.h>
#include <ashlar/ops/resize.h>
using namespace ashlar;

namespace {
class Bicubic : public Generator {
 public:
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}}, OH{"OH", {.min = 1}}, OW{"OW", {.min = 1}};
  Input in{"in", f32, {H, W}};
  Output out{"out", f32, {OH, OW}};
  Tensor across;

  void algorithm() override {
    const auto r = ops::resize(in, {{1, OW}, {0, OH}}, {.mode = ops::ResizeMode::cubic, .a = -0.5});
    across = r.stages[0];
    out = r.result;
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    for (const Tensor& t : {across, Tensor(out)}) {
      auto [y, x] = s[t].spatial<2>();
      s[t].parallel(y).vectorize(x, lanes);
    }
  }
};
ASHLAR_GENERATOR(Bicubic, "bicubic");
}  // namespace
