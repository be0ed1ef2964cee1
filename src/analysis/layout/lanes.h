// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Where the lanes of a warp read, for every base: as few patterns as the question allows.
#include <ashlar/analysis/memory_access.h>

namespace ashlar::analysis {

// The lanes' element addresses. Every base's addresses are those of one pattern, apart from a constant that is added, a
// multiple of `unit` elements, or, if `may_xor`, xored to all. `exact`: each pattern is reached by some base, too.
struct LanePatterns {
  std::vector<std::vector<std::int64_t>> patterns;
  bool exact = true;
  std::string why;  // where there are none
};
LanePatterns lane_patterns(const Addressing&, const WarpAccess&, std::int64_t unit, bool may_xor, const Facts&);

}  // namespace ashlar::analysis
