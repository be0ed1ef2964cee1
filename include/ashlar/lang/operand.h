// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Operands: an Expr, or a C++ number that does not have a type yet, with the source line where it was written.
//
// Nothing converts silently. A number combined with an Expr adopts the type of the Expr: an integer must fit exactly, a
// floating-point number is rounded, and a floating-point number for an integer type is refused. A number by itself has its C++
// type: 0 is i32, 0.f is f32, 0.0 is f64. Two Exprs must have the same type, except that a data integer combined with an index
// becomes an index.
//
//   x * 2     2 has the type of x           x * 300   refused if x is u8
//   f32(n)    a conversion, by name         n + 0.5   refused if n is an integer: write f32(n) + 0.5
#include <type_traits>

#include <ashlar/ir/expr.h>

namespace ashlar {

template <class T>
class Param;
template <std::size_t N>
class Reduction;

namespace detail {
template <class T>
concept Character = one_of<T, char, wchar_t, char8_t, char16_t, char32_t>;
template <class T>
concept Text = one_of<std::remove_cv_t<std::remove_pointer_t<std::decay_t<T>>>, char, wchar_t, char8_t> &&
               std::is_pointer_v<std::decay_t<T>>;
template <class T>
concept TensorLike = requires { typename T::is_tensor; };
Expr element_of(const Reduction<1>&, Where);  // in the step of a recurrence, the element of a new stage; elsewhere refused
}  // namespace detail

class Operand {  // a parameter of functions and operators: an Expr, a C++ number or a Param, and its line
 public:
  Operand(const Expr& e, Where where = Where::current()) : expr_(e), where_(where) {}
  template <Number T>
  Operand(T value, Where where = Where::current()) : where_(where) {
    if constexpr (std::same_as<T, bool>)
      type_ = bool_, bits_ = value;
    else if constexpr (std::floating_point<T>)
      type_ = sizeof(T) == 4 ? f32 : f64, real_ = static_cast<double>(value);
    else
      type_ = {std::is_signed_v<T> ? Type::Code::signed_ : Type::Code::unsigned_, sizeof(T) * 8},
      bits_ = static_cast<std::int64_t>(value);
  }
  // The value of a Param is known when the generator runs.
  template <Number T>
  Operand(const Param<T>& p, Where where = Where::current()) : Operand(static_cast<const T&>(p), where) {}

  // Not operands: the message says what to write instead.
  template <detail::Character T>
  Operand(T, Where = Where::current()) {
    static_assert(detail::never<T>, "a character is not a number here: write the number, or static_cast<int>(c)");
  }
  template <detail::Text T>
  Operand(const T&, Where = Where::current()) {
    static_assert(detail::never<T>, "text is not a value: an operand is an Expr, a C++ number or a Param");
  }
  Operand(const Reduction<1>& r, Where where = Where::current()) : expr_(detail::element_of(r, where)), where_(where) {}
  template <std::size_t N>
  Operand(const Reduction<N>& r, Where = Where::current()) {
    static_assert(detail::never<decltype(r)>,
                  "a reduction is a whole stage: name it with compute(...), then use the tensors it gives");
  }
  template <detail::TensorLike T>
  Operand(const T&, Where = Where::current()) {
    static_assert(detail::never<T>, "a tensor is not a value: write its element at indices, A(i, j)");
  }

  bool is_number() const { return type_.code != Type::Code::handle; }
  const Expr& expr() const { return expr_; }      // empty for a number
  Type number_type() const { return type_; }      // of a number: bool_, an integer type of 8 to 64 bits, f32 or f64
  std::int64_t integer() const { return bits_; }  // of an integer; a u64 keeps its top bit
  double real() const { return real_; }           // of a floating-point number
  Where where() const { return where_; }

 private:
  Expr expr_;
  Type type_{};
  double real_ = 0;
  std::int64_t bits_ = 0;
  Where where_;
};

Expr value_of(Operand);  // the operand as an Expr; a number gets its C++ type

}  // namespace ashlar
