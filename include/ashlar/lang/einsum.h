// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// einsum: products of tensors summed over the dimensions that the result does not have, in the notation of Einstein as NumPy
// writes it. One stage, scheduled like any other: its loops bear the letters.
//
//   Tensor scores = einsum("bhqd,bhkd->bhqk", Q, K);
//   Tensor product = einsum(f32, "ik,kj->ij", A, B);    the elements converted first: half-precision tensors summed in f32
//   Tensor trace = einsum("ii->", A), turned = einsum("ij->ji", A), outer = einsum("i,j", x, y);
//
// A letter (a to z, A to Z) names a dimension; where it stands twice the index is the same. Without "->" the result has the
// letters that stand once, in the order of the alphabet. Summed letters are the reduction loops, in the order in which they are
// met first. The sum of a product accumulates by fma (lang/reduce.h). Dimensions of one letter have one extent: numbers that
// differ are refused here, reads that could leave a tensor when the program is built. Spaces are ignored.
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
