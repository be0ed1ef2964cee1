// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elements that change places on a device: y[.., i, .., j] = x[.., j, .., i], where neighbours of x lie apart in y.
//
//   for b                                  block_z: the other dimensions, where there are any
//     for io, for jo in 32                 block_y, block_x
//       tile of x, 32 x 33 in shared memory
//         for r in 8, for c in 32          thread_y, thread_x: rows of x
//       for it in 8, for ji in 32          thread_y, thread_x: rows of y
//
//   schedules::gpu_transpose(s, s[y], x);
//
// Both ends are whole lines; rows of the tile begin in other banks, so that a column is read without conflicts (Ruetsch and
// Micikevicius, Optimizing matrix transpose in CUDA, 2009). Right for every extent. Refused: a processor, a stage that does not
// copy elements of the tensor or reads neighbours of it as neighbours, more threads than a block has.
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/transpose.h>

namespace ashlar::schedules {

struct GpuTransposeOptions {
  int tile = 32;  // rows and columns of a tile
  int rows = 8;   // of a tile at a time; tile * rows threads
};

inline void gpu_transpose(Schedule& s, const Stage& stage, const StageRef& source, const GpuTransposeOptions& o = {},
                          Where where = Where::current()) {
  const AtLine line(where);
  detail::expect_device("gpu_transpose", s, where);
  const std::size_t along = static_cast<std::size_t>(detail::neighbours_of("gpu_transpose", s, stage, where));
  detail::expect_threads("gpu_transpose", "tile", s, o.tile, where);
  detail::expect_threads("gpu_transpose", "rows", s, o.rows, where);
  detail::expect_threads("gpu_transpose", "tile * rows", s, std::int64_t{o.tile} * o.rows, where);
  std::vector<Loop> outer = detail::loops_over(s, stage, false, where);
  const Loop i = outer[along], j = outer.back();
  outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(along)), outer.pop_back();

  const Tiles tiles = stage.tile(i, j, o.tile, o.tile, Tail::guard, where);
  const Split rows = stage.split(tiles.inner_i, o.rows, Tail::guard, where);
  std::vector<Loop> order = outer;
  for (const Loop& l : {tiles.outer_i, tiles.outer_j, rows.outer, rows.inner, tiles.inner_j}) order.push_back(l);
  detail::in_order(stage, order, where);
  if (!outer.empty()) stage.bind(detail::fused(stage, outer, where), gpu::block_z, where);
  stage.bind(tiles.outer_i, gpu::block_y, where).bind(tiles.outer_j, gpu::block_x, where);
  stage.bind(rows.inner, gpu::thread_y, where).bind(tiles.inner_j, gpu::thread_x, where);

  const auto at = ir::args_of(detail::definition(s, stage).values[0]);
  const ir::Id last = detail::definition(s, stage).iters.back().id;
  const Stage tile = s.cache_read(source, {stage}, Scope::shared, where);
  tile.compute_at(tiles.outer_j, where);
  const std::vector<Loop> dims = detail::loops_over(s, tile, false, where);  // of the source, with neighbours along the last
  tile.bind(tile.split(dims.back(), o.tile, Tail::guard, where).inner, gpu::thread_x, where);
  for (std::size_t k = 0; k + 1 < dims.size(); ++k)
    if (ir::uses_var(at[k], last)) {
      tile.bind(tile.split(dims[k], o.rows, Tail::guard, where).inner, gpu::thread_y, where);
      break;
    }
  if (dims.size() > 1) tile.align(static_cast<int>(dims.size()) - 1, o.tile + 1, where);
}

}  // namespace ashlar::schedules
