// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Scans: running sums, running maxima, or running results of any other reducer, along one dimension. A scan is a recurrence
// (lang/recur.h).
//
//   scan("below", {256}, Along{0}, Combine::add, [&](Var i) { return counts(i); })            counts(0) + ... + counts(i)
//   scan(..., Scan::exclusive)                                                                counts(0) + ... + counts(i - 1)
//   auto [a, b] = scan("composed", {N}, Along{0}, affine, [&](Var i) { return values(p(i), q(i)); })    with your own reducer
//
//   inclusive    y(t) = combine(y(t - 1), v(t)); the first combines the identity with its term
//   exclusive    y(t) = combine(y(t - 1), v(t - 1)); the first is the identity
//
// Terms are combined one after the other in their order, so the combiner need not be commutative. Unlike a sum, a running sum
// of products does not use fma: each step rounds twice.
#include <ashlar/lang/recur.h>

namespace ashlar {

enum class Scan { inclusive, exclusive };

namespace detail {
struct Scanned {  // by `combine`, or by the declared `reducer` if it is not 0
  const Site& site;
  const Along& along;
  Combine combine;
  ir::Id reducer;
  Scan kind;
};
void define_scan(const Scanned&, const Operand* terms, std::size_t count, Tensor* results);
template <std::size_t K, class F>
auto scan(const Site& site, const Along& along, Combine combine, ir::Id reducer, F term, Scan kind) {
  static_assert(components_of<decltype(term())> == K,
                "scan: the lambda returns a term of the reducer: one value, or values(...) of as many as it has");
  const auto terms = operands_of(term(), site.where, std::make_index_sequence<K>{});
  std::array<Tensor, K> results;
  define_scan({site, along, combine, reducer, kind}, terms.data(), K, results.data());
  if constexpr (K == 1)
    return results[0];
  else
    return results;
}
template <std::size_t K, std::size_t N, class F>
auto scan(const char* name, const Extent (&extents)[N], const Along& along, Combine combine, ir::Id reducer, F& f, Scan kind,
          Where where) {
  static_assert(one_var_per_dimension<F, N>, "scan: the lambda takes one Var for each extent in the braces");
  const Indices at = new_indices(extents, N);
  return scan<K>(
      Site{name, extents, at, where}, along, combine, reducer, [&] { return call(f, at, std::make_index_sequence<N>{}); },
      kind);
}
}  // namespace detail

template <std::size_t N, class F>
Tensor scan(const char* name, const Extent (&extents)[N], Along along, Combine combine, F&& term, Scan kind = Scan::inclusive,
            Where where = Where::current()) {
  return detail::scan<1>(name, extents, along, combine, 0, term, kind, where);
}
template <std::size_t N, std::size_t K, class F>
auto scan(const char* name, const Extent (&extents)[N], Along along, const Reducer<K>& reducer, F&& term,
          Scan kind = Scan::inclusive, Where where = Where::current()) {
  return detail::scan<K>(name, extents, along, Combine::add, detail::Access::reducer(reducer), term, kind, where);
}
// A shape of any rank: the lambda is [&](Indices i).
template <class F>
  requires std::is_invocable_v<F, Indices>
Tensor scan(const char* name, const Shape& shape, Along along, Combine combine, F&& term, Scan kind = Scan::inclusive,
            Where where = Where::current()) {
  const Indices at = detail::new_indices(shape.extents().data(), shape.extents().size());
  return detail::scan<1>(
      detail::Site{name, shape.extents().data(), at, where}, along, combine, 0, [&] { return term(at); }, kind);
}

}  // namespace ashlar
