// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bank conflicts: the most different words of one bank within one phase of the access.
#include <algorithm>
#include <array>
#include <set>

#include "analysis/layout/lanes.h"

namespace ashlar::analysis {

namespace {

constexpr std::int64_t banks = 32, word_bytes = 4;

// The degree of each phase, added up; `degree` is the worst.
int served(const std::vector<std::int64_t>& lanes, std::int64_t bytes, std::int64_t element_bytes, int* degree) {
  const std::size_t phase = lanes.size() / static_cast<std::size_t>(std::max<std::int64_t>(1, bytes / word_bytes));
  int total = 0;
  *degree = 0;
  for (std::size_t begin = 0; begin < lanes.size(); begin += phase) {
    std::array<std::set<std::int64_t>, banks> words;
    for (std::size_t l = begin; l < std::min(lanes.size(), begin + phase); ++l) {
      const std::int64_t first = lanes[l] * element_bytes, last = first + bytes - 1;
      for (std::int64_t w = first / word_bytes; w <= last / word_bytes; ++w)
        words[static_cast<std::size_t>(w % banks)].insert(w);
    }
    int worst = 0;
    for (const auto& w : words) worst = std::max(worst, static_cast<int>(w.size()));
    total += worst;
    *degree = std::max(*degree, worst);
  }
  return total;
}

}  // namespace

BankConflicts bank_conflicts(const Addressing& a, const WarpAccess& w, const Facts& facts) {
  BankConflicts r;
  const std::int64_t bytes = a.element_bytes * w.elements;
  if (bytes > 16 || (bytes & (bytes - 1)) != 0) {
    r.why = "an access of 1, 2, 4, 8 or 16 bytes a lane, found " + std::to_string(bytes);
    return r;
  }
  // Addresses may move by whole words, and by whole accesses, without a change.
  const LanePatterns p =
      lane_patterns(a, w, std::max<std::int64_t>(1, std::max(bytes, word_bytes) / a.element_bytes), true, facts);
  if (p.patterns.empty()) {
    r.why = p.why;
    return r;
  }
  for (const auto& pattern : p.patterns) {
    std::vector<std::int64_t> lanes = pattern;  // moved to where no address is negative
    const std::int64_t row = banks * word_bytes;
    const std::int64_t least = *std::min_element(lanes.begin(), lanes.end());
    if (least < 0)
      for (std::int64_t& v : lanes) v += (-least + row) / row * row;
    int degree = 0;
    const int wavefronts = served(lanes, bytes, a.element_bytes, &degree);
    if (wavefronts > r.wavefronts) {
      r.wavefronts = wavefronts;
      r.worst = pattern;
    }
    r.degree = std::max(r.degree, degree);
  }
  r.answer = p.exact ? Answer::proved : Answer::unknown;
  if (!p.exact) r.why = "at most: which alignments the base reaches is not known";
  return r;
}

}  // namespace ashlar::analysis
