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

Reducing reducing(const char* op, const Tensor& x, const std::vector<int>& axes, bool keep_dims, Where where);

// reduce(term, axes) of the elements in their accumulator.
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
// Of the type of x, exactly. A NaN among the elements is the result.
Tensor reduce_max(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
Tensor reduce_min(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
// The sum by the number of elements. Floating types.
Reduced reduce_mean(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
Reduced reduce_sum_square(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
Reduced reduce_l1(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
// The root of the sum of squares. Floating types; nothing is scaled, so squares may overflow.
Reduced reduce_l2(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
// Of bool. Over nothing: all is true, any is false.
Reduced reduce_all(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());
Reduced reduce_any(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());

// log(sum of exp(x)), with the largest element taken out first. Of a row of minus infinities minus infinity, as of none.
struct LogSumExp {
  Tensor maximum, sum, result;
  operator Tensor() const { return result; }
};
LogSumExp reduce_logsumexp(const Tensor& x, const ReduceOptions& o = {}, Where where = Where::current());

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
Moments moments(const Tensor& x, const Reducing& r, Where where);

}  // namespace detail

// The variance; `correction` is taken from the number of elements: 1 for a sample (PyTorch), 0 for all there is (NumPy). NaN
// where nothing is left to divide by.
struct Variance {
  Tensor sum, mean, deviations, result;
  operator Tensor() const { return result; }
};
Variance reduce_var(const Tensor& x, const ReduceOptions& o = {}, int correction = 1, Where where = Where::current());
Variance reduce_std(const Tensor& x, const ReduceOptions& o = {}, int correction = 1, Where where = Where::current());

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

Extreme argmax(const Tensor& x, int axis = -1, bool keep_dims = false, Where where = Where::current());
Extreme argmin(const Tensor& x, int axis = -1, bool keep_dims = false, Where where = Where::current());

}  // namespace ashlar::ops
