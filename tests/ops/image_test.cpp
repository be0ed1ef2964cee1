// Images beside loops over windows in double: colors, filters, morphology, warps, mosaics, what is in them.
#include <algorithm>

#include "tests/gallery/bilateral.h"
#include "tests/ops/check.h"
#include "tests/ops/outside.h"

using namespace ops_test;

namespace {

double byte(double v) { return std::nearbyint(v < 0 ? 0 : v > 255 ? 255 : v); }
// f of the window of (2 ry + 1) (2 rx + 1) elements around each of an image [..., H, W]; constant: 0 outside.
Nd windows(const Nd& x, int ry, int rx, ops::PadMode mode, const std::function<double(const std::vector<double>&)>& f,
           bool only_inside = false) {
  Nd y(x.shape);
  const std::size_t r = x.shape.size() - 2;
  each(x.shape, [&](const Dims& i) {
    std::vector<double> all;
    for (int dy = -ry; dy <= ry; ++dy)
      for (int dx = -rx; dx <= rx; ++dx) {
        Dims at = i;
        at[r] += dy, at[r + 1] += dx;
        const bool inside = at[r] >= 0 && at[r] < x.shape[r] && at[r + 1] >= 0 && at[r + 1] < x.shape[r + 1];
        if (only_inside && !inside) continue;
        if (!inside && mode == ops::PadMode::constant) {
          all.push_back(0);
          continue;
        }
        at[r] = outside(at[r], x.shape[r], mode), at[r + 1] = outside(at[r + 1], x.shape[r + 1], mode);
        all.push_back(x.at(at));
      }
    y.at(i) = f(all);
  });
  return y;
}
std::function<double(const std::vector<double>&)> weighted(const std::vector<double>& down, const std::vector<double>& across) {
  return [=](const std::vector<double>& v) {
    double s = 0;
    for (std::size_t k = 0; k < v.size(); ++k) s += v[k] * down[k / across.size()] * across[k % across.size()];
    return s;
  };
}
double middle(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}
double largest(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }
double smallest(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }
// Pixels of three colors, the last dimension.
Nd recolored(const Nd& x, const std::function<void(double*)>& f) {
  Nd y = x;
  for (std::int64_t k = 0; k + 2 < y.size(); k += 3) f(&y.v[static_cast<std::size_t>(k)]);
  return y;
}

}  // namespace

