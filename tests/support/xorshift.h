// Deterministic numbers for fuzz tests: the same on every machine.
#pragma once

#include <cstdint>

struct Xorshift {
  std::uint64_t state;  // not 0
  std::uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  std::int64_t in(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool coin(int of) { return next() % static_cast<std::uint64_t>(of) == 0; }
};
