// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu_scatter.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/gpu_rows.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu.h"

namespace ashlar::schedules {

namespace {

// The number of elements of the result, whose extents must be constant.
std::int64_t elements_of(const Schedule& s, const Stage& stage, Where where) {
  std::int64_t n = 1;
  for (const Loop& l : stage.spatial_loops(where)) {
    const std::int64_t extent = detail::number_or(l.extent(where), 0);
    n = extent > 0 && n > 0 && n < std::int64_t{1} << 30 ? n * extent : 0;
  }
  std::int64_t bytes = 0;
  for (const ir::Id b : detail::definition(s, stage).buffers) bytes += s.scheduled().program.buffer(b).type.bytes();
  const std::int64_t most = detail::most_of_rows(s);
  if (n == 0 || n * bytes > most)
    refuse("gpu_scatter", "a result of at most " + std::to_string(most) + " bytes, of constant size",
           n == 0 ? "an extent that is not a constant" : std::to_string(n * bytes), where);
  return n;
}

}  // namespace

void gpu_scatter(Schedule& s, const Stage& stage, const GpuScatterOptions& o, Where where) {
  const AtLine line(where);
  const char* family = "gpu_scatter";
  detail::expect_device(family, s, where);
  const int threads = detail::threads_or(o.threads, 256, s);
  detail::expect_threads(family, "threads", s, threads, where);
  detail::expect_option(family, "part", o.part, 1, where);
  const ir::Stage& d = detail::definition(s, stage);
  if (!d.scatters()) refuse(family, "a scatter", d.name, where);
  const std::int64_t elements = elements_of(s, stage, where);

  const std::vector<Loop> steps = stage.reduction_loops(where);
  std::int64_t of_one = 1;  // steps of an iteration of the first loop
  for (std::size_t k = 1; k < steps.size(); ++k)
    of_one *= std::clamp<std::int64_t>(detail::number_or(steps[k].extent(where), 1024), 1, o.part);
  const Loop blocks = stage.split(steps.front(), std::max<std::int64_t>(1, o.part / of_one), Tail::guard, where).outer;
  const Stage parts = stage.rfactor(blocks, Place::first, where);
  parts.compute_root(where);
  const Stage own = s.cache_write(parts, Scope::shared, where);
  const auto over_threads = [&](const Stage& of, const std::vector<Loop>& loops) {
    of.bind(of.split(detail::fused(of, loops, where), threads, Tail::guard, where).inner, gpu::thread_x, where);
  };
  std::vector<Loop> places = parts.spatial_loops(where);
  const Loop part = places.front();
  places.erase(places.begin());
  parts.bind(part, gpu::block_x, where);
  over_threads(parts, places);
  own.compute_at(part, where).atomic(where);
  std::vector<Loop> init = own.spatial_loops(where);
  init.erase(init.begin());
  over_threads(own, init);
  over_threads(own, {own.reduction_loops(where).back()});

  const int along = std::min(32, threads);
  gpu_rows(s, {stage}, {.threads = along, .rows = static_cast<int>(std::clamp<std::int64_t>(elements, 1, threads / along))},
           where);
}

}  // namespace ashlar::schedules
