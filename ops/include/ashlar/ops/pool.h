// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Pooling: the largest element or the mean under each window, of the whole image, of windows that divide it.
//
//   Tensor y = ops::max_pool2d(x, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
//
// Layouts channels_first, [N, C, H, W], and channels_last, [N, H, W, C], of any channels. What lies outside of x takes no part,
// but that a mean counts elements of the padding as 0, unless .count_padding is off. The extents of the result are those of a
// convolution (conv.h); with .ceil a last window may hang over the end, if it begins inside of x or the padding before it: what
// is behind the padding never counts. A NaN under a window is the maximum. Of a window without an element of x (dilated, in the
// padding) the maximum is the least value of the type, and the mean, where padding does not count, NaN.
#include <ashlar/ops/reduce.h>
#include <ashlar/ops/shape.h>

namespace ashlar::ops {

template <std::size_t N>
struct PoolOptions {
  std::array<int, N> window = detail::ones<N>();
  std::array<int, N> stride{};  // 0: as the window
  std::array<Pad, N> padding{};
  std::array<int, N> dilation = detail::ones<N>();
  bool ceil = false;
  bool count_padding = true;  // of a mean: elements of the padding count, as 0 (PyTorch's count_include_pad)
  Layout layout = Layout::channels_first;
};

struct Pooled {
  Tensor accumulated, result;  // the same tensor, where nothing is left to be done
  operator Tensor() const { return result; }
};

Tensor max_pool1d(const Tensor& x, const PoolOptions<1>& o, Where where = Where::current());
Tensor max_pool2d(const Tensor& x, const PoolOptions<2>& o, Where where = Where::current());
Tensor max_pool3d(const Tensor& x, const PoolOptions<3>& o, Where where = Where::current());
Pooled average_pool1d(const Tensor& x, const PoolOptions<1>& o, Where where = Where::current());
Pooled average_pool2d(const Tensor& x, const PoolOptions<2>& o, Where where = Where::current());
Pooled average_pool3d(const Tensor& x, const PoolOptions<3>& o, Where where = Where::current());

// Over the whole image: [N, C, 1, ...] or [N, 1, ..., C].
Reduced global_average_pool(const Tensor& x, Layout layout = Layout::channels_first, Where where = Where::current());
Tensor global_max_pool(const Tensor& x, Layout layout = Layout::channels_first, Where where = Where::current());

// Windows that divide the image into so many: window o runs from floor(o H / OH) to ceil((o + 1) H / OH), exclusive. [N, C, H,
// W].
Pooled adaptive_average_pool2d(const Tensor& x, const Extent& rows_of_y, const Extent& columns_of_y,
                               Where where = Where::current());
Tensor adaptive_max_pool2d(const Tensor& x, const Extent& rows_of_y, const Extent& columns_of_y,
                           Where where = Where::current());

}  // namespace ashlar::ops
