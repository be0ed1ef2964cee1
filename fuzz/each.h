// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Every index of a shape, in row-major order.
#include <algorithm>
#include <cstdint>
#include <vector>

namespace fuzz {

template <class F>
void each(const std::vector<std::int64_t>& shape, F&& f) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n <= 0; })) return;
  std::vector<std::int64_t> at(shape.size(), 0);
  while (true) {
    f(at);
    std::size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace fuzz
