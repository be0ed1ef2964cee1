// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu_transpose.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/transpose.h>

#include "schedules/src/families/gpu.h"
#include "schedules/src/families/transpose.h"

namespace ashlar::schedules {

void gpu_transpose(Schedule& s, const Stage& stage, const StageRef& source, const GpuTransposeOptions& o, Where where) {
  const AtLine line(where);
  detail::expect_device("gpu_transpose", s, where);
  const std::size_t along = static_cast<std::size_t>(detail::neighbours_of("gpu_transpose", s, stage, where));
  detail::expect_threads("gpu_transpose", "tile", s, o.tile, where);
  const int in_a_block = o.rows != 0 ? o.rows : std::max(1, detail::threads_or(0, 8 * o.tile, s) / o.tile);
  detail::expect_threads("gpu_transpose", "rows", s, in_a_block, where);
  detail::expect_threads("gpu_transpose", "tile * rows", s, std::int64_t{o.tile} * in_a_block, where);
  std::vector<Loop> outer = stage.spatial_loops(where);
  const Loop i = outer[along], j = outer.back();
  outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(along)), outer.pop_back();

  const Tiles tiles = stage.tile(i, j, o.tile, o.tile, Tail::guard, where);
  const Split rows = stage.split(tiles.inner_i, in_a_block, Tail::guard, where);
  std::vector<Loop> order = outer;
  for (const Loop& l : {tiles.outer_i, tiles.outer_j, rows.outer, rows.inner, tiles.inner_j}) order.push_back(l);
  stage.reorder(order, where);
  if (!outer.empty()) stage.bind(detail::fused(stage, outer, where), gpu::block_z, where);
  stage.bind(tiles.outer_i, gpu::block_y, where).bind(tiles.outer_j, gpu::block_x, where);
  stage.bind(rows.inner, gpu::thread_y, where).bind(tiles.inner_j, gpu::thread_x, where);

  const auto at = ir::args_of(detail::definition(s, stage).values[0]);
  const ir::Id last = detail::definition(s, stage).iters.back().id;
  const Stage tile = s.cache_read(source, {stage}, Scope::shared, where);
  tile.compute_at(tiles.outer_j, where);
  const std::vector<Loop> dims = tile.spatial_loops(where);  // of the source, with neighbours along the last
  tile.bind(tile.split(dims.back(), o.tile, Tail::guard, where).inner, gpu::thread_x, where);
  for (std::size_t k = 0; k + 1 < dims.size(); ++k)
    if (ir::uses_var(at[k], last)) {
      tile.bind(tile.split(dims[k], in_a_block, Tail::guard, where).inner, gpu::thread_y, where);
      break;
    }
  if (dims.size() > 1) tile.align(static_cast<int>(dims.size()) - 1, o.tile + 1, where);
}

}  // namespace ashlar::schedules
