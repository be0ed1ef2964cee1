// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products on tensor cores. A block computes 128 x 128 results, and each of its four warps 64 x 64 of them in registers:
//
//   for ko (32 elements at a time)
//     A tile 128 x 32, B tile 32 x 128     shared memory, a ring of four, copied asynchronously 16 bytes at a time
//     for kk in 2                          of 16
//       64 x 16 of A, 16 x 64 of B         registers, by ldmatrix
//       4 x 4 products of 16 x 16          mma
//
// In a tile, the 16-byte pieces of a row are permuted (swizzled), so that the eight rows that ldmatrix reads at once lie in
// different banks. Past the ends of M, N and K the tiles hold zeros. All sums of a tile are computed, so the loop has no
// condition; only the stores of results have one.
//
// Blocks start along x first. Groups of eight rows of blocks run column by column, so the blocks that run concurrently read few
// different tiles of A and B, and L2 keeps these. Blocks of the last group that lie below the results end at once.
#include "schedules/src/families/devices/gpu_tensor.h"

#include <algorithm>
#include <utility>

#include <ashlar/instructions/ampere.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/matmul.h"

namespace ashlar::schedules::detail {

namespace {

constexpr const char* family = "gpu_matmul";
constexpr int chunk = 16;  // bytes of a copy, and of a row that ldmatrix reads

bool is_byte(Type t) { return t == i8 || t == u8; }

// The instruction for factors of these types, if there is one.
bool has_instruction(const Target& t, Type a, Type b, Type sums, GpuMatmulOptions::Math math) {
  using Math = GpuMatmulOptions::Math;
  if (!t.is_gpu() || t.device().kind != Device::Kind::cuda || !t.has("sm_80")) return false;
  if (is_byte(a) && is_byte(b)) return sums == i32;
  if (!(a == b) || !(sums == f32)) return false;
  if (a == f32) return math == Math::tf32 || math == Math::tf32_twice;
  return a == f16 || a == bf16;
}

Intrinsic instruction(Type a, Type b, Type sums, const GpuMatmulOptions& o, Where where) {
  using ampere::Rounding;
  const GpuMatmulOptions::Math math = o.math;
  if (is_byte(a)) return ampere::mma(a, b, o.transposed_b ? ampere::Lies::rows : ampere::Lies::columns, where);
  const Rounding rounding = !(a == f32)                            ? Rounding::of_machine
                            : math == GpuMatmulOptions::Math::tf32 ? Rounding::to_tf32
                                                                   : Rounding::to_3xtf32;
  return ampere::mma(a, sums, rounding, where);
}

// A tile in shared memory with rows of `wide` elements: copied by all threads, with permuted rows. ldmatrix reads rows 0, 1, 4,
// 5, 8, .. at once if this is a right factor of bytes in columns, and eight consecutive rows otherwise.
void shared_tile(const Stage& copy, const Loop& at, int wide, Type type, int rank, bool bytes_in_columns, Where where) {
  const int elements = chunk / type.bytes(), chunks = wide / elements;  // of a row
  const int rows = chunks >= 8 ? 1 : 8 / chunks, period = std::min(chunks, 8);
  copy.compute_at(at, where);
  const auto place = [&](const Var& r, const Var& c) {
    const Expr row = bytes_in_columns ? r % 2 + r / 4 * 2 : Expr(r);
    return c ^ (row / rows % period * elements);
  };
  if (rank == 2) copy.swizzle([&](Var r, Var c) { return ashlar::at(r, place(r, c)); }, where);
  if (rank == 3) copy.swizzle([&](Var b, Var r, Var c) { return ashlar::at(b, r, place(r, c)); }, where);
  if (rank == 4) copy.swizzle([&](Var a, Var b, Var r, Var c) { return ashlar::at(a, b, r, place(r, c)); }, where);
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const Split parts = copy.split(loops.back(), elements, Tail::exact, where);
  copy.vectorize(parts.inner, where);
  copy.bind(copy.fuse(loops[loops.size() - 2], parts.outer, where), gpu::threads, where);
}

// Loads 16 rows of a factor for one step of k into registers: by an instruction if there is one for this layout of the tile,
// otherwise each lane loads its own elements.
void fragment_tile(const Stage& copy, const Loop& at, bool left, bool columns, Type type, Where where) {
  copy.compute_at(at, where);
  if (columns && type.bits != 16 && (left || !is_byte(type))) return;
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const int deep = ampere::depth(type);
  const Tiles tiles =
      copy.tile(loops[loops.size() - 2], loops.back(), columns ? deep : 16, columns ? 16 : deep, Tail::exact, where);
  const ampere::Lies lies = columns ? ampere::Lies::columns : ampere::Lies::rows;
  copy.tensorize(tiles.inner_i, left ? ampere::load_left(type, lies, where) : ampere::load_right(type, lies, where), where);
}

}  // namespace

std::optional<TensorTiles> tensor_tiles(const Schedule& s, const Stage& product, const Tensor& A, const Tensor& B,
                                        const GpuMatmulOptions& o, Where where) {
  using Math = GpuMatmulOptions::Math;
  const Type a = A.type(where), b = B.type(where), sums = definition(s, product).values[0].type();
  const bool asked = o.math == Math::tf32 || o.math == Math::tf32_twice;
  const bool own_tiles = o.tile_i > 0 || o.tile_j > 0;
  if (asked && !(a == f32 && b == f32 && sums == f32))
    refuse(family, "factors and sums of f32 for tf32", ir::text(a) + ", " + ir::text(b) + " and " + ir::text(sums), where);
  if (o.math == Math::exact || own_tiles || !has_instruction(s.target(), a, b, sums, o.math)) {
    if (asked)
      refuse(family, "a CUDA device, and no tiles of threads, for tf32",
             own_tiles ? std::string("tile_i or tile_j") : std::string(s.target().text()), where);
    return std::nullopt;
  }
  TensorTiles t{a, sums};
  t.block_k = 64 / a.bytes();
  if (o.stages > 0) t.stages = o.stages;
  const std::vector<Loop> nest = product.spatial_loops(where);
  const auto blocks = [&](const Loop& over, int tile) { return (number_or(over.extent(where), 1 << 20) + tile - 1) / tile; };
  const auto count = [&](int rows, int columns) {
    std::int64_t n = blocks(nest[nest.size() - 2], rows) * blocks(nest.back(), columns);
    for (std::size_t k = 0; k + 2 < nest.size(); ++k) n *= blocks(nest[k], 1);
    return n;
  };
  const bool small = o.small_blocks || count(t.block_i, t.block_j) * 4 < s.target().device().multiprocessors;
  if (small) t.block_i = t.block_j = 64, t.warp_i = t.warp_j = 32;
  // Groups of equal size, of at most 8 rows of blocks.
  const std::int64_t rows = blocks(nest[nest.size() - 2], t.block_i), groups = (rows + 7) / 8;
  t.raster = o.raster > 0 ? o.raster : groups > 0 ? static_cast<int>((rows + groups - 1) / groups) : 1;
  const Expr terms = product.reduction(where).extent(where);
  const std::int64_t most = number_or(terms, GpuMatmulOptions::all_k);
  if (o.part_k > 0)
    t.part_k = o.part_k < most ? o.part_k : 0;
  else if (small && !o.small_blocks)
    t.part_k = terms_of_part(s, count(t.block_i, t.block_j), terms, t.block_k);
  return t;
}

void tensor_product(Schedule& s, const Stage& sums, const Stage& result, const Tensor& A, const Tensor& B, const Factors& tiles,
                    const TensorTiles& t, const GpuMatmulOptions& o, Where where) {
  const std::vector<Loop> nest = result.spatial_loops(where);
  const std::size_t batch = nest.size() - 2;
  const Type type_a = A.type(where), type_b = B.type(where);
  const auto& [a, b] = tiles;
  expect_shared(s, t.stages * std::int64_t{t.block_i + t.block_j} * t.block_k * type_a.bytes(), where);
  const std::vector<Stage> starts = start_copies(s, sums, Scope::shared, where);

  // Groups of rows of blocks; the blocks of a group run column by column.
  Loop rows_of_group = nest[batch], group;
  if (t.raster > 1) {
    const Split groups = result.split(nest[batch], std::int64_t{t.raster} * t.block_i, Tail::cover, where);
    group = groups.outer, rows_of_group = groups.inner;
  }
  const Split rows = result.split(rows_of_group, t.block_i, t.raster > 1 ? Tail::exact : Tail::cover, where);
  const Split columns = result.split(nest[batch + 1], t.block_j, Tail::cover, where);
  const Tiles warps = result.tile(rows.inner, columns.inner, t.warp_i, t.warp_j, Tail::exact, where);
  std::vector<Loop> outer(nest.begin(), nest.begin() + static_cast<std::ptrdiff_t>(batch));
  Loop y = rows.outer, x = columns.outer;  // blocks start along x first
  if (t.raster > 1) outer.push_back(group), std::swap(x, y);
  std::vector<Loop> order = outer;
  for (const Loop& l : {y, x, warps.outer_i, warps.outer_j, warps.inner_i, warps.inner_j}) order.push_back(l);
  result.reorder(order, where);
  const Loop warp = result.fuse(warps.outer_i, warps.outer_j, where);
  if (!outer.empty()) result.bind(fused(result, outer, where), gpu::block_z, where);
  result.bind(y, gpu::block_y, where).bind(x, gpu::block_x, where).bind(warp, gpu::warp, where);

  sums.compute_at(warp, where);
  const int deep = ampere::depth(t.factors);
  // Past the end both factors have zeros.
  const Split steps = sums.split(sums.reduction(where), t.block_k, o.part_k > 0 ? Tail::exact : Tail::pad, where);
  const Split step = sums.split(steps.inner, deep, Tail::exact, where);
  const std::vector<Loop> of_sums = sums.spatial_loops(where);
  for (const Stage& start : starts) {
    start.compute_at(warp, where);
    start.bind(fused(start, start.spatial_loops(where), where), gpu::threads, where);
  }
  const Tiles tile = sums.tile(of_sums[batch], of_sums[batch + 1], 16, 16, Tail::exact, where);
  order = {steps.outer, step.outer};
  order.insert(order.end(), of_sums.begin(), of_sums.begin() + static_cast<std::ptrdiff_t>(batch));
  for (const Loop& l : {tile.outer_i, tile.outer_j, tile.inner_i, tile.inner_j, step.inner}) order.push_back(l);
  sums.reorder(order, where);
  sums.unroll(step.outer, where);

  shared_tile(a, steps.outer, o.transposed_a ? t.block_i : t.block_k, type_a, rank_of(s, a), false, where);
  shared_tile(b, steps.outer, o.transposed_b ? t.block_k : t.block_j, type_b, rank_of(s, b), is_byte(type_b) && !o.transposed_b,
              where);
  const Stage left = s.cache_read(a, {sums}, Scope::fragment, where), right = s.cache_read(b, {sums}, Scope::fragment, where);
  fragment_tile(left, step.outer, true, o.transposed_a, type_a, where);
  fragment_tile(right, step.outer, false, !o.transposed_b, type_b, where);
  if (t.stages > 1)
    sums.pipeline(steps.outer, {.stages = t.stages, .loads = {a, b}, .async_copy = true, .any_alignment = true}, where);
  sums.decompose_init(steps.outer, where);
  sums.tensorize(tile.inner_i, instruction(type_a, type_b, t.sums, o, where), where);
}

}  // namespace ashlar::schedules::detail
