// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbols, axes, extents, shapes and the indices of a point.
#include <ashlar/lang/index.h>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/compute.h>

#include <ashlar/lang/definition.h>
#include <ashlar/lang/operand_types.h>

namespace ashlar {

using lang::VariableDef;

namespace {

std::string checked_name(const char* name, const char* what, Where where) {
  if (!name || !*name) refuse(what, "a name", "none", where);
  return name;
}

Expr new_variable(VariableDef d) {
  const std::string name = d.name;
  const Type type = d.type;
  const Where where = d.where;
  return ir::var(lang::add(std::move(d)), name, type, where);
}

Expr symbol(const char* name, Symbol::Facts facts, Where where) {
  VariableDef d;
  d.kind = VariableDef::Kind::symbol;
  d.name = checked_name(name, "Symbol", where);
  d.where = where;
  d.facts = facts;
  if (facts.min < 0 || facts.max < facts.min || facts.multiple_of < 1)
    refuse("Symbol " + d.name, "facts of an extent: 0 <= min <= max and multiple_of >= 1",
           "min " + std::to_string(facts.min) + ", max " + std::to_string(facts.max) + ", multiple_of " +
               std::to_string(facts.multiple_of),
           where);
  return new_variable(std::move(d));
}

Expr axis(const char* name, const Operand& begin, const Operand& end, Where where) {
  VariableDef d;
  d.kind = VariableDef::Kind::axis;
  d.name = checked_name(name, "Axis", where);
  d.where = where;
  d.begin = lang::to_index(begin, "Axis " + d.name);
  d.end = lang::to_index(end, "Axis " + d.name);
  std::int64_t length = 0;
  if (ir::is_int(ir::sub(d.end, d.begin), &length) && length < 0)
    refuse("Axis " + d.name, "an end that is not below the begin", ir::text(d.begin) + " to " + ir::text(d.end), where);
  return new_variable(std::move(d));
}

void require_dim(int dim, int count, const char* what, Where where) {
  if (dim >= 0 && dim < count) return;
  refuse(what, count == 0 ? "no dimension, of rank 0" : "a dimension from 0 to " + std::to_string(count - 1),
         std::to_string(dim), where);
}

Expr condition(Operand c) {
  const Expr e = lang::as_expr(c, "where");
  if (!e.type().is_bool()) refuse("where", "a bool: a comparison, or x != 0", ir::text(e.type()), c.where());
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, ir::Op::load))
      refuse("where", "a condition over variables (by value: reduce select(condition, term, identity))", ir::text(e),
             c.where());
    return true;
  });
  return e;
}

}  // namespace

Symbol::Symbol(const char* name, Where where) : Symbol(name, Facts{}, where) {}
Symbol::Symbol(const char* name, Facts facts, Where where) : Expr(symbol(name, facts, where)) {}

Axis::Axis(const char* name, Operand end, Where where) : Expr(axis(name, Operand(0, where), end, where)) {}
Axis::Axis(const char* name, Operand begin, Operand end, Where where) : Expr(axis(name, begin, end, where)) {}
AxisList Axis::where(Operand c) const { return AxisList(*this).where(c); }
AxisList AxisList::where(Operand c) const {
  AxisList list = *this;
  list.conditions_.push_back(condition(c));
  return list;
}

Extent::Extent(const Operand& end) : end_(lang::to_index(end, "extent")) {}

Shape Shape::of(std::vector<Extent> extents, Where where) {
  if (extents.size() > static_cast<std::size_t>(max_rank))
    refuse("Shape", "at most 8 dimensions", std::to_string(extents.size()), where);
  Shape s;
  s.extents_ = std::move(extents);
  return s;
}
Shape Shape::drop(int dim, Where where) const {
  require_dim(dim, rank(), "Shape::drop", where);
  Shape s = *this;
  s.extents_.erase(s.extents_.begin() + dim);
  return s;
}
Shape Shape::with(int dim, const Extent& extent, Where where) const {
  require_dim(dim, std::min(rank() + 1, max_rank), "Shape::with", where);
  Shape s = *this;
  if (dim == rank())
    s.extents_.push_back(extent);
  else
    s.extents_[static_cast<std::size_t>(dim)] = extent;
  return s;
}
Expr Shape::operator[](DimAt at) const {
  require_dim(at.dim, rank(), "Shape", at.where);
  const Extent& e = extents_[static_cast<std::size_t>(at.dim)];
  const Expr end = lang::to_index(e.end(), "extent");
  return e.begin().empty() ? end : ir::sub(end, lang::to_index(e.begin(), "extent"));
}

Expr Indices::operator[](DimAt at) const {
  require_dim(at.dim, rank_, "Indices", at.where);
  return at_[at.dim];
}
Indices Indices::drop(int dim, Where where) const {
  require_dim(dim, rank_, "Indices::drop", where);
  Indices r;
  for (int d = 0; d < rank_; ++d)
    if (d != dim) r.at_[r.rank_++] = at_[d];
  return r;
}
Indices Indices::with(int dim, Operand value) const {
  require_dim(dim, std::min(rank_ + 1, max_rank), "Indices::with", value.where());
  Indices r = *this;
  r.at_[dim] = lang::to_index(value, "Indices::with");
  if (dim == rank_) ++r.rank_;
  return r;
}

namespace detail {
Indices new_indices(const Extent* extents, std::size_t rank) {
  Indices at;
  for (std::size_t d = 0; d < rank; ++d) {
    VariableDef v;
    v.kind = VariableDef::Kind::dimension;
    v.name = extents && extents[d].label() ? std::string(extents[d].label()) : "i" + std::to_string(d);
    Access::append(at, new_variable(std::move(v)));
  }
  return at;
}
}  // namespace detail

}  // namespace ashlar
