// Softmax of rows, and the largest elements of rows with their places.
#include <limits>
#include <numeric>

#include "softmax.h"
#include "tests/gallery/close.h"
#include "top_1.h"
#include "top_4.h"

// u = 2^-24. The maximum is exact. A row's elements span R: a difference of two of them is rounded, which moves its exponential
// by R u, and the exponential itself by 1.6 u (0.80 of a unit in the last place, docs/ir.md). So a numerator is off by
// (R + 1.6) u. In the sum an element is scaled by exponentials whose arguments add up to at most 2 R, each rounded (2 R u), and
// in each of n merges multiplied and added once: (1.6 + 1 + 1) n u. n is a lane's elements and the lanes, at least 4 of them.
TEST_CASE("softmax in one pass") {
  struct Rows {
    std::int64_t m, n;
    float base, spread;
  };
  for (const Rows& r :
       {Rows{1, 1, 0, 1}, {3, 5, 0, 4}, {4, 100, 1e4f, 10}, {2, 1000, -200, 15}, {5, 33, 90, 20}, {0, 7, 0, 1}}) {
    CAPTURE(r.m);
    CAPTURE(r.n);
    Dense<float> x({r.m, r.n}, [&](std::size_t i) { return r.base + r.spread * fractions()(i); }), y({r.m, r.n});
    ashlar_tensor a = x.tensor(), b = y.tensor();
    REQUIRE_MESSAGE(softmax(&a, &b) == ASHLAR_OK, last_error());
    const double merges = static_cast<double>(r.n) / 4 + 64, span = 2 * static_cast<double>(r.spread);
    const double bound = (span + 1.6 + 2 * span + 3.6 * merges + 1) * 0x1p-24;
    for (std::int64_t i = 0; i < r.m; ++i) {
      double top = static_cast<double>(x(i, 0)), total = 0;
      for (std::int64_t j = 0; j < r.n; ++j) top = std::max(top, static_cast<double>(x(i, j)));
      for (std::int64_t j = 0; j < r.n; ++j) total += std::exp(static_cast<double>(x(i, j)) - top);
      for (std::int64_t j = 0; j < r.n; ++j) {
        const double expected = std::exp(static_cast<double>(x(i, j)) - top) / total;
        CAPTURE(i);
        CAPTURE(j);
        CHECK(std::fabs(static_cast<double>(y(i, j)) - expected) <= bound * expected);
      }
    }
  }
}

TEST_CASE("softmax of a row with masked elements: minus infinity has no share") {
  const float masked = -std::numeric_limits<float>::infinity();
  Dense<float> x({2, 40}, [&](std::size_t i) { return i < 40 ? (i % 3 == 0 ? 2.0f : masked) : (i == 79 ? -1e30f : masked); });
  Dense<float> y({2, 40});
  ashlar_tensor a = x.tensor(), b = y.tensor();
  REQUIRE_MESSAGE(softmax(&a, &b) == ASHLAR_OK, last_error());
  for (std::int64_t j = 0; j < 40; ++j) {
    CHECK(y(0, j) == (j % 3 == 0 ? 1.0f / 14.0f : 0.0f));
    CHECK(y(1, j) == (j == 39 ? 1.0f : 0.0f));
  }
}

namespace {
// Exact: the same elements, the same places.
template <class F>
void largest(F f, std::int64_t m, std::int64_t n, std::int64_t k, float (*at)(std::size_t)) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  Dense<float> x({m, n}, at), value({m, k});
  Dense<std::int32_t> column({m, k});
  ashlar_tensor a = x.tensor(), b = value.tensor(), c = column.tensor();
  REQUIRE_MESSAGE(f(&a, &b, &c) == ASHLAR_OK, last_error());
  for (std::int64_t i = 0; i < m; ++i) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t p, std::int32_t q) {
      const float v = x(i, p), w = x(i, q);
      return std::isnan(v) ? !std::isnan(w) : !std::isnan(w) && v > w;
    });
    for (std::int64_t r = 0; r < k; ++r) {
      const float expected = x(i, order[static_cast<std::size_t>(r)]);
      CHECK(column(i, r) == order[static_cast<std::size_t>(r)]);
      CHECK((std::isnan(expected) ? std::isnan(value(i, r)) : value(i, r) == expected));
    }
  }
}
float few(std::size_t i) { return static_cast<float>(i * 2654435761u / 65536 % 7) - 3; }  // many are equal
float edge(std::size_t i) {
  const float list[] = {0.0f,
                        -0.0f,
                        -1e-45f,
                        1e-45f,
                        std::numeric_limits<float>::infinity(),
                        -3.0f,
                        std::numeric_limits<float>::quiet_NaN(),
                        -std::numeric_limits<float>::infinity()};
  return list[i * 2654435761u / 65536 % 8];
}
float zeros(std::size_t i) { return i % 2 ? 0.0f : -0.0f; }
float many(std::size_t i) { return fractions(3)(i); }
}  // namespace

TEST_CASE("the four largest of each row and where they stand") {
  for (float (*at)(std::size_t) : {few, edge, zeros, many})
    for (const auto& [m, n] : std::vector<std::array<std::int64_t, 2>>{{1, 4}, {3, 5}, {7, 33}, {2, 64}, {5, 1000}, {0, 9}}) {
      largest(top_4, m, n, 4, at);
      largest(top_1, m, n, 1, at);
    }
}

TEST_CASE("rows shorter than k are refused at entry") {
  Dense<float> x({2, 3}, few), value({2, 4});
  Dense<std::int32_t> column({2, 4});
  ashlar_tensor a = x.tensor(), b = value.tensor(), c = column.tensor();
  CHECK(top_4(&a, &b, &c) != ASHLAR_OK);
  CHECK(last_error() == "top_4: N is 3, expected at least 4 (from x.shape[1])");
}
