// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Order along an axis: sort, the k largest, running sums and extremes.
//
//   auto s = ops::sort(x, -1);                      s.result, s.index: i64
//   auto t = ops::topk(logits, 5);                  t.result, t.index
//   Tensor starts = ops::cumsum(lengths, 0, {.exclusive = true});
//
// A NaN is larger than all numbers; of equal elements the one that stands first comes first, whichever way is sorted; -0 equals
// 0.
#include <ashlar/ops/index.h>

namespace ashlar::ops {

namespace detail {

// Does a come before b, as values? And are they equal?
Expr less(const Expr& a, const Expr& b);
Expr equal(const Expr& a, const Expr& b);

}  // namespace detail

// By counting, for each element, those that come before it: n^2 comparisons that depend on nothing, for rows of some hundreds.
// x: of rank 1 to 4.
struct Sorted {
  Tensor rank;    // where each element goes, i64
  Tensor index;   // which element stands at each place (argsort), i64
  Tensor result;  // the elements
  operator Tensor() const { return result; }
};
Sorted sort(const Tensor& x, int axis = -1, bool descending = false, Where where = Where::current());
// The `index` of sort, i64.
Tensor argsort(const Tensor& x, int axis = -1, bool descending = false, Where where = Where::current());

// The k largest (smallest) elements in falling (rising) order, and their places. Types of at most 32 bits; the extent is from k
// to 2^31 - 1: a Symbol has {.min = k, .max = 2147483647}.
//
// An element and its place are one integer that sorts as they do: the element, as an integer that compares as it does, above
// the place counted from the end. No two are equal, so the k largest are k maxima, each of what lies below the one before, in
// one stage each. -0 comes out as 0, and every NaN as one and the same.
struct TopK {
  Tensor words;               // i64, of the shape of x
  std::vector<Tensor> found;  // k of them, of the shape of x without the axis
  Tensor result, index;       // the axis has the extent k
  operator Tensor() const { return result; }
};
TopK topk(const Tensor& x, int k, int axis = -1, bool largest = true, Type index_type = i64, Where where = Where::current());

// ---- running: y(i) is the sum, product, largest or smallest of x from its beginning up to i, along the axis -----------------
struct CumulativeOptions {
  bool exclusive = false;  // without the element itself: the identity comes first
  bool reverse = false;    // from the end
};
struct Cumulative {
  Tensor accumulated, result;  // in the accumulator; in the type of x, where that is floating
  operator Tensor() const { return result; }
};
Cumulative cumsum(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current());
Cumulative cumprod(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current());
Tensor cummax(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current());
Tensor cummin(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::ops
