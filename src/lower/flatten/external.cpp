// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stage that a function in C computes: one call for the box of its nest, with the region of every tensor that the box needs.
//
//   nest C [io*32, ...) x [0, N)     becomes     if rows > 0 && N > 0
//     (no loops)                                   call sgemm A[io*32*K] at (io*32, 0) of (rows, K) by (K, 1), B..., C...
#include <algorithm>

#include <ashlar/ir/function.h>

#include "lower/flatten/flatten.h"
#include "lower/nodes.h"

namespace ashlar::lowering {

std::vector<KStmt> Flattener::external(const Stmt& nest) {
  const ir::NestStmt& node = nest.get<ir::NestStmt>();
  ++position_;
  const ir::Stage& stage = p_.stage(node.stage);
  const Facts facts = facts_;
  Body expressions(ir::Substitution{}, facts, Expr(), [this](Id buffer) -> const Place& { return place_of(buffer); });
  const auto simple = [&](const Expr& e) { return analysis::simplify(known(e), facts); };

  std::vector<analysis::VarRange> box;
  std::vector<Expr> begin, extent;
  Expr some = ir::boolean(true);
  for (const ir::Root& r : node.roots) {
    begin.push_back(simple(r.begin));
    extent.push_back(simple(r.extent));
    box.push_back({r.iter, {r.begin, ir::sub(ir::add(r.begin, r.extent), ir::index(1))}});
    if (!analysis::can_prove(ir::gt(extent.back(), ir::index(0)), facts))
      some = ir::logic_and(some, ir::gt(expressions.lower(extent.back()), ir::index(0)));
  }

  ir::KCall made;
  made.function = stage.values.front().node()->id;
  const auto actual = [&](Id buffer, const std::vector<Expr>& from, const std::vector<Expr>& extents) {
    ir::Call::Actual a;
    a.buffer = place_of(buffer).kbuffer;
    a.address = expressions.address(buffer, from);
    for (std::size_t d = 0; d < from.size(); ++d) {
      std::vector<Expr> next = from;
      next[d] = ir::add(next[d], ir::index(1));
      a.strides.push_back(analysis::simplify(ir::sub(expressions.address(buffer, next), a.address), facts));
    }
    for (const Expr& e : from) a.positions.push_back(expressions.lower(e));  // bounds may be elements of tables
    for (const Expr& e : extents) a.extents.push_back(expressions.lower(e));
    made.actuals.push_back(std::move(a));
  };
  for (const ir::Needed& n : ir::needed_by(stage.values.front())) {
    std::vector<Expr> from, extents;
    const auto first = ir::args_of(n.first), last = ir::args_of(n.last);
    for (std::size_t d = 0; d < first.size(); ++d) {
      const analysis::Interval low = analysis::bounds_over(first[d], box, facts),
                               high = analysis::bounds_over(last[d], box, facts);
      if (low.lo.empty() || high.hi.empty()) throw InternalError("a region without bound, of a stage that a function computes");
      // a point that needs nothing may name a range outside of the tensor
      const Place& place = place_of(n.first.node()->id);
      const Expr begin_of = place.logical_lo[d], end_of = ir::add(begin_of, place.logical_extent[d]);
      const Expr at = n.condition.empty() ? low.lo : ir::max(low.lo, begin_of);
      const Expr end = ir::add(high.hi, ir::index(1));
      from.push_back(simple(at));
      extents.push_back(simple(ir::max(ir::sub(n.condition.empty() ? end : ir::min(end, end_of), at), ir::index(0))));
    }
    actual(n.first.node()->id, from, extents);
  }
  for (Id b : stage.buffers) actual(b, begin, extent);
  made.results = stage.buffers.size();

  KStmt k{nest.where, std::move(made)};
  Statements out;
  if (std::int64_t always = 0; ir::is_int(some, &always)) {
    if (always) out.push_back(std::move(k));
  } else {
    out.push_back(if_stmt(some, {std::move(k)}, nest.where));
  }
  return out;
}

}  // namespace ashlar::lowering
