// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Quantized operators on 8- and 4-bit numbers: conversion from and to floats, matrix multiplications and convolutions in exact
// integers, and requantization of their 32-bit sums to 8 bits.
//
//   real = scale (q - zero)
//
//   Tensor q = ops::quantize(x, scale, zero, i8);
//   Tensor y = ops::requantize(ops::quantized_matmul(a, b, {.a_zero = za}), multiplier, shift, zero, i8);
//
// A scale or zero point applies to the whole tensor (a number or a Scalar) or to each channel (a tensor [C], with the channels'
// dimension given by `axis`). PerChannel accepts either.
#include <ashlar/ops/conv.h>
#include <ashlar/ops/reduce.h>

namespace ashlar::ops {

// One value, or one for each channel.
class PerChannel {
 public:
  PerChannel(Operand value) : value_(value) {}
  PerChannel(const Expr& value, Where where = Where::current()) : value_(value, where) {}
  template <Number T>
  PerChannel(T value, Where where = Where::current()) : value_(value, where) {}
  PerChannel(const Tensor& of_channels) : value_(0), tensor_(of_channels) {}
  bool of_channels() const { return !tensor_.empty(); }
  const Tensor& tensor() const { return tensor_; }
  const Operand& number() const { return value_; }
  // The value for channel c, in the given type.
  Expr at(const Expr& c, Type type, Where where) const {
    return tensor_.empty() ? type(value_) : type(Operand(tensor_(c), where));
  }
  bool is_zero() const { return tensor_.empty() && value_.is_number() && value_.integer() == 0 && value_.real() == 0; }

