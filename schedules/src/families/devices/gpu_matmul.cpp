// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu_matmul.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/matmul.h>

#include "schedules/src/families/devices/gpu.h"
#include "schedules/src/families/devices/gpu_tensor.h"
#include "schedules/src/families/devices/gpu_vectors.h"
#include "schedules/src/families/matmul.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr int longest_copy = 16;  // bytes of the longest asynchronous copy

// The only tile of a thread, of at most the given rows and columns.
void in_registers(const Stage& copy, int rows, int columns, Where where) {
  const std::vector<Loop> loops = copy.spatial_loops(where);
  for (const Loop& l : loops) copy.unroll(copy.split(l, l == loops.back() ? columns : rows, Tail::pad, where).inner, where);
  copy.store_in(Scope::registers, where);
}

// Steps of k to copy at a time. With tiles of 16, ptxas 13.0 needs 127 registers for a thread of an f32 product on sm_90, so
// two blocks of 256 fit. On earlier chips it needs 137 with tiles of 8, and more with tiles of 16.
int steps_between_copies(const Schedule& s, const Tensor& A, const GpuMatmulOptions& o, Where where) {
  if (o.block_k > 0) return o.block_k;
  return s.target().device().kind == Device::Kind::cuda && s.target().has("sm_90") && A.type(where).bytes() == 4 ? 16 : 8;
}

