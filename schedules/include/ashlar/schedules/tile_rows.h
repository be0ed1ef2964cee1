// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// tile_rows: schedules operators on rows for a target with tiles (docs/tiles.md), in one launch: reductions over the last
// dimensions, and elementwise stages that use them. List the stages in the order of computation; the last one is the
// result.
//
//   auto y = ops::softmax(x);
//   schedules::tile_rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]});
//
//   for row / 4                           block_x: the dimensions that count rows, as one loop
//     maximum, exp, sum, result           tiles of 4 x 1024: whole rows, each read once
//
// A row is whole, and masked past its end, if it is known to have at most `most` elements. Longer rows, and rows whose length
// is a Symbol without a bound, are computed in loops over pieces:
//
//   for row / 1                           block_x
//     maximum: for jo, piece              pieces of 2048 elements, combined in the tile
//     sum: for jo, piece                  with exp inlined
//     result: for jo, piece               with exp inlined
//
// To keep rows whole, promise their length: `Symbol N{"N", {.max = 4096}}`. Sums are regrouped, as `sum` allows. The schedule
// is correct for every extent.
//
// Refused: a target without tiles; an empty list; more dimensions of rows than the result has; a recurrence; a scatter; a sum
// that keeps its order (strict_sum; use tile_points, which adds its terms one by one).
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct TileRowsOptions {
  int dims = -1;     // the leading dimensions of the result that count rows; -1: those of the reductions
  int rows = 0;      // of a tile; 0: as many as make 4096 elements, but at most 64
  int most = 8192;   // elements of the longest row that is one tile
  int piece = 2048;  // elements of a piece of a longer row
};

void tile_rows(Schedule& s, const std::vector<Stage>& stages, const TileRowsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
