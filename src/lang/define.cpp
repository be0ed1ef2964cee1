// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Definitions of stages: compute and the reductions, with what a definition must satisfy.
#include <algorithm>

#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/compute.h>

#include "lang/define.h"
#include <ashlar/lang/operand_types.h>

namespace ashlar {

using lang::Bounds;
using lang::StageDef;
using lang::VariableDef;

namespace lang {

Expr stored(const Operand& value, const char* what) {
  Expr e = as_expr(value, what);
  if (e.type().is_index()) return ir::cast(i64, e);
  require_data_type(e.type(), what, value.where());
  return e;
}

void Checker::check(const Expr& e) const {
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, ir::Op::var)) check_variable(x.node()->id);
    return true;
  });
}
void Checker::check_variable(Id id) const {
  if (std::find(allowed.begin(), allowed.end(), id) != allowed.end()) return;
  const VariableDef& v = variable(id, where);
  if (v.kind == VariableDef::Kind::axis)
    refuse(name, "axes only inside the reduction over them: sum(..., " + v.name + ")",
           "the axis " + v.name + " outside of a reduction over it", where);
  if (v.kind == VariableDef::Kind::placeholder)
    refuse(name, "the arguments of a combiner only inside it", v.name + " outside", where);
  if (v.kind == VariableDef::Kind::dimension)
    refuse(name, "the Vars of its own lambda", "the Var " + v.name + " of another definition", where);
}

std::vector<Bounds> domain_of(const Extent* extents, std::size_t rank, const std::string& what, Where where) {
  std::vector<Bounds> domain;
  for (std::size_t d = 0; d < rank; ++d) {
    const Extent& e = extents[d];
    Bounds b;
    b.begin = e.begin().empty() ? ir::index(0) : to_index(Operand(e.begin(), where), what);
    b.end = to_index(Operand(e.end(), where), what);
    if (e.label()) b.label = e.label();
    std::int64_t length = 0;
    if (ir::is_int(ir::sub(b.end, b.begin), &length) && length < 0)
      refuse(what, "extents that are not negative", std::to_string(length) + " in dimension " + std::to_string(d), where);
    for (const Expr* bound : {&b.begin, &b.end})
      ir::walk(*bound, [&](const Expr& x) {
        if (ir::is(x, ir::Op::load)) refuse(what, "extents over symbols and numbers", ir::text(*bound), where);
        return true;
      });
    domain.push_back(b);
  }
  return domain;
}

StageDef new_stage(const detail::Site& site) {
  if (!site.name || !*site.name) refuse("compute", "a name", "none", site.where);
  StageDef s;
  s.name = site.name;
  s.where = site.where;
  s.inferred = site.extents == nullptr;
  const auto rank = static_cast<std::size_t>(site.at.rank());
  if (!s.inferred) s.domain = domain_of(site.extents, rank, s.name, site.where);
  for (int d = 0; d < site.at.rank(); ++d) s.dimensions.push_back(site.at[d].node()->id);
  for (const Bounds& b : s.domain)
    for (const Expr* bound : {&b.begin, &b.end}) Checker{s.name, s.where, {}}.check(*bound);
  return s;
}

void add_tensors(StageDef& s, const std::vector<Type>& types, Tensor* results) {
  for (std::size_t c = 0; c < types.size(); ++c) {
    TensorDef t;
    t.kind = TensorDef::Kind::stage;
    t.name = types.size() == 1 ? s.name : s.name + std::to_string(c);
    t.type = types[c];
    t.rank = static_cast<int>(s.dimensions.size());
    t.where = s.where;
    t.component = c;
    s.tensors.push_back(add(std::move(t)));
    results[c] = detail::Access::tensor(s.tensors.back());
  }
}

void add_stage(StageDef s, Tensor* results) {
  if (s.tensors.empty()) {
    std::vector<Type> types;
    for (const Expr& e : s.values) types.push_back(e.type());
    add_tensors(s, types, results);
  }
  const std::vector<Id> tensors = s.tensors;
  const Where where = s.where;
  const Id id = add(std::move(s));
  for (Id t : tensors) tensor(t, where).stage = id;
}

}  // namespace lang

