// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices between sums that differ only in what the operands are multiplied by (block.h), as `roll` makes them:
//
//   select(eq, s + p, select(lt, s * r + p, s + p * r))    ->    s * select(eq, 1, select(lt, r, 1)) + p * select(..)
//
// Where s and p are tiles of a row's values each, r, eq and lt are one value for each row: the choices become theirs. Every bit
// stays: a number times 1 is itself, and either side rounds the same product and the same sum.
#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

Expr one_of(const Expr& e) { return ir::float_const(e.type(), 1); }

// What e multiplies `base` by: 1 where it is base. Empty: it is another thing.
Expr times(const Expr& e, const Expr& base) {
  if (ir::same(e, base)) return one_of(e);
  if (!ir::is(e, Op::mul)) return {};
  const auto args = ir::args_of(e);
  return ir::same(args[0], base) ? args[1] : ir::same(args[1], base) ? args[0] : Expr();
}

// select(condition, p, q) as a product of what p and q have in common; empty where that is nothing.
Expr common_product(const Expr& condition, const Expr& p, const Expr& q) {
  if (ir::same(p, q)) return p;
  std::vector<Expr> bases{p, q};
  for (const Expr& e : {p, q})
    if (ir::is(e, Op::mul)) bases.insert(bases.end(), ir::args_of(e).begin(), ir::args_of(e).end());
  for (const Expr& base : bases) {
    const Expr x = times(p, base), y = times(q, base);
    if (!x.empty() && !y.empty()) return ir::mul(base, ir::select(condition, x, y));
  }
  return {};
}

}  // namespace

Expr with_common_sums(const Expr& e) {
  if (!ir::is(e, Op::select) || !e.type().is_float()) return e;
  const auto args = ir::args_of(e);
  const Expr p = with_common_sums(args[1]), q = with_common_sums(args[2]);
  if (!ir::is(p, Op::add) || !ir::is(q, Op::add)) return e;
  const Expr first = common_product(args[0], ir::args_of(p)[0], ir::args_of(q)[0]),
             second = common_product(args[0], ir::args_of(p)[1], ir::args_of(q)[1]);
  return first.empty() || second.empty() ? e : ir::add(first, second);
}

}  // namespace ashlar::lowering
