// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedules/src/families/tiles/tile_attention.h"

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ops/attention.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/tiles/tiles.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr const char* attention_of_tiles = "tile_attention";

class AttentionInTiles {
 public:
  AttentionInTiles(Schedule& schedule, const AttentionParts& parts, const TileAttentionOptions& o, Where w)
      : s(schedule), a(parts), where(w) {
    // On chips whose factors are held in registers, what is weighted so far leaves less room the longer values are.
    const bool in_registers = !s.target().has("sm_90") || s.target().has("sm_120");
    const Loop last = stage(a.result).spatial<4>(where)[3];
    const bool longer = width_along(s, last, std::int64_t{1} << 20, where) > 64;
    queries = o.queries > 0 ? o.queries : in_registers && longer ? 32 : 64;
    keys = o.keys > 0 ? o.keys : in_registers && !longer ? 32 : 64;
  }

  void run() {
    const Stage scores = stage(a.scores), maximum = stage(a.maximum), sum = stage(a.sum), exps = stage(a.exps),
                weighted = stage(a.weighted), result = stage(a.result);
    const Stage own = s.cache_read(tensor_of(s, a.q, where), {scores}, Scope::global, where);
    const Stage top = part(maximum), total = part(sum), product = part(weighted);
    const Tensor of_maximum = tensor_of(s, definition(s, maximum).buffers.front(), where);
    const auto rescale_rows = rescale_of_attention(definition(s, exps));
    exps.rebase(of_maximum, rescale_rows, where);
    sum.roll(of_maximum, rescale_rows, where);
    const Stage all = weighted.roll(of_maximum, rescale_rows, where);

    const auto [b, h, i, e] = result.spatial<4>(where);
    value = width_along(s, e, std::int64_t{1} << 20, where);
    const Split rows = result.split(i, queries, Tail::guard, where);
    result.reorder(b, h, rows.outer, rows.inner, e);
    result.bind(result.fuse(b, h, where), gpu::block_y, where).bind(rows.outer, gpu::block_x, where);
    result.as_tile(rows.inner, Factor(queries), where).as_tile(e, Factor(value), where);

    all.compute_at(rows.outer, where);
    const Loop tiles = all.reduction(where);
    {
      const auto [ab, ah, ai, ae] = all.spatial<4>(where);
      all.reorder(ab, ah, tiles, ai, ae);
      all.drop_dim(0, 3, where).drop_dim(1, 3, where);
      all.as_tile(ai, Factor(queries), where).as_tile(ae, Factor(value), where);
    }
    for (const Stage& of : {product, total, exps, top, scores}) of.compute_at(tiles, where);
    {
      const auto [pb, ph, pi, pe, pt] = product.spatial<5>(where);
      product.reorder({pb, where}, ph, pt, pi, pe, product.reduction(where));
      product.as_tile(pi, Factor(queries), where).as_tile(pe, Factor(value), where);
      product.as_tile(product.reduction(where), Factor(keys), where);
    }
    for (const Stage& of : {total, top}) {
      const auto [tb, th, ti, tt] = of.spatial<4>(where);
      of.reorder({tb, where}, th, tt, ti, of.reduction(where));
      of.as_tile(ti, Factor(queries), where).as_tile(of.reduction(where), Factor(keys), where);
    }
    for (const Stage& of : {exps, scores}) {
      const std::vector<Loop> loops = of.spatial_loops(where);
      of.as_tile(loops[2], Factor(queries), where).as_tile(loops[3], Factor(keys), where);
    }
    const Loop d = scores.reduction(where);
    const std::int64_t length = width_along(s, d, std::int64_t{1} << 20, where);
    scores.as_tile(d, Factor(length), where);
    own.compute_at(rows.outer, where);
    const std::vector<Loop> loops = own.spatial_loops(where);
    own.as_tile(loops[2], Factor(queries), where).as_tile(loops[3], Factor(length), where);
  }

 private:
  Stage stage(ir::Id id) const { return stage_of(s, id, where); }

  // The reduction of each tile of keys.
  Stage part(const Stage& reduction) const {
    return reduction.rfactor(reduction.split(reduction.reduction(where), keys, Tail::guard, where).outer, where);
  }

  Schedule& s;
  const AttentionParts a;
  const Where where;
  std::int64_t queries = 0, keys = 0, value = 0;  // extents of tiles
};

}  // namespace

namespace detail {

void tile_attention(Schedule& s, const AttentionParts& a, const TileAttentionOptions& o, Where where) {
  expect_tiles(attention_of_tiles, s, where);
  for (const auto& [name, n] : {std::pair{"queries", o.queries}, {"keys", o.keys}}) {
    expect_option(attention_of_tiles, name, n, 0, where);
    if (n > 0) expect_power_of_two(attention_of_tiles, name, n, where);
  }
  AttentionInTiles(s, a, o, where).run();
}

}  // namespace detail

void tile_attention(Schedule& s, const ops::Attention& y, const TileAttentionOptions& o, Where where) {
  const AtLine line(where);
  expect_tiles(attention_of_tiles, s, where);
  const auto parts = detail::attention_parts(s.scheduled().program, s[y.result].id());
  if (!parts || parts->skips)
    refuse(attention_of_tiles,
           "an attention of f16 or bf16 in which queries see all keys, or v is finite (.finite), with queries and values of 1 "
           "to " +
               std::to_string(detail::most_of_attention) + " elements",
           detail::definition(s, s[y.result]).name, where);
  detail::tile_attention(s, *parts, o, where);
}

}  // namespace ashlar::schedules
