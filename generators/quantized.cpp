// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of 8 and 4 bits. Scales and zeros are inputs: Scalars, or with per_channel a vector over an axis.
#include "generators/chain.h"
#include "generators/image_shapes.h"

namespace ashlar::generators {

namespace {

Param<Type> byte_type(const char* name, Type fallback, const char* doc) { return {name, fallback, {{i8, u8, i16, u16}}, doc}; }

class QuantizedOp : public ChainedOp {
 protected:
  // A parameter of the whole tensor, or of each of its channels.
  ops::PerChannel per_channel_input(const char* name, Type type, bool channels, const Extent& extent) {
    return channels ? ops::PerChannel(input(name, type, {extent})) : ops::PerChannel(scalar(name, type));
  }
};

template <bool forwards>
class Quantize : public QuantizedOp {
 public:
  Quantize() {
    const Param<Type> to = byte_type("type", i8, forwards ? "type of y" : "type of q");
    Type from = f32;
    if (forwards) from = *type_param(Kind::floats, "from", "type of x");
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x and y", 1);
    const Param<bool> channels{"per_channel", false, "scale and zero are vectors over the axis"};
    const Param<int> axis = axis_param(static_cast<int>(shape.size()), 0);
    const int d = *axis < 0 ? *axis + static_cast<int>(shape.size()) : *axis;
    const Extent over = shape[static_cast<std::size_t>(d)];
    const Tensor x = input(forwards ? "x" : "q", forwards ? from : Type(to), shape);
    const ops::PerChannel scale = per_channel_input("scale", f32, channels, over),
                          zero = per_channel_input("zero", i32, channels, over);
    output("y", forwards ? ops::quantize(x, scale, zero, to, axis) : ops::dequantize(x, scale, zero, axis));
  }
};
ASHLAR_GENERATOR(Quantize<true>, "quantize", "quantized", "y = saturate(round(x / scale) + zero)");
ASHLAR_GENERATOR(Quantize<false>, "dequantize", "quantized", "y = scale (q - zero), in f32");

class QuantizeDynamic : public Op {
 public:
  QuantizeDynamic() {
    const Param<Type> type{"type", f32, {{f32}}, "type of x"};
    Extents extents;
    const ops::DynamicQuantized q = ops::quantize_dynamic(input("x", type, extents.shape("shape", "M,N", "shape of x and y")));
    output("y", q.result);
    output("scale", q.scale);
    output("zero", q.zero);
  }
};
ASHLAR_GENERATOR(QuantizeDynamic, "quantize_dynamic", "quantized",
                 "y, scale, zero = x as bytes, with a scale whose range covers all elements of x and 0");

class Requantize : public QuantizedOp {
 public:
  Requantize() {
    const Param<Type> type = byte_type("type", i8, "type of y");
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of acc and y", 1);
    const Param<bool> channels{"per_channel", false, "multiplier, shift and zero are vectors over the axis"};
    const Param<int> axis = axis_param(static_cast<int>(shape.size()));
    const Extent over = shape[static_cast<std::size_t>(*axis < 0 ? *axis + static_cast<int>(shape.size()) : *axis)];
    const Tensor acc = input("acc", i32, shape);
    const ops::PerChannel multiplier = per_channel_input("multiplier", i32, channels, over),
                          shift = per_channel_input("shift", i32, channels, over),
                          zero = per_channel_input("zero", i32, channels, over);
    output("y", ops::requantize(acc, multiplier, shift, zero, type, axis));
  }
};
ASHLAR_GENERATOR(Requantize, "requantize", "quantized",
                 "y = saturate(acc multiplier / 2^(31 + shift) + zero), in integers alone");

class RequantizeByScale : public QuantizedOp {
 public:
  RequantizeByScale() {
    const Param<Type> type = byte_type("type", i8, "type of y");
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of acc and y", 1);
    const Param<bool> channels{"per_channel", false, "scale and zero are vectors over the axis"};
    const Param<int> axis = axis_param(static_cast<int>(shape.size()));
    const Extent over = shape[static_cast<std::size_t>(*axis < 0 ? *axis + static_cast<int>(shape.size()) : *axis)];
    const Tensor acc = input("acc", i32, shape);
    const ops::PerChannel scale = per_channel_input("scale", f32, channels, over),
                          zero = per_channel_input("zero", i32, channels, over);
    output("y", ops::requantize_by_scale(acc, scale, zero, type, axis));
  }
};
ASHLAR_GENERATOR(RequantizeByScale, "requantize_by_scale", "quantized", "y = saturate(round(acc scale) + zero)");

class QuantizedMatmul : public QuantizedOp {
 public:
  QuantizedMatmul() {
    const Param<Type> type = byte_type("type", u8, "type of a"), b_type = byte_type("b_type", i8, "type of b");
    Extents extents;
    const Expr M = extents["M"], N = extents["N"], K = extents["K"];
    const Param<bool> transpose_b{"transpose_b", false, "b is [N, K]"}, with_bias{"bias", false, "add a bias [N] of i32"},
        zeros{"zeros", true, "subtract a_zero and b_zero"}, columns{"per_channel", false, "b_zero is a vector [N]"};
    const Chain epilogue(Chain::Place::epilogue);
    const Tensor a = input("a", type, {M, K}),
                 b = input("b", b_type, transpose_b ? std::vector<Extent>{N, K} : std::vector<Extent>{K, N});
    ops::QuantizedMatmulOptions o;
    o.transpose_b = transpose_b;
    if (zeros) o.a_zero = scalar("a_zero", i32);
    if (zeros) o.b_zero = per_channel_input("b_zero", i32, columns, N);
    const Tensor bias = with_bias ? input("bias", i32, {N}) : Tensor();
    const Tensor y = ops::quantized_matmul(a, b, o, bias);
    output("y", finish(epilogue, y, y, {i32, {1}}));
  }
};
ASHLAR_GENERATOR(QuantizedMatmul, "quantized_matmul", "quantized", "y = sum of (a - a_zero) (b - b_zero), in i32");

class QuantizedConv2d : public QuantizedOp {
 public:
  QuantizedConv2d() {
    const Param<Type> type = byte_type("type", u8, "type of x"), w_type = byte_type("w_type", i8, "type of w");
    const LayoutParam layout(2);
    Extents extents;
    const Expr N = extents["N"], C = extents[layout.blocked() ? "CB" : "C"], O = extents[layout.blocked() ? "OB" : "O"];
    const std::vector<Extent> image_sides = sides(extents, 2);
    const NumbersParam window("window", 2, 3, 1, "extents of the window");
    const NumbersParam stride("stride", 2, 1, 1, "elements from one window to the next"),
        dilation("dilation", 2, 1, 1, "distance between neighbors within the window");
    const PaddingParam padding(2);
    const Param<bool> with_bias{"bias", true, "add a bias of i32 for each channel"},
        zeros{"zeros", true, "subtract x_zero and w_zero"}, channels{"per_channel", false, "w_zero is a vector [O]"};
    const Chain epilogue(Chain::Place::epilogue);
    require(!channels || !layout.blocked(), "per_channel", "false in a blocked layout");
    const Tensor x = input("x", type, image(N, C, image_sides, layout)),
                 w = input("w", w_type, weights(O, C, as_extents(window.of<2>()), layout));
    ops::QuantizedConvOptions o;
    o.conv.stride = stride.of<2>(), o.conv.dilation = dilation.of<2>(), o.conv.layout = *layout;
    o.conv.padding = padding.of(window.of<2>(), o.conv.dilation);
    if (zeros) o.x_zero = scalar("x_zero", i32);
    if (zeros) o.w_zero = per_channel_input("w_zero", i32, channels && !layout.blocked(), O);
    const Tensor b = with_bias ? input("b", i32, per_channel(O, layout)) : Tensor();
    const Tensor y = ops::quantized_conv2d(x, w, b, o);
    output("y", finish(epilogue, y, y, {i32, layout.channels()}));
  }
};
ASHLAR_GENERATOR(QuantizedConv2d, "quantized_conv2d", "quantized", "y = (x - x_zero) * (w - w_zero) + b, in i32");

class QuantizedDepthwise : public QuantizedOp {
 public:
  QuantizedDepthwise() {
    const Param<Type> type = byte_type("type", u8, "type of x"), w_type = byte_type("w_type", i8, "type of w");
    const LayoutParam layout(2, false);
    Extents extents;
    const Expr N = extents["N"], C = extents["C"];
    const std::vector<Extent> image_sides = sides(extents, 2);
    const NumbersParam window("window", 2, 3, 1, "extents of the window");
    const NumbersParam stride("stride", 2, 1, 1, "elements from one window to the next");
    const PaddingParam padding(2);
    const Param<bool> with_bias{"bias", true, "add a bias [C] of i32"},
        channels{"per_channel", false, "w_zero is a vector [C]"};
    const Chain epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, image(N, C, image_sides, layout));
    std::vector<Extent> of_w = as_extents(window.of<2>());
    if (*layout == ops::Layout::channels_last)
      of_w.emplace_back(C), of_w.emplace_back(1);
    else
      of_w.insert(of_w.begin(), {Extent(C), Extent(1)});
    const Tensor w = input("w", w_type, of_w);
    ops::QuantizedDepthwiseOptions o;
    o.conv.stride = stride.of<2>(), o.conv.layout = *layout, o.conv.padding = padding.of(window.of<2>(), std::array{1, 1});
    o.x_zero = scalar("x_zero", i32), o.w_zero = per_channel_input("w_zero", i32, channels, C);
    const Tensor b = with_bias ? input("b", i32, {C}) : Tensor();
    const Tensor y = ops::quantized_depthwise_conv2d(x, w, b, o);
    output("y", finish(epilogue, y, y, {i32, layout.channels()}));
  }
};
ASHLAR_GENERATOR(QuantizedDepthwise, "quantized_depthwise_conv2d", "quantized",
                 "y = each channel of (x - x_zero) * its own (w - w_zero), + b, in i32");

// ---- weights of 4 bits: W [N, K], scale [N, K / group], zero the same ------------------------------------------------------

class Int4Op : public QuantizedOp {
 protected:
  const Param<Type> w_type{"w_type", i4, {{i4, u4}}, "type of W"};
  const Param<int> group{"group", 32, between(1, 1 << 16), "neighbors in a row of W that share a scale"};
  Extents extents;
  const Expr N = extents["N"], G = extents["G"];  // G groups in a row
  const Expr K = ops::detail::plain(G * *group);
  const Param<bool> with_zero{"zero", false, "an input of u4 for each group; else 0 of i4, 8 of u4"};
  Tensor W() { return input("W", w_type, {N, K}); }
  Tensor scale() { return input("scale", f32, {N, G}); }
  Tensor zero() { return with_zero ? input("zero", u4, {N, G}) : Tensor(); }
};

class Int4Dequantize : public Int4Op {
 public:
  Int4Dequantize() {
    const Tensor w = W(), s = scale(), z = zero();
    output("y", ops::int4_dequantize(w, s, z, group));
  }
};
ASHLAR_GENERATOR(Int4Dequantize, "int4_dequantize", "quantized", "y = scale (W - zero), in f32; K = G * group");

class Int4MatmulOp : public Int4Op {
 public:
  Int4MatmulOp() {
    const Param<Type> type = type_param(Kind::floats, "type", "type of x and y");
    const Expr M = extents["M"];
    const Chain epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, {M, K}), w = W(), s = scale(), z = zero();
    const ops::Int4Matmul y = ops::int4_matmul(x, w, s, z, group);
    output("y", finish(epilogue, y.sum, y.result, {type, {1}}));
  }
};
ASHLAR_GENERATOR(Int4MatmulOp, "int4_matmul", "quantized", "y = x W'; x [M, K] of floats, W [N, K] of 4 bits, K = G * group");