 private:
  Operand value_;
  Tensor tensor_;
};

namespace detail {

void expect_channels(const char* op, const char* argument, const PerChannel& p, const Expr& channels, Where where);
void expect_bytes(const char* op, const char* argument, Type t, Where where);

}  // namespace detail

// saturate(round(x / scale) + zero), with ties to even, like ONNX's QuantizeLinear. NaN gives `zero`. `axis` is the channels'
// dimension.
Tensor quantize(const Tensor& x, const PerChannel& scale, const PerChannel& zero, Type type, int axis = 0,
                Where where = Where::current());
// scale (q - zero), in f32.
Tensor dequantize(const Tensor& q, const PerChannel& scale, const PerChannel& zero, int axis = 0,
                  Where where = Where::current());
// Quantizes to u8 with a scale that covers 0 and all elements of x, like ONNX's DynamicQuantizeLinear. If all elements are
// zero, the scale is 1.
struct DynamicQuantized {
  Tensor minimum, maximum, scale, zero, result;  // scale (f32) and zero (i32) have one element
  operator Tensor() const { return result; }
};
DynamicQuantized quantize_dynamic(const Tensor& x, Where where = Where::current());

// saturate(zero + round(round(acc multiplier / 2^31) / 2^shift)), in integers only (Jacob et al., 2018). acc: i32; multiplier
// and shift: i32, for dimension `axis` if they are per channel; shift is 0 to 31. Both roundings round ties up, as ARM's
// SQRDMULH and SRSHL do. The reference implementations of gemmlowp and TFLite round ties of the second quotient away from zero,
// so they give one less for negative ties.
Tensor requantize(const Tensor& acc, const PerChannel& multiplier, const PerChannel& shift, const PerChannel& zero, Type type,
                  int axis = -1, Where where = Where::current());
// The same with a scale in f32: saturate(round(acc scale) + zero).
Tensor requantize_by_scale(const Tensor& acc, const PerChannel& scale, const PerChannel& zero, Type type, int axis = -1,
                           Where where = Where::current());

// ---- matrix multiplications and convolutions -------------------------------------------------------------------------------

// The sum of (a - a_zero)(b - b_zero) in i32, starting from the bias ([N], i32) if there is one; like ONNX's MatMulInteger. It
// is exact if it fits; even two products of 16-bit integers may overflow. a: [..., M, K], b: [K, N], signed or unsigned
// integers of at most 16 bits. b_zero may have one value for each column.
struct QuantizedMatmulOptions {
  PerChannel a_zero = 0, b_zero = 0;
  bool transpose_b = false;  // b: [N, K]
};
Tensor quantized_matmul(const Tensor& a, const Tensor& b, const QuantizedMatmulOptions& o = {}, const Tensor& bias = Tensor(),
                        Where where = Where::current());
// conv2d in i32, like ONNX's ConvInteger: the sum of (x - x_zero)(w - w_zero), exact if it fits. The image is padded with
// x_zero. x and w: integers of at most 16 bits; bias: i32. w_zero may have one value for each output channel.
struct QuantizedConvOptions {
  Conv2dOptions conv{};
  PerChannel x_zero = 0, w_zero = 0;
};
namespace detail {

template <class F>
Tensor quantized_window(const char* op, const Tensor& x, const Tensor& w, const Tensor& bias, const PerChannel& x_zero,
                        const PerChannel& w_zero, const Expr& channels, Where where, F convolve_with) {
  expect_bytes(op, "x", x.type(where), where);
  expect_bytes(op, "w", w.type(where), where);
  expect(!x_zero.of_channels(), op, "an x_zero of the whole tensor", "one of channels", where);
  expect_channels(op, "w_zero", w_zero, channels, where);
  if (!bias.empty()) expect_type(op, "bias", bias, i32, where);
  const Expr zero = x_zero.at(Expr(), i32, where);
  return convolve_with(Operand(saturate(x.type(where), zero), where), [&](const Expr& a, const Expr& b, const Expr& o) {
    const Expr p = x_zero.is_zero() ? i32(a) : i32(a) - zero, q = w_zero.is_zero() ? i32(b) : i32(b) - w_zero.at(o, i32, where);
    return p * q;
  });
}
}  // namespace detail

Tensor quantized_conv2d(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(), const QuantizedConvOptions& o = {},
                        Where where = Where::current());
struct QuantizedDepthwiseOptions {
  DepthwiseOptions conv{};
  PerChannel x_zero = 0, w_zero = 0;
};
Tensor quantized_depthwise_conv2d(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(),
                                  const QuantizedDepthwiseOptions& o = {}, Where where = Where::current());

// ---- 4-bit weights ---------------------------------------------------------------------------------------------------------

// W: [N, K], i4 or u4. `group` neighbors in a row share a scale and a zero point. scale: [N, K / group], f32. zero: the same
// shape, u4; Tensor() stands for 0 with i4 and for 8 with u4. K must be a known multiple of the group.
Tensor int4_dequantize(const Tensor& W, const Tensor& scale, const Tensor& zero, int group, Where where = Where::current());
// y = x W'. x: [..., K], floats; sums are in accumulator(type).
struct Int4Matmul {
  Tensor weights, sum, result;  // weights: [N, K], f32
  operator Tensor() const { return result; }
};
Int4Matmul int4_matmul(const Tensor& x, const Tensor& W, const Tensor& scale, const Tensor& zero = Tensor(), int group = 32,
                       Where where = Where::current());
// The same for a vector x of bytes, [K], with its own scale. The products of one group are summed exactly, as integers, and
// each sum is scaled once.
struct Int4Gemv {
  Tensor part, total, result;  // part: [N, K / group], i32; total: f32, before multiplication by x_scale
  operator Tensor() const { return result; }
};
Int4Gemv int4_gemv(const Tensor& W, const Tensor& scale, const Tensor& x, Operand x_scale, int group = 32,
                   const Tensor& zero = Tensor(), Where where = Where::current());
// conv2d with 4-bit weights and one scale for each output channel. x: floats; w: i4, in the layout of conv.h; scale: [O].
Convolution int4_conv2d(const Tensor& x, const Tensor& w, const Tensor& scale, const Tensor& bias = Tensor(),
                        const Conv2dOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::ops
