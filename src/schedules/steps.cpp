// Reductions inside of the steps of a recurrence: a triangular solve, a factorisation, a table filled from all earlier cells.
//
//   for ro (pool)                              pieces of what is free of the order
//     for t                                    the steps
//       x_sum: for k; 4 vectors along r        sums of a piece in registers
//       for r (lanes)
//
// Where nothing is free of the order in memory, the terms are in lanes.
#include <algorithm>

#include <ashlar/ir/recurrence.h>

#include "schedules/draft.h"

namespace ashlar::schedules {
namespace {

// Does the variable move the last index of a read, by one?
bool runs_along(const Reading& r, Id variable) {
  if (r.of_init || r.at.empty()) return false;
  const auto at = r.at.back().coefficients.find(variable);
  return at != r.at.back().coefficients.end() && at->second == 1;
}
bool reads_along(const ir::Program& p, const ir::Stage& s, Id variable) {
  const auto all = readings_of(p, s);
  return std::any_of(all.begin(), all.end(), [&](const Reading& r) { return runs_along(r, variable); });
}
// ... and no other index of any: terms that lie apart would be gathered.
bool only_along(const ir::Program& p, const ir::Stage& s, Id variable) {
  for (const Reading& r : readings_of(p, s))
    for (std::size_t k = 0; k < r.at.size(); ++k)
      if (const auto& uses = r.at[k].uses; std::find(uses.begin(), uses.end(), variable) != uses.end())
        if (k + 1 < r.at.size() || !runs_along(r, variable)) return false;
  return reads_along(p, s, variable);
}

// The last dimension of a stage that a step computes many points of and that neighbours in memory belong to.
std::optional<std::size_t> columns_of(const ir::Program& p, const ir::Stage& s) {
  const auto nests = ir::nests_of(p, s.id);
  if (nests.size() != 1) return {};
  for (std::size_t k = spatial_of(s).size(); k-- > 0;)
    for (const ir::Root& r : nests.front()->roots)
      if (r.iter == s.iters[k].id && !ir::is_int(p.axis(r.axis).extent, 1) && reads_along(p, s, r.iter)) return k;
  return {};
}

// Is the stage read by the recurrence at its last variable, in this dimension?
bool follows(const ir::Stage& recurrence, Id last, const ir::Stage& s, std::size_t dim) {
  bool found = false, other = false;
  for (const Expr& value : recurrence.values)
    ir::walk(value, [&](const Expr& e) {
      if (ir::is(e, ir::Op::load) && std::find(s.buffers.begin(), s.buffers.end(), e.node()->id) != s.buffers.end()) {
        const Expr& at = ir::args_of(e)[dim];
        (ir::is(at, ir::Op::var) && at.node()->id == last ? found : other) = true;
      }
      return true;
    });
  return found && !other;
}

}  // namespace

bool is_fresh(const ir::Program& p, const ir::Stage& s) {
  if (!s.is_recurrence()) return is_untouched(p, s);
  const auto nests = ir::nests_of(p, s.id);
  if (nests.size() != 1 || ir::path_to(p, nests.front()->id).size() != 1) return false;
  bool fresh = true;
  ir::walk(nests.front()->body, [&](const ir::Stmt& x) {
    if (x.kind == ir::Stmt::Kind::loop)
      fresh = fresh && x.loop_kind == ir::LoopKind::serial && p.axis(x.axis).origin == ir::Axis::Origin::root;
  });
  return fresh;
}

void schedule_steps(Draft& d, Id recurrence) {
  const ir::Stage s = d.stage(recurrence);
  const auto dims = spatial_of(s);
  const std::size_t last = dims.size() - 1;
  const bool free = std::find(s.along.begin(), s.along.end(), last) == s.along.end();
  const std::int64_t lanes = std::max(1, lanes_of(d, s));
  bool pieces = false;
  std::vector<std::pair<Id, std::optional<std::size_t>>> inside;
  for (const Id id : ir::stages_inside(d.program(), s)) {
    const ir::Stage& r = d.stage(id);
    if (!r.is_reduction() || r.scatters()) continue;
    const auto columns = columns_of(d.program(), r);
    pieces = pieces || (free && columns && follows(s, dims[last].id, r, *columns));
    inside.emplace_back(id, columns);
  }
  const Stage stage = d.handle(recurrence);
  if (pieces) {
    std::optional<Split> split;
    d.attempt(recurrence, "pieces of " + count(static_cast<double>(4 * lanes)) + " along " + dims[last].name, [&] {
      // What is between the steps stands in the way of a loop that leaves them: it goes in and comes back.
      const Loop steps = loop_over(d, stage, dims[s.along.back()].id);
      const Split made = stage.split(loop_over(d, stage, dims[last].id), 4 * lanes, Tail::guard, d.where);
      const auto all = ir::stages_inside(d.program(), d.stage(recurrence));  // producers first
      for (std::size_t k = all.size(); k-- > 0;) d.handle(all[k]).compute_at(made.inner, d.where);
      std::vector<Loop> order{made.outer};
      for (const Loop& l : stage.nest(d.where))
        if (!(l == made.outer) && !(l == made.inner)) order.push_back(l);
      order.push_back(made.inner);
      reorder(d, stage, order);
      for (const Id id : all) d.handle(id).compute_at(steps, d.where);
      split = made;
    });
    if (split && d.options.parallel && d.most().points(s) * cost_of(s) >= 5e4)
      d.attempt(recurrence, "these pieces in parallel", [&] { stage.parallel(split->outer, d.where); });
    if (lanes > 1)
      d.attempt(recurrence, "vectors of " + count(static_cast<double>(lanes)) + " along " + dims[last].name, [&] {
        stage.vectorize(split ? split->inner : loop_over(d, stage, dims[last].id), static_cast<int>(lanes), d.where);
      });
  }
  for (const auto& [id, columns] : inside) {
    const ir::Stage r = d.stage(id);
    if (columns) {
      Tile tile;
      tile.columns = static_cast<int>(*columns);
      tile.columns_by = 4 * lanes;
      if (const auto extent = d.sizes().constant_extent(r, r.iters[*columns].id))
        tile.columns_by = std::clamp<std::int64_t>((*extent + lanes - 1) / lanes, 1, 4) * lanes;
      accumulate(d, id, tile);
    } else if (only_along(d.program(), r, reduce_of(r).back().id)) {
      reduce_in_lanes(d, id, d.sizes().extent(s, dims[s.along.back()].id) / 2);  // a step has half of them, in the mean
    }
  }
}

}  // namespace ashlar::schedules
