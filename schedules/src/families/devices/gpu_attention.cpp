// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop nest that the header shows. What makes all lengths right: copies of q, k and v have zeros past the end, tiles of
// scores are computed whole, and what is read of a tile past the end of the keys is no term of a reduction, or is filled with 0
// where it becomes a factor. Of the maximum, tiles of exponentials read a copy that has zeros past the last query.
#include "schedules/src/families/devices/gpu_attention.h"

#include <algorithm>

#include <ashlar/instructions/ampere.h>
#include <ashlar/ir/at_line.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ops/attention.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr const char* attention_family = "gpu_attention";
constexpr int sixteen = 16;  // rows, columns and steps of an instruction

// A tile in shared memory, copied by all threads, 16 bytes at a time. Rows are 16 bytes longer than what they hold, so that the
// eight rows that ldmatrix reads at once lie in different banks.
void copy_tile(const Stage& copy, const Loop& at, Type type, Where where) {
  copy.compute_at(at, where);
  copy.pad(3, bytes_of_access / type.bytes(), where);
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const Split parts = copy.split(loops[3], bytes_of_access / type.bytes(), Tail::exact, where);
  copy.vectorize(parts.inner, where);
  copy.bind(copy.fuse(loops[2], parts.outer, where), gpu::threads, where);
}

// The registers that hold 16 rows of a factor for one step, by ldmatrix.
void fragment_tile(const Stage& copy, const Loop& at, const Intrinsic& load, Where where) {
  copy.compute_at(at, where);
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const Tiles tiles = copy.tile(loops[2], loops[3], sixteen, sixteen, Tail::exact, where);
  copy.tensorize(tiles.inner_i, load, where);
}

class OneLaunch {
 public:
  OneLaunch(Schedule& schedule, const AttentionParts& parts, const GpuAttentionOptions& options, Where w)
      : s(schedule),
        a(parts),
        o(options),
        where(w),
        q(tensor_of(s, a.q, where)),
        k(tensor_of(s, a.k, where)),
        v(tensor_of(s, a.v, where)),
        type(q.type(where)) {}

  void run() {
    const Stage maximum = stage(a.maximum), sum = stage(a.sum), exps = stage(a.exps), weighted = stage(a.weighted);
    // Tiles of scores for each of the passes, and of exponentials for two of them.
    const Stage summed = s.clone(exps, {sum}, where);
    const Stage of_maximum = s.clone(stage(a.scores), {maximum}, where), of_sum = s.clone(stage(a.scores), {summed}, where),
                of_weighted = stage(a.scores);
    const Stage sums_of_maximum = s.cache_write(of_maximum, Scope::fragment, where);

    over_blocks();
    const Loop keys = over_keys(weighted, exps);
    // What has zeros past the ends, before tiles reach there.
    const Stage tops = s.cache_read(tensor_of(s, definition(s, maximum).buffers.front(), where), {summed, exps}, Scope::shared,
                                    Operand(0, where), where);
    const Stage queries = s.cache_read(q, {sums_of_maximum, of_sum, of_weighted}, Scope::shared, Operand(0, where), where);
    const Stage k1 = keys_of(sums_of_maximum), k2 = keys_of(of_sum), k3 = keys_of(of_weighted);

    exps.compute_at(keys, where);
    tile_of_scores(exps, of_weighted);
    const Loop keys_of_sum = reduce_rows(sum, summed);
    tile_of_scores(summed, of_sum);
    tops.compute_at(block_, where);
    tops.bind(tops.split(tops.spatial<3>(where)[2], o.block_i, Tail::guard, where).inner, gpu::threads, where);
    const Loop keys_of_maximum = reduce_rows(maximum, of_maximum);
    tile_of_scores(of_maximum, sums_of_maximum);

    copy_tile(queries, block_, type, where);
    copy_tile(k1, keys_of_maximum, type, where);
    copy_tile(k2, keys_of_sum, type, where);
    copy_tile(k3, keys, type, where);
    products(sums_of_maximum, queries, k1);
    products(of_sum, queries, k2);
    products(of_weighted, queries, k3);
    ahead(parts_[1], keys_of_maximum, {k1});
    ahead(parts_[0], keys_of_sum, {k2});
    ahead(weighted, keys, {k3, values_.front()});
  }

