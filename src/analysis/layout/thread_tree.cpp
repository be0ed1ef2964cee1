// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/thread_tree.h>

#include <algorithm>

#include <ashlar/ir/operation.h>

namespace ashlar::analysis {

std::int64_t ThreadTree::shared_elements() const {
  std::int64_t n = 0;
  for (std::int64_t level : levels) n += level * rows;
  return n;
}

ThreadTree thread_tree(std::int64_t threads, int warp, std::int64_t below, std::int64_t extent, std::span<const Type> types) {
  constexpr std::int64_t most_of_one_thread = 16;
  ThreadTree t;
  t.below = below;
  t.extent = extent;
  t.rows = threads / extent;
  // lanes exchange 32-bit values, and a warp must be whole
  const bool exchanged = std::all_of(types.begin(), types.end(), [](Type x) { return x.bits == 32; });
  if (warp > 1 && threads % warp == 0 && exchanged && warp % below == 0) {
    const std::int64_t in_warp = warp / below;
    if (extent % in_warp == 0)
      t.lanes = in_warp;
    else if (in_warp % extent == 0)
      t.lanes = extent;
  }
  std::int64_t parts = extent / t.lanes;
  if (parts == 1) return t;
  t.levels.push_back(parts);
  while (parts > most_of_one_thread) {
    parts = (parts + most_of_one_thread - 1) / most_of_one_thread;
    t.levels.push_back(parts);
  }
  return t;
}

Expr identity_of(const ir::Reducer& r, std::size_t component, Type t) {
  return r.kind == ir::ReducerKind::custom ? r.identity.at(component) : ir::identity_of(r.kind, t);
}

}  // namespace ashlar::analysis
