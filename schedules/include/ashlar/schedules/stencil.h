// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Windows over neighbours: filters of pictures, depthwise convolutions. Neighbours in memory are in lanes; results whose
// windows overlap are computed several at a time, so that they share what they read. Of a picture (the last two dimensions):
//
//   for all other dimensions, and strips     parallel, one loop
//     for part of a row                      where `columns` says so
//       for rows of the strip, `together`
//         stages of `sliding`, `at_row`      what these rows need
//         for vectors                        n lanes
//           stages of `in_registers`         `together` rows and a window's more, unrolled
//           for `together` rows              unrolled
//             for lanes                      vectorized
//
// With `channels_last` rows, pixels and channels are the last three dimensions, and `together` counts pixels:
//
//   for all other dimensions, rows, parts    parallel, one loop; parts of 4096 elements or a few more, of longer rows
//     for pixels, `together`
//       for vectors of channels
//         for window, `together` pixels      unrolled; the sums stay in registers
//           for lanes                        vectorized
//
//   schedules::stencil(s, s[y.sum], {.channels_last = true});                       // depthwise 3 x 3
//   schedules::stencil(s, s[y], {.strip = 64, .sliding = {{s[across], 4}}});        // separable: a ring of rows of `across`
//   schedules::stencil(s, s[y], {.together = 8, .in_registers = {{s[across], 3}}}); // separable: ten rows of `across` for
//   eight
//
// A sliding stage is computed row by row before the rows that read it, each row once in a strip, into a ring of so many rows. A
// stage in registers is computed for the rows that are computed together, so that a result does not wait for memory, and rows
// at both ends are computed twice. What is inlined is computed again by each reader: results are stored between, and what is
// read before a store is not known to be the same behind it. Vectors whose windows lie wholly inside run without masks. Right
// for every extent. Refused: a scatter or recurrence, a stage of fewer dimensions, sliding stages below several rows together,
// a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct Sliding {
  Stage stage;
  int rows = 0;  // of its ring, a power of two that holds a window; 0: all rows of a strip are stored
};
struct InRegisters {
  Stage stage;
  int window = 3;  // rows (of channels, pixels) of it that one result reads
};
struct StencilOptions {
  int lanes = 0;               // 0: what a register holds of the widest type of each stage
  int together = 0;            // 0: one row of a picture; of channels as many pixels as a quarter of the registers
  bool channels_last = false;  // lanes are channels
  int strip = 0;    // rows of a strip; 0: 32 with sliding stages, 16 without; all rows where other loops are parallel
  int columns = 0;  // elements of a row before the next row; 0: all
  std::vector<Sliding> sliding = {};           // readers before what they read
  std::vector<Stage> at_row = {};              // computed for each row, or the rows together; readers before what they read
  std::vector<InRegisters> in_registers = {};  // computed for the vectors of one iteration; readers before what they read
  std::vector<Stage> inlined = {};             // computed again wherever they are read
  std::vector<Tensor> prefetched = {};         // asked for `ahead` vectors before they are read
  int ahead = 8;
  bool parallel = true;
  bool stream = false;  // past the caches: results larger than they are
};

void stencil(Schedule& s, const Stage& stage, const StencilOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
