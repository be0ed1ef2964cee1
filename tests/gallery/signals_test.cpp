// Transforms and statistics of rows, beside their definitions in double.
#include <complex>

#include "fft2.h"
#include "fft64.h"
#include "layer_norm.h"
#include "tests/gallery/close.h"

namespace {
void transform(int (*f)(const ashlar_tensor*, const ashlar_tensor*, ashlar_tensor*, ashlar_tensor*), std::int64_t m,
               std::int64_t n) {
  CAPTURE(m);
  CAPTURE(n);
  Dense<float> re({m, n}, fractions(1)), im({m, n}, fractions(7)), out_re({m, n}), out_im({m, n});
  std::vector<double> expected_re, expected_im;
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t k = 0; k < n; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += std::complex<double>(re(row, j), im(row, j)) *
               std::polar(1.0, -2 * 3.14159265358979323846 * static_cast<double>(j * k % n) / static_cast<double>(n));
      expected_re.push_back(sum.real()), expected_im.push_back(sum.imag());
    }
  ashlar_tensor a = re.tensor(), b = im.tensor(), c = out_re.tensor(), d = out_im.tensor();
  REQUIRE_MESSAGE(f(&a, &b, &c, &d) == ASHLAR_OK, last_error());
  close(out_re.data, expected_re, 1e-5);
  close(out_im.data, expected_im, 1e-5);
}
}  // namespace

TEST_CASE("a Fourier transform by stages of butterflies") {
  for (std::int64_t m : {1, 3, 8}) transform(fft64, m, 64), transform(fft2, m, 2);
}

TEST_CASE("layer normalization, the statistics in one pass") {
  for (const auto& [m, n] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {4, 16}, {3, 100}, {2, 33}}) {
    CAPTURE(n);
    // far from zero, where a sum of squares would cancel
    Dense<float> x({m, n}, [](std::size_t i) { return 1000 + fractions()(i); }), scale({n}, fractions(3)),
        shift({n}, fractions(5)), out({m, n});
    std::vector<double> expected;
    for (std::int64_t i = 0; i < m; ++i) {
      double mean = 0, variance = 0;
      for (std::int64_t j = 0; j < n; ++j) mean += static_cast<double>(x(i, j)) / static_cast<double>(n);
      for (std::int64_t j = 0; j < n; ++j) variance += (x(i, j) - mean) * (x(i, j) - mean) / static_cast<double>(n);
      for (std::int64_t j = 0; j < n; ++j)
        expected.push_back((x(i, j) - mean) / std::sqrt(variance + 1e-5) * static_cast<double>(scale(j)) +
                           static_cast<double>(shift(j)));
    }
    ashlar_tensor a = x.tensor(), b = scale.tensor(), c = shift.tensor(), d = out.tensor();
    REQUIRE_MESSAGE(layer_norm(&a, &b, &c, 1e-5f, &d) == ASHLAR_OK, last_error());
    close(out.data, expected, 2e-3);
  }
}
