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
inline Expr is_nan(const Expr& e) { return e.type().is_float() ? isnan(e) : Expr(false); }
// Does a come before b, as values? And are they equal?
inline Expr less(const Expr& a, const Expr& b) { return a.type().is_float() ? !isnan(a) && (isnan(b) || a < b) : Expr(a < b); }
inline Expr equal(const Expr& a, const Expr& b) {
  return a.type().is_float() ? a == b || (isnan(a) && isnan(b)) : Expr(a == b);
}
}  // namespace detail

// By counting, for each element, those that come before it: n^2 comparisons that depend on nothing, for rows of some hundreds.
// x: of rank 1 to 4.
struct Sorted {
  Tensor rank;    // where each element goes, i64
  Tensor index;   // which element stands at each place (argsort), i64
  Tensor result;  // the elements
  operator Tensor() const { return result; }
};
inline Sorted sort(const Tensor& x, int axis = -1, bool descending = false, Where where = Where::current()) {
  detail::expect(!x.type(where).is_bool(), "sort", "x of numbers", "bool", where);
  const int d = detail::dimension("sort", axis, x.rank(where), where);
  const Expr n = x.extent(d, where);
  const Axis j{"j", Operand(n, where), where};
  Sorted s;
  s.rank = compute(
      "sort_rank", x.shape(where),
      [&](Indices i) {
        const Expr own = x(i, where), other = x(i.with(d, j), where);
        const Expr before =
            (descending ? detail::less(own, other) : detail::less(other, own)) || (detail::equal(own, other) && j < i[d]);
        return sum(select(before, i64(1), 0), j, where);
      },
      where);
  s.index = detail::scatter_any("sort", x, s.rank, d, Places::promised, Combine::max, i64(0), where,
                                [&](const Indices& i) { return i64(i[d]); });
  s.result =
      compute("sort", x.shape(where), [&](Indices i) { return x(i.with(d, in_range(s.index(i, where), 0, n)), where); }, where);
  return s;
}
// The `index` of sort, i64.
inline Tensor argsort(const Tensor& x, int axis = -1, bool descending = false, Where where = Where::current()) {
  return sort(x, axis, descending, where).index;
}

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
namespace detail {
// Integers of 32 bits, as i64, that compare as elements do.
inline Expr sorting_key(const Expr& v) {
  if (!v.type().is_float()) return i64(v) - (v.type() == u32 ? std::int64_t{1} << 31 : 0);
  const Expr wide = f32(v), bits = bitcast(i32, wide + 0.0f);  // -0 + 0 = 0: the zeros are equal
  return i64(select(isnan(wide), highest(i32), bits ^ ((bits >> 31) & 0x7fffffff)));
}
inline Expr element_of_key(const Expr& key, Type type) {
  if (!type.is_float()) return type(key + (type == u32 ? std::int64_t{1} << 31 : 0));
  const Expr bits = i32(key);
  return type(bitcast(f32, bits ^ ((bits >> 31) & 0x7fffffff)));
}
}  // namespace detail
inline TopK topk(const Tensor& x, int k, int axis = -1, bool largest = true, Type index_type = i64,
                 Where where = Where::current()) {
  const Type type = x.type(where);
  detail::expect(!type.is_bool() && type.bits <= 32, "topk", "x of numbers of at most 32 bits", ir::text(type), where);
  detail::expect(k >= 1, "topk", "k of at least 1", std::to_string(k), where);
  detail::expect(index_type.is_data_integer() && index_type.bits >= 32, "topk", "places of i32, u32, i64 or u64",
                 ir::text(index_type), where);
  const int d = detail::dimension("topk", axis, x.rank(where), where);
  const std::int64_t n = detail::number_or(x.extent(d, where), k);
  detail::expect(n >= k, "topk", "x whose dimension " + std::to_string(d) + " has at least " + std::to_string(k) + " elements",
                 std::to_string(n), where);
  TopK t;
  t.words = compute(
      "topk_words", x.shape(where),
      [&](Indices i) {
        const Expr key = detail::sorting_key(x(i, where));
        return ((largest ? key : -1 - key) << 32) | i64(0x7fffffff - i[d]);
      },
      where);
  const Axis j{"j", Operand(x.extent(d, where), where), where};
  const Shape row = x.shape(where).drop(d, where);
  for (int r = 0; r < k; ++r)
    t.found.push_back(compute(
        "topk_found", row,
        [&](Indices i) {
          Indices at;  // of the element j
          for (int e = 0; e < i.rank() + 1; ++e) detail::Access::append(at, e < d ? i[e] : e == d ? Expr(j) : i[e - 1]);
          const Expr w = t.words(at, where);
          return ashlar::maximum(r == 0 ? w : select(w < t.found.back()(i, where), w, lowest(i64)), j, where);
        },
        where));
  auto [values_, places] = compute(
      "topk", x.shape(where).with(d, k, where),
      [&](Indices i) {
        const Indices at = i.drop(d);
        Expr w = t.found[0](at, where);
        for (int b = 1; b < k; ++b) w = select(i[d] == b, t.found[static_cast<std::size_t>(b)](at, where), w);
        const Expr key = w >> 32;
        return values(detail::element_of_key(largest ? key : -1 - key, type), index_type(0x7fffffff - i32(w & 0x7fffffff)));
      },
      where);
  t.result = values_, t.index = places;
  return t;
}

// ---- running: y(i) is the sum, product, largest or smallest of x from its beginning up to i, along the axis -----------------
struct CumulativeOptions {
  bool exclusive = false;  // without the element itself: the identity comes first
  bool reverse = false;    // from the end
};
namespace detail {
inline Tensor cumulative(const char* op, const Tensor& x, int axis, const CumulativeOptions& o, Combine combine, Type wide,
                         Where where) {
  const int d = dimension(op, axis, x.rank(where), where);
  return scan(
      op, x.shape(where), o.reverse ? Along(d).backwards() : Along(d), combine, [&](Indices i) { return wide(x(i, where)); },
      o.exclusive ? Scan::exclusive : Scan::inclusive, where);
}
}  // namespace detail
struct Cumulative {
  Tensor accumulated, result;  // in the accumulator; in the type of x, where that is floating
  operator Tensor() const { return result; }
};
inline Cumulative cumsum(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current()) {
  const Type type = x.type(where);
  const Tensor all = detail::cumulative("cumsum", x, axis, o, Combine::add, accumulator(type), where);
  return {all, type.is_float() ? detail::converted("cumsum", all, type, where) : all};
}
inline Cumulative cumprod(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current()) {
  const Type type = x.type(where);
  const Tensor all = detail::cumulative("cumprod", x, axis, o, Combine::multiply, accumulator(type), where);
  return {all, type.is_float() ? detail::converted("cumprod", all, type, where) : all};
}
inline Tensor cummax(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current()) {
  return detail::cumulative("cummax", x, axis, o, Combine::max, x.type(where), where);
}
inline Tensor cummin(const Tensor& x, int axis = -1, const CumulativeOptions& o = {}, Where where = Where::current()) {
  return detail::cumulative("cummin", x, axis, o, Combine::min, x.type(where), where);
}

}  // namespace ashlar::ops
