// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// stencil: schedules windows over neighbours, such as image filters and depthwise convolutions. Neighbours in memory run in
// lanes. Results whose windows overlap are computed several at a time, so that they share what they read. Of an image, the last
// two dimensions:
//
//   for all other dimensions, and strips     parallel, one loop
//     for part of a row                      with `columns`
//       for rows of the strip, `together`
//         stages of `sliding`, `at_row`      what these rows need
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
// A sliding stage is computed row by row before the rows that read it, into a ring; each row is computed once in a strip. A
// stage in registers is computed for the rows that are computed together, so that results need not wait for memory; rows at
// both ends are computed twice. An inlined stage is computed again by each reader, because a value that was read before a store
// is not known to be the same after it. Vectors whose windows lie inside of the image have no masks. Correct for every extent.
// Refused: a scatter, a recurrence, a stage of too few dimensions, sliding stages together with several rows at a time, a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct Sliding {
  Stage stage;
  int rows = 0;  // rows of the ring, a power of two that holds a window; 0: all rows of a strip are stored
};
struct InRegisters {
  Stage stage;
  int window = 3;  // rows (with `channels_last`, pixels) of it that one result reads
};
struct StencilOptions {
  int lanes = 0;               // 0: as many as a register holds of the widest type of each stage
  int together = 0;            // 0: one row of an image; with `channels_last`, as many pixels as a quarter of the registers
  bool channels_last = false;  // lanes run over channels
  int strip = 0;               // rows; 0: 32 with sliding stages, 16 without; all rows where other loops are parallel
  int columns = 0;             // elements of a row that are computed before the next row; 0: all
  std::vector<Sliding> sliding = {};           // readers before the stages that they read
  std::vector<Stage> at_row = {};              // computed for each row, or for the rows together; readers first
  std::vector<InRegisters> in_registers = {};  // computed for the vectors of one iteration; readers first
  std::vector<Stage> inlined = {};             // computed in each read
  std::vector<Tensor> prefetched = {};         // prefetched `ahead` vectors before they are read
  int ahead = 8;
  bool parallel = true;
  bool stream = false;  // stores past the caches, for results that exceed them
};

void stencil(Schedule& s, const Stage& stage, const StencilOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