 private:
  Stage stage(ir::Id id) const { return stage_of(s, id, where); }
  Stage keys_of(const Stage& scores) { return s.cache_read(k, {scores}, Scope::shared, Operand(0, where), where); }

  void over_blocks() {
    const Stage result = stage(a.result);
    const auto [b, h, i, e] = result.spatial<4>(where);
    const Split blocks = result.split(i, o.block_i, Tail::guard, where);
    const Split warps = result.split(blocks.inner, sixteen, Tail::exact, where);
    result.reorder(b, h, blocks.outer, warps.outer, warps.inner, e);
    result.bind(result.fuse(b, h, where), gpu::block_y, where).bind(blocks.outer, gpu::block_x, where);
    result.bind(warps.outer, gpu::warp, where);
    block_ = blocks.outer, warp_ = warps.outer;
  }

  // The last pass: 16 queries of a warp stay in its registers while it goes over the keys.
  Loop over_keys(const Stage& weighted, const Stage& exps) {
    weighted.store_in(Scope::fragment, where).compute_at(warp_, where);
    const Stage left = s.cache_read(tensor_of(s, definition(s, exps).buffers.front(), where), {weighted}, Scope::fragment,
                                    Operand(0, where), where);
    const Stage values = s.cache_read(v, {weighted}, Scope::shared, Operand(0, where), where);
    const auto [b, h, i, e] = weighted.spatial<4>(where);
    const Split keys = weighted.split(weighted.reduction(where), o.block_j, Tail::pad, where);
    const Split steps = weighted.split(keys.inner, sixteen, Tail::exact, where);
    const Split rows = weighted.split(i, sixteen, Tail::pad, where), columns = weighted.split(e, sixteen, Tail::pad, where);
    weighted.reorder(keys.outer, steps.outer, b, h, rows.outer, columns.outer, rows.inner, columns.inner, steps.inner);
    weighted.unroll(steps.outer, where);
    left.compute_at(steps.outer, where);
    copy_tile(values, keys.outer, type, where);
    fragment_tile(s.cache_read(values, {weighted}, Scope::fragment, where), steps.outer,
                  ampere::load_right(type, ampere::Lies::columns, where), where);
    weighted.decompose_init(keys.outer, where);
    weighted.tensorize(rows.inner, ampere::mma_rounding_left(type, where), where);
    values_.push_back(values);
    return keys.outer;
  }

  // One of the first passes: two threads for each row, of which each takes every other key of a tile. The loop over tiles.
  Loop reduce_rows(const Stage& reduction, const Stage& tile) {
    reduction.compute_at(block_, where).store_in(Scope::shared, where);
    const Split keys = reduction.split(reduction.reduction(where), o.block_j, Tail::guard, where);
    const Stage parts = reduction.rfactor(reduction.split(keys.inner, 2, Tail::exact, where).inner, where);
    parts.compute_at(block_, where).store_in(Scope::shared, where);
    const Loop rows = reduction.spatial<3>(where)[2];
    reduction.bind(reduction.split(rows, o.block_i, Tail::guard, where).inner, gpu::threads, where);
    const Stage of_tile = parts.rfactor(parts.reduction<2>(where)[0], where);
    const Loop tiles = parts.reduction(where);
    const auto [b, h, i, part] = parts.spatial<4>(where);
    const Split each = parts.split(i, o.block_i, Tail::guard, where);
    parts.reorder(tiles, b, h, each.outer, each.inner, part);
    const Loop thread = parts.fuse(each.inner, part, where);
    parts.bind(thread, gpu::threads, where);
    of_tile.compute_at(thread, where).store_in(Scope::registers, where);
    of_tile.unroll(of_tile.reduction(where), where);
    tile.compute_at(tiles, where);
    parts_.push_back(parts);
    return tiles;
  }