// Computes the sums of `product` in registers; `result` has the loops over blocks and threads.
void shared_tiles(Schedule& s, const Stage& sums, const Stage& result, const Tensor& A, const Tensor& B, const Factors& tiles,
                  const GpuMatmulOptions& given, Where where) {
  GpuMatmulOptions o = given;
  o.block_k = steps_between_copies(s, A, o, where);
  const bool apart = s.target().device().kind == Device::Kind::cuda;
  const std::vector<Loop> nest = result.spatial_loops(where);
  const std::size_t batch = nest.size() - 2;
  const bool wide = definition(s, sums).values[0].type().bits > 32;  // a thread has half as many sums of 64 bits
  const int tile_i = width_of_thread(o.tile_i, nest[batch], o.threads_i, 8, where);
  const int tile_j = width_of_thread(o.tile_j, nest[batch + 1], o.threads_j, wide ? 4 : 8, where);
  const int places = tile_j % 8 == 0 ? 2 : 1;

  // Copies of 16 bytes, if the device copies asynchronously: of rows of k of A, which all threads of a row read together, and
  // of rows of i or j.
  const auto in_chunks = [&](const Tensor& t, int row) {
    const bool whole = row * t.type(where).bytes() % longest_copy == 0;
    return apart && s.target().has("sm_80") && o.stages > 1 && t.type(where).bytes() >= 2 && whole;
  };
  const bool chunks_a = in_chunks(A, o.transposed_a ? o.threads_i * tile_i : o.block_k);
  const bool chunks_b = !o.transposed_b && in_chunks(B, o.threads_j * tile_j);
  const Tail past = chunks_a || chunks_b ? Tail::cover : Tail::guard;

  const auto bytes = [&](const Tensor& t, int rows, bool padded) {  // of a tile; both begin at multiples of 128
    return (std::int64_t{rows} * (o.block_k + (padded ? 1 : 0)) * t.type(where).bytes() + 127) / 128 * 128;
  };
  const std::int64_t shared = o.stages * (bytes(A, o.threads_i * tile_i, !o.transposed_a && !chunks_a) +
                                          bytes(B, o.threads_j * tile_j, o.transposed_b));
  expect_shared(s, shared, where);

  const auto& [a, b] = tiles;
  const std::vector<Stage> starts = start_copies(s, sums, Scope::global, where);

  const ThreadTiles of_result{
      o.threads_i * tile_i, o.threads_j * tile_j, tile_i, tile_j / places, places, past, Tail::guard, false};
  const Loop thread = thread_tiles(result, of_result, where);

  sums.compute_at(thread, where);
  // Past the end both factors have zeros.
  const Split steps = sums.split(sums.reduction(where), o.block_k, o.part_k > 0 ? Tail::exact : Tail::pad, where);
  const std::vector<Loop> of_sums = sums.spatial_loops(where);
  for (const Stage& start : starts) {
    start.compute_at(thread, where);
    if (s.attempt([&] { in_registers(start, tile_i, tile_j / places, where); })) start.store_in(Scope::stack, where);
  }
  const Split i = sums.split(of_sums[batch], tile_i, Tail::pad, where);
  const Split j = sums.split(of_sums[batch + 1], tile_j / places, Tail::pad, where);
  std::vector<Loop> order{steps.outer};
  order.insert(order.end(), of_sums.begin(), of_sums.begin() + static_cast<std::ptrdiff_t>(batch));
  for (const Loop& l : {i.outer, j.outer, steps.inner, i.inner, j.inner}) order.push_back(l);
  sums.reorder(order, where);
  sums.unroll(steps.inner, where).unroll(i.inner, where).unroll(j.inner, where);

  const auto copy_tile = [&](const Stage& copy, int long_row, int together) {  // rows of k, or of at most `long_row` i or j
    copy.compute_at(steps.outer, where);
    const std::vector<Loop> loops = copy.spatial_loops(where);
    if (together > 1) {
      const Split parts = copy.split(loops.back(), together, Tail::exact, where);
      copy.vectorize(parts.inner, where);
      copy.bind(copy.fuse(loops[loops.size() - 2], parts.outer, where), gpu::threads, where);
      return;
    }
    const Loop row = loops[loops.size() - 2];
    Loop column = loops.back();
    if (long_row > 0) {  // with a constant number of columns, positions in the tile are shifts and masks
      const Split whole = copy.split(column, long_row, Tail::guard, where);
      copy.reorder({whole.outer, where}, row, column = whole.inner);
    }
    copy.bind(copy.fuse(row, column, where), gpu::threads, where);
    // Neighboring threads read neighboring rows of k, so the rows start in different banks.
    if (long_row == 0) copy.pad(rank_of(s, copy) - 1, 1, where);
  };
  copy_tile(a, o.transposed_a ? o.threads_i * tile_i : 0, chunks_a ? longest_copy / A.type(where).bytes() : 1);
  copy_tile(b, o.transposed_b ? 0 : o.threads_j * tile_j, chunks_b ? longest_copy / B.type(where).bytes() : 1);
  if (o.stages > 1) {
    const Async copies{.stages = o.stages, .loads = {a, b}, .async_copy = true, .any_alignment = chunks_a || chunks_b};
    if (!apart || s.attempt([&] { sums.pipeline(steps.outer, copies, where); }))
      sums.pipeline(steps.outer, {.stages = o.stages, .loads = {a, b}}, where);
  }
}

void expect_product(const Schedule& s, const Stage& product, const GpuMatmulOptions& o, Where where) {
  const char* family = "gpu_matmul";
  expect_device(family, s, where);
  (void)sum_type(family, s, product, 5, where);
  expect_option(family, "tile_i", o.tile_i, 0, where);
  expect_option(family, "tile_j", o.tile_j, 0, where);
  expect_option(family, "block_k", o.block_k, 0, where);
  expect_option(family, "stages", o.stages, 0, where);
  expect_option(family, "part_k", o.part_k, 0, where);
  expect_option(family, "raster", o.raster, 0, where);
  if (o.part_k > 0 && o.part_k != GpuMatmulOptions::all_k && s.target().device().kind != Device::Kind::cuda)
    refuse(family, "a CUDA device, for parts of k", std::string(s.target().text()), where);
  expect_threads(family, "threads_i", s, o.threads_i, where);
  expect_threads(family, "threads_j", s, o.threads_j, where);
  expect_threads(family, "threads_i * threads_j", s, std::int64_t{o.threads_i} * o.threads_j, where);
}

