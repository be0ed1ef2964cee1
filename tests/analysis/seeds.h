#pragma once
// What the random tests of the analysis share.
#include <cstdint>

#include "tests/support/xorshift.h"

using Random = Xorshift;

// How many seeds a test tries. The sanitizer keeps every distinct call stack, and a proof's search has many.
constexpr std::uint64_t seeds_of(std::uint64_t usual, [[maybe_unused]] std::uint64_t sanitized) {
#ifdef __SANITIZE_ADDRESS__
  return sanitized;
#else
  return usual;
#endif
}
