#pragma once
// Attention that holds no row of scores for longer than it is needed: for so many queries as a register tile has rows, the
// scores of all keys, their softmax and the weighted values stay in the first-level cache.
//
//   auto y = ops::attention(q, k, v);
//   schedules::attention(s, y, q, k, v);
//
//   for b, h                                                          in parallel
//     K panels: keys by two registers of them, transposed             they stay in the second-level cache
//     V panels: values by two registers of them
//     for io  (tile_i queries)
//       scores: for jo, tile_i x 2 registers of sums over d           q times a K panel
//       maximum, exp, sum: row by row, in lanes
//       weighted: for eo, tile_i x 2 registers of sums over keys      exp times a V panel
//       y = weighted / sum
//
// Sums and maxima are regrouped. With `few_heads` panels of all heads come first, and every block of queries is a piece of
// work for a thread.
#include <ashlar/ops/attention.h>
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

struct AttentionOptions {
  int tile_i = 0;          // queries in a register tile; 0: as many as the target's registers hold
  bool few_heads = false;  // fewer heads than threads, or heads of queries that share one of keys
  bool parallel = true;
};

namespace detail {

// A product of which a block of rows is computed at a time: the sums of b.rows x b.columns in registers. `rows`: what becomes
// of rows past the last, Tail::pad where the left factor has such rows.
inline void tile_product(Schedule& s, const Stage& stage, const MatmulBlocks& b, Tail rows, Where where) {
  Stage sums = s.cache_write(stage, Scope::registers, where);
  auto [i, j] = last<2>(stage);
  auto [io, ii] = stage.split(i, b.rows, Tail::guard, where);
  auto [jo, ji] = stage.split(j, b.columns, Tail::guard, where);
  auto [part, lane] = stage.split(ji, b.lanes, Tail::exact, where);
  stage.reorder(io, jo, ii, part, lane).unroll(ii).unroll(part).vectorize(lane);
  sums.compute_at(jo, where);
  auto [si, sj, k] = last<3>(sums);
  auto [tile, row] = sums.split(si, b.rows, rows, where);
  auto [panel, column] = sums.split(sj, b.columns, Tail::pad, where);
  auto [half, l] = sums.split(column, b.lanes, Tail::exact, where);
  sums.reorder(tile, panel, k, row, half, l).unroll(row).unroll(half).vectorize(l);
}

}  // namespace detail

// `y` is what ops::attention(q, k, v, …) returned, of any mask, causality and groups, its stages not scheduled before; q, k and
// v are inputs of f32 or f64. Refused elsewhere, and for GPUs.
inline void attention(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& k, const Tensor& v,
                      const AttentionOptions& o = {}, Where where = Where::current()) {
  const AtLine line(where);
  detail::expect_processor("attention", s, where);
  detail::expect_option("attention", "tile_i", o.tile_i, 0, where);
  const Stage result = s[y.result], scores = s[y.scores], maximum = s[y.maximum], exps = s[y.exp], sum = s[y.sum],
              weighted = s[y.weighted];
  for (const Stage& stage : {scores, weighted}) detail::product_type("attention", s, stage, 5, where);
  const Type type = detail::definition(s, scores).values[0].type();
  if (q.type(where) != type)
    refuse("attention", "queries of the type that scores are in", ir::text(q.type(where)) + ", and scores of " + ir::text(type),
           where);
  const int rows = o.tile_i != 0 ? o.tile_i : s.target().vector_registers() >= 32 ? 13 : 6;
  const detail::MatmulBlocks b(s.target(), type, {.tile_i = rows});

  auto [rb, rh, ri, re] = result.spatial<4>(where);
  auto [io, ii] = result.split(ri, b.rows, Tail::guard, where);
  result.reorder(rb, rh, io, ii, re);
  const Loop heads = result.fuse(rb, rh, where), block = o.few_heads ? result.fuse(heads, io, where) : io;
  for (const Stage& stage : {weighted, sum, exps, maximum, scores}) stage.compute_at(block, where);

  Stage q_rows = s.cache_read(q, {scores}, Scope::global, 0, where);
  Stage k_rows = s.cache_read(k, {scores}, Scope::stack, 0, where);
  Stage k_panels = s.cache_read(k_rows, {scores}, Scope::global, where);
  Stage v_panels = s.cache_read(v, {weighted}, Scope::global, 0, where);
  q_rows.compute_at(block, where);
  detail::tile_product(s, scores, b, Tail::pad, where);
  detail::tile_product(s, weighted, b, Tail::guard, where);

  q_rows.vectorize(detail::last<1>(q_rows)[0], b.lanes, where);
  for (const Stage& panels : {k_panels, v_panels})
    if (o.few_heads)
      panels.compute_root(where);
    else
      panels.compute_at(heads, where);
  const std::int64_t numbers = detail::number_or(k.extent(3, where), 0);  // in a key
  detail::pack_transposed_b(k_panels, k_rows, type, 4, b, false, numbers > 0 && numbers <= 256);
  detail::pack_b(v_panels, 4, b, false);
  if (o.few_heads && o.parallel)
    for (const Stage& panels : {k_panels, v_panels}) {
      const std::vector<Loop> nest = panels.nest();
      panels.parallel(panels.fuse(nest[0], nest[1], where), where);
    }

  for (const Stage& stage : {maximum, sum})
    detail::reduce_in_lanes(s, stage, detail::innermost_point(s, stage, where), stage.reduction(where), b.lanes, 4, where);
  exps.vectorize(detail::last<1>(exps)[0], b.lanes, where);
  result.vectorize(re, b.lanes, where);
  if (o.parallel) result.parallel(o.few_heads ? block : heads, where);
}

}  // namespace ashlar::schedules
