// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products as mma (block.h): dimensions of terms, which both factors have, and dimensions of each factor alone. Several
// of a kind are those of a matrix, one after the other.
//
//   C[i, j] = sum over k of f32(A[i, k]) * f32(B[k, j])     sum += mma of A's tile and B's, without the conversions
//
//   y[o, h, w] = sum over c, s of f32(K[o, c, s]) * f32(x[c, h, w + s])      o x (c s) by (c s) x (h w)
//
//   C[i, j] = sum over k of tf32(A[i, k]) * tf32(B[k, j])    mma of tf32, where both factors are rounded to it
//
// Beyond the last term both factors are 0: by the view, where that ends there, or by a choice.
#include <algorithm>

#include <ashlar/ir/refusal.h>
#include <ashlar/ir/tf32.h>

#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

// What a factor is converted from, where an mma multiplies that exactly.
Expr unconverted(const Expr& e, Type sum) {
  if (!ir::is(e, Op::cast)) return e;
  const Expr& from = ir::args_of(e)[0];
  const Type t = from.type();
  const bool float_factor = sum == f32 && (t == f16 || t == bf16 || t == e4m3 || t == e5m2);
  const bool byte_factor = sum == i32 && t.is_data_integer() && t.bits == 8;
  return float_factor || byte_factor ? from : e;
}

bool multiplies(Type a, Type b, Type sum) {
  if (sum == i32) return a.is_data_integer() && a.bits == 8 && b.is_data_integer() && b.bits == 8;
  if (a != b) return false;
  if (sum == f32) return a == f16 || a == bf16 || a == e4m3 || a == e5m2 || a == f32;
  return sum == f64 && a == f64;
}

// The dimensions that an expression has, of those that are tiles.
std::vector<TileDimension> used(const Expr& e, const std::vector<TileDimension>& dims) {
  std::vector<TileDimension> all;
  for (const TileDimension& d : dims)
    if (d.width > 1 && ir::uses_var(e, d.axis)) all.push_back(d);
  return all;
}

std::int64_t elements(const std::vector<TileDimension>& dims) {
  std::int64_t n = 1;
  for (const TileDimension& d : dims) n *= d.width;
  return n;
}

std::vector<TileDimension> joined(std::vector<TileDimension> first, const std::vector<TileDimension>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

}  // namespace

Id BlockLowering::factor(const Expr& e, const Dimensions& dims, const std::vector<Expr>& conditions) {
  done_.clear();
  if (ir::is(e, Op::load) && !stages_.count(e.node()->id)) {
    ir::Buffer b = memory(e.node()->id);
    if (ragged_ && ragged_->first && ragged_->extents.count(b.id)) b.extents = ragged_->extents.at(b.id);
    const std::vector<Expr> index = in_memory(b.id, ir::args_of(e));
    if (b.role == ir::Role::input && places(index, dims, data_stay_inside(b, index)) &&
        std::all_of(conditions.begin(), conditions.end(), [&](const Expr& c) { return says_end(c, b, index); }))
      return full(load(e, dims, Outside::zero), dims);
  }
  const Id value = full(spelled(e), dims);
  done_.clear();
  if (conditions.empty()) return value;
  const Type t = e.type();
  const Id inside = full(mask(conditions, dims), dims);
  const Id zero = b_.constant(t.is_float() ? ir::float_value(t, 0) : ir::int_value(t, 0), b_.type(value).extents);
  return b_.apply(Op::select, {inside, value, zero});
}

// Indices that do not depend on a dimension at the points of the tile: h / 8 for 8 heads of one group.
Expr BlockLowering::with_own_dimensions(const Expr& term) const {
  const Current& c = *nests_.back();
  analysis::Facts points = facts_;
  for (const TileDimension& d : c.spatial)
    if (d.axis && !d.end.empty() && !ir::is_int(d.end, 1)) points.range(d.axis, ir::index(0), ir::sub(d.end, ir::index(1)));
  return ir::transform(term, [&](const Expr& e) {
    if (!ir::is(e, Op::load)) return e;
    std::vector<Expr> index;
    for (const Expr& i : ir::args_of(e)) {
      const Expr simple = analysis::simplify(i, points);
      const bool fewer = std::any_of(c.spatial.begin(), c.spatial.end(), [&](const TileDimension& d) {
        return d.axis && ir::uses_var(i, d.axis) && !ir::uses_var(simple, d.axis);
      });
      index.push_back(fewer ? simple : i);
    }
    return ir::load(e.node()->id, e.node()->name, e.type(), index, e.node()->where);
  });
}

bool BlockLowering::multiply(const Expr& of_terms, const std::vector<Expr>& conditions) {
  Current& c = now();
  const Expr term = with_own_dimensions(of_terms);
  const ir::Reducer& r = c.stage->reducer;
  if (r.kind != ir::ReducerKind::sum || c.terms.empty() || !ir::is(term, Op::mul)) return false;
  const Type sum = term.type();
  if (sum.is_float() && !r.fused) return false;
  Expr x = unconverted(ir::args_of(term)[0], sum), y = unconverted(ir::args_of(term)[1], sum);
  if (!multiplies(x.type(), y.type(), sum)) x = ir::args_of(term)[0], y = ir::args_of(term)[1];
  if (!multiplies(x.type(), y.type(), sum)) return false;
  if (used(x, c.terms).size() != c.terms.size() || used(y, c.terms).size() != c.terms.size()) return false;
  Dimensions rows, columns;  // of the result: those of one factor stand before those of the other
  Expr left, right;
  for (const TileDimension& d : c.spatial) {
    if (d.width == 1) continue;
    const bool of_x = ir::uses_var(x, d.axis), of_y = ir::uses_var(y, d.axis);
    for (const Expr& e : conditions)
      if (ir::uses_var(e, d.axis)) return false;
    if (of_x == of_y) return false;
    const Expr& own = of_x ? x : y;
    if (left.empty()) left = own, right = of_x ? y : x;
    const bool first = own.node() == left.node();
    if (first && !columns.empty()) return false;
    (first ? rows : columns).push_back(d);
  }
  if (rows.empty() || columns.empty()) return false;
  const bool tf32 = x.type() == f32 && ir::rounded_to_tf32(x) && ir::rounded_to_tf32(y);
  const std::int64_t m = elements(rows), n = elements(columns), k = elements(c.terms);
  const Id a = b_.reshape(factor(left, joined(rows, c.terms), conditions), {m, k});
  const Id b = b_.reshape(factor(right, joined(c.terms, columns), conditions), {k, n});
  const std::vector<std::int64_t> extents = b_.type(c.sums[0]).extents;
  const Id before = b_.reshape(c.sums[0], {m, n});
  c.sums[0] = b_.reshape(b_.mma(a, b, before, tf32), extents);
  return true;
}

}  // namespace ashlar::lowering
