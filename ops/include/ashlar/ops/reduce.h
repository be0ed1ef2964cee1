// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Reductions over some dimensions, or all; and the places of the largest and smallest elements.
//
//   Tensor mean = ops::reduce_mean(x, {.axes = {2, 3}});             x: [N, C, H, W], mean: [N, C]
//   auto top = ops::argmax(logits, -1);                              top.value, top.index: i64
//
// Elements are summed in accumulator(type). The result has the type of x, but sums and products of integers stay in the
// accumulator, and what counts or compares is said there. Over no elements: the identity, 0 of sums, 1 of products, minus
// infinity or the least integer of maxima; a mean is NaN. A sum in f32 of more than 2^24 terms of
// like size one after the other stands still; by default schedules take long sums apart (docs/default.md).
#include <ashlar/ops/common.h>

namespace ashlar::ops {

struct ReduceOptions {
  std::vector<int> axes = {};  // none: all dimensions
  bool keep_dims = false;      // those that are reduced stay, with the extent 1
};

struct Reduced {
  Tensor accumulated;  // the reduction, in its accumulator
  Tensor result;       // the same tensor, where nothing is left to be done
  operator Tensor() const { return result; }
};

namespace detail {

// Which dimensions are reduced, their axes, and the shape of what is left.
struct Reducing {
  std::vector<bool> reduced;
  std::vector<Axis> axes;
  std::vector<Expr> extents;  // of the reduced dimensions
  Shape result;
  bool keep_dims;

