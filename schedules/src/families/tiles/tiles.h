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
std::optional<std::int64_t> most_iterations_of(const Schedule& s, const Loop& loop, Where where);
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

// Results of so few blocks that most of the chip would be idle, and of so many terms that several blocks share those of a
// result: each has a part of the terms, and a second launch combines the parts.
constexpr std::int64_t terms_of_tile_part = 512;   // at least
std::int64_t multiprocessors_of(const Target& t);  // of a portable target: 100
Expr few_blocks(const Schedule& s, const Expr& blocks, const Expr& terms);
// Terms of a part, a multiple of `unit`, if both are numbers; 0 where all terms are one part.
std::int64_t tile_part(const Schedule& s, const Expr& blocks, const Expr& terms, std::int64_t unit);

// A sum of products that an mma may compute (docs/tiles.md): which dimensions the factors have alone, which terms both.
struct TileProduct {
  ir::Id stage = 0;
  std::vector<std::size_t> rows, columns;  // dimensions of the stage, each of one factor alone; rows stand before columns
  std::vector<std::size_t> terms;          // numbers among the stage's reduction variables, those that both factors have
  Type factor, sum;                        // of one element
  bool gathers = false;                    // a factor is read at more than its own variables: windows, strides, tables
};
std::optional<TileProduct> tile_product(const ir::Stage& stage);
// When is a call of tile_matmul worth parts of k? Nothing where the product has no single sum that can be cut.
struct FewBlocks {
  Expr declared;  // in variables of the program, for known()
  Expr of_call;   // over the symbols of loops, for specialize
};
std::optional<FewBlocks> few_blocks_of_matmul(Schedule& s, const Stage& product, Where where);

}  // namespace ashlar::schedules::detail
