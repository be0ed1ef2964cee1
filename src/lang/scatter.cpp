// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Definitions of scatters. Several puts in a step are one more variable to reduce over, the innermost, which chooses among
// them.
#include <ashlar/lang/scatter.h>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lang/combine.h"
#include "lang/define.h"
#include <ashlar/lang/operand_types.h>

namespace ashlar {
namespace {

using lang::Bounds;
using lang::StageDef;
using lang::VariableDef;

ir::Reducer reducer_for(Combine c, const Expr& value, std::size_t count, const std::string& name, Where where) {
  const Type t = value.type();
  const bool bits = lang::combines_bits(c);
  if (bits && t.is_float()) refuse(name, "integers or bools to combine by bits", ir::text(t), where);
  if (!bits && t.is_bool()) refuse(name, "a number (convert by name: i32(x))", "bool", where);
  ir::Reducer r = lang::reducer_of(c, t);
  r.fused = c == Combine::add && count == 1 && t.is_float() && ir::is(value, ir::Op::mul);
  return r;
}

// select(put == 0, first, select(put == 1, second, ...))
Expr chosen(const Expr& which, const std::vector<Expr>& each) {
  Expr result = each.back();
  for (std::size_t k = each.size() - 1; k-- > 0;)
    result = ir::select(ir::eq(which, ir::index(static_cast<std::int64_t>(k))), each[k], result);
  return result;
}

// `reducer`: from the first value, and how many puts there are.
template <class F>
Tensor define_with(const detail::ScatterSite& site, const Operand& init, const detail::PutAt* puts, std::size_t count,
                   Type type, F&& reducer) {
  StageDef s;
  s.name = site.name;
  s.where = site.where;
  s.domain = lang::domain_of(site.extents, site.rank, s.name, site.where);
  lang::Checker checker{s.name, s.where, {}};
  for (const Bounds& b : s.domain)
    for (const Expr* bound : {&b.begin, &b.end}) checker.check(*bound);
  const Indices at = detail::new_indices(site.extents, site.rank);
  for (int d = 0; d < at.rank(); ++d) s.dimensions.push_back(at[d].node()->id);
  s.inits = {lang::component(type, init, s.name)};
  checker.check(s.inits[0]);

  for (int d = 0; d < site.points.rank(); ++d) {
    s.axes.push_back(site.points[d].node()->id);
    const VariableDef& v = lang::variable(s.axes.back(), s.where);
    checker.check(v.begin);
    checker.check(v.end);
  }
  checker.allowed = s.axes;
  std::vector<Expr> keeps, values;
  std::vector<std::vector<Expr>> targets(site.rank);
  bool drops = false;
  for (std::size_t k = 0; k < count; ++k) {
    const detail::PutAt& p = puts[k];
    drops |= !p.keep.empty();
    keeps.push_back(p.keep.empty() ? ir::boolean(true) : lang::to_type(bool_, Operand(p.keep, p.where), s.name));
    values.push_back(lang::component(type, Operand(p.value, p.where), s.name));
    for (std::size_t d = 0; d < site.rank; ++d) targets[d].push_back(p.at[d]);
    checker.check(keeps.back());
    checker.check(values.back());
    for (std::size_t d = 0; d < site.rank; ++d) checker.check(p.at[d]);
  }
  Expr which;
  if (count > 1) {
    VariableDef v;
    v.name = "put";
    v.where = site.where;
    v.begin = ir::index(0);
    v.end = ir::index(static_cast<std::int64_t>(count));
    which = ir::var(lang::add(v), v.name);
    s.axes.push_back(which.node()->id);
  }
  s.values = {chosen(which, values)};
  for (const auto& t : targets) s.targets.push_back(chosen(which, t));
  if (drops) s.keep = chosen(which, keeps);
  s.reducer = reducer(values.front());
  Tensor result;
  lang::add_stage(std::move(s), &result);
  return result;
}

}  // namespace

namespace detail {

Expr put_index(Operand at, Where where) { return lang::to_index(at.is_number() ? at : Operand(at.expr(), where), "put"); }

Indices new_points(const Extent* over, std::size_t rank, const char* name, Where where) {
  if (!name || !*name) refuse("scatter", "a name", "none", where);
  const std::vector<Bounds> bounds = lang::domain_of(over, rank, name, where);
  Indices at;
  for (std::size_t d = 0; d < rank; ++d) {
    VariableDef v;
    v.name = bounds[d].label.empty() ? "p" + std::to_string(d) : bounds[d].label;
    v.where = where;
    v.begin = bounds[d].begin;
    v.end = bounds[d].end;
    const std::string called = v.name;
    Access::append(at, ir::var(lang::add(std::move(v)), called, ir::index_type, where));
  }
  return at;
}

Tensor define_scatter(const ScatterSite& site, Combine combine, const Operand& init, const PutAt* puts, std::size_t count) {
  Expr first = puts[0].value;
  if (first.type().is_index()) first = ir::cast(i64, first);
  lang::require_data_type(first.type(), site.name, puts[0].where);
  return define_with(site, init, puts, count, first.type(),
                     [&](const Expr& value) { return reducer_for(combine, value, count, site.name, puts[0].where); });
}

Tensor define_scatter(const ScatterSite& site, const Reducer<1>& reducer, const Operand& init, const PutAt* puts,
                      std::size_t count) {
  const ir::Reducer& r = lang::reducer(Access::reducer(reducer), site.where).reducer;
  return define_with(site, init, puts, count, r.combine[0].type(), [&](const Expr&) { return r; });
}

}  // namespace detail
}  // namespace ashlar
