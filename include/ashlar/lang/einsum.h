// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// einsum: multiplies tensors and sums over the dimensions that the result does not have, in NumPy's notation. It is one stage,
// whose loops are named by the letters.
//
//   Tensor scores = einsum("bhqd,bhkd->bhqk", Q, K);
//   Tensor product = einsum(f32, "ik,kj->ij", A, B);    converts the elements first: f16 tensors, summed in f32
//   Tensor trace = einsum("ii->", A), turned = einsum("ij->ji", A), outer = einsum("i,j", x, y);
//
// A letter (a to z, A to Z) names a dimension. Dimensions with the same letter share one index. Without "->" the result has the
// letters that occur once, in alphabetical order. The other letters are summed over, in loops ordered by first occurrence. A
// sum of products uses fma (lang/reduce.h). Spaces are ignored.
//
// Dimensions with the same letter must have the same extent. Numbers that differ are refused here; reads that may leave a
// tensor are refused when the program is built.
#include <ashlar/lang/compute.h>

namespace ashlar {

struct Subscripts {  // carries the line of the call
  const char* text;
  Where where;
  Subscripts(const char* t, Where w = Where::current()) : text(t), where(w) {}
};

namespace detail {
Tensor einsum(const Type* as, const Subscripts&, std::initializer_list<const Tensor*> operands);
}

template <std::derived_from<Tensor>... T>
Tensor einsum(Subscripts subscripts, const T&... operands) {
  return detail::einsum(nullptr, subscripts, {&operands...});
}
template <std::derived_from<Tensor>... T>
Tensor einsum(Type as, Subscripts subscripts, const T&... operands) {
  return detail::einsum(&as, subscripts, {&operands...});
}

}  // namespace ashlar
