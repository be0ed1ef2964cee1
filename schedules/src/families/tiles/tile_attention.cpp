// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedules/src/families/tiles/tile_attention.h"

#include <algorithm>
#include <array>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ops/attention.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/tiles/tiles.h"
#include "schedules/src/reading.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr const char* attention_of_tiles = "tile_attention";
constexpr std::int64_t least_rows = 16;  // of an mma

class AttentionInTiles {
 public:
  AttentionInTiles(Schedule& schedule, const AttentionParts& parts, const TileAttentionOptions& o, Where w)
      : s(schedule), a(parts), where(w) {
    // On chips whose factors are held in registers, what is weighted so far leaves less room the longer values are.
    const bool in_registers = !s.target().has("sm_90") || s.target().has("sm_120");
    const std::vector<Loop> points = stage(a.result).spatial_loops(where);
    const bool longer = width_along(s, points[3], std::int64_t{1} << 20, where) > 64;
    queries = o.queries > 0 ? o.queries : in_registers && longer ? 32 : 64;
    keys = o.keys > 0 ? o.keys : in_registers && !longer ? 32 : 64;
    if (const std::int64_t rows = a.page & -a.page; o.keys == 0 && rows >= least_rows) keys = std::min(keys, rows);
    // Of a few queries, those of all heads that share keys are the rows of one product.
    const std::int64_t most = most_iterations_of(s, points[2], where).value_or(queries);
    if (a.groups > 1 && most * 2 <= queries && a.groups * most <= queries) {
      together = a.groups;
      queries = std::max(power_of_two_from(most), least_rows / power_of_two_from(together));
    } else if (o.queries == 0 && most < queries) {
      queries = std::max(power_of_two_from(most), least_rows);
    }
    if (o.part_keys == TileAttentionOptions::all_keys) return;
    if (o.part_keys > 0) {
      part_keys = (o.part_keys + keys - 1) / keys * keys;
      return;
    }
    std::vector<Expr> extents;
    for (const Loop& l : points) extents.push_back(l.extent(where));
    part_keys = tile_part(s, blocks_of(extents), stage(a.maximum).reduction(where).extent(where), keys);
  }

  // When few blocks share many keys: in variables of the program, and over the symbols of loops.
  std::optional<FewBlocks> few() const {
    std::vector<Expr> declared, of_call;
    for (const ir::IterVar& v : spatial_of(definition(s, stage(a.result)))) declared.push_back(v.end);
    for (const Loop& l : stage(a.result).spatial_loops(where)) of_call.push_back(l.extent(where));
    const Expr keys_declared = reduce_of(definition(s, stage(a.maximum))).front().end;
    declared.push_back(keys_declared);
    if (std::any_of(declared.begin(), declared.end(), [](const Expr& e) { return e.empty(); })) return std::nullopt;
    return FewBlocks{few_blocks(s, blocks_of(declared), keys_declared),
                     few_blocks(s, blocks_of(of_call), stage(a.maximum).reduction(where).extent(where))};
  }

  void run() {
    const Stage scores = stage(a.scores), maximum = stage(a.maximum), sum = stage(a.sum), exps = stage(a.exps),
                weighted = stage(a.weighted), result = stage(a.result);
    const Stage own = s.cache_read(tensor_of(s, a.q, where), {scores}, Scope::global, where);
    const Stage top = tile_of(maximum), total = tile_of(sum), product = tile_of(weighted);
    const Tensor of_maximum = tensor_of(s, definition(s, maximum).buffers.front(), where);
    const auto rescale_rows = rescale_of_attention(definition(s, exps));
    exps.rebase(of_maximum, rescale_rows, where);
    sum.roll(of_maximum, rescale_rows, where);
    const Stage all = weighted.roll(of_maximum, rescale_rows, where);
    length = width_along(s, scores.reduction(where), std::int64_t{1} << 20, where);
    value = width_along(s, result.spatial_loops(where)[3], std::int64_t{1} << 20, where);

    if (part_keys == 0) {
      const Loop rows = in_blocks(result, std::nullopt);
      all.compute_at(rows, where);
      tiles_of(all, all.reduction(where));
      all.drop_dim(0, 3, where).drop_dim(1, 3, where);
      in_a_step({product, total, exps, top, scores}, all.reduction(where));
      copy_of_queries(own, rows);
      return;
    }
    const Split of_parts = all.split(all.reduction(where), part_keys / keys, Tail::exact, where);
    const Stage part = all.rfactor(of_parts.outer, Place::first, where);
    part.drop_dim(0, 4, where).drop_dim(1, 4, where);
    const Loop steps = part.reduction(where);
    const Loop rows = in_blocks(part, steps);
    in_a_step({product, total, exps, top, scores}, steps);
    copy_of_queries(own, rows);
    all.compute_at(in_blocks(result, std::nullopt), where);
    tiles_of(all, all.reduction(where));
  }

 private:
  Stage stage(ir::Id id) const { return stage_of(s, id, where); }

  Expr blocks_of(const std::vector<Expr>& points) const {
    return points[0] * ((points[1] + (together - 1)) / together) * ((points[2] + (queries - 1)) / queries);
  }

