// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients and remainders of integers by what machines have: a quotient toward zero, of a divisor that is not 0, and not -1
// under the lowest number. A remainder is x - q y, but of numbers without a sign, whose remainder machines have too.
//
//   trunc_div(x, y)   of any y:   select(y == 0, 0, trunc_div(x, select(y == 0 || (x == lowest && y == -1), 1, y)))
//
// A divisor of that form, a number, or one that is promised to be positive (in_range) makes no exception, and such a quotient
// stays what it is: back ends translate it one to one.
#include <bit>

#include <ashlar/ir/numeric.h>

#include "ir/expansions/expansions.h"
#include "ir/expansions/promised.h"
#include "ir/expansions/term.h"
#include "ir/math/kit.h"

namespace ashlar::ir::expansion {
namespace {

bool is_number(const Expr& e, std::int64_t v) { return is_int(is(e, Op::broadcast) ? args_of(e)[0] : e, v); }
bool compares(const Expr& e, const Expr& x, std::int64_t v) {
  return is(e, Op::eq) && same(args_of(e)[0], x) && is_number(args_of(e)[1], v);
}

// What replaces a divisor that makes an exception: 1 gives the right remainder in both cases, and the right quotient in the
// second.
Term guarded(const Term& x, const Term& y) {
  const Term by_zero = y == 0;
  if (x.type().is_unsigned()) return select(by_zero, y.number(1), y);
  return select(either(by_zero, both(x == lowest_of(x.type().element()), y == -1)), y.number(1), y);
}

bool is_guarded(const Expr& x, const Expr& by) {
  if (!is(by, Op::select)) return false;
  const Expr &condition = args_of(by)[0], &y = args_of(by)[2];
  if (!is_number(args_of(by)[1], 1)) return false;
  if (x.type().is_unsigned()) return compares(condition, y, 0);
  if (!is(condition, Op::logic_or) || !compares(args_of(condition)[0], y, 0)) return false;
  const Expr& wraps = args_of(condition)[1];
  return is(wraps, Op::logic_and) && compares(args_of(wraps)[0], x, lowest_of(x.type().element())) &&
         compares(args_of(wraps)[1], y, -1);
}

bool makes_no_exception(Type t, const Interval& y) { return y.low > 0 || y.high < (t.is_unsigned() ? 0 : -1); }

// The divisor, replaced by one that traps for no operand, and whether the original one may be 0.
struct Divisor {
  Term y;
  bool by_zero = false;
};
Divisor divisor_of(const Applied& a) {
  const Term x = first(a), y = second(a);
  if (const auto v = promised(y.e); v && makes_no_exception(x.type(), *v)) return {y};
  if (const auto& v = a.values[1]; v && v->low > 0 && v->high < INT64_MAX) return {y.within(v->low, v->high + 1)};
  if (is_guarded(x.e, y.e)) return {y};
  return {guarded(x, y), true};
}

Term quotient(const Term& x, const Term& y) { return x.with(Op::trunc_div, y); }

// By a number: what needs no quotient, or nothing. `floors`: rounds down, as it does without a sign.
Expr by_number(const Applied& a, std::int64_t n, bool floors, bool remainder) {
  const Term x = first(a);
  if (n == 0) return x.number(0).e;
  if (n == 1) return remainder ? x.number(0).e : x.e;
  if (n == -1 && !a.type.is_unsigned()) return remainder ? x.number(0).e : x.with(Op::neg, a.type).e;
  if (!floors || n < 0 || !std::has_single_bit(static_cast<std::uint64_t>(n))) return {};
  return remainder ? (x & (n - 1)).e : (x >> std::countr_zero(static_cast<std::uint64_t>(n))).e;
}

bool is_of_integers(const Applied& a) { return a.type.is_integer(); }

Expr divided(const Applied& a, bool floors, bool remainder) {
  const Term x = first(a);
  floors = floors || a.type.is_unsigned();
  const auto known = promised(a.args[1]);
  if (known && known->low == known->high)
    if (const Expr e = by_number(a, known->low, floors, remainder); !e.empty()) return e;
  const auto [y, by_zero] = divisor_of(a);
  const Term zero = x.number(0);
  if (a.type.is_unsigned()) {
    const Op op = remainder ? Op::trunc_rem : Op::trunc_div;
    if (a.op == op && y.e.node() == a.args[1].node()) return {};
    const Term r = x.with(op, y);  // by 1 the remainder is 0
    return by_zero && !remainder ? select(second(a) == 0, zero, r).e : r.e;
  }
  if (a.op == Op::trunc_div && y.e.node() == a.args[1].node()) return {};
  const Term q = quotient(x, y), r = x - q * y;
  if (!floors) return remainder ? r.e : by_zero ? select(second(a) == 0, zero, q).e : q.e;
  const auto v = promised(y.e);
  const Term below = v && v->low > 0 ? r < 0 : v && v->high < 0 ? r > 0 : both(test(Op::ne, r, zero), (r ^ y) < 0);
  if (remainder) return (r + select(below, y, zero)).e;
  const Term down = q + select(below, x.number(-1), zero);
  return by_zero ? select(second(a) == 0, zero, down).e : down.e;
}

}  // namespace

Expr div(const Applied& a) { return is_of_integers(a) ? divided(a, true, false) : Expr(); }
Expr mod(const Applied& a) { return is_of_integers(a) ? divided(a, true, true) : math::mod(a); }
Expr trunc_div(const Applied& a) { return is_of_integers(a) ? divided(a, false, false) : Expr(); }
Expr trunc_rem(const Applied& a) { return is_of_integers(a) ? divided(a, false, true) : Expr(); }

}  // namespace ashlar::ir::expansion