namespace {

using lang::add_stage;
using lang::Checker;
using lang::new_stage;
using lang::stored;

ir::ReducerKind kind_of(detail::Reduce r) {
  switch (r) {
    case detail::Reduce::sum:
      return ir::ReducerKind::sum;
    case detail::Reduce::strict_sum:
      return ir::ReducerKind::strict_sum;
    case detail::Reduce::product:
      return ir::ReducerKind::product;
    case detail::Reduce::minimum:
      return ir::ReducerKind::minimum;
    case detail::Reduce::maximum:
      return ir::ReducerKind::maximum;
    case detail::Reduce::custom:
      return ir::ReducerKind::custom;
  }
  return ir::ReducerKind::none;
}

// Bounds are read from tables that the caller gives: nothing has to be computed before a loop knows how far it runs.
void require_tables(const lang::VariableDef& axis) {
  for (const Expr* bound : {&axis.begin, &axis.end})
    ir::walk(*bound, [&](const Expr& x) {
      if (!ir::is(x, ir::Op::load)) return true;
      const lang::TensorDef& t = lang::tensor(x.node()->id, axis.where);
      if (t.kind != lang::TensorDef::Kind::input && t.kind != lang::TensorDef::Kind::constant)
        refuse("Axis " + axis.name, "bounds over variables, and elements of inputs and constants",
               ir::text(*bound) + ", where " + t.name + " is computed", axis.where);
      return true;
    });
}

Reduction<> reduce(detail::Reduce kind, const char* what, const Operand& term, AxisList axes, Where where) {
  const Expr e = stored(term, what);
  if (e.type().is_bool()) refuse(what, "a number (convert by name: i32(x))", "bool", term.where());
  if (axes.axes().empty()) refuse(what, "at least one Axis", "none", where);
  return detail::Access::reduction<1>(kind, Values<1>{e}, std::move(axes), where);
}

}  // namespace

namespace detail {

namespace {
const char* said(const Site& site) { return site.name ? site.name : "compute"; }
}  // namespace

void define_values(const Site& site, const Expr* values, std::size_t count, Tensor* results) {
  StageDef s = new_stage(site);
  const Checker checker{s.name, s.where, s.dimensions};
  for (std::size_t c = 0; c < count; ++c) {
    const Expr e = stored(Operand(values[c], site.where), said(site));
    checker.check(e);
    s.values.push_back(e);
  }
  add_stage(std::move(s), results);
}

Tensor define(const Site& site, Operand value) {
  const Expr e = lang::as_expr(value.is_number() ? value : Operand(value.expr(), site.where), said(site));
  Tensor result;
  define_values(site, &e, 1, &result);
  return result;
}

void define_reduction(const Site& site, const Reduced& r, Tensor* results) {
  StageDef s = new_stage(site);
  if (r.kind == Reduce::custom) {
    s.reducer = lang::reducer(r.reducer, r.where).reducer;
  } else {
    s.reducer.kind = kind_of(r.kind);
    s.reducer.order = s.reducer.kind == ir::ReducerKind::strict_sum ? ir::Reducer::Order::exact : ir::Reducer::Order::any;
    const bool sums = s.reducer.kind == ir::ReducerKind::sum || s.reducer.kind == ir::ReducerKind::strict_sum;
    s.reducer.fused = sums && r.terms[0].type().is_float() && ir::is(r.terms[0], ir::Op::mul);
  }
  Checker checker{s.name, s.where, s.dimensions};
  for (std::size_t c = 0; c < r.count; ++c)
    if (!r.initial[c].empty()) checker.check(r.initial[c]);  // over the dimensions alone: it sits outside the reduction
  for (const Axis& a : r.axes.axes()) {
    const ir::Id id = a.node()->id;
    const VariableDef& v = lang::variable(id, r.where);
    if (std::find(s.axes.begin(), s.axes.end(), id) != s.axes.end())
      refuse(s.name, "each Axis once", v.name + " twice", r.where);
    require_tables(v);
    checker.check(v.begin);
    checker.check(v.end);
    s.axes.push_back(id);
    checker.allowed.push_back(id);
  }
  for (const Expr& c : r.axes.conditions()) {
    checker.check(c);
    s.conditions.push_back(c);
  }
  for (std::size_t c = 0; c < r.count; ++c) {
    checker.check(r.terms[c]);
    s.values.push_back(r.terms[c]);
    const bool own = r.kind == Reduce::custom;
    s.inits.push_back(!r.initial[c].empty() ? r.initial[c]
                      : own                 ? s.reducer.identity[c]
                                            : ir::identity_of(s.reducer.kind, r.terms[c].type()));
  }
  add_stage(std::move(s), results);
}

}  // namespace detail

Reduction<> sum(Operand x, AxisList k, Where w) { return reduce(detail::Reduce::sum, "sum", x, std::move(k), w); }
Reduction<> strict_sum(Operand x, AxisList k, Where w) {
  return reduce(detail::Reduce::strict_sum, "strict_sum", x, std::move(k), w);
}
Reduction<> product(Operand x, AxisList k, Where w) { return reduce(detail::Reduce::product, "product", x, std::move(k), w); }
Reduction<> minimum(Operand x, AxisList k, Where w) { return reduce(detail::Reduce::minimum, "minimum", x, std::move(k), w); }
Reduction<> maximum(Operand x, AxisList k, Where w) { return reduce(detail::Reduce::maximum, "maximum", x, std::move(k), w); }

