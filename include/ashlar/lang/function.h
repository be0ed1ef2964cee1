// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// C functions in formulas, called for one value at a time, such as an existing tone curve or interpolated table.
//
//   extern "C" float tone_curve(float);
//   const auto curve = c_function("tone_curve", tone_curve);          // the interpreter and this process can call it too
//   const auto later = c_function<float(float, std::int32_t)>("f");   // only available where the object file is linked
//   compute("out", {N}, [&](Var i) { return curve(x(i)); })
//
// The function must be pure and total: its result depends only on its operands, it has no side effects, and it accepts all
// values of their types, because it may be called even where a select discards the result. The object file refers to its
// symbol, which must be provided when the object is linked. It runs on the host, so devices refuse it.
#include <type_traits>
#include <utility>

#include <ashlar/ir/function.h>
#include <ashlar/lang/operand.h>

namespace ashlar {

namespace detail {

template <Number T>
constexpr Type type_of_number() {
  if constexpr (std::same_as<T, bool>)
    return bool_;
  else if constexpr (std::floating_point<T>)
    return sizeof(T) == 4 ? f32 : f64;
  else
    return {std::is_signed_v<T> ? Type::Code::signed_ : Type::Code::unsigned_, sizeof(T) * 8};
}

template <Number T>
T number_of(const ir::Value& v) {
  if constexpr (std::floating_point<T>)
    return static_cast<T>(v.f);
  else
    return static_cast<T>(v.i);
}

template <class R, class... A, std::size_t... K>
ir::Value run_function(R (*f)(A...), const ir::Value* operands, std::index_sequence<K...>) {
  const R result = f(number_of<A>(operands[K])...);
  if constexpr (std::floating_point<R>)
    return ir::float_value(type_of_number<R>(), static_cast<double>(result));
  else
    return ir::int_value(type_of_number<R>(), static_cast<std::int64_t>(result));
}

Expr call_function(ir::Id, const Operand* operands, std::size_t count, Where where);
ir::Id declare_function(const char* symbol, std::vector<Type> parameters, Type result, void (*address)(),
                        ir::Value (*run)(void (*)(), const ir::Value*), Where);

}  // namespace detail

template <class Signature>
class CFunction;
template <Number R, Number... A>
class CFunction<R(A...)> {
  template <class>
  using Position = Operand;

 public:
  Expr operator()(Position<A>... operands) const {
    const Operand list[] = {operands...};
    return detail::call_function(id_, list, sizeof...(A), list[0].where());
  }

  CFunction(const char* symbol, R (*f)(A...), Where where) {
    static_assert(sizeof...(A) > 0, "a pure function of nothing is a number: write the number");
    static_assert((!std::same_as<long double, R> && ... && !std::same_as<long double, A>), "no tensor has long doubles");
    ir::Value (*run)(void (*)(), const ir::Value*) = nullptr;
    if (f)
      run = [](void (*address)(), const ir::Value* operands) {
        return detail::run_function(reinterpret_cast<R (*)(A...)>(address), operands, std::index_sequence_for<A...>());
      };
    id_ = detail::declare_function(symbol, {detail::type_of_number<A>()...}, detail::type_of_number<R>(),
                                   reinterpret_cast<void (*)()>(f), run, where);
  }

 private:
  ir::Id id_ = 0;
};

// Declares a C function. Refused: a symbol that is not a C identifier or was already declared as another function.
template <Number R, Number... A>
CFunction<R(A...)> c_function(const char* symbol, R (*f)(A...), Where where = Where::current()) {
  return {symbol, f, where};
}
template <class Signature>
CFunction<Signature> c_function(const char* symbol, Where where = Where::current()) {
  return {symbol, nullptr, where};
}

}  // namespace ashlar
