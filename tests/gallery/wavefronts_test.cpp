// Sweeps in which a point reads what the sweep has just stored, beside plain loops: bit for bit the same.
#include "gauss_seidel.h"
#include "gauss_seidel3.h"
#include "tests/gallery/close.h"

namespace {
void sweep(std::vector<float>& u, std::int64_t m, std::int64_t n) {
  const auto at = [&](std::int64_t i, std::int64_t j) -> float& { return u[static_cast<std::size_t>(i * n + j)]; };
  for (std::int64_t i = 1; i < m - 1; ++i)
    for (std::int64_t j = 1; j < n - 1; ++j) at(i, j) = (at(i - 1, j) + at(i, j - 1) + at(i + 1, j) + at(i, j + 1)) * 0.25f;
}
}  // namespace

TEST_CASE("Gauss-Seidel sweeps in wavefronts") {
  for (const auto& [m, n] : std::vector<std::array<std::int64_t, 2>>{
           {0, 3}, {1, 1}, {2, 5}, {3, 3}, {5, 1}, {8, 128}, {9, 129}, {33, 20}, {40, 300}, {100, 37}}) {
    CAPTURE(m);
    CAPTURE(n);
    Dense<float> grid({m, n}, fractions()), out({m, n});
    std::vector<float> expected = grid.data;
    ashlar_tensor a = grid.tensor(), b = out.tensor();
    sweep(expected, m, n);
    REQUIRE_MESSAGE(gauss_seidel(&a, &b) == ASHLAR_OK, last_error());
    CHECK(out.data == expected);
    sweep(expected, m, n), sweep(expected, m, n);
    REQUIRE_MESSAGE(gauss_seidel3(&a, &b) == ASHLAR_OK, last_error());
    CHECK(out.data == expected);
  }
}
