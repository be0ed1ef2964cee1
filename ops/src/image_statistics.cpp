// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/image_statistics.h>

namespace ashlar::ops {

Tensor histogram(const Tensor& x, Where where) {
  detail::expect_type("histogram", "x", x, u8, where);
  const auto counted = [&](const Expr& e) { return put(Operand(i32(1), where), e); };
  const auto e = detail::extents(x, where);
  switch (e.size()) {
    case 1:
      return scatter("histogram", {256}, Combine::add, i32(0), {e[0]}, [&](Var a) { return counted(x(a)); }, where);
    case 2:
      return scatter(
          "histogram", {256}, Combine::add, i32(0), {e[0], e[1]}, [&](Var a, Var b) { return counted(x(a, b)); }, where);
    case 3:
      return scatter(
          "histogram", {256}, Combine::add, i32(0), {e[0], e[1], e[2]},
          [&](Var a, Var b, Var c) { return counted(x(a, b, c)); }, where);
    case 4:
      return scatter(
          "histogram", {256}, Combine::add, i32(0), {e[0], e[1], e[2], e[3]},
          [&](Var a, Var b, Var c, Var d) { return counted(x(a, b, c, d)); }, where);
    default:
      refuse("histogram", "x of rank 1 to 4", "rank " + std::to_string(e.size()), where);
  }
}
Equalized equalise_histogram(const Tensor& x, Where where) {
  detail::expect_type("equalise_histogram", "x", x, u8, where);
  Equalized q;
  q.counts = histogram(x, where);
  q.below = scan("below", {256}, Along{0}, Combine::add, [&](Var v) { return q.counts(v); }, Scan::inclusive, where);
  const Axis v{"v", Operand(256, where), where};
  q.first = compute("first", [&] { return minimum(select(q.below(v) > 0, q.below(v), highest(i32)), v, where); }, where);
  q.table = compute(
      "equalization", {256},
      [&](Var level) {
        const Expr first = q.first(where), rest = q.below(255) - first;
        const Expr spread = saturate(u8, f64(q.below(level) - first) * 255.0 / f64(max(rest, 1)));
        return select(rest <= 0, u8(level), spread);
      },
      where);
  q.result = compute("equalise_histogram", x.shape(where), [&](Indices i) { return q.table(x(i, where)); }, where);
  return q;
}

IntegralImage integral_image(const Tensor& x, Where where) {
  detail::expect_rank("integral_image", "x", x, 2, where);
  const Type type = x.type(where), wide = type.is_unsigned() && type.bits < 32 ? u32 : accumulator(type);
  const Expr H = x.extent(0, where), W = x.extent(1, where);
  IntegralImage t;
  t.down = scan(
      "down", {H + 1, W}, Along{0}, Combine::add, [&](Var r, Var c) { return wide(x(min(r, H - 1), c)); }, Scan::exclusive,
      where);
  t.result = scan(
      "integral_image", {H + 1, W + 1}, Along{1}, Combine::add, [&](Var r, Var c) { return t.down(r, min(c, W - 1)); },
      Scan::exclusive, where);
  return t;
}
BoxFilter box_filter(const Tensor& x, Operand radius, Where where) {
  detail::expect_type("box_filter", "x", x, u8, where);
  detail::expect_rank("box_filter", "x", x, 2, where);
  const IntegralImage t = integral_image(x, where);
  const Expr H = x.extent(0, where), W = x.extent(1, where);
  const Tensor table = t.result;
  const Tensor result = compute(
      "box_filter", {H, W},
      [&](Var y, Var c) {
        const Expr r = ashlar::clamp(i32(radius), 0, 4096), top = max(y - r, 0), left = max(c - r, 0);
        const Expr bottom = min(y + r + 1, H), right = min(c + r + 1, W);
        const Expr total = table(bottom, right) - table(top, right) - table(bottom, left) + table(top, left);
        const Expr area = u32((bottom - top) * (right - left));
        return u8((total + area / 2) / area);
      },
      where);
  return {t.down, table, result};
}

Harris harris(const Tensor& x, double k, Where where) {
  detail::expect_float("harris", "x", x, where);
  detail::expect_rank("harris", "x", x, 2, where);
  Harris h;
  h.gx = compute(
      "gx",
      [&](Var r, Var c) {
        return ((x(r, c + 2) - x(r, c)) + (x(r + 1, c + 2) - x(r + 1, c)) * 2 + (x(r + 2, c + 2) - x(r + 2, c))) / 8;
      },
      where);
  h.gy = compute(
      "gy",
      [&](Var r, Var c) {
        return ((x(r + 2, c) - x(r, c)) + (x(r + 2, c + 1) - x(r, c + 1)) * 2 + (x(r + 2, c + 2) - x(r, c + 2))) / 8;
      },
      where);
  const auto window = [&](const Tensor& a, const Tensor& b, const Var& y, const Var& c) {
    Expr e;
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s) {
        const Expr product = a(y + r, c + s) * b(y + r, c + s);
        e = e.empty() ? product : e + product;
      }
    return e;
  };
  h.result = compute(
      "harris", {detail::plain(x.extent(0, where) - 4), detail::plain(x.extent(1, where) - 4)},
      [&](Var y, Var c) {
        const Expr xx = window(h.gx, h.gx, y, c), xy = window(h.gx, h.gy, y, c), yy = window(h.gy, h.gy, y, c), trace = xx + yy;
        return xx * yy - xy * xy - trace * trace * k;
      },
      where);
  return h;
}

