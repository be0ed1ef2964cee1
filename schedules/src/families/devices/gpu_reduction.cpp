// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu_reduction.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/gpu_rows.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/reduction.h>

#include "schedules/src/families/devices/gpu.h"
#include "schedules/src/families/reduction.h"

namespace ashlar::schedules {

void gpu_reduction(Schedule& s, const Stage& stage, const GpuReductionOptions& o, Where where) {
  const AtLine line(where);
  detail::expect_device("gpu_reduction", s, where);
  const int threads = detail::threads_or(o.threads, 256, s);
  detail::expect_threads("gpu_reduction", "threads", s, threads, where);
  detail::expect_option("gpu_reduction", "part", o.part, 1, where);
  const ir::Stage& d = detail::definition(s, stage);
  if (!d.is_reduction() || d.scatters())
    refuse("gpu_reduction", "a stage that reduces", d.name + (d.scatters() ? ", a scatter" : ", which does not"), where);
  const bool columns = detail::reduces_columns(s, stage);
  const auto by = [&](const Stage& part) {
    if (columns)
      gpu_points(s, part, {.threads = threads}, where);
    else
      gpu_rows(s, {part}, {.threads = threads, .rows = 1}, where);
  };
  // A part has several iterations of the longest dimension and all of the others.
  const std::vector<Loop> loops = stage.reduction_loops(where);
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
