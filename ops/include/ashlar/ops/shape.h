// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Rearrangements of elements. Operators that only rename indices are views (ashlar/lang/view.h): they are not stages and are
// expanded where they are read; an output that is bound to a view becomes a copy. Operators that join or repeat tensors are one
// stage.
//
//   Tensor heads = ops::transpose(ops::reshape(q, {B, T, 8, 64}), {0, 2, 1, 3});
//   Tensor wide = ops::pad(x, {0, 0, 1, 1}, ops::PadMode::reflect);
#include <initializer_list>
#include <ashlar/ops/conv.h>

namespace ashlar::ops {

// ---- views -----------------------------------------------------------------------------------------------------------------

// Dimension d of the result is dimension order[d] of x.
Tensor transpose(const Tensor& x, std::initializer_list<int> order, Where where = Where::current());
Tensor transpose(const Tensor& x, Where where = Where::current());
// The same elements in row-major order. The factors of both shapes must show that they have the same number of elements.
Tensor reshape(const Tensor& x, std::initializer_list<Extent> shape, Where where = Where::current());
// y(i) = x(begin + i step) along the axis, for the range [begin, end), which must lie inside x.
Tensor slice(const Tensor& x, int axis, Operand begin, Operand end, int step = 1, Where where = Where::current());
// y(i) = x(n - 1 - i) along the axis.
Tensor flip(const Tensor& x, int axis, Where where = Where::current());
// Parts with the given extents, which must add up to the extent of x.
std::vector<Tensor> split(const Tensor& x, const std::vector<Expr>& extents, int axis = 0, Where where = Where::current());
// `parts` equal parts. The extent of x must be a known multiple of `parts`: a number, or a Symbol with `multiple_of`.
std::vector<Tensor> split(const Tensor& x, int parts, int axis = 0, Where where = Where::current());

// ---- stages ----------------------------------------------------------------------------------------------------------------

// y(.., i, ..) = x(.., place(i), ..) along one dimension.
namespace detail {

template <class F>
Tensor relocated(const char* op, const Tensor& x, int axis, const Expr& extent, Where where, F place) {
  return compute(
      op, x.shape(where).with(axis, extent, where), [&](Indices i) { return x(i.with(axis, place(i[axis])), where); }, where);
}
}  // namespace detail

// A copy with its own storage, for example of a view, so that a schedule can place it.
Tensor copy(const Tensor& x, Where where = Where::current());
// y(i) = x(i - by), wrapping around.
Tensor roll(const Tensor& x, Operand by, int axis = -1, Where where = Where::current());
// Joins tensors along the axis. They must have the same type, and the same extents in all other dimensions.
Tensor concat(const std::vector<Tensor>& parts, int axis = 0, Where where = Where::current());
// Joins tensors of the same shape along a new dimension.
Tensor stack(const std::vector<Tensor>& parts, int axis = 0, Where where = Where::current());
// Repeats the whole tensor: `times` has a number for each dimension.
Tensor tile(const Tensor& x, const std::vector<int>& times, Where where = Where::current());
// Repeats each element `times` times in a row.
Tensor repeat_interleave(const Tensor& x, int times, int axis = -1, Where where = Where::current());

// Extends x by a value (constant), the nearest element (edge), its reflection without (reflect) or with (symmetric) the edge
// itself, or elements from the other side (wrap). As in NumPy, the last three repeat if the padding is wider than x. All but
// constant need at least one element in a padded dimension: a number, or a Symbol with {.min = 1}.
enum class PadMode { constant, edge, reflect, symmetric, wrap };
Tensor pad(const Tensor& x, const std::vector<Pad>& padding, PadMode mode = PadMode::constant, Operand value = 0,
           Where where = Where::current());

// For matrices in the last two dimensions: keeps the elements on and above (triu) or below (tril) diagonal k, and sets the
// others to 0.
Tensor triu(const Tensor& x, int k = 0, Where where = Where::current());
Tensor tril(const Tensor& x, int k = 0, Where where = Where::current());

// Moves blocks of pixels into channels: y[n, (c block + dy) block + dx, h, w] = x[n, c, h block + dy, w block + dx]. This is
// PyTorch's pixel_unshuffle; in ONNX's SpaceToDepth the indices in the block precede the channel.
Tensor pixel_unshuffle(const Tensor& x, int block, Where where = Where::current());
// The inverse. x: [N, C block^2, H, W], a known multiple of block^2; y: [N, C, H block, W block].
Tensor pixel_shuffle(const Tensor& x, int block, Where where = Where::current());

}  // namespace ashlar::ops
