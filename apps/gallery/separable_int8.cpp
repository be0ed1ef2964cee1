// A separable convolution of int8 activations, as mobile networks have it (Howard et al., MobileNets, 2017): 3x3 within each
// channel, then a product over the channels, NHWC. Between them and at the end sums of 32 bits become int8 again by a
// multiplier and a shift for each channel, both rounded, as integer-only inference does (Jacob et al., 2018). One pass: a row
// of the first convolution is computed where the rows of the second read it, and never leaves the cache.
#include <ashlar/ashlar.h>
#include <ashlar/ops/quantized.h>
#include <ashlar/ops/shape.h>
using namespace ashlar;

namespace {
class SeparableInt8 : public Generator {
 public:
  Symbol N{"N"}, H{"H"}, W{"W"}, C{"C"}, O{"O"};
  Input x{"x", i8, {N, H, W, C}}, dw{"dw", i8, {3, 3, C}}, pw{"pw", i8, {C, O}};
  Input dw_bias{"dw_bias", i32, {C}}, dw_mul{"dw_mul", i32, {C}}, dw_shift{"dw_shift", i32, {C}};
  Input pw_bias{"pw_bias", i32, {O}}, pw_mul{"pw_mul", i32, {O}}, pw_shift{"pw_shift", i32, {O}};
  Scalar x_zero{"x_zero", i32}, mid_zero{"mid_zero", i32}, y_zero{"y_zero", i32};  // what stands for 0
  Output y{"y", i8, {N, H, W, O}};
  Tensor depth_acc, depth, point_acc;

  void algorithm() override {
    depth_acc =
        ops::quantized_depthwise_conv2d(x, ops::reshape(dw, {3, 3, C, 1}), dw_bias,
                                        {.conv = {.padding = {1, 1}, .layout = ops::Layout::channels_last}, .x_zero = x_zero});
    depth = ops::requantize(depth_acc, dw_mul, dw_shift, mid_zero, i8);
    point_acc = ops::quantized_matmul(depth, pw, {.a_zero = mid_zero}, pw_bias);
    y = ops::requantize(point_acc, pw_mul, pw_shift, y_zero, i8);
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(i32);
    auto [n, h, w, o] = s[y].spatial<4>();
    s[y].parallel(h).vectorize(o, lanes);
    s[point_acc].compute_at(w);  // a pixel's sums for all O
    const auto point = s[point_acc].spatial<4>();
    s[point_acc].reorder(s[point_acc].reduction(), point[3]).vectorize(point[3], lanes);
    s[depth].compute_at(h);  // the row that these pixels read
    auto [dn, dh, dwide, dc] = s[depth].spatial<4>();
    s[depth].vectorize(dc, lanes);
    s[depth_acc].compute_at(dwide);
    const auto acc = s[depth_acc].spatial<4>();
    const auto window = s[depth_acc].reduction<2>();
    s[depth_acc].reorder(window[0], window[1], acc[3]).vectorize(acc[3], lanes);
  }
};
ASHLAR_GENERATOR(SeparableInt8, "separable_int8");
}  // namespace
