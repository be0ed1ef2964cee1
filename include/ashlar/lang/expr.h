// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Operators on expressions. The semantics of each stand in docs/ir.md; the rules for operands in lang/operand.h.
//
//   Expr e = (x + 1) / 2;            integers divide as indices need: to the floor (trunc_div for C's)
//   Expr in = 0 <= i && i < N;       && and || take bool Exprs and do not guard: select does
//
// Both operands are Operand: with one Expr and one Operand, C++20 finds a == b ambiguous with its own mirror image.
#include <array>
#include <cstddef>

#include <ashlar/lang/operand.h>

namespace ashlar {

// What a comparison gives: a bool Expr, told apart so that a chain `0 <= i < n` can say what to write.
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

// Exact matches, because the conversion to bool that explains itself (Expr) also makes the built-in && and || candidates.
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

// An Expr may be built up in place; exactly Expr, so that neither a Var nor an Axis is assigned through its base.
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

template <std::same_as<Expr> E>  // of an element, C(i, j) += x
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

// Several values at once: stages with several results. Structured bindings and [] come with the array.
template <std::size_t N>
using Values = std::array<Expr, N>;
template <class... T>
Values<sizeof...(T)> values(const T&... v) {
  return {value_of(v)...};
}

}  // namespace ashlar
