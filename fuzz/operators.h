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
    Known& x = *s.of(sources);
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
    x.read = true;
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
