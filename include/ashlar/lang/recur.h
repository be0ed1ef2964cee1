// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Recurrences: tensors whose elements are computed in order, each from earlier elements.
//
//   recur("iir", {R, T}, Along{1}, Lag{1}, [&](Var r, Var t) { return x(r, t); },                         t < 1
//         [&](Prior y, Var r, Var t) { return a * x(r, t) + (1 - a) * y(r, t - 1); })                     t >= 1
//
//   Along{1}             the dimension to run along, from begin to end; Along{1}.backwards(): from end to begin
//   Along{0, 1}          several dimensions, the slowest first: a table filled row by row
//   Lag{1}               how many steps at the start the first lambda gives; Lag{1, 0}: one number for each dimension of Along
//   y(r, t - 1)          an earlier element: at a constant distance along these dimensions, or wherever bounds and conditions
//                        show that it is earlier. Once one ordered dimension goes back, the others are free. Backwards, an
//                        earlier element is y(r, t + 1).
//   y[0](t - 1)          for a state of several values, values(mean, m2): one tensor for each, as with compute
//
// A step may reduce over earlier elements. The reduction becomes a stage, named after the recurrence and the reducer ("x_sum"):
//
//   recur("x", {N}, Along{0}, Lag{0}, [&](Var) { return f32(0); }, [&](Prior x, Var t) {     Lag{0}: no element is given
//     const Axis k{"k", t};                                                                  all earlier steps
//     return (b(t) - sum(L(t, k) * x(k), k)) / L(t, t);
//   })
//
// Each lambda is called once. The first one also determines the types of the state.
#include <ashlar/lang/compute.h>

namespace ashlar::ir {
struct Reducer;
}
namespace ashlar {

// The dimensions that a recurrence runs along, slowest first, and their directions.
struct Along {
  template <std::same_as<int>... D>
  Along(int first, D... more) : dims{first, more...}, count(1 + sizeof...(more)) {
    static_assert(1 + sizeof...(D) <= max_rank, "Along: a tensor has at most 8 dimensions");
  }
  Along backwards() const {
    Along a = *this;
    for (bool& b : a.descending) b = true;
    return a;
  }
  // Runs one dimension backwards: Along{0, 1}.backwards(0) fills a table from its diagonal outwards. A dimension that is not
  // among these is refused where the recurrence is declared.
  Along backwards(int dim) const {
    Along a = *this;
    bool found = false;
    for (std::size_t k = 0; k < count; ++k)
      if (dims[k] == dim) found = a.descending[k] = true;
    if (!found && !a.misses_one) a.misses_one = true, a.missing = dim;
    return a;
  }
  int dims[max_rank] = {};
  std::size_t count;
  bool descending[max_rank] = {};
  bool misses_one = false;  // backwards(missing) named a dimension that is not in dims
  int missing = 0;
};

// How far back steps reach: the number of steps that the first lambda gives.
struct Lag {
  template <std::same_as<int>... D>
  Lag(int first, D... more) : steps{first, more...}, count(1 + sizeof...(more)) {
    static_assert(1 + sizeof...(D) <= max_rank, "Lag: a tensor has at most 8 dimensions");
  }
  int steps[max_rank] = {};
  std::size_t count;  // 1: the same lag for all dimensions of Along
};

namespace detail {
struct RecurrenceBuilder;
}

class Prior {  // the values of earlier steps
 public:
  Tensor operator[](DimAt component) const;  // for a state of several values: the tensor of one component
  // For a state of one value: an earlier element. One overload for each rank, as in Tensor.
  Expr operator()(Operand) const;
  Expr operator()(Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand, Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand, Operand, Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand, Operand, Operand, Operand, Operand) const;
  Expr operator()(Operand, Operand, Operand, Operand, Operand, Operand, Operand, Operand) const;
  Expr operator()(const Indices&, Where = Where::current()) const;

