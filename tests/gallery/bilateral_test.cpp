// The bilateral grid on images of all sizes around its cells.
#include "bilateral_grid.h"
#include "bilateral_grid16.h"
#include "tests/gallery/bilateral.h"
#include "tests/gallery/close.h"

namespace {
template <class F>
void filter(F f, std::int64_t h, std::int64_t w, int cell, int step) {
  CAPTURE(h);
  CAPTURE(w);
  CAPTURE(cell);
  Dense<std::uint8_t> in({h, w}, [&](std::size_t i) {  // steps and noise, black and white among them
    const std::size_t x = i % static_cast<std::size_t>(w);
    return i % 11 == 0 ? (i % 2) * 255 : (x / 7 % 4) * 60 + i * 2654435761u / 65536 % 20;
  });
  Dense<float> out({h, w});
  ashlar_tensor a = in.tensor(), b = out.tensor();
  REQUIRE_MESSAGE(f(&a, &b) == ASHLAR_OK, last_error());
  const std::vector<double> expected = bilateral_by_loops(in.data, h, w, cell, step);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CAPTURE(k);
    CHECK(std::fabs(static_cast<double>(out.data[k]) - expected[k]) <= bilateral_bound * expected[k]);
  }
}
}  // namespace

TEST_CASE("the bilateral grid, cells of 8 pixels and 32 values") {
  for (const auto& [h, w] :
       std::vector<std::array<std::int64_t, 2>>{{1, 1}, {4, 4}, {5, 3}, {8, 9}, {16, 24}, {37, 50}, {70, 41}})
    filter(bilateral_grid, h, w, 8, 32);
}

TEST_CASE("the largest cells, full of white: 256 pixels of 255 fit") {
  filter(bilateral_grid16, 40, 52, 16, 8);
  const std::int64_t n = 48;
  Dense<std::uint8_t> in({n, n}, [](std::size_t) { return 255; });
  Dense<float> out({n, n});
  ashlar_tensor a = in.tensor(), b = out.tensor();
  REQUIRE_MESSAGE(bilateral_grid16(&a, &b) == ASHLAR_OK, last_error());
  for (float v : out.data) CHECK(std::fabs(static_cast<double>(v) - 255) <= bilateral_bound * 255);
}