  // The element of x at a point of the result and the axes; of a tensor without dimensions the axis is not used.
  Indices element(const Indices& i) const {
    Indices at;
    int next = 0, axis = 0;
    for (const bool r : reduced) {
      Access::append(at, r ? Expr(axes[static_cast<std::size_t>(axis++)]) : i[next]);
      if (!r || keep_dims) ++next;
    }
    return at;
  }
  // The point of the result to which an element of x belongs.
  Indices point_of(const Indices& i) const {
    Indices at;
    for (int d = 0; d < i.rank(); ++d) {
      const bool r = reduced[static_cast<std::size_t>(d)];
      if (!r || keep_dims) Access::append(at, r ? ir::index(0) : i[d]);
    }
    return at;
  }
  Expr count() const {  // of terms, an index
    Expr n = ir::index(1);
    for (const Expr& e : extents) n = ir::mul(n, e);
    return n;
  }
  AxisList list() const { return AxisList(axes); }
};

inline Reducing reducing(const char* op, const Tensor& x, const std::vector<int>& axes, bool keep_dims, Where where) {
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

// reduce(term, axes) of the elements in their accumulator.
template <class F>
Tensor accumulate(const char* op, const Tensor& x, const Reducing& r, Where where, F reduce) {
  const Type type = accumulator(x.type(where));
  return compute(
      op, r.result, [&](Indices i) { return reduce(Operand(type(Operand(x(r.element(i), where), where)), where), r.list()); },
      where);
}
inline Reduced finished(const char* op, const Tensor& accumulated, Type type, Where where) {
  return {accumulated, type.is_float() ? converted(op, accumulated, type, where) : accumulated};
}

}  // namespace detail

inline Reduced reduce_sum(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
  const auto r = detail::reducing("reduce_sum", x, o.axes, o.keep_dims, where);
  const Tensor total =
      detail::accumulate("reduce_sum", x, r, where, [&](const Operand& e, const AxisList& k) { return sum(e, k, where); });
  return detail::finished("reduce_sum", total, x.type(where), where);
}
inline Reduced reduce_prod(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
  const auto r = detail::reducing("reduce_prod", x, o.axes, o.keep_dims, where);
  const Tensor all =
      detail::accumulate("reduce_prod", x, r, where, [&](const Operand& e, const AxisList& k) { return product(e, k, where); });
  return detail::finished("reduce_prod", all, x.type(where), where);
}
// Of the type of x, exactly. A NaN among the elements is the result.
inline Tensor reduce_max(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
  const auto r = detail::reducing("reduce_max", x, o.axes, o.keep_dims, where);
  return compute(
      "reduce_max", r.result, [&](Indices i) { return maximum(Operand(x(r.element(i), where), where), r.list(), where); },
      where);
}
inline Tensor reduce_min(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
  const auto r = detail::reducing("reduce_min", x, o.axes, o.keep_dims, where);
  return compute(
      "reduce_min", r.result, [&](Indices i) { return minimum(Operand(x(r.element(i), where), where), r.list(), where); },
      where);
}
// The sum by the number of elements. Floating types.
inline Reduced reduce_mean(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
  detail::expect_float("reduce_mean", "x", x, where);
  const auto r = detail::reducing("reduce_mean", x, o.axes, o.keep_dims, where);
  const Tensor total =
      detail::accumulate("reduce_mean", x, r, where, [&](const Operand& e, const AxisList& k) { return sum(e, k, where); });
  const Type type = x.type(where), wide = accumulator(type);
  return {total, detail::map("reduce_mean", total, where, [&](const Operand& e) { return type(e / wide(r.count())); })};
}
inline Reduced reduce_sum_square(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
  const auto r = detail::reducing("reduce_sum_square", x, o.axes, o.keep_dims, where);
  const Tensor total = detail::accumulate("reduce_sum_square", x, r, where,
                                          [&](const Operand& e, const AxisList& k) { return sum(e * e, k, where); });
  return detail::finished("reduce_sum_square", total, x.type(where), where);
}
inline Reduced reduce_l1(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
  const auto r = detail::reducing("reduce_l1", x, o.axes, o.keep_dims, where);
  const Tensor total = detail::accumulate("reduce_l1", x, r, where,
                                          [&](const Operand& e, const AxisList& k) { return sum(ashlar::abs(e), k, where); });
  return detail::finished("reduce_l1", total, x.type(where), where);
}
// The root of the sum of squares. Floating types; nothing is scaled, so squares may overflow.
inline Reduced reduce_l2(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
  detail::expect_float("reduce_l2", "x", x, where);
  const Tensor total = reduce_sum_square(x, o, where).accumulated;
  const Type type = x.type(where);
  return {total, detail::map("reduce_l2", total, where, [&](const Operand& e) { return type(ashlar::sqrt(e)); })};
}
// Of bool. Over nothing: all is true, any is false.
inline Reduced reduce_all(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
  detail::expect_type("reduce_all", "x", x, bool_, where);
  const auto r = detail::reducing("reduce_all", x, o.axes, o.keep_dims, where);
  const Tensor least = compute(
      "reduce_all", r.result, [&](Indices i) { return minimum(u8(Operand(x(r.element(i), where), where)), r.list(), where); },
      where);
  return {least, detail::map("reduce_all", least, where, [](const Operand& e) { return e != 0; })};
}
inline Reduced reduce_any(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
  detail::expect_type("reduce_any", "x", x, bool_, where);
  const auto r = detail::reducing("reduce_any", x, o.axes, o.keep_dims, where);
  const Tensor largest = compute(
      "reduce_any", r.result, [&](Indices i) { return maximum(u8(Operand(x(r.element(i), where), where)), r.list(), where); },
      where);
  return {largest, detail::map("reduce_any", largest, where, [](const Operand& e) { return e != 0; })};
}

// log(sum of exp(x)), with the largest element taken out first. Of a row of minus infinities minus infinity, as of none.
struct LogSumExp {
  Tensor maximum, sum, result;
  operator Tensor() const { return result; }
};
inline LogSumExp reduce_logsumexp(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current()) {
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

// ---- moments ---------------------------------------------------------------------------------------------------------------

// Sum, mean and sum of squared deviations: a variance comes of differences from the mean, never of a difference of large sums.
// Two passes, an addition and a multiplication an element; merged in one (docs/language.md has that reducer) every element
// would take a division.
struct Moments {
  Tensor sum, mean, deviations;
};
namespace detail {
template <class F>
Moments moments(const Shape& shape, const std::vector<Axis>& axes, const Expr& count, Where where, F element) {
  Moments m;
  m.sum = compute("total", shape, [&](Indices i) { return sum(element(i), AxisList(axes), where); }, where);
  m.mean = compute("mean", shape, [&](Indices i) { return m.sum(i, where) / count; }, where);
  m.deviations = compute(
      "deviations", shape,
      [&](Indices i) {
        const Expr d = element(i) - m.mean(i, where);
        return sum(d * d, AxisList(axes), where);
      },
      where);
  return m;
}
inline Moments moments(const Tensor& x, const Reducing& r, Where where) {
  const Type wide = accumulator(x.type(where));
  return moments(r.result, r.axes, wide(r.count()), where, [&](const Indices& i) { return wide(x(r.element(i), where)); });
}
}  // namespace detail

// The variance; `correction` is taken from the number of elements: 1 for a sample (PyTorch), 0 for all there is (NumPy). NaN
// where nothing is left to divide by.
struct Variance {
  Tensor sum, mean, deviations, result;
  operator Tensor() const { return result; }
};
inline Variance reduce_var(const Tensor& x, const ReduceOptions& o = {}, int correction = 1, Where where = Where::current()) {
  detail::expect_float("reduce_var", "x", x, where);
  const auto r = detail::reducing("reduce_var", x, o.axes, o.keep_dims, where);
  const Moments m = detail::moments(x, r, where);
  const Type type = x.type(where), wide = accumulator(type);
  const Tensor result = compute(
      "reduce_var", r.result, [&](Indices i) { return type(m.deviations(i, where) / max(wide(r.count()) - correction, 0)); },
      where);
  return {m.sum, m.mean, m.deviations, result};
}
inline Variance reduce_std(const Tensor& x, const ReduceOptions& o = {}, int correction = 1, Where where = Where::current()) {
  detail::expect_float("reduce_std", "x", x, where);
  Variance v = reduce_var(x, o, correction, where);
  v.result = detail::map("reduce_std", v.result, where, [](const Operand& e) { return ashlar::sqrt(e); });
  return v;
}

// ---- places ----------------------------------------------------------------------------------------------------------------

// The largest (smallest) element along an axis and where it stands: the first of equals, a NaN before numbers. Over nothing
// the identity of the value, and highest(i64).
struct Extreme {
  Tensor value, index;  // index: i64
  operator Tensor() const { return index; }
};
namespace detail {
template <class F>
Extreme extreme(const char* op, const Tensor& x, int axis, bool keep_dims, Where where, F reduce) {
  const auto r = reducing(op, x, {axis}, keep_dims, where);
  auto [value, index] =
      compute(op, r.result, [&](Indices i) { return reduce(Operand(x(r.element(i), where), where), r.list()); }, where);
  return {value, index};
}
}  // namespace detail
inline Extreme argmax(const Tensor& x, int axis = -1, bool keep_dims = false, Where where = Where::current()) {
  return detail::extreme("argmax", x, axis, keep_dims, where,
                         [&](const Operand& e, const AxisList& k) { return ashlar::argmax(e, k, where); });
}
inline Extreme argmin(const Tensor& x, int axis = -1, bool keep_dims = false, Where where = Where::current()) {
  return detail::extreme("argmin", x, axis, keep_dims, where,
                         [&](const Operand& e, const AxisList& k) { return ashlar::argmin(e, k, where); });
}

}  // namespace ashlar::ops
