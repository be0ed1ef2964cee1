// What the kernels of the uses compute, beside plain loops; and a wrong call of each kind.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "argmax.h"
#include "attention_causal.h"
#include "attention_whole.h"
#include "blur.h"
#include "conv1d.h"
#include "conv1d_mean.h"
#include "matmul.h"
#include "matmul_gelu.h"
// Words that an application may have macros for do not occur in the packing functions of a generated header.
#define packed a_macro_of_the_application
#define element a_macro_of_the_application
#define index0 a_macro_of_the_application
#define stride0 a_macro_of_the_application
#define a a_macro_of_the_application
#define b a_macro_of_the_application
#include "matmul_gelu_packed.h"
#undef packed
#undef element
#undef index0
#undef stride0
#undef a
#undef b
#include "matmul_small.h"
#include "softmax_half.h"
#include "softmax_rows.h"
#include "tests/support/sentence.h"
#include "tests/uses/tensors.h"

namespace {

auto small_integers(int range) {
  return [range](std::size_t i) { return static_cast<int>(i * 7919 % 31) % range - range / 2; };
}
auto fractions() {
  return [](std::size_t i) { return static_cast<float>(i * 2654435761u % 1000) / 500.0f - 1.0f; };
}
using test::last_error;

std::vector<float> product(Dense<float>& A, Dense<float>& B) {
  std::vector<float> C(static_cast<std::size_t>(A.shape[0] * B.shape[1]));
  for (std::int64_t i = 0; i < A.shape[0]; ++i)
    for (std::int64_t j = 0; j < B.shape[1]; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < A.shape[1]; ++k) sum += A(i, k) * B(k, j);
      C[static_cast<std::size_t>(i * B.shape[1] + j)] = sum;
    }
  return C;
}

}  // namespace

TEST_CASE("matmul of every size, exact on small integers") {
  for (const auto& [m, n, k] :
       std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {64, 64, 64}, {70, 65, 33}, {5, 200, 513}, {0, 3, 4}, {3, 4, 0}}) {
    Dense<float> A({m, k}, small_integers(9)), B({k, n}, small_integers(7)), C({m, n}, [](std::size_t) { return -1; });
    const std::vector<float> expected = product(A, B);
    ashlar_tensor a = A.tensor(), b = B.tensor(), c = C.tensor();
    for (auto* f : {matmul, matmul_small}) {
      std::fill(C.data.begin(), C.data.end(), -1.0f);
      REQUIRE_MESSAGE(f(&a, &b, &c) == ASHLAR_OK, last_error());
      CHECK(C.data == expected);
    }
  }
}

TEST_CASE("matmul on padded rows leaves the padding alone") {
  Dense<float> A({9, 20}, small_integers(9)), B({5, 11}, small_integers(7)), C({9, 16}, [](std::size_t) { return -1; });
  std::int64_t shape_a[] = {9, 5}, stride_a[] = {20, 1}, shape_c[] = {9, 11}, stride_c[] = {16, 1};
  ashlar_tensor a = A.tensor(), b = B.tensor(), c = C.tensor();
  a.shape = shape_a, a.strides = stride_a, c.shape = shape_c, c.strides = stride_c;
  REQUIRE_MESSAGE(matmul(&a, &b, &c) == ASHLAR_OK, last_error());
  for (std::int64_t i = 0; i < 9; ++i)
    for (std::int64_t j = 0; j < 16; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < 5 && j < 11; ++k) sum += A(i, k) * B(k, j);
      CHECK(C(i, j) == (j < 11 ? sum : -1));
    }
}

TEST_CASE("a wrong call is answered with a sentence, and writes nothing") {
  Dense<float> A({4, 5}, small_integers(9)), B({6, 3}, small_integers(7)), C({4, 3}, [](std::size_t) { return -1; });
  ashlar_tensor a = A.tensor(), b = B.tensor(), c = C.tensor();
  CHECK(matmul(&a, &b, &c) == ASHLAR_E_SHAPE);
  CHECK(last_error() == "matmul: B.shape[0] is 6, expected 5 (K, from A.shape[1])");
  CHECK(matmul(&a, nullptr, &c) == ASHLAR_E_NULL);
  CHECK(last_error() == "matmul: B is NULL, expected a tensor");
  CHECK(std::count(C.data.begin(), C.data.end(), -1.0f) == 12);
}

