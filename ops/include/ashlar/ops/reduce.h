// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Reductions over some or all dimensions, and the indices of extreme elements.
//
//   Tensor mean = ops::reduce_mean(x, {.axes = {2, 3}});             x: [N, C, H, W], mean: [N, C]
//   auto top = ops::argmax(logits, -1);                              top.value, top.index: i64
//
// Elements are accumulated in accumulator(type). The result has the type of x unless the comment says otherwise, except that
// sums and products of integers stay in the accumulator. A reduction over no elements gives the identity: 0 for sums, 1 for
// products, minus infinity or the lowest integer for maxima; a mean is then NaN. An f32 sum that adds term by term stops
// growing at 2^24 times its terms; the default schedule splits long sums (docs/default.md).
#include <ashlar/ops/common.h>

namespace ashlar::ops {

struct ReduceOptions {
  std::vector<int> axes = {};  // empty: all dimensions
  bool keep_dims = false;      // reduced dimensions remain, with extent 1
};

struct Reduced {
  Tensor accumulated;  // in the accumulator's type
  Tensor result;       // the same tensor if it needs no conversion
  operator Tensor() const { return result; }
};

namespace detail {

// Which dimensions are reduced, the axes over them, and the shape of the result.
struct Reducing {
  std::vector<bool> reduced;
  std::vector<Axis> axes;
  std::vector<Expr> extents;  // of the reduced dimensions
  Shape result;
  bool keep_dims;

  // The indices in x for a point of the result and the axes. For a tensor without dimensions the axis is not used.
  Indices element(const Indices& i) const {
    Indices at;
    int next = 0, axis = 0;
    for (const bool r : reduced) {
      Access::append(at, r ? Expr(axes[static_cast<std::size_t>(axis++)]) : i[next]);
      if (!r || keep_dims) ++next;
    }
    return at;
  }
  // The point of the result that an element of x belongs to.
  Indices point_of(const Indices& i) const {
    Indices at;
    for (int d = 0; d < i.rank(); ++d) {
      const bool r = reduced[static_cast<std::size_t>(d)];
      if (!r || keep_dims) Access::append(at, r ? ir::index(0) : i[d]);
    }
    return at;
  }
  Expr count() const {  // the number of terms, an index
    Expr n = ir::index(1);
    for (const Expr& e : extents) n = ir::mul(n, e);
    return n;
  }
  AxisList list() const { return AxisList(axes); }
};

Reducing reducing(const char* op, const Tensor& x, const std::vector<int>& axes, bool keep_dims, Where where);

// A stage that reduces the elements, converted to the accumulator: reduce(term, axes).
template <class F>
Tensor accumulate(const char* op, const Tensor& x, const Reducing& r, Where where, F reduce) {
  const Type type = accumulator(x.type(where));
  return compute(
      op, r.result, [&](Indices i) { return reduce(Operand(type(Operand(x(r.element(i), where), where)), where), r.list()); },
      where);
}

}  // namespace detail

Reduced reduce_sum(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
Reduced reduce_prod(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
// The largest (smallest) element, in the type of x. NaN if any element is NaN.
Tensor reduce_max(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
Tensor reduce_min(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
// The sum divided by the number of elements. Floating-point types.
Reduced reduce_mean(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
Reduced reduce_sum_square(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
Reduced reduce_l1(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
// The square root of the sum of squares. Floating-point types. Elements are not scaled first, so squares may overflow.
Reduced reduce_l2(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
// Whether all (any) elements are true: bool. Over no elements `all` is true and `any` is false.
Reduced reduce_all(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
Reduced reduce_any(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());

// log(sum of exp(x)), computed with the maximum subtracted. It is minus infinity if all elements are, and over no elements.
struct LogSumExp {
  Tensor maximum, sum, result;
  operator Tensor() const { return result; }
};
LogSumExp reduce_logsumexp(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());

// ---- moments ---------------------------------------------------------------------------------------------------------------

// Sum, mean and sum of squared deviations. A variance is computed from differences from the mean, never as a difference of
// large sums. This takes two passes, with one addition and one multiplication for each element. The reducer in docs/language.md
// needs only one pass, but a division for each element.
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
Moments moments(const Tensor& x, const Reducing& r, Where where);

}  // namespace detail

// Variance and standard deviation. `correction` is subtracted from the number of elements: 1 for a sample (PyTorch's default),
// 0 for a population (NumPy's). A difference below 0 counts as 0. The result is NaN for 0 / 0, such as one element with a
// correction of 1.
struct Variance {
  Tensor sum, mean, deviations, result;
  operator Tensor() const { return result; }
};
Variance reduce_var(const Tensor& x, const ReduceOptions& o = {}, int correction = 1, Where where = Where::current());
Variance reduce_std(const Tensor& x, const ReduceOptions& o = {}, int correction = 1, Where where = Where::current());

// ---- places ----------------------------------------------------------------------------------------------------------------

// The largest (smallest) element along an axis, and its index. Among equal elements the first wins; NaN wins over numbers. Over
// no elements: the identity of the value, and highest(i64).
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

Extreme argmax(const Tensor& x, int axis = -1, bool keep_dims = false, Where where = Where::current());
Extreme argmin(const Tensor& x, int axis = -1, bool keep_dims = false, Where where = Where::current());

}  // namespace ashlar::ops
