// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu_transpose.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/transpose.h>

#include "schedules/src/families/devices/gpu.h"
#include "schedules/src/families/transpose.h"

namespace ashlar::schedules {

namespace {

// Whether the device accesses several elements of global memory at once.
bool vectors_of_memory(const Schedule& s) { return s.target().device().kind == Device::Kind::cuda; }

}  // namespace

void gpu_transpose(Schedule& s, const Stage& stage, const StageRef& source, const GpuTransposeOptions& o, Where where) {
  const AtLine line(where);
  detail::expect_device("gpu_transpose", s, where);
  const std::size_t along = static_cast<std::size_t>(detail::neighbors_of("gpu_transpose", s, stage, where));
  // Elements of an access: both rows of the source and rows of the result are accessed in vectors.
  const int bytes = std::max(1, detail::definition(s, stage).values[0].type().bytes());
  const int side = o.tile != 0 ? o.tile : bytes < 4 && vectors_of_memory(s) ? 64 : 32;
  detail::expect_threads("gpu_transpose", "tile", s, side, where);
  const int fill = vectors_of_memory(s) ? std::max(1, detail::bytes_of_access / bytes) : 1;
  const int lanes = side % fill == 0 ? fill : 1, along_row = side / lanes;
  const int in_a_block = o.rows != 0 ? o.rows : std::clamp(detail::threads_or(0, 256, s) / along_row, 1, lanes > 1 ? side : 8);
  detail::expect_threads("gpu_transpose", "rows", s, in_a_block, where);
  const std::string threads = lanes > 1 ? "tile / " + std::to_string(lanes) + " * rows" : "tile * rows";
  detail::expect_threads("gpu_transpose", threads.c_str(), s, std::int64_t{along_row} * in_a_block, where);
  std::vector<Loop> outer = stage.spatial_loops(where);
  const Loop i = outer[along], j = outer.back();
  outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(along)), outer.pop_back();

  const Tiles tiles = stage.tile(i, j, side, side, Tail::guard, where);
  const Split rows = stage.split(tiles.inner_i, in_a_block, Tail::guard, where);
  std::vector<Loop> order = outer;
  for (const Loop& l : {tiles.outer_i, tiles.outer_j, rows.outer, rows.inner, tiles.inner_j}) order.push_back(l);
  stage.reorder(order, where);
  if (!outer.empty()) stage.bind(detail::fused(stage, outer, where), gpu::block_z, where);
  stage.bind(tiles.outer_i, gpu::block_y, where).bind(tiles.outer_j, gpu::block_x, where);
  const auto bind_row = [&](const Stage& of, const Loop& row) {
    Loop each = row;
    if (lanes > 1) {
      const Split vectors = of.split(row, lanes, Tail::guard, where);
      of.vectorize(vectors.inner, gpu::any_alignment, where);
      each = vectors.outer;
    }
    of.bind(each, gpu::thread_x, where);
  };
  stage.bind(rows.inner, gpu::thread_y, where);
  bind_row(stage, tiles.inner_j);

  const auto at = ir::args_of(detail::definition(s, stage).values[0]);
  const ir::Id last = detail::definition(s, stage).iters.back().id;
  const Stage tile = s.cache_read(source, {stage}, Scope::shared, where);
  tile.compute_at(tiles.outer_j, where);
  const std::vector<Loop> dims = tile.spatial_loops(where);  // of the source, with neighbors along the last
  bind_row(tile, tile.split(dims.back(), side, Tail::guard, where).inner);
  for (std::size_t k = 0; k + 1 < dims.size(); ++k)
    if (ir::uses_var(at[k], last)) {
      tile.bind(tile.split(dims[k], in_a_block, Tail::guard, where).inner, gpu::thread_y, where);
      break;
    }
  const int gap = lanes > 1 ? std::max(1, 4 / bytes) : 1;  // words stay whole
  if (dims.size() > 1) tile.align(static_cast<int>(dims.size()) - 1, side + gap, where);
}

}  // namespace ashlar::schedules
