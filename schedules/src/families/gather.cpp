// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gather.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/elementwise.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/reduction.h>

#include "schedules/src/families/reduction.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

// Does a read take an index from data?
bool reads_by_data(const ir::Stage& d) {
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

}  // namespace

void gather(Schedule& s, const Stage& stage, const GatherOptions& o, Where where) {
  detail::expect_processor("gather", s, where);
  detail::expect_option("gather", "lanes", o.lanes, 0, where);
  detail::expect_option("gather", "unroll", o.unroll, 1, where);
  const ir::Stage& d = detail::definition(s, stage);
  const char* expected = "a stage that reads at places which data choose";
  if (d.scatters() || d.is_recurrence())
    refuse("gather", expected, d.name + (d.scatters() ? ", a scatter (schedules::scatter_add)" : ", a recurrence"), where);
  if (!reads_by_data(d)) refuse("gather", expected, d.name + ", whose indices are of its loops alone", where);
  if (d.is_reduction()) return reduction(s, stage, {.lanes = o.lanes, .accumulators = 4, .parallel = o.parallel}, where);
  elementwise(s, stage, {.lanes = o.lanes, .unroll = o.unroll, .parallel = o.parallel, .stream = o.stream}, where);
}

void scatter_add(Schedule& s, const Stage& stage, const ScatterOptions& o, Where where) {
  detail::expect_processor("scatter_add", s, where);
  detail::expect_option("scatter_add", "lanes", o.lanes, 0, where);
  detail::expect_option("scatter_add", "parts", o.parts, 1, where);
  const ir::Stage& d = detail::definition(s, stage);
  if (!d.scatters()) refuse("scatter_add", "a scatter", d.name + ", which changes each element at its own place", where);
  const int lanes = o.lanes > 0 ? o.lanes : detail::lanes_of(s, stage);
  const std::vector<Loop> elements = stage.spatial_loops(where), steps = stage.reduction_loops(where);
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
    stage.reorder(order, where);
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
  if (o.parallel) part.parallel(part.spatial_loops(where).front(), where);
  if (!elements.empty()) detail::reduce_columns(s, stage, {.lanes = o.lanes, .parallel = o.parallel}, where);
}

}  // namespace ashlar::schedules
