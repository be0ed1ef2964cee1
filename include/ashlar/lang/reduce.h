// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Reductions: one stage holds one reduction and has one handle to schedule it by, so a reduction is not an Expr.
//
//   Axis k{"k", K};
//   compute("C", {M, N}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k).from(bias(j)); })
//   auto [best, place] = compute("top", {M}, [&](Var i) { return argmax(A(i, k), k); });
//
// An accumulation starts from the identity of its reducer, or from the value given to `.from`. The sum of a product of floats
// accumulates by fma, by definition (docs/ir.md). `max(a, b)` is elementwise and `maximum(x, k)` reduces: the names differ on
// purpose.
#include <type_traits>

#include <ashlar/lang/math.h>
#include <ashlar/lang/index.h>

namespace ashlar {

template <std::size_t N = 1>
class Reducer;

namespace detail {
struct Access;
enum class Reduce : std::uint8_t { sum, strict_sum, product, minimum, maximum, custom };
Expr adopt(const Expr& as, Operand value, const char* what);  // the operand as a value of the type of `as`, or refused
}  // namespace detail

template <std::size_t N = 1>
class Reduction {  // of N values: what compute takes; no Expr
 public:
  Reduction from(Operand initial) const  // starts there instead of at the identity
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
  ir::Id reducer_;               // of Reduce::custom
  Values<N> terms_, initial_{};  // initial: empty Exprs stand for the identity
  AxisList axes_;
  Where where_;
};

Reduction<> sum(Operand, AxisList, Where = Where::current());         // a schedule may regroup and reorder it
Reduction<> strict_sum(Operand, AxisList, Where = Where::current());  // left to right, whatever the schedule
Reduction<> product(Operand, AxisList, Where = Where::current());     // over nothing 1
Reduction<> maximum(Operand, AxisList, Where = Where::current());     // over nothing lowest(type); a NaN wins
Reduction<> minimum(Operand, AxisList, Where = Where::current());     // over nothing highest(type); a NaN wins
// {value, i64 place}: the extreme value and the index of it along the axis (one axis; a number for several is the business of a
// reducer of one's own). The smallest place wins among equals, and a NaN wins over numbers, as it does in maximum and minimum.
// Over nothing: the identity of the value, and highest(i64).
Reduction<2> argmax(Operand, AxisList, Where = Where::current());
Reduction<2> argmin(Operand, AxisList, Where = Where::current());

// ---- reducers of the user's own -------------------------------------------------------------------------------------------
enum class Order { exact, regroup, any };  // what the reducer allows a schedule: nothing; associative; and commutative

namespace detail {
Expr placeholder(Type, const char* side, std::size_t component);
struct Declaration {  // of a reducer of `count` components; left and right: the placeholders that `combined` is over
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
  Reducer() = default;  // of nothing: using it is refused
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
// The combiner is called once, with placeholders, and is over them and constants alone. combine(identity, x) = x must hold, and
// what `order` claims: combine(combine(x, y), z) = combine(x, combine(y, z)) for regroup, combine(x, y) = combine(y, x) as well
// for any. Both are tried on ordinary and edge values as the reducer is declared (floats to a tolerance, NaN and infinity
// aside), and a counterexample is refused.
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

enum class Combine { add, multiply, max, min, bit_or, bit_and, bit_xor };

}  // namespace ashlar
