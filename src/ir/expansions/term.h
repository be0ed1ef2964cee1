// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Formulas over expressions, written as formulas. A Term is an expression that stands at the line of the operator that is
// spelled; a number beside one has its type and its lanes.
//
//   Term x, y;   (x & y) + ((x ^ y) >> 1)        select(x < y, y - x, x - y)
#include <cstdint>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/vscale.h>

namespace ashlar::ir::expansion {

struct Term {
  Expr e;
  Where where;

  Type type() const { return e.type(); }
  Term number(std::int64_t v) const { return constant(type(), v); }
  Term constant(Type t, std::int64_t v) const { return spread(int_const(t.element(), v, where), t); }
  Term real(Type t, double v) const { return spread(float_const(t.element(), v, where), t); }
  Term with(Op op, Type t) const { return {make(op, t, {&e, 1}, where), where}; }
  Term with(Op op, Type t, const Term& y) const {
    const Expr args[] = {e, y.e};
    return {make(op, t, args, where), where};
  }
  Term with(Op op, const Term& y) const { return with(op, type(), y); }
  Term as(Type t) const {  // converted, in as many lanes
    t = like(t, type());
    return t == type() ? *this : with(Op::cast, t);
  }
  Term bits_as(Type t) const {  // the same bits
    t = like(t, type());
    return t == type() ? *this : with(Op::bitcast, t);
  }
  Term within(std::int64_t low, std::int64_t end) const {  // which is known of it
    const Expr args[] = {e, number(low).e, number(end).e};
    return {make(Op::in_range, type(), args, where), where};
  }

 private:
  Term spread(const Expr& one, Type t) const {
    const bool vector = t.lanes > 1 || t.scalable;
    return {vector ? make(Op::broadcast, t, {&one, 1}, where) : one, where};
  }
};

inline Term operator+(const Term& x, const Term& y) { return x.with(Op::add, y); }
inline Term operator-(const Term& x, const Term& y) { return x.with(Op::sub, y); }
inline Term operator*(const Term& x, const Term& y) { return x.with(Op::mul, y); }
inline Term operator&(const Term& x, const Term& y) { return x.with(Op::bit_and, y); }
inline Term operator|(const Term& x, const Term& y) { return x.with(Op::bit_or, y); }
inline Term operator^(const Term& x, const Term& y) { return x.with(Op::bit_xor, y); }
inline Term operator<<(const Term& x, int n) { return x.with(Op::shl, x.number(n)); }
inline Term operator>>(const Term& x, int n) { return x.with(Op::shr, x.number(n)); }
inline Term operator+(const Term& x, std::int64_t n) { return x + x.number(n); }
inline Term operator-(const Term& x, std::int64_t n) { return x - x.number(n); }
inline Term operator&(const Term& x, std::int64_t n) { return x & x.number(n); }
inline Term operator^(const Term& x, std::int64_t n) { return x ^ x.number(n); }
inline Term operator~(const Term& x) { return x.with(Op::bit_not, x.type()); }

inline Term test(Op op, const Term& x, const Term& y) { return x.with(op, like(bool_, x.type()), y); }
inline Term operator<(const Term& x, const Term& y) { return test(Op::lt, x, y); }
inline Term operator<(const Term& x, std::int64_t n) { return x < x.number(n); }
inline Term operator==(const Term& x, const Term& y) { return test(Op::eq, x, y); }
inline Term operator==(const Term& x, std::int64_t n) { return x == x.number(n); }
inline Term operator>(const Term& x, const Term& y) { return test(Op::gt, x, y); }
inline Term operator>(const Term& x, std::int64_t n) { return x > x.number(n); }

inline Term both(const Term& c, const Term& d) { return c.with(Op::logic_and, d); }
inline Term either(const Term& c, const Term& d) { return c.with(Op::logic_or, d); }
inline Term select(const Term& c, const Term& x, const Term& y) {
  const Expr args[] = {c.e, x.e, y.e};
  return {make(Op::select, x.type(), args, c.where), c.where};
}
inline Term min(const Term& x, const Term& y) { return x.with(Op::min, y); }
inline Term max(const Term& x, const Term& y) { return x.with(Op::max, y); }

// Of floats: x with the sign of y.
inline Term signed_as(const Term& x, const Term& y) {
  const Type t{Type::Code::unsigned_, x.type().bits};
  const std::int64_t sign = INT64_MIN >> (64 - t.bits);
  return ((x.bits_as(t) & ~sign) | (y.bits_as(t) & sign)).bits_as(x.type());
}

inline Term first(const Applied& a) { return {a.args[0], a.where}; }
inline Term second(const Applied& a) { return {a.args[1], a.where}; }

inline Type twice_as_wide(Type t) { return {t.code, static_cast<std::uint8_t>(2 * t.bits), t.lanes, t.scalable}; }
inline Type without_sign(Type t) { return {Type::Code::unsigned_, t.bits, t.lanes, t.scalable}; }

}  // namespace ashlar::ir::expansion
