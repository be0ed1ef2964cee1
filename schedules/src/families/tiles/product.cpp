// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which sums of products an mma may compute, by the types and the dimensions of the factors (src/lower/tiles/product.cpp).
//
//   sum over k of f32(A[b, i, k]) * f32(B[k, j])              rows i, columns j, terms k; b is a block's
//   sum over c, r, s of f32(x[n, c, h + r, w + s]) * f32(K[o, c, r, s])    rows o, columns h and w, terms c, r and s
#include <algorithm>

#include "schedules/src/families/tiles/tiles.h"
#include "schedules/src/reading.h"

namespace ashlar::schedules::detail {

namespace {

Type unconverted(const Expr& e) { return ir::is(e, ir::Op::cast) ? ir::args_of(e)[0].type() : e.type(); }

// The type of the factors; nothing where no mma multiplies them.
std::optional<Type> factor_type(const Expr& term) {
  const Type sum = term.type(), x = unconverted(ir::args_of(term)[0]), y = unconverted(ir::args_of(term)[1]);
  const auto byte = [](Type t) { return t.is_data_integer() && t.bits == 8; };
  if (sum == i32) return byte(x) && byte(y) ? std::optional(x) : std::nullopt;
  if (sum == f64) return f64;
  if (!(sum == f32)) return std::nullopt;
  const bool narrow = x == f16 || x == bf16 || x == e4m3 || x == e5m2;
  return narrow && x == y ? x : f32;
}

// Is each index of its loads one variable, as a view of tiles needs?
bool plain(const Expr& e, const ir::Stage& s) {
  bool all = true;
  ir::walk(e, [&](const Expr& x) {
    if (!ir::is(x, ir::Op::load)) return true;
    for (const Expr& i : ir::args_of(x)) {
      const Index index = index_of(i, s);
      all = all && !index.bent && !index.from_data && index.coefficients.size() <= 1 && index.constant == 0 &&
            (index.coefficients.empty() || index.coefficients.begin()->second == 1);
    }
    return true;
  });
  return all;
}

}  // namespace

std::optional<TileProduct> tile_product(const ir::Stage& s) {
  if (s.reducer.kind != ir::ReducerKind::sum || s.values.size() != 1 || s.scatters() || s.is_recurrence() ||
      !ir::is(s.values.front(), ir::Op::mul))
    return std::nullopt;
  const Expr& term = s.values.front();
  if (term.type().is_float() && !s.reducer.fused) return std::nullopt;
  const auto type = factor_type(term);
  if (!type) return std::nullopt;
  const Expr &x = ir::args_of(term)[0], &y = ir::args_of(term)[1];
  const auto dims = spatial_of(s), terms = reduce_of(s);
  TileProduct p;
  p.stage = s.id, p.factor = *type, p.sum = term.type();
  p.gathers = !plain(x, s) || !plain(y, s);
  const Expr* last = nullptr;  // the factor that has the columns
  for (std::size_t d = dims.size(); d-- > 0;) {
    const bool of_x = ir::uses_var(x, dims[d].id), of_y = ir::uses_var(y, dims[d].id);
    if (of_x == of_y) {
      if (last && !p.rows.empty()) break;
      if (last && d + 1 < dims.size()) continue;  // a batch between them: a block's
      continue;
    }
    const Expr* own = of_x ? &x : &y;
    if (!last) last = own;
    if (own == last && !p.rows.empty()) break;
    (own == last ? p.columns : p.rows).insert((own == last ? p.columns : p.rows).begin(), d);
  }
  for (std::size_t t = 0; t < terms.size(); ++t)
    if (ir::uses_var(x, terms[t].id) && ir::uses_var(y, terms[t].id)) p.terms.push_back(t);
  const bool bounded = std::any_of(dims.begin(), dims.end(), [&](const ir::IterVar& v) { return bounds_terms(s, v.id); });
  if (p.rows.empty() || p.columns.empty() || p.terms.empty() || bounded || !s.domain.empty()) return std::nullopt;
  return p;
}

}  // namespace ashlar::schedules::detail
