// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short steps that contain sums and wait for the previous step: the steps of several rows are interleaved.
//
//   for c, t                                   for co (pool)
//     sum over k of y[c, t - 1, k] x[..]         for t, ci in 4
//     for j: y[c, t, j]                ->          sum over k of y[c, t - 1, k] x[..]
//                                                  for j: y[c, t, j]
//
// A step ends in a sum with which the next step begins, so a single row leaves the processor idle for the latency of that sum.
// Steps of the next row fill the gap if they are short enough for out-of-order execution to reach them.
#include <algorithm>

#include <ashlar/ir/recurrence.h>

#include "schedules/src/costs.h"
#include "schedules/src/inside_steps.h"

namespace ashlar::schedules {
namespace {

using namespace costs::steps;
using costs::worth_parallel;

// The number of points of a stage that a step computes, or of terms of one point, if it is constant.
std::optional<double> known(const Draft& d, const ir::Stage& s, const std::vector<ir::IterVar>& variables) {
  double all = 1;
  for (const ir::IterVar& v : variables) {
    const auto extent = d.sizes().constant_extent(s, v.id);
    if (!extent && (v.kind == ir::IterKind::reduce || !one_point(d, s, v.id))) return {};
    if (extent && !(v.kind != ir::IterKind::reduce && one_point(d, s, v.id))) all *= static_cast<double>(*extent);
  }
  return all;
}

// Operations of a stage in a step of one row, counted in vectors: of its terms if they may be regrouped and are contiguous,
// otherwise of its points.
std::optional<double> operations(const Draft& d, const ir::Stage& s) {
  const auto terms = reduce_of(s);
  const auto points = known(d, s, spatial_of(s)), each = known(d, s, terms);
  if (!points || !each) return {};
  const double lanes = std::max(1, lanes_of(d, s));
  const bool in_lanes = terms.empty() || (regroups(d, s) && only_along(d.program(), s, terms.back().id));
  return *points * *each * cost_of(s) / (in_lanes ? std::min(lanes, *points * *each) : 1);
}

}  // namespace

bool rows_of_steps(Draft& d, Id recurrence) {
  const ir::Stage s = d.stage(recurrence);
  const auto dims = spatial_of(s);
  if (s.along.size() != 1 || s.along.front() == 0) return false;
  const std::size_t row = s.along.front() - 1;
  const auto rows = d.sizes().constant_extent(s, dims[row].id);
  if (rows.value_or(INT64_MAX) < 2) return false;
  double step = cost_of(s), work = 0;
  for (std::size_t k = s.along.front() + 1; k < dims.size(); ++k) {
    const auto extent = d.sizes().constant_extent(s, dims[k].id);
    if (!extent) return false;
    step *= static_cast<double>(*extent);
  }
  work = step, step /= std::max(1, lanes_of(d, s));
  bool waits = false;
  const auto inside = ir::stages_inside(d.program(), s);  // producers first
  for (const Id id : inside) {
    const ir::Stage& r = d.stage(id);
    const auto more = r.is_recurrence() || r.scatters() ? std::nullopt : operations(d, r);
    if (!more) return false;
    waits = waits || r.is_reduction();
    step += *more, work += *more;
  }
  if (!waits || step > most_of_step) return false;
  const std::int64_t many = std::min<std::int64_t>(rows_together, rows.value_or(rows_together));
  const Stage stage = d.handle(recurrence);
  std::optional<Split> split;
  if (!d.attempt(recurrence, count(static_cast<double>(many)) + " rows side by side along " + dims[row].name, [&] {
        // What is between the steps stands in the way of a loop that leaves them: it goes in and comes back.
        std::vector<Loop> order = stage.nest(d.where);
        for (std::size_t k = inside.size(); k-- > 0;) d.handle(inside[k]).compute_at(order.back(), d.where);
        split = stage.split(loop_over(d, stage, dims[row].id), many, Tail::guard, d.where);
        order.clear();
        for (const Loop& l : stage.nest(d.where)) {
          if (l == split->inner) continue;
          order.push_back(l);
          if (l == loop_over(d, stage, dims[s.along.front()].id)) order.push_back(split->inner);
        }
        reorder(d, stage, order);
        for (const Id id : inside) d.handle(id).compute_at(split->inner, d.where);
      }))
    return false;
  d.why(recurrence, "each step waits for the sums of the one before");
  const Sizes most = d.most();
  double steps = most.extent(s, dims[s.along.front()].id);
  for (std::size_t k = 0; k <= row; ++k) steps *= most.extent(s, dims[k].id);
  if (row == 0 && d.options.parallel && steps * work >= worth_parallel)
    d.attempt(recurrence, "groups of them in parallel", [&] { stage.parallel(split->outer, d.where); });
  return true;
}

}  // namespace ashlar::schedules