  // A tile of what is computed of scores, in shared memory; the scores of 16 queries are in the registers of a warp.
  void tile_of_scores(const Stage& tile, const Stage& scores) {
    tile.store_in(Scope::shared, where);
    const auto [b, h, i, j] = tile.spatial<4>(where);
    const Split rows = tile.split(i, o.block_i, Tail::cover, where), columns = tile.split(j, o.block_j, Tail::cover, where);
    const Split warps = tile.split(rows.inner, sixteen, Tail::exact, where);
    tile.reorder(b, h, rows.outer, columns.outer, warps.outer, warps.inner, columns.inner);
    tile.bind(warps.outer, gpu::warp, where);
    tile.pad(3, 4, where);  // of f32
    scores.store_in(Scope::fragment, where).compute_at(warps.outer, where);
  }

  void products(const Stage& scores, const Stage& queries, const Stage& keys) {
    const auto [b, h, i, j] = scores.spatial<4>(where);
    const Split steps = scores.split(scores.reduction(where), sixteen, Tail::pad, where);
    const Tiles tiles = scores.tile(i, j, sixteen, sixteen, Tail::exact, where);
    scores.reorder(steps.outer, b, h, tiles.outer_i, tiles.outer_j, tiles.inner_i, tiles.inner_j, steps.inner);
    scores.unroll(steps.outer, where);
    fragment_tile(s.cache_read(queries, {scores}, Scope::fragment, where), steps.outer,
                  ampere::load_left(type, ampere::Lies::rows, where), where);
    fragment_tile(s.cache_read(keys, {scores}, Scope::fragment, where), steps.outer,
                  ampere::load_right(type, ampere::Lies::rows, where), where);
    scores.decompose_init(steps.outer, where);
    scores.tensorize(tiles.inner_i, ampere::mma(type, f32, ampere::Rounding::of_machine, where), where);
  }

  void ahead(const Stage& reader, const Loop& keys, const std::vector<Stage>& copies) {
    reader.pipeline(keys, {.stages = 2, .loads = copies, .async_copy = true, .any_alignment = true}, where);
  }

  Schedule& s;
  const AttentionParts a;
  const GpuAttentionOptions o;
  const Where where;
  const Tensor q, k, v;
  const Type type;
  Loop block_, warp_;
  std::vector<Stage> parts_, values_;
};

}  // namespace

namespace detail {

void gpu_attention(Schedule& s, const AttentionParts& a, const GpuAttentionOptions& o, Where where) {
  expect_device(attention_family, s, where);
  if (s.target().device().kind != Device::Kind::cuda || !s.target().has("sm_80"))
    refuse(attention_family, "a CUDA device from sm_80 on", "the target " + std::string(s.target().text()), where);
  for (const auto& [name, n] : {std::pair{"block_i", o.block_i}, {"block_j", o.block_j}}) {
    expect_option(attention_family, name, n, sixteen, where);
    if (n % sixteen != 0) refuse(attention_family, std::string(name) + " of a multiple of 16", std::to_string(n), where);
  }
  expect_threads(attention_family, "2 * block_i", s, 2 * std::int64_t{o.block_i}, where);
  OneLaunch(s, a, o, where).run();
}

}  // namespace detail

void gpu_attention(Schedule& s, const ops::Attention& y, const GpuAttentionOptions& o, Where where) {
  const AtLine line(where);
  detail::expect_device(attention_family, s, where);
  const auto parts = detail::attention_parts(s.scheduled().program, s[y.result].id());
  if (!parts)
    refuse(attention_family,
           "an attention of f16 or bf16 in which queries see all keys, or v is finite (.finite), with queries and values of a "
           "multiple of 16 elements up "
           "to " +
               std::to_string(detail::most_of_attention),
           detail::definition(s, s[y.result]).name, where);
  detail::gpu_attention(s, *parts, o, where);
}

}  // namespace ashlar::schedules
