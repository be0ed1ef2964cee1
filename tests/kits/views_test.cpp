// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kit for C++: functions on views.
#include <doctest/doctest.h>

#include <span>
#include <vector>

#ifdef ASHLAR_TEST_EIGEN
#include <Eigen/Core>
#endif

#include "kits_matmul_i8.hpp"
#include "kits_row_norm.hpp"
#include "kits_swish.hpp"

namespace {

using ashlar::views::View;

struct Mdspan {  // as std::mdspan, which this compiler may not have: two dimensions, any strides
  float* elements;
  std::array<int, 2> extents, steps;
  static constexpr std::size_t rank() { return 2; }
  float* data_handle() const { return elements; }
  int extent(std::size_t d) const { return extents[d]; }
  int stride(std::size_t d) const { return steps[d]; }
};

float expected(const std::vector<float>& x, const std::vector<float>& w, std::size_t row) {
  float sum = 0;
  for (std::size_t j = 0; j < w.size(); ++j) sum += w[j] * x[row * w.size() + j] * x[row * w.size() + j];
  return sum;
}

}  // namespace

TEST_CASE("arrays, vectors, spans, mdspans and views are arguments") {
  const std::vector<float> x{1, 2, 3, 4, 5, 6}, w{1, 2, 3};
  std::vector<float> y(2);
  mine::kits_row_norm(View<const float, 2>(x.data(), {2, 3}), w, y);
  CHECK(y[0] == expected(x, w, 0));
  CHECK(y[1] == expected(x, w, 1));

  const float a[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const float b[3] = {1, 2, 3};
  float of_arrays[2] = {};
  mine::kits_row_norm(a, b, of_arrays);
  CHECK(of_arrays[1] == y[1]);

  std::vector<float> wide{1, 2, 3, 0, 4, 5, 6, 0};
  std::array<float, 2> of_mdspan{};
  mine::kits_row_norm(Mdspan{wide.data(), {2, 3}, {4, 1}}, std::span(w), of_mdspan);  // rows of 3, 4 apart
  CHECK(of_mdspan[0] == y[0]);
  CHECK(of_mdspan[1] == y[1]);

  const std::uint8_t p[2][2] = {{1, 255}, {2, 3}};
  const std::int8_t q[2][1] = {{-128}, {127}};
  std::int32_t c[2][1];
  mine::kits_matmul_i8(p, q, c);
  CHECK(c[0][0] == -128 + 255 * 127);
  CHECK(c[1][0] == -256 + 3 * 127);
}

TEST_CASE("a failure is an exception, or a result") {
  const std::vector<float> x(6), w(2);
  std::vector<float> y{7, 7};
  const View<const float, 2> rows(x.data(), {2, 3});
  const char* const text = "kits_row_norm: w.shape[0] is 2, expected 3 (N, from x.shape[1])";
  try {
    mine::kits_row_norm(rows, w, y);
    FAIL("nothing was thrown");
  } catch (const ashlar::views::Error& e) {
    CHECK(e.what() == std::string(text));
    CHECK(e.code() == ASHLAR_E_SHAPE);
    CHECK(e.record().argument == 1);
  }
  const ashlar::views::Result result = mine::kits_row_norm(std::nothrow, rows, w, y);
  CHECK(!result);
  CHECK(result.code() == ASHLAR_E_SHAPE);
  CHECK(result.text() == text);
  CHECK(y == std::vector<float>{7, 7});
  CHECK(mine::kits_row_norm(std::nothrow, rows, std::vector<float>(3), y));
  CHECK(mine::kits_row_norm(std::nothrow, rows, std::vector<float>(3), y).text().empty());
}

TEST_CASE("a context of the caller's is used") {
  struct Counted {
    static int run(void* user, int32_t count, int (*body)(void*, int32_t), void* closure) {
      ++*static_cast<int*>(user);
      int code = 0;
      for (int32_t slot = 0; slot < count; ++slot) code |= body(closure, slot);
      return code;
    }
  };
  int loops = 0;
  ashlar_context context{};
  context.size = sizeof context, context.user = &loops, context.parallelism = 2, context.parallel_for = Counted::run;
  std::vector<float> x(256 * 256, 1), y(256 * 256);
  mine::kits_swish(View<const float, 2>(x.data(), {256, 256}), 0, View<float, 2>(y.data(), {256, 256}), &context);
  CHECK(y[0] == 0.5f);
  CHECK(loops > 0);
}

#ifdef ASHLAR_TEST_EIGEN
TEST_CASE("Eigen's matrices, maps and vectors are arguments") {
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Rows x = Rows::Random(5, 7);
  const Eigen::VectorXf w = Eigen::VectorXf::Random(7);
  Eigen::VectorXf y(5);
  mine::kits_row_norm(x, w, y);
  const Eigen::VectorXf by_eigen = (x.array().square().matrix() * w).eval();
  CHECK((y - by_eigen).cwiseAbs().maxCoeff() < 1e-5f);
  std::vector<float> wide(5 * 9, 1);
  const Eigen::Map<const Rows, 0, Eigen::OuterStride<>> map(wide.data(), 5, 7, Eigen::OuterStride<>(9));
  mine::kits_row_norm(map, w, y);
  CHECK(y[4] == doctest::Approx(w.sum()));
  const Eigen::MatrixXf columns = Eigen::MatrixXf::Random(5, 7);  // whose last dimension is not contiguous
  CHECK(mine::kits_row_norm(std::nothrow, columns, w, y).text() ==
        "kits_row_norm: x.strides[1] is 5, expected 1 (the innermost)");
}
#endif
