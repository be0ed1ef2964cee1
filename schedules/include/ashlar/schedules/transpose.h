// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// transpose: schedules a transposition, y[.., i, .., j] = x[.., j, .., i], where neighbors in x are far apart in y. For two
// dimensions:
//
//   for io, for jo                         parallel, one loop
//     for ib, for jb                       a few tiles: long parts of rows of x, whole cache lines of rows of y
//       x_cache: T rows of x               registers (stack, if a tile takes half of them), vectorized
//       y_cache: T rows of y               transposed by shuffles of registers (shuffles::transpose)
//       y: T rows                          vectorized
//
//   schedules::transpose(s, s[y], x, {.stream = true});
//
// T is the number of elements in a register, and at most half the number of registers. Tiles that reach past the end read zeros
// and do not store them, so every extent is correct. Refused: a stage that does not copy elements of the tensor or in which
// neighbors stay neighbors, and a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct TransposeOptions {
  int tile = 0;  // rows and columns of a tile in registers, a power of two; 0: as many as a register holds
  // Tiles of a block, along rows and columns of the result. 0: if a row of a tile fills a cache line, or with `stream`, 2 KiB
  // of each of T rows of x, which prefetchers can follow, and one line of y. Otherwise 1 KiB of rows of x and 8 lines of y; the
  // second-level cache holds both until their lines are complete.
  int tiles_i = 0, tiles_j = 0;
  bool parallel = true;
  bool stream = false;  // non-temporal stores, for results that exceed the caches
};

void transpose(Schedule& s, const Stage& stage, const StageRef& source, const TransposeOptions& o = {},
               Where where = Where::current());

}  // namespace ashlar::schedules
