// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Error messages for frequent mistakes: std::exp(x) and std::max(x, 0.f) with an Expr, and cast<float>(x). One sentence
// replaces a page of overloads that do not match.
//
// No program that compiles calls these functions: instantiating one is the error. The standard reserves namespace std; their
// only other effect there is that `requires { std::exp(x); }` holds for an Expr. They are templates whose operands need a
// conversion, so exp(x) still means ashlar::exp under `using namespace std`.
#include <ashlar/lang/math.h>

namespace ashlar {
namespace detail {
struct OfStd {};  // an explicit template argument, as in std::exp<float>, never selects these
struct ExprForStd {
  template <std::derived_from<Expr> E>
  ExprForStd(const E&) {}
};
struct NumberForStd {
  template <Number T>
  NumberForStd(T) {}
};
template <class T>
Expr not_of_std() {
  static_assert(never<T>,
                "std:: computes numbers, and an Expr has none yet: write exp(x), abs(x), max(x, 0.f), which are ashlar's");
  return {};
}
}  // namespace detail

template <class T, std::derived_from<Expr> E>
Expr cast(const E&) {
  static_assert(detail::never<T>, "a conversion is written with the type's name: u8(x), f32(x); saturate(u8, x) clamps");
  return {};
}
}  // namespace ashlar

namespace std {
#define ASHLAR_OF_ONE(name)                                                \
  template <std::same_as<ashlar::detail::OfStd> T = ashlar::detail::OfStd> \
  ashlar::Expr name(ashlar::detail::ExprForStd) {                          \
    return ashlar::detail::not_of_std<T>();                                \
  }
#define ASHLAR_OF_TWO(name)                                                     \
  template <std::same_as<ashlar::detail::OfStd> T = ashlar::detail::OfStd>      \
  ashlar::Expr name(ashlar::detail::ExprForStd, ashlar::detail::ExprForStd) {   \
    return ashlar::detail::not_of_std<T>();                                     \
  }                                                                             \
  template <std::same_as<ashlar::detail::OfStd> T = ashlar::detail::OfStd>      \
  ashlar::Expr name(ashlar::detail::ExprForStd, ashlar::detail::NumberForStd) { \
    return ashlar::detail::not_of_std<T>();                                     \
  }                                                                             \
  template <std::same_as<ashlar::detail::OfStd> T = ashlar::detail::OfStd>      \
  ashlar::Expr name(ashlar::detail::NumberForStd, ashlar::detail::ExprForStd) { \
    return ashlar::detail::not_of_std<T>();                                     \
  }
ASHLAR_OF_ONE(abs)
ASHLAR_OF_ONE(fabs)
ASHLAR_OF_ONE(sqrt)
ASHLAR_OF_ONE(cbrt)
ASHLAR_OF_ONE(exp)
ASHLAR_OF_ONE(exp2)
ASHLAR_OF_ONE(expm1)
ASHLAR_OF_ONE(log)
ASHLAR_OF_ONE(log2)
ASHLAR_OF_ONE(log1p)
ASHLAR_OF_ONE(sin)
ASHLAR_OF_ONE(cos)
ASHLAR_OF_ONE(tan)
ASHLAR_OF_ONE(asin)
ASHLAR_OF_ONE(acos)
ASHLAR_OF_ONE(atan)
ASHLAR_OF_ONE(sinh)
ASHLAR_OF_ONE(cosh)
ASHLAR_OF_ONE(tanh)
ASHLAR_OF_ONE(erf)
ASHLAR_OF_ONE(erfc)
ASHLAR_OF_ONE(floor)
ASHLAR_OF_ONE(ceil)
ASHLAR_OF_ONE(round)
ASHLAR_OF_ONE(trunc)
ASHLAR_OF_ONE(isnan)
ASHLAR_OF_ONE(isinf)
ASHLAR_OF_TWO(max)
ASHLAR_OF_TWO(min)
ASHLAR_OF_TWO(pow)
ASHLAR_OF_TWO(fmod)
ASHLAR_OF_TWO(atan2)
ASHLAR_OF_TWO(copysign)
#undef ASHLAR_OF_ONE
#undef ASHLAR_OF_TWO

template <std::same_as<ashlar::detail::OfStd> T = ashlar::detail::OfStd>
ashlar::Expr clamp(ashlar::detail::ExprForStd, ashlar::Operand, ashlar::Operand) {
  return ashlar::detail::not_of_std<T>();
}
}  // namespace std
