// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/reduce.h>

namespace ashlar::ops {

namespace detail {

Reducing reducing(const char* op, const Tensor& x, const std::vector<int>& axes, bool keep_dims, Where where) {
  const int rank = x.rank(where);
  Reducing r;
  r.keep_dims = keep_dims;
  r.reduced.assign(static_cast<std::size_t>(rank), axes.empty());
  for (const int a : axes) {
    const auto d = static_cast<std::size_t>(dimension(op, a, rank, where));
    if (r.reduced[d]) refuse(op, "each axis once", std::to_string(a) + " twice", where);
    r.reduced[d] = true;
  }
  const Shape s = x.shape(where);
  std::vector<Extent> kept;
  for (int d = 0; d < rank; ++d) {
    if (!r.reduced[static_cast<std::size_t>(d)]) {
      kept.push_back(s.extents()[static_cast<std::size_t>(d)]);
      continue;
    }
    if (keep_dims) kept.emplace_back(1);
    r.extents.push_back(x.extent(d, where));
    r.axes.emplace_back("k", Operand(r.extents.back(), where), where);
  }
  if (r.axes.empty()) r.axes.emplace_back("k", Operand(1, where), where);  // of a tensor without dimensions: its one element
  r.result = Shape::of(std::move(kept), where);
  return r;
}

}  // namespace detail

namespace {

using namespace detail;

Reduced finished(const char* op, const Tensor& accumulated, Type type, Where where) {
  return {accumulated, type.is_float() ? converted(op, accumulated, type, where) : accumulated};
}

}  // namespace

Reduced reduce_sum(const Tensor& x, const ReduceOptions& o, Where where) {
  const auto r = detail::reducing("reduce_sum", x, o.axes, o.keep_dims, where);
  const Tensor total =
      detail::accumulate("reduce_sum", x, r, where, [&](const Operand& e, const AxisList& k) { return sum(e, k, where); });
  return finished("reduce_sum", total, x.type(where), where);
}
Reduced reduce_prod(const Tensor& x, const ReduceOptions& o, Where where) {
  const auto r = detail::reducing("reduce_prod", x, o.axes, o.keep_dims, where);
  const Tensor all =
      detail::accumulate("reduce_prod", x, r, where, [&](const Operand& e, const AxisList& k) { return product(e, k, where); });
  return finished("reduce_prod", all, x.type(where), where);
}
Tensor reduce_max(const Tensor& x, const ReduceOptions& o, Where where) {
  const auto r = detail::reducing("reduce_max", x, o.axes, o.keep_dims, where);
  return compute(
      "reduce_max", r.result, [&](Indices i) { return maximum(Operand(x(r.element(i), where), where), r.list(), where); },
      where);
}
Tensor reduce_min(const Tensor& x, const ReduceOptions& o, Where where) {
  const auto r = detail::reducing("reduce_min", x, o.axes, o.keep_dims, where);
  return compute(
      "reduce_min", r.result, [&](Indices i) { return minimum(Operand(x(r.element(i), where), where), r.list(), where); },
      where);
}
Reduced reduce_mean(const Tensor& x, const ReduceOptions& o, Where where) {
  detail::expect_float("reduce_mean", "x", x, where);
  const auto r = detail::reducing("reduce_mean", x, o.axes, o.keep_dims, where);
  const Tensor total =
      detail::accumulate("reduce_mean", x, r, where, [&](const Operand& e, const AxisList& k) { return sum(e, k, where); });
  const Type type = x.type(where), wide = accumulator(type);
  return {total, detail::map("reduce_mean", total, where, [&](const Operand& e) { return type(e / wide(r.count())); })};
}
Reduced reduce_sum_square(const Tensor& x, const ReduceOptions& o, Where where) {
  const auto r = detail::reducing("reduce_sum_square", x, o.axes, o.keep_dims, where);
  const Tensor total = detail::accumulate("reduce_sum_square", x, r, where,
                                          [&](const Operand& e, const AxisList& k) { return sum(e * e, k, where); });
  return finished("reduce_sum_square", total, x.type(where), where);
}
Reduced reduce_l1(const Tensor& x, const ReduceOptions& o, Where where) {
  const auto r = detail::reducing("reduce_l1", x, o.axes, o.keep_dims, where);
  const Tensor total = detail::accumulate("reduce_l1", x, r, where,
                                          [&](const Operand& e, const AxisList& k) { return sum(ashlar::abs(e), k, where); });
  return finished("reduce_l1", total, x.type(where), where);
}
Reduced reduce_l2(const Tensor& x, const ReduceOptions& o, Where where) {
  detail::expect_float("reduce_l2", "x", x, where);
  const Tensor total = reduce_sum_square(x, o, where).accumulated;
  const Type type = x.type(where);
  return {total, detail::map("reduce_l2", total, where, [&](const Operand& e) { return type(ashlar::sqrt(e)); })};
}
Reduced reduce_all(const Tensor& x, const ReduceOptions& o, Where where) {
  detail::expect_type("reduce_all", "x", x, bool_, where);
  const auto r = detail::reducing("reduce_all", x, o.axes, o.keep_dims, where);
  const Tensor least = compute(
      "reduce_all", r.result, [&](Indices i) { return minimum(u8(Operand(x(r.element(i), where), where)), r.list(), where); },
      where);
  return {least, detail::map("reduce_all", least, where, [](const Operand& e) { return e != 0; })};
}
Reduced reduce_any(const Tensor& x, const ReduceOptions& o, Where where) {
  detail::expect_type("reduce_any", "x", x, bool_, where);
  const auto r = detail::reducing("reduce_any", x, o.axes, o.keep_dims, where);
  const Tensor largest = compute(
      "reduce_any", r.result, [&](Indices i) { return maximum(u8(Operand(x(r.element(i), where), where)), r.list(), where); },
      where);
  return {largest, detail::map("reduce_any", largest, where, [](const Operand& e) { return e != 0; })};
}

LogSumExp reduce_logsumexp(const Tensor& x, const ReduceOptions& o, Where where) {
  detail::expect_float("reduce_logsumexp", "x", x, where);
  const auto r = detail::reducing("reduce_logsumexp", x, o.axes, o.keep_dims, where);
  const Type type = x.type(where), wide = accumulator(type);
  LogSumExp s;
  s.maximum = reduce_max(x, o, where);
  const auto taken_out = [&](const Indices& i) {
    const Expr m = wide(s.maximum(i, where));
    return select(isinf(m), wide(0), m);
  };
  s.sum = compute(
      "reduce_logsumexp", r.result,
      [&](Indices i) {
        const Expr e = ashlar::exp(wide(x(r.element(i), where)) - taken_out(i));
        return sum(e, r.list(), where);
      },
      where);
  s.result = compute(
      "reduce_logsumexp", r.result, [&](Indices i) { return type(ashlar::log(s.sum(i, where)) + taken_out(i)); }, where);
  return s;
}

namespace detail {

Moments moments(const Tensor& x, const Reducing& r, Where where) {
  const Type wide = accumulator(x.type(where));
  return moments(r.result, r.axes, wide(r.count()), where, [&](const Indices& i) { return wide(x(r.element(i), where)); });
}

}  // namespace detail

Variance reduce_var(const Tensor& x, const ReduceOptions& o, int correction, Where where) {
  detail::expect_float("reduce_var", "x", x, where);
  const auto r = detail::reducing("reduce_var", x, o.axes, o.keep_dims, where);
  const Moments m = detail::moments(x, r, where);
  const Type type = x.type(where), wide = accumulator(type);
  const Tensor result = compute(
      "reduce_var", r.result, [&](Indices i) { return type(m.deviations(i, where) / max(wide(r.count()) - correction, 0)); },
      where);
  return {m.sum, m.mean, m.deviations, result};
}
Variance reduce_std(const Tensor& x, const ReduceOptions& o, int correction, Where where) {
  detail::expect_float("reduce_std", "x", x, where);
  Variance v = reduce_var(x, o, correction, where);
  v.result = detail::map("reduce_std", v.result, where, [](const Operand& e) { return ashlar::sqrt(e); });
  return v;
}

Extreme argmax(const Tensor& x, int axis, bool keep_dims, Where where) {
  return detail::extreme("argmax", x, axis, keep_dims, where,
                         [&](const Operand& e, const AxisList& k) { return ashlar::argmax(e, k, where); });
}
Extreme argmin(const Tensor& x, int axis, bool keep_dims, Where where) {
  return detail::extreme("argmin", x, axis, keep_dims, where,
                         [&](const Operand& e, const AxisList& k) { return ashlar::argmin(e, k, where); });
}

}  // namespace ashlar::ops
