// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Constants: tensors whose elements are known when the program is written, such as filter taps or a lookup table. They are not
// arguments. If indices are constant after unrolling, the elements become immediate numbers; otherwise they are data in the
// object file.
//
//   const Tensor sobel = constant("sobel", f32, {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}});     f32[3, 3]
//   const Tensor window = constant("window", f32, {257}, samples);                         std::vector<double> samples
//
// Numbers adopt the type as operands do. An integer must fit exactly, a floating-point number is rounded, and a floating-point
// number for an integer type is refused.
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <ashlar/lang/tensor.h>

namespace ashlar {

class Elements {  // a number, or rows of Elements, all of the same shape
 public:
  template <Number T>
  Elements(T value, Where where = Where::current()) : number_(value, where) {}
  Elements(std::initializer_list<Elements> rows) : number_(0), rows_(rows), is_number_(false) {}

  bool is_number() const { return is_number_; }
  const Operand& number() const { return number_; }
  const std::vector<Elements>& rows() const { return rows_; }

 private:
  Operand number_;
  std::vector<Elements> rows_;
  bool is_number_ = true;
};

namespace detail {
Tensor constant(const char* name, Type, const std::vector<std::int64_t>& shape, const std::vector<Operand>& elements, Where);
}

// A constant from nested lists. Refused: rows of different lengths, no elements, a number that does not fit the type, more than
// 8 dimensions.
Tensor constant(const char* name, Type, const Elements&, Where = Where::current());
// A constant of the given shape, from its elements in row-major order. Refused unless there are as many elements as the shape
// has.
template <Number T>
Tensor constant(const char* name, Type type, std::initializer_list<std::int64_t> shape, const std::vector<T>& elements,
                Where where = Where::current()) {
  std::vector<Operand> list;
  list.reserve(elements.size());
  for (const T value : elements) list.emplace_back(static_cast<T>(value), where);
  return detail::constant(name, type, shape, list, where);
}

}  // namespace ashlar
