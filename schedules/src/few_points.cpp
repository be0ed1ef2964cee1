// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dimension of few points before the vectorized one. Its loop moves inside the loop over vectors and is unrolled, so that
// values which do not change along it are computed once for all of its points:
//
//   for y, for x by vectors
//     for q in 9 (unrolled)                 the quotients are those of the cell, whatever the direction
//       lanes of x: f[q, y, x] = share[q] * g(px[y, x] / density[y, x], py[y, x] / density[y, x], cx[q], cy[q])
//
// Or its points take indices from a constant table. Unrolled, each point has its own loop nest, in which these indices are
// numbers:
//
//   for d in 9 (unrolled)
//     for y, for x by vectors: in[d, y, x] = f[d, (y - cy[d]) % H, (x - cx[d]) % W]
#include <algorithm>
#include <set>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::few_points;

// The cost of the operations that do not use the variable, each counted once, because a statement computes it once.
double cost_without(const ir::Stage& s, Id variable) {
  double cost = 0;
  std::set<const ir::Node*> counted;
  for (const Expr& value : s.values)
    ir::walk(value, [&](const Expr& e) {
      if (ir::is(e, ir::Op::load) || !counted.insert(e.node()).second) return false;
      if (e.type().is_index() || e.node()->count == 0) return true;
      if (!ir::free_vars(e).empty() && !ir::uses_var(e, variable)) cost += cost_of(ir::op_of(e));
      return true;
    });
  return cost;
}

bool picks_from_constants(const ir::Program& p, const Expr& index, Id variable) {
  bool found = false;
  ir::walk(index, [&](const Expr& e) {
    found =
        found || (ir::is(e, ir::Op::load) && ir::uses_var(e, variable) && p.buffer(e.node()->id).role == ir::Role::constant);
    return !found;
  });
  return found;
}
bool picks_indices(const ir::Program& p, const ir::Stage& s, Id variable) {
  bool found = false;
  for (const Expr& value : s.values)
    ir::walk(value, [&](const Expr& e) {
      if (ir::is(e, ir::Op::load))
        for (const Expr& index : ir::args_of(e)) found = found || picks_from_constants(p, index, variable);
      return !found;
    });
  return found;
}

// The loop over all of the dimension, if it is a serial one.
std::optional<Loop> serial_loop(const Draft& d, const std::vector<Loop>& nest, Id variable) {
  for (const Loop& l : nest) {
    const ir::LoopStmt& loop = ir::find(d.program(), l.id())->get<ir::LoopStmt>();
    const ir::Axis& axis = d.program().axis(loop.axis);
    if (axis.origin == ir::Axis::Origin::root && axis.iter == variable && loop.kind == ir::LoopKind::serial) return l;
  }
  return std::nullopt;
}

}  // namespace

void few_points(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  if (d.s.target().is_gpu() || s.is_reduction() || s.scatters()) return;
  std::size_t nodes = 0;
  for (const Expr& e : s.values) nodes += ir::node_count(e);
  const auto dims = spatial_of(s);
  const Stage stage = d.handle(id);
  for (std::size_t k = 0; k + 1 < dims.size(); ++k) {
    const std::int64_t n = d.sizes().constant_extent(s, dims[k].id).value_or(INT64_MAX);
    if (n < 2 || n > costs::few_points::most_points || static_cast<std::size_t>(n) * nodes > most_nodes_together) continue;
    const std::vector<Loop> nest = stage.nest(d.where);
    const auto points = serial_loop(d, nest, dims[k].id);
    if (!points || !ir::is_loop(*ir::find(d.program(), nest.back().id()), ir::LoopKind::vectorized)) continue;
    const std::string unrolled = count(static_cast<double>(n)) + " points along " + dims[k].name;
    const auto unroll = [&] {
      stage.unroll(*points, d.where);
      schedule::finish(d.s.scheduled(), d.s.target());
    };
    const bool ordered = std::find(s.along.begin(), s.along.end(), k) != s.along.end();
    if (!ordered && cost_without(s, dims[k].id) >= worth_sharing) {
      const bool shared = d.attempt(id, unrolled + " share what they compute", [&] {
        std::vector<Loop> order(std::find(nest.begin(), nest.end(), *points), nest.end());
        std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
        reorder(d, stage, order);
        unroll();
      });
      if (shared) continue;
    }
    if (picks_indices(d.program(), s, dims[k].id)) d.attempt(id, unrolled + " unrolled: their indices are numbers", unroll);
  }
}

}  // namespace ashlar::schedules
