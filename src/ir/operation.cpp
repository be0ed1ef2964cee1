// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/operation.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/vscale.h>

#include "ir/expansions/expansions.h"
#include "ir/math/kit.h"
#include "ir/meanings.h"

namespace ashlar::ir {
namespace {

using enum Kind;
using enum Takes;
using Laws = Operation::Laws;

constexpr double kFunction = 16, kRoot = 6, kMove = 0.5;

// A math function of the table, from its expansion for one type of floats.
template <Expr (*f)(const math::Kit&, const Expr&)>
Expr of_one(const Applied& a) {
  return math::spelled(a, [](const math::Kit& k, std::span<const Expr> x) { return f(k, x[0]); });
}
template <Expr (*f)(const math::Kit&, const Expr&, const Expr&)>
Expr of_two(const Applied& a) {
  return math::spelled(a, [](const math::Kit& k, std::span<const Expr> x) { return f(k, x[0], x[1]); });
}

Expr first_operand(const Applied& a) { return a.args[0]; }

template <Expr (*f)(const math::Kit&, const Expr&)>
constexpr Operation fn(Op op, const char* name) {
  return {op, name, 1, function, own, {.cost = kFunction, .spelled = of_one<f>}};
}
template <Expr (*f)(const math::Kit&, const Expr&, const Expr&)>
constexpr Operation fn2(Op op, const char* name) {
  return {op, name, 2, function, own, {.cost = kFunction, .spelled = of_two<f>}};
}

// clang-format off
constexpr Operation table[] = {
    // leaves
    {Op::int_const, "int_const", 0, leaf, other},
    {Op::float_const, "float_const", 0, leaf, other},
    {Op::var, "var", 0, leaf, other},
    {Op::load, "load", Operation::any_number, leaf, other, {.pure = false}},

    // one operand
    {Op::neg, "neg", 1, arithmetic, own, {.work = 1}},
    {Op::bit_not, "bit_not", 1, bits, own, {.spelled = expansion::not_of_bool}},
    {Op::logic_not, "logic_not", 1, logic, bools},
    {Op::cast, "cast", 1, conversion, any, {.cost = kMove, .spelled = expansion::cast}},
    {Op::saturate, "saturate", 1, conversion, any, {.spelled = expansion::saturate}},
    {Op::bitcast, "bitcast", 1, conversion, any},
    {Op::abs, "abs", 1, arithmetic, own, {.work = 1, .spelled = expansion::magnitude}},
    {Op::sqrt, "sqrt", 1, arithmetic, own, {.cost = kRoot, .work = 1}},
    fn<math::rsqrt>(Op::rsqrt, "rsqrt"),
    fn<math::cbrt>(Op::cbrt, "cbrt"),
    fn<math::exp>(Op::exp, "exp"),
    fn<math::exp2>(Op::exp2, "exp2"),
    fn<math::expm1>(Op::expm1, "expm1"),
    fn<math::log>(Op::log, "log"),
    fn<math::log2>(Op::log2, "log2"),
    fn<math::log1p>(Op::log1p, "log1p"),
    fn<math::sin>(Op::sin, "sin"),
    fn<math::cos>(Op::cos, "cos"),
    fn<math::tan>(Op::tan, "tan"),
    fn<math::asin>(Op::asin, "asin"),
    fn<math::acos>(Op::acos, "acos"),
    fn<math::atan>(Op::atan, "atan"),
    fn<math::sinh>(Op::sinh, "sinh"),
    fn<math::cosh>(Op::cosh, "cosh"),
    fn<math::tanh>(Op::tanh, "tanh"),
    fn<math::erf>(Op::erf, "erf"),
    fn<math::erfc>(Op::erfc, "erfc"),
    fn<math::sigmoid>(Op::sigmoid, "sigmoid"),
    fn<math::fast_rsqrt>(Op::fast_rsqrt, "fast_rsqrt"),
    fn<math::fast_exp>(Op::fast_exp, "fast_exp"),
    fn<math::fast_exp2>(Op::fast_exp2, "fast_exp2"),
    fn<math::fast_expm1>(Op::fast_expm1, "fast_expm1"),
    fn<math::fast_log>(Op::fast_log, "fast_log"),
    fn<math::fast_log2>(Op::fast_log2, "fast_log2"),
    fn<math::fast_sin>(Op::fast_sin, "fast_sin"),
    fn<math::fast_cos>(Op::fast_cos, "fast_cos"),
    fn<math::fast_tan>(Op::fast_tan, "fast_tan"),
    fn<math::fast_tanh>(Op::fast_tanh, "fast_tanh"),
    fn<math::fast_erf>(Op::fast_erf, "fast_erf"),
    fn<math::fast_sigmoid>(Op::fast_sigmoid, "fast_sigmoid"),
    fn<math::fast_exp2>(Op::approximate_exp2, "approximate_exp2"),
    {Op::floor, "floor", 1, rounding, own, {.work = 1, .spelled = expansion::rounded}},
    {Op::ceil, "ceil", 1, rounding, own, {.work = 1, .spelled = expansion::rounded}},
    {Op::round, "round", 1, rounding, own, {.work = 1, .spelled = expansion::rounded}},
    {Op::trunc, "trunc", 1, rounding, own, {.work = 1, .spelled = expansion::rounded}},
    {Op::isnan, "isnan", 1, test, real, {.spelled = expansion::isnan}},
    {Op::isinf, "isinf", 1, test, real, {.spelled = expansion::isinf}},
    {Op::popcount, "popcount", 1, bits, own, {.spelled = expansion::counted_bits}},
    {Op::clz, "clz", 1, bits, own, {.spelled = expansion::counted_bits}},
    {Op::ctz, "ctz", 1, bits, own, {.spelled = expansion::counted_bits}},
    {Op::rare, "rare", 1, promise, own},

    // two operands
    {Op::add, "add", 2, arithmetic, own, {.work = 1, .commutes = true, .regroups = true, .neutral = Neutral::zero, .sign = "+",
     .binds = 6}},
    {Op::sub, "sub", 2, arithmetic, own, {.work = 1, .sign = "-", .binds = 6}},
    {Op::mul, "mul", 2, arithmetic, own, {.work = 1, .commutes = true, .regroups = true, .neutral = Neutral::one, .sign = "*",
     .binds = 7, .spelled = expansion::and_of_bools}},
    {Op::div, "div", 2, arithmetic, own, {.cost = kRoot, .work = 1, .may_trap = true, .sign = "/", .binds = 7,
     .spelled = expansion::div}},
    {Op::mod, "mod", 2, arithmetic, own, {.cost = kRoot, .work = 1, .may_trap = true, .sign = "%", .binds = 7,
     .spelled = expansion::mod}},
    {Op::trunc_div, "trunc_div", 2, arithmetic, own, {.may_trap = true, .spelled = expansion::trunc_div}},
    {Op::trunc_rem, "trunc_rem", 2, arithmetic, own, {.may_trap = true, .spelled = expansion::trunc_rem}},
    {Op::min, "min", 2, arithmetic, own, {.work = 1, .commutes = true, .regroups = true, .neutral = Neutral::highest,
     .spelled = expansion::min}},
    {Op::max, "max", 2, arithmetic, own, {.work = 1, .commutes = true, .regroups = true, .neutral = Neutral::lowest,
     .spelled = expansion::max}},
    {Op::bit_and, "bit_and", 2, bits, own, {.commutes = true, .regroups = true, .neutral = Neutral::ones, .sign = "&",
     .binds = 4, .spelled = expansion::and_of_bools}},
    {Op::bit_or, "bit_or", 2, bits, own, {.commutes = true, .regroups = true, .neutral = Neutral::zero, .sign = "|",
     .binds = 3, .spelled = expansion::or_of_bools}},
    {Op::bit_xor, "bit_xor", 2, bits, own, {.commutes = true, .regroups = true, .neutral = Neutral::zero, .sign = "^",
     .binds = 3, .spelled = expansion::xor_of_bools}},
    {Op::shl, "shl", 2, shift, count, {.work = 1, .sign = "<<", .binds = 5, .spelled = expansion::shifted}},
    {Op::shr, "shr", 2, shift, count, {.work = 1, .sign = ">>", .binds = 5, .spelled = expansion::shifted}},
    fn2<math::pow>(Op::pow, "pow"),
    fn2<math::fast_pow>(Op::fast_pow, "fast_pow"),
    fn2<math::atan2>(Op::atan2, "atan2"),
    {Op::copysign, "copysign", 2, arithmetic, own, {.spelled = expansion::copysign}},
    {Op::rounding_shr, "rounding_shr", 2, shift, count, {.work = 1, .spelled = expansion::rounding_shr}},
    {Op::mul_high_rounding, "mul_high_rounding", 2, fixed_point, own,
     {.work = 1, .commutes = true, .spelled = expansion::mul_high_rounding, .meaning = exact::mul_high_rounding}},
    {Op::mul_high, "mul_high", 2, fixed_point, own,
     {.work = 1, .commutes = true, .spelled = expansion::mul_high, .meaning = exact::mul_high}},
    {Op::add_sat, "add_sat", 2, fixed_point, own,
     {.work = 1, .commutes = true, .spelled = expansion::add_sat, .meaning = exact::add_sat}},
    {Op::sub_sat, "sub_sat", 2, fixed_point, own, {.work = 1, .spelled = expansion::sub_sat, .meaning = exact::sub_sat}},
    {Op::halving_add, "halving_add", 2, fixed_point, own,
     {.work = 1, .commutes = true, .spelled = expansion::halving_add, .meaning = exact::halving_add}},
    {Op::rounding_halving_add, "rounding_halving_add", 2, fixed_point, own,
     {.work = 1, .commutes = true, .spelled = expansion::rounding_halving_add, .meaning = exact::rounding_halving_add}},
    {Op::halving_sub, "halving_sub", 2, fixed_point, own,
     {.work = 1, .spelled = expansion::halving_sub, .meaning = exact::halving_sub}},
    {Op::abs_diff, "abs_diff", 2, fixed_point, other,
     {.work = 1, .commutes = true, .spelled = expansion::abs_diff, .meaning = exact::abs_diff}},
    {Op::eq, "eq", 2, comparison, pair, {.commutes = true, .sign = "==", .binds = 2}},
    {Op::ne, "ne", 2, comparison, pair, {.commutes = true, .sign = "!=", .binds = 2}},
    {Op::lt, "lt", 2, comparison, pair, {.sign = "<", .binds = 2, .spelled = expansion::lt_of_bools}},
    {Op::le, "le", 2, comparison, pair, {.sign = "<=", .binds = 2, .spelled = expansion::le_of_bools}},
    {Op::gt, "gt", 2, comparison, pair, {.sign = ">", .binds = 2, .spelled = expansion::gt_of_bools}},
    {Op::ge, "ge", 2, comparison, pair, {.sign = ">=", .binds = 2, .spelled = expansion::ge_of_bools}},
    {Op::logic_and, "logic_and", 2, logic, bools, {.commutes = true, .neutral = Neutral::ones, .sign = "&&", .binds = 1}},
    {Op::logic_or, "logic_or", 2, logic, bools, {.commutes = true, .neutral = Neutral::zero, .sign = "||", .binds = 0}},

    // three
    {Op::select, "select", 3, choice, other, {.cost = kMove}},
    {Op::fma, "fma", 3, arithmetic, own, {.work = 2, .spelled = expansion::fma}},
    {Op::in_range, "in_range", 3, promise, other, {.may_trap = true, .spelled = first_operand}},

    // any number
    {Op::call, "call", Operation::any_number, call, other, {.pure = false}},
    // vectors
    {Op::ramp, "ramp", 2, lanes, other},
    {Op::broadcast, "broadcast", 1, lanes, other},
};
// clang-format on

constexpr bool in_order() {
  for (std::size_t k = 0; k < std::size(table); ++k)
    if (table[k].op != static_cast<Op>(k)) return false;
  return std::size(table) == static_cast<std::size_t>(Op::broadcast) + 1;
}
static_assert(in_order(), "one row an operator, in the order of the enumeration");

constexpr bool reduces() {
  for (const Operation& row : table)
    if (row.laws.regroups && row.laws.neutral == Neutral::none) return false;
  return true;
}
static_assert(reduces(), "what is regrouped may reduce, and says with which number that begins");

}  // namespace

std::span<const Operation> operations() { return table; }
const Operation& operation(Op op) { return table[static_cast<std::size_t>(op)]; }

namespace {

bool computes_narrow(const Applied& a) {
  const Kind k = operation(a.op).kind;
  const bool computes = k == arithmetic || k == rounding || k == test || k == comparison;
  return computes && is_narrow(a.args[0].type());
}

// f16(f32(a) + f32(b))
Expr through_f32(const Applied& a) {
  std::array<Expr, 3> wide;
  for (std::size_t k = 0; k < a.args.size(); ++k) wide[k] = make(Op::cast, like(f32, a.type), {&a.args[k], 1}, a.where);
  const Type t = a.type.is_float() ? like(f32, a.type) : a.type;
  const Expr computed = make(a.op, t, std::span(wide).first(a.args.size()), a.where);
  return a.type.is_float() ? make(Op::cast, a.type, {&computed, 1}, a.where) : computed;
}

}  // namespace

Expr expanded(const Applied& a) {
  if (a.args.empty()) return {};
  if (computes_narrow(a)) return through_f32(a);
  const auto spelled = operation(a.op).laws.spelled;
  return spelled ? spelled(a) : Expr();
}
Expr expanded(const Expr& e) { return expanded({op_of(e), e.type(), args_of(e), e.node()->where}); }

Expr identity_of(Op op, Type t) {
  const auto number = [&](std::int64_t v) { return t.is_float() ? float_const(t, static_cast<double>(v)) : int_const(t, v); };
  switch (operation(op).laws.neutral) {
    case Neutral::none:
      break;
    case Neutral::zero:
      return number(0);
    case Neutral::one:
      return number(1);
    case Neutral::ones:
      return number(-1);
    case Neutral::lowest:
      return t.is_float() ? float_const(t, -highest_real(t)) : int_const(t, lowest_of(t));
    case Neutral::highest:
      return t.is_float() ? float_const(t, highest_real(t)) : int_const(t, highest_of(t));
  }
  throw InternalError(std::string("no number is neutral to ") + op_name(op));
}

const char* op_name(Op op) { return operation(op).name; }
bool is_commutative(Op op) { return operation(op).laws.commutes; }
bool is_comparison(Op op) { return operation(op).kind == Kind::comparison; }

}  // namespace ashlar::ir
