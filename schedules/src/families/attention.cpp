// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/attention.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/schedules/attention_decode.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/matmul.h>

#include "schedules/src/families/attention_decode.h"
#include "schedules/src/families/matmul.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr int heads_together = 8;  // whose panels lie in memory at once: with blocks of queries pieces for many threads
constexpr int steps_ahead = 16;    // that a panel of K is asked for: of a head of the group, it may lie in the third level

// A product of which a block of rows is computed at a time: the sums of b.rows x b.columns in registers. `rows`: what becomes
// of rows past the last, Tail::pad where the left factor has such rows. Returns the sums, and the loop over their steps.
std::pair<Stage, Loop> tile_block(Schedule& s, const Stage& stage, const MatmulBlocks& b, Tail rows, Where where) {
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
  return {sums, k};
}

}  // namespace

void attention(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionOptions& o, Where where) {
  const AtLine line(where);
  const detail::AttentionStages a(s, "attention", y, q, where);
  detail::expect_option("attention", "tile_i", o.tile_i, 0, where);
  std::int64_t queries = detail::few_queries + 1;
  if (o.tile_i == 0 && ir::is_int(q.extent(2, where), &queries) && queries <= detail::few_queries)
    return attention_decode(s, y, q, v, o, where);
  const auto& [result, scores, maximum, exps, sum, weighted, type] = a;
  const int file = s.target().vector_registers(), rows = o.tile_i != 0 ? o.tile_i : file >= 32 ? 13 : file >= 16 ? 6 : 2;
  const detail::MatmulBlocks b(s.target(), type, {.tile_i = rows});

  auto [rb, rh, ri, re] = result.spatial<4>(where);
  auto [io, ii] = result.split(ri, b.rows, Tail::guard, where);
  Loop heads, block;  // whose panels are there at once; queries of one of them
  const std::int64_t many = detail::number_or(rh.extent(where), heads_together);
  const bool by_head = !o.split_heads && many < heads_together && detail::number_or(rb.extent(where), 0) != 1;
  if (o.split_heads) {
    result.reorder(rb, rh, io, ii, re);
    block = result.fuse(result.fuse(rb, rh, where), io, where);
  } else if (by_head) {
    result.reorder(rb, rh, io, ii, re);
    heads = result.fuse(rb, rh, where), block = io;
  } else {
    const auto [ho, hi] = result.split(rh, std::clamp<std::int64_t>(many, 1, heads_together), Tail::guard, where);
    result.reorder(rb, ho, hi, io, ii, re);
    heads = result.fuse(rb, ho, where), block = result.fuse(hi, io, where);
  }
  for (const Stage& stage : {weighted, sum, exps, maximum, scores}) stage.compute_at(block, where);

  Stage q_rows = s.cache_read(q, {scores}, Scope::global, 0, where);
  Stage k_rows = s.cache_read(k, {scores}, Scope::stack, 0, where);
  Stage k_panels = s.cache_read(k_rows, {scores}, Scope::global, where);
  std::vector<Stage> packed = {k_panels};
  const std::int64_t values = detail::number_or(v.extent(3, where), 0);
  if (values == 0 || values % b.columns != 0)  // else rows of V are panels as they lie
    packed.push_back(s.cache_read(v, {weighted}, Scope::global, 0, where));
  q_rows.compute_at(block, where);
  const auto [sums, step] = tile_block(s, scores, b, Tail::pad, where);
  tile_block(s, weighted, b, Tail::guard, where);

  q_rows.vectorize(detail::last<1>(q_rows)[0], b.lanes, where);
  for (const Stage& panels : packed)
    if (o.split_heads)
      panels.compute_root(where);
    else
      panels.compute_at(heads, where);
  const std::int64_t numbers = detail::number_or(k.extent(3, where), 0);  // in a key
  const bool whole_keys = numbers > 0 && numbers <= 256;                  // are copied
  detail::pack_transposed_b(k_panels, k_rows, type, 4, b, false, whole_keys);
  sums.prefetch(step, k_panels, steps_ahead, where);
  if (packed.size() > 1) detail::pack_b(packed.back(), 4, b, false);
  if (o.parallel && !by_head)
    for (const Stage& panels : packed) {
      const std::vector<Loop> nest = panels.nest();
      Loop pieces = panels.fuse(nest[0], nest[1], where);
      if (whole_keys && detail::number_or(k.extent(0, where), 0) == 1)  // and a few keys, whose box has a bound
        pieces = panels.fuse(pieces, nest[2], where);
      panels.parallel(pieces, where);
    }

  for (const Stage& stage : {maximum, sum})
    detail::reduce_in_lanes(s, stage, detail::innermost_point(stage, where), stage.reduction(where), b.lanes, 4, where);
  exps.vectorize(detail::last<1>(exps)[0], b.lanes, where);
  result.vectorize(re, b.lanes, where);
  if (o.parallel) result.parallel(by_head ? heads : block, where);
}

void attention_by_size(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionOptions& o, Where where) {
  const AtLine line(where);
  const detail::AttentionStages a(s, "attention_by_size", y, q, where);
  const Expr queries = a.result.spatial<4>(where)[2].extent(where), points = detail::points_along(s, a.result, 2);
  std::optional<bool> few;
  if (!points.empty()) few = detail::known(s, points <= detail::few_queries);
  if (few.value_or(true)) attention_decode(few ? s : s.specialize(queries <= detail::few_queries, where), y, q, v, o, where);
  if (!few.value_or(false)) attention(s, y, q, k, v, o, where);
}

}  // namespace ashlar::schedules
