// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// stencil: schedules windows over neighbors, such as image filters and depthwise convolutions. Neighbors in memory run in
// lanes. Results whose windows overlap are computed several at a time, so that they share loads. For an image in the last two
// dimensions:
//
//   for all other dimensions, and strips     parallel, one loop
//     for part of a row                      with `columns`
//       for rows of the strip, `together`
//         stages of `sliding`, `at_row`      as much as these rows need
//         for vectors                        n lanes
//           stages of `in_registers`         `together` rows and the rest of a window, unrolled
//           for `together` rows              unrolled
//             for lanes                      vectorized
//
// With `channels_last`, the last three dimensions are rows, pixels and channels, and `together` counts pixels:
//
//   for all other dimensions, rows, parts    parallel, one loop; long rows are divided into parts of about 4096 elements
//     for pixels, `together`
//       for vectors of channels
//         for window, `together` pixels      unrolled; the sums stay in registers
//           for lanes                        vectorized
//
//   schedules::stencil(s, s[y.sum], {.channels_last = true});                       // depthwise 3 x 3
//   schedules::stencil(s, s[y], {.strip = 64, .sliding = {{s[across], 4}}});        // separable: a ring of rows of `across`
//   schedules::stencil(s, s[y], {.together = 8, .in_registers = {{s[across], 3}}}); // separable: ten rows for eight results
//
// A sliding stage is computed row by row into a ring, just before the rows that read it; a strip computes each row once. A
// stage in registers is computed for the rows of one iteration, so results need not wait for memory; rows at both ends are
// computed twice. Each reader of an inlined stage computes it again, because a value read before a store may differ after it.
// Vectors whose windows lie inside the image need no masks. Correct for every extent. Refused: a scatter, a recurrence, a stage
// with too few dimensions, sliding stages with several rows at a time, a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct Sliding {
  Stage stage;
  int rows = 0;  // rows of the ring, a power of two no smaller than a window; 0: store all rows of a strip
};
struct InRegisters {
  Stage stage;
  int window = 3;  // rows of it that one result reads; pixels with `channels_last`
};
struct StencilOptions {
  int lanes = 0;                      // 0: as many as a register holds of the widest type of each stage
  int together = 0;                   // 0: one row; with `channels_last`, a quarter as many pixels as there are registers
  bool channels_last = false;         // lanes run over channels
  int strip = 0;                      // rows; 0: 32 with sliding stages, 16 without; all rows where other loops are parallel
  int columns = 0;                    // elements of a row to compute before the next row; 0: all
  std::vector<Sliding> sliding = {};  // readers before the stages that they read
  std::vector<Stage> at_row = {};     // computed for each row, or for the rows of an iteration; readers first
  std::vector<InRegisters> in_registers = {};  // computed for the vectors of one iteration; readers first
  std::vector<Stage> inlined = {};             // computed again at each read
  std::vector<Tensor> prefetched = {};         // prefetched `ahead` vectors before they are read
  int ahead = 8;
  bool parallel = true;
  bool stream = false;  // non-temporal stores, for results that exceed the caches
};

void stencil(Schedule& s, const Stage& stage, const StencilOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
