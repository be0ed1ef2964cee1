// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/resize.h>

namespace ashlar::ops {

namespace {

using namespace detail;

Expr nearest_place(const Expr& i, const Expr& n, const Expr& m, ResizePlaces places) {
  const Expr last = n - 1;
  if (places == ResizePlaces::asymmetric) return ashlar::clamp(i * n / m, 0, last);
  if (places == ResizePlaces::half_pixel)  // ceil of the place minus 1/2: ceil(((2 i + 1) n - 2 m) / 2 m)
    return ashlar::clamp(((i * 2 + 1) * n - 1) / (m * 2), 0, last);
  const Expr steps = ashlar::max(m - 1, 1);
  return ashlar::clamp((i * last * 2 + steps - 1) / (steps * 2), 0, last);
}
Expr place_between(const Expr& i, const Expr& n, const Expr& m, ResizePlaces places, Type wide) {
  if (places == ResizePlaces::asymmetric) return wide(i) * (wide(n) / wide(m));
  if (places == ResizePlaces::half_pixel) return (wide(i) + 0.5) * (wide(n) / wide(m)) - 0.5;
  return wide(i) * (wide(n - 1) / wide(ashlar::max(m - 1, 1)));
}
// The weight of sample k - 1 of four, f behind sample 0 (Keys, Cubic convolution interpolation for digital image processing,
// 1981).
Expr cubic_weight(int k, const Expr& f, double a) {
  const Expr t = k == 0 ? f + 1 : k == 1 ? f : k == 2 ? 1 - f : 2 - f;
  return k == 1 || k == 2 ? ((a + 2) * t - (a + 3)) * t * t + 1 : ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
}
CubicPlaces cubic_places(const Expr& n, const Expr& m, const ResizeOptions& o, Type wide, Where where) {
  auto [first, w0, w1, w2, w3] = compute(
      "resize_weights", {m},
      [&](Var i) {
        const Expr place = place_between(i, n, m, o.places, wide), base = ashlar::floor(place), f = place - base;
        return values(i32(base), cubic_weight(0, f, o.a), cubic_weight(1, f, o.a), cubic_weight(2, f, o.a),
                      cubic_weight(3, f, o.a));
      },
      where);
  return {first, {w0, w1, w2, w3}};
}
}  // namespace

namespace detail {

Expr sample(const Tensor& x, const Indices& i, int d, const Expr& n, const Expr& base, int behind, Type wide, Where where) {
  return wide(x(i.with(d, ashlar::clamp(base + behind, 0, n - 1)), where));
}
Expr cubic(const Tensor& x, const Indices& i, int d, const Expr& n, const CubicPlaces& p, Type wide, Where where) {
  Expr e;
  for (int k = 0; k < 4; ++k) {
    const Expr part = p.weights[static_cast<std::size_t>(k)](i[d]) * sample(x, i, d, n, p.base(i[d]), k - 1, wide, where);
    e = k == 0 ? part : e + part;
  }
  return e;
}
Expr linear(const Tensor& x, const Indices& i, int d, const Expr& n, const Expr& m, const ResizeOptions& o, Type wide,
            Where where) {
  const Expr place = place_between(i[d], n, m, o.places, wide), base = ashlar::floor(place),
             a = sample(x, i, d, n, i32(base), 0, wide, where);
  return a + (place - base) * (sample(x, i, d, n, i32(base), 1, wide, where) - a);
}

}  // namespace detail

Resized resize(const Tensor& x, const std::vector<ResizeTo>& to, const ResizeOptions& o, Where where) {
  detail::expect(!to.empty(), "resize", "at least one dimension", "none", where);
  if (o.mode != ResizeMode::nearest) detail::expect_numbers("resize", "x", x, where);
  std::vector<int> dims;
  for (const ResizeTo& t : to) {
    const int dim = detail::dimension("resize", t.axis, x.rank(where), where);
    for (const int other : dims)
      detail::expect(other != dim, "resize", "each dimension once", std::to_string(t.axis) + " twice", where);
    dims.push_back(dim);
  }
  Resized r;
  const Type type = x.type(where);
  if (o.mode == ResizeMode::nearest) {
    Shape shape = x.shape(where);
    for (std::size_t k = 0; k < to.size(); ++k) shape = shape.with(dims[k], to[k].extent, where);
    r.result = compute(
        "resize", shape,
        [&](Indices i) {
          Indices at = i;
          for (std::size_t k = 0; k < to.size(); ++k)
            at = at.with(dims[k], nearest_place(i[dims[k]], x.extent(dims[k], where), to[k].extent, o.places));
          return x(at, where);
        },
        where);
    r.stages = {r.result};
    return r;
  }
  const Type wide = type.is_float() ? accumulator(type) : f32;
  r.result = x;
  for (std::size_t k = 0; k < to.size(); ++k) {
    const Tensor from = r.result;
    const Expr n = from.extent(dims[k], where);
    const Shape shape = from.shape(where).with(dims[k], to[k].extent, where);
    if (o.mode == ResizeMode::cubic) {
      const detail::CubicPlaces places = cubic_places(n, to[k].extent, o, wide, where);
      r.result =
          compute("resize", shape, [&](Indices i) { return detail::cubic(from, i, dims[k], n, places, wide, where); }, where);
    } else {
      r.result = compute(
          "resize", shape, [&](Indices i) { return detail::linear(from, i, dims[k], n, to[k].extent, o, wide, where); }, where);
    }
    r.stages.push_back(r.result);
  }
  r.result = type.is_float() ? detail::converted("resize", r.result, type, where)
                             : detail::map("resize", r.result, where, [&](const Operand& e) { return saturate(type, e); });
  return r;
}

}  // namespace ashlar::ops
