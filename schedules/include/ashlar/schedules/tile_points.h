// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// tile_points: schedules a stage for a target with tiles (docs/tiles.md): each block computes a rectangle of its points. It
// takes every stage except recurrences and scatters: elementwise stages, broadcasts, transpositions, gathers, windows and
// reductions. The terms of a reduction are added one after another in the order of the definition, so results keep their bits.
//
//   schedules::tile_points(s, s[y]);
//
//   for n, i / 16                      block_x: all dimensions but the last, as one loop
//     for j / 64                       block_y
//       for terms of a reduction       serial; carries the tile of sums
//         for ii in 16, ji in 64       dimensions of tiles
//
// If a stage reads contiguous memory along a dimension other than its last one (a transposition), the rows of its tiles are
// along that dimension. Tiles do not exceed constant extents: rows of 3 elements make tiles of 256 x 4. The schedule is correct
// for every extent.
//
// Refused: a target without tiles; a recurrence; a scatter; options whose extents of tiles are not powers of two.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct TilePointsOptions {
  int rows = 0, columns = 0;  // the extents of a tile; 0: chosen by the dimensions of the stage
  int elements = 1024;        // of a tile, if these are 0
  int rows_along =
      -1;  // the dimension of the tile's rows; -1: the one along which contiguous memory is read, or the last but one
};

void tile_points(Schedule& s, const Stage& stage, const TilePointsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
