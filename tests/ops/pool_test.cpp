// Pooling beside loops over windows: strides, paddings, dilation, windows that hang over the end; and resizing.
#include "tests/ops/check.h"
#include "tests/ops/conv_loops.h"

using namespace ops_test;

namespace {

struct Window {
  std::vector<int> size, stride;
  std::vector<ops::Pad> padding;
  std::vector<int> dilation;
  bool ceil = false, count_padding = true;
};
// x: [N, C, image...]; f gets the elements under a window and how many places of it count.
Nd pooled(const Nd& x, const Window& w, const std::function<double(const std::vector<double>&, double)>& f) {
  Dims shape{x.n(0), x.n(1)}, taps;
  for (std::size_t d = 0; d < w.size.size(); ++d) {
    const std::int64_t n = x.shape[d + 2],
                       room = n + w.padding[d].before + w.padding[d].after - w.dilation[d] * (w.size[d] - 1) - 1;
    std::int64_t count = room / w.stride[d] + 1;
    if (w.ceil && room % w.stride[d] != 0 && count * w.stride[d] < n + w.padding[d].before) ++count;
    shape.push_back(room < 0 ? 0 : count), taps.push_back(w.size[d]);
  }
  Nd y(shape);
  each(shape, [&](const Dims& i) {
    std::vector<double> under;
    double counted = 0;
    each(taps, [&](const Dims& k) {
      Dims at{i[0], i[1]};
      bool inside = true, around = true;
      for (std::size_t d = 0; d < k.size(); ++d) {
        at.push_back(i[d + 2] * w.stride[d] + k[d] * w.dilation[d] - w.padding[d].before);
        inside = inside && at.back() >= 0 && at.back() < x.shape[d + 2];
        around = around && at.back() < x.shape[d + 2] + w.padding[d].after;
      }
      if (inside) under.push_back(x.at(at));
      counted += w.count_padding ? around : inside;
    });
    y.at(i) = f(under, counted);
  });
  return y;
}
double largest(const std::vector<double>& v, double) {
  double m = -std::numeric_limits<double>::infinity();
  for (const double e : v) m = std::isnan(m) || std::isnan(e) ? std::nan("") : std::fmax(m, e);
  return m;
}
double mean(const std::vector<double>& v, double counted) {
  double s = 0;
  for (const double e : v) s += e;
  return s / counted;
}

}  // namespace

TEST_CASE("max and average pooling") {
  struct Case {
    const char* name;
    ops::PoolOptions<2> o;
    bool emulated = false;
  };
  for (const Case& c :
       {Case{"as the window", {.window = {2, 3}}, true},
        {"padded", {.window = {3, 3}, .stride = {2, 1}, .padding = {1, ops::Pad(2, 1)}}},
        {"padding does not count", {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .count_padding = false}},
        {"hanging over", {.window = {3, 2}, .stride = {2, 3}, .padding = {1, ops::Pad(0, 1)}, .ceil = true}},
        {"hanging over, not counted", {.window = {2, 4}, .stride = {3, 3}, .ceil = true, .count_padding = false}},
        {"dilated", {.window = {3, 2}, .stride = {1, 2}, .padding = {2, 1}, .dilation = {2, 3}, .count_padding = false}}})
    check(
        c.name,
        [&](Maker& m) {
          const Symbol N{"N"}, C{"C"}, H{"H", {.min = 3}}, W{"W", {.min = 4}};
          const Tensor x = m.in("x", f32, {N, C, H, W}), e = m.in("e", f32, {N, C, H, W}, edges()),
                       b = m.in("b", i8, {N, C, H, W}, whole(-128, 127));
          m.out(ops::max_pool2d(e, c.o)), m.out(ops::max_pool2d(b, c.o)), m.out(ops::average_pool2d(x, c.o));
        },
        {{{{2, 2, 7, 9}, {2, 2, 7, 9}, {2, 2, 7, 9}}},
         {{{1, 1, 3, 4}, {1, 1, 3, 4}, {1, 1, 3, 4}}},
         {{{1, 1, 4, 6}, {1, 1, 4, 6}, {1, 1, 4, 6}}},  // the last rows hang over
         {{{0, 1, 4, 5}, {0, 1, 4, 5}, {0, 1, 4, 5}}}},
        [&](const Inputs& in) {
          Window w{{c.o.window.begin(), c.o.window.end()},     {},       pads(c.o.padding),
                   {c.o.dilation.begin(), c.o.dilation.end()}, c.o.ceil, c.o.count_padding};
          for (std::size_t d = 0; d < 2; ++d) w.stride.push_back(c.o.stride[d] ? c.o.stride[d] : c.o.window[d]);
          return Results{pooled(in[1], w, largest), pooled(in[2], w, largest), pooled(in[0], w, mean)};
        },
        {1e-6, 1e-6, false, c.emulated});
}

