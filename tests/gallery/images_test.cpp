// Corners, a game of life, resizing: beside loops that say the same in double.
#include "bicubic.h"
#include "box_filter.h"
#include "harris.h"
#include "life.h"
#include "tests/gallery/close.h"

TEST_CASE("Harris corners") {
  for (const auto& [h, w] : std::vector<std::array<std::int64_t, 2>>{{5, 5}, {6, 40}, {37, 29}, {80, 33}}) {
    CAPTURE(h);
    CAPTURE(w);
    Dense<float> gray({h, w}, fractions()), out({h - 4, w - 4});
    const auto at = [&](std::int64_t y, std::int64_t x) { return static_cast<double>(gray(y, x)); };
    const auto gx = [&](std::int64_t y, std::int64_t x) {
      return (at(y, x + 2) - at(y, x) + 2 * (at(y + 1, x + 2) - at(y + 1, x)) + at(y + 2, x + 2) - at(y + 2, x)) / 8;
    };
    const auto gy = [&](std::int64_t y, std::int64_t x) {
      return (at(y + 2, x) - at(y, x) + 2 * (at(y + 2, x + 1) - at(y, x + 1)) + at(y + 2, x + 2) - at(y, x + 2)) / 8;
    };
    std::vector<double> expected;
    for (std::int64_t y = 0; y < h - 4; ++y)
      for (std::int64_t x = 0; x < w - 4; ++x) {
        double xx = 0, xy = 0, yy = 0;
        for (std::int64_t r = 0; r < 3; ++r)
          for (std::int64_t c = 0; c < 3; ++c) {
            const double a = gx(y + r, x + c), b = gy(y + r, x + c);
            xx += a * a, xy += a * b, yy += b * b;
          }
        expected.push_back(xx * yy - xy * xy - 0.04 * (xx + yy) * (xx + yy));
      }
    ashlar_tensor a = gray.tensor(), b = out.tensor();
    REQUIRE_MESSAGE(harris(&a, &b) == ASHLAR_OK, last_error());
    close(out.data, expected, 1e-5);
  }
}

TEST_CASE("three generations of life on a torus") {
  for (const auto& [h, w] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {3, 3}, {17, 70}, {2, 5}}) {
    CAPTURE(h);
    CAPTURE(w);
    Dense<std::uint8_t> cells({h, w}, [](std::size_t i) { return i * 2654435761u / 65536 % 3 == 0; }), out({h, w});
    std::vector<std::uint8_t> now = cells.data;
    for (int g = 0; g < 3; ++g) {
      std::vector<std::uint8_t> next;
      for (std::int64_t y = 0; y < h; ++y)
        for (std::int64_t x = 0; x < w; ++x) {
          const auto alive = [&](std::int64_t r, std::int64_t c) {
            return now[static_cast<std::size_t>(((y + r + h) % h) * w + (x + c + w) % w)];
          };
          int around = -alive(0, 0);
          for (int r = -1; r <= 1; ++r)
            for (int c = -1; c <= 1; ++c) around += alive(r, c);
          next.push_back(around == 3 || (around == 2 && alive(0, 0)) ? 1 : 0);
        }
      now = next;
    }
    ashlar_tensor a = cells.tensor(), b = out.tensor();
    REQUIRE_MESSAGE(life(&a, &b) == ASHLAR_OK, last_error());
    CHECK(out.data == now);
  }
}

TEST_CASE("bicubic resizing up, down, and to the same size") {
  const auto cubic = [](double t) {  // Keys, a = -1/2
    t = std::fabs(t);
    return t <= 1 ? 1.5 * t * t * t - 2.5 * t * t + 1 : t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0;
  };
  struct Size {
    std::int64_t h, w, oh, ow;
  };
  for (const Size& s : {Size{8, 8, 16, 16}, {16, 24, 8, 12}, {7, 5, 7, 5}, {1, 1, 4, 6}, {9, 13, 31, 20}}) {
    CAPTURE(s.h);
    CAPTURE(s.oh);
    Dense<float> in({s.h, s.w}, fractions()), out({s.oh, s.ow});
    std::vector<double> expected;
    for (std::int64_t y = 0; y < s.oh; ++y)
      for (std::int64_t x = 0; x < s.ow; ++x) {
        // positions in float, as the program states them: at a pixel's edge the other neighbor would be chosen
        const float py = (static_cast<float>(y) + 0.5f) * (static_cast<float>(s.h) / static_cast<float>(s.oh)) - 0.5f;
        const float px = (static_cast<float>(x) + 0.5f) * (static_cast<float>(s.w) / static_cast<float>(s.ow)) - 0.5f;
        double v = 0;
        for (int r = -1; r <= 2; ++r)
          for (int c = -1; c <= 2; ++c) {
            const auto iy = static_cast<std::int64_t>(std::floor(py)) + r, ix = static_cast<std::int64_t>(std::floor(px)) + c;
            v += cubic(static_cast<double>(py) - static_cast<double>(iy)) *
                 cubic(static_cast<double>(px) - static_cast<double>(ix)) *
                 static_cast<double>(in(std::clamp<std::int64_t>(iy, 0, s.h - 1), std::clamp<std::int64_t>(ix, 0, s.w - 1)));
          }
        expected.push_back(v);
      }
    ashlar_tensor a = in.tensor(), b = out.tensor();
    REQUIRE_MESSAGE(bicubic(&a, &b) == ASHLAR_OK, last_error());
    close(out.data, expected, 1e-5);
  }
}

TEST_CASE("the mean over windows of any size, by a table of sums") {
  for (const auto& [h, w] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {3, 50}, {31, 20}, {64, 64}})
    for (int radius : {0, 1, 4, 100}) {
      CAPTURE(h);
      CAPTURE(w);
      CAPTURE(radius);
      Dense<std::uint8_t> in({h, w}, [](std::size_t i) { return i * 2654435761u / 65536 % 256; }), out({h, w});
      std::vector<std::uint8_t> expected;
      for (std::int64_t y = 0; y < h; ++y)
        for (std::int64_t x = 0; x < w; ++x) {
          std::int64_t sum = 0, area = 0;
          for (std::int64_t r = std::max<std::int64_t>(y - radius, 0); r <= std::min(y + radius, h - 1); ++r)
            for (std::int64_t c = std::max<std::int64_t>(x - radius, 0); c <= std::min(x + radius, w - 1); ++c)
              sum += in(r, c), ++area;
          expected.push_back(static_cast<std::uint8_t>((sum + area / 2) / area));
        }
      ashlar_tensor a = in.tensor(), b = out.tensor();
      REQUIRE_MESSAGE(box_filter(&a, radius, &b) == ASHLAR_OK, last_error());
      CHECK(out.data == expected);
    }
}