 private:
  friend struct detail::RecurrenceBuilder;
  Prior(const Tensor* state, std::size_t count) : state_(state, state + count) {}
  const Tensor& only(Where) const;
  std::vector<Tensor> state_;
};

namespace detail {
template <class F, class>
struct takes_prior;
template <class F, std::size_t... I>
struct takes_prior<F, std::index_sequence<I...>> : std::is_invocable<F, Prior, VarAt<I>...> {};

template <class T>
inline constexpr std::size_t components_of = 1;
template <std::size_t K>
inline constexpr std::size_t components_of<std::array<Expr, K>> = K;

struct RecurrenceBuilder {
  // Takes the state from `first`. Returns its values, and tensors of its types that a Prior reads before the stage is defined.
  static void begin(const Site&, const Operand* first, std::size_t count, Expr* values, Tensor* state);
  // `scan`: the reducer that combines the previous element with a term; null if the step is another formula.
  static void end(const Site&, const Along&, const Lag&, const Expr* first, const Operand* step, std::size_t count,
                  const Tensor* state, const ir::Reducer* scan = nullptr);
  static Prior prior(const Tensor* state, std::size_t count) { return {state, count}; }
  template <class T>
  static void operands(const T& result, Where where, Operand* out) {
    if constexpr (components_of<T> == 1 && !std::is_same_v<T, std::array<Expr, 1>>) {
      const Operand o(result);
      out[0] = o.is_number() ? o : Operand(o.expr(), where);
    } else {
      for (std::size_t k = 0; k < result.size(); ++k) out[k] = Operand(result[k], where);
    }
  }
};

// While a StepScope is alive, a reduction used as a value becomes a stage inside this recurrence. Its domain is the elements
// that steps compute: all but those of the lag.
class StepScope {
 public:
  StepScope(const Site&, const Along&, const Lag&);
  ~StepScope();
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;

 private:
  struct State;
  friend Expr element_of(const Reduction<1>&, Where);
  State* state_;
};

template <class T, std::size_t... I>
std::array<Operand, sizeof...(I)> operands_of(const T& result, Where where, std::index_sequence<I...>) {
  std::array<Operand, sizeof...(I)> out{((void)I, Operand(0))...};
  RecurrenceBuilder::operands(result, where, out.data());
  return out;
}
// `first` gives the values of the first steps; `step` computes the values of a later step from a Prior.
template <class First, class Step>
auto recur(const Site& site, const Along& along, const Lag& lag, First first, Step step) {
  constexpr std::size_t count = components_of<decltype(first())>;
  using components = std::make_index_sequence<count>;
  std::array<Tensor, count> state;
  std::array<Expr, count> start;
  const auto given = operands_of(first(), site.where, components{});
  RecurrenceBuilder::begin(site, given.data(), count, start.data(), state.data());
  const Prior prior = RecurrenceBuilder::prior(state.data(), count);
  static_assert(components_of<decltype(step(prior))> == count,
                "recur: both lambdas return one value, or values(...) of as many");
  const auto next = [&] {
    const StepScope scope(site, along, lag);
    return operands_of(step(prior), site.where, components{});
  }();
  RecurrenceBuilder::end(site, along, lag, start.data(), next.data(), count, state.data());
  if constexpr (count == 1)
    return state[0];
  else
    return state;
}
template <class F, std::size_t... I>
auto call_step(F& f, const Prior& y, const Indices& at, std::index_sequence<I...>) {
  return f(y, Access::var(at, I)...);
}
}  // namespace detail

template <std::size_t N, class First, class Step>
auto recur(const char* name, const Extent (&extents)[N], Along along, Lag lag, First&& first, Step&& step,
           Where where = Where::current()) {
  static_assert(N <= max_rank, "recur: a tensor has at most 8 dimensions");
  static_assert(detail::one_var_per_dimension<First, N>, "recur: the first lambda takes one Var for each extent");
  static_assert(detail::takes_prior<Step, std::make_index_sequence<N>>::value,
                "recur: the second lambda takes a Prior, then one Var for each extent");
  using dimensions = std::make_index_sequence<N>;
  const Indices at = detail::new_indices(extents, N);
  return detail::recur(
      detail::Site{name, extents, at, where}, along, lag, [&] { return detail::call(first, at, dimensions{}); },
      [&](const Prior& y) { return detail::call_step(step, y, at, dimensions{}); });
}

// For any rank: [&](Indices i) and [&](Prior y, Indices i).
template <class First, class Step>
  requires std::is_invocable_v<First, Indices>
auto recur(const char* name, const Shape& shape, Along along, Lag lag, First&& first, Step&& step,
           Where where = Where::current()) {
  const Indices at = detail::new_indices(shape.extents().data(), shape.extents().size());
  return detail::recur(
      detail::Site{name, shape.extents().data(), at, where}, along, lag, [&] { return first(at); },
      [&](const Prior& y) { return step(y, at); });
}

}  // namespace ashlar
