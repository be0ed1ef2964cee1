// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/pool.h>

namespace ashlar::ops {

namespace {

using namespace detail;

template <std::size_t N>
struct Pooling {
  Placed p;
  Windows s;
  std::vector<Expr> image;  // of the result
  std::vector<Axis> axes;
  Shape shape;

  Pooling(const char* op, const Tensor& x, const PoolOptions<N>& o, Where where)
      : p{o.layout, static_cast<int>(N)}, shape(x.shape(where)) {
    expect(!p.blocked(), op, "the layout channels_first or channels_last", "channels_blocked", where);
    expect_rank(op, "x", x, p.rank_x(), where);
    std::array<int, N> stride = o.stride;
    for (std::size_t d = 0; d < N; ++d) {
      expect(o.window[d] >= 1, op, "windows of at least 1", std::to_string(o.window[d]), where);
      expect(o.padding[d].before < o.dilation[d] * (o.window[d] - 1) + 1 &&
                 o.padding[d].after < o.dilation[d] * (o.window[d] - 1) + 1,
             op, "paddings less than the window", std::to_string(std::max(o.padding[d].before, o.padding[d].after)), where);
      if (stride[d] == 0) stride[d] = o.window[d];
    }
    s = windows(op, stride, o.padding, o.dilation, where);
    for (std::size_t d = 0; d < N; ++d) {
      const int dim = p.image() + static_cast<int>(d);
      const Expr extent = x.extent(dim, where);
      Expr count = window_count(extent, ir::index(o.window[d]), s, d, o.ceil);
      if (o.ceil && s.stride[d] > 1)
        count = plain(ashlar::min(count, (extent + (s.padding[d].before + s.stride[d] - 1)) / s.stride[d]));
      image.push_back(count);
      axes.emplace_back("r", Operand(o.window[d], where), where);
      shape = shape.with(dim, count, where);
    }
  }
  // The element of x under the window of i, and which one it is along each dimension of the image.
  Indices element(const Indices& i) const {
    Indices at = i;
    for (std::size_t d = 0; d < N; ++d) at = at.with(p.image() + static_cast<int>(d), place(i, d));
    return at;
  }
  Expr place(const Indices& i, std::size_t d) const { return under(i[p.image() + static_cast<int>(d)], axes[d], s, d); }
};

// x with `value` outside, in the dimensions of the image.
template <std::size_t N>
Tensor surrounded(const Tensor& x, const Pooling<N>& w, bool ceil, Operand value) {
  Tensor t = x;
  for (std::size_t d = 0; d < N; ++d)
    if (ceil || w.s.padding[d].before > 0 || w.s.padding[d].after > 0)
      t = boundary::constant(t, value, {w.p.image() + static_cast<int>(d)});
  return t;
}

template <std::size_t N>
Tensor max_pool(const char* op, const Tensor& x, const PoolOptions<N>& o, Where where) {
  expect_numbers(op, "x", x, where);
  const Pooling<N> w(op, x, o, where);
  const Tensor around = surrounded(x, w, o.ceil, lowest(x.type(where)));
  return compute(op, w.shape, [&](Indices i) { return maximum(around(w.element(i), where), AxisList(w.axes), where); }, where);
}

template <std::size_t N>
Pooled average_pool(const char* op, const Tensor& x, const PoolOptions<N>& o, Where where) {
  expect_float(op, "x", x, where);
  const Pooling<N> w(op, x, o, where);
  const Type type = x.type(where), wide = accumulator(type);
  const Tensor around = surrounded(x, w, o.ceil, 0);
  Pooled y;
  y.accumulated = compute(
      op, w.shape, [&](Indices i) { return ashlar::sum(wide(around(w.element(i), where)), AxisList(w.axes), where); }, where);
  y.result = compute(
      op, w.shape,
      [&](Indices i) {
        Expr count = ir::index(1);
        for (std::size_t d = 0; d < N; ++d) {
          const int dim = w.p.image() + static_cast<int>(d);
          const Expr extent = x.extent(dim, where), begin = i[dim] * w.s.stride[d] - w.s.padding[d].before;
          const int step = w.s.dilation[d], span = step * (o.window[d] - 1) + 1;
          Expr in = ir::index(o.window[d]);  // how many of the window's elements count
          if (o.count_padding) {
            if (o.ceil) in = ashlar::min(in, (extent + w.s.padding[d].after - begin + (step - 1)) / step);
          } else if (o.ceil || w.s.padding[d].before > 0 || w.s.padding[d].after > 0) {
            const Expr before = ashlar::max((-begin + (step - 1)) / step, 0);
            const Expr behind = ashlar::max((begin + span - extent + (step - 1)) / step, 0);
            in = in - before - behind;
          }
          count = ir::mul(count, in);
        }
        return type(y.accumulated(i, where) / wide(count));
      },
      where);
  return y;
}

}  // namespace

Tensor max_pool1d(const Tensor& x, const PoolOptions<1>& o, Where where) { return max_pool("max_pool1d", x, o, where); }
Tensor max_pool2d(const Tensor& x, const PoolOptions<2>& o, Where where) { return max_pool("max_pool2d", x, o, where); }
Tensor max_pool3d(const Tensor& x, const PoolOptions<3>& o, Where where) { return max_pool("max_pool3d", x, o, where); }
Pooled average_pool1d(const Tensor& x, const PoolOptions<1>& o, Where where) {
  return average_pool("average_pool1d", x, o, where);
}
Pooled average_pool2d(const Tensor& x, const PoolOptions<2>& o, Where where) {
  return average_pool("average_pool2d", x, o, where);
}
Pooled average_pool3d(const Tensor& x, const PoolOptions<3>& o, Where where) {
  return average_pool("average_pool3d", x, o, where);
}

namespace {

ReduceOptions whole_image(const char* op, const Tensor& x, Layout layout, Where where) {
  expect_rank_from(op, "x", x, 3, where);
  expect(layout != Layout::channels_blocked, op, "the layout channels_first or channels_last", "channels_blocked", where);
  ReduceOptions o{.axes = {}, .keep_dims = true};
  const int first = layout == Layout::channels_first ? 2 : 1;
  for (int d = 0; d < x.rank(where) - 2; ++d) o.axes.push_back(first + d);
  return o;
}
}  // namespace

Reduced global_average_pool(const Tensor& x, Layout layout, Where where) {
  detail::expect_float("global_average_pool", "x", x, where);
  return reduce_mean(x, whole_image("global_average_pool", x, layout, where), where);
}
Tensor global_max_pool(const Tensor& x, Layout layout, Where where) {
  return reduce_max(x, whole_image("global_max_pool", x, layout, where), where);
}

namespace {

struct AdaptiveWindow {
  Expr begin, end;
  AdaptiveWindow(const Expr& o, const Expr& extent, const Expr& count)
      : begin(ashlar::max(o * extent / count, 0)), end(ashlar::min(((o + 1) * extent + count - 1) / count, extent)) {}
};
}  // namespace

Pooled adaptive_average_pool2d(const Tensor& x, const Extent& rows_of_y, const Extent& columns_of_y, Where where) {
  const Expr &height = rows_of_y.end(), &width = columns_of_y.end();
  detail::expect_float("adaptive_average_pool2d", "x", x, where);
  detail::expect_rank("adaptive_average_pool2d", "x", x, 4, where);
  const auto e = detail::extents(x, where);
  const Type type = x.type(where), wide = accumulator(type);
  Pooled y;
  y.accumulated = compute(
      "adaptive_average_pool2d", {{"n", e[0]}, {"c", e[1]}, {"h", height}, {"w", width}},
      [&](Var n, Var c, Var h, Var w) {
        const AdaptiveWindow rows(h, e[2], height), columns(w, e[3], width);
        const Axis r{"r", rows.begin, rows.end, where}, s{"s", columns.begin, columns.end, where};
        return sum(wide(x(n, c, r, s)), {r, s}, where);
      },
      where);
  y.result = compute(
      "adaptive_average_pool2d", {{"n", e[0]}, {"c", e[1]}, {"h", height}, {"w", width}},
      [&](Var n, Var c, Var h, Var w) {
        const AdaptiveWindow rows(h, e[2], height), columns(w, e[3], width);
        return type(y.accumulated(n, c, h, w) / wide((rows.end - rows.begin) * (columns.end - columns.begin)));
      },
      where);
  return y;
}
Tensor adaptive_max_pool2d(const Tensor& x, const Extent& rows_of_y, const Extent& columns_of_y, Where where) {
  const Expr &height = rows_of_y.end(), &width = columns_of_y.end();
  detail::expect_numbers("adaptive_max_pool2d", "x", x, where);
  detail::expect_rank("adaptive_max_pool2d", "x", x, 4, where);
  const auto e = detail::extents(x, where);
  return compute(
      "adaptive_max_pool2d", {{"n", e[0]}, {"c", e[1]}, {"h", height}, {"w", width}},
      [&](Var n, Var c, Var h, Var w) {
        const AdaptiveWindow rows(h, e[2], height), columns(w, e[3], width);
        const Axis r{"r", rows.begin, rows.end, where}, s{"s", columns.begin, columns.end, where};
        return maximum(x(n, c, r, s), {r, s}, where);
      },
      where);
}

}  // namespace ashlar::ops
