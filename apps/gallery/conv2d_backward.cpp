// The backward pass of a 3x3 convolution, from its forward pass: gradient() writes what a framework writes by hand.
//
//   y[n, o, i, j] = sum over c, r, s of x[n, c, i + r, j + s] * w[o, c, r, s]
//
// With the sum of y * dy for a loss, its derivatives are dx and dw for any dy.
#include <ashlar/ashlar.h>
#include <ashlar/ops/conv.h>
using namespace ashlar;

namespace {
class ConvBackward : public Generator {
 public:
  Param<int> taps{"taps", 3, between(1, 7), "edge of the window"};
  Symbol N{"N"}, C{"C"}, O{"O"}, H{"H", {.min = *taps}}, W{"W", {.min = *taps}};
  Input x{"x", f32, {N, C, H, W}}, w{"w", f32, {O, C, *taps, *taps}}, dy{"dy", f32, {N, O, H - (*taps - 1), W - (*taps - 1)}};
  Output dx{"dx", f32, {N, C, H, W}}, dw{"dw", f32, {O, C, *taps, *taps}};
  Tensor d_y;

  void algorithm() override {
    const Tensor y = ops::conv2d(x, w);
    Axis n{"n", N}, o{"o", O}, i{"i", dy.extent(2)}, j{"j", dy.extent(3)};
    const Tensor loss = compute("loss", [&] { return sum(y(n, o, i, j) * dy(n, o, i, j), {n, o, i, j}); });
    auto [by_x, by_w, by_y] = gradient(loss, {x, w, y});
    dx = by_x, dw = by_w, d_y = by_y;
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32);
    s[d_y].inline_();  // it is dy
    auto [n, c, i, j] = s[dx].spatial<4>();
    s[dx].vectorize(j, lanes).parallel(s[dx].fuse(n, c));
    // dw sums over a whole batch of images: rows are summed apart, a vector along each
    auto [o, ci, r, q] = s[dw].spatial<4>();
    auto [image, row, column] = s[dw].reduction<3>();
    auto [strip, lane] = s[dw].split(column, lanes);
    Stage part = s[dw].rfactor(lane);
    part.vectorize(part.spatial<5>()[4]).parallel(part.fuse(part.spatial<5>()[0], part.spatial<5>()[1]));
    (void)i, (void)o, (void)ci, (void)r, (void)q, (void)image, (void)row, (void)strip;
  }
};
ASHLAR_GENERATOR(ConvBackward, "conv2d_backward");
}  // namespace
