// Stages whose loops carry an order of their own, recurrences and scatters: dimensions in which points have nothing to do with
// each other go to the pool and to lanes; the rest stays as it was written.
#include <algorithm>

#include <ashlar/schedules/gather.h>

#include "schedules/draft.h"

namespace ashlar::schedules {
namespace {

constexpr double worth_parallel = 5e4;  // operations
constexpr std::int64_t parts = 16;      // of the steps of a scatter, each with a result of its own

// Neighbouring steps that change neighbours are in lanes, blocks of them on the pool; else the steps go to the pool in parts,
// where a result for each part is little beside the steps.
bool scatter_in_lanes(Draft& d, Id id, bool parallel) {
  const ir::Stage& s = d.stage(id);
  const auto steps = reduce_of(s);
  const Expr& last = s.targets.back();
  const bool neighbours = ir::is(last, ir::Op::var) &&
                          std::any_of(steps.begin(), steps.end(), [&](const auto& v) { return v.id == last.node()->id; });
  if (neighbours)
    return d.attempt(id, std::string("neighbours in lanes") + (parallel ? ", blocks of them in parallel" : ""), [&] {
      scatter_add(d.s, d.handle(id), {.parallel = parallel}, d.where);
      schedule::finish(d.s.scheduled(), d.s.target());
    });
  if (!parallel || !regroups(d, s) || d.most().terms(s) < 8 * static_cast<double>(parts) * d.most().points(s)) return false;
  return d.attempt(id, count(static_cast<double>(parts)) + " parts of the steps in parallel, each with a result of its own",
                   [&] {
                     scatter_add(d.s, d.handle(id), {.parts = parts}, d.where);
                     schedule::finish(d.s.scheduled(), d.s.target());
                   });
}

}  // namespace

void schedule_alone(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  const Family family = d.family(id).family;
  const auto dims = spatial_of(s);
  const Sizes sizes = d.sizes();
  std::vector<std::size_t> free;  // dimensions that may stand anywhere
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const bool ordered = std::find(s.along.begin(), s.along.end(), k) != s.along.end();
    if (!ordered && !s.scattered(dims[k].id)) free.push_back(k);
  }
  if (family == Family::external) return;
  const double work = (family == Family::scatter ? 1 : d.most().points(s)) * d.most().terms(s) * cost_of(s);
  if (family == Family::scatter && scatter_in_lanes(d, id, d.options.parallel && work >= worth_parallel)) return;
  if (free.empty()) return d.done(id, "as it was written: no dimension is free of the order");
  const Stage stage = d.handle(id);
  const auto extent = sizes.constant_extent(s, dims[free.back()].id);
  // the last one in lanes, innermost
  const bool vectors = free.back() + 1 == dims.size();
  bool parallel = !d.options.parallel || work < worth_parallel;
  for (const std::size_t k : free) {
    if (parallel || (vectors && k == free.back())) break;
    if (sizes.extent(s, dims[k].id) < 2) continue;
    parallel = d.attempt(id, dims[k].name + " in parallel", [&] {
      const Loop loop = loop_over(d, stage, dims[k].id);
      std::vector<Loop> order{loop};
      for (const Loop& l : stage.nest(d.where))
        if (!(l == loop) && family == Family::recurrence) order.push_back(l);
      reorder(d, stage, order);
      stage.parallel(loop, d.where);
    });
  }
  if (!vectors) return;
  const auto innermost = [&](Loop loop) {
    std::vector<Loop> order;
    for (const Loop& l : stage.nest(d.where))
      if (!(l == loop)) order.push_back(l);
    order.push_back(loop);
    reorder(d, stage, order);
  };
  const int lanes = lanes_of(d, s);
  const Id v = dims[free.back()].id;
  if (!parallel && extent.value_or(INT64_MAX) > 16 * lanes &&
      d.attempt(id, "pieces of " + dims[free.back()].name + " in parallel", [&] {
        const Split split = stage.split(loop_over(d, stage, v), 16 * std::max(1, lanes), Tail::guard, d.where);
        std::vector<Loop> order{split.outer};
        for (const Loop& l : stage.nest(d.where))
          if (!(l == split.outer) && !(l == split.inner)) order.push_back(l);
        order.push_back(split.inner);
        reorder(d, stage, order);
        stage.parallel(split.outer, d.where);
        stage.vectorize(split.inner, lanes, d.where);
      }))
    return;
  d.s.attempt([&] {
    innermost(loop_over(d, stage, v));
    if (!vectorize(d, id, loop_over(d, stage, v), extent)) refuse("vectorize", "lanes", "none", d.where);
  });
}

}  // namespace ashlar::schedules
