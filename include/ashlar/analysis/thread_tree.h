// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The tree in which the threads of a block combine one value each, so that all threads get the result.
//
//   threads 0..n-1 along an axis, each with a part      in a warp: butterflies over the lanes, xor 1, 2, 4, ...
//                                                       across warps: the parts go to shared memory, one thread in each run of
//                                                       threads combines up to 16 of them, until every thread can combine
//                                                       the few that are left
//
// The grouping depends only on the shape of the block, never on timing, so results are the same in every run. In a butterfly
// both lanes of a pair combine the same two values, so all lanes hold the same bits if the operator commutes.
#include <cstdint>
#include <span>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

struct ThreadTree {
  std::int64_t below = 1;            // threads between neighbors along the axis
  std::int64_t extent = 1;           // threads along it
  std::int64_t lanes = 1;            // how many neighbors are combined by butterflies
  std::vector<std::int64_t> levels;  // in shared memory: parts along the axis at each level; all threads read the last level
  std::int64_t rows = 1;             // rows of such parts: one for each thread along the other axes

  std::int64_t shared_elements() const;
};

// `warp`: the number of lanes that can exchange values; 1 if schedules must not rely on it. The block has `threads` threads.
// The combined values have these types.
ThreadTree thread_tree(std::int64_t threads, int warp, std::int64_t below, std::int64_t extent, std::span<const Type>);

// A component of the x with combine(x, y) = y.
Expr identity_of(const ir::Reducer&, std::size_t component, Type);

}  // namespace ashlar::analysis
