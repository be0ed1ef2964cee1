#pragma once
// Stages that the language makes of a short sentence: einsum, and the derivative of a number by a whole tensor.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <ashlar/ir/refusal.h>

#include "tuples.h"

namespace fuzz {

class Operators : protected Tuples {
 protected:
  using Tuples::Tuples;

  // Of one or two inputs, whose numbers are small.
  bool einsum_stage(const std::string& name) {
    std::vector<Known*> sources = inputs([](const Known& k) { return !k.type.is_bool() && k.spans.size() <= 2; });
    if (sources.empty()) return false;
    std::map<char, Span> letters;
    std::string subscripts;
    const auto letters_of = [&](const Known& k) {
      for (const Span& d : k.spans) {
        char letter = 0;
        for (const auto& [other, span] : letters)
          if (span == d && letter == 0 && s.pick(3) < 2) letter = other;
        if (letter == 0) letter = static_cast<char>('a' + letters.size()), letters.emplace(letter, d);
        subscripts += letter;
      }
      return k.tensor;
    };
    Known& x = *s.of(sources);
    const bool two = s.pick(4) > 0;
    Known& y = *s.of(sources);
    const Tensor first = letters_of(x);
    if (two) subscripts += ",";
    const Tensor second = two ? letters_of(y) : first;
    subscripts += "->";
    std::vector<Span> spans;
    for (const auto& [letter, span] : letters)
      if (spans.size() < 3 && s.one_in(2)) subscripts += letter, spans.push_back(span);
    Type t = type();
    if (t.is_bool()) t = f32;
    const Tensor result =
        two ? einsum(t, Subscripts(subscripts.c_str()), first, second) : einsum(t, Subscripts(subscripts.c_str()), first);
    form("einsum");
    x.read = true;
    if (two) y.read = true;
    made.text += "Tensor " + name + " = einsum(" + name_of(t) + ", \"" + subscripts + "\", " + x.name +
                 (two ? ", " + y.name : "") + ");\n";
    all.push_back({result, name, result.type(), spans, false, false, false});
    return true;
  }

  // Of the sum of a formula over all elements of an input; where the formula has none, the case is one without.
  bool gradient_stage(const std::string& name) {
    if (made.exact) return false;
    std::vector<Known*> sources = inputs([](const Known& k) { return (k.type == f32 || k.type == f64) && !k.spans.empty(); });
    if (sources.empty()) return false;
    Known* source = s.of(sources);
    const Known x = *source;  // stages are added below
    const std::vector<Span> spans = x.spans;
    const Type t = x.type;
    std::string text;
    const Tensor mid = compute((name + "y").c_str(), Shape::of(extents(spans)), [&](Indices at) {
      set_vars(at, spans);
      const Text v = formula(x, spans, t);
      text = v.s;
      return v.e;
    });
    std::vector<Axis> over;
    std::vector<Text> at;
    for (std::size_t d = 0; d < spans.size(); ++d) {
      over.push_back(Axis("kln"[d] == 'k'   ? "k"
                          : "kln"[d] == 'l' ? "l"
                                            : "n",
                          Operand(ir::index(0)), Operand(end_of(spans[d]).e)));
      at.push_back({over.back(), ""});
    }
    const AxisList list = over.size() == 1   ? AxisList(over[0])
                          : over.size() == 2 ? AxisList({over[0], over[1]})
                                             : AxisList({over[0], over[1], over[2]});
    vars.clear();
    const Tensor loss = compute((name + "l").c_str(), [&] { return sum(Operand(element(mid, at)), list); });
    source->read = true;
    made.text += "Tensor " + name + "y = compute(\"" + name + "y\", " + x.name + ".shape(), [&](Indices) { return " + text +
                 "; }), " + name + "l = ...;  // their sum\n";
    all.push_back({mid, name + "y", t, spans, false, false, false});
    try {
      const auto [by_x] = gradient(loss, {x.tensor});
      form("gradient");
      made.text += "auto [" + name + "] = gradient(" + name + "l, {" + x.name + "});\n";
      all.push_back({by_x, name, by_x.type(), spans, false, false, false});
    } catch (const RefusalError&) { made.text += "// which has no derivative\n"; }
    return true;
  }

