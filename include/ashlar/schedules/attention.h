#pragma once
// Attention without a row of scores in memory longer than it is needed: for so many queries as a register tile has rows, the
// scores of all keys, their softmax and the weighted values stay in the first-level cache.
//
//   auto y = ops::attention(q, k, v);
//   schedules::attention(s, y, q, k);
//
//   K panels: keys by twos of registers, transposed                  in parallel; a head's stay in the second-level cache
//   for b, h, io  (tile_i queries)                                   in parallel
//     q rows: tile_i of them
//     scores: for jo, tile_i x 2 registers of sums                   what a product of matrices does, block by block
//     maximum, exp, sum: row by row, in lanes
//     weighted: for eo, tile_i x 2 registers of sums over all keys
//     y = weighted / sum
#include <ashlar/ops/attention.h>
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

struct AttentionOptions {
  int tile_i = 0;  // queries in a register tile; 0: as many as the file holds
};

namespace detail {

// A product computed inside a loop over blocks of rows: for tiles of columns, the sums of b.rows x b.columns in registers.
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

inline void attention(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& k, const Tensor& v,
                      const AttentionOptions& o = {}, Where where = Where::current()) {
  detail::expect_processor("attention", s, where);
  const Stage result = s[y.result], scores = s[y.scores], maximum = s[y.maximum], exps = s[y.exp], sum = s[y.sum],
              weighted = s[y.weighted];
  const Type type = detail::definition(s, scores).values[0].type();
  const detail::MatmulBlocks b(s.target(), type,
                               {.tile_i = o.tile_i == 0 && s.target().vector_registers() < 32 ? 6
                                          : o.tile_i == 0                                     ? 13
                                                                                              : o.tile_i});

  auto [rb, rh, ri, re] = result.spatial<4>();
  auto [io, ii] = result.split(ri, b.rows, Tail::guard, where);
  result.reorder(rb, rh, io, ii, re);
  const Loop all = result.fuse(result.fuse(rb, rh, where), io, where);
  for (const Stage& stage : {weighted, sum, exps, maximum, scores}) stage.compute_at(all, where);

  Stage q_rows = s.cache_read(q, {scores}, Scope::global, 0, where);
  Stage k_rows = s.cache_read(k, {scores}, Scope::stack, 0, where);
  Stage k_panels = s.cache_read(k_rows, {scores}, Scope::global, where);
  Stage v_panels = s.cache_read(v, {weighted}, Scope::global, 0, where);
  q_rows.compute_at(all, where);
  detail::tile_product(s, scores, b, Tail::pad, where);
  detail::tile_product(s, weighted, b, Tail::guard, where);

  q_rows.vectorize(detail::last<1>(q_rows)[0], b.lanes, where);
  k_panels.compute_root(where);
  detail::pack_transposed_b(k_panels, k_rows, type, 4, b, false);
  v_panels.compute_root(where);
  detail::pack_b(v_panels, 4, b, false);
  for (const Stage& panels : {k_panels, v_panels}) {
    const std::vector<Loop> nest = panels.nest();
    panels.parallel(panels.fuse(nest[0], nest[1], where), where);
  }

  for (const Stage& stage : {maximum, sum})
    detail::reduce_in_lanes(s, stage, detail::innermost_point(s, stage, where), stage.reduction(where), b.lanes, 4, where);
  exps.vectorize(detail::last<1>(exps)[0], b.lanes, where);
  result.vectorize(re, b.lanes, where).parallel(all, where);
}

}  // namespace ashlar::schedules
