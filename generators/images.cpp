// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images: colors, filters, morphology, sampling, statistics. Values are floats, or bytes.
#include "generators/op.h"
#include "generators/params.h"

template <>
struct ashlar::ParamNames<ashlar::ops::Bayer> {
  static constexpr NamedValue<ops::Bayer> values[] = {
      {"rggb", ops::Bayer::rggb}, {"bggr", ops::Bayer::bggr}, {"grbg", ops::Bayer::grbg}, {"gbrg", ops::Bayer::gbrg}};
};
template <>
struct ashlar::ParamNames<ashlar::ops::Sampling> {
  static constexpr NamedValue<ops::Sampling> values[] = {{"nearest", ops::Sampling::nearest},
                                                         {"linear", ops::Sampling::linear}};
};

namespace ashlar::generators {

namespace {

Param<Type> pixel_param(bool floats_alone = false) {
  if (floats_alone) return {"type", f32, {{f32, f16, bf16, f64}}, "type of a pixel"};
  return {"type", u8, {{u8, u16, f32, f16, bf16, f64}}, "type of a pixel"};
}

// ---- one image in, one of some shape out -----------------------------------------------------------------------------------

struct ImageRow {
  const char* name;
  const char* formula;
  const char* shape;
  bool floats_alone;
  Tensor (*apply)(const Tensor& x);
};
#define ROW(NAME, FORMULA, SHAPE, FLOATS) {#NAME, FORMULA, SHAPE, FLOATS, [](const Tensor& x) { return Tensor(ops::NAME(x)); }}
constexpr ImageRow images[] = {
    ROW(hsv_to_rgb, "y = colors of hue, saturation and value; x [H, W, 3]", "H,W,3", true),
    ROW(rgb_to_grey, "y = 0.299 R + 0.587 G + 0.114 B; x [H, W, 3]", "H,W,3", false),
    ROW(rgb_to_hsv, "y = hue, saturation and value; x [H, W, 3]", "H,W,3", true),
    ROW(rgb_to_ycbcr, "y = Y, Cb, Cr of the full range; x [H, W, 3]", "H,W,3", false),
    ROW(ycbcr_to_rgb, "y = colors of Y, Cb, Cr; x [H, W, 3]", "H,W,3", false),
};
#undef ROW
class Image : public Op {
 public:
  explicit Image(const ImageRow& row) {
    const Param<Type> type = pixel_param(row.floats_alone);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", row.shape, "shape of x; the last extent is 3", 1);
    require(ops::detail::number_or(shape.back().end(), 0) == 3, "shape", "3 as the last extent");
    if (ops::detail::number_or(shape.back().end(), 0) != 3) return;
    output("y", row.apply(input("x", type, shape)));
  }
};
const auto registered_images = register_rows<Image, images>("images");

// ---- filters over the last two dimensions ----------------------------------------------------------------------------------

class FilterOp : public Op {
 protected:
  explicit FilterOp(bool floats_alone = false) : type(pixel_param(floats_alone)) {}
  const Param<Type> type;
  Extents extents{{.min = 1}};
  const std::vector<Extent> shape = extents.shape("shape", "H,W", "shape of x", 2);
  ops::FilterOptions options() {
    const Param<ops::PadMode> border{"border", ops::PadMode::reflect, "elements outside of x; constant: 0"};
    ops::FilterOptions o;
    o.border = border;
    return o;
  }
};

class GaussianBlur : public FilterOp {
 public:
  GaussianBlur() {
    const Param<double> sigma{"sigma", 1.5, between(0.01, 999.0), "standard deviation of the filter, in pixels"};
    const Param<int> radius{"radius", 0, between(0, 1024), "radius of the window; 0: three sigma"};
    const ops::FilterOptions o = options();
    output("y", ops::gaussian_blur(input("x", type, shape), sigma, radius, o));
  }
};
ASHLAR_GENERATOR(GaussianBlur, "gaussian_blur", "images", "y = x smoothed by a Gaussian filter");

class SeparableFilter : public FilterOp {
 public:
  SeparableFilter() {
    const WeightsParam down("down", "0.25,0.5,0.25", "weights of the neighbors in a column"),
        across("across", "0.25,0.5,0.25", "weights of the neighbors in a row");
    const ops::FilterOptions o = options();
    output("y", ops::separable_filter(input("x", type, shape), *down, *across, o));
  }
};
ASHLAR_GENERATOR(SeparableFilter, "separable_filter", "images", "y(r, c) = sum of down(i) across(j) x(r + i, c + j)");

class BoxBlur : public FilterOp {
 public:
  BoxBlur() {
    const NumbersParam radius("radius", 2, 1, 0, "radius of the window, down and across");
    const ops::FilterOptions o = options();
    output("y", ops::box_blur(input("x", type, shape), radius[0], radius[1], o));
  }
};
ASHLAR_GENERATOR(BoxBlur, "box_blur", "images", "y = the mean over (2 ry + 1) (2 rx + 1) neighbors");

class SobelOp : public FilterOp {
 public:
  SobelOp() : FilterOp(true) {
    const ops::FilterOptions o = options();
    const ops::Sobel s = ops::sobel(input("x", type, shape), o);
    output("across", s.across);
    output("down", s.down);
  }
};
ASHLAR_GENERATOR(SobelOp, "sobel", "images", "across, down = derivatives by the Sobel filter");

class Median3x3 : public FilterOp {
 public:
  Median3x3() {
    const ops::FilterOptions o = options();
    output("y", ops::median3x3(input("x", type, shape), o));
  }
};
ASHLAR_GENERATOR(Median3x3, "median3x3", "images", "y = the median of 3x3 elements");

struct MorphologyRow {
  const char* name;
  const char* formula;
  Tensor (*apply)(const Tensor& x, int ry, int rx);
};
#define ROW(NAME, FORMULA) {#NAME, FORMULA, [](const Tensor& x, int ry, int rx) { return Tensor(ops::NAME(x, ry, rx)); }}
constexpr MorphologyRow morphology[] = {
    ROW(dilate, "y = the largest element of a window"),
    ROW(erode, "y = the smallest element of a window"),
    ROW(morphology_close, "y = erode of dilate"),
    ROW(morphology_open, "y = dilate of erode"),
};
#undef ROW
class MorphologyOp : public FilterOp {
 public:
  explicit MorphologyOp(const MorphologyRow& row) {
    const NumbersParam radius("radius", 2, 1, 0, "radius of the window, down and across");
    output("y", row.apply(input("x", type, shape), radius[0], radius[1]));
  }
};
const auto registered_morphology = register_rows<MorphologyOp, morphology>("images");

// ---- at other places -------------------------------------------------------------------------------------------------------

class WarpOp : public FilterOp {
 protected:
  ops::WarpOptions warp() {
    const Param<ops::Sampling> sampling{"sampling", ops::Sampling::linear, "how values between elements are computed"};
    const Param<bool> repeat{"repeat", false, "outside of x: the nearest element, not a constant"};
    const Param<double> outside{"outside", 0, "value outside of x"};
    return {.sampling = sampling, .repeat = repeat, .outside = outside};
  }
};

class Remap : public WarpOp {
 public:
  Remap() {
    const Expr OH = extents["OH"], OW = extents["OW"];
    const ops::WarpOptions o = warp();
    const Tensor x = input("x", type, shape), rows = input("rows", f32, {OH, OW}), columns = input("columns", f32, {OH, OW});
    output("y", ops::remap(x, rows, columns, o));
  }
};
ASHLAR_GENERATOR(Remap, "remap", "images", "y(r, c) = x at row rows(r, c) and column columns(r, c)");

template <bool perspective>
class Warp : public WarpOp {
 public:
  Warp() {
    const Expr OH = extents["OH"], OW = extents["OW"];
    const ops::WarpOptions o = warp();
    const Tensor x = input("x", type, shape), matrix = input("matrix", f32, {perspective ? 3 : 2, 3});
    output("y", perspective ? ops::warp_perspective(x, matrix, OH, OW, o) : ops::warp_affine(x, matrix, OH, OW, o));
  }
};
ASHLAR_GENERATOR(Warp<false>, "warp_affine", "images", "y = x at positions that a matrix [2, 3] computes from those of y");
ASHLAR_GENERATOR(Warp<true>, "warp_perspective", "images",
                 "y = x at positions that a matrix [3, 3] computes from those of y, with a perspective division");

class Demosaic : public Op {
 public:
  Demosaic() {
    const Param<Type> type = pixel_param();
    Extents extents({.min = 2});
    const Expr H = extents["H"], W = extents["W"];
    const Param<ops::Bayer> pattern{"pattern", ops::Bayer::rggb, "filters of the first two rows of the sensor"};
    output("y", ops::demosaic(input("x", type, {H, W}), pattern));
  }
};
ASHLAR_GENERATOR(Demosaic, "demosaic", "images", "y = colors [H, W, 3] of a sensor's mosaic [H, W]");

// ---- statistics ------------------------------------------------------------------------------------------------------------

class Histogram : public Op {
 public:
  Histogram() {
    Extents extents;
    output("counts", ops::histogram(input("x", u8, extents.shape("shape", "H,W", "shape of x, which has type u8", 1, 4))));
  }
};
ASHLAR_GENERATOR(Histogram, "histogram", "images", "counts = the number of pixels of x with each value; x has type u8");

class EqualizeHistogram : public Op {
 public:
  EqualizeHistogram() {
    Extents extents({.min = 1});
    output("y", ops::equalise_histogram(input("x", u8, extents.shape("shape", "H,W", "shape of x, which has type u8", 1, 4))));
  }
};
ASHLAR_GENERATOR(EqualizeHistogram, "equalise_histogram", "images", "y = x with its histogram equalized");

class IntegralImageOp : public Op {
 public:
  IntegralImageOp() {
    const Param<Type> type = pixel_param();
    Extents extents({.min = 1});
    const Expr H = extents["H"], W = extents["W"];
    output("y", ops::integral_image(input("x", type, {H, W})));
  }
};
ASHLAR_GENERATOR(IntegralImageOp, "integral_image", "images",
                 "y(r, c) = the sum of x before row r and column c; [H + 1, W + 1]");

class BoxFilterOp : public Op {
 public:
  BoxFilterOp() {
    Extents extents({.min = 1, .max = 4096});
    const Expr H = extents["H"], W = extents["W"];
    const Tensor x = input("x", u8, {H, W});
    output("y", ops::box_filter(x, scalar("radius", i32)));
  }
};
ASHLAR_GENERATOR(BoxFilterOp, "box_filter", "images",
                 "y = the mean over a square window of 2 radius + 1, cropped at the edges");

class HarrisOp : public Op {
 public:
  HarrisOp() {
    const Param<Type> type = pixel_param(true);
    Extents extents({.min = 4});
    const Expr H = extents["H"], W = extents["W"];
    const Param<double> k{"k", 0.04, "factor of the squared trace"};
    output("y", ops::harris(input("x", type, {H, W}), k));
  }
};
ASHLAR_GENERATOR(HarrisOp, "harris", "images", "y = the Harris corner response; [H - 4, W - 4]");

class BilateralGridOp : public Op {
 public:
  BilateralGridOp() {
    Extents extents({.min = 1});
    const Expr H = extents["H"], W = extents["W"];
    const Param<int> cell{"cell", 8, between(1, 16), "pixels along a side of a cell"};
    const Param<int> step{"step", 32, {{1, 2, 4, 8, 16, 32, 64, 128, 256}}, "values of a pixel that share a cell"};
    output("y", ops::bilateral_grid(input("x", u8, {H, W}), cell, step));
  }
};
ASHLAR_GENERATOR(BilateralGridOp, "bilateral_grid", "images", "y = x smoothed except across edges, in f32");

}  // namespace

}  // namespace ashlar::generators
