// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions.
#include "generators/chain.h"
#include "generators/image_shapes.h"

namespace ashlar::generators {

namespace {

template <std::size_t Dims>
class Conv : public ChainedOp {
 public:
  Conv() {
    constexpr int n = static_cast<int>(Dims);
    const Param<Type> type = type_param(Kind::numbers);
    const LayoutParam layout(n);
    Extents extents;
    const Expr N = extents["N"], C = extents[layout.blocked() ? "CB" : "C"], O = extents[layout.blocked() ? "OB" : "O"];
    const std::vector<Extent> image_sides = sides(extents, n);
    const NumbersParam window("window", n, 3, 1, "extents of the window");
    const NumbersParam stride("stride", n, 1, 1, "elements from one window to the next"),
        dilation("dilation", n, 1, 1, "distance between neighbors within the window");
    const PaddingParam padding(n);
    const Param<int> groups{"groups", 1, between(1, 1 << 20),
                            "groups of channels; if there are several, C and O must be numbers"};
    const Param<bool> with_bias{"bias", true, "add a bias [O]"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    require(groups == 1 ||
                (number(C) > 0 && number(O) > 0 && number(C) % groups == 0 && number(O) % groups == 0 && !layout.blocked()),
            "groups", "1, or what divides C and O, which are numbers then, in a layout without blocks");
    const bool grouped = groups > 1 && number(C) > 0;
    const Expr in = grouped ? ir::index(number(C) / groups) : C;
    const Tensor x = input("x", type, image(N, C, image_sides, layout));
    const Tensor w = input("w", type, weights(O, in, as_extents(window.of<Dims>()), layout));
    const Tensor b = with_bias ? input("b", type, per_channel(O, layout)) : Tensor();
    ops::ConvOptions<Dims> o;
    o.stride = stride.of<Dims>(), o.dilation = dilation.of<Dims>(), o.groups = groups, o.layout = *layout;
    o.padding = padding.of(window.of<Dims>(), o.dilation);
    const ops::Convolution y = decided_by("window", [&] { return apply_conv(apply(prologue, x), w, b, o); });
    output("y", finish(epilogue, y.sum, y.result, {type, layout.channels()}));
  }

 private:
  static ops::Convolution apply_conv(const Tensor& x, const Tensor& w, const Tensor& b, const ops::ConvOptions<Dims>& o) {
    if constexpr (Dims == 1) return ops::conv1d(x, w, b, o);
    if constexpr (Dims == 2) return ops::conv2d(x, w, b, o);
    if constexpr (Dims == 3) return ops::conv3d(x, w, b, o);
  }
};
ASHLAR_GENERATOR(Conv<1>, "conv1d", "convolutions", "y = x * w + b; x [N, C, W], w [O, C, S], b [O]");
ASHLAR_GENERATOR(Conv<2>, "conv2d", "convolutions", "y = x * w + b; x [N, C, H, W], w [O, C, R, S], b [O]");
ASHLAR_GENERATOR(Conv<3>, "conv3d", "convolutions", "y = x * w + b; x [N, C, D, H, W], w [O, C, Q, R, S], b [O]");

class DepthwiseConv2d : public ChainedOp {
 public:
  DepthwiseConv2d() {
    const Param<Type> type = type_param(Kind::numbers);
    const LayoutParam layout(2);
    Extents extents;
    const Expr N = extents["N"], C = extents[layout.blocked() ? "CB" : "C"];
    const std::vector<Extent> image_sides = sides(extents, 2);
    const NumbersParam window("window", 2, 3, 1, "extents of the window");
    const NumbersParam stride("stride", 2, 1, 1, "elements from one window to the next"),
        dilation("dilation", 2, 1, 1, "distance between neighbors within the window");
    const PaddingParam padding(2);
    const Param<int> multiplier{"multiplier", 1, between(1, 1 << 20),
                                "channels of y for each channel of x; 1 in a blocked layout"};
    const Param<bool> with_bias{"bias", true, "add a bias for each channel of y"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    require(multiplier == 1 || !layout.blocked(), "multiplier", "1 in a blocked layout");
    const Expr O = ops::detail::plain(C * *multiplier);
    const Tensor x = input("x", type, image(N, C, image_sides, layout));
    std::vector<Extent> of_w = as_extents(window.of<2>());
    if (*layout == ops::Layout::channels_last)
      of_w.emplace_back(C), of_w.emplace_back(*multiplier);
    else
      of_w.insert(of_w.begin(), {Extent(O), Extent(1)});
    if (layout.blocked()) of_w.emplace_back(1), of_w.emplace_back(layout.block());
    const Tensor w = input("w", type, of_w);
    const Tensor b = with_bias ? input("b", type, per_channel(O, layout)) : Tensor();
    const std::array<int, 2> dilations = dilation.of<2>();
    const ops::Convolution y = decided_by("window", [&] {
      return ops::depthwise_conv2d(apply(prologue, x), w, b,
                                   {.stride = stride.of<2>(),
                                    .padding = padding.of(window.of<2>(), dilations),
                                    .dilation = dilations,
                                    .multiplier = multiplier,
                                    .layout = *layout});
    });
    output("y", finish(epilogue, y.sum, y.result, {type, layout.channels()}));
  }
};
ASHLAR_GENERATOR(DepthwiseConv2d, "depthwise_conv2d", "convolutions", "y = each channel of x * its own w, + b; w [C, 1, R, S]");

template <std::size_t Dims>
class ConvTranspose : public ChainedOp {
 public:
  ConvTranspose() {
    constexpr int n = static_cast<int>(Dims);
    const Param<Type> type = type_param(Kind::numbers);
    const LayoutParam layout(n, false);
    const bool last = *layout == ops::Layout::channels_last;
    Extents extents({.min = 1});
    const Expr N = extents["N"], C = extents["C"], O = extents["O"];
    const std::vector<Extent> image_sides = sides(extents, n);
    const NumbersParam window("window", n, 3, 1, "extents of the window");
    const NumbersParam stride("stride", n, 1, 1, "elements from one window to the next"),
        dilation("dilation", n, 1, 1, "distance between neighbors within the window");
    const PaddingParam padding(n, "0", false);
    const NumbersParam more("output_padding", n, 0, 0,
                            "additional elements at the end of y; less than the stride or the dilation");
    const Param<int> groups{"groups", 1, between(1, 1 << 20),
                            "groups of channels; if there are several, C and O must be numbers and the layout nchw"};
    const Param<bool> with_bias{"bias", true, "add a bias [O]"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    require(groups == 1 || (number(C) > 0 && number(O) > 0 && number(C) % groups == 0 && number(O) % groups == 0 && !last),
            "groups", "1, or what divides C and O, which are numbers then, with the channels in front");
    ops::ConvTransposeOptions<Dims> o;
    o.stride = stride.of<Dims>(), o.dilation = dilation.of<Dims>(), o.output_padding = more.of<Dims>(), o.layout = *layout;
    o.groups = groups, o.padding = padding.of(window.of<Dims>(), o.dilation);
    for (std::size_t d = 0; d < Dims; ++d)
      require(o.output_padding[d] < std::max(o.stride[d], o.dilation[d]), "output_padding",
              "less than the stride or the dilation");
    const bool grouped = groups > 1 && number(O) > 0;
    const Expr each = grouped ? ir::index(number(O) / groups) : O;
    const Tensor x = input("x", type, image(N, C, image_sides, layout));
    std::vector<Extent> of_w = as_extents(window.of<Dims>());
    if (last)
      of_w.emplace_back(O), of_w.emplace_back(C);
    else
      of_w.insert(of_w.begin(), {Extent(C), Extent(each)});
    const Tensor w = input("w", type, of_w);
    const Tensor b = with_bias ? input("b", type, {O}) : Tensor();
    const ops::Convolution y = decided_by("window", [&] { return apply_conv(apply(prologue, x), w, b, o); });
    output("y", finish(epilogue, y.sum, y.result, {type, layout.channels()}));
  }

 private:
  static ops::Convolution apply_conv(const Tensor& x, const Tensor& w, const Tensor& b,
                                     const ops::ConvTransposeOptions<Dims>& o) {
    if constexpr (Dims == 1) return ops::conv_transpose1d(x, w, b, o);
    if constexpr (Dims == 2) return ops::conv_transpose2d(x, w, b, o);
    if constexpr (Dims == 3) return ops::conv_transpose3d(x, w, b, o);
  }
};
ASHLAR_GENERATOR(ConvTranspose<1>, "conv_transpose1d", "convolutions",
                 "y = the derivative of conv1d with respect to its image; w [C, O, S]");
ASHLAR_GENERATOR(ConvTranspose<2>, "conv_transpose2d", "convolutions",
                 "y = the derivative of conv2d with respect to its image; w [C, O, R, S]");
ASHLAR_GENERATOR(ConvTranspose<3>, "conv_transpose3d", "convolutions",
                 "y = the derivative of conv3d with respect to its image; w [C, O, Q, R, S]");

// ---- other ways to the same ------------------------------------------------------------------------------------------------

class Conv2dIm2col : public ChainedOp {
 public:
  Conv2dIm2col() {
    const Param<Type> type = type_param(Kind::numbers);
    Extents extents({.min = 1});
    const Expr N = extents["N"], C = extents["C"], O = extents["O"], H = extents["H"], W = extents["W"];
    const NumbersParam window("window", 2, 3, 1, "extents of the window");
    const NumbersParam stride("stride", 2, 1, 1, "elements from one window to the next"),
        dilation("dilation", 2, 1, 1, "distance between neighbors within the window");
    const PaddingParam padding(2);
    const Param<bool> with_bias{"bias", true, "add a bias [O]"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, {N, C, H, W}), w = input("w", type, {O, C, window[0], window[1]});
    const Tensor b = with_bias ? input("b", type, {O}) : Tensor();
    const auto y = decided_by("window", [&] {
      return ops::conv2d_im2col(
          apply(prologue, x), w, b,
          {.stride = stride.of<2>(), .padding = padding.of(window.of<2>(), dilation.of<2>()), .dilation = dilation.of<2>()});
    });
    output("y", finish(epilogue, y.sum, y.result, {type, {1}}));
  }
};
ASHLAR_GENERATOR(Conv2dIm2col, "conv2d_im2col", "convolutions", "y = conv2d as a matrix multiplication");

class Im2col : public Op {
 public:
  Im2col() {
    const Param<Type> type = type_param(Kind::any);
    Extents extents({.min = 1});
    const Expr N = extents["N"], C = extents["C"], H = extents["H"], W = extents["W"];
    const NumbersParam window("window", 2, 3, 1, "extents R,S of the window");
    const NumbersParam stride("stride", 2, 1, 1, "elements from one window to the next"),
        dilation("dilation", 2, 1, 1, "distance between neighbors within the window");
    const PaddingParam padding(2);
    const Tensor x = input("x", type, {N, C, H, W});
    output("y", decided_by("window", [&] {
             return ops::im2col(x, window[0], window[1],
                                {.stride = stride.of<2>(),
                                 .padding = padding.of(window.of<2>(), dilation.of<2>()),
                                 .dilation = dilation.of<2>()});
           }));
  }
};
ASHLAR_GENERATOR(Im2col, "im2col", "convolutions",
                 "y = the elements under each window of x [N, C, H, W], as rows: [N, OH, OW, C R S]");

class Conv2dWinograd : public ChainedOp {
 public:
  Conv2dWinograd() {
    const Param<Type> type{"type", f32, {{f32, f64}}, "type of the elements"};
    Extents extents;
    const Expr N = extents["N"], C = extents["C"], O = extents["O"], H = extents["H"], W = extents["W"];
    const PaddingParam padding(2);
    const Param<int> tile{"tile", 4, {{2, 4}}, "results along a side of a tile"};
    const Param<bool> with_bias{"bias", true, "add a bias [O]"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, {N, C, H, W}), w = input("w", type, {O, C, 3, 3});
    const Tensor b = with_bias ? input("b", type, {O}) : Tensor();
    const auto y = decided_by("padding", [&] {
      return ops::conv2d_winograd(apply(prologue, x), w, b, padding.of(std::array{3, 3}, std::array{1, 1}),
                                  tile == 2 ? ops::WinogradTile::two : ops::WinogradTile::four);
    });
    output("y", finish(epilogue, y.result, y.result, {type, {1}}));
  }
};
ASHLAR_GENERATOR(Conv2dWinograd, "conv2d_winograd", "convolutions",
                 "y = conv2d with a 3x3 window and stride 1, by Winograd's minimal filtering");

}  // namespace

}  // namespace ashlar::generators
