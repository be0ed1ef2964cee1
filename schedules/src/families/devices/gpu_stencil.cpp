// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu_stencil.h>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

// Distributes the last two dimensions of a stage that is computed for a whole tile over the threads of the block.
void over_tile(const Stage& stage, const GpuStencilOptions& o, Where where) {
  const std::vector<Loop> loops = stage.spatial_loops(where);
  if (loops.size() > 1)
    stage.bind(stage.split(loops[loops.size() - 2], o.threads_i, Tail::guard, where).inner, gpu::thread_y, where);
  stage.bind(stage.split(loops.back(), o.threads_j, Tail::guard, where).inner, gpu::thread_x, where);
}

}  // namespace

void gpu_stencil(Schedule& s, const std::vector<Stage>& stages, const std::vector<Tensor>& sources,
                 const GpuStencilOptions& given, Where where) {
  const AtLine line(where);
  const char* family = "gpu_stencil";
  detail::expect_device(family, s, where);
  GpuStencilOptions o = given;
  const int most = s.target().device().max_threads;
  if (o.threads_j == 0) o.threads_j = std::min(32, std::max(most / std::max(o.threads_i, 1), 1));
  if (o.threads_i == 0) o.threads_i = std::min(8, std::max(most / std::max(o.threads_j, 1), 1));
  detail::expect_threads(family, "threads_i", s, o.threads_i, where);
  detail::expect_threads(family, "threads_j", s, o.threads_j, where);
  detail::expect_threads(family, "threads_i * threads_j", s, std::int64_t{o.threads_i} * o.threads_j, where);
  detail::expect_option(family, "rows", o.rows, 1, where);
  if (stages.empty()) refuse(family, "at least one stage, the result as the last one", "none", where);
  for (const Stage& stage : stages) {
    const ir::Stage& d = detail::definition(s, stage);
    detail::expect_own_points(family, "stages that compute each point by itself", d, where);
    if (d.spatial_rank() < (stage.id() == stages.back().id() ? 2 : 1))
      refuse(family, "a result of at least two dimensions", d.name + " of " + std::to_string(d.spatial_rank()), where);
  }
  const Stage result = stages.back();
  const bool reduces = detail::definition(s, result).is_reduction();
  std::vector<Loop> order = result.spatial_loops(where);
  const Loop j = order.back(), i = order[order.size() - 2];
  order.resize(order.size() - 2);
  std::vector<Stage> sums;
  if (reduces && detail::definition(s, result).values.size() == 1)
    sums.push_back(s.cache_write(result, Scope::registers, where));
  const Tiles tiles = result.tile(i, j, o.threads_i * o.rows, o.threads_j, Tail::guard, where);
  const Split rows = result.split(tiles.inner_i, o.threads_i, Tail::guard, where);
  if (!order.empty()) {
    const Loop all = detail::fused(result, order, where);
    result.bind(all, gpu::block_z, where);
    order = {all};
  }
  for (const Loop& l : {tiles.outer_i, tiles.outer_j, rows.outer, rows.inner, tiles.inner_j}) order.push_back(l);
  result.reorder(order, where);
  result.bind(tiles.outer_i, gpu::block_y, where).bind(tiles.outer_j, gpu::block_x, where);
  result.bind(rows.inner, gpu::thread_y, where).bind(tiles.inner_j, gpu::thread_x, where);
  for (const Stage& sum : sums) sum.compute_at(tiles.inner_j, where);

  for (std::size_t k = stages.size() - 1; k-- > 0;) {
    stages[k].compute_at(tiles.outer_j, where).store_in(Scope::shared, where);
    over_tile(stages[k], o, where);
  }
  std::vector<Stage> readers(stages.begin(), stages.end());
  if (!sums.empty()) readers.back() = sums.front();
  for (const Tensor& source : sources) {
    std::vector<Stage> copies;
    std::optional<Refusal> refused;
    for (const Stage& reader : readers)
      if (const auto r = s.attempt([&] { copies.push_back(s.cache_read(source, {reader}, Scope::shared, where)); }))
        refused = r;
    if (copies.empty()) refuse(family, "sources that a stage of it reads", refused->found, where);
    for (const Stage& copy : copies) {
      copy.compute_at(tiles.outer_j, where);
      over_tile(copy, o, where);
    }
  }
}

}  // namespace ashlar::schedules
