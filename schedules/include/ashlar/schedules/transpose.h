// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elements that change places: y[.., i, .., j] = x[.., j, .., i], where neighbours of x lie apart in y. Of a 2-dimensional y:
//
//   for io, for jo                         parallel, one loop
//     for ib, for jb                       a few tiles: long parts of rows of x, whole lines of the cache of rows of y
//       x_cache: T rows of x               registers (stack where a tile is half of them), in vectors
//       y_cache: T rows of y               transposed by shuffles of registers (shuffles::transpose)
//       y: T rows                          in vectors
//
//   schedules::transpose(s, s[y], x, {.stream = true});
//
// T is what a register holds of the type, at most half as many as there are registers. Tiles past the end are read as 0 and not
// stored, so every extent is right. Refused: a stage that does not copy elements of the tensor, or reads neighbours of it as
// neighbours; a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct TransposeOptions {
  int tile = 0;  // rows and columns of a tile in registers, a power of two; 0: as many as a register holds
  // Tiles of a block along rows and columns of the result; 0: where a row of a tile is a line of the cache, or goes past it,
  // lines of y from 2 KiB of T rows of x, as many as prefetching follows; else 1 KiB of rows of x by 8 lines of y, both of
  // which the second-level cache holds until their lines are whole.
  int tiles_i = 0, tiles_j = 0;
  bool parallel = true;
  bool stream = false;  // past the caches: results larger than they are
};

void transpose(Schedule& s, const Stage& stage, const StageRef& source, const TransposeOptions& o = {},
               Where where = Where::current());

}  // namespace ashlar::schedules
