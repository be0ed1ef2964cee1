// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the families for targets with tiles share: the extents of tiles, and loops over blocks.
#include <cstdint>
#include <optional>
#include <vector>

#include <ashlar/schedule/schedule.h>

#include <ashlar/ir/program.h>

namespace ashlar::schedules::detail {

void expect_tiles(const char* family, const Schedule& s, Where where);
// Points that are computed each by itself: no recurrence, no scatter.
void expect_points(const char* family, const ir::Stage& d, Where where);

std::int64_t power_of_two_from(std::int64_t n);  // the least one that is at least n

// The largest value that the extent of a loop can have; nothing where Symbols leave it open.
std::optional<std::int64_t> most_iterations(const Schedule& s, const Loop& loop, Where where);
// The extent of a tile along a loop: as many elements as there can be, rounded up to a power of two, at most `most`.
std::int64_t width_along(const Schedule& s, const Loop& loop, std::int64_t most, Where where);

// Binds loops, which stand outermost in this order: all of them but the last as one loop over block_x, the last one, where
// there is one behind rows, over block_y. A grid has 2^31 - 1 blocks along x and 65535 along y.
//
//   for b, h, io      block_x, one loop
//     for jo          block_y
//
// The loop inside of which a block's own stages are computed.
Loop over_blocks(const Stage& stage, const std::vector<Loop>& rows, const std::optional<Loop>& columns, Where where);

// A sum of products that an mma may compute (docs/tiles.md): which dimensions the factors have alone, which terms both.
struct TileProduct {
  ir::Id stage = 0;
  std::vector<std::size_t> rows, columns;  // dimensions of the stage, each of one factor alone; rows stand before columns
  std::vector<std::size_t> terms;          // numbers among the stage's reduction variables, those that both factors have
  Type factor, sum;                        // of one element
  bool gathers = false;                    // a factor is read at more than its own variables: windows, strides, tables
};
std::optional<TileProduct> tile_product(const ir::Stage& stage);

}  // namespace ashlar::schedules::detail
