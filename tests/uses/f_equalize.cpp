// (f) histogram (scatter), cumulative sum (scan), look-up; and a first order IIR filter (recurrence).
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
class Equalize : public Generator {
 public:
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  Input in{"in", u8, {H, W}};
  Output out{"out", u8, {H, W}};
  Tensor counts, below;
  void algorithm() override {
    counts = scatter("counts", {256}, Combine::add, u32(0), {H, W}, [&](Var y, Var x) { return put(u32(1), in(y, x)); });
    below = scan("below", {256}, Along{0}, Combine::add, [&](Var level) { return counts(level); });
    out = compute("out", {H, W}, [&](Var y, Var x) { return saturate(u8, f32(below(in(y, x))) * 255 / f32(H * W)); });
  }
  void schedule(Schedule& s) override {
    auto [y, x] = s[counts].reduction<2>();  // the loops of `over` are the reduction of a scatter
    auto [yo, yi] = s[counts].split(y, Parts{16});
    Stage partial = s[counts].rfactor(yo, Place::first);  // 16 private histograms, then their sum
    partial.parallel(partial.spatial<2>()[0]);
    auto [oy, ox] = s[out].spatial<2>();
    s[out].parallel(oy).vectorize(ox, 16);
    (void)x;
    (void)yi;
  }
};
ASHLAR_GENERATOR(Equalize, "equalize");

Tensor smooth(const Tensor& x, const Expr& a) {
  return recur(
      "smooth", {x.extent(0), x.extent(1)}, Along{1}, Lag{1}, [&](Var r, Var t) { return x(r, t); },
      [&](Prior y, Var r, Var t) { return a * x(r, t) + (1 - a) * y(r, t - 1); });
}
[[maybe_unused]] auto keep = &smooth;
}  // namespace
