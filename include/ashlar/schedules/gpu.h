#pragma once
// Stages on a device, a point a thread. For a stage y of dimensions a, b:
//
//   for abo in (A B + 255) / 256            block_x
//     for abi in 256                        thread_x, masked at the end
//       the terms of a reduction, one after the other
//
//   schedules::gpu_points(s, s[y]);
//
// Neighbouring threads have neighbours of the last dimension, so that they read and write whole lines. Right for every extent;
// no sum is regrouped. Refused: a processor, a stage without dimensions, a scatter or recurrence.
#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules {

struct GpuPointsOptions {
  int threads = 256;  // of a block
};

inline void gpu_points(Schedule& s, const Stage& stage, const GpuPointsOptions& o = {}, Where where = Where::current()) {
  if (!s.target().is_gpu()) refuse("gpu_points", "a device", "the target " + std::string(s.target().text()), where);
  const ir::Stage& d = detail::definition(s, stage);
  if (d.scatters() || d.is_recurrence() || d.spatial_rank() == 0)
    refuse("gpu_points", "a stage with dimensions, whose points are computed each by itself",
           d.name + (d.scatters()        ? ", a scatter"
                     : d.is_recurrence() ? ", a recurrence"
                                         : ", which has one point"),
           where);
  const Split split =
      stage.split(detail::fused(stage, detail::loops_over(s, stage, false, where), where), o.threads, Tail::guard, where);
  stage.bind(split.outer, gpu::block_x, where).bind(split.inner, gpu::thread_x, where);
}

}  // namespace ashlar::schedules
