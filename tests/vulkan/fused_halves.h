// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A user's schedule of C[i, j] = sum over k of A[i, k] B[k, j] in f16 by shader::fma4, in blocks of 256 threads with 8 x 8 sums
// each. M and N are multiples of 128, K of 32.
#include <ashlar/ashlar.h>
#include <ashlar/instructions/shader.h>

namespace ashlar {

inline void fused_halves(Schedule& s, const Tensor& C, const Tensor& A, const Tensor& B) {
  constexpr int block = 128, tile = 8, steps_in_tile = 32, four = 4;
  const Stage result = s[C], sums = s.cache_write(C, Scope::registers);
  const Stage a = s.cache_read(A, {sums}, Scope::shared), b = s.cache_read(B, {sums}, Scope::shared);
  const std::vector<Loop> nest = result.spatial_loops();
  const Tiles blocks = result.tile(nest[0], nest[1], block, block, Tail::exact);
  const Tiles threads = result.tile(blocks.inner_i, blocks.inner_j, tile, tile, Tail::exact);
  result.unroll(threads.inner_i).vectorize(threads.inner_j);
  result.bind(blocks.outer_i, gpu::block_y).bind(blocks.outer_j, gpu::block_x);
  result.bind(threads.outer_i, gpu::thread_y).bind(threads.outer_j, gpu::thread_x);

  sums.compute_at(threads.outer_j);
  const Split steps = sums.split(sums.reduction(), steps_in_tile, Tail::exact);
  const Split step = sums.split(steps.inner, four, Tail::exact), one = sums.split(step.inner, 1, Tail::exact);
  const std::vector<Loop> of_sums = sums.spatial_loops();
  const Split j = sums.split(of_sums[1], four, Tail::exact);
  sums.reorder(steps.outer, step.outer, one.outer, of_sums[0], j.outer, j.inner, one.inner);
  sums.unroll(step.outer).unroll(one.outer).unroll(of_sums[0]).unroll(j.outer);

  for (const Stage& shared : {a, b}) {  // by all threads, four neighbors at a time
    shared.compute_at(steps.outer);
    const std::vector<Loop> loops = shared.spatial_loops();
    const Split parts = shared.split(loops[1], four, Tail::exact);
    shared.vectorize(parts.inner).bind(shared.fuse(loops[0], parts.outer), gpu::threads);
    const Stage copy = s.cache_read(shared, {sums}, Scope::registers);
    copy.compute_at(step.outer);
    const std::vector<Loop> rows = copy.spatial_loops();
    const Split columns = copy.split(rows[1], four, Tail::exact);
    copy.unroll(rows[0]).unroll(columns.outer).vectorize(columns.inner);
  }
  sums.decompose_init(steps.outer);
  sums.tensorize(j.inner, shader::fma4(shader::Rounding::of_machine));
  const std::vector<Loop> start = sums.init().nest();
  for (std::size_t l = start.size() - 3; l + 1 < start.size(); ++l) sums.init().unroll(start[l]);
  sums.init().vectorize(start.back());
}

}  // namespace ashlar
