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
#include <ashlar/schedules/elementwise.h>
#include <ashlar/schedules/reduction.h>

namespace ashlar::schedules {

struct GatherOptions {
  int lanes = 0;   // 0: what a register holds of the elements
  int unroll = 1;  // vectors of one iteration
  bool parallel = true;
  bool stream = false;
};

namespace detail {
// Does a read take an index from data?
inline bool reads_by_data(const ir::Stage& d) {
  bool found = false;
  for (const Expr& value : d.values)
    ir::walk(value, [&](const Expr& e) {
      if (ir::is(e, ir::Op::load))
        for (const Expr& index : ir::args_of(e))
          ir::walk(index, [&](const Expr& i) {
            found = found || ir::is(i, ir::Op::load);
            return true;
          });
      return true;
    });
  return found;
}
}  // namespace detail

inline void gather(Schedule& s, const Stage& stage, const GatherOptions& o = {}, Where where = Where::current()) {
  detail::expect_processor("gather", s, where);
  detail::expect_option("gather", "lanes", o.lanes, 0, where);
  detail::expect_option("gather", "unroll", o.unroll, 1, where);
  const ir::Stage& d = detail::definition(s, stage);
  const char* expected = "a stage that reads at places which data choose";
  if (d.scatters() || d.is_recurrence())
    refuse("gather", expected, d.name + (d.scatters() ? ", a scatter (schedules::scatter_add)" : ", a recurrence"), where);
  if (!detail::reads_by_data(d)) refuse("gather", expected, d.name + ", whose indices are of its loops alone", where);
  if (d.is_reduction()) return reduction(s, stage, {.lanes = o.lanes, .accumulators = 4, .parallel = o.parallel}, where);
  elementwise(s, stage, {.lanes = o.lanes, .unroll = o.unroll, .parallel = o.parallel, .stream = o.stream}, where);
}

struct ScatterOptions {
  int lanes = 0;  // 0: what a register holds of the elements
  int parts = 8;  // results of their own, where neighbours do not change neighbours; 1: none, all steps in their order
  bool parallel = true;
};

inline void scatter_add(Schedule& s, const Stage& stage, const ScatterOptions& o = {}, Where where = Where::current()) {
  detail::expect_processor("scatter_add", s, where);
  detail::expect_option("scatter_add", "lanes", o.lanes, 0, where);
  detail::expect_option("scatter_add", "parts", o.parts, 1, where);
  const ir::Stage& d = detail::definition(s, stage);
  if (!d.scatters()) refuse("scatter_add", "a scatter", d.name + ", which changes each element at its own place", where);
  const int lanes = o.lanes > 0 ? o.lanes : detail::lanes_of(s, stage);
  const std::vector<Loop> elements = detail::loops_over(s, stage, false, where),
                          steps = detail::loops_over(s, stage, true, where);
  if (steps.empty()) return;
  std::size_t along = steps.size();  // the loop over steps that runs along the last dimension of the result
  const Expr last = d.targets.back();
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (ir::is(last, ir::Op::var) && last.node()->id == d.iters[elements.size() + k].id) along = k;

  if (along < steps.size()) {
    const Split blocks = stage.split(steps[along], 4 * lanes, Tail::guard, where);
    std::vector<Loop> order{blocks.outer};
    for (std::size_t k = 0; k < steps.size(); ++k)
      if (k != along) order.push_back(steps[k]);
    Loop lane = blocks.inner;
    if (lanes > 1) {
      const Split vectors = stage.split(blocks.inner, lanes, Tail::guard, where);
      stage.unroll(vectors.outer, where);
      order.push_back(vectors.outer), lane = vectors.inner;
    }
    order.push_back(lane);
    detail::in_order(stage, order, where);
    if (lanes > 1) stage.vectorize(lane, where).vectorize(elements.back(), lanes, where);
    if (o.parallel) stage.parallel(blocks.outer, where);
    if (o.parallel && elements.size() > 1) stage.parallel(elements.front(), where);
    return;
  }
  if (o.parts <= 1) return;
  std::vector<Stage> parts;
  if (s.attempt([&] {
        parts.push_back(
            stage.rfactor(stage.split(steps.front(), Parts{o.parts}, Tail::guard, where).outer, Place::first, where));
      }))
    return;
  const Stage part = parts.front();
  if (o.parallel) part.parallel(detail::loops_over(s, part, false, where).front(), where);
  if (!elements.empty()) detail::reduce_columns(s, stage, {.lanes = o.lanes, .parallel = o.parallel}, where);
}

}  // namespace ashlar::schedules
