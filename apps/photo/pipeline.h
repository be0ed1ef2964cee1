#pragma once
// The pipeline from a raw file, or from a picture in sRGB, to samples of a PNG file, as one kernel: every stage is computed a
// few rows ahead of the rows that read it, in rings that stay in the second-level cache.
//
//   raw: black level, white balance, Malvar-He-Cutler demosaicing     picture: the inverse of sRGB's curve
//   denoising (a guided filter), color matrix, tone curve, encoding, unsharp masking, rounding to samples
//
// The picture is continued past its border by reflection, which keeps the pattern of a mosaic's colors. plain.h has the same
// stages as loops.
#include <ashlar/generator/generator.h>

#include <algorithm>
#include <array>

#include "apps/photo/numbers.h"

namespace photo {

using namespace ashlar;

using Colors = std::array<Expr, 3>;  // red, green, blue of one pixel, linear

// max and min propagate NaN, which takes several instructions. No value here is NaN.
inline Expr positive(const Expr& x) { return select(x > 0, x, 0); }
inline Expr unit(const Expr& x) { return select(x < 1, positive(x), 1); }

class Develop : public Generator {
 public:
  Param<bool> denoise{"denoise", true, "whether the guided filter is part of the pipeline"};
  Param<int> strip{"strip", 128, between(1, 65536), "rows that one thread computes one after the other"};
  Param<int> columns{"columns", 0, between(0, 65536),
                     "pixels of a row computed before the next row; 0: as many as fit the second-level cache"};
  Symbol H{"H", {.min = 1, .max = 65536}}, W{"W", {.min = 1, .max = 65536}};
  Scalar luma_noise{"luma_noise", f32}, chroma_noise{"chroma_noise", f32};  // variances that the denoiser removes
  Input matrix{"matrix", f32, {3, 3}};  // from the source's linear colors to linear sRGB, exposure included
  Input tone{"tone", f32, {5}};         // of x: (t0 x^2 + t1 x) / (t2 x^2 + t3 x + t4)
  Input encode{"encode", f32, {4}};     // of x: e1 x up to e0; from there (1 + e2) x^e3 - e2
  Scalar sharpen{"sharpen", f32};       // how much of the difference from the blurred picture is added
  Input blur{"blur", f32, {taps + 1}};  // the weights of distance 0 .. taps
  Scalar white{"white", f32};           // the largest sample of the result
  Output out{"out", u16, {3, H, W}};

 protected:
  // The stages after the linear colors; `colors` is the formula of a pixel.
  template <class F>
  void develop(const F& colors) {
    if (denoise) {
      smooth_colors(colors);
    } else {
      developed = compute("developed", [&](Var y, Var x) { return finished(colors(y, x)); });
    }
    blurred = compute("blurred", [&](Var y, Var x) {
      Expr total = developed[3](y, x) * blur(0);
      for (int d = 1; d <= taps; ++d) total = fma(developed[3](y - d, x) + developed[3](y + d, x), blur(d), total);
      return total;
    });
    detail = compute("detail", [&](Var y, Var x) {
      Expr total = blurred(y, x) * blur(0);
      for (int d = 1; d <= taps; ++d) total = fma(blurred(y, x - d) + blurred(y, x + d), blur(d), total);
      return (developed[3](y, x) - total) * sharpen;
    });
    out = compute("out", {{"c", 3}, {"y", H}, {"x", W}}, [&](Var c, Var y, Var x) {
      const Expr color = select(c == 0, developed[0](y, x), select(c == 1, developed[1](y, x), developed[2](y, x)));
      return saturate(u16, unit(color + detail(y, x)) * white);
    });
  }

  void schedule_all(Schedule& s, const Tensor* linear) {
    const int lanes = s.target().lanes(f32), pixels = columns == 0 ? part(s.target()) : *columns;
    auto [c, y, x] = s[out].spatial<3>();
    auto [yo, yi] = s[out].split(y, strip, Tail::guard);
    auto [vectors, xi] = s[out].split(x, lanes, Tail::guard);
    auto [xc, xo] = s[out].split(vectors, std::max(1, pixels / lanes), Tail::guard);
    s[out].reorder(yo, xc, yi, xo, c, xi).tighten(yi).tighten(xo);
    const Loop parts = s[out].fuse(yo, xc);

    const auto ring = [&, row = yi](const Tensor& t, int rows) {
      s[t].store_at(parts).compute_at(row).slide(row).fold(0, rows);
    };
    s[detail].compute_at(xo).store_in(Scope::registers);
    s[blurred].compute_at(yi);
    int reach = 2 * taps + 1;  // rows that the first row of a strip needs, and so what a ring holds
    ring(developed[0], reach);
    if (denoise) {
      ring(fit_down[0], reach);
      ring(fit[0], reach += 2 * window);
      ring(down[0], reach);
      ring(opponent[0], reach += 2 * window);
    }
    if (linear) ring(*linear, reach + 4);

    const auto in_lanes = [&](const Tensor& t) {
      const Loop inner = s[t].split(s[t].spatial<2>()[1], lanes, Tail::pad).inner;
      s[t].vectorize(inner);
    };
    in_lanes(detail);
    if (denoise)
      for (const Tensor& t : {fit_down[0], fit[0], down[0], opponent[0]}) in_lanes(t);
    in_lanes(developed[0]), in_lanes(blurred);
    if (linear) in_lanes(*linear);
    s[out].unroll(c).vectorize(xi).parallel(parts);
  }