TEST_CASE("blur: 5x5 binomial with repeated edges, bit for bit") {
  const int weight[] = {1, 4, 6, 4, 1};
  for (const auto& [h, w] : std::vector<std::array<std::int64_t, 2>>{{32, 1}, {33, 40}, {64, 64}, {101, 77}}) {
    Dense<std::uint8_t> in({h, w}, [](std::size_t i) { return i * 2654435761u >> 7; }), out({h, w});
    ashlar_tensor x = in.tensor(), y = out.tensor();
    REQUIRE_MESSAGE(blur(&x, &y) == ASHLAR_OK, last_error());
    const std::int64_t last_row = h - 1, last_column = w - 1;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < h; ++i)
      for (std::int64_t j = 0; j < w; ++j) {
        int sum = 128;
        for (int v = 0; v < 5; ++v)
          for (int u = 0; u < 5; ++u)
            sum += weight[v] * weight[u] *
                   in(std::clamp<std::int64_t>(i + v - 2, 0, last_row), std::clamp<std::int64_t>(j + u - 2, 0, last_column));
        wrong += out(i, j) != static_cast<std::uint8_t>(sum >> 8);
      }
    CHECK(wrong == 0);
  }
  Dense<std::uint8_t> in({31, 4}), out({31, 4});
  ashlar_tensor x = in.tensor(), y = out.tensor();
  CHECK(blur(&x, &y) == ASHLAR_E_FACT);
  CHECK(last_error() == "blur: H is 31, expected at least 32 (from in.shape[0])");
}

TEST_CASE("matmul_gelu: bias and activation fused") {
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {64, 64, 64}, {67, 130, 100}}) {
    Dense<float> A({m, k}, fractions()), B({k, n}, fractions()), bias({n}, fractions()), C({m, n});
    const std::vector<float> AB = product(A, B);
    ashlar_tensor a = A.tensor(), b = B.tensor(), bi = bias.tensor(), c = C.tensor();
    REQUIRE_MESSAGE(matmul_gelu(&a, &b, &bi, &c) == ASHLAR_OK, last_error());
    double worst = 0;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const double x = static_cast<double>(AB[static_cast<std::size_t>(i * n + j)]) + static_cast<double>(bias(j));
        worst = std::max(worst, std::abs(0.5 * x * (1 + std::erf(x * 0.70710678118654752)) - static_cast<double>(C(i, j))));
      }
    CHECK(worst < 1e-4);

    // B packed ahead of the call, by the function of the generated header: the same sums in the same order
    std::vector<float> packed(matmul_gelu_packed_packed_B_bytes(k, n) / sizeof(float), -1.0f);
    CHECK(packed.size() >= B.data.size());
    matmul_gelu_packed_pack_B(B.data.data(), 0, k, n, packed.data());
    Dense<float> again({m, n});
    ashlar_tensor p = B.tensor(), d = again.tensor();
    p.data = packed.data();
    REQUIRE_MESSAGE(matmul_gelu_packed(&a, &p, &bi, &d) == ASHLAR_OK, last_error());
    CHECK(again.data == C.data);
  }
}

TEST_CASE("softmax of rows, in f32 and in f16") {
  for (const auto& [m, n] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {3, 16}, {7, 45}, {20, 300}}) {
    Dense<float> x({m, n}, fractions()), y({m, n});
    Dense<_Float16> xh({m, n}, fractions()), yh({m, n});
    ashlar_tensor a = x.tensor(), b = y.tensor(), ah = xh.tensor(), bh = yh.tensor();
    REQUIRE_MESSAGE(softmax_rows(&a, &b) == ASHLAR_OK, last_error());
    REQUIRE_MESSAGE(softmax_half(&ah, &bh) == ASHLAR_OK, last_error());
    double worst = 0, worst_half = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      double total = 0, total_half = 0;
      for (std::int64_t j = 0; j < n; ++j)
        total += std::exp(static_cast<double>(x(i, j))), total_half += std::exp(static_cast<double>(xh(i, j)));
      for (std::int64_t j = 0; j < n; ++j) {
        worst = std::max(worst, std::abs(std::exp(static_cast<double>(x(i, j))) / total - static_cast<double>(y(i, j))));
        worst_half = std::max(worst_half,
                              std::abs(std::exp(static_cast<double>(xh(i, j))) / total_half - static_cast<double>(yh(i, j))));
      }
    }
    CHECK(worst < 1e-6);
    CHECK(worst_half < 1e-3);
  }
  Dense<float> x({2, 0}), y({2, 0});
  ashlar_tensor a = x.tensor(), b = y.tensor();
  CHECK(softmax_rows(&a, &b) == ASHLAR_E_FACT);  // an empty row has no maximum
  CHECK(last_error() == "softmax_rows: N is 0, expected at least 1 (from x.shape[1])");
}

