// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The order in which the iterations of a parallel loop are run.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <ashlar/interp/interpreter.h>

namespace ashlar::interp {

class IterationOrder {
 public:
  explicit IterationOrder(const Options& o) : order_(o.parallel_order), state_(o.seed * 2 + 1) {}
  std::vector<std::int64_t> of(std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> xs;
    for (std::int64_t x = begin; x < end; ++x) xs.push_back(x);
    if (order_ == Options::Order::reverse) std::reverse(xs.begin(), xs.end());
    if (order_ == Options::Order::shuffled)
      for (std::size_t k = xs.size(); k > 1; --k) std::swap(xs[k - 1], xs[next() % k]);
    return xs;
  }

 private:
  std::size_t next() {  // splitmix64
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<std::size_t>(z ^ (z >> 31));
  }
  Options::Order order_;
  std::uint64_t state_;
};

}  // namespace ashlar::interp
