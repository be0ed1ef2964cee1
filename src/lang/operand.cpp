// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/lang/operand_types.h>

#include <algorithm>
#include <cmath>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

namespace ashlar {
namespace lang {
namespace {

bool is_top_bit_set(const Operand& n) { return n.number_type() == u64 && n.integer() < 0; }

std::string number_text(const Operand& n) {
  const Type t = n.number_type();
  if (t.is_float()) return "the number " + ir::text(ir::float_value(t, n.real()));
  return (t.is_bool() ? "" : "the number ") + ir::text(ir::int_value(t, n.integer()));
}

std::string operand_text(const Operand& o) { return o.is_number() ? number_text(o) : ir::text(o.expr().type()); }

void require_value(const Operand& o, const std::string& what) {
  if (!o.is_number() && o.expr().empty()) refuse(what, "a value", "an empty Expr", o.where());
}

bool holds(Type t, const Operand& n) {  // an integral number, exactly
  if (t.is_float()) {
    const long double exact = n.number_type().is_unsigned() ? static_cast<long double>(static_cast<std::uint64_t>(n.integer()))
                                                            : static_cast<long double>(n.integer());
    return static_cast<long double>(ir::round_to(t, static_cast<double>(exact))) == exact;
  }
  if (is_top_bit_set(n)) return t == u64;
  const std::int64_t v = n.integer();
  if (t.is_unsigned()) return v >= 0 && static_cast<std::uint64_t>(v) <= static_cast<std::uint64_t>(ir::highest_of(t));
  return v >= ir::lowest_of(t) && v <= ir::highest_of(t);
}

// The type of two that a reader would convert to, for the advice in a refusal.
Type wider(Type a, Type b) {
  if (a.is_float() != b.is_float()) return a.is_float() ? a : b;
  return a.bits >= b.bits ? a : b;
}

Expr lifted(const Expr& e, Where where) {
  std::int64_t v = 0;
  if (e.type() != u64 && ir::is_int(e, &v)) return ir::int_const(ir::index_type, v, where);
  return ir::make(ir::Op::cast, ir::index_type, std::span(&e, 1), where);
}

// An index that was converted to data by name: i64(N) - 1.
bool of_an_index(const Operand& o) {
  if (o.is_number() || !o.expr().type().is_data_integer()) return false;
  bool found = false;
  ir::walk(o.expr(), [&](const Expr& e) {
    found |= ir::is(e, ir::Op::cast) && ir::args_of(e)[0].type().is_index();
    return !found && !ir::is(e, ir::Op::load);
  });
  return found;
}

Type common_number_type(Type a, Type b) {  // of numbers that meet only each other, as C++ has it
  if (a == b) return a;
  if (a.is_float() && b.is_float()) return f64;
  if (a.is_float() || b.is_float()) return a.is_float() ? a : b;
  if (a.is_bool() || b.is_bool()) return bool_;
  if (a.bits != b.bits) return a.bits > b.bits ? a : b;
  return a.is_unsigned() ? a : b;
}

}  // namespace

Expr adopt(Type t, const Operand& n, const std::string& what) {
  const Type own = n.number_type();
  if (own.is_bool() || t.is_bool()) {
    if (own == t) return ir::int_const(bool_, n.integer(), n.where());
    refuse(what, t.is_bool() ? "a bool: true, false or a comparison" : "a number of type " + ir::text(t), number_text(n),
           n.where());
  }
  if (own.is_float()) {
    if (!t.is_float())
      refuse(what,
             "an integer beside " + ir::text(t) +
                 " (a floating number does not adopt an integer type: convert the other operand, f32(x))",
             number_text(n), n.where());
    const double rounded = ir::round_to(t, n.real());
    const bool lost =
        std::isfinite(n.real()) ? !std::isfinite(rounded) : std::isnan(rounded) && !std::isnan(n.real());  // e4m3: infinity
    if (lost) refuse(what, "a number in the range of " + ir::text(t), number_text(n), n.where());
    return ir::float_const(t, rounded, n.where());
  }
  if (!holds(t, n))
    refuse(what, "a number that " + ir::text(t) + " holds exactly (or convert the other operand by name)", number_text(n),
           n.where());
  if (!t.is_float()) return ir::int_const(t, n.integer(), n.where());
  const double value =
      own.is_unsigned() ? static_cast<double>(static_cast<std::uint64_t>(n.integer())) : static_cast<double>(n.integer());
  return ir::float_const(t, value, n.where());
}

Expr as_expr(const Operand& o, const std::string& what) {
  require_value(o, what);
  return o.is_number() ? adopt(o.number_type(), o, what) : o.expr();
}

Expr to_index(const Operand& o, const std::string& what) {
  require_value(o, what);
  if (o.is_number()) {
    if (!o.number_type().is_integer()) refuse(what, "an integer", number_text(o), o.where());
    return adopt(ir::index_type, o, what);
  }
  const Type t = o.expr().type();
  if (t.is_index()) return o.expr();
  if (!t.is_data_integer()) refuse(what, "an integer (convert by name: i32(x))", ir::text(t), o.where());
  return lifted(o.expr(), o.where());
}

Expr to_type(Type t, const Operand& o, const std::string& what) {
  require_value(o, what);
  if (o.is_number()) return adopt(t, o, what);
  const Type own = o.expr().type();
  if (own == t) return o.expr();
  if (t.is_index() && own.is_data_integer()) return lifted(o.expr(), o.where());
  refuse(what, ir::text(t) + " (convert by name: " + ir::text(t) + "(x))", ir::text(own), o.where());
}

std::vector<Expr> unify(const std::vector<const Operand*>& operands, const std::string& what) {
  const Operand* first = nullptr;  // the first that has a type
  Type type{};
  for (const Operand* o : operands) {
    require_value(*o, what);
    if (o->is_number()) continue;
    const Type t = o->expr().type();
    if (!first)
      first = o, type = t;
    else if (type.is_data_integer() && t.is_index())
      type = t;
    else if (type != t && !(type.is_index() && t.is_data_integer())) {
      const Type to = wider(type, t);
      const bool extent = std::any_of(operands.begin(), operands.end(), [](const Operand* x) { return of_an_index(*x); });
      refuse(what,
             "operands of one type (" +
                 std::string(extent ? "an index, such as a Symbol, meets any integer without a conversion; or " : "") +
                 "convert one by name: " + ir::text(to) + "(x))",
             operand_text(*first) + " and " + operand_text(*o), o->where());
    }
  }
  if (!first) {
    type = operands.front()->number_type();
    for (const Operand* o : operands) type = common_number_type(type, o->number_type());
  }
  std::vector<Expr> result;
  for (const Operand* o : operands) result.push_back(to_type(type, *o, what));
  return result;
}

void require_data_type(Type t, const std::string& what, Where where) {
  if (t.is_packed())
    refuse(what,
           std::string("elements of 8 bits or more (i4 and u4 are read from inputs alone: ") + (t.is_signed() ? "i8" : "u8") +
               "(x) converts one)",
           ir::text(t), where);
  const bool stored =
      t.lanes == 1 && !t.scalable && (t.is_bool() || (t.is_data_integer() && t.bits >= 8) || (t.is_float() && t.bits >= 8));
  if (!stored)
    refuse(what,
           "one of i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, e4m3, e5m2, bool_ (this version stores no other "
           "type)",
           ir::text(t), where);
}

Expr component(Type type, const Operand& given, const std::string& what) {
  if (given.is_number()) return adopt(type, given, what);
  Expr e = as_expr(given, what);
  if (e.type() == type) return e;
  if (e.type().is_index() && type == i64) return ir::cast(i64, e);
  if (ir::is(e, ir::Op::int_const)) return adopt(type, Operand(e.node()->i, given.where()), what);
  if (ir::is(e, ir::Op::float_const)) return adopt(type, Operand(e.node()->f, given.where()), what);
  return to_type(type, given, what);
}

}  // namespace lang

Expr value_of(Operand o) { return lang::as_expr(o, "value"); }

namespace detail {
Expr adopt(const Expr& as, Operand value, const char* what) { return lang::component(as.type(), value, what); }
}  // namespace detail

}  // namespace ashlar
