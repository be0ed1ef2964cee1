// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences: their state, which the step reads before the stage exists; their definition, and what it must satisfy.
#include <ashlar/lang/recur.h>

#include <algorithm>

#include <ashlar/ir/print.h>
#include <ashlar/ir/recurrence.h>
#include <ashlar/ir/refusal.h>

#include "lang/define.h"
#include <ashlar/lang/operand_types.h>

namespace ashlar {

using lang::Bounds;
using lang::Checker;
using lang::StageDef;

namespace {

// The dimensions that a recurrence runs along, checked.
void run_along(StageDef& s, const Along& along) {
  if (along.misses_one)
    refuse(s.name, "backwards(d) of a dimension to run along", "backwards(" + std::to_string(along.missing) + ")", s.where);
  s.descending.assign(s.dimensions.size(), false);
  for (std::size_t k = 0; k < along.count; ++k) {
    const int d = along.dims[k];
    if (d < 0 || d >= static_cast<int>(s.dimensions.size()))
      refuse(s.name, "dimensions to run along from 0 to " + std::to_string(s.dimensions.size() - 1),
             "Along " + std::to_string(d), s.where);
    const auto dim = static_cast<std::size_t>(d);
    if (std::find(s.along.begin(), s.along.end(), dim) != s.along.end())
      refuse(s.name, "each dimension to run along once", std::to_string(d) + " twice", s.where);
    s.along.push_back(dim);
    s.descending[dim] = along.descending[k];
  }
}

Expr at_of(const StageDef& s, std::size_t dim) {
  return ir::var(s.dimensions[dim], lang::variable(s.dimensions[dim], s.where).name);
}

// Where the state is given by the first lambda.
Expr at_start(const StageDef& s, const Lag& lag) {
  if (lag.count != 1 && lag.count != s.along.size())
    refuse(s.name, "a lag for each of the " + std::to_string(s.along.size()) + " dimensions of Along, or one for all",
           std::to_string(lag.count), s.where);
  Expr start = ir::boolean(false);
  for (std::size_t k = 0; k < s.along.size(); ++k) {
    const int steps = lag.steps[lag.count == 1 ? 0 : k];
    if (steps < 0) refuse(s.name, "lags that are not negative", std::to_string(steps), s.where);
    if (steps == 0) continue;
    const std::size_t d = s.along[k];
    const Bounds& b = s.domain[d];
    const Expr here = s.descending[d] ? ir::ge(at_of(s, d), ir::sub(b.end, ir::index(steps)))
                                      : ir::lt(at_of(s, d), ir::add(b.begin, ir::index(steps)));
    start = ir::logic_or(start, here);
  }
  return start;
}

// The stage as far as the order of its steps depends on it, in the variables of the language.
ir::Stage shape_of(const StageDef& s) {
  ir::Stage shape;
  shape.name = s.name;
  for (std::size_t d = 0; d < s.dimensions.size(); ++d) {
    ir::IterVar v;
    v.id = s.dimensions[d];
    v.name = lang::variable(s.dimensions[d], s.where).name;
    v.begin = s.domain[d].begin;
    v.end = s.domain[d].end;
    v.descending = s.descending[d];
    shape.iters.push_back(v);
  }
  shape.along = s.along;
  shape.values = s.values;
  shape.buffers = s.tensors;
  return shape;
}

// Every element that a step reads was computed before it; where no step is given, there is one.
void check_order(const StageDef& s, bool given) {
  const ir::Stage shape = shape_of(s);
  for (const ir::SelfRead& r : ir::self_reads(shape)) {
    const Where where = r.load.node()->where;
    if (const auto found = ir::unordered(shape, r)) refuse(s.name, found->expected, found->found, where, found->conflict);
    if (given) continue;
    for (std::size_t d : s.along)
      if (r.back[d] && *r.back[d] > 0 && !ir::is_inside(shape, r, d))
        refuse(s.name, "a lag of at least 1: some steps have none before them", "0", s.where,
               ir::text(r.load) + " does not exist at every step");
  }
}

}  // namespace

namespace detail {

void RecurrenceBuilder::begin(const Site& site, const Operand* first, std::size_t count, Expr* values, Tensor* state) {
  StageDef s = lang::new_stage(site);
  std::vector<Type> types;
  for (std::size_t c = 0; c < count; ++c) {
    values[c] = lang::stored(first[c], site.name);
    types.push_back(values[c].type());
  }
  lang::add_tensors(s, types, state);
}

void RecurrenceBuilder::end(const Site& site, const Along& along, const Lag& lag, const Expr* first, const Operand* step,
                            std::size_t count, const Tensor* state, const ir::Reducer* scan) {
  StageDef s = lang::new_stage(site);
  if (scan) s.scan = *scan;
  for (std::size_t c = 0; c < count; ++c) s.tensors.push_back(state[c].id());
  run_along(s, along);
  const Expr start = at_start(s, lag);
  const Checker checker{s.name, s.where, s.dimensions};
  for (std::size_t c = 0; c < count; ++c) {
    const Expr next = lang::component(first[c].type(), step[c], s.name);
    checker.check(first[c]);
    checker.check(next);
    s.values.push_back(ir::select(start, first[c], next));
  }
  check_order(s, !ir::is_int(start));
  lang::add_stage(std::move(s), nullptr);
}

}  // namespace detail

// ---- the state of earlier steps ------------------------------------------------------------------------------------------

const Tensor& Prior::only(Where where) const {
  if (state_.size() != 1)
    refuse("recur", "a component of the state, as in y[0](…)", std::to_string(state_.size()) + " values at once", where);
  return state_.front();
}
Tensor Prior::operator[](DimAt k) const {
  if (k.dim < 0 || k.dim >= static_cast<int>(state_.size()))
    refuse("recur", "a component of the state from 0 to " + std::to_string(state_.size() - 1), std::to_string(k.dim), k.where);
  return state_[static_cast<std::size_t>(k.dim)];
}
Expr Prior::operator()(Operand a) const { return only(a.where())(a); }
Expr Prior::operator()(Operand a, Operand b) const { return only(a.where())(a, b); }
Expr Prior::operator()(Operand a, Operand b, Operand c) const { return only(a.where())(a, b, c); }
Expr Prior::operator()(Operand a, Operand b, Operand c, Operand d) const { return only(a.where())(a, b, c, d); }
Expr Prior::operator()(Operand a, Operand b, Operand c, Operand d, Operand e) const { return only(a.where())(a, b, c, d, e); }
Expr Prior::operator()(Operand a, Operand b, Operand c, Operand d, Operand e, Operand f) const {
  return only(a.where())(a, b, c, d, e, f);
}
Expr Prior::operator()(Operand a, Operand b, Operand c, Operand d, Operand e, Operand f, Operand g) const {
  return only(a.where())(a, b, c, d, e, f, g);
}
Expr Prior::operator()(Operand a, Operand b, Operand c, Operand d, Operand e, Operand f, Operand g, Operand h) const {
  return only(a.where())(a, b, c, d, e, f, g, h);
}
Expr Prior::operator()(const Indices& at, Where where) const { return only(where)(at, where); }

}  // namespace ashlar
