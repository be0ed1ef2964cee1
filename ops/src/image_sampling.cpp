// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/image_sampling.h>

namespace ashlar::ops {

namespace detail {

Expr sample(const Tensor& image, const Indices& i, const Expr& row, const Expr& column, const WarpOptions& o, Type wide,
            Where where) {
  const int r = image.rank(where) - 2;
  const Expr H = image.extent(r, where), W = image.extent(r + 1, where);
  const auto at = [&](const Expr& y, const Expr& x) {
    const Expr e = wide(image(i.with(r, ashlar::clamp(y, 0, H - 1)).with(r + 1, ashlar::clamp(x, 0, W - 1)), where));
    return o.repeat ? e : select(y >= 0 && y < H && x >= 0 && x < W, e, wide(o.outside));
  };
  // far beyond any image, but far from the ends of i32
  const auto near = [](const Expr& v) { return ashlar::clamp(select(isnan(v), f32(-1e9f), v), -1e9, 1e9); };
  if (o.sampling == Sampling::nearest) return at(i32(ashlar::floor(near(row) + 0.5)), i32(ashlar::floor(near(column) + 0.5)));
  const Expr top = ashlar::floor(near(row)), left = ashlar::floor(near(column)), y = i32(top), x = i32(left);
  const Expr fy = wide(near(row) - top), fx = wide(near(column) - left);
  const auto mix = [](const Expr& a, const Expr& b, const Expr& f) { return a + f * (b - a); };
  return mix(mix(at(y, x), at(y, x + 1), fx), mix(at(y + 1, x), at(y + 1, x + 1), fx), fy);
}

}  // namespace detail

Tensor remap(const Tensor& x, const Tensor& rows, const Tensor& columns, const WarpOptions& o, Where where) {
  detail::expect_type("remap", "rows", rows, f32, where);
  detail::expect_type("remap", "columns", columns, f32, where);
  detail::expect_rank("remap", "rows", rows, 2, where);
  detail::expect_shape("remap", "columns", columns, detail::extents(rows, where), "as rows has", where);
  return detail::warped("remap", x, rows.extent(0, where), rows.extent(1, where), o, where,
                        [&](const Expr& r, const Expr& c) { return std::array<Expr, 2>{rows(r, c), columns(r, c)}; });
}
Tensor warp_affine(const Tensor& x, const Tensor& matrix, const Extent& height, const Extent& width, const WarpOptions& o,
                   Where where) {
  detail::expect_type("warp_affine", "matrix", matrix, f32, where);
  detail::expect_shape("warp_affine", "matrix", matrix, {ir::index(2), ir::index(3)}, "rows for column and row", where);
  return detail::warped("warp_affine", x, height.end(), width.end(), o, where, [&](const Expr& r, const Expr& c) {
    const auto row = [&](int k) { return matrix(k, 0) * f32(c) + matrix(k, 1) * f32(r) + matrix(k, 2); };
    return std::array<Expr, 2>{row(1), row(0)};
  });
}
Tensor warp_perspective(const Tensor& x, const Tensor& matrix, const Extent& height, const Extent& width, const WarpOptions& o,
                        Where where) {
  detail::expect_type("warp_perspective", "matrix", matrix, f32, where);
  detail::expect_shape("warp_perspective", "matrix", matrix, {ir::index(3), ir::index(3)}, "rows for column, row and scale",
                       where);
  return detail::warped("warp_perspective", x, height.end(), width.end(), o, where, [&](const Expr& r, const Expr& c) {
    const auto row = [&](int k) { return matrix(k, 0) * f32(c) + matrix(k, 1) * f32(r) + matrix(k, 2); };
    return std::array<Expr, 2>{row(1) / row(2), row(0) / row(2)};
  });
}

Tensor demosaic(const Tensor& x, Bayer pattern, Where where) {
  detail::expect_numbers("demosaic", "x", x, where);
  detail::expect_rank("demosaic", "x", x, 2, where);
  const Type type = x.type(where), wide = detail::pixel_type(type);
  const Tensor around = boundary::reflect(x, where);
  const int red_row = pattern == Bayer::bggr || pattern == Bayer::gbrg ? 1 : 0;
  const int red_column = pattern == Bayer::bggr || pattern == Bayer::grbg ? 1 : 0;
  return compute(
      "demosaic", {Extent("y", x.extent(0, where)), Extent("x", x.extent(1, where)), Extent("c", 3)},
      [&](Var row, Var column, Var c) {
        const auto at = [&](int dy, int dx) { return wide(around(row + dy, column + dx)); };
        const Expr own = at(0, 0), across = (at(0, -1) + at(0, 1)) * 0.5, down = (at(-1, 0) + at(1, 0)) * 0.5;
        const Expr cross = (across + down) * 0.5, corners = ((at(-1, -1) + at(-1, 1)) + (at(1, -1) + at(1, 1))) * 0.25;
        const Expr on_red_row = (row + red_row) % 2 == 0, on_red_column = (column + red_column) % 2 == 0;
        const auto color = [&](const Expr& on_row, const Expr& on_column) {  // red, or blue
          return select(on_row, select(on_column, own, across), select(on_column, down, corners));
        };
        const Expr green = select(on_red_row == on_red_column, cross, own);
        return detail::to_pixel(
            type, select(c == 0, color(on_red_row, on_red_column), select(c == 1, green, color(!on_red_row, !on_red_column))));
      },
      where);
}

}  // namespace ashlar::ops
