// Where an operator that pads an image finds the element that stands for one outside of it.
#pragma once
#include "tests/ops/check.h"

namespace ops_test {

inline std::int64_t outside(std::int64_t i, std::int64_t n, ops::PadMode mode) {
  if (mode == ops::PadMode::edge) return i < 0 ? 0 : i >= n ? n - 1 : i;
  if (mode == ops::PadMode::wrap) return (i % n + n) % n;
  while (i < 0 || i >= n) {
    if (mode == ops::PadMode::symmetric) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    if (mode == ops::PadMode::reflect) i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
  }
  return i;
}

}  // namespace ops_test
