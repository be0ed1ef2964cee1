// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The reference interpreter of the tile form (ir/tile.h): block by block, element by element, with every access checked.
//
//   interp::TileCall call{{&x, &y}, {ir::int_value(i32, 1000)}, {4, 1, 1}};
//   interp::run(kernel, call);          // y holds what the blocks stored
//
// A run that returns has kept the promises of the kernel: facts of parameters hold, tiles lie in the grids of their views,
// offsets under a true mask lie in their tensors, and no element is written twice, by the same block or by two. Anything else
// is a RunError. A run finds every violation, because the stores of a block do not depend on other blocks.
//
// Where the tile form leaves a result open, the interpreter picks one: reductions combine in ascending order, an mma is a chain
// of fma along k, and elements that a load may leave unspecified are NaN or the lowest integer, so that uses of them show.
#include <array>
#include <cstdint>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/tile.h>

namespace ashlar::interp {

struct TileCall {
  std::vector<Array*> tensors;        // in the kernel's order, with the extents and strides that it states
  std::vector<ir::Value> parameters;  // in the kernel's order
  std::array<std::int64_t, 3> grid;   // in blocks
};
void run(const ir::tile::Kernel&, const TileCall&);

}  // namespace ashlar::interp
