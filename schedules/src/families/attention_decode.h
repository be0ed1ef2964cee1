// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What other families use of attention_decode.h.
#include <ashlar/schedules/attention_decode.h>

#include <ashlar/ops/attention.h>
#include <ashlar/schedules/matmul.h>

#include "schedules/src/families/matmul.h"

namespace ashlar::schedules::detail {

constexpr int few_queries = 4;

// Heads of queries that share one of keys: the scores read these at h / groups.
std::int64_t groups_of(const Schedule& s, const Stage& scores);

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

}  // namespace ashlar::schedules::detail