  std::array<Tensor, 3> opponent;  // luma and two differences of color, of square roots
  std::array<Tensor, 6> down, fit, fit_down;
  std::array<Tensor, 4> developed;  // red, green, blue and luma, encoded
  Tensor blurred, detail;

 private:
  // What a part of a row keeps: about 310 rows of floats, in three quarters of the cache.
  static int part(const Target& t) {
    constexpr std::int64_t rows = 310, least = 256;
    return static_cast<int>(std::max(least, t.cache_bytes(2) * 3 / 4 / (rows * 4) / 64 * 64));
  }

  // The noise of a sensor grows as the square root of the light, so that it is the same everywhere in square roots.
  // A guided filter (He, Sun and Tang, Guided image filtering, 2010) fits a line a luma + b to luma and to each difference of
  // color in every window, and averages the lines of the windows around a pixel. Where luma varies by less than the noise, a is
  // small and the window's mean remains; edges of luma remain, in the differences of color too.
  template <class F>
  void smooth_colors(const F& colors) {
    opponent = compute("opponent", [&](Var y, Var x) {
      const Colors rgb = colors(y, x);
      const Expr r = sqrt(positive(rgb[0])), g = sqrt(positive(rgb[1])), b = sqrt(positive(rgb[2]));
      return values((r + g + (g + b)) * 0.25f, r - g, b - g);
    });
    const auto summed = [](const auto& term) {
      Expr total = term(-window);
      for (int d = 1 - window; d <= window; ++d) total = total + term(d);
      return total;
    };
    down = compute("down", [&](Var y, Var x) {
      const auto sum_of = [&](int k) { return summed([&](int d) { return opponent[k](y + d, x); }); };
      const auto product_of = [&](int k) {
        Expr total = opponent[0](y - window, x) * opponent[k](y - window, x);
        for (int d = 1 - window; d <= window; ++d) total = fma(opponent[0](y + d, x), opponent[k](y + d, x), total);
        return total;
      };
      return values(sum_of(0), sum_of(1), sum_of(2), product_of(0), product_of(1), product_of(2));
    });
    constexpr float share = 1.0f / ((2 * window + 1) * (2 * window + 1));
    fit = compute("fit", [&](Var y, Var x) {
      const auto mean = [&](int k) { return summed([&](int d) { return down[k](y, x + d); }) * share; };
      const Expr luma_mean = mean(0), u = mean(1), v = mean(2);
      const Expr variance = positive(fma(-luma_mean, luma_mean, mean(3)));
      const Expr a = variance / (variance + luma_noise), per = 1 / (variance + chroma_noise);
      const Expr a_u = fma(-luma_mean, u, mean(4)) * per, a_v = fma(-luma_mean, v, mean(5)) * per;
      return values(a, fma(-a, luma_mean, luma_mean), a_u, fma(-a_u, luma_mean, u), a_v, fma(-a_v, luma_mean, v));
    });
    fit_down = compute("fit_down", [&](Var y, Var x) {
      const auto sum_of = [&](int k) { return summed([&](int d) { return fit[k](y + d, x); }); };
      return values(sum_of(0), sum_of(1), sum_of(2), sum_of(3), sum_of(4), sum_of(5));
    });
    developed = compute("developed", [&](Var y, Var x) {
      const auto line = [&](int k) {  // of the mean a and b
        const auto mean = [&](int j) { return summed([&](int d) { return fit_down[j](y, x + d); }) * share; };
        return fma(mean(2 * k), opponent[0](y, x), mean(2 * k + 1));
      };
      const Expr l = line(0), u = line(1), v = line(2);
      const Expr g = positive(l - (u + v) * 0.25f), r = positive(g + u), b = positive(g + v);
      return finished({r * r, g * g, b * b});
    });
  }