// Fills in the options that were left out.
GpuMatmulOptions completed(const Schedule& s, GpuMatmulOptions o, Where where) {
  expect_device("gpu_matmul", s, where);
  expect_option("gpu_matmul", "threads_i", o.threads_i, 0, where);
  expect_option("gpu_matmul", "threads_j", o.threads_j, 0, where);
  const int most = s.target().device().max_threads;
  if (o.threads_j == 0) o.threads_j = std::min(16, std::max(most / std::max(o.threads_i, 1), 1));
  if (o.threads_i == 0) o.threads_i = std::min(16, std::max(most / o.threads_j, 1));
  return o;
}

}  // namespace

namespace detail {

void expect_factors(const Schedule& s, const Stage& sums, const Stage& a, const Stage& b, std::size_t batch,
                    const GpuMatmulOptions& o, Where where) {
  const char* family = "gpu_matmul";
  if (o.transposed_a)
    expect_factor(family, "A read at [.., k, i]", s, sums, a, batch + 2, batch, where);
  else
    expect_factor(family, "A read at [.., i, k]", s, sums, a, batch, batch + 2, where);
  if (o.transposed_b)
    expect_factor(family, "B read at [.., j, k]", s, sums, b, batch + 1, batch + 2, where);
  else
    expect_factor(family, "B read at [.., k, j]", s, sums, b, batch + 2, batch + 1, where);
}

void expect_shared(const Schedule& s, std::int64_t bytes, Where where) {
  const std::int64_t most = s.target().device().shared_bytes;
  if (bytes > most)
    refuse(
        "gpu_matmul",
        "tiles in at most " + std::to_string(most) + " bytes of shared memory, what a block has on " + s.target().device().name,
        std::to_string(bytes) + " bytes", where);
}

Factors factors_of(Schedule& s, const Stage& sums, const Tensor& A, const Tensor& B, std::size_t batch,
                   const GpuMatmulOptions& o, Where where) {
  const Factors both{s.cache_read(A, {sums}, Scope::shared, Operand(0, where), where),
                     s.cache_read(B, {sums}, Scope::shared, Operand(0, where), where)};
  expect_factors(s, sums, both.a, both.b, batch, o, where);
  return both;
}

int width_of_thread(int asked, const Loop& over, int threads, int most, Where where) {
  const std::int64_t n = number_or(over.extent(where), std::int64_t{threads} * most);
  int t = 1;
  while (t < most && std::int64_t{t} * threads < n) t *= 2;
  return asked > 0 ? asked : t;
}

Loop thread_tiles(const Stage& result, const ThreadTiles& t, Where where) {
  const std::vector<Loop> nest = result.spatial_loops(where);
  const std::size_t batch = nest.size() - 2;
  const Tiles blocks = result.tile(nest[batch], nest[batch + 1], t.rows, t.columns, t.of_blocks, where);
  std::vector<Loop> order{blocks.outer_i, blocks.outer_j};
  if (batch > 0) {
    const Loop all = fused(result, {nest.begin(), nest.begin() + static_cast<std::ptrdiff_t>(batch)}, where);
    result.bind(all, gpu::block_z, where);
    order.insert(order.begin(), all);
  }
  Loop columns = blocks.inner_j;
  if (t.places > 1) {
    const Split place = result.split(columns, t.columns / t.places, t.of_threads, where);
    order.push_back(place.outer), columns = place.inner;
  }
  const Tiles threads = result.tile(blocks.inner_i, columns, t.own_rows, t.own_columns, t.of_threads, where);
  for (const Loop& l : {threads.outer_i, threads.outer_j, threads.inner_i, threads.inner_j}) order.push_back(l);
  result.reorder(order, where);
  result.unroll(threads.inner_i, where);
  t.vectors ? result.vectorize(threads.inner_j, where) : result.unroll(threads.inner_j, where);
  result.bind(blocks.outer_i, gpu::block_y, where).bind(blocks.outer_j, gpu::block_x, where);
  result.bind(threads.outer_i, gpu::thread_y, where).bind(threads.outer_j, gpu::thread_x, where);
  if (t.places > 1) result.vthread(order[order.size() - 5], where);
  return threads.outer_j;
}

std::vector<Stage> start_copies(Schedule& s, const Stage& sums, const Scope& scope, Where where) {
  std::vector<Stage> starts;
  std::vector<ir::Id> read;
  ir::walk(definition(s, sums).inits[0], [&](const Expr& e) {
    if (ir::is(e, ir::Op::load) && std::find(read.begin(), read.end(), e.node()->id) == read.end())
      read.push_back(e.node()->id);
    return true;
  });
  for (const ir::Id buffer : read)
    starts.push_back(s.cache_read(tensor_of(s, buffer, where), {sums}, scope, Operand(0, where), where));
  return starts;
}

}  // namespace detail

