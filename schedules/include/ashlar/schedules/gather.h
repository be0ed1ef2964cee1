// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elements at places that data choose. gather: each result reads its own place; sums of such (embedding_bag) as well.
//
//   for rows                               parallel; all dimensions but the last as one loop
//     for d in lanes                       vectorized: of rows of a table plain loads, of single elements the machine's gathers
//
//   schedules::gather(s, s[ops::embedding(table, ids)]);
//
// scatter_add: a step changes an element that data choose. Where steps that are neighbours change neighbours (index_add), they
// are in lanes, and blocks of columns in parallel:
//
//   for columns in blocks                  parallel
//     for steps
//       for lanes of the block             vectorized
//
// Else (a histogram) parts of the steps have results of their own, in parallel, which are then combined element by element:
//
//   for part in parts                      parallel: part_result[..] changed by the steps of the part, in their order
//   for elements, in lanes: result = part_result[0], part_result[1], ... combined
//
//   schedules::scatter_add(s, s[counts], {.parts = 16});
//
// What may not be regrouped keeps its order, and is serial. Right for every extent. Refused: a stage that reads no place from
// data (gather), or is no scatter (scatter_add), a recurrence, a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GatherOptions {
  int lanes = 0;   // 0: what a register holds of the elements
  int unroll = 1;  // vectors of one iteration
  bool parallel = true;
  bool stream = false;
};

void gather(Schedule& s, const Stage& stage, const GatherOptions& o = {}, Where where = Where::current());

struct ScatterOptions {
  int lanes = 0;  // 0: what a register holds of the elements
  int parts = 8;  // results of their own, where neighbours do not change neighbours; 1: none, all steps in their order
  bool parallel = true;
};

void scatter_add(Schedule& s, const Stage& stage, const ScatterOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
