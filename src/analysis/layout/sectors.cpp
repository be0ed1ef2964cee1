// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Coalescing: the 32-byte sectors that the lanes touch.
#include <algorithm>
#include <set>

#include "analysis/layout/lanes.h"
#include "analysis/simplify/linear.h"

namespace ashlar::analysis {

Sectors sectors(const Addressing& a, const WarpAccess& w, std::int64_t base_align, const Facts& facts) {
  constexpr std::int64_t sector = 32;
  Sectors r;
  if (base_align < 1 || (sector % base_align != 0 && base_align % sector != 0)) {
    r.why = "an alignment that is a power of two, found " + std::to_string(base_align);
    return r;
  }
  if (sector % a.element_bytes != 0) {
    r.why = "elements whose size divides 32 bytes, found " + std::to_string(a.element_bytes);
    return r;
  }
  // An xor keeps to sectors only where the buffer starts at one.
  const LanePatterns p = lane_patterns(a, w, sector / a.element_bytes, base_align % sector == 0, facts);
  if (p.patterns.empty()) {
    r.why = p.why;
    return r;
  }
  for (const auto& pattern : p.patterns) {
    std::set<std::int64_t> bytes;
    for (const std::int64_t first : pattern)
      for (std::int64_t b = 0; b < w.elements * a.element_bytes; ++b) bytes.insert(first * a.element_bytes + b);
    const int minimum = static_cast<int>((static_cast<std::int64_t>(bytes.size()) + sector - 1) / sector);
    for (std::int64_t start = 0; start < sector; start += std::min(base_align, sector)) {
      std::set<std::int64_t> touched;
      for (const std::int64_t b : bytes) touched.insert(floor_div(b + start, sector));
      if (static_cast<int>(touched.size()) > r.sectors) {
        r.sectors = static_cast<int>(touched.size());
        r.minimum = minimum;
      }
    }
  }
  r.answer = p.exact ? Answer::proved : Answer::unknown;
  if (!p.exact) r.why = "at most: which alignments the base reaches is not known";
  return r;
}

}  // namespace ashlar::analysis
