#pragma once
// Random stages of two values: computed point by point, or reduced together by a reducer of the user's own.
#include <array>
#include <string>
#include <vector>

#include "reductions.h"

namespace fuzz {

class Tuples : protected Reductions {
 protected:
  using Reductions::Reductions;

  void tuple_stage(const std::string& name, const std::vector<Span>& spans) {
    form("tuple");
    switch (s.pick(7)) {
      case 0:
        return plain(name, spans);
      case 1:
        return argument_of_extreme(name, spans);
      case 2:
        return sums(name, spans);
      case 3:
        return complex_product(name, spans);
      case 4:
        return first_of(name, spans);
      case 5:
        return in_order(name, spans);
      default:
        return how_often(name, spans);
    }
  }

 private:
  void keep(const std::string& name, const std::vector<Span>& spans, const std::array<Tensor, 2>& both,
            const std::string& text) {
    std::string params;
    for (std::size_t d = 0; d < spans.size(); ++d) params += std::string(d ? ", " : "") + "Var " + "ijh"[d];
    made.text += "auto [" + name + "a, " + name + "b] = compute(\"" + name + "\", {" + written(spans) + "}, [&](" + params +
                 ") {\n" + text + ";\n});\n";
    for (std::size_t k = 0; k < 2; ++k) all.push_back({both[k], name + "ab"[k], both[k].type(), spans, false, false, false});
  }

  void plain(const std::string& name, const std::vector<Span>& spans) {
    const Type t = type(), u = type();
    std::string text;
    const auto both = compute(name.c_str(), Shape::of(extents(spans)), [&](Indices at) {
      set_vars(at, spans);
      const Text a = value(t, s.between(1, 2)), b = value(u, 1);
      text = "  return values(" + a.s + ", " + b.s + ")";
      return values(a.e, b.e);
    });
    keep(name, spans, both, text);
  }

  // The terms, one of them without the last dimension now and then (drop_dim); and what `reduce` makes of them.
  template <class F>
  void reduced(const std::string& name, const std::vector<Span>& spans, Type t, Type u, const std::string& word, int most_axes,
               F&& reduce) {
    std::string text;
    const auto both = compute(name.c_str(), Shape::of(extents(spans)), [&](Indices at) {
      set_vars(at, spans);
      const std::size_t spatial = vars.size();
      const bool hides = spatial > 0 && s.one_in(2);
      const Index hidden = hides ? vars[spatial - 1] : Index{};
      if (hides) vars.pop_back();
      const Reduced r = axes(most_axes);
      const Text a = small(value(t, 2));
      if (hides) vars.insert(vars.begin() + static_cast<std::ptrdiff_t>(spatial) - 1, hidden);
      const Text b = small(value(u, 1));
      vars.resize(spatial);
      const AxisList list = r.axes.size() == 1 ? AxisList(r.axes[0]) : AxisList({r.axes[0], r.axes[1]});
      text = r.text + "  return " + word + "(values(" + a.s + ", " + b.s + "), {k" + (r.axes.size() > 1 ? ", l" : "") + "})";
      return reduce(a.e, b.e, list);
    });
    keep(name, spans, both, text);
  }
  Text small(const Text& v) const {  // products of several stay exact
    if (!made.exact || !v.type().is_float()) return v;
    return {clamp(Operand(v.e), Operand(-1), Operand(1)), "clamp(" + v.s + ", -1, 1)"};
  }
  Type number() {
    const Type t = type();
    return t.is_bool() ? i32 : t;
  }
  Type whole() { return s.of(std::vector<Type>{i32, u8, i16, i64, u32, i8}); }
  Type exactly() { return s.of(std::vector<Type>{i32, f32, i64, f64, u32}); }

  void argument_of_extreme(const std::string& name, const std::vector<Span>& spans) {
    form("argmax");
    const bool most = s.one_in(2);
    reduced(name, spans, number(), i64, most ? "argmax" : "argmin", 1, [&](const Expr& a, const Expr&, const AxisList& list) {
      return most ? argmax(Operand(a), list) : argmin(Operand(a), list);
    });
  }
  void sums(const std::string& name, const std::vector<Span>& spans) {
    form("reducer of any order");
    const Type t = exactly(), u = exactly();
    const auto add =
        reducer("sums", {t, u}, {0, 0}, [](Values<2> a, Values<2> b) { return values(a[0] + b[0], a[1] + b[1]); }, Order::any);
    reduced(name, spans, t, u, "sums", 2,
            [&](const Expr& a, const Expr& b, const AxisList& list) { return add(values(a, b), list); });
  }
  void complex_product(const std::string& name, const std::vector<Span>& spans) {
    form("reducer of any order");
    const Type t = exactly();
    const auto times = reducer(
        "times", {t, t}, {1, 0},
        [](Values<2> a, Values<2> b) { return values(a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]); }, Order::any);
    reduced(name, spans, t, t, "times", 1,
            [&](const Expr& a, const Expr& b, const AxisList& list) { return times(values(a, b), list); });
  }
  void first_of(const std::string& name, const std::vector<Span>& spans) {
    form("reducer that regroups");
    const Type t = whole();
    const auto first =
        reducer("first", {t, i32}, {0, 0}, [](Values<2> a, Values<2> b) { return select(a[1] != 0, a, b); }, Order::regroup);
    reduced(name, spans, t, i32, "first", 2, [&](const Expr& a, const Expr& b, const AxisList& list) {
      // what counts for nothing is the identity
      return first(values(select(b == 0, Operand(0), Operand(a)), b), list);
    });
  }
  void in_order(const std::string& name, const std::vector<Span>& spans) {
    form("reducer in order");
    const Type t = exactly();
    const auto twist = reducer(
        "twist", {t, t}, {0, 0}, [](Values<2> a, Values<2> b) { return values(a[0] + b[0], b[1] - a[1]); }, Order::exact);
    reduced(name, spans, t, t, "twist", 2,
            [&](const Expr& a, const Expr& b, const AxisList& list) { return twist(values(a, b), list); });
  }
  void how_often(const std::string& name, const std::vector<Span>& spans) {
    form("reducer of any order");
    const Type t = whole();
    const auto most = reducer(
        "most", {t, i32}, {lowest(t), 0},
        [](Values<2> a, Values<2> b) {
          return values(max(a[0], b[0]), select(a[0] > b[0], a[1], select(b[0] > a[0], b[1], a[1] + b[1])));
        },
        Order::any);
    reduced(name, spans, t, i32, "most", 2,
            [&](const Expr& a, const Expr& b, const AxisList& list) { return most(values(a, b), list); });
  }
};

}  // namespace fuzz
