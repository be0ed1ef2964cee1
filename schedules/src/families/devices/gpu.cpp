// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu.h>

#include <algorithm>

#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu.h"

namespace ashlar::schedules {

namespace detail {

void expect_device(const char* family, const Schedule& s, Where where) {
  if (!s.target().is_gpu()) refuse(family, "a device", "the target " + std::string(s.target().text()), where);
}

void expect_threads(const char* family, const char* option, const Schedule& s, std::int64_t threads, Where where) {
  const Device& device = s.target().device();
  if (threads < 1 || threads > device.max_threads)
    refuse(family,
           std::string(option) + " from 1 to " + std::to_string(device.max_threads) + ", what a block has on " + device.name,
           std::to_string(threads), where);
}

int threads_or(int asked, int usual, const Schedule& s) {
  return asked != 0 ? asked : std::min(usual, s.target().device().max_threads);
}

std::int64_t most_of_rows(const Schedule& s) {
  constexpr std::int64_t most = 32768, exchanged = 8192;
  return std::min<std::int64_t>(most, s.target().device().shared_bytes - exchanged);
}

void expect_own_points(const char* family, const char* expected, const ir::Stage& d, Where where) {
  if (d.scatters() || d.is_recurrence())
    refuse(family, expected, d.name + (d.scatters() ? ", a scatter" : ", a recurrence"), where);
}

}  // namespace detail

void gpu_points(Schedule& s, const Stage& stage, const GpuPointsOptions& o, Where where) {
  detail::expect_device("gpu_points", s, where);
  const int threads = detail::threads_or(o.threads, 256, s);
  detail::expect_threads("gpu_points", "threads", s, threads, where);
  const ir::Stage& d = detail::definition(s, stage);
  const char* expected = "a stage with dimensions, whose points are computed each by itself";
  detail::expect_own_points("gpu_points", expected, d, where);
  if (d.spatial_rank() == 0) refuse("gpu_points", expected, d.name + ", which has one point", where);
  const bool reduces = d.is_reduction();
  const auto steps = [&] {
    const Split split = stage.split(detail::fused(stage, stage.spatial_loops(where), where), threads, Tail::guard, where);
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
