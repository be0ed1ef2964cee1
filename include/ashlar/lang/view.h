// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Views: the elements of a tensor at other indices. They are expanded where they are read and are not stages. Any tensor can
// have views, including another view. An output that is bound to a view is computed as a copy.
//
//   view::transpose(x)                    y(j, i) = x(i, j): the dimensions in reverse order
//   view::transpose(x, {0, 2, 1})         dimension d of the view is dimension order[d] of x
//   view::slice(x, 1, Range{Expr(4), N}, 2)   y(i, j) = x(i, 4 + 2 j): elements 4, 6, ... below N, numbered from 0
//   view::reverse(x, 0)                   y(i, j) = x(N - 1 - i, j)
//   view::broadcast(x, {B, M, N})         as in NumPy: adds dimensions in front, stretches extents of 1
//   view::reshape(x, {M, H, D})           the same elements in row-major order, under another shape
#include <initializer_list>

#include <ashlar/lang/tensor.h>

namespace ashlar::view {

Tensor transpose(const Tensor&, Where = Where::current());
// Refused unless the order names each dimension exactly once.
Tensor transpose(const Tensor&, std::initializer_list<int> order, Where = Where::current());
// `range` is in indices of the tensor. Refused: a step below 1 (use reverse for descending order), and a range that is known to
// leave the tensor.
Tensor slice(const Tensor&, int dim, const Extent& range, std::int64_t step = 1, Where = Where::current());
Tensor reverse(const Tensor&, int dim, Where = Where::current());  // the extent must be known
Tensor broadcast(const Tensor&, std::initializer_list<Extent> shape, Where = Where::current());
// Refused unless the factors of both shapes show that they have the same number of elements: [B, H * D] is [B, H, D], and [N]
// is [N / 8, 8] if N is a Symbol whose multiple_of is a multiple of 8.
Tensor reshape(const Tensor&, std::initializer_list<Extent> shape, Where = Where::current());

}  // namespace ashlar::view
