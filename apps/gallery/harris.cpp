// Harris corners (Harris and Stephens, A combined corner and edge detector, 1988): gradients by Sobel's filter, their products
// summed over 3x3 windows, det - k trace^2.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class Harris : public Generator {
 public:
  Param<int> strip{"strip", 32, between(1, 1024), "rows that one task computes"};
  Symbol H{"H", {.min = 5}}, W{"W", {.min = 5}};
  Input grey{"grey", f32, {H, W}};
  Output out{"out", f32, {H - 4, W - 4}};
  Tensor gx, gy;

  void algorithm() override {
    gx = compute("gx", [&](Var y, Var x) {
      Expr e = f32(0);
      for (int r = 0; r < 3; ++r) e += (grey(y + r, x + 2) - grey(y + r, x)) * (r == 1 ? 2.0f : 1.0f);
      return e / 8;
    });
    gy = compute("gy", [&](Var y, Var x) {
      Expr e = f32(0);
      for (int c = 0; c < 3; ++c) e += (grey(y + 2, x + c) - grey(y, x + c)) * (c == 1 ? 2.0f : 1.0f);
      return e / 8;
    });
    const auto window = [&](const Tensor& a, const Tensor& b, const Var& y, const Var& x) {
      Expr e = f32(0);
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) e += a(y + r, x + c) * b(y + r, x + c);
      return e;
    };
    out = compute("corners", {H - 4, W - 4}, [&](Var y, Var x) {
      const Expr xx = window(gx, gx, y, x), xy = window(gx, gy, y, x), yy = window(gy, gy, y, x), trace = xx + yy;
      return xx * yy - xy * xy - 0.04f * trace * trace;
    });
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    auto [y, x] = s[out].spatial<2>();
    auto [task, row] = s[out].split(y, strip);
    s[out].tighten(row).parallel(task).vectorize(x, lanes);
    for (const Tensor& g : {gx, gy}) {  // a window of three rows moves down the strip, in a ring of four
      s[g].store_at(task).compute_at(row).slide(row).fold(0, 4);
      s[g].vectorize(s[g].spatial<2>()[1], lanes);
    }
  }
};
ASHLAR_GENERATOR(Harris, "harris");
}  // namespace
