// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Windows over the last two dimensions on a device, y(.., i, j) of x(.., i + r, j + c): filters, poolings, morphology. The
// stages are named in the order in which they are computed, the last one is the result; then what of their sources is copied.
//
//   schedules::gpu_stencil(s, {s[y]}, {x});
//   schedules::gpu_stencil(s, {s[blur_x], s[blur_y]}, {x});       // blur_x of a tile in shared memory
//
//   for b                                 block_z: the other dimensions, where there are any
//     for io, for jo (32 x 32)            block_y, block_x
//       x: the tile and what its windows reach, in shared memory        copied by 32 x 8 threads
//       stages before the result: what the tile needs, in shared memory
//       for iu in 4, for it in 8, for ji in 32                          thread_y, thread_x
//         terms of a window one after the other, in registers
//
// Without sources every thread reads its window from memory, which a cache serves as well while tiles of neighbouring blocks
// are in it. The terms keep their order. Right for every extent. Refused: a processor, no stage, a result of fewer than two
// dimensions, a scatter or recurrence, more threads than a block has; what a tile reads, where that is no constant number
// of elements (data choose the place, borders are mirrored); a stage before the result that others read too.
#include <ashlar/schedules/gpu.h>

namespace ashlar::schedules {

struct GpuStencilOptions {
  int threads_i = 8, threads_j = 32;  // of a block
  int rows = 4;                       // of a thread, threads_i apart
};

namespace detail {

// The last two dimensions of a stage that is computed for a whole tile, over the threads of the block.
inline void over_tile(Schedule& s, const Stage& stage, const GpuStencilOptions& o, Where where) {
  const std::vector<Loop> loops = loops_over(s, stage, false, where);
  if (loops.size() > 1)
    stage.bind(stage.split(loops[loops.size() - 2], o.threads_i, Tail::guard, where).inner, gpu::thread_y, where);
  stage.bind(stage.split(loops.back(), o.threads_j, Tail::guard, where).inner, gpu::thread_x, where);
}

}  // namespace detail

inline void gpu_stencil(Schedule& s, const std::vector<Stage>& stages, const std::vector<Tensor>& sources = {},
                        const GpuStencilOptions& o = {}, Where where = Where::current()) {
  const AtLine line(where);
  const char* family = "gpu_stencil";
  detail::expect_device(family, s, where);
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
  std::vector<Loop> order = detail::loops_over(s, result, false, where);
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
  detail::in_order(result, order, where);
  result.bind(tiles.outer_i, gpu::block_y, where).bind(tiles.outer_j, gpu::block_x, where);
  result.bind(rows.inner, gpu::thread_y, where).bind(tiles.inner_j, gpu::thread_x, where);
  for (const Stage& sum : sums) sum.compute_at(tiles.inner_j, where);

  for (std::size_t k = stages.size() - 1; k-- > 0;) {
    stages[k].compute_at(tiles.outer_j, where).store_in(Scope::shared, where);
    detail::over_tile(s, stages[k], o, where);
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
      detail::over_tile(s, copy, o, where);
    }
  }
}

}  // namespace ashlar::schedules
