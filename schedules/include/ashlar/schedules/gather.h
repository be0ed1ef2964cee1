// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gather: schedules reads at indices that come from data, and sums of such reads (embedding_bag).
//
//   for rows                               parallel; all dimensions but the last, fused
//     for d in lanes                       vectorized: plain loads for rows of a table, gather instructions for single elements
//
//   schedules::gather(s, s[ops::embedding(table, ids)]);
//
// scatter_add: schedules a scatter, whose steps update elements at indices that come from data. If neighboring steps update
// neighboring elements (index_add), the steps run in lanes, and blocks of columns run in parallel:
//
//   for columns in blocks                  parallel
//     for steps
//       for lanes of the block             vectorized
//
// Otherwise (a histogram), the steps are divided into parts that run in parallel, each into a partial result of its own. The
// partial results are then combined element by element:
//
//   for part in parts                      parallel: the steps of the part change part_result[..], in their order
//   for elements, in lanes: combine part_result[0], part_result[1], ...
//
//   schedules::scatter_add(s, s[counts], {.parts = 16});
//
// A reduction that must not be regrouped keeps its order and runs serially. Correct for every extent. gather refuses a stage
// that reads no index from data, scatter_add one that is not a scatter; both refuse a recurrence and a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GatherOptions {
  int lanes = 0;   // 0: as many elements as a register holds
  int unroll = 1;  // vectors in each iteration
  bool parallel = true;
  bool stream = false;  // non-temporal stores
};

void gather(Schedule& s, const Stage& stage, const GatherOptions& o = {}, Where where = Where::current());

struct ScatterOptions {
  int lanes = 0;  // 0: as many elements as a register holds
  int parts = 8;  // partial results, if neighboring steps do not update neighbors; 1: none, the steps run serially
  bool parallel = true;
};

void scatter_add(Schedule& s, const Stage& stage, const ScatterOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
