// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Attention of few queries over many keys, as a model decodes: K and V are read once, as they lie, and nothing is packed. What
// it takes is the time to read them.
//
//   auto y = ops::attention(q, k, v);              // q: [B, G H, 1, D], k: [B, H, N, D]
//   schedules::attention_decode(s, y, q, v);
//
//   for b, h   (heads of K and V)                                     in parallel
//     for j  (keys)
//       scores of the G queries' heads, one key at a time: sums over d in lanes, then a tree of halves
//     maximum, exp, sum: row by row, in lanes
//     for eo  (up to 8 registers of numbers of a value)
//       weighted, of all queries, in registers: for j one row of V
//     y = weighted / sum
//
// Sums and maxima are regrouped. With `few_heads` each head of the queries is a piece of work for a thread, and the G of them
// that share a head of K and V read it one after the other.
#include <ashlar/ops/attention.h>
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

struct AttentionOptions {
  int tile_i = 0;          // queries in a register tile; 0: as many as the target's registers hold
  bool few_heads = false;  // fewer heads than threads, or heads of queries that share one of keys
  bool parallel = true;
};

namespace detail {

constexpr int few_queries = 4;

// Heads of queries that share one of keys: the scores read these at h / groups.
inline std::int64_t groups_of(const Schedule& s, const Stage& scores) {
  std::int64_t groups = 1;
  ir::walk(definition(s, scores).values[0], [&](const Expr& e) {
    if (ir::is(e, ir::Op::load) && ir::args_of(e).size() == 4 && ir::is(ir::args_of(e)[1], ir::Op::div))
      ir::is_int(ir::args_of(ir::args_of(e)[1])[1], &groups);
    return true;
  });
  return groups;
}

// The stages of an attention, and the type of its scores. Refused: another form; a device.
struct AttentionStages {
  Stage result, scores, maximum, exps, sum, weighted;
  Type type;
  AttentionStages(Schedule& s, const char* family, const ops::Attention& y, const Tensor& q, Where where)
      : result(s[y.result]),
        scores(s[y.scores]),
        maximum(s[y.maximum]),
        exps(s[y.exp]),
        sum(s[y.sum]),
        weighted(s[y.weighted]) {
    expect_processor(family, s, where);
    for (const Stage& stage : {scores, weighted}) product_type(family, s, stage, 5, where);
    type = definition(s, scores).values[0].type();
    if (q.type(where) != type)
      refuse(family, "queries of the type that scores are in", ir::text(q.type(where)) + ", and scores of " + ir::text(type),
             where);
  }
};

}  // namespace detail

// As `attention`, which takes this form where the program has so few queries. `tile_i` does not count. Right for any number of
// queries, of which a register tile of `weighted` holds 4.
inline void attention_decode(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& v,
                             const AttentionOptions& o = {}, Where where = Where::current()) {
  const AtLine line(where);
  const detail::AttentionStages a(s, "attention_decode", y, q, where);
  const Stage& result = a.result;
  const int lanes = s.target().lanes(a.type), registers = s.target().vector_registers();
  const std::int64_t groups = o.few_heads ? 1 : detail::groups_of(s, a.scores);

  auto [rb, rh, ri, re] = result.spatial<4>(where);
  Loop heads = rh;
  if (groups > 1) {
    const auto [ho, hi] = result.split(rh, groups, Tail::guard, where);
    heads = ho;
    result.reorder(rb, ho, hi, ri, re);
  }
  heads = result.fuse(rb, heads, where);
  for (const Stage& stage : {a.weighted, a.sum, a.exps, a.maximum, a.scores}) stage.compute_at(heads, where);

  auto [sb, sh, si, sj] = a.scores.spatial<4>(where);
  const Loop d = a.scores.reduction(where);
  a.scores.reorder(sb, sj, sh, si, d);  // a key for all that it meets
  detail::reduce_in_lanes(s, a.scores, si, d, lanes, 4, where);
  for (const Stage& stage : {a.maximum, a.sum})
    detail::reduce_in_lanes(s, stage, detail::innermost_point(s, stage, where), stage.reduction(where), lanes, 4, where);
  a.exps.vectorize(detail::last<1>(a.exps)[0], lanes, where);

  // As many queries as leave registers to the values, of as many heads.
  const std::int64_t numbers = detail::number_or(v.extent(3, where), 4 * lanes);
  const int columns = static_cast<int>(std::clamp<std::int64_t>((numbers + lanes - 1) / lanes, 1, 8));
  const int most = std::max(1, (registers - columns - 2) / columns);
  const int queries = static_cast<int>(
                std::clamp<std::int64_t>(detail::number_or(q.extent(2, where), 1), 1, std::min(most, detail::few_queries))),
            of_heads = static_cast<int>(std::clamp<std::int64_t>(groups, 1, std::max(1, most / queries)));
  const Stage sums = s.cache_write(a.weighted, Scope::registers, where);
  const auto tile = [&](const Stage& stage, const Loop* terms) {
    auto [b, h, i, e] = stage.spatial<4>(where);
    auto [ho, hi] = stage.split(h, of_heads, Tail::guard, where);
    auto [io, ii] = stage.split(i, queries, Tail::guard, where);
    auto [eo, ei] = stage.split(e, columns * lanes, Tail::guard, where);
    auto [part, lane] = stage.split(ei, lanes, Tail::exact, where);
    if (terms)
      stage.reorder(b, eo, ho, io, *terms, hi, ii, part, lane);
    else
      stage.reorder(b, eo, ho, io, hi, ii, part, lane);
    stage.unroll(hi).unroll(ii).unroll(part).vectorize(lane);
    return io;
  };
  sums.compute_at(tile(a.weighted, nullptr), where);
  const Loop keys = sums.reduction(where);
  tile(sums, &keys);

  result.vectorize(re, lanes, where);
  if (o.parallel) result.parallel(heads, where);
}

}  // namespace ashlar::schedules