  // The largest or smallest of a row, and a sum of terms that are made with it: what roll makes one pass of.
  bool maximum_and_sum(const std::string& name, const std::vector<Span>& spans) {
    const Type t = s.of(std::vector<Type>{f32, f64, f32});
    const bool most = !s.one_in(3), powers = !made.exact, triangle = spans[0].low == 0 && s.one_in(5);
    const Span row = triangle ? spans[0] : span(true, false);
    const auto axis_over = [&] {
      return triangle ? Axis("k", Operand(ir::index(0)), Operand(plus(vars[0].value, 1).e))
                      : Axis("k", Operand(ir::index(0)), Operand(end_of(row).e));
    };
    ir::Substitution to;  // the follower's variables for the leader's
    Text v, weight;
    std::vector<ir::Id> ids;
    const auto id_of = [](const Expr& e) { return e.node()->id; };
    const Tensor leader = compute((name + "a").c_str(), Shape::of(extents(spans)), [&](Indices at) {
      set_vars(at, spans);
      const Axis k = axis_over();
      vars.push_back({Text{k, "k"}, row});
      v = value(t, 2), weight = leaf(t, 0);
      for (const Index& x : vars) ids.push_back(id_of(x.value.e));
      return most ? maximum(Operand(v.e), k) : minimum(Operand(v.e), k);
    });
    const bool apart = !triangle && spans.size() < 3 && s.one_in(3);  // the terms are a stage of their own, which rebase is for
    const auto term = [&](const std::vector<Text>& own, const Expr& at) {
      to.clear();
      for (std::size_t d = 0; d < own.size(); ++d) to.emplace_back(ids[d], own[d].e);
      to.emplace_back(ids.back(), at);
      const Expr x = ir::substitute(v.e, to), w = ir::substitute(weight.e, to), top = element(leader, own);
      return powers ? most ? exp(x - top) : exp(top - x) : select(x == top, Operand(w), Operand(0));
    };
    const auto own_of = [&](Indices at, const std::vector<Span>& of) {
      set_vars(at, of);
      std::vector<Text> own;
      for (const Index& x : vars) own.push_back(x.value);
      return own;
    };
    std::vector<Span> each = spans;
    each.push_back(row);
    Tensor terms;
    if (apart)
      terms = compute((name + "t").c_str(), Shape::of(extents(each)), [&](Indices at) {
        std::vector<Text> own = own_of(at, each);
        const Text k = own.back();
        own.pop_back();
        return term(own, k.e);
      });
    const Tensor follower = compute((name + "b").c_str(), Shape::of(extents(spans)), [&](Indices at) {
      std::vector<Text> own = own_of(at, spans);
      const Axis k = axis_over();
      if (!apart) return sum(Operand(term(own, k)), k);
      own.push_back({k, "k"});
      return sum(Operand(element(terms, own)), k);
    });
    if (apart) form("terms by a maximum");
    form("maximum and a sum by it");
    made.text += "Tensor " + name + "a = compute(..., {" + written(spans) + "}, " + (most ? "maximum" : "minimum") + "(" + v.s +
                 ", k in " + (triangle ? "i + 1" : end_of(row).s) + ")), " + name + "b = compute(..., sum(" +
                 (powers ? most ? "exp(the same - " + name + "a)" : "exp(" + name + "a - the same)"
                         : "select(the same == " + name + "a, " + weight.s + ", 0)") +
                 ", k));\n";
    all.push_back({leader, name + "a", t, spans, false, false, true});
    all.push_back({follower, name + "b", t, spans, false, false, false});
    return true;
  }

 private:
  template <class F>
  std::vector<Known*> inputs(F&& fits) {
    std::vector<Known*> found;
    for (Known& k : all)
      if (k.argument && !k.type.is_packed() && fits(k) &&
          std::all_of(k.spans.begin(), k.spans.end(), [](const Span& d) { return d.low == 0; }))
        found.push_back(&k);
    return found;
  }

  Text formula(const Known& x, const std::vector<Span>& spans, Type t) {
    std::vector<Text> at;
    for (std::size_t d = 0; d < spans.size(); ++d) {
      const auto i = s.one_in(3) ? inside(spans[d], 1) : std::nullopt;
      at.push_back(i ? *i : vars[d].value);
    }
    Text v{element(x.tensor, at), x.name + "("};
    for (std::size_t d = 0; d < at.size(); ++d) v.s += (d ? ", " : "") + at[d].s;
    v.s += ")";
    for (int n = s.between(1, 2); n > 0; --n) {
      const Text w = leaf(t, 0);
      switch (s.pick(7)) {
        case 0:
          v = infix(v, "*", w, v.e * w.e);
          break;
        case 1:
          v = infix(v, "+", w, v.e + w.e);
          break;
        case 2:
          v = infix(v, "*", v, v.e * v.e);
          break;
        case 3:
          v = call("max", max(v.e, w.e), {v, w});
          break;
        case 4:
          v = call("sin", sin(v.e), {v});
          break;
        case 5:
          v = call("tanh", tanh(v.e), {v});
          break;
        default: {
          const Text c = condition(0);
          v = call("select", select(Operand(c.e), Operand(v.e), Operand(w.e)), {c, v, w});
        }
      }
    }
    return v;
  }
};

}  // namespace fuzz
