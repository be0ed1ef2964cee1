// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Storage of temporaries in a scheduled run: a box of elements, each poisoned until written, each remembering which logical
// point it holds. A ring that is too short is found when a reader asks for a point whose slot another point has taken.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ashlar/ir/numeric.h>

#include "interp/concurrent.h"

namespace ashlar::interp {

struct IndexBox {
  std::vector<std::int64_t> begin, extent;
  bool contains(std::span<const std::int64_t> at) const {
    for (std::size_t d = 0; d < begin.size(); ++d)
      if (at[d] < begin[d] || at[d] >= begin[d] + extent[d]) return false;
    return true;
  }
  std::int64_t flat(std::span<const std::int64_t> at) const {
    std::int64_t f = 0;
    for (std::size_t d = 0; d < begin.size(); ++d) f = f * extent[d] + (at[d] - begin[d]);
    return f;
  }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (std::int64_t e : extent) n *= e < 0 ? 0 : e;
    return n;
  }
  std::string text() const {
    std::string s;
    for (std::size_t d = 0; d < begin.size(); ++d)
      s += (d ? " x [" : "[") + std::to_string(begin[d]) + ", " + std::to_string(begin[d] + extent[d]) + ")";
    return s.empty() ? "a single element" : s;
  }
};

inline std::uint64_t tag_of(std::span<const std::int64_t> point) {
  std::uint64_t h = 0x9E3779B97F4A7C15u;
  for (std::int64_t x : point) h = (h ^ static_cast<std::uint64_t>(x)) * 0xD6E8FEB86659FD93u, h ^= h >> 29;
  return h | 1;
}

struct Storage {
  IndexBox logical, physical;
  std::vector<ir::Value> elements;  // type code handle: poison
  std::vector<std::uint64_t> tags;  // which logical point an element holds
  Concurrency::Elements touched;    // where conflicts are looked for
  std::int64_t bytes = 0;
};

}  // namespace ashlar::interp
