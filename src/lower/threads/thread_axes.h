// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The axes along which the threads of a block stand, from the one whose neighbors have neighboring numbers: x, y, z, lane,
// warp.
#include <array>
#include <vector>

#include "lower/passes.h"

namespace ashlar::lowering {

struct ThreadAxes {
  struct Place {
    std::int64_t extent = 1, below = 1;  // threads along it; between neighbors
    Expr number;                         // of this thread along it, over `thread`; a constant 0 where the extent is 1
  };
  std::array<Place, 5> places;
  Expr thread;  // this thread's number in the block

  Place& at(ThreadAxis);
  const Place& at(ThreadAxis) const;
  // Numbers the places, whose extents are known, over the launch's thread; and says how many threads the launch has, and how
  // many of them are sure to be a warp.
  void name(ir::Launch&);
};

// For a store all[k] = part[k] (ir::Combination): every thread gets what the parts of all threads along the axes give together,
// by the tree of analysis/thread_tree.h. Buffers that it needs are added to the kernel.
std::vector<ir::KStmt> combine_parts(ir::Kernel&, const ir::Launch&, const ThreadAxes&, const ir::KStore& store, Where,
                                     const analysis::Facts&);

}  // namespace ashlar::lowering
