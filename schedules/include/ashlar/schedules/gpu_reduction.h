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
#include <ashlar/schedules/gpu_rows.h>
#include <ashlar/schedules/reduction.h>

namespace ashlar::schedules {

struct GpuReductionOptions {
  int threads = 256;
  std::int64_t part = 8192;  // terms of a block; of a column 1/16 of them for a thread
};

inline void gpu_reduction(Schedule& s, const Stage& stage, const GpuReductionOptions& o = {}, Where where = Where::current()) {
  const AtLine line(where);
  detail::expect_device("gpu_reduction", s, where);
  detail::expect_threads("gpu_reduction", "threads", s, o.threads, where);
  detail::expect_option("gpu_reduction", "part", o.part, 1, where);
  const ir::Stage& d = detail::definition(s, stage);
  if (!d.is_reduction() || d.scatters())
    refuse("gpu_reduction", "a stage that reduces", d.name + (d.scatters() ? ", a scatter" : ", which does not"), where);
  const bool columns = detail::reduces_columns(s, stage);
  const auto by = [&](const Stage& part) {
    if (columns)
      gpu_points(s, part, {.threads = o.threads}, where);
    else
      gpu_rows(s, {part}, {.threads = o.threads, .rows = 1}, where);
  };
  // Parts of the longest dimension: several iterations of it and all of the others.
  const std::vector<Loop> loops = detail::loops_over(s, stage, true, where);
  const auto most = [&](const Loop& l, std::int64_t unknown) {
    return std::max<std::int64_t>(1, detail::number_or(l.extent(where), unknown));
  };
  const auto longest = std::max_element(loops.begin(), loops.end(),
                                        [&](const Loop& a, const Loop& b) { return most(a, 1 << 20) < most(b, 1 << 20); });
  std::int64_t each = columns ? std::max<std::int64_t>(1, o.part / 16) : o.part;
  for (const Loop& l : loops)
    if (!(l == *longest)) each = std::max<std::int64_t>(1, each / most(l, 256));
  if (most(*longest, each + 1) > each)
    (void)s.attempt([&] {
      const Stage parts =
          stage.rfactor(stage.split(*longest, each, Tail::guard, where).outer, columns ? Place::first : Place::last, where);
      parts.compute_root(where);
      by(parts);
    });
  by(stage);
}

}  // namespace ashlar::schedules
