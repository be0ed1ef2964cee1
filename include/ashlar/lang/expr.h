// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Operators on expressions. docs/ir.md defines their values; lang/operand.h has the rules for operands.
//
//   Expr e = (x + 1) / 2;            integer division rounds toward negative infinity, as indices need (trunc_div: as C does)
//   Expr in = 0 <= i && i < N;       && and || combine bool Exprs. They do not guard a read: use select
//
// Both parameters are Operands: with an Expr and an Operand, a == b would be ambiguous with its reversed form in C++20.
#include <array>
#include <cstddef>

#include <ashlar/lang/operand.h>

namespace ashlar {

// The result of a comparison. It is a bool Expr, but has its own C++ type so that the error for a chain `0 <= i < n` can say
// what to write.
class Condition : public Expr {
 public:
  Condition() = default;
  Condition(const Expr& e) : Expr(e) {}
};

Expr operator+(Operand, Operand);
Expr operator-(Operand, Operand);
Expr operator*(Operand, Operand);
Expr operator/(Operand, Operand);
Expr operator%(Operand, Operand);
Expr operator&(Operand, Operand);
Expr operator|(Operand, Operand);
Expr operator^(Operand, Operand);
Expr operator<<(Operand, Operand);
Expr operator>>(Operand, Operand);
Condition operator==(Operand, Operand);
Condition operator!=(Operand, Operand);
Condition operator<(Operand, Operand);
Condition operator<=(Operand, Operand);
Condition operator>(Operand, Operand);
Condition operator>=(Operand, Operand);
Expr operator-(Operand);
Expr operator~(Operand);

// These overloads match exactly. They must, because Expr converts to bool (to explain the error), which makes the built-in &&
// and || candidates too.
Expr operator&&(const Expr&, const Expr&);
Expr operator&&(const Expr&, Operand);
Expr operator&&(Operand, const Expr&);
Expr operator||(const Expr&, const Expr&);
Expr operator||(const Expr&, Operand);
Expr operator||(Operand, const Expr&);
template <std::same_as<bool> B>
Expr operator&&(const Expr& a, B b) {
  return a && Operand(b);
}
template <std::same_as<bool> B>
Expr operator&&(B a, const Expr& b) {
  return Operand(a) && b;
}
template <std::same_as<bool> B>
Expr operator||(const Expr& a, B b) {
  return a || Operand(b);
}
template <std::same_as<bool> B>
Expr operator||(B a, const Expr& b) {
  return Operand(a) || b;
}
Expr operator!(const Expr&);

// An Expr can be built up in place. The type must be exactly Expr, so that a Var or an Axis cannot be assigned through its base
// class.
template <std::same_as<Expr> E>
E& operator+=(E& a, Operand b) {
  return a = a + b;
}
template <std::same_as<Expr> E>
E& operator-=(E& a, Operand b) {
  return a = a - b;
}
template <std::same_as<Expr> E>
E& operator*=(E& a, Operand b) {
  return a = a * b;
}
template <std::same_as<Expr> E>
E& operator/=(E& a, Operand b) {
  return a = a / b;
}

template <std::same_as<Expr> E>  // on an element, C(i, j) += x
void operator+=(E&&, Operand) {
  detail::not_assigned<E>();
}
template <std::same_as<Expr> E>
void operator-=(E&&, Operand) {
  detail::not_assigned<E>();
}
template <std::same_as<Expr> E>
void operator*=(E&&, Operand) {
  detail::not_assigned<E>();
}
template <std::same_as<Expr> E>
void operator/=(E&&, Operand) {
  detail::not_assigned<E>();
}

namespace detail {
template <class E>
concept Named = std::derived_from<E, Expr> && !std::same_as<E, Expr>;  // Var, Axis, Symbol, Scalar, Condition
template <class E>
E& no_assignment(E& e) {
  static_assert(never<E>,
                "a Var, Axis, Symbol or Scalar stands for every value it takes and is not assigned: write Expr next = i + 1");
  return e;
}
template <class C>
Expr no_chain() {
  static_assert(never<C>, "comparisons do not chain: write 0 <= i && i < n");
  return {};
}
}  // namespace detail
template <detail::Named E>
E& operator+=(E& a, Operand) {
  return detail::no_assignment(a);
}
template <detail::Named E>
E& operator-=(E& a, Operand) {
  return detail::no_assignment(a);
}
template <detail::Named E>
E& operator*=(E& a, Operand) {
  return detail::no_assignment(a);
}
template <detail::Named E>
E& operator/=(E& a, Operand) {
  return detail::no_assignment(a);
}
template <std::same_as<Condition> C>
Expr operator<(const C&, Operand) {
  return detail::no_chain<C>();
}
template <std::same_as<Condition> C>
Expr operator<=(const C&, Operand) {
  return detail::no_chain<C>();
}
template <std::same_as<Condition> C>
Expr operator>(const C&, Operand) {
  return detail::no_chain<C>();
}
template <std::same_as<Condition> C>
Expr operator>=(const C&, Operand) {
  return detail::no_chain<C>();
}

// Several values at once, for stages with several results. It is a std::array, so structured bindings and [] work.
template <std::size_t N>
using Values = std::array<Expr, N>;
template <class... T>
Values<sizeof...(T)> values(const T&... v) {
  return {value_of(v)...};
}

}  // namespace ashlar