TEST_CASE("pooling in one dimension and three, channels last, over all, and divided") {
  check(
      "pooling",
      [](Maker& m) {
        const Symbol N{"N"}, C{"C"}, T{"T", {.min = 2}}, H{"H", {.min = 1}}, W{"W", {.min = 1}}, OH{"OH"}, OW{"OW"};
        const Tensor t = m.in("t", f32, {N, C, T}), v = m.in("v", f32, {N, C, 3, T, 4}), l = m.in("l", f32, {N, T, T, C}),
                     x = m.in("x", f32, {N, C, H, W}), h = m.in("h", f16, {N, C, H, W}), like = m.in("like", f32, {OH, OW});
        m.out(ops::max_pool1d(t, {.window = {2}, .stride = {1}})),
            m.out(ops::average_pool1d(t, {.window = {2}, .padding = {1}}));
        m.out(ops::max_pool3d(v, {.window = {2, 2, 2}, .stride = {1, 2, 2}}));
        m.out(ops::average_pool3d(v, {.window = {3, 1, 2}, .padding = {1, 0, 1}}));
        m.out(ops::max_pool2d(l, {.window = {2, 2}, .stride = {1, 1}, .layout = ops::Layout::channels_last}));
        m.out(ops::average_pool2d(l, {.window = {2, 2}, .padding = {1, 0}, .layout = ops::Layout::channels_last}));
        m.out(ops::global_average_pool(x)), m.out(ops::global_max_pool(l, ops::Layout::channels_last)),
            m.out(ops::global_average_pool(h));
        m.out(ops::adaptive_average_pool2d(x, OH, OW)),
            m.out(ops::adaptive_max_pool2d(x, Expr(std::int64_t{3}), Expr(std::int64_t{2})));
        (void)like, m.out(ops::relu(like));
      },
      {{{{2, 3, 7}, {2, 3, 3, 7, 4}, {2, 7, 7, 3}, {2, 3, 5, 8}, {2, 3, 5, 8}, {2, 3}}},
       {{{1, 1, 2}, {1, 1, 3, 2, 4}, {1, 2, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {4, 1}}},
       {{{0, 2, 4}, {0, 2, 3, 4, 4}, {0, 4, 4, 2}, {0, 2, 3, 3}, {0, 2, 3, 3}, {3, 5}}}},
      [](const Inputs& in) {
        const Nd &t = in[0], &v = in[1], l = turned(in[2], {0, 3, 1, 2}), &x = in[3], &h = in[4], &like = in[5];
        const auto divided = [&](std::int64_t oh, std::int64_t ow, auto f) {
          Nd y({x.n(0), x.n(1), oh, ow});
          each(y.shape, [&](const Dims& i) {
            std::vector<double> under;
            for (std::int64_t r = i[2] * x.n(2) / oh; r * oh < (i[2] + 1) * x.n(2); ++r)
              for (std::int64_t s = i[3] * x.n(3) / ow; s * ow < (i[3] + 1) * x.n(3); ++s) under.push_back(x(i[0], i[1], r, s));
            y.at(i) = f(under, static_cast<double>(under.size()));
          });
          return y;
        };
        const auto whole_image = [](const Nd& image, auto f) {
          const int n2 = static_cast<int>(image.n(2)), n3 = static_cast<int>(image.n(3));
          return pooled(image, {{n2, n3}, {1, 1}, {0, 0}, {1, 1}}, f);
        };
        const Nd max_last = pooled(l, {{2, 2}, {1, 1}, {0, 0}, {1, 1}}, largest),
                 mean_last = pooled(l, {{2, 2}, {2, 2}, {1, 0}, {1, 1}}, mean);
        return Results{pooled(t, {{2}, {1}, {0}, {1}}, largest),
                       pooled(t, {{2}, {2}, {1}, {1}}, mean),
                       pooled(v, {{2, 2, 2}, {1, 2, 2}, {0, 0, 0}, {1, 1, 1}}, largest),
                       pooled(v, {{3, 1, 2}, {3, 1, 2}, {1, 0, 1}, {1, 1, 1}}, mean),
                       turned(max_last, {0, 2, 3, 1}),
                       turned(mean_last, {0, 2, 3, 1}),
                       whole_image(x, mean),
                       turned(whole_image(l, largest), {0, 2, 3, 1}),
                       whole_image(h, mean),
                       divided(like.n(0), like.n(1), mean),
                       divided(3, 2, largest),
                       like.map([](double e) { return e > 0 ? e : 0; })};
      },
      {1e-3, 1e-3});
}

namespace {
// One dimension of a resize, in double.
Nd resized(const Nd& x, int d, std::int64_t m, const ops::ResizeOptions& o) {
  Dims shape = x.shape;
  const std::int64_t n = x.n(d);
  shape[static_cast<std::size_t>(d)] = m;
  Nd y(shape);
  each(shape, [&](const Dims& i) {
    const auto k = static_cast<double>(i[static_cast<std::size_t>(d)]), scale = static_cast<double>(n) / static_cast<double>(m);
    const double place = o.places == ops::ResizePlaces::half_pixel ? (k + 0.5) * scale - 0.5
                         : o.places == ops::ResizePlaces::align_corners
                             ? (m > 1 ? k * static_cast<double>(n - 1) / static_cast<double>(m - 1) : 0)
                             : k * scale;
    const auto sample = [&](double at) {
      Dims from = i;
      from[static_cast<std::size_t>(d)] = static_cast<std::int64_t>(std::fmin(std::fmax(at, 0), static_cast<double>(n - 1)));
      return x.at(from);
    };
    const double base = std::floor(place), f = place - base;
    if (o.mode == ops::ResizeMode::nearest) {
      y.at(i) =
          o.places == ops::ResizePlaces::asymmetric ? sample(std::floor(place + 1e-9)) : sample(std::ceil(place - 0.5 - 1e-9));
    } else if (o.mode == ops::ResizeMode::linear) {
      y.at(i) = (1 - f) * sample(base) + f * sample(base + 1);
    } else {
      const auto weight = [&](double t) {
        t = std::fabs(t);
        return t < 1 ? (o.a + 2) * t * t * t - (o.a + 3) * t * t + 1 : t < 2 ? o.a * (t * t * t - 5 * t * t + 8 * t - 4) : 0;
      };
      y.at(i) = 0;
      for (int s = -1; s < 3; ++s) y.at(i) += weight(f - s) * sample(base + s);
    }
  });
  return y;
}
}  // namespace

TEST_CASE("resizing to larger, smaller, the same and one") {
  for (const auto places : {ops::ResizePlaces::half_pixel, ops::ResizePlaces::align_corners, ops::ResizePlaces::asymmetric})
    check(
        "resize",
        [&](Maker& m) {
          const Symbol C{"C"}, H{"H", {.min = 1}}, W{"W", {.min = 1}}, OH{"OH", {.min = 1}}, OW{"OW", {.min = 1}};
          const Tensor x = m.in("x", f32, {C, H, W}), like = m.in("like", f32, {OH, OW}),
                       b = m.in("b", u8, {H, W}, whole(0, 255));
          m.out(ops::resize(x, {{1, OH}, {2, OW}}, {.mode = ops::ResizeMode::nearest, .places = places}));
          m.out(ops::resize(x, {{2, OW}, {1, OH}}, {.mode = ops::ResizeMode::linear, .places = places}));
          m.out(ops::resize(x, {{1, OH}, {2, OW}}, {.mode = ops::ResizeMode::cubic, .places = places}));
          m.out(ops::resize(x, {{-1, 5}}, {.mode = ops::ResizeMode::cubic, .places = places, .a = -0.5}));
          m.out(ops::resize(b, {{0, OH}}, {.places = places})), m.out(ops::relu(like));
        },
        {{{{2, 5, 7}, {8, 11}, {5, 7}}},
         {{{1, 9, 8}, {4, 2}, {9, 8}}},
         {{{1, 1, 3}, {1, 1}, {1, 3}}},
         {{{0, 2, 2}, {2, 2}, {2, 2}}}},
        [&](const Inputs& in) {
          const auto both = [&](ops::ResizeMode mode) {
            const ops::ResizeOptions o{.mode = mode, .places = places};
            return resized(resized(in[0], 1, in[1].n(0), o), 2, in[1].n(1), o);
          };
          return Results{both(ops::ResizeMode::nearest),
                         both(ops::ResizeMode::linear),
                         both(ops::ResizeMode::cubic),
                         resized(in[0], 2, 5, {.mode = ops::ResizeMode::cubic, .places = places, .a = -0.5}),
                         resized(in[2], 0, in[1].n(0), {.places = places}).map([](double v) { return std::nearbyint(v); }),
                         in[1].map([](double e) { return e > 0 ? e : 0; })};
        },
        {1e-5, 3e-6, false, places == ops::ResizePlaces::half_pixel});
}

TEST_CASE("pooling and resizing refuse") {
  const Symbol N{"N"}, H{"H"};
  CHECK(refusal_of([&] {
          (void)ops::max_pool2d(lang::make_input("p", f32, {N, 3, H, H}), {.window = {2, 2}, .padding = {2, 0}});
        }).find("max_pool2d: expected paddings less than the window, found 2") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::average_pool2d(lang::make_input("p", i8, {N, 3, H, H}), {.window = {2, 2}});
        }).find("average_pool2d: expected x of a floating type, found i8") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::resize(lang::make_input("p", f32, {N, 4}), {{1, 8}, {-1, 8}});
        }).find("resize: expected each dimension once, found -1 twice") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::adaptive_max_pool2d(lang::make_input("p", bool_, {N, 3, H, H}), 7, 7);
        }).find("adaptive_max_pool2d: expected x of numbers, found bool") != std::string::npos);
}
