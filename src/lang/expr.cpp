// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators and elementwise functions: types by the rules of operands, then one node.
#include <array>
#include <limits>

#include <ashlar/ir/build.h>
#include <ashlar/ir/math.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/math.h>

#include <ashlar/lang/operand_types.h>

namespace ashlar {
namespace {

using ir::Op;
using lang::as_expr;

enum class Domain { number, floating, integer, data_integer, signed_integer, boolean };

bool admits(Domain d, Type t) {
  switch (d) {
    case Domain::number:
      return t.is_integer() || t.is_float();
    case Domain::floating:
      return t.is_float();
    case Domain::integer:
      return t.is_integer();
    case Domain::data_integer:
      return t.is_data_integer();
    case Domain::signed_integer:
      return t.is_signed();
    case Domain::boolean:
      return t.is_bool();
  }
  return false;
}

const char* describe(Domain d) {
  switch (d) {
    case Domain::number:
      return "numbers";
    case Domain::floating:
      return "a floating type (convert by name: f32(x))";
    case Domain::integer:
      return "integers (convert by name: i32(x))";
    case Domain::data_integer:
      return "integers of 8 to 64 bits (convert by name: i32(x))";
    case Domain::signed_integer:
      return "signed integers (convert by name: i32(x))";
    case Domain::boolean:
      return "bool: a comparison, or x != 0";
  }
  return "";
}

void require(Domain d, const Expr& e, const char* what, Where where) {
  if (e.type().is_packed()) {
    const char* byte = e.type().is_signed() ? "i8" : "u8";
    refuse(what, "operands of 8 bits or more (convert by name: " + std::string(byte) + "(x))", ir::text(e.type()), where);
  }
  if (!admits(d, e.type())) refuse(what, describe(d), ir::text(e.type()), where);
}

// Index and bool arithmetic folds; everything else keeps the user's formula and line.
Expr node(Op op, Type result, std::initializer_list<Expr> args, Where where) {
  const std::span<const Expr> list(args.begin(), args.size());
  const Type t = list.front().type();
  if (list.size() == 2 && (t.is_index() || t.is_bool())) return ir::binary(op, list[0], list[1]);
  if (op == Op::neg && t.is_index()) return ir::unary(op, list[0]);
  return ir::make(op, result, list, where);
}

Expr unary(Op op, Domain d, const char* what, const Operand& a) {
  const Expr x = as_expr(a, what);
  require(d, x, what, a.where());
  return node(op, x.type(), {x}, a.where());
}

Expr binary(Op op, Domain d, const char* what, const Operand& a, const Operand& b) {
  const auto x = lang::unify({&a, &b}, what);
  require(d, x[0], what, a.where());
  return node(op, x[0].type(), {x[0], x[1]}, a.where());
}

Condition compare(Op op, const char* what, const Operand& a, const Operand& b) {
  const auto x = lang::unify({&a, &b}, what);
  const bool equality = op == Op::eq || op == Op::ne;
  if (!(equality && x[0].type().is_bool())) require(Domain::number, x[0], what, a.where());
  if (x[0].type().is_index()) return Condition(ir::binary(op, x[0], x[1]));
  return Condition(ir::make(op, bool_, x, a.where()));
}

Expr bits(Op op, Op on_bool, const char* what, const Operand& a, const Operand& b) {
  const auto x = lang::unify({&a, &b}, what);
  if (x[0].type().is_bool()) return ir::make(on_bool, bool_, x, a.where());
  require(Domain::integer, x[0], what, a.where());
  return node(op, x[0].type(), {x[0], x[1]}, a.where());
}

Expr logic(Op op, const char* what, const Operand& a, const Operand& b) {
  const Expr x = as_expr(a, what), y = as_expr(b, what);
  require(Domain::boolean, x, what, a.where());
  require(Domain::boolean, y, what, b.where());
  return ir::binary(op, x, y);
}

// Both operands converted to the type of twice the width, where the operation is exact; a difference is signed.
Expr widening(Op op, const char* what, const Operand& a, const Operand& b) {
  const auto x = lang::unify({&a, &b}, what);
  const Type t = x[0].type();
  if (!t.is_data_integer() || t.bits > 32)
    refuse(what, "integers of 8 to 32 bits, which have a type of twice the width", ir::text(t), a.where());
  const Type wide{op == Op::sub ? Type::Code::signed_ : t.code, static_cast<std::uint8_t>(2 * t.bits)};
  const std::array<Expr, 2> args{ir::make(Op::cast, wide, std::span(&x[0], 1), a.where()),
                                 ir::make(Op::cast, wide, std::span(&x[1], 1), a.where())};
  return ir::make(op, wide, args, a.where());
}

Expr clamped(const Expr& value, const Expr& low, const Expr& high, Where where) {
  return node(Op::max, value.type(), {node(Op::min, value.type(), {value, high}, where), low}, where);
}

}  // namespace

// ---- conversions ---------------------------------------------------------------------------------------------------------

Expr Type::operator()(Operand value) const {
  lang::require_data_type(*this, "conversion", value.where());
  Expr x = as_expr(value, "conversion");
  if (x.type() == *this) return x;
  if (value.is_number()) {
    const ir::Value v = ir::convert(*this, ir::value_of(x));
    return is_float() ? ir::float_const(*this, v.f, value.where()) : ir::int_const(*this, v.i, value.where());
  }
  return ir::make(Op::cast, *this, std::span(&x, 1), value.where());
}

Expr saturate(Type to, Operand value) {
  lang::require_data_type(to, "saturate", value.where());
  if (to.is_bool()) refuse("saturate", "a type of numbers", ir::text(to), value.where());
  Expr x = as_expr(value, "saturate");
  if (!x.type().is_packed()) require(Domain::number, x, "saturate", value.where());
  if (x.type() == to && !to.is_float()) return x;  // of floats, an infinity becomes the largest number
  return ir::make(Op::saturate, to, std::span(&x, 1), value.where());
}

Expr bitcast(Type to, Operand value) {
  lang::require_data_type(to, "bitcast", value.where());
  Expr x = as_expr(value, "bitcast");
  if (x.type().is_index() || x.type().is_bool() || to.is_bool() || x.type().bits != to.bits)
    refuse("bitcast", "types of the same width, neither index nor bool", ir::text(x.type()) + " to " + ir::text(to),
           value.where());
  if (x.type() == to) return x;
  return ir::make(Op::bitcast, to, std::span(&x, 1), value.where());
}

// ---- operators -----------------------------------------------------------------------------------------------------------

Expr operator+(Operand a, Operand b) { return binary(Op::add, Domain::number, "+", a, b); }
Expr operator-(Operand a, Operand b) { return binary(Op::sub, Domain::number, "-", a, b); }
Expr operator*(Operand a, Operand b) { return binary(Op::mul, Domain::number, "*", a, b); }
Expr operator/(Operand a, Operand b) { return binary(Op::div, Domain::number, "/", a, b); }
Expr operator%(Operand a, Operand b) { return binary(Op::mod, Domain::number, "%", a, b); }
Expr operator&(Operand a, Operand b) { return bits(Op::bit_and, Op::logic_and, "&", a, b); }
Expr operator|(Operand a, Operand b) { return bits(Op::bit_or, Op::logic_or, "|", a, b); }
Expr operator^(Operand a, Operand b) { return bits(Op::bit_xor, Op::ne, "^", a, b); }
Expr operator<<(Operand a, Operand b) { return binary(Op::shl, Domain::integer, "<<", a, b); }
Expr operator>>(Operand a, Operand b) { return binary(Op::shr, Domain::integer, ">>", a, b); }
Condition operator==(Operand a, Operand b) { return compare(Op::eq, "==", a, b); }
Condition operator!=(Operand a, Operand b) { return compare(Op::ne, "!=", a, b); }
Condition operator<(Operand a, Operand b) { return compare(Op::lt, "<", a, b); }
Condition operator<=(Operand a, Operand b) { return compare(Op::le, "<=", a, b); }
Condition operator>(Operand a, Operand b) { return compare(Op::gt, ">", a, b); }
Condition operator>=(Operand a, Operand b) { return compare(Op::ge, ">=", a, b); }
Expr operator&&(const Expr& a, const Expr& b) { return logic(Op::logic_and, "&&", a, b); }
Expr operator&&(const Expr& a, Operand b) { return logic(Op::logic_and, "&&", Operand(a, b.where()), b); }
Expr operator&&(Operand a, const Expr& b) { return logic(Op::logic_and, "&&", a, Operand(b, a.where())); }
Expr operator||(const Expr& a, const Expr& b) { return logic(Op::logic_or, "||", a, b); }
Expr operator||(const Expr& a, Operand b) { return logic(Op::logic_or, "||", Operand(a, b.where()), b); }
Expr operator||(Operand a, const Expr& b) { return logic(Op::logic_or, "||", a, Operand(b, a.where())); }
Expr operator!(const Expr& a) {
  const Where where = a.empty() ? Where::current() : a.node()->where;
  const Expr x = as_expr(Operand(a, where), "!");
  require(Domain::boolean, x, "!", where);
  return ir::logic_not(x);
}
Expr operator-(Operand a) { return unary(Op::neg, Domain::number, "-", a); }
Expr operator~(Operand a) { return unary(Op::bit_not, Domain::data_integer, "~", a); }

// ---- functions -----------------------------------------------------------------------------------------------------------

namespace {

Domain domain_of_operation(const ir::Operation& o) {
  switch (o.kind) {
    case ir::Kind::function:
    case ir::Kind::rounding:
      return Domain::floating;
    case ir::Kind::bits:
    case ir::Kind::shift:
    case ir::Kind::fixed_point:
      return Domain::data_integer;
    default:
      return Domain::number;
  }
}

}  // namespace

Expr lang::applied(Op op, Operand a) {
  const ir::Operation& o = ir::operation(op);
  return unary(op, domain_of_operation(o), o.name, a);
}
Expr lang::applied(Op op, Operand a, Operand b) {
  const ir::Operation& o = ir::operation(op);
  return binary(op, domain_of_operation(o), o.name, a, b);
}

Expr select(Operand condition, Operand if_true, Operand if_false) {
  const Expr c = as_expr(condition, "select");
  if (!c.type().is_bool())
    refuse("select", "a bool as condition: a comparison, or x != 0", ir::text(c.type()), condition.where());
  const auto arms = lang::unify({&if_true, &if_false}, "select");
  std::int64_t known = 0;
  if (ir::is_int(c, &known)) return known ? arms[0] : arms[1];
  const std::array<Expr, 3> args{c, arms[0], arms[1]};
  return ir::make(Op::select, arms[0].type(), args, condition.where());
}

Expr min(Operand a, Operand b) { return binary(Op::min, Domain::number, "min", a, b); }
Expr max(Operand a, Operand b) { return binary(Op::max, Domain::number, "max", a, b); }
Expr min(const Expr& a, const Expr& b, Where where) { return min(Operand(a, where), Operand(b, where)); }
Expr max(const Expr& a, const Expr& b, Where where) { return max(Operand(a, where), Operand(b, where)); }
Expr clamp(Operand value, Operand low, Operand high) {
  const auto x = lang::unify({&value, &low, &high}, "clamp");
  require(Domain::number, x[0], "clamp", value.where());
  return clamped(x[0], x[1], x[2], value.where());
}
Expr clamp(const Expr& value, const Expr& low, const Expr& high, Where where) {
  return clamp(Operand(value, where), Operand(low, where), Operand(high, where));
}
Expr in_range(Operand value, Operand low, Operand high) {
  const auto x = lang::unify({&value, &low, &high}, "in_range");
  require(Domain::integer, x[0], "in_range", value.where());
  return ir::make(Op::in_range, x[0].type(), x, value.where());
}
Expr fast(Operand value) {
  return ir::transform(as_expr(value, "fast"), [](const Expr& e) {
    const Op op = ir::op_of(e), quick = ir::fast_form(op);
    return quick == op ? e : ir::make(quick, e.type(), ir::args_of(e), e.node()->where);
  });
}
namespace {
// exp, exp2 and sigmoid in f32 by approximate_exp2; empty for other operators.
Expr approximated(const Expr& e) {
  const Op op = ir::op_of(e);
  if ((op != Op::exp && op != Op::exp2 && op != Op::sigmoid) || e.type() == f64) return {};
  const Expr x = ir::cast(f32, ir::args_of(e)[0]);
  const auto number = [](double v) { return ir::float_const(f32, v); };
  const auto power = [&](const Expr& of, double by) {
    const Expr scaled = by == 1 ? of : ir::mul(of, number(by));
    return ir::make(Op::approximate_exp2, f32, std::span(&scaled, 1), e.node()->where);
  };
  constexpr double log2_e = 1.44269504088896340736;
  if (op == Op::exp2) return ir::cast(e.type(), power(x, 1));
  if (op == Op::exp) return ir::cast(e.type(), power(x, log2_e));
  return ir::cast(e.type(), ir::div(number(1), ir::add(number(1), power(x, -log2_e))));
}
}  // namespace

Expr approximate(Operand value) {
  return fast(ir::transform(as_expr(value, "approximate"), [](const Expr& e) {
    const Expr other = approximated(e);
    return other.empty() ? e : other;
  }));
}
Expr abs(Operand a) { return unary(Op::abs, Domain::number, "abs", a); }

Expr sqrt(Operand a) { return unary(Op::sqrt, Domain::floating, "sqrt", a); }
Expr rsqrt(Operand a) { return unary(Op::rsqrt, Domain::floating, "rsqrt", a); }
Expr cbrt(Operand a) { return unary(Op::cbrt, Domain::floating, "cbrt", a); }
Expr exp(Operand a) { return unary(Op::exp, Domain::floating, "exp", a); }
Expr exp2(Operand a) { return unary(Op::exp2, Domain::floating, "exp2", a); }
Expr expm1(Operand a) { return unary(Op::expm1, Domain::floating, "expm1", a); }
Expr log(Operand a) { return unary(Op::log, Domain::floating, "log", a); }
Expr log2(Operand a) { return unary(Op::log2, Domain::floating, "log2", a); }
Expr log1p(Operand a) { return unary(Op::log1p, Domain::floating, "log1p", a); }
Expr sin(Operand a) { return unary(Op::sin, Domain::floating, "sin", a); }
Expr cos(Operand a) { return unary(Op::cos, Domain::floating, "cos", a); }
Expr tan(Operand a) { return unary(Op::tan, Domain::floating, "tan", a); }
Expr asin(Operand a) { return unary(Op::asin, Domain::floating, "asin", a); }
Expr acos(Operand a) { return unary(Op::acos, Domain::floating, "acos", a); }
Expr atan(Operand a) { return unary(Op::atan, Domain::floating, "atan", a); }
Expr sinh(Operand a) { return unary(Op::sinh, Domain::floating, "sinh", a); }
Expr cosh(Operand a) { return unary(Op::cosh, Domain::floating, "cosh", a); }
Expr tanh(Operand a) { return unary(Op::tanh, Domain::floating, "tanh", a); }
Expr erf(Operand a) { return unary(Op::erf, Domain::floating, "erf", a); }
Expr erfc(Operand a) { return unary(Op::erfc, Domain::floating, "erfc", a); }
Expr sigmoid(Operand a) { return unary(Op::sigmoid, Domain::floating, "sigmoid", a); }
Expr floor(Operand a) { return unary(Op::floor, Domain::floating, "floor", a); }
Expr ceil(Operand a) { return unary(Op::ceil, Domain::floating, "ceil", a); }
Expr round(Operand a) { return unary(Op::round, Domain::floating, "round", a); }
Expr trunc(Operand a) { return unary(Op::trunc, Domain::floating, "trunc", a); }
Expr pow(Operand a, Operand b) { return binary(Op::pow, Domain::floating, "pow", a, b); }
Expr atan2(Operand y, Operand x) { return binary(Op::atan2, Domain::floating, "atan2", y, x); }
Expr copysign(Operand a, Operand b) { return binary(Op::copysign, Domain::floating, "copysign", a, b); }
Expr fma(Operand a, Operand b, Operand c) {
  const auto x = lang::unify({&a, &b, &c}, "fma");
  require(Domain::floating, x[0], "fma", a.where());
  return ir::make(Op::fma, x[0].type(), x, a.where());
}
Expr isnan(Operand a) {
  const Expr x = as_expr(a, "isnan");
  require(Domain::floating, x, "isnan", a.where());
  return ir::make(Op::isnan, bool_, std::span(&x, 1), a.where());
}
Expr isinf(Operand a) {
  const Expr x = as_expr(a, "isinf");
  require(Domain::floating, x, "isinf", a.where());
  return ir::make(Op::isinf, bool_, std::span(&x, 1), a.where());
}

Expr trunc_div(Operand a, Operand b) { return binary(Op::trunc_div, Domain::integer, "trunc_div", a, b); }
Expr trunc_rem(Operand a, Operand b) { return binary(Op::trunc_rem, Domain::integer, "trunc_rem", a, b); }

Expr abs_diff(Operand a, Operand b) {
  const auto x = lang::unify({&a, &b}, "abs_diff");
  require(Domain::data_integer, x[0], "abs_diff", a.where());
  return ir::make(Op::abs_diff, {Type::Code::unsigned_, x[0].type().bits}, x, a.where());
}
Expr rounding_shl(Operand value, Operand bits) {
  const auto x = lang::unify({&value, &bits}, "rounding_shl");
  require(Domain::signed_integer, x[0], "rounding_shl", value.where());
  const Type t = x[0].type();
  const auto both = [&](Op op, const Expr& amount) {
    const std::array<Expr, 2> args{x[0], amount};
    return ir::make(op, t, args, value.where());
  };
  const std::array<Expr, 2> compared{x[1], ir::int_const(t, 0)};
  const Expr minus = ir::make(Op::neg, t, std::span(&x[1], 1), bits.where());
  const std::array<Expr, 3> args{ir::make(Op::lt, bool_, compared, bits.where()), both(Op::rounding_shr, minus),
                                 both(Op::shl, x[1])};
  return ir::make(Op::select, t, args, value.where());
}
Expr widening_add(Operand a, Operand b) { return widening(Op::add, "widening_add", a, b); }
Expr widening_sub(Operand a, Operand b) { return widening(Op::sub, "widening_sub", a, b); }
Expr widening_mul(Operand a, Operand b) { return widening(Op::mul, "widening_mul", a, b); }

Expr lowest(Type t, Where where) {
  if (t.is_float()) return ir::float_const(t, -ir::highest_real(t));
  lang::require_data_type(t, "lowest", where);
  return ir::int_const(t, ir::lowest_of(t));
}
Expr highest(Type t, Where where) {
  if (t.is_float()) return ir::float_const(t, ir::highest_real(t));
  lang::require_data_type(t, "highest", where);
  return ir::int_const(t, ir::highest_of(t));
}
Expr infinity(Type t, Where where) {
  if (!t.is_float() || t == e4m3) refuse("infinity", "a floating type that has it", ir::text(t), where);
  return ir::float_const(t, std::numeric_limits<double>::infinity());
}

}  // namespace ashlar
