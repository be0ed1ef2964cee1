// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/attention_decode.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ops/attention.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/matmul.h>

#include "schedules/src/families/attention_decode.h"
#include "schedules/src/families/matmul.h"

namespace ashlar::schedules {

namespace detail {

std::int64_t groups_of(const Schedule& s, const Stage& scores) {
  std::int64_t groups = 1;
  ir::walk(definition(s, scores).values[0], [&](const Expr& e) {
    if (ir::is(e, ir::Op::load) && ir::args_of(e).size() == 4 && ir::is(ir::args_of(e)[1], ir::Op::div))
      ir::is_int(ir::args_of(ir::args_of(e)[1])[1], &groups);
    return true;
  });
  return groups;
}

}  // namespace detail

void attention_decode(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& v, const AttentionOptions& o,
                      Where where) {
  const AtLine line(where);
  const detail::AttentionStages a(s, "attention_decode", y, q, where);
  const Stage& result = a.result;
  const int lanes = s.target().lanes(a.type), registers = s.target().vector_registers();
  const std::int64_t groups = o.split_heads ? 1 : detail::groups_of(s, a.scores);

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
    detail::reduce_in_lanes(s, stage, detail::innermost_point(stage, where), stage.reduction(where), lanes, 4, where);
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