namespace {

// Schedules the product, or the sums of its parts, with loops over blocks. `result` is the stage with the loops, and `product`
// the one with the sums. If they are the same stage, the sums become a stage of their own.
void by_blocks(Schedule& s, const Stage& product, const Stage& result, const Tensor& A, const Tensor& B,
               const std::optional<TensorTiles>& tiles, const std::optional<Factors>& factors, const GpuMatmulOptions& o,
               Where where) {
  const Scope scope = tiles ? Scope::fragment : Scope::registers;
  const bool alone = product.id() == result.id();
  const Stage sums = alone ? s.cache_write(product, scope, where) : product;
  const bool vectors = s.target().device().kind == Device::Kind::vulkan;
  if (tiles && !alone) sums.store_in(scope, where);
  if (vectors) {
    vector_product(s, sums, result, A, B, o, where);
  } else {
    const std::size_t batch = result.spatial_loops(where).size() - 2;
    const Factors both = factors ? *factors : factors_of(s, sums, A, B, batch, o, where);
    if (tiles)
      tensor_product(s, sums, result, A, B, both, *tiles, o, where);
    else
      shared_tiles(s, sums, result, A, B, both, o, where);
  }
  if (!tiles && !alone) sums.store_in(scope, where);
}

void schedule_product(Schedule& s, const Stage& product, const Tensor& A, const Tensor& B, const Stage& result,
                      GpuMatmulOptions o, Where where) {
  const auto tiles = tensor_tiles(s, product, A, B, o, where);
  if (o.stages == 0) o.stages = 2;
  if (o.part_k == GpuMatmulOptions::all_k) o.part_k = 0;
  const std::int64_t step = tiles ? tiles->block_k : steps_between_copies(s, A, o, where);
  o.part_k = ((tiles ? tiles->part_k : o.part_k) + step - 1) / step * step;
  if (o.part_k == 0) return by_blocks(s, product, result, A, B, tiles, {}, o, where);
  const Factors both = factors_of(s, product, A, B, product.spatial_loops(where).size() - 2, o, where);
  const Stage parts = sums_of_parts(product, o.part_k, where);
  by_blocks(s, parts, parts, A, B, tiles, both, o, where);
  add_parts(s, product, result, where);
}

}  // namespace

void gpu_matmul(Schedule& s, const Stage& product, const Tensor& A, const Tensor& B, const GpuMatmulOptions& given,
                Where where) {
  const AtLine line(where);
  const GpuMatmulOptions o = completed(s, given, where);
  expect_product(s, product, o, where);
  schedule_product(s, product, A, B, product, o, where);
}

void gpu_matmul(Schedule& s, const Stage& product, const Tensor& A, const Tensor& B, const Stage& result,
                const GpuMatmulOptions& given, Where where) {
  const AtLine line(where);
  const GpuMatmulOptions o = completed(s, given, where);
  expect_product(s, product, o, where);
  const ir::Stage &d = detail::definition(s, result), &of = detail::definition(s, product);
  if (d.is_reduction() || d.is_recurrence() || d.spatial_rank() != of.spatial_rank())
    refuse("gpu_matmul", "an elementwise result with the dimensions of " + of.name,
           d.name + (d.is_reduction()    ? ", a reduction"
                     : d.is_recurrence() ? ", a recurrence"
                                         : " of " + std::to_string(d.spatial_rank()) + " dimensions"),
           where);
  schedule_product(s, product, A, B, result, o, where);
}

}  // namespace ashlar::schedules