// ---- arguments -------------------------------------------------------------------------------------------------------------
namespace lang {
namespace {

Tensor argument(TensorDef::Kind kind, const char* name, Type type, const std::vector<Extent>& extents, ArgumentLayout layout,
                Where where) {
  const char* what = kind == TensorDef::Kind::input ? "Input" : "Output";
  if (!name || !*name) refuse(what, "a name", "none", where);
  if (extents.size() > static_cast<std::size_t>(max_rank))
    refuse(name, "at most 8 dimensions", std::to_string(extents.size()), where);
  if (!(kind == TensorDef::Kind::input && type.is_packed() && type.bits == 4)) require_data_type(type, name, where);
  TensorDef t;
  t.kind = kind;
  t.name = name;
  t.type = type;
  t.rank = static_cast<int>(extents.size());
  t.where = where;
  t.layout = layout;
  t.shape = domain_of(extents.data(), extents.size(), name, where);
  for (const Bounds& b : t.shape) {
    if (!ir::is_int(b.begin, std::int64_t{0}))
      refuse(name, "extents of an argument, which begin at 0", ir::text(b.begin) + " to " + ir::text(b.end), where);
    ir::walk(b.end, [&](const Expr& x) {
      if (ir::is(x, ir::Op::var) && variable(x.node()->id, where).kind != VariableDef::Kind::symbol)
        refuse(name, "extents over Symbols and numbers", ir::text(b.end), where);
      return true;
    });
  }
  return detail::Access::tensor(add(std::move(t)));
}

// e = constant + sum of coefficient * atom; enough to see that M + 1 and 1 + M are one extent.
struct Linear {
  std::vector<std::pair<Expr, std::int64_t>> terms;
  std::int64_t constant = 0;
  void add(const Expr& e, std::int64_t factor) {
    std::int64_t v = 0;
    const auto args = ir::args_of(e);
    if (ir::is_int(e, &v))
      constant += factor * v;
    else if (ir::is(e, ir::Op::add))
      add(args[0], factor), add(args[1], factor);
    else if (ir::is(e, ir::Op::sub))
      add(args[0], factor), add(args[1], -factor);
    else if (ir::is(e, ir::Op::neg))
      add(args[0], -factor);
    else if (ir::is(e, ir::Op::mul) && ir::is_int(args[1], &v))
      add(args[0], factor * v);
    else if (ir::is(e, ir::Op::mul) && ir::is_int(args[0], &v))
      add(args[1], factor * v);
    else
      atom(e, factor);
  }
  void atom(const Expr& e, std::int64_t factor) {
    for (auto& [term, f] : terms)
      if (ir::same(term, e)) {
        f += factor;
        return;
      }
    terms.emplace_back(e, factor);
  }
  bool zero() const {
    return constant == 0 && std::all_of(terms.begin(), terms.end(), [](const auto& t) { return t.second == 0; });
  }
};

bool equal(const Expr& a, const Expr& b) {
  Linear difference;
  difference.add(a, 1);
  difference.add(b, -1);
  return difference.zero();
}

}  // namespace

Tensor make_input(const char* name, Type type, const std::vector<Extent>& extents, ArgumentLayout layout, Where where) {
  return argument(TensorDef::Kind::input, name, type, extents, layout, where);
}
Tensor make_output(const char* name, Type type, const std::vector<Extent>& extents, ArgumentLayout layout, Where where) {
  return argument(TensorDef::Kind::output, name, type, extents, layout, where);
}
Expr make_scalar(const char* name, Type type, Where where) {
  if (!name || !*name) refuse("Scalar", "a name", "none", where);
  require_data_type(type, name, where);
  VariableDef v;
  v.kind = VariableDef::Kind::scalar;
  v.name = name;
  v.type = type;
  v.where = where;
  return ir::var(add(std::move(v)), name, type, where);
}

void bind(const Tensor& output, const Tensor& value, Where where) {
  TensorDef& o = tensor(output.id(), where);
  if (o.kind != TensorDef::Kind::output) refuse(o.name, "an output", "a tensor that is not an output", where);
  if (o.bound)
    refuse(o.name, "one definition of each output",
           "a second one; the first stands at " + location(resolve(o.bound, where).where), where);
  const TensorDef& v = resolve(value.id(), where);
  if (v.type != o.type)
    refuse(o.name, "values of type " + ir::text(o.type) + ", as declared (convert by name: " + ir::text(o.type) + "(x))",
           ir::text(v.type), where);
  if (v.rank != o.rank)
    refuse(o.name, std::to_string(o.rank) + " dimensions, as declared", std::to_string(v.rank) + " in " + v.name, where);
  const bool domain_given = v.kind == TensorDef::Kind::input || v.kind == TensorDef::Kind::constant ||
                            (v.kind == TensorDef::Kind::stage && !stage(v.stage, where).inferred);
  if (domain_given) {
    std::vector<Bounds> domain;
    bool same = true;
    for (int d = 0; d < v.rank; ++d) {
      domain.push_back(bounds_of(v, d, where));
      const Bounds& declared = o.shape[static_cast<std::size_t>(d)];
      same = same && equal(domain.back().begin, declared.begin) && equal(domain.back().end, declared.end);
    }
    if (!same) refuse(o.name, "the declared shape " + shape_text(o.shape), v.name + shape_text(domain), where);
  }
  o.bound = v.id;
}

}  // namespace lang
}  // namespace ashlar