BilateralGrid bilateral_grid(const Tensor& x, int cell, int step, Where where) {
  const char* op = "bilateral_grid";
  detail::expect_type(op, "x", x, u8, where);
  detail::expect_rank(op, "x", x, 2, where);
  detail::expect(cell >= 1 && cell <= 16, op, "a cell of 1 to 16 pixels", std::to_string(cell), where);
  detail::expect(step >= 1 && step <= 256 && 256 % step == 0, op, "a step that divides 256", std::to_string(step), where);
  const Expr H = x.extent(0, where), W = x.extent(1, where), rows = (H + (cell - 1)) / cell + 1,
             columns = (W + (cell - 1)) / cell + 1;
  const int levels = 256 / step + 1;
  BilateralGrid b;
  b.grid = scatter(
      "grid", {rows, columns, levels}, Combine::add, u32(0), {H, W},
      [&](Var r, Var c) {
        return put((u32(1) << 16) + u32(x(r, c)), (r + cell / 2) / cell, (c + cell / 2) / cell,
                   in_range((i32(x(r, c)) + step / 2) / step, 0, levels));
      },
      where);
  // Nothing is divided: sums and counts grow alike.
  const auto weight = [](int d) { return d == 0 ? 6.0f : d == 1 || d == -1 ? 4.0f : 1.0f; };
  const Tensor around = boundary::constant(b.grid, u32(0), {2});
  b.along_z = compute(
      "along_z", {rows, columns, levels},
      [&](Var r, Var c, Var z) {
        Expr total = f32(0), count = f32(0);
        for (int d = -2; d <= 2; ++d) {
          const Expr g = around(r, c, z + d);
          total += f32(g & 65535) * weight(d), count += f32(g >> 16) * weight(d);
        }
        return values(total, count);
      },
      where);
  const auto blurred = [&](const char* name, const std::array<Tensor, 2>& t, int dim) {
    const Tensor s = boundary::constant(t[0], 0.f, {dim}), n = boundary::constant(t[1], 0.f, {dim});
    return compute(
        name, t[0].shape(where),
        [&](Indices i) {
          Expr total = f32(0), count = f32(0);
          for (int d = -2; d <= 2; ++d) {
            total += s(i.with(dim, i[dim] + d)) * weight(d), count += n(i.with(dim, i[dim] + d)) * weight(d);
          }
          return values(total, count);
        },
        where);
  };
  b.along_x = blurred("along_x", b.along_z, 1);
  b.along_y = blurred("along_y", b.along_x, 0);
  b.result = compute(
      "slice", {H, W},
      [&](Var r, Var c) {
        const Expr value = i32(x(r, c)), z = in_range(value / step, 0, levels - 1),
                   next = in_range(value / step + 1, 1, levels);
        const auto part = [](const Expr& i, int by) { return f32(i % by) * (1.0f / static_cast<float>(by)); };
        const auto mix = [](const Expr& p, const Expr& q, const Expr& f) { return p * (1 - f) + q * f; };
        const auto at = [&](const Tensor& t) {
          const auto between = [&](int dy, int dx) {
            return mix(t(r / cell + dy, c / cell + dx, z), t(r / cell + dy, c / cell + dx, next), part(value, step));
          };
          return mix(mix(between(0, 0), between(0, 1), part(c, cell)), mix(between(1, 0), between(1, 1), part(c, cell)),
                     part(r, cell));
        };
        return at(b.along_y[0]) / at(b.along_y[1]);
      },
      where);
  return b;
}

}  // namespace ashlar::ops
