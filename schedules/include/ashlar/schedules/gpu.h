// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Stages on a device, a point a thread. For a stage y of dimensions a, b:
//
//   for abo in (A B + 255) / 256            block_x
//     for abi in 256                        thread_x, masked at the end
//       the terms of a reduction, one after the other, in registers
//
//   schedules::gpu_points(s, s[y]);
//
// Neighbouring threads have neighbours of the last dimension, so that they read and write whole lines. Right for every extent;
// no sum is regrouped. Refused: a processor, a stage without dimensions, a scatter or recurrence, more threads than a block
// has.
#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules {

struct GpuPointsOptions {
  int threads = 256;      // of a block
  bool registers = true;  // sums of one value are in registers, of several in memory; false: all in memory
};

namespace detail {

inline void expect_device(const char* family, const Schedule& s, Where where) {
  if (!s.target().is_gpu()) refuse(family, "a device", "the target " + std::string(s.target().text()), where);
}

inline void expect_threads(const char* family, const char* option, const Schedule& s, std::int64_t threads, Where where) {
  const Device& device = s.target().device();
  if (threads < 1 || threads > device.max_threads)
    refuse(family,
           std::string(option) + " from 1 to " + std::to_string(device.max_threads) + ", what a block has on " + device.name,
           std::to_string(threads), where);
}

inline void expect_own_points(const char* family, const char* expected, const ir::Stage& d, Where where) {
  if (d.scatters() || d.is_recurrence())
    refuse(family, expected, d.name + (d.scatters() ? ", a scatter" : ", a recurrence"), where);
}

}  // namespace detail

inline void gpu_points(Schedule& s, const Stage& stage, const GpuPointsOptions& o = {}, Where where = Where::current()) {
  detail::expect_device("gpu_points", s, where);
  detail::expect_threads("gpu_points", "threads", s, o.threads, where);
  const ir::Stage& d = detail::definition(s, stage);
  const char* expected = "a stage with dimensions, whose points are computed each by itself";
  detail::expect_own_points("gpu_points", expected, d, where);
  if (d.spatial_rank() == 0) refuse("gpu_points", expected, d.name + ", which has one point", where);
  const bool reduces = d.is_reduction();
  const auto steps = [&] {
    const Split split =
        stage.split(detail::fused(stage, detail::loops_over(s, stage, false, where), where), o.threads, Tail::guard, where);
    stage.bind(split.outer, gpu::block_x, where).bind(split.inner, gpu::thread_x, where);
    return split.inner;
  };
  const bool in_registers = o.registers && reduces && !s.attempt([&] {
    const Stage sum = s.cache_write(stage, Scope::registers, where);
    sum.compute_at(steps(), where);
  });
  if (!in_registers) steps();
}

}  // namespace ashlar::schedules