class Int4GemvOp : public Int4Op {
 public:
  Int4GemvOp() {
    const Param<Type> type = byte_type("type", i8, "type of x");
    const Chain epilogue(Chain::Place::epilogue);
    const Tensor w = W(), s = scale(), z = zero(), x = input("x", type, {K});
    const Tensor y = ops::int4_gemv(w, s, x, scalar("x_scale", f32), group, z);
    output("y", finish(epilogue, y, y, {f32, {0}}));
  }
};
ASHLAR_GENERATOR(Int4GemvOp, "int4_gemv", "quantized", "y = x_scale W x; x [K] of bytes, W [N, K] of 4 bits, K = G * group");

class Int4Conv2d : public ChainedOp {
 public:
  Int4Conv2d() {
    const Param<Type> type = type_param(Kind::floats, "type", "type of x and y");
    const LayoutParam layout(2, false);
    Extents extents;
    const Expr N = extents["N"], C = extents["C"], O = extents["O"];
    const std::vector<Extent> image_sides = sides(extents, 2);
    const NumbersParam window("window", 2, 3, 1, "extents of the window");
    const NumbersParam stride("stride", 2, 1, 1, "elements from one window to the next"),
        dilation("dilation", 2, 1, 1, "distance between neighbors within the window");
    const PaddingParam padding(2);
    const Param<bool> with_bias{"bias", true, "add a bias [O]"};
    const Chain epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, image(N, C, image_sides, layout)),
                 w = input("w", i4, weights(O, C, as_extents(window.of<2>()), layout)), s = input("scale", f32, {O}),
                 b = with_bias ? input("b", type, {O}) : Tensor();
    const Tensor y = ops::int4_conv2d(x, w, s, b,
                                      {.stride = stride.of<2>(),
                                       .padding = padding.of(window.of<2>(), dilation.of<2>()),
                                       .dilation = dilation.of<2>(),
                                       .layout = *layout});
    output("y", finish(epilogue, y, y, {type, layout.channels()}));
  }
};
ASHLAR_GENERATOR(Int4Conv2d, "int4_conv2d", "quantized", "y = x * (w scale) + b; w of 4 bits, a scale for each channel of y");

}  // namespace

}  // namespace ashlar::generators
