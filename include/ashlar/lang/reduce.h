// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Reductions. A reduction is not an Expr: it is a whole stage with its own handle in the schedule, so compute gives it a name.
//
//   Axis k{"k", K};
//   compute("C", {M, N}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k).from(bias(j)); })
//   auto [best, place] = compute("top", {M}, [&](Var i) { return argmax(A(i, k), k); });
//
// Accumulation starts from the identity of the reducer, or from the value given by `.from`. A sum of products of floats uses
// fma (docs/ir.md). `maximum(x, k)` reduces; `max(a, b)` is elementwise.
#include <type_traits>

#include <ashlar/lang/math.h>
#include <ashlar/lang/index.h>

namespace ashlar {

template <std::size_t N = 1>
class Reducer;

namespace detail {
struct Access;
enum class Reduce : std::uint8_t { sum, strict_sum, product, minimum, maximum, custom };
Expr adopt(const Expr& as, Operand value, const char* what);  // the operand in the type of `as`, or refused
}  // namespace detail

template <std::size_t N = 1>
class Reduction {  // a reduction of N values; an argument of compute, not of formulas
 public:
  Reduction from(Operand initial) const  // starts from this value instead of the identity
    requires(N == 1)
  {
    return from(Values<1>{detail::adopt(terms_[0], initial, "from")});
  }
  Reduction from(const Values<N>& initial) const {
    Reduction r = *this;
    for (std::size_t k = 0; k < N; ++k) r.initial_[k] = detail::adopt(terms_[k], Operand(initial[k], where_), "from");
    return r;
  }

 private:
  friend struct detail::Access;
  template <std::size_t>
  friend class Reducer;
  Reduction(detail::Reduce kind, const Values<N>& terms, AxisList axes, Where where, ir::Id reducer = 0)
      : kind_(kind), reducer_(reducer), terms_(terms), axes_(std::move(axes)), where_(where) {}
  detail::Reduce kind_;
  ir::Id reducer_;               // with Reduce::custom
  Values<N> terms_, initial_{};  // an empty initial value stands for the identity
  AxisList axes_;
  Where where_;
};

Reduction<> sum(Operand, AxisList, Where = Where::current());         // the schedule may regroup and reorder the terms
Reduction<> strict_sum(Operand, AxisList, Where = Where::current());  // left to right, whatever the schedule
Reduction<> product(Operand, AxisList, Where = Where::current());     // 1 over an empty range
Reduction<> maximum(Operand, AxisList, Where = Where::current());     // lowest(type) over an empty range; NaN if a term is NaN
Reduction<> minimum(Operand, AxisList, Where = Where::current());     // highest(type) over an empty range; NaN if a term is NaN
// {value, place}: the extreme value along one axis, and its index (i64). Refused for several axes: use a reducer of your own.
// Among equal values the smallest index wins; NaN wins over numbers, as in maximum and minimum. Over an empty range: the
// identity of the value, and highest(i64).
Reduction<2> argmax(Operand, AxisList, Where = Where::current());
Reduction<2> argmin(Operand, AxisList, Where = Where::current());

// ---- user-defined reducers --------------------------------------------------------------------------------------------------
// What a schedule may do with the terms. exact: nothing. regroup: regroup them (the combiner is associative). any: also reorder
// them (it is commutative, too).
enum class Order { exact, regroup, any };

namespace detail {
Expr placeholder(Type, const char* side, std::size_t component);
struct Declaration {  // `combined` is a formula of the placeholders left and right, each of `count` components
  const char* name;
  std::size_t count;
  const Type* types;
  const Operand* identity;
  const Expr *left, *right, *combined;
  Order order;
  Where where;
};
ir::Id declare_reducer(const Declaration&);
void adopt_terms(ir::Id reducer, Expr* terms, const Operand* given, std::size_t count, const AxisList&, Where);
}  // namespace detail

template <std::size_t N>
class Reducer {
 public:
  Reducer() = default;  // using an empty Reducer is refused
  Reduction<N> operator()(const Values<N>& terms, AxisList axes, Where where = Where::current()) const {
    return reduce([&](std::size_t k) { return Operand(terms[k], where); }, std::move(axes), where);
  }
  Reduction<1> operator()(Operand term, AxisList axes, Where where = Where::current()) const
    requires(N == 1)
  {
    return reduce([&](std::size_t) { return term; }, std::move(axes), where);
  }

 private:
  template <std::size_t M, class F>
  friend Reducer<M> reducer(const char*, const Type (&)[M], const Operand (&)[M], F&&, Order, Where);
  friend struct detail::Access;
  explicit Reducer(ir::Id id) : id_(id) {}
  template <class F>
  Reduction<N> reduce(F term, AxisList axes, Where where) const {
    std::vector<Operand> given;
    for (std::size_t k = 0; k < N; ++k) given.push_back(term(k));
    Values<N> terms;
    detail::adopt_terms(id_, terms.data(), given.data(), N, axes, where);
    return Reduction<N>(detail::Reduce::custom, terms, std::move(axes), where, id_);
  }
  ir::Id id_ = 0;
};

// reducer("max", {f32}, {lowest(f32)}, [](Values<1> a, Values<1> b) { return values(max(a[0], b[0])); }, Order::any)
//
// The combiner is called once, with placeholders, and may use only these and constants. Required: combine(identity, x) = x; for
// Order::regroup, combine(combine(x, y), z) = combine(x, combine(y, z)); for Order::any, also combine(x, y) = combine(y, x).
// The declaration is tested on ordinary values and edge cases (floats up to a tolerance, without NaN and infinity) and refused
// if there is a counterexample. The test is not a proof.
template <std::size_t N, class F>
Reducer<N> reducer(const char* name, const Type (&types)[N], const Operand (&identity)[N], F&& combine, Order order,
                   Where where = Where::current()) {
  static_assert(std::is_invocable_r_v<Values<N>, F, Values<N>, Values<N>>,
                "reducer: the combiner takes two Values<N> and returns Values<N>, N being the number of types");
  Values<N> left, right;
  for (std::size_t k = 0; k < N; ++k) {
    left[k] = detail::placeholder(types[k], "a", k);
    right[k] = detail::placeholder(types[k], "b", k);
  }
  const Values<N> combined = combine(left, right);
  return Reducer<N>(
      detail::declare_reducer({name, N, types, identity, left.data(), right.data(), combined.data(), order, where}));
}

// Reducers that scatters and scans take by name.
enum class Combine { add, multiply, max, min, bit_or, bit_and, bit_xor };

}  // namespace ashlar
