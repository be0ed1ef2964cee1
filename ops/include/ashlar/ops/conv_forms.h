// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Transposed convolutions, and two other ways to compute a convolution: as one matrix multiplication (im2col), and by
// Winograd's minimal filtering.
#include <ashlar/ops/conv.h>

namespace ashlar::ops {

// ---- transposed ------------------------------------------------------------------------------------------------------------
// The derivative of a convolution with respect to its image, like PyTorch's ConvTranspose: each element of x contributes to a
// window of y.
//
//   y(p) = sum of x(i) w(k) over all i stride + k dilation - before = p
//   OH = (H - 1) stride - before - after + dilation (R - 1) + 1 + output_padding
//
// channels_first: x [N, C, H, W], w [C, O / groups, R, S]; channels_last: x [N, H, W, C], w [R, S, O, C], one group. bias: [O].
// Each call refuses a negative OH. If the dilation is 1 and the window has constant extents no smaller than the stride, there
// is one sum for each remainder q % stride (`phases`), and x is surrounded by zeros (`rim`), which are multiplied as in conv2d.
template <std::size_t N>
struct ConvTransposeOptions {
  std::array<int, N> stride = detail::ones<N>();
  std::array<Pad, N> padding{};
  std::array<int, N> output_padding{};  // less than the stride or than the dilation
  std::array<int, N> dilation = detail::ones<N>();
  int groups = 1;
  Layout layout = Layout::channels_first;
};

Convolution conv_transpose1d(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(),
                             const ConvTransposeOptions<1>& o = {}, Where where = Where::current());
Convolution conv_transpose2d(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(),
                             const ConvTransposeOptions<2>& o = {}, Where where = Where::current());
Convolution conv_transpose3d(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(),
                             const ConvTransposeOptions<3>& o = {}, Where where = Where::current());

// ---- im2col ----------------------------------------------------------------------------------------------------------------
// conv2d as a matrix multiplication. A row of `columns`, [N, OH, OW, C R S], holds the elements under one window in the order
// of w. The result, [N, O, OH, OW], is their product with w seen as [O, C R S] (Chellapilla, Puri and Simard, 2006). NCHW, one
// group; R and S are numbers.
struct ConvolutionIm2col {
  Tensor columns, sum, result;
  operator Tensor() const { return result; }
};
Tensor im2col(const Tensor& x, int r, int s, const Conv2dOptions& o = {}, Where where = Where::current());
ConvolutionIm2col conv2d_im2col(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(), const Conv2dOptions& o = {},
                                Where where = Where::current());

// ---- Winograd --------------------------------------------------------------------------------------------------------------

// A 3x3 convolution of stride 1, computed in tiles of 2x2 or 4x4 results with 16 or 36 multiplications instead of 36 or 144
// (Winograd, 1980; Lavin and Gray, Fast algorithms for convolutional neural networks, 2016). NCHW, f32 or f64. The larger tile
// loses about one decimal digit.
//
//   filters [t, t, O, C] = G w G'                 t = tile + 2; depends only on the weights
//   tiles [t, t, N, C, TH, TW] = B' d B           d: the t x t elements under a tile
//   products [t, t, N, O, TH, TW] = sum over c of filters tiles        t^2 matrix multiplications
//   result = A' products A
struct ConvolutionWinograd {
  Tensor filters, tiles, products, result;
  operator Tensor() const { return result; }
};
enum class WinogradTile { two = 2, four = 4 };
ConvolutionWinograd conv2d_winograd(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(),
                                    const std::array<Pad, 2>& padding = {}, WinogradTile tile = WinogradTile::four,
                                    Where where = Where::current());

}  // namespace ashlar::ops
