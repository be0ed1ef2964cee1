// What `./dev gpu` takes two results for: the same, or not; and results that are not numbers are never the same.
#include <limits>

#include <doctest/doctest.h>

#include "bench/gpu/apart.h"

using namespace ashlar;

TEST_CASE("results that are no numbers differ from everything") {
  const auto filled = [](double v) {
    return interp::Array::make(f32, {40, 50}, [&](std::span<const std::int64_t>) { return v; });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(gpu_bench::apart(filled(2), filled(2)) == 0);
  CHECK(gpu_bench::apart(filled(2), filled(3)) == 0.5);
  CHECK(gpu_bench::apart(filled(nan), filled(nan)) == infinity);
  CHECK(gpu_bench::apart(filled(2), filled(nan)) == infinity);
  CHECK(gpu_bench::apart(filled(nan), filled(2)) == infinity);
  CHECK(gpu_bench::apart(filled(infinity), filled(infinity)) == infinity);
  CHECK(gpu_bench::apart(filled(0), filled(0)) == infinity);  // nothing was computed
}