  // The reduction of each tile of keys. Parts have whole numbers of tiles; the last ones may have no keys.
  Stage tile_of(const Stage& reduction) const {
    if (part_keys == 0)
      return reduction.rfactor(reduction.split(reduction.reduction(where), keys, Tail::guard, where).outer, where);
    const Split parts = reduction.split(reduction.reduction(where), part_keys, Tail::guard, where);
    const Split tiles = reduction.split(parts.inner, keys, Tail::exact, where);
    return reduction.rfactor(reduction.fuse(parts.outer, tiles.outer, where), where);
  }

  // The loops of a stage at the root: over blocks, over tiles of keys, where it has such steps, and dimensions. Returns the
  // loop that the stages of a block are computed in.
  Loop in_blocks(const Stage& of, const std::optional<Loop>& steps) const {
    std::vector<Loop> points = of.spatial_loops(where);
    std::vector<Loop> blocks, rows;
    const bool parts = points.size() == 5;
    if (parts) points.erase(points.begin());
    const Loop part = of.spatial_loops(where)[0], e = points[3];
    Loop heads = points[1];
    if (together > 1) {
      Split h;
      if (s.attempt([&] { h = of.split(heads, together, Tail::exact, where); }))
        h = of.split(heads, together, Tail::guard, where);
      heads = h.outer, rows.push_back(h.inner);
    }
    const Split i = of.split(points[2], queries, Tail::guard, where);
    rows.push_back(i.inner);
    std::vector<Loop> order{points[0], heads};
    if (parts) order.push_back(part);
    order.push_back(i.outer);
    if (steps) order.push_back(*steps);
    order.insert(order.end(), rows.begin(), rows.end());
    order.push_back(e);
    of.reorder(order, where);
    of.bind(of.fuse(points[0], heads, where), gpu::block_y, where);
    const Loop along = parts ? of.fuse(part, i.outer, where) : i.outer;
    of.bind(along, gpu::block_x, where);
    if (together > 1) of.as_tile(rows.front(), Factor(power_of_two_from(together)), where);
    of.as_tile(rows.back(), Factor(queries), where).as_tile(e, Factor(value), where);
    return along;
  }

  // The dimensions of a stage that is computed in a block: those of queries, then `last`.
  void as_tiles(const Stage& of, std::int64_t last) const {
    const std::vector<Loop> points = of.spatial_loops(where);
    if (together > 1) of.as_tile(points[1], Factor(power_of_two_from(together)), where);
    of.as_tile(points[2], Factor(queries), where);
    if (last > 0) of.as_tile(points[3], Factor(last), where);
  }

  // b, steps, h, i, e
  void tiles_of(const Stage& of, const Loop& steps) const {
    const std::vector<Loop> points = of.spatial_loops(where);
    of.reorder(std::vector<Loop>{points[0], steps, points[1], points[2], points[3]}, where);
    as_tiles(of, value);
  }

  // What is computed for each tile of keys.
  void in_a_step(const std::array<Stage, 5>& stages, const Loop& steps) const {
    const auto& [product, total, exps, top, scores] = stages;
    for (const Stage& of : stages) of.compute_at(steps, where);
    for (const Stage& of : {product, total, top}) {
      std::vector<Loop> points = of.spatial_loops(where), order{points[0], points.back()};
      points.pop_back();
      order.insert(order.end(), points.begin() + 1, points.end());
      order.push_back(of.reduction(where));
      of.reorder(order, where);
      as_tiles(of, of.id() == product.id() ? value : 0);
      of.as_tile(of.reduction(where), Factor(keys), where);
    }
    for (const Stage& of : {exps, scores}) as_tiles(of, keys);
    scores.as_tile(scores.reduction(where), Factor(length), where);
  }

  void copy_of_queries(const Stage& own, const Loop& rows) const {
    own.compute_at(rows, where);
    as_tiles(own, length);
  }

  Schedule& s;
  const AttentionParts a;
  const Where where;
  std::int64_t queries = 0, keys = 0, value = 0, length = 0;  // extents of tiles
  std::int64_t together = 1;                                  // heads whose queries are rows of one product
  std::int64_t part_keys = 0;                                 // keys of a block; 0: all
};

}  // namespace

namespace detail {

std::optional<FewBlocks> few_blocks_of_attention(Schedule& s, const AttentionParts& a, Where where) {
  return AttentionInTiles(s, a, {}, where).few();
}

void tile_attention(Schedule& s, const AttentionParts& a, const TileAttentionOptions& o, Where where) {
  expect_tiles(attention_of_tiles, s, where);
  expect_option(attention_of_tiles, "part_keys", o.part_keys, 0, where);
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
  const ir::Id result = s[y.result].id();
  auto parts = detail::attention_parts(s.scheduled().program, result, true);
  for (const bool of_keys : {true, false}) {  // pages are read where they lie
    if (!parts) break;
    const ir::Id stage = s.scheduled().program.buffer(of_keys ? parts->k : parts->v).stage;
    if (stage && !s.attempt([&] { stage_of(s, stage, where).inline_(where); }))
      parts = detail::attention_parts(s.scheduled().program, result, true);
  }
  if (!parts || parts->skips)
    refuse(attention_of_tiles,
           "an attention of f16 or bf16 in which queries see all keys, or v is finite (.finite), with queries and values of 1 "
           "to " +
               std::to_string(detail::most_of_attention) + " elements",
           detail::definition(s, s[y.result]).name, where);
  detail::tile_attention(s, *parts, o, where);
}

}  // namespace ashlar::schedules
