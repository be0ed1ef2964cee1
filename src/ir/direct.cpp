// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each function repeats a case of `evaluate` for fixed types; tests/ir/direct_test.cpp holds every one of them against it.
#include <ashlar/ir/direct.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace ashlar::ir {

namespace {

using Unsigned = std::uint64_t;

// ---- index: int64 that has no value where it overflows ---------------------------------------------------------------------

bool index_add(const Value& a, const Value& b, const Value&, Value& r) { return !__builtin_add_overflow(a.i, b.i, &r.i); }
bool index_sub(const Value& a, const Value& b, const Value&, Value& r) { return !__builtin_sub_overflow(a.i, b.i, &r.i); }
bool index_mul(const Value& a, const Value& b, const Value&, Value& r) { return !__builtin_mul_overflow(a.i, b.i, &r.i); }

bool index_div(const Value& a, const Value& b, const Value&, Value& r) {
  if (b.i == -1) return !__builtin_sub_overflow(std::int64_t{0}, a.i, &r.i);
  r.i = b.i == 0 ? 0 : a.i / b.i - (a.i % b.i != 0 && (a.i < 0) != (b.i < 0));
  return true;
}

bool index_mod(const Value& a, const Value& b, const Value&, Value& r) {
  if (b.i == 0 || b.i == -1) {
    r.i = 0;
    return true;
  }
  const std::int64_t rest = a.i % b.i;
  r.i = rest != 0 && (rest < 0) != (b.i < 0) ? rest + b.i : rest;
  return true;
}

Direct of_index(Op op) {
  switch (op) {
    case Op::add:
      return index_add;
    case Op::sub:
      return index_sub;
    case Op::mul:
      return index_mul;
    case Op::div:
      return index_div;
    case Op::mod:
      return index_mod;
    default:
      return nullptr;
  }
}

// ---- data integers: arithmetic modulo 2^64, wrapped to the type
// --------------------------------------------------------------

template <class F>
bool wrapped(const Value& a, const Value& b, Value& r, F f) {
  r.i = wrap_to(r.type, static_cast<std::int64_t>(f(static_cast<Unsigned>(a.i), static_cast<Unsigned>(b.i))));
  return true;
}

bool integer_add(const Value& a, const Value& b, const Value&, Value& r) {
  return wrapped(a, b, r, [](Unsigned x, Unsigned y) { return x + y; });
}
bool integer_sub(const Value& a, const Value& b, const Value&, Value& r) {
  return wrapped(a, b, r, [](Unsigned x, Unsigned y) { return x - y; });
}
bool integer_mul(const Value& a, const Value& b, const Value&, Value& r) {
  return wrapped(a, b, r, [](Unsigned x, Unsigned y) { return x * y; });
}
bool integer_and(const Value& a, const Value& b, const Value&, Value& r) {
  return wrapped(a, b, r, [](Unsigned x, Unsigned y) { return x & y; });
}
bool integer_or(const Value& a, const Value& b, const Value&, Value& r) {
  return wrapped(a, b, r, [](Unsigned x, Unsigned y) { return x | y; });
}
bool integer_xor(const Value& a, const Value& b, const Value&, Value& r) {
  return wrapped(a, b, r, [](Unsigned x, Unsigned y) { return x ^ y; });
}

Direct of_integer(Op op) {
  switch (op) {
    case Op::add:
      return integer_add;
    case Op::sub:
      return integer_sub;
    case Op::mul:
      return integer_mul;
    case Op::bit_and:
      return integer_and;
    case Op::bit_or:
      return integer_or;
    case Op::bit_xor:
      return integer_xor;
    default:
      return nullptr;
  }
}

// ---- order: of indices, integers and floats
// ----------------------------------------------------------------------------------

template <class T>
T in(const Value& v) {
  if constexpr (std::is_same_v<T, double>)
    return v.f;
  else
    return static_cast<T>(v.i);
}

template <class T, Op op>
bool ordered(const Value& a, const Value& b, const Value&, Value& r) {
  const T x = in<T>(a), y = in<T>(b);
  if constexpr (op == Op::eq) r.i = x == y;
  if constexpr (op == Op::ne) r.i = x != y;
  if constexpr (op == Op::lt) r.i = x < y;
  if constexpr (op == Op::le) r.i = x <= y;
  if constexpr (op == Op::gt) r.i = x > y;
  if constexpr (op == Op::ge) r.i = x >= y;
  if constexpr (op == Op::min) r.i = x < y ? a.i : b.i;
  if constexpr (op == Op::max) r.i = x < y ? b.i : a.i;
  return true;
}

template <class T>
Direct of_order(Op op) {
  switch (op) {
    case Op::eq:
      return ordered<T, Op::eq>;
    case Op::ne:
      return ordered<T, Op::ne>;
    case Op::lt:
      return ordered<T, Op::lt>;
    case Op::le:
      return ordered<T, Op::le>;
    case Op::gt:
      return ordered<T, Op::gt>;
    case Op::ge:
      return ordered<T, Op::ge>;
    case Op::min:
      return std::is_same_v<T, double> ? nullptr : ordered<T, Op::min>;  // of floats: NaN and the signs of zeros decide
    case Op::max:
      return std::is_same_v<T, double> ? nullptr : ordered<T, Op::max>;
    default:
      return nullptr;
  }
}

// ---- floats: computed in F, rounded once to the type
// -------------------------------------------------------------------------

// F is double for f64 and float for the others; `narrow` ones, of 16 and 8 bits, are rounded from there.
template <bool narrow, class Compute>
bool rounded(Value& r, Compute compute) {
  const auto exact = static_cast<double>(compute());
  r.f = narrow ? round_to(r.type, exact) : exact;
  return true;
}

template <class F, bool narrow, Op op>
bool real(const Value& a, const Value& b, const Value& c, Value& r) {
  const F x = static_cast<F>(a.f), y = static_cast<F>(b.f);
  return rounded<narrow>(r, [&]() -> F {
    if constexpr (op == Op::add) return x + y;
    if constexpr (op == Op::sub) return x - y;
    if constexpr (op == Op::mul) return x * y;
    if constexpr (op == Op::div) return x / y;
    if constexpr (op == Op::fma) return std::fma(x, y, static_cast<F>(c.f));
    const bool unordered = std::isnan(x) || std::isnan(y);
    if (unordered) return std::numeric_limits<F>::quiet_NaN();
    if constexpr (op == Op::min) return x == y ? (std::signbit(x) ? x : y) : x < y ? x : y;
    if constexpr (op == Op::max) return x == y ? (std::signbit(x) ? y : x) : x < y ? y : x;
  });
}

bool real_neg(const Value& a, const Value&, const Value&, Value& r) {
  r.f = -a.f;
  return true;
}
bool real_abs(const Value& a, const Value&, const Value&, Value& r) {
  r.f = std::fabs(a.f);
  return true;
}

template <class F, bool narrow>
Direct of_real(Op op) {
  switch (op) {
    case Op::add:
      return real<F, narrow, Op::add>;
    case Op::sub:
      return real<F, narrow, Op::sub>;
    case Op::mul:
      return real<F, narrow, Op::mul>;
    case Op::div:
      return real<F, narrow, Op::div>;
    case Op::fma:
      return real<F, narrow, Op::fma>;
    case Op::min:
      return real<F, narrow, Op::min>;
    case Op::max:
      return real<F, narrow, Op::max>;
    case Op::neg:
      return real_neg;
    case Op::abs:
      return real_abs;
    default:
      return nullptr;
  }
}

// ---- bools and choices
// -------------------------------------------------------------------------------------------------------

bool both(const Value& a, const Value& b, const Value&, Value& r) {
  r.i = a.i && b.i;
  return true;
}
bool either(const Value& a, const Value& b, const Value&, Value& r) {
  r.i = a.i || b.i;
  return true;
}
bool inverse(const Value& a, const Value&, const Value&, Value& r) {
  r.i = !a.i;
  return true;
}
bool chosen(const Value& a, const Value& b, const Value& c, Value& r) {
  r = a.i ? b : c;
  return true;
}
bool converted(const Value& a, const Value&, const Value&, Value& r) {
  r = convert(r.type, a);
  return true;
}

Direct of_bool(Op op) {
  switch (op) {
    case Op::logic_and:
    case Op::bit_and:
      return both;
    case Op::logic_or:
    case Op::bit_or:
      return either;
    case Op::logic_not:
      return inverse;
    default:
      return nullptr;
  }
}

}  // namespace

Direct direct(Op op, Type result, Type operand) {
  if (op == Op::select) return chosen;
  if (op == Op::cast) return converted;
  if (operand.is_bool()) return of_bool(op);
  if (operand.is_float()) {
    if (const Direct f = of_order<double>(op)) return f;
    if (operand.bits == 64) return of_real<double, false>(op);
    return operand.bits == 32 ? of_real<float, false>(op) : of_real<float, true>(op);
  }
  if (!operand.is_integer() || (!result.is_bool() && result != operand)) return nullptr;
  if (const Direct f = operand.is_unsigned() ? of_order<Unsigned>(op) : of_order<std::int64_t>(op)) return f;
  return operand.is_index() ? of_index(op) : of_integer(op);
}

}  // namespace ashlar::ir
