// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Operators along an axis: sort, the k largest elements, running sums and extremes.
//
//   auto s = ops::sort(x, -1);                      s.result, s.index: i64
//   auto t = ops::topk(logits, 5);                  t.result, t.index
//   Tensor starts = ops::cumsum(lengths, 0, {.exclusive = true});
//
// NaN counts as larger than all numbers, and -0 equals 0. Sorting is stable in both directions.
#include <ashlar/ops/index.h>

namespace ashlar::ops {

namespace detail {

// Whether a comes before b, by value; and whether they are equal.
Expr less(const Expr& a, const Expr& b);
Expr equal(const Expr& a, const Expr& b);

}  // namespace detail

// How to sort rows.
//   counting   counts, for each element, the elements that come before it: n^2 independent comparisons, for rows of a few
//              hundred elements. Takes any extents and types
//   network    the bitonic sorter of K. E. Batcher, "Sorting networks and their applications", AFIPS 1968:
//              log2(n) (log2(n) + 1) / 2 steps, each of which compares and exchanges all elements in pairs. For devices.
//              Takes constant extents up to 16384 and types of at most 32 bits
enum class SortBy { counting, network };

// x: of rank 1 to 4.
struct Sorted {
  Tensor rank;     // counting: the place of each element in the result, i64
  Tensor network;  // network: [steps + 1, ...], i64; the upper half of a word holds an element, the lower half its index
  Tensor index;    // the index in x of each element of the result (argsort), i64
  Tensor result;   // the elements in order
  operator Tensor() const { return result; }
};
Sorted sort(const Tensor& x, int axis = -1, bool descending = false, SortBy by = SortBy::counting,
            Where where = Where::current());
// The `index` of sort, i64.
Tensor argsort(const Tensor& x, int axis = -1, bool descending = false, SortBy by = SortBy::counting,
               Where where = Where::current());

// The k largest (smallest) elements in descending (ascending) order, and their indices. Types of at most 32 bits. The extent
// must lie in k to 2^31 - 1; a Symbol needs {.min = k, .max = 2147483647}.
//
// One integer encodes an element and its index: the upper half holds the element, as an integer with the same order, and the
// lower half the index, counted from the end. These integers are all different, so the k largest are k maxima, each over the
// integers below the previous one. Each is one stage. -0 becomes 0, and all NaNs become the same NaN.
struct TopK {
  Tensor words;               // i64, of the shape of x
  std::vector<Tensor> found;  // k of them; they lack the axis
  Tensor result, index;       // the axis has the extent k
  operator Tensor() const { return result; }
};
TopK topk(const Tensor& x, int k, int axis = -1, bool largest = true, Type index_type = i64, Where where = Where::current());

// ---- running: y(i) is the sum, product, largest or smallest of the elements of x from the first up to i, along the axis -----
struct CumulativeOptions {
  bool exclusive = false;  // without element i; the first result is the identity
  bool reverse = false;    // from the end to the beginning
};
struct Cumulative {
  Tensor accumulated, result;  // in the accumulator's type; in the type of x if that is floating-point
  operator Tensor() const { return result; }
};
Cumulative cumsum(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current());
Cumulative cumprod(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current());
Tensor cummax(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current());
Tensor cummin(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::ops
