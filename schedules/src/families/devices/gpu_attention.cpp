// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the loop nest in the header. Every length is handled in this way: copies of q, k and v have zeros past the end, and
// tiles of scores are computed whole. Scores past the last key are not terms of reductions, and are replaced by 0 where they
// become factors. Tiles of exponentials read a copy of the maximum that has zeros past the last query.
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
constexpr std::int64_t most_columns = 128;

// A tile in shared memory, copied by all threads, 16 bytes at a time. Rows are padded by 16 bytes, so that the eight rows that
// ldmatrix reads at once lie in different banks.
void copy_tile(const Stage& copy, const Loop& at, Type type, Where where) {
  copy.compute_at(at, where);
  copy.pad(3, bytes_of_access / type.bytes(), where);
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const Split parts = copy.split(loops[3], bytes_of_access / type.bytes(), Tail::exact, where);
  copy.vectorize(parts.inner, where);
  copy.bind(copy.fuse(loops[2], parts.outer, where), gpu::threads, where);
}

// Loads 16 rows of a factor for one step into registers, by ldmatrix.
void fragment_tile(const Stage& copy, const Loop& at, const Intrinsic& load, Where where) {
  copy.compute_at(at, where);
  const std::vector<Loop> loops = copy.spatial_loops(where);
  const Tiles tiles = copy.tile(loops[2], loops[3], sixteen, sixteen, Tail::pad, where);
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
    const Stage scores = stage(a.scores), maximum = stage(a.maximum), sum = stage(a.sum), exps = stage(a.exps),
                weighted = stage(a.weighted);
    // Copies with zeros past the ends come first, before tiles reach there.
    const Tensor of_exps = tensor_of(s, definition(s, exps).buffers.front(), where);
    const Stage left = s.cache_read(of_exps, {sum, weighted}, Scope::fragment, Operand(0, where), where);
    const Stage values = s.cache_read(v, {weighted}, Scope::shared, Operand(0, where), where);
    const Tensor of_scores = tensor_of(s, definition(s, scores).buffers.front(), where);
    const Stage seen = s.cache_read(of_scores, {maximum, exps}, Scope::fragment, Operand(0, where), where);
    const std::vector<Stage> masks = copies_of_masks(exps, maximum);
    const Stage sums = s.cache_write(scores, Scope::fragment, where);
    const Stage queries = s.cache_read(q, {sums}, Scope::shared, Operand(0, where), where),
                keys = s.cache_read(k, {sums}, Scope::shared, Operand(0, where), where);
    // Split the keys into tiles, each with its own maximum; then merge them into one pass.
    const Stage top = part(maximum, Tail::guard), total = part(sum, Tail::pad), product = part(weighted, Tail::pad);
    const Tensor of_maximum = tensor_of(s, definition(s, maximum).buffers.front(), where);
    const auto rescale = rescale_of_attention(definition(s, exps));
    exps.rebase(of_maximum, rescale, where);
    sum.roll(of_maximum, rescale, where);
    const Stage all = weighted.roll(of_maximum, rescale, where);
    const Stage top_of_lanes = in_lanes(top), total_of_lanes = in_lanes(total);

    over_blocks();
    all.compute_at(warp_, where).store_in(Scope::fragment, where);
    const auto [b, h, i, e] = all.spatial<4>(where);
    const Loop tiles = all.reduction(where);
    const Split rows = all.split(i, sixteen, Tail::pad, where), columns = all.split(e, sixteen, Tail::pad, where);
    all.reorder(tiles, b, h, rows.outer, columns.outer, rows.inner, columns.inner);
    all.drop_dim(0, 3, where).drop_dim(1, 3, where);

    product.compute_at(tiles, where).store_in(Scope::fragment, where);
    weights(product, left, values);
    rows_of_tile(total, total_of_lanes, tiles);
    left.compute_at(tiles, where);
    tile(left, Tail::exact);
    exps.compute_at(tiles, where).store_in(Scope::fragment, where);
    tile(exps, Tail::pad);
    rows_of_tile(top, top_of_lanes, tiles);
    seen.compute_at(tiles, where);
    tile(seen, Tail::exact);
    scores.compute_at(tiles, where).store_in(Scope::fragment, where);
    sums.compute_at(tile(scores, Tail::cover), where);
    products(sums, queries, keys);
    for (const Stage& mask : masks) {
      mask.compute_at(tiles, where);
      mask.bind(fused(mask, mask.spatial_loops(where), where), gpu::threads, where);
    }
    copy_tile(queries, block_, type, where);
    copy_tile(keys, tiles, type, where);
    copy_tile(values, tiles, type, where);
    all.pipeline(tiles, {.stages = 2, .loads = {keys, values}, .async_copy = true, .any_alignment = true}, where);
  }

 private:
  Stage stage(ir::Id id) const { return stage_of(s, id, where); }

  // Other tensors that the scores are computed from.
  std::vector<Stage> copies_of_masks(const Stage& exps, const Stage& maximum) {
    std::vector<ir::Id> read;
    ir::walk(definition(s, exps).values.front(), [&](const Expr& e) {
      const ir::Id b = ir::is(e, ir::Op::load) ? e.node()->id : 0;
      if (b && !s.scheduled().program.buffer(b).stage && std::find(read.begin(), read.end(), b) == read.end())
        read.push_back(b);
      return true;
    });
    std::vector<Stage> copies;
    for (const ir::Id b : read) {
      const Tensor mask = tensor_of(s, b, where);
      const Operand fill = mask.type(where).is_bool() ? Operand(false, where) : Operand(0, where);
      copies.push_back(s.cache_read(mask, {exps, maximum}, Scope::shared, fill, where));
    }
    return copies;
  }

  // The partial reduction over each tile of keys.
  Stage part(const Stage& reduction, Tail tail) const {
    return reduction.rfactor(reduction.split(reduction.reduction(where), o.block_j, tail, where).outer, where);
  }

  // The share of a row of the tile that each of four lanes holds: two neighbors out of every eight columns.
  Stage in_lanes(const Stage& part) const {
    const Split eights = part.split(part.reduction(where), 8, Tail::exact, where);
    return part.rfactor(part.split(eights.inner, 2, Tail::exact, where).outer, where);
  }

  // Splits the elements of a value: the weighted sums so far and those of the current tile must fit the registers. Blocks for
  // the other columns compute the scores again.
  static std::int64_t columns_of_warp(std::int64_t all) {
    std::int64_t own = std::min(all, most_columns);
    while (own > sixteen && (all % own != 0 || own % sixteen != 0)) own -= sixteen;
    return own;
  }

  void over_blocks() {
    const Stage result = stage(a.result);
    const auto [b, h, i, e] = result.spatial<4>(where);
    const Split blocks = result.split(i, o.block_i, Tail::cover, where);
    const Split warps = result.split(blocks.inner, sixteen, Tail::exact, where);
    const std::int64_t all = number_or(e.extent(where), sixteen), own = columns_of_warp(all);
    if (all % sixteen != 0) {
      const Split columns = result.split(e, sixteen, Tail::cover, where);
      result.reorder({b, where}, h, blocks.outer, warps.outer, warps.inner, columns.outer, columns.inner);
    } else if (own < all) {
      const Split parts = result.split(e, own, Tail::exact, where);
      result.reorder({parts.outer, where}, b, h, blocks.outer, warps.outer, warps.inner, parts.inner);
      result.bind(parts.outer, gpu::block_z, where);
    } else {
      result.reorder(b, h, blocks.outer, warps.outer, warps.inner, e);
    }
    result.bind(result.fuse(b, h, where), gpu::block_y, where).bind(blocks.outer, gpu::block_x, where);
    result.bind(warps.outer, gpu::warp, where);
    block_ = blocks.outer, warp_ = warps.outer;
  }

  // A whole tile, in the registers of a warp. Returns the loop that contains its rows.
  Loop tile(const Stage& of, Tail tail) const {
    const auto [b, h, i, j] = of.spatial<4>(where);
    const Split rows = of.split(i, sixteen, tail, where), columns = of.split(j, o.block_j, tail, where);
    of.reorder(b, h, rows.outer, columns.outer, rows.inner, columns.inner);
    return columns.outer;
  }

  // One number for each row of a tile: combines the shares of its four lanes.
  void rows_of_tile(const Stage& part, const Stage& lanes, const Loop& tiles) {
    const Tensor of_lanes = tensor_of(s, definition(s, lanes).buffers.front(), where);
    const Stage all = s.cache_read(of_lanes, {part}, Scope::fragment, where);
    part.compute_at(tiles, where).store_in(Scope::fragment, where);
    part.split(part.spatial<4>(where)[2], sixteen, Tail::pad, where);
    all.compute_at(tiles, where);
    const auto [ab, ah, ai, at, of_four] = all.spatial<5>(where);
    const Split all_rows = all.split(ai, sixteen, Tail::pad, where);
    all.reorder(ab, ah, at, all_rows.outer, all_rows.inner, of_four);
    lanes.compute_at(tiles, where).store_in(Scope::fragment, where);
    all.tensorize(all_rows.inner, ampere::exchange_rows(where), where);
    const auto [b, h, i, t, lane] = lanes.spatial<5>(where);
    const auto [eights, pair] = lanes.reduction<2>(where);
    const Split rows = lanes.split(i, sixteen, Tail::pad, where);
    lanes.reorder(eights, pair, b, h, t, rows.outer, rows.inner, lane);
    lanes.decompose_init(eights, where);
  }

  // The sum of a tile's exponentials times values, for 16 rows of a warp.
  void weights(const Stage& product, const Stage& left, const Stage& values) {
    const auto [b, h, i, e, t] = product.spatial<5>(where);
    const Split steps = product.split(product.reduction(where), sixteen, Tail::exact, where);
    const Split rows = product.split(i, sixteen, Tail::pad, where), columns = product.split(e, sixteen, Tail::pad, where);
    product.reorder(steps.outer, b, h, t, rows.outer, columns.outer, rows.inner, columns.inner, steps.inner);
    product.unroll(steps.outer, where);
    (void)left;
    fragment_tile(s.cache_read(values, {product}, Scope::fragment, where), steps.outer,
                  ampere::load_right(type, ampere::Lies::columns, where), where);
    product.decompose_init(steps.outer, where);
    const ampere::LeftFactor weight = a.rounded ? ampere::LeftFactor::rounded : ampere::LeftFactor::as_given;
    product.tensorize(
        rows.inner, a.skips ? ampere::mma_skipping_zeros(type, weight, where) : ampere::mma_rounding_left(type, weight, where),
        where);
  }

  void products(const Stage& scores, const Stage& queries, const Stage& keys) {
    const auto [b, h, i, j] = scores.spatial<4>(where);
    const Split steps = scores.split(scores.reduction(where), sixteen, Tail::pad, where);
    const Split rows = scores.split(i, sixteen, Tail::pad, where), all = scores.split(j, o.block_j, Tail::pad, where);
    const Split columns = scores.split(all.inner, sixteen, Tail::exact, where);
    scores.reorder(steps.outer, b, h, rows.outer, all.outer, columns.outer, rows.inner, columns.inner, steps.inner);
    scores.unroll(steps.outer, where);
    fragment_tile(s.cache_read(queries, {scores}, Scope::fragment, where), steps.outer,
                  ampere::load_left(type, ampere::Lies::rows, where), where);
    fragment_tile(s.cache_read(keys, {scores}, Scope::fragment, where), steps.outer,
                  ampere::load_right(type, ampere::Lies::rows, where), where);
    scores.decompose_init(steps.outer, where);
    scores.tensorize(rows.inner, ampere::mma(type, f32, ampere::Rounding::of_machine, where), where);
  }

  Schedule& s;
  const AttentionParts a;
  const GpuAttentionOptions o;
  const Where where;
  const Tensor q, k, v;
  const Type type;
  Loop block_, warp_;
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
           "an attention of f16 or bf16, with queries and values of 1 to " + std::to_string(detail::most_of_attention) +
               " elements",
           detail::definition(s, s[y.result]).name, where);
  detail::gpu_attention(s, *parts, o, where);
}

}  // namespace ashlar::schedules
