// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "analysis/verify/expr.h"

#include <ashlar/ir/function.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

bool same_lanes(Type a, Type b) { return a.lanes == b.lanes && a.scalable == b.scalable; }

}  // namespace

std::string wrong_types(const Expr& e) {
  const ir::Node* n = e.node();
  const Type t = n->type;
  const auto type = [&](std::uint32_t k) { return n->args[k].node()->type; };
  const auto found = [&](const char* wants) {
    std::string s = std::string(ir::op_name(n->op)) + " wants " + wants + ", has";
    for (std::uint32_t k = 0; k < n->count; ++k) s += (k ? ", " : " ") + ir::text(type(k));
    return s + " and gives " + ir::text(t);
  };
  const auto counted = [&](std::uint32_t wanted) { return n->count == wanted; };
  for (std::uint32_t k = 0; k < n->count; ++k)
    if (n->args[k].empty()) return std::string(ir::op_name(n->op)) + " has an empty operand";
  switch (n->op) {
    case Op::int_const:
      return t.is_float() || t.code == Type::Code::handle ? "int_const of type " + ir::text(t) : "";
    case Op::float_const:
      return t.is_float() ? "" : "float_const of type " + ir::text(t);
    case Op::var:
    case Op::load:
      return {};
    case Op::select:
      // One bool may choose for all lanes.
      return counted(3) && type(0).is_bool() && type(1) == t && type(2) == t && (type(0).lanes == 1 || same_lanes(type(0), t))
                 ? ""
                 : found("a bool and two arms of its own type");
    case Op::in_range:
      return counted(3) && type(0) == t ? "" : found("a value of its own type and two bounds");
    case Op::call: {
      const ir::Function& f = ir::function(n->id);
      if (f.region) return t.lanes == 1 && n->count % 2 == 0 ? "" : found("pairs of loads");
      bool fits = counted(static_cast<std::uint32_t>(f.parameters.size())) && t.element() == f.result;
      for (std::uint32_t k = 0; k < n->count; ++k)
        fits = fits && type(k).element() == f.parameters[k] && same_lanes(type(k), t);
      return fits ? "" : found(("operands as " + f.symbol + " was declared with").c_str());
    }
    case Op::ramp:
      return counted(2) && type(0).lanes == 1 && type(0) == type(1) && t.element() == type(0) && t.lanes > 1
                 ? ""
                 : found("two scalars");
    case Op::broadcast:
      return counted(1) && type(0).lanes == 1 && t.element() == type(0) && t.lanes > 1 ? "" : found("a scalar");
    case Op::abs_diff:
      return counted(2) && type(0) == type(1) && type(0).is_data_integer() && t.is_unsigned() && t.bits == type(0).bits &&
                     same_lanes(t, type(0))
                 ? ""
                 : found("two data integers of one type, gives the unsigned type of their width");
    default:
      break;
  }
  const ir::Operation& row = ir::operation(n->op);
  const std::string number = row.operands == 1 ? "one" : row.operands == 2 ? "two" : "three";
  const std::string operands = number + (row.operands == 1 ? " operand" : " operands");
  const auto all = [&](auto&& fits) {
    for (std::uint32_t k = 0; k < n->count; ++k)
      if (!fits(type(k))) return false;
    return true;
  };
  if (!counted(static_cast<std::uint32_t>(row.operands))) return found(operands.c_str());
  switch (row.takes) {
    case ir::Takes::own:
      return all([&](Type a) { return a == t; }) ? "" : found((operands + " of its own type").c_str());
    case ir::Takes::pair:
      return type(0) == type(1) && t.is_bool() && same_lanes(t, type(0)) ? "" : found("two operands of one type, gives bool");
    case ir::Takes::real:
      return t.is_bool() && type(0).is_float() && same_lanes(t, type(0)) ? "" : found("a float, gives bool");
    case ir::Takes::bools:
      return t.is_bool() && all([&](Type a) { return a == t; }) ? "" : found(row.operands == 1 ? "one bool" : "two bools");
    case ir::Takes::any:
      return same_lanes(t, type(0)) ? "" : found("one operand of as many lanes");
    case ir::Takes::count:
      return type(0) == t && same_lanes(type(1), t) ? "" : found("a value of its own type and a count");
    case ir::Takes::other:
      break;
  }
  throw InternalError(std::string("no rule for the operands of ") + row.name);
}

}  // namespace ashlar::analysis
