// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products on Vulkan. A block computes 128 x 128 results, and each of its 256 threads 8 x 8 of them, in two groups of columns:
//
//   for ko (64 bytes of a row at a time, at most 32 steps)
//     A tile 128 x 16, B tile 16 x 128     shared memory, copied four neighbors at a time; zeros past the end
//     for kk (4 at a time)
//       8 rows of A, 4 of each             registers
//       for k in 4                         a row of B in registers, both places before the first sum
//         8 x 4 sums, twice                one fma of four lanes for each row of A
//
// With the feature dot8, products of bytes are dot products of four steps of k, for four columns at once (shader::dot4); a
// thread's columns are then contiguous.
//
// All accesses of shared memory are vectors of four, the most that a device reads at once; such a tile is an array of vectors
// in the shader. Past the ends of M, N and K the tiles hold zeros. All sums of a tile are computed, so the loop has no
// condition; only the stores of results have one.
#include "schedules/src/families/devices/gpu_vectors.h"

#include <algorithm>
#include <numeric>

#include <ashlar/instructions/shader.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu_tensor.h"
#include "schedules/src/families/matmul.h"

namespace ashlar::schedules::detail {

namespace {

constexpr int four = 4;

// Steps of k in a tile: as asked for, or 64 bytes of a row, at most 32 steps, which are unrolled; fewer if two such tiles do
// not fit the shared memory of a block.
int steps_of(const Schedule& s, const Tensor& A, const Tensor& B, int rows, int columns, const GpuMatmulOptions& o,
             Where where) {
  const auto shared = [&](int k) {
    const auto bytes = [&](const Tensor& t, int n) { return (std::int64_t{n} * k * t.type(where).bytes() + 127) / 128 * 128; };
    return o.stages * (bytes(A, rows) + bytes(B, columns));
  };
  const Device& device = s.target().device();
  int k = o.block_k > 0 ? o.block_k : std::clamp(64 / std::max(A.type(where).bytes(), B.type(where).bytes()), four, 32);
  while (o.block_k == 0 && k > four && shared(k) > device.shared_bytes) k /= 2;
  if (shared(k) > device.shared_bytes)
    refuse("gpu_matmul",
           "tiles in at most " + std::to_string(device.shared_bytes) + " bytes of shared memory, what a block has on " +
               device.name,
           std::to_string(shared(k)) + " bytes", where);
  return k;
}

// A tile in shared memory, copied by all threads; `wide` elements a row.
void vector_tile(const Stage& copy, const Loop& at, int wide, Where where) {
  copy.compute_at(at, where);
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const Split parts = copy.split(loops.back(), std::gcd(wide, four), Tail::exact, where);
  copy.vectorize(parts.inner, where);
  copy.bind(copy.fuse(loops[loops.size() - 2], parts.outer, where), gpu::threads, where);
}

// A tile of B[k, j] for dot products, which need four steps of k as neighbors: copied in that order, also to registers.
void dotted_tile(const Stage& copy, const Loop& at, int rank, Where where) {
  copy.compute_at(at, where);
  panel_layout(copy, rank, [](const Var& k, const Var& j) { return ashlar::at(k / four, j, k % four); });
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const Split parts = copy.split(loops[loops.size() - 2], four, Tail::exact, where);
  copy.reorder({parts.outer, where}, loops.back(), parts.inner);
  copy.vectorize(parts.inner, where).bind(copy.fuse(parts.outer, loops.back(), where), gpu::threads, where);
}
void dotted_columns(const Stage& copy, const Loop& at, int rank, Where where) {
  copy.compute_at(at, where);
  panel_layout(copy, rank, [](const Var& k, const Var& j) { return ashlar::at(k / four, j, k % four); });
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const Split parts = copy.split(loops[loops.size() - 2], four, Tail::exact, where);
  copy.reorder({parts.outer, where}, loops.back(), parts.inner);
  copy.unroll(parts.outer, where).unroll(loops.back(), where).vectorize(parts.inner, where);
}

bool by_dots(const Target& t, Type a, Type b, Type sums) {
  const auto is_byte = [](Type x) { return x == i8 || x == u8; };
  return t.has("dot8") && is_byte(a) && is_byte(b) && (sums == i32 || sums == u32);
}

// Loads a thread's part of a factor for four steps of k into registers, in the layout of the rows.
void row_vectors(const Stage& copy, const Loop& at, int wide, Where where) {
  copy.compute_at(at, where);
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const Split parts = copy.split(loops.back(), std::gcd(wide, four), Tail::exact, where);
  copy.unroll(loops[loops.size() - 2], where).unroll(parts.outer, where).vectorize(parts.inner, where);
}

// The start values of the sums, for the only tile of a thread.
void start_tile(const Stage& copy, int rows, int columns, Where where) {
  const std::vector<Loop> loops = copy.spatial_loops(where);
  for (const Loop& l : loops) copy.unroll(copy.split(l, l == loops.back() ? columns : rows, Tail::pad, where).inner, where);
  copy.store_in(Scope::registers, where);
}

}  // namespace

void vector_product(Schedule& s, const Stage& sums, const Stage& result, const Tensor& A, const Tensor& B,
                    const GpuMatmulOptions& o, Where where) {
  const std::vector<Loop> nest = result.spatial_loops(where);
  const std::size_t batch = nest.size() - 2;
  const bool wide = definition(s, sums).values[0].type().bits > 32;  // a thread has half as many sums of 64 bits
  const int tile_i = width_of_thread(o.tile_i, nest[batch], o.threads_i, 8, where);
  const int tile_j = width_of_thread(o.tile_j, nest[batch + 1], o.threads_j, wide ? four : 8, where);
  const int block_k = steps_of(s, A, B, o.threads_i * tile_i, o.threads_j * tile_j, o, where);
  const Type type_a = A.type(where), type_b = B.type(where), type = definition(s, sums).values[0].type();
  const bool dots = by_dots(s.target(), type_a, type_b, type) && tile_j % four == 0 && block_k % four == 0;
  const int places = tile_j % 8 == 0 && !dots ? 2 : 1, lanes = tile_j / places;

  const Stage a = s.cache_read(A, {sums}, Scope::shared, Operand(0, where), where);
  const Stage b = s.cache_read(B, {sums}, Scope::shared, Operand(0, where), where);
  expect_factors(s, sums, a, b, batch, o, where);
  const std::vector<Stage> starts = start_copies(s, sums, Scope::global, where);

  const ThreadTiles of_result{o.threads_i * tile_i, o.threads_j * tile_j, tile_i, lanes, places,
                              Tail::cover,          Tail::exact,          true};
  const Loop thread = thread_tiles(result, of_result, where);

  sums.compute_at(thread, where);
  const Split steps = sums.split(sums.reduction(where), block_k, Tail::pad, where);  // both factors have zeros there
  const Split step = sums.split(steps.inner, std::gcd(block_k, four), Tail::exact, where);
  const std::vector<Loop> of_sums = sums.spatial_loops(where);
  for (const Stage& start : starts) {
    start.compute_at(thread, where);
    if (s.attempt([&] { start_tile(start, tile_i, lanes, where); })) start.store_in(Scope::stack, where);
  }
  const Split i = sums.split(of_sums[batch], tile_i, Tail::exact, where);
  const Split j = sums.split(of_sums[batch + 1], dots ? four : lanes, Tail::exact, where);
  std::vector<Loop> order{steps.outer, step.outer};
  order.insert(order.end(), of_sums.begin(), of_sums.begin() + static_cast<std::ptrdiff_t>(batch));
  if (dots)
    order.insert(order.end(), {i.outer, i.inner, j.outer, j.inner, step.inner});
  else
    order.insert(order.end(), {i.outer, j.outer, step.inner, i.inner, j.inner});
  sums.reorder(order, where);
  sums.unroll(step.outer, where).unroll(i.inner, where).unroll(dots ? j.outer : step.inner, where);

  vector_tile(a, steps.outer, o.transposed_a ? o.threads_i * tile_i : block_k, where);
  const bool turns = dots && !o.transposed_b;
  if (turns)
    dotted_tile(b, steps.outer, rank_of(s, b), where);
  else
    vector_tile(b, steps.outer, o.transposed_b ? block_k : o.threads_j * tile_j, where);
  row_vectors(s.cache_read(a, {sums}, Scope::registers, where), step.outer, o.transposed_a ? tile_i : block_k, where);
  if (turns)
    dotted_columns(s.cache_read(b, {sums}, Scope::registers, where), step.outer, rank_of(s, b), where);
  else if (o.transposed_b)
    row_vectors(s.cache_read(b, {sums}, Scope::registers, where), step.outer, block_k, where);
  else if (places > 1)
    row_vectors(s.cache_read(b, {sums}, Scope::registers, where), step.inner, lanes, where);
  if (dots) {
    sums.decompose_init(steps.outer, where);
    sums.tensorize(j.inner, shader::dot4(type_a, type_b, type, where), where);
    const Stage start = sums.init(where);
    const std::vector<Loop> loops = start.nest(where);
    for (std::size_t l = loops.size() - 3; l + 1 < loops.size(); ++l) start.unroll(loops[l], where);
    start.vectorize(loops.back(), where);
  } else if (o.transposed_b) {
    sums.unroll(j.inner, where);
  } else {
    sums.vectorize(j.inner, where);
  }
  if (o.stages > 1) sums.pipeline(steps.outer, {.stages = o.stages, .loads = {a, b}}, where);
}

}  // namespace ashlar::schedules::detail
