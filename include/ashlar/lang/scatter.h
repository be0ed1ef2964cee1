// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Scatters: each point of `over` combines a value into an element of the result at indices that it computes.
//
//   scatter("counts", {256}, Combine::add, u32(0), {H, W}, [&](Var y, Var x) { return put(u32(1), in(y, x)); })
//   scatter("grad", {V, D}, Combine::add, 0.f, {N, D}, [&](Var n, Var d) { return put(g(n, d), rows(n), d); })
//
// Every element starts with the initial value. Points are visited in the order of `over`, the first dimension outermost. A
// Combine may take them in any order; a reducer of your own states which orders it allows. Every index must lie in the result.
// The range of its type, clamp, in_range or the condition of put_if must prove this, or the definition is refused.
//
// put_if(keep, value, at...) skips the points where `keep` is false, and reads neither value nor index there. puts(put(...),
// put(...)) makes several updates in one step, in that order. In the schedule they are one more loop, the innermost one.
#include <type_traits>

#include <ashlar/lang/compute.h>

namespace ashlar {

template <std::size_t N>
struct Put {
  Expr keep;  // empty: every point counts
  Expr value;
  std::array<Expr, N> at;
  Where where;
};
template <std::size_t N, std::size_t K>
struct Puts {
  std::array<Put<N>, K> each;
};

namespace detail {
Expr put_index(Operand at, Where where);
}

template <class... I>
Put<sizeof...(I)> put(Operand value, const I&... at) {
  return {{}, value_of(value), {detail::put_index(at, value.where())...}, value.where()};
}
template <class... I>
Put<sizeof...(I)> put_if(Operand keep, Operand value, const I&... at) {
  return {value_of(keep), value_of(value), {detail::put_index(at, value.where())...}, value.where()};
}
template <std::size_t N, class... P>
Puts<N, 1 + sizeof...(P)> puts(const Put<N>& first, const P&... others) {
  static_assert((std::is_same_v<P, Put<N>> && ...), "puts: each is put(value, indices...) with one number of indices");
  return {{first, others...}};
}

namespace detail {
template <std::size_t N>
std::integral_constant<std::size_t, N> rank_of_put(const Put<N>&);
template <std::size_t N, std::size_t K>
std::integral_constant<std::size_t, N> rank_of_put(const Puts<N, K>&);
template <class F, class>
struct put_rank;
template <class F, std::size_t... I>
struct put_rank<F, std::index_sequence<I...>> {
  static constexpr std::size_t value = decltype(rank_of_put(std::declval<F>()(std::declval<VarAt<I>>()...)))::value;
};

struct PutAt {  // one update, of any rank
  Expr keep, value;
  const Expr* at;
  Where where;
};
struct ScatterSite {
  const char* name;
  const Extent* extents;  // extents of the result
  std::size_t rank;
  const Extent* over;
  const Indices& points;  // one Var for each dimension of `over`
  Where where;
};
Indices new_points(const Extent* over, std::size_t rank, const char* name, Where where);
Tensor define_scatter(const ScatterSite&, Combine, const Operand& init, const PutAt* puts, std::size_t count);
Tensor define_scatter(const ScatterSite&, const Reducer<1>&, const Operand& init, const PutAt* puts, std::size_t count);

template <class R, std::size_t N>
Tensor scatter_of(const ScatterSite& site, const R& reducer, const Operand& init, const Put<N>& p) {
  const PutAt one{p.keep, p.value, p.at.data(), p.where};
  return define_scatter(site, reducer, init, &one, 1);
}
template <class R, std::size_t N, std::size_t K>
Tensor scatter_of(const ScatterSite& site, const R& reducer, const Operand& init, const Puts<N, K>& p) {
  PutAt all[K];
  for (std::size_t k = 0; k < K; ++k) all[k] = {p.each[k].keep, p.each[k].value, p.each[k].at.data(), p.each[k].where};
  return define_scatter(site, reducer, init, all, K);
}
template <std::size_t N, std::size_t M, class R, class F>
Tensor scatter_with(const char* name, const Extent* extents, const R& reducer, const Operand& init, const Extent* over, F& body,
                    Where where) {
  static_assert(N <= max_rank && M <= max_rank, "scatter: a tensor has at most 8 dimensions");
  static_assert(one_var_per_dimension<F, M>, "scatter: the lambda takes one Var for each extent of `over`");
  if constexpr (one_var_per_dimension<F, M>) {
    constexpr bool fits = put_rank<F, std::make_index_sequence<M>>::value == N;
    static_assert(fits, "scatter: put(value, indices...) has one index for each extent of the result");
    if constexpr (fits) {
      const Indices points = new_points(over, M, name, where);
      return scatter_of({name, extents, N, over, points, where}, reducer, init,
                        call(body, points, std::make_index_sequence<M>{}));
    }
  }
  return Tensor{};
}
}  // namespace detail

// Computes out(at) = combine(out(at), value) for every point of `over`, starting from `init`.
template <std::size_t N, std::size_t M, class F>
Tensor scatter(const char* name, const Extent (&extents)[N], Combine reducer, Operand init, const Extent (&over)[M], F&& body,
               Where where = Where::current()) {
  return detail::scatter_with<N, M>(name, extents, reducer, init, over, body, where);
}
template <std::size_t N, std::size_t M, class F>
Tensor scatter(const char* name, const Extent (&extents)[N], const Reducer<1>& reducer, Operand init, const Extent (&over)[M],
               F&& body, Where where = Where::current()) {
  return detail::scatter_with<N, M>(name, extents, reducer, init, over, body, where);
}

}  // namespace ashlar
