// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Views: the elements of a tensor at other indices. They cost nothing of their own, are expanded where they are read and have
// no stage; an output that is bound to one is computed as a copy. A view may be made of any tensor, another view too.
//
//   view::transpose(x)                    y(j, i) = x(i, j): the dimensions in reverse order
//   view::transpose(x, {0, 2, 1})         dimension d of the view is dimension order[d] of x
//   view::slice(x, 1, Range{Expr(4), N}, 2)   y(i, j) = x(i, 4 + 2 j): [4, N) in steps of two, from 0 on
//   view::reverse(x, 0)                   y(i, j) = x(N - 1 - i, j)
//   view::broadcast(x, {B, M, N})         as NumPy: new dimensions in front, those of extent 1 are stretched
//   view::reshape(x, {M, H, D})           the same elements in row-major order, under another shape
#include <initializer_list>

#include <ashlar/lang/tensor.h>

namespace ashlar::view {

Tensor transpose(const Tensor&, Where = Where::current());
// Refused: not each dimension once.
Tensor transpose(const Tensor&, std::initializer_list<int> order, Where = Where::current());
// The range in indices of the tensor; a negative step is refused (reverse it). Refused where constants show the range to lie
// outside.
Tensor slice(const Tensor&, int dim, const Extent& range, std::int64_t step = 1, Where = Where::current());
Tensor reverse(const Tensor&, int dim, Where = Where::current());  // of an extent that is known
Tensor broadcast(const Tensor&, std::initializer_list<Extent> shape, Where = Where::current());
// Both shapes must have as many elements, shown by their factors: [B, H * D] is [B, H, D], [N] is [N / 8, 8] where N is a
// Symbol with a multiple_of that says so. Otherwise refused.
Tensor reshape(const Tensor&, std::initializer_list<Extent> shape, Where = Where::current());

}  // namespace ashlar::view
