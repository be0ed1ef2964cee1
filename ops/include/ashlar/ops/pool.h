// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Pooling: the largest element or the mean of each window, of the whole image, or of a grid of windows that covers it.
//
//   Tensor y = ops::max_pool2d(x, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
//
// Layouts: channels_first, [N, C, H, W], and channels_last, [N, H, W, C]. Elements outside x are ignored, except that a mean
// counts the padding as 0 unless .count_padding is off. The result has the extents of a convolution (conv.h). With .ceil, the
// last window may extend past the end if it begins inside x or the padding before it; elements beyond the padding never count.
// If a window contains NaN, its maximum is NaN. If a window contains no element of x (a dilated one in the padding), its
// maximum is the lowest value of the type, and its mean without .count_padding is NaN.
#include <ashlar/ops/reduce.h>
#include <ashlar/ops/shape.h>

namespace ashlar::ops {

template <std::size_t N>
struct PoolOptions {
  std::array<int, N> window = detail::ones<N>();
  std::array<int, N> stride{};  // 0: the window's extent
  std::array<Pad, N> padding{};
  std::array<int, N> dilation = detail::ones<N>();
  bool ceil = false;
  bool count_padding = true;  // a mean counts the padding as 0 (count_include_pad in PyTorch)
  Layout layout = Layout::channels_first;
};

struct Pooled {
  Tensor accumulated, result;  // sums in the accumulator; means in the type of x
  operator Tensor() const { return result; }
};

Tensor max_pool1d(const Tensor& x, const PoolOptions<1>& o, Where where = Where::current());
Tensor max_pool2d(const Tensor& x, const PoolOptions<2>& o, Where where = Where::current());
Tensor max_pool3d(const Tensor& x, const PoolOptions<3>& o, Where where = Where::current());
Pooled average_pool1d(const Tensor& x, const PoolOptions<1>& o, Where where = Where::current());
Pooled average_pool2d(const Tensor& x, const PoolOptions<2>& o, Where where = Where::current());
Pooled average_pool3d(const Tensor& x, const PoolOptions<3>& o, Where where = Where::current());

// Pools the whole image: the result is [N, C, 1, ...] or [N, 1, ..., C].
Reduced global_average_pool(const Tensor& x, Layout layout = Layout::channels_first, Where where = Where::current());
Tensor global_max_pool(const Tensor& x, Layout layout = Layout::channels_first, Where where = Where::current());

// Windows that divide the image into the given number of rows and columns: window o runs from floor(o H / OH) up to, but not
// including, ceil((o + 1) H / OH). x: [N, C, H, W].
Pooled adaptive_average_pool2d(const Tensor& x, const Extent& rows_of_y, const Extent& columns_of_y,
                               Where where = Where::current());
Tensor adaptive_max_pool2d(const Tensor& x, const Extent& rows_of_y, const Extent& columns_of_y,
                           Where where = Where::current());

}  // namespace ashlar::ops
