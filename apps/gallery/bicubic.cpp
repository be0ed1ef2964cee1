// Resizing by Keys' cubic convolution (Keys, Cubic convolution interpolation for digital image processing, 1981; a = -1/2),
// across and then down, edges repeated, pixel centres aligned.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class Bicubic : public Generator {
 public:
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}}, OH{"OH", {.min = 1}}, OW{"OW", {.min = 1}};
  Input in{"in", f32, {H, W}};
  Output out{"out", f32, {OH, OW}};
  Tensor across;

  // The weights of the four samples around a position, by its distance from the second one.
  static Expr weight(int k, const Expr& f) {
    const Expr t = k == 0 ? f + 1 : k == 1 ? f : k == 2 ? 1 - f : 2 - f;
    return k == 1 || k == 2 ? (1.5f * t - 2.5f) * t * t + 1 : ((-0.5f * t + 2.5f) * t - 4) * t + 2;
  }
  static Expr sampled(const Tensor& x, const Expr& position, const Expr& extent, const Indices& at, int dim) {
    const Expr base = floor(position), f = position - base;
    Expr e = f32(0);
    for (int k = 0; k < 4; ++k) {
      const Expr index = clamp(i32(base) + (k - 1), 0, extent - 1);
      e += weight(k, f) * x(at.with(dim, index));
    }
    return e;
  }

  void algorithm() override {
    across = compute("across", Shape::of({H, OW}),
                     [&](Indices i) { return sampled(in, (f32(i[1]) + 0.5f) * (f32(W) / f32(OW)) - 0.5f, W, i, 1); });
    out = compute("bicubic", Shape::of({OH, OW}),
                  [&](Indices i) { return sampled(across, (f32(i[0]) + 0.5f) * (f32(H) / f32(OH)) - 0.5f, H, i, 0); });
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