TEST_CASE("colors") {
  check(
      "colors",
      [](Maker& m) {
        const Symbol H{"H"}, W{"W"};
        const Tensor x = m.in("x", f32, {H, W, 3}, between(0, 1)), b = m.in("b", u8, {H, W, 3}, whole(0, 255)),
                     p = m.in("p", f32, {3, H, W}, between(0, 1)),
                     g = m.in("g", f32, {H, W, 3}, [](std::uint64_t r, std::int64_t k) {
                       return k % 9 < 3 ? 0.25 : static_cast<double>(r >> 9 & 1);
                     });
        m.out(ops::rgb_to_grey(x)), m.out(ops::rgb_to_grey(b)), m.out(ops::rgb_to_grey(p, 0));
        m.out(ops::rgb_to_ycbcr(b)), m.out(ops::ycbcr_to_rgb(b)), m.out(ops::ycbcr_to_rgb(ops::rgb_to_ycbcr(x)));
        m.out(ops::rgb_to_hsv(x)), m.out(ops::rgb_to_hsv(g)), m.out(ops::hsv_to_rgb(x)),
            m.out(ops::hsv_to_rgb(ops::rgb_to_hsv(x)));
      },
      {{{{4, 7, 3}, {4, 7, 3}, {3, 4, 7}, {4, 7, 3}}},
       {{{1, 1, 3}, {1, 1, 3}, {3, 1, 1}, {1, 1, 3}}},
       {{{0, 2, 3}, {0, 2, 3}, {3, 0, 2}, {0, 2, 3}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &b = in[1], &p = in[2], &g = in[3];
        const auto gray = [](double red, double green, double blue) { return 0.299 * red + 0.587 * green + 0.114 * blue; };
        Nd one({x.n(0), x.n(1)}), two = one, three = one;
        each(one.shape, [&](const Dims& i) {
          one.at(i) = gray(x(i[0], i[1], 0), x(i[0], i[1], 1), x(i[0], i[1], 2));
          two.at(i) = byte(gray(b(i[0], i[1], 0), b(i[0], i[1], 1), b(i[0], i[1], 2)));
          three.at(i) = gray(p(0, i[0], i[1]), p(1, i[0], i[1]), p(2, i[0], i[1]));
        });
        const auto hsv = [](double* c) {
          const double top = std::fmax(std::fmax(c[0], c[1]), c[2]), span = top - std::fmin(std::fmin(c[0], c[1]), c[2]);
          double h = span == 0     ? 0
                     : top == c[0] ? (c[1] - c[2]) / span
                     : top == c[1] ? (c[2] - c[0]) / span + 2
                                   : (c[0] - c[1]) / span + 4;
          h /= 6;
          c[0] = h < 0 ? h + 1 : h, c[1] = top == 0 ? 0 : span / top, c[2] = top;
        };
        const auto rgb = [](double* c) {
          const double h = c[0] * 6, s = c[1], v = c[2], f = h - std::floor(h), a = v * (1 - s), q = v * (1 - s * f),
                       t = v * (1 - s * (1 - f));
          const double to[6][3] = {{v, t, a}, {q, v, a}, {a, v, t}, {a, q, v}, {t, a, v}, {v, a, q}};
          std::copy_n(to[static_cast<int>(std::floor(h)) % 6], 3, c);
        };
        return Results{
            one,
            two,
            three,
            recolored(b,
                      [&](double* c) {
                        const double y = gray(c[0], c[1], c[2]), cb = 128 + (c[2] - y) / 1.772, cr = 128 + (c[0] - y) / 1.402;
                        c[0] = byte(y), c[1] = byte(cb), c[2] = byte(cr);
                      }),
            recolored(b,
                      [&](double* c) {
                        const double y = c[0], cb = c[1] - 128, cr = c[2] - 128;
                        c[0] = byte(y + 1.402 * cr), c[1] = byte(y - 0.114 * 1.772 / 0.587 * cb - 0.299 * 1.402 / 0.587 * cr),
                        c[2] = byte(y + 1.772 * cb);
                      }),
            x,
            recolored(x, hsv),
            recolored(g, hsv),
            recolored(x, rgb),
            x};
      },
      {4e-6, 4e-6, false, true});
}

TEST_CASE("filters, with every border, on images smaller than the window") {
  for (const auto border :
       {ops::PadMode::reflect, ops::PadMode::edge, ops::PadMode::symmetric, ops::PadMode::wrap, ops::PadMode::constant})
    check(
        "filters",
        [&](Maker& m) {
          const Symbol C{"C"}, H{"H", {.min = 1}}, W{"W", {.min = 1}};
          const Tensor x = m.in("x", f32, {C, H, W}), b = m.in("b", u8, {H, W}, whole(0, 255));
          const ops::FilterOptions o{.border = border};
          m.out(ops::gaussian_blur(x, 0.8, 0, o)), m.out(ops::box_blur(x, 2, 1, o)),
              m.out(ops::separable_filter(b, {1, 2, 1}, {0.25}, o));
          const auto s = ops::sobel(x, o);
          m.out(s.across), m.out(s.down), m.out(ops::median3x3(x, o)), m.out(ops::median3x3(b, o));
        },
        {{{{2, 6, 9}, {6, 9}}}, {{{1, 1, 1}, {1, 1}}}, {{{1, 2, 3}, {2, 3}}}, {{{0, 4, 4}, {4, 4}}}},
        [&](const Inputs& in) {
          const Nd &x = in[0], &b = in[1];
          std::vector<double> g;
          double total = 0;
          for (int d = -3; d <= 3; ++d) g.push_back(std::exp(-d * d / 1.28)), total += g.back();
          for (double& e : g) e /= total;
          return Results{windows(x, 3, 3, border, weighted(g, g)),
                         windows(x, 2, 1, border, weighted(std::vector<double>(5, 0.2), std::vector<double>(3, 1 / 3.0))),
                         windows(b, 1, 0, border, weighted({1, 2, 1}, {0.25})).map(byte),
                         windows(x, 1, 1, border, weighted({1, 2, 1}, {-1, 0, 1})),
                         windows(x, 1, 1, border, weighted({-1, 0, 1}, {1, 2, 1})),
                         windows(x, 1, 1, border, middle),
                         windows(b, 1, 1, border, middle)};
        },
        {1e-6, 2e-6, false, border == ops::PadMode::reflect});
}

TEST_CASE("morphology") {
  check(
      "morphology",
      [](Maker& m) {
        const Symbol H{"H"}, W{"W"};
        const Tensor b = m.in("b", u8, {H, W}, whole(0, 255)), x = m.in("x", f32, {2, H, W});
        m.out(ops::dilate(b)), m.out(ops::erode(x, 2, 1)), m.out(ops::morphology_open(b)),
            m.out(ops::morphology_close(x, 0, 2));
      },
      {{{{6, 9}, {2, 6, 9}}}, {{{1, 1}, {2, 1, 1}}}, {{{0, 3}, {2, 0, 3}}}},
      [](const Inputs& in) {
        const auto high = [](const Nd& t, int ry, int rx) { return windows(t, ry, rx, ops::PadMode::edge, largest, true); };
        const auto low = [](const Nd& t, int ry, int rx) { return windows(t, ry, rx, ops::PadMode::edge, smallest, true); };
        return Results{high(in[0], 1, 1), low(in[1], 2, 1), high(low(in[0], 1, 1), 1, 1), low(high(in[1], 0, 2), 0, 2)};
      },
      exact);
}

namespace {
double sampled(const Nd& x, Dims i, double row, double column, bool linear, bool repeat, double otherwise) {
  const std::size_t r = i.size() - 2;
  const auto at = [&](double y, double c) {
    const bool inside = y >= 0 && y < static_cast<double>(x.shape[r]) && c >= 0 && c < static_cast<double>(x.shape[r + 1]);
    if (!inside && !repeat) return otherwise;
    i[r] = static_cast<std::int64_t>(std::fmin(std::fmax(y, 0), static_cast<double>(x.shape[r] - 1)));
    i[r + 1] = static_cast<std::int64_t>(std::fmin(std::fmax(c, 0), static_cast<double>(x.shape[r + 1] - 1)));
    return x.at(i);
  };
  if (std::isnan(row) || std::isnan(column)) return repeat ? x.at(i) : otherwise;
  if (!linear) return at(std::floor(row + 0.5), std::floor(column + 0.5));
  const double y = std::floor(row), c = std::floor(column), fy = row - y, fx = column - c;
  return (1 - fy) * ((1 - fx) * at(y, c) + fx * at(y, c + 1)) + fy * ((1 - fx) * at(y + 1, c) + fx * at(y + 1, c + 1));
}
}  // namespace

TEST_CASE("warps: places between elements and outside of the image") {
  check(
      "warps",
      [](Maker& m) {
        const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}}, M{"M"}, N{"N"};
        const Tensor x = m.in("x", f32, {2, H, W}), b = m.in("b", u8, {H, W}, whole(0, 255)),
                     r = m.in("r", f32, {M, N}, between(-3, 9)),
                     c = m.in("c", f32, {M, N},
                              [](std::uint64_t v, std::int64_t k) {
                                return k == 2 ? 1e30 : k == 3 ? std::nan("") : between(-3, 9)(v, k);
                              }),
                     a = m.in("a", f32, {2, 3}), p = m.in("p", f32, {3, 3}, between(1, 2));
        m.out(ops::remap(x, r, c)), m.out(ops::remap(b, r, c, {.outside = 7})),
            m.out(ops::remap(x, r, r, {.sampling = ops::Sampling::nearest, .repeat = true}));
        m.out(ops::warp_affine(x, a, M, N, {.repeat = true})), m.out(ops::warp_perspective(x, p, M, N));
      },
      {{{{2, 6, 7}, {6, 7}, {5, 8}, {5, 8}, {2, 3}, {3, 3}}},
       {{{2, 1, 1}, {1, 1}, {1, 1}, {1, 1}, {2, 3}, {3, 3}}},
       {{{2, 2, 2}, {2, 2}, {0, 3}, {0, 3}, {2, 3}, {3, 3}}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &b = in[1], &r = in[2], &c = in[3], &a = in[4], &p = in[5];
        const std::int64_t M = r.n(0), N = r.n(1);
        Nd one({2, M, N}), two({M, N}), three = one, four = one, five = one;
        each(one.shape, [&](const Dims& i) {
          const double y = r(i[1], i[2]), column = c(i[1], i[2]), u = static_cast<double>(i[2]), v = static_cast<double>(i[1]);
          const Dims from{i[0], 0, 0};
          const auto row = [&](const Nd& t, int k) { return t(k, 0) * u + t(k, 1) * v + t(k, 2); };
          one.at(i) = sampled(x, from, y, column, true, false, 0);
          two(i[1], i[2]) = byte(sampled(b, {0, 0}, y, column, true, false, 7));
          three.at(i) = sampled(x, from, y, y, false, true, 0);
          four.at(i) = sampled(x, from, row(a, 1), row(a, 0), true, true, 0);
          five.at(i) = sampled(x, from, row(p, 1) / row(p, 2), row(p, 0) / row(p, 2), true, false, 0);
        });
        return Results{one, two, three, four, five};
      },
      {3e-5, 3e-5});
}

TEST_CASE("mosaics of every pattern") {
  for (const auto pattern : {ops::Bayer::rggb, ops::Bayer::bggr, ops::Bayer::grbg, ops::Bayer::gbrg})
    check(
        "demosaic",
        [&](Maker& m) {
          const Symbol H{"H", {.min = 2}}, W{"W", {.min = 2}};
          const Tensor x = m.in("x", f32, {H, W}, between(0, 1)), b = m.in("b", u8, {H, W}, whole(0, 255));
          m.out(ops::demosaic(x, pattern)), m.out(ops::demosaic(b, pattern));
        },
        {{{{6, 9}, {6, 9}}}, {{{2, 2}, {2, 2}}}},
        [&](const Inputs& in) {
          const char* const names[] = {"RGGB", "BGGR", "GRBG", "GBRG"};
          const char* rows = names[static_cast<int>(pattern)];
          const auto color = [&](std::int64_t y, std::int64_t c) { return rows[(y & 1) * 2 + (c & 1)]; };
          const auto full = [&](const Nd& x, auto round) {
            Nd y({x.n(0), x.n(1), 3});
            each(y.shape, [&](const Dims& i) {
              // the mean of those neighbors of the color that are nearest, of the pixel itself where it has it
              const char wanted = "RGB"[i[2]];
              double total = 0, count = 0;
              for (int distance = 0; distance < 3 && count == 0; ++distance)
                for (int dy = -1; dy <= 1; ++dy)
                  for (int dx = -1; dx <= 1; ++dx)
                    if (std::abs(dy) + std::abs(dx) == distance && color(i[0] + dy + 2, i[1] + dx + 2) == wanted)
                      total += x(outside(i[0] + dy, x.n(0), ops::PadMode::reflect),
                                 outside(i[1] + dx, x.n(1), ops::PadMode::reflect)),
                          ++count;
              y.at(i) = round(total / count);
            });
            return y;
          };
          return Results{full(in[0], [](double v) { return v; }), full(in[1], byte)};
        },
        {1e-6, 1e-6});
}

TEST_CASE("histograms, sums over windows, corners, the bilateral grid") {
  check(
      "statistics",
      [](Maker& m) {
        const Symbol H{"H", {.min = 1, .max = 4096}}, W{"W", {.min = 1, .max = 4096}};
        const Tensor b = m.in("b", u8, {H, W}, whole(60, 200)), same = m.in("same", u8, {H, 2, W}, whole(9, 9)),
                     f = m.in("f", f32, {H + 4, W + 4});
        m.out(ops::histogram(b)), m.out(ops::histogram(same)), m.out(ops::equalise_histogram(b)),
            m.out(ops::equalise_histogram(same));
        m.out(ops::integral_image(b)), m.out(ops::box_filter(b, 2)), m.out(ops::box_filter(b, m.scalar("radius", i32)));
        m.out(ops::harris(f)), m.out(ops::bilateral_grid(b, 4, 32)), m.out(ops::bilateral_grid(b, 16, 64));
      },
      {{{{13, 22}, {13, 2, 22}, {17, 26}}, {0}}, {{{1, 1}, {1, 2, 1}, {5, 5}}, {100}}},
      [](const Inputs& in) {
        const Nd &b = in[0], &same = in[1], &f = in[2];
        const std::int64_t H = b.n(0), W = b.n(1);
        const auto histogram = [](const Nd& x) {
          Nd h({256});
          for (const double v : x.v) ++h[static_cast<std::int64_t>(v)];
          return h;
        };
        Nd equal = b, table({H + 1, W + 1}), corners = b;
        for (double& v : equal.v) {
          double below = 0, first = 0, least = 255;
          for (const double e : b.v) least = std::fmin(least, e);
          for (const double e : b.v) below += e <= v, first += e == least;
          if (static_cast<double>(b.size()) > first) v = byte((below - first) * 255 / (static_cast<double>(b.size()) - first));
        }
        each(table.shape, [&](const Dims& i) {
          for (std::int64_t y = 0; y < i[0]; ++y)
            for (std::int64_t c = 0; c < i[1]; ++c) table.at(i) += b(y, c);
        });
        const auto box = [&](std::int64_t r) {
          Nd y = b;
          each(b.shape, [&](const Dims& i) {
            std::int64_t total = 0, area = 0;
            for (std::int64_t p = std::max<std::int64_t>(i[0] - r, 0); p < std::min(i[0] + r + 1, H); ++p)
              for (std::int64_t q = std::max<std::int64_t>(i[1] - r, 0); q < std::min(i[1] + r + 1, W); ++q)
                total += static_cast<std::int64_t>(b(p, q)), ++area;
            y.at(i) = static_cast<double>((total + area / 2) / area);
          });
          return y;
        };
        const double sobel[] = {1, 2, 1};
        const auto gradient = [&](std::int64_t y, std::int64_t c, bool down) {
          double g = 0;
          for (int k = 0; k < 3; ++k) g += sobel[k] * (down ? f(y + 2, c + k) - f(y, c + k) : f(y + k, c + 2) - f(y + k, c));
          return g / 8;
        };
        each(corners.shape, [&](const Dims& i) {
          double xx = 0, xy = 0, yy = 0;
          for (int k = 0; k < 9; ++k) {
            const double gx = gradient(i[0] + k / 3, i[1] + k % 3, false), gy = gradient(i[0] + k / 3, i[1] + k % 3, true);
            xx += gx * gx, xy += gx * gy, yy += gy * gy;
          }
          corners.at(i) = xx * yy - xy * xy - 0.04 * (xx + yy) * (xx + yy);
        });
        std::vector<std::uint8_t> bytes;
        for (const double v : b.v) bytes.push_back(static_cast<std::uint8_t>(v));
        Nd fine = b, coarse = b;
        fine.v = bilateral_by_loops(bytes, H, W, 4, 32), coarse.v = bilateral_by_loops(bytes, H, W, 16, 64);
        return Results{
            histogram(b), histogram(same), equal, same, table, box(2), box(static_cast<std::int64_t>(in[3][0])), corners,
            fine,         coarse};
      },
      {3e-6, 3e-6});
}

TEST_CASE("image operators refuse") {
  const Symbol H{"H"}, W{"W"};
  CHECK(refusal_of([&] {
          (void)ops::rgb_to_grey(lang::make_input("p", u8, {H, W, 4}));
        }).find("rgb_to_grey: expected x whose dimension 2 has the extent 3, three colors, found 4") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::gaussian_blur(lang::make_input("p", u8, {H, W}), 0);
        }).find("gaussian_blur: expected a sigma above 0 and below 1000") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::bilateral_grid(lang::make_input("p", u8, {H, W}), 8, 33);
        }).find("bilateral_grid: expected a step that divides 256, found 33") != std::string::npos);
}