TEST_CASE("conv1d: derived extents, a scalar, Params that change the algorithm") {
  for (const auto& [b, n] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {3, 100}, {2, 517}}) {
    Dense<float> x({b, n + 4}, small_integers(9)), w({5}, small_integers(5)), y({b, n});
    Dense<float> x3({b, n + 2}, small_integers(9)), w3({3}, small_integers(5)), y3({b, n});
    ashlar_tensor tx = x.tensor(), tw = w.tensor(), ty = y.tensor(), tx3 = x3.tensor(), tw3 = w3.tensor(), ty3 = y3.tensor();
    REQUIRE_MESSAGE(conv1d(&tx, &tw, 0.5f, &ty) == ASHLAR_OK, last_error());
    REQUIRE_MESSAGE(conv1d_mean(&tx3, &tw3, 3.0f, &ty3) == ASHLAR_OK, last_error());
    for (std::int64_t i = 0; i < b; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0, sum3 = 0;
        for (std::int64_t t = 0; t < 5; ++t) sum += x(i, j + t) * w(t);
        for (std::int64_t t = 0; t < 3; ++t) sum3 += x3(i, j + t) * w3(t);
        CHECK(y(i, j) == sum * 0.5f);
        CHECK(y3(i, j) == sum3 * 3.0f / 3.0f);
      }
  }
}

TEST_CASE("argmax by a reducer of the user's own, the first of equals") {
  for (const auto& [m, n] : std::vector<std::array<std::int64_t, 2>>{{4, 100}, {3, 16}, {2, 1}, {1, 37}, {0, 5}}) {
    Dense<float> x({m, n}, small_integers(7)), value({m});
    Dense<std::int64_t> place({m});
    ashlar_tensor a = x.tensor(), v = value.tensor(), p = place.tensor();
    REQUIRE_MESSAGE(argmax(&a, &v, &p) == ASHLAR_OK, last_error());
    for (std::int64_t i = 0; i < m; ++i) {
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < n; ++k)
        if (x(i, k) > x(i, best)) best = k;
      CHECK(place(i) == best);
      CHECK(value(i) == x(i, best));
    }
  }
}

TEST_CASE("attention in one pass over keys and values, beside one in double") {
  const auto check = [](auto* f, std::int64_t depth, bool causal) {
    for (const auto& [m, n] : std::vector<std::array<std::int64_t, 2>>{{70, 70}, {1, 1}, {33, 16}, {5, 100}}) {
      Dense<_Float16> q({m, depth}, fractions()),
          k({n, depth}, [](std::size_t i) { return static_cast<float>(i * 40503u % 997) / 500.0f - 1.0f; }),
          v({n, depth}, [](std::size_t i) { return static_cast<float>(i * 69621u % 991) / 500.0f - 1.0f; }), o({m, depth});
      ashlar_tensor tq = q.tensor(), tk = k.tensor(), tv = v.tensor(), to = o.tensor();
      REQUIRE_MESSAGE(f(&tq, &tk, &tv, 0.5f, &to) == ASHLAR_OK, last_error());
      for (std::int64_t i = 0; i < m; ++i) {
        std::vector<double> weight(static_cast<std::size_t>(causal ? std::min(n, i + 1) : n));
        double top = -INFINITY, total = 0;
        for (std::size_t j = 0; j < weight.size(); ++j) {
          for (std::int64_t d = 0; d < depth; ++d)
            weight[j] += static_cast<double>(q(i, d)) * static_cast<double>(k(static_cast<std::int64_t>(j), d)) * 0.5;
          top = std::max(top, weight[j]);
        }
        for (double& w : weight) total += w = std::exp(w - top);
        for (std::int64_t c = 0; c < depth; ++c) {
          double sum = 0;
          for (std::size_t j = 0; j < weight.size(); ++j)
            sum += weight[j] * static_cast<double>(v(static_cast<std::int64_t>(j), c));
          CHECK(static_cast<double>(o(i, c)) == doctest::Approx(sum / total).epsilon(2e-3).scale(1));
        }
      }
    }
  };
  check(attention_causal, 40, true);
  check(attention_whole, 32, false);
}
