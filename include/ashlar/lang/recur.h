#pragma once
// Scans and recurrences. They are part of the language and checked as such when compiled; this version refuses them
// when they are called.
//
//   scan("below", {256}, Along{0}, Combine::add, [&](Var level) { return counts(level); })
//   recur("iir", {R, T}, Along{1}, Lag{1}, first, [&](Prior y, Var r, Var t) { return a * x(r, t) + b * y(r, t - 1); })
#include <ashlar/lang/compute.h>

namespace ashlar {

struct Along {
  int dim;
};
enum class Scan { inclusive, exclusive };

template <std::size_t N, class F>
Tensor scan(const char*, const Extent (&)[N], Along, Combine, F&&, Scan = Scan::inclusive, Where where = Where::current()) {
  static_assert(detail::one_var_per_dimension<F, N>, "scan: the lambda takes one Var for each extent in the braces");
  detail::not_in_this_version("scan", where);
}
template <std::size_t N, class F>
Tensor scan(const char*, const Extent (&)[N], Along, const Reducer<1>&, F&&, Scan = Scan::inclusive,
            Where where = Where::current()) {
  static_assert(detail::one_var_per_dimension<F, N>, "scan: the lambda takes one Var for each extent in the braces");
  detail::not_in_this_version("scan", where);
}

class Prior {  // the values of earlier steps
 public:
  Expr operator()(Operand at) const { detail::not_in_this_version("recur", at.where()); }
  Expr operator()(Operand at, Operand) const { detail::not_in_this_version("recur", at.where()); }
  Expr operator()(Operand at, Operand, Operand) const { detail::not_in_this_version("recur", at.where()); }
};
struct Lag {
  int steps = 1;
};

namespace detail {
template <class F, class>
struct takes_prior;
template <class F, std::size_t... I>
struct takes_prior<F, std::index_sequence<I...>> : std::is_invocable<F, Prior, VarAt<I>...> {};
}  // namespace detail

// y(r, t) = first(r, t) for t < lag, step(y, r, t) after: filters, dynamic programming
template <std::size_t N, class First, class Step>
Tensor recur(const char*, const Extent (&)[N], Along, Lag, First&&, Step&&, Where where = Where::current()) {
  static_assert(detail::one_var_per_dimension<First, N>, "recur: the first lambda takes one Var for each extent");
  static_assert(detail::takes_prior<Step, std::make_index_sequence<N>>::value,
                "recur: the second lambda takes a Prior, then one Var for each extent");
  detail::not_in_this_version("recur", where);
}

}  // namespace ashlar
