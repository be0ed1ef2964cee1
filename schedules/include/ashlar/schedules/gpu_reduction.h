// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One reduction of many terms on a device, of a large tensor to one result or a few, in two launches:
//
//   for part in (N + 8191) / 8192           block_x: with the results, where there are several
//     for ko, for ki in 256                 thread_x: the threads of a block reduce a part each, all of them get the whole
//   the parts, by the threads of one block for each result
//
//   schedules::gpu_reduction(s, s[total]);
//
// Where neighbours in memory belong to neighbouring results (sums of columns), a thread sums 512 terms of one of them, in their
// order, and then the parts of it.
//
// Terms over several dimensions are parted along the longest one. Of at most 8192 terms there is one launch. Sums are
// regrouped, by parts and the shape of a block; a reduction that forbids it (strict_sum) is one launch too, and done by one
// thread after the other. Right for every extent. Refused: a processor, a stage that is no reduction, a scatter, more threads
// than a block has.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuReductionOptions {
  int threads = 256;
  std::int64_t part = 8192;  // terms of a block; of a column 1/16 of them for a thread
};

void gpu_reduction(Schedule& s, const Stage& stage, const GpuReductionOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
