#pragma once
// Reductions: one stage holds one reduction and has one handle to schedule it by, so a reduction is not an Expr.
//
//   Axis k{"k", K};
//   compute("C", {M, N}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k).from(bias(j)); })
//
// An accumulation starts from the identity of its reducer, or from the value given to `.from`. The sum of a product of floats
// accumulates by fma, by definition (docs/ir.md). `max(a, b)` is elementwise and `maximum(x, k)` reduces: the names differ on
// purpose.
#include <type_traits>

#include <ashlar/lang/math.h>
#include <ashlar/lang/index.h>

namespace ashlar {

namespace detail {
enum class Reduce : std::uint8_t { sum, strict_sum, product, minimum, maximum };
Expr adopt(const Expr& as, Operand value, const char* what);  // the operand as a value of the type of `as`, or refused
[[noreturn]] void not_in_this_version(const char* what, Where);
}  // namespace detail

template <std::size_t N = 1>
class Reduction {
 public:
  Reduction from(Operand initial) const
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
  Reduction(detail::Reduce kind, const Values<N>& terms, AxisList axes, Where where)
      : kind_(kind), terms_(terms), axes_(std::move(axes)), where_(where) {}
  detail::Reduce kind_;
  Values<N> terms_, initial_{};  // initial: empty Exprs stand for the identity
  AxisList axes_;
  Where where_;
};

Reduction<> sum(Operand, AxisList, Where = Where::current());         // a schedule may regroup and reorder it
Reduction<> strict_sum(Operand, AxisList, Where = Where::current());  // left to right, whatever the schedule
Reduction<> product(Operand, AxisList, Where = Where::current());
Reduction<> maximum(Operand, AxisList, Where = Where::current());
Reduction<> minimum(Operand, AxisList, Where = Where::current());
Reduction<2> argmax(Operand, AxisList, Where = Where::current());  // {value, i64 position}; the smallest position wins
Reduction<2> argmin(Operand, AxisList, Where = Where::current());

// ---- reducers of the user's own -------------------------------------------------------------------------------------------
enum class Order { exact, regroup, any };  // what the reducer allows a schedule: nothing; associative; and commutative

template <std::size_t N = 1>
class Reducer {
 public:
  Reduction<N> operator()(const Values<N>&, AxisList, Where where = Where::current()) const {
    detail::not_in_this_version("reducer", where);
  }
  Reduction<1> operator()(Operand, AxisList, Where where = Where::current()) const
    requires(N == 1)
  {
    detail::not_in_this_version("reducer", where);
  }
};

// reducer("max", {f32}, {lowest(f32)}, [](Values<1> a, Values<1> b) { return values(max(a[0], b[0])); }, Order::any)
template <std::size_t N, class F>
Reducer<N> reducer(const char*, const Type (&)[N], const Operand (&)[N], F&&, Order, Where where = Where::current()) {
  static_assert(std::is_invocable_r_v<Values<N>, F, Values<N>, Values<N>>,
                "reducer: the combiner takes two Values<N> and returns Values<N>, N being the number of types");
  detail::not_in_this_version("reducer", where);
}
enum class Combine { add, multiply, max, min, bit_or, bit_and, bit_xor };

}  // namespace ashlar
