// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elements at other places. What only renames indices is a view (ashlar/lang/view.h): it has no stage and costs nothing until
// it is read; an output bound to one is a copy. What joins or repeats is one stage.
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
// As many elements, in row-major order; the factors of both shapes show it, or the call is refused.
Tensor reshape(const Tensor& x, std::initializer_list<Extent> shape, Where where = Where::current());
// y(i) = x(begin + i step) along the axis, of [begin, end), which lies inside of x.
Tensor slice(const Tensor& x, int axis, Operand begin, Operand end, int step = 1, Where where = Where::current());
// y(i) = x(n - 1 - i) along the axis.
Tensor flip(const Tensor& x, int axis, Where where = Where::current());
// Parts of the given extents, which add up to that of x.
std::vector<Tensor> split(const Tensor& x, const std::vector<Expr>& extents, int axis = 0, Where where = Where::current());
// So many equal parts; the extent of x is a multiple of it, as its number or the facts of its Symbol show.
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

// A copy in memory of its own: of a view, for a schedule to place.
Tensor copy(const Tensor& x, Where where = Where::current());
// y(i) = x(i - by), round the end.
Tensor roll(const Tensor& x, Operand by, int axis = -1, Where where = Where::current());
// One behind the other along the axis; of one type, and of one extent in every other dimension.
Tensor concat(const std::vector<Tensor>& parts, int axis = 0, Where where = Where::current());
// Of one shape, along a new dimension.
Tensor stack(const std::vector<Tensor>& parts, int axis = 0, Where where = Where::current());
// The whole again and again: `times` for each dimension.
Tensor tile(const Tensor& x, const std::vector<int>& times, Where where = Where::current());
// Every element so many times in a row.
Tensor repeat_interleave(const Tensor& x, int times, int axis = -1, Where where = Where::current());

// Elements around x: a value, the nearest (edge), mirrored without repeating the edge (reflect) or with it (symmetric), or from
// the other side (wrap); the last three again and again, where the padding is wider than x, as NumPy's pad. All but the value
// need an x that is not empty where it is padded: extents with {.min = 1}.
enum class PadMode { constant, edge, reflect, symmetric, wrap };
Tensor pad(const Tensor& x, const std::vector<Pad>& padding, PadMode mode = PadMode::constant, Operand value = 0,
           Where where = Where::current());

// Matrices in the last two dimensions: what lies above (below) diagonal k stays, the rest is 0.
Tensor triu(const Tensor& x, int k = 0, Where where = Where::current());
Tensor tril(const Tensor& x, int k = 0, Where where = Where::current());

// Blocks of an image's pixels as channels, and back: y[n, (c block + dy) block + dx, h, w] = x[n, c, h block + dy, w block +
// dx] (PyTorch's pixel_unshuffle; ONNX's SpaceToDepth has the order of the block in front of the channel).
Tensor pixel_unshuffle(const Tensor& x, int block, Where where = Where::current());
// x: [N, C block^2, H, W], C a number or a formula that shows it; y: [N, C, H block, W block].
Tensor pixel_shuffle(const Tensor& x, int block, Where where = Where::current());

}  // namespace ashlar::ops
