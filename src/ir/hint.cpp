// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/hint.h>

namespace ashlar::ir {

namespace {

// Clusters of blocks, and the unit that copies tiles, came with sm_90.
bool is_before_clusters(std::string_view chip) { return chip.size() == 5 && chip[3] == '8'; }

bool is_power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

}  // namespace

std::string_view hint_name(HintKind k) {
  static constexpr std::string_view names[] = {"occupancy", "cluster", "worker_warps", "latency", "tma"};
  return names[static_cast<int>(k)];
}

std::string hint_expected(const Hint& h) {
  const std::int64_t n = h.value;
  switch (h.kind) {
    case HintKind::occupancy:
      return n >= 1 && n <= 32 ? "" : "1 to 32 blocks as occupancy";
    case HintKind::cluster:
      if (!is_power_of_two(n) || n > 16) return "a power of two from 1 to 16 as cluster";
      return n > 1 && is_before_clusters(h.chip) ? "a chip with clusters of blocks (sm_90 and later)" : "";
    case HintKind::worker_warps:
      return n == 4 || n == 8 ? "" : "4 or 8 worker warps";
    case HintKind::latency:
      return n >= 1 && n <= 10 ? "" : "a latency from 1 to 10";
    case HintKind::tma:
      if (n != 0 && n != 1) return "0 or 1 as tma";
      return is_before_clusters(h.chip) ? "a chip with a unit that copies tiles (sm_90 and later)" : "";
  }
  return "";
}

std::string text(const Hint& h) {
  return std::string(hint_name(h.kind)) + " " + std::to_string(h.value) + (h.chip.empty() ? "" : " for " + h.chip);
}

}  // namespace ashlar::ir
