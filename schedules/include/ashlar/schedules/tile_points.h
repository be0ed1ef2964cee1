// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// tile_points: schedules a stage for a target with tiles, each block a rectangle of its points. It takes every stage but
// recurrences and scatters: elementwise ones, broadcasts, transpositions, gathers, windows, and reductions, whose terms are
// added one after the other, in the order of their definition, so that results keep their bits.
//
//   schedules::tile_points(s, s[y]);
//
//   for n, i / 16                      block_x: all dimensions but the last, as one loop
//     for j / 64                       block_y
//       for terms of a reduction       serial: the sums of the tile are carried
//         for ii in 16, ji in 64       dimensions of tiles
//
// A stage that reads along another dimension than its last one (a transposition) has its rows along that one. Where extents are
// numbers, tiles are no larger: rows of 3 elements make tiles of 256 x 4. Correct for every extent. Refused: another target, a
// recurrence, a scatter, tiles whose extents are no powers of two.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct TilePointsOptions {
  int rows = 0, columns = 0;  // the extents of a tile; 0: by the dimensions of the stage
  int elements = 1024;        // of a tile, where these are 0
  int rows_along =
      -1;  // the dimension of the tile's rows; -1: the one that neighbours in memory are read along, or the last but one
};

void tile_points(Schedule& s, const Stage& stage, const TilePointsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
