// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// compute: defines a tensor by a formula for each element. Each call makes one stage.
//
//   compute("C", {M, N}, [&](Var i, Var j) { return A(i, j) * 2; })      computed for exactly this domain
//   compute("bx", [&](Var y, Var x) { return ...; })                     computed for what its readers read: a stencil's halo
//   compute("y", x.shape(), [&](Indices i) { return exp(x(i)); })        for a shape of any rank
//
// The lambda is called once, before compute returns, so capturing by reference, [&], is safe. A lambda that returns values(a,
// b) defines several tensors, returned in a std::array. The compiler checks that the lambda takes one Var for each extent in
// the braces.
#include <array>
#include <type_traits>
#include <utility>

#include <ashlar/lang/reduce.h>
#include <ashlar/lang/tensor.h>

namespace ashlar {
namespace detail {

struct Site {  // a definition: its name, domain, index variables and line
  const char* name;
  const Extent* extents;  // null: the domain is inferred
  const Indices& at;      // one Var for each dimension
  Where where;
};
Indices new_indices(const Extent* extents, std::size_t rank);  // new Vars, named by the labels of the extents

struct Reduced {  // a Reduction, whatever its number of values
  Reduce kind;
  ir::Id reducer;
  std::size_t count;
  const Expr *terms, *initial;
  const AxisList& axes;
  Where where;
};

struct Access {
  static Var var(const Indices& at, std::size_t dim) { return Var(at.at_[dim]); }
  static void append(Indices& at, const Expr& e) { at.at_[at.rank_++] = e; }
  static Tensor tensor(ir::Id id) { return Tensor(id); }
  template <std::size_t N>
  static ir::Id reducer(const Reducer<N>& r) {
    return r.id_;
  }
  template <std::size_t N>
  static Reduction<N> reduction(Reduce kind, const Values<N>& terms, AxisList axes, Where where) {
    return Reduction<N>(kind, terms, std::move(axes), where);
  }
  template <std::size_t N>
  static Reduced reduced(const Reduction<N>& r) {
    return {r.kind_, r.reducer_, N, r.terms_.data(), r.initial_.data(), r.axes_, r.where_};
  }
};

void define_values(const Site&, const Expr* values, std::size_t count, Tensor* results);
Tensor define(const Site&, Operand value);
void define_reduction(const Site&, const Reduced&, Tensor* results);
template <std::size_t N>
std::array<Tensor, N> define(const Site& site, const Values<N>& values) {
  std::array<Tensor, N> results;
  define_values(site, values.data(), N, results.data());
  return results;
}
template <std::size_t N>
auto define(const Site& site, const Reduction<N>& r) {
  std::array<Tensor, N> results;
  define_reduction(site, Access::reduced(r), results.data());
  if constexpr (N == 1)
    return results[0];
  else
    return results;
}

template <std::size_t>
using VarAt = Var;
template <class F, class>
struct takes_vars;
template <class F, std::size_t... I>
struct takes_vars<F, std::index_sequence<I...>> : std::is_invocable<F, VarAt<I>...> {};
template <class F, std::size_t N>
inline constexpr bool one_var_per_dimension = takes_vars<F, std::make_index_sequence<N>>::value;
// A lambda whose body does not compile is not invocable with any number of Vars. The compiler has then printed the error
// already, so no static_assert adds another.
template <class F, std::size_t... N>
inline constexpr bool takes_any_of = (one_var_per_dimension<F, N> || ...);
template <class F, std::size_t... I>
auto call(F& f, const Indices& at, std::index_sequence<I...>) {
  return f(Access::var(at, I)...);
}

// The rank of a lambda whose parameter types are written out (Var, not auto).
template <class>
struct arity {};
template <class R, class C, class... A>
struct arity<R (C::*)(A...) const> {
  static constexpr std::size_t value = sizeof...(A);
};
template <class R, class C, class... A>
struct arity<R (C::*)(A...)> {
  static constexpr std::size_t value = sizeof...(A);
};
template <class R, class C, class... A>
struct arity<R (C::*)(A...) const noexcept> {
  static constexpr std::size_t value = sizeof...(A);
};
template <class R, class C, class... A>
struct arity<R (C::*)(A...) noexcept> {
  static constexpr std::size_t value = sizeof...(A);
};
template <class F>
concept written_out_parameters = requires { &std::remove_cvref_t<F>::operator(); };

template <std::size_t N, class F>
auto build(const char* name, const Extent* extents, F& body, Where where) {
  static_assert(N <= max_rank, "compute: a tensor has at most 8 dimensions");
  if constexpr (one_var_per_dimension<F, N>) {
    const Indices at = new_indices(extents, N);
    using dimensions = std::make_index_sequence<N>;
    using Result = decltype(call(body, at, dimensions{}));
    static_assert(!std::is_void_v<Result>, "compute: the lambda returns the value of an element: write return");
    if constexpr (std::is_void_v<Result>)
      return Tensor{};
    else
      return define(Site{name, extents, at, where}, call(body, at, dimensions{}));
  } else {
    static_assert(!takes_any_of<F, 0, 1, 2, 3, 4, 5, 6, 7, 8>,
                  "compute: the lambda takes one Var for each extent in the braces");
    static_assert(
        !std::is_invocable_v<F, Indices>,
        "compute: a lambda over Indices takes a Shape, which has any rank: write x.shape() in the place of the braces");
    return Tensor{};
  }
}
}  // namespace detail

template <std::size_t N, class F>
auto compute(const char* name, const Extent (&extents)[N], F&& body, Where where = Where::current()) {
  return detail::build<N>(name, extents, body, where);
}

template <class F>
auto compute(const char* name, F&& body, Where where = Where::current()) {
  static_assert(detail::written_out_parameters<F>,
                "compute without extents: write the parameters as Var, not auto, so that the rank is known");
  if constexpr (detail::written_out_parameters<F>)
    return detail::build<detail::arity<decltype(&std::remove_cvref_t<F>::operator())>::value>(name, nullptr, body, where);
  else
    return Tensor{};
}

template <class F>
  requires std::is_invocable_v<F, Indices>
auto compute(const char* name, const Shape& shape, F&& body, Where where = Where::current()) {
  const Indices at = detail::new_indices(shape.extents().data(), shape.extents().size());
  return detail::define(detail::Site{name, shape.extents().data(), at, where}, body(at));
}

template <std::size_t N, class F>
Tensor compute(const Extent (&)[N], F&&) {
  static_assert(detail::never<F>, "compute: its name comes first: compute(\"C\", {M, N}, [&](Var i, Var j) { return ...; })");
  return {};
}

}  // namespace ashlar
