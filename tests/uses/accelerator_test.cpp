// The accelerator's product, by calls of a driver in C, beside plain loops.
#include <doctest/doctest.h>

#include <array>

#include "npu.h"
#include "npu_matmul.h"
#include "tests/uses/tensors.h"

TEST_CASE("the accelerator's product, with the calls that the schedule says") {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{32, 48, 64}, {16, 16, 16}, {16, 32, 0}}) {
    Dense<std::int8_t> A({m, k}, [](std::size_t i) { return static_cast<int>(i * 7919 % 251) - 125; });
    Dense<std::int8_t> B({k, n}, [](std::size_t i) { return static_cast<int>(i * 104729 % 253) - 126; });
    Dense<std::int32_t> C({m, n}, [](std::size_t) { return -1; });
    ashlar_tensor a = A.tensor(), b = B.tensor(), c = C.tensor();
    npu_count = {};
    REQUIRE(npu_matmul(&a, &b, -7, &c) == 0);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        std::int32_t sum = 0;
        for (std::int64_t x = 0; x < k; ++x) sum += (A(i, x) + 7) * B(x, j);
        CHECK(C(i, j) == sum);
      }
    const std::int64_t steps = m / 16 * (n / 16) * (k / 16);
    CHECK(npu_count.products == steps);
    CHECK(npu_count.copies == 2 * steps);
    CHECK(npu_count.waits == 2 * steps);
  }
}
