// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling.
#include "generators/chain.h"
#include "generators/image_shapes.h"

namespace ashlar::generators {

namespace {

template <std::size_t Dims, bool largest>
class Pool : public ChainedOp {
 public:
  Pool() {
    constexpr int n = static_cast<int>(Dims);
    const Param<Type> type = type_param(largest ? Kind::numbers : Kind::floats);
    const LayoutParam layout(n, false);
    Extents extents;
    const Expr N = extents["N"], C = extents["C"];
    const std::vector<Extent> image_sides = sides(extents, n);
    const NumbersParam window("window", n, 2, 1, "extents of the window"),
        stride("stride", n, 0, 0, "elements from one window to the next; 0: the window's extents"),
        dilation("dilation", n, 1, 1, "distance between neighbors within the window");
    const PaddingParam padding(n, "0", false);
    const Param<bool> ceil{"ceil", false, "the last window may extend past the end"};
    ops::PoolOptions<Dims> o;
    if constexpr (!largest) o.count_padding = *Param<bool>{"count_padding", true, "padding counts as elements of 0"};
    const Chain epilogue(Chain::Place::epilogue);
    o.window = window.of<Dims>(), o.stride = stride.of<Dims>(), o.dilation = dilation.of<Dims>();
    o.padding = padding.of(o.window, o.dilation), o.ceil = ceil, o.layout = *layout;
    for (std::size_t d = 0; d < Dims; ++d)
      require(std::max(o.padding[d].before, o.padding[d].after) < o.dilation[d] * (o.window[d] - 1) + 1, "padding",
              "less than the window, dilated");
    const Tensor x = input("x", type, image(N, C, image_sides, layout));
    const Tensor y = decided_by("window", [&] { return pooled(x, o); });
    output("y", finish(epilogue, y, y, {type, layout.channels()}));
  }

 private:
  static Tensor pooled(const Tensor& x, const ops::PoolOptions<Dims>& o) {
    if constexpr (largest && Dims == 1) return ops::max_pool1d(x, o);
    if constexpr (largest && Dims == 2) return ops::max_pool2d(x, o);
    if constexpr (largest && Dims == 3) return ops::max_pool3d(x, o);
    if constexpr (!largest && Dims == 1) return ops::average_pool1d(x, o);
    if constexpr (!largest && Dims == 2) return ops::average_pool2d(x, o);
    if constexpr (!largest && Dims == 3) return ops::average_pool3d(x, o);
  }
};
using MaxPool1d = Pool<1, true>;
using MaxPool2d = Pool<2, true>;
using MaxPool3d = Pool<3, true>;
using AveragePool1d = Pool<1, false>;
using AveragePool2d = Pool<2, false>;
using AveragePool3d = Pool<3, false>;
ASHLAR_GENERATOR(MaxPool1d, "max_pool1d", "pooling", "y = the largest element under each window; x [N, C, W]");
ASHLAR_GENERATOR(MaxPool2d, "max_pool2d", "pooling", "y = the largest element under each window; x [N, C, H, W]");
ASHLAR_GENERATOR(MaxPool3d, "max_pool3d", "pooling", "y = the largest element under each window; x [N, C, D, H, W]");
ASHLAR_GENERATOR(AveragePool1d, "average_pool1d", "pooling", "y = the mean under each window; x [N, C, W]");
ASHLAR_GENERATOR(AveragePool2d, "average_pool2d", "pooling", "y = the mean under each window; x [N, C, H, W]");
ASHLAR_GENERATOR(AveragePool3d, "average_pool3d", "pooling", "y = the mean under each window; x [N, C, D, H, W]");

template <bool largest>
class GlobalPool : public Op {
 public:
  GlobalPool() {
    const Param<Type> type = type_param(largest ? Kind::numbers : Kind::floats);
    const LayoutParam layout(2, false);
    Extents extents;
    const Tensor x = input("x", type, image(extents["N"], extents["C"], sides(extents, 2), layout));
    output("y", largest ? Tensor(ops::global_max_pool(x, *layout)) : Tensor(ops::global_average_pool(x, *layout)));
  }
};
ASHLAR_GENERATOR(GlobalPool<true>, "global_max_pool", "pooling", "y = the largest element of each channel; x [N, C, H, W]");
ASHLAR_GENERATOR(GlobalPool<false>, "global_average_pool", "pooling", "y = the mean of each channel; x [N, C, H, W]");

template <bool largest>
class AdaptivePool2d : public Op {
 public:
  AdaptivePool2d() {
    const Param<Type> type = type_param(largest ? Kind::numbers : Kind::floats);
    Extents extents({.min = 1});
    const Expr N = extents["N"], C = extents["C"], H = extents["H"], W = extents["W"];
    const NumbersParam to("to", 2, 7, 1, "extents of the result");
    const Tensor x = input("x", type, {N, C, H, W});
    const Expr rows = ir::index(to[0]), columns = ir::index(to[1]);
    output("y", largest ? Tensor(ops::adaptive_max_pool2d(x, rows, columns))
                        : Tensor(ops::adaptive_average_pool2d(x, rows, columns)));
  }
};
ASHLAR_GENERATOR(AdaptivePool2d<true>, "adaptive_max_pool2d", "pooling",
                 "y = the largest element of each window of a grid that covers the image");
ASHLAR_GENERATOR(AdaptivePool2d<false>, "adaptive_average_pool2d", "pooling",
                 "y = the mean of each window of a grid that covers the image");

}  // namespace

}  // namespace ashlar::generators
