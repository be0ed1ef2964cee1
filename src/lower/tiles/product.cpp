// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products as mma (block.h): one dimension of terms, which both factors have, and one more of each factor alone.
//
//   C[i, j] = sum over k of f32(A[i, k]) * f32(B[k, j])     sum += mma of A's tile and B's, without the conversions
//
// Beyond the last term both factors are 0: by the view, where that ends there, or by a choice.
#include <algorithm>

#include <ashlar/ir/refusal.h>

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

std::vector<std::size_t> used(const Expr& e, const std::vector<TileDimension>& dims) {
  std::vector<std::size_t> all;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d].width > 1 && ir::uses_var(e, dims[d].axis)) all.push_back(d);
  return all;
}

}  // namespace

Id BlockLowering::factor(const Expr& e, const Dimensions& dims, const std::vector<Expr>& conditions) {
  done_.clear();
  if (ir::is(e, Op::load) && !stages_.count(e.node()->id)) {
    const ir::Buffer& b = memory(e.node()->id);
    const std::vector<Expr> index = in_memory(b.id, ir::args_of(e));
    if (b.role == ir::Role::input && places(index, dims) &&
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

bool BlockLowering::multiply(const Expr& term, const std::vector<Expr>& conditions) {
  Current& c = now();
  const ir::Reducer& r = c.stage->reducer;
  if (r.kind != ir::ReducerKind::sum || c.terms.size() != 1 || !ir::is(term, Op::mul)) return false;
  const Type sum = term.type();
  if (sum.is_float() && !r.fused) return false;
  const Expr x = unconverted(ir::args_of(term)[0], sum), y = unconverted(ir::args_of(term)[1], sum);
  if (!multiplies(x.type(), y.type(), sum)) return false;
  const TileDimension k = c.terms[0];
  if (!ir::uses_var(x, k.axis) || !ir::uses_var(y, k.axis)) return false;
  const std::vector<std::size_t> of_x = used(x, c.spatial), of_y = used(y, c.spatial);
  if (of_x.size() != 1 || of_y.size() != 1 || of_x == of_y) return false;
  for (std::size_t d = 0; d < c.spatial.size(); ++d) {
    if (c.spatial[d].width > 1 && d != of_x[0] && d != of_y[0]) return false;
    for (const Expr& e : conditions)
      if (ir::uses_var(e, c.spatial[d].axis)) return false;
  }
  const bool swapped = of_y[0] < of_x[0];
  const TileDimension m = c.spatial[swapped ? of_y[0] : of_x[0]], n = c.spatial[swapped ? of_x[0] : of_y[0]];
  const Id a = factor(swapped ? y : x, {m, k}, conditions);
  const Id b = factor(swapped ? x : y, {k, n}, conditions);
  const std::vector<std::int64_t> extents = b_.type(c.sums[0]).extents;
  const Id before = b_.reshape(c.sums[0], {m.width, n.width});
  c.sums[0] = b_.reshape(b_.mma(a, b, before), extents);
  return true;
}

}  // namespace ashlar::lowering
