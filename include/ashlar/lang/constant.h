// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Tensors whose elements are known when the program is written: the weights of a filter, a table. They are no arguments: read
// at constant indices, after unrolling, they become numbers in the code, otherwise they are data of the object.
//
//   const Tensor sobel = constant("sobel", f32, {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}});     f32[3, 3]
//   const Tensor window = constant("window", f32, {257}, samples);                         std::vector<double> samples
//
// The numbers adopt the type as operands do: an integer exactly, a floating number by rounding, or they are refused.
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <ashlar/lang/tensor.h>

namespace ashlar {

class Elements {  // a number, or rows of elements, all of one shape
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

// Refused: rows of different lengths, no element at all, a number that the type does not hold, more than 8 dimensions.
Tensor constant(const char* name, Type, const Elements&, Where = Where::current());
// Row-major; as many as the shape has elements, or refused.
template <Number T>
Tensor constant(const char* name, Type type, std::initializer_list<std::int64_t> shape, const std::vector<T>& elements,
                Where where = Where::current()) {
  std::vector<Operand> list;
  list.reserve(elements.size());
  for (const T value : elements) list.emplace_back(static_cast<T>(value), where);
  return detail::constant(name, type, shape, list, where);
}

}  // namespace ashlar
