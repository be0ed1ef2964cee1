#pragma once
// How far two results are apart: the largest difference at 1000 places, relative to the largest value there. Infinite where a
// difference is not a number, or where all values are zero: such results say nothing.
#include <cmath>
#include <cstdint>
#include <limits>

#include <ashlar/interp/interpreter.h>

namespace gpu_bench {

inline double apart(const ashlar::interp::Array& a, const ashlar::interp::Array& b) {
  double most = 0, largest = 0;
  const std::int64_t columns = a.shape[1];
  for (std::int64_t n = 0; n < 1000; ++n) {
    const std::int64_t at = n * 7919 % a.elements();
    const double x = a.real({at / columns, at % columns}), y = b.real({at / columns, at % columns});
    if (!std::isfinite(x) || !std::isfinite(y)) return std::numeric_limits<double>::infinity();
    most = std::fmax(most, std::abs(x - y)), largest = std::fmax(largest, std::abs(x));
  }
  return largest > 0 ? most / largest : std::numeric_limits<double>::infinity();
}

}  // namespace gpu_bench