  // Color matrix, tone and encoding, and the luma of the result.
  Values<4> finished(const Colors& rgb) const {
    Colors to;
    for (int c = 0; c < 3; ++c) {
      const Expr x = positive(fma(matrix(c, 2), rgb[2], fma(matrix(c, 1), rgb[1], matrix(c, 0) * rgb[0])));
      const Expr toned = unit(x * fma(tone(0), x, tone(1)) / fma(x, fma(tone(2), x, tone(3)), tone(4)));
      const Expr curved = fma(encode(2) + 1, fast(exp(log(toned) * encode(3))), -encode(2));
      to[static_cast<std::size_t>(c)] = select(toned <= encode(0), toned * encode(1), curved);
    }
    return values(to[0], to[1], to[2], to[0] * luma[0] + to[1] * luma[1] + to[2] * luma[2]);
  }
};

// From a mosaic: one sample a pixel, behind a red, green or blue filter, in squares of 2 x 2.
class Raw : public Develop {
 public:
  Scalar red_y{"red_y", i32}, red_x{"red_x", i32};  // 0 or 1: what is added to row and column so that red is at even ones
  Input black{"black", f32, {2, 2}};                // by the parities of row and column
  Input gain{"gain", f32, {2, 2}};                  // white balance and the range of the samples
  Input in{"in", u16, {H, W}};

  void algorithm() override {
    const Tensor mosaic = boundary::reflect(in);
    linear = compute("linear", [&](Var y, Var x) {
      const Expr even = x % 2 == 0;
      const Expr level = select(even, black(y % 2, 0), black(y % 2, 1)), scale = select(even, gain(y % 2, 0), gain(y % 2, 1));
      return unit((f32(mosaic(y, x)) - level) * scale);
    });
    develop([&](Var y, Var x) { return demosaiced(y, x); });
  }

  void schedule(Schedule& s) override { schedule_all(s, &linear); }

 private:
  // Malvar, He and Cutler, High-quality linear interpolation for demosaicing of Bayer-patterned color images (2004): bilinear
  // interpolation, corrected by the second derivative of the color that the pixel has. Every pixel gets all values that any
  // pixel needs. A select would compute each in lanes of its own, so products with 0 and 1 choose among them.
  Colors demosaiced(Var y, Var x) const {
    const auto at = [&](int dy, int dx) { return linear(y + dy, x + dx); };
    const Expr c = at(0, 0), beside = at(0, -1) + at(0, 1), above = at(-1, 0) + at(1, 0);
    const Expr far_beside = at(0, -2) + at(0, 2), far_above = at(-2, 0) + at(2, 0), far = far_beside + far_above;
    const Expr corners = at(-1, -1) + at(-1, 1) + (at(1, -1) + at(1, 1));
    const Expr common = fma(c, 0.625f, corners * -0.125f);
    const Expr cross = fma(c, 0.5f, fma(beside + above, 0.25f, far * -0.125f));  // green
    const Expr along = fma(beside, 0.5f, fma(far_beside, -0.125f, fma(far_above, 0.0625f, common)));
    const Expr across = fma(above, 0.5f, fma(far_above, -0.125f, fma(far_beside, 0.0625f, common)));
    const Expr diagonal = fma(c, 0.75f, fma(corners, 0.25f, far * -0.1875f));
    const Expr red_row = (y + red_y) % 2 == 0, red_column = (x + red_x) % 2 == 0;
    const Expr colored = select(red_row == red_column, 1.0f, 0.0f), red = select(red_row, 1.0f, 0.0f);
    const auto choose = [](const Expr& which, const Expr& a, const Expr& b) { return fma(which, a, (1 - which) * b); };
    const Expr of_row = choose(colored, c, along), of_column = choose(colored, diagonal, across);
    return {choose(red, of_row, of_column), choose(colored, cross, c), choose(red, of_column, of_row)};
  }

  Tensor linear;
};

// From red, green and blue planes, encoded by sRGB's curve.
class Picture : public Develop {
 public:
  Scalar range{"range", f32};  // the largest sample
  Input in{"in", u16, {3, H, W}};

  void algorithm() override {
    const Tensor picture = boundary::reflect(in, {1, 2});
    develop([&](Var y, Var x) {
      Colors rgb;
      for (int c = 0; c < 3; ++c) {
        const Expr v = f32(picture(c, y, x)) / range;
        rgb[static_cast<std::size_t>(c)] =
            select(v <= 0.04045f, v * (1 / 12.92f), fast(exp(log((v + 0.055f) * (1 / 1.055f)) * 2.4f)));
      }
      return rgb;
    });
  }

  void schedule(Schedule& s) override { schedule_all(s, nullptr); }
};

}  // namespace photo
