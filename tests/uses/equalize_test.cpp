// Histogram equalization beside plain loops: a scatter in private parts, a scan and a look-up.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "equalize.h"
#include "tests/uses/tensors.h"

TEST_CASE("histogram equalization") {
  for (const auto& [h, w] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {40, 33}, {7, 100}, {200, 64}}) {
    CAPTURE(h);
    CAPTURE(w);
    Dense<std::uint8_t> in({h, w}, [](std::size_t i) { return i * 2654435761u / 65536 % 97 + 30; }), out({h, w});
    std::array<std::uint32_t, 256> below{};
    for (std::uint8_t v : in.data) ++below[v];
    for (std::size_t level = 1; level < 256; ++level) below[level] += below[level - 1];
    std::vector<std::uint8_t> expected;
    for (std::uint8_t v : in.data)
      expected.push_back(static_cast<std::uint8_t>(
          std::min(255.0f, std::nearbyint(static_cast<float>(below[v]) * 255 / static_cast<float>(h * w)))));
    ashlar_tensor a = in.tensor(), b = out.tensor();
    REQUIRE(equalize(&a, &b) == ASHLAR_OK);
    CHECK(out.data == expected);
  }
}
