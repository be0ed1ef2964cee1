#pragma once
// Random reductions: axes with bounds that are numbers, Symbols, other variables or elements of a table; conditions on points;
// and what combines the terms.
#include <optional>
#include <string>
#include <vector>

#include "recurrences.h"

namespace fuzz {

class Reductions : protected Recurrences {
 protected:
  using Recurrences::Recurrences;

  Span span(bool from_zero, bool halo) {
    Span d;
    if (!symbols.empty() && s.pick(5) < 3) {
      d.symbol = static_cast<int>(s.pick(static_cast<std::uint32_t>(symbols.size())));
      d.high = halo && s.one_in(3) ? s.between(0, 3) : 0;
      if (s.one_in(8)) d.least = s.between(1, 4);
    } else {
      d.high = s.between(1, 9);
      if (s.one_in(12)) d.high = 0;
    }
    if (!from_zero) {
      d.low = s.between(0, 1);
      if (d.symbol >= 0 && d.low > d.high) d.high = d.low;
      if (d.symbol < 0 && d.low > d.high) d.low = d.high;
    }
    return d;
  }

  std::vector<Extent> extents(const std::vector<Span>& spans) const {
    std::vector<Extent> result;
    for (const Span& d : spans) {
      if (d.low == 0)
        result.push_back(Extent(end_of(d).e));
      else
        result.push_back(Extent(Range{ir::index(d.low), end_of(d).e}));
    }
    return result;
  }
  std::string written(const std::vector<Span>& spans) const {
    std::string t;
    for (const Span& d : spans)
      t += (t.empty() ? "" : ", ") + (d.low == 0 ? end_of(d).s : "Range{" + std::to_string(d.low) + ", " + end_of(d).s + "}");
    return t;
  }

  // How often a reduction's value is computed stays small.
  struct Reduced {
    std::vector<Axis> axes;
    std::string text;
  };

  Reduced axes(int most = 2) {
    Reduced r;
    const int count = s.between(1, most);
    const std::size_t spatial = vars.size();
    for (int k = 0; k < count; ++k) {
      const std::string name = k == 0 ? "k" : "l";
      Span d = k == 0 ? span(true, false) : Span{-1, 0, s.between(1, 4)};
      if (d.symbol < 0) d.high = std::min(d.high, 5);
      std::string bounds;
      if (s.one_in(8) && spatial > 0 && vars[0].span.low == 0) {  // a triangle
        form("triangle");
        d = vars[0].span;
        const Text end = plus(vars[0].value, 1);
        r.axes.push_back(Axis(name.c_str(), Operand(ir::index(0)), Operand(end.e)));
        bounds = "0, " + end.s;
      } else if (const auto read = s.one_in(5) ? table(d) : std::nullopt) {
        form("bounds of a table");
        const auto end = s.one_in(2) ? table(d) : std::nullopt;
        const Text upto = end ? *end : end_of(d);
        r.axes.push_back(Axis(name.c_str(), Operand(read->e), Operand(upto.e)));
        bounds = read->s + ", " + upto.s;
      } else {
        if (d.symbol < 0 && s.one_in(4)) d.low = -s.between(1, 2), d.high = std::max(1, d.high - 2);
        r.axes.push_back(Axis(name.c_str(), Operand(ir::index(d.low)), Operand(end_of(d).e)));
        bounds = std::to_string(d.low) + ", " + end_of(d).s;
      }
      r.text += "  Axis " + name + "{\"" + name + "\", " + bounds + "};\n";
      vars.push_back({Text{r.axes.back(), name}, d});
    }
    return r;
  }

  // A bound that is an element of an input, kept between the ends of a span.
  std::optional<Text> table(const Span& d) {
    std::vector<const Known*> inputs;
    for (const Known& k : all)
      if (k.argument && !(k.type == bool_)) inputs.push_back(&k);
    if (inputs.empty()) return std::nullopt;
    const Known& from = *s.of(inputs);
    std::vector<Text> at;
    std::string text = from.name + "(";
    for (const Span& of : from.spans) {
      const auto i = inside(of, 0);
      if (!i) return std::nullopt;
      text += (at.empty() ? "" : ", ") + i->s;
      at.push_back(*i);
    }
    const Text data = convert(i32, {element(from.tensor, at), text + ")"}), last = end_of(d);
    return Text{clamp(Operand(data.e), Operand(ir::index(d.low)), Operand(last.e)),
                "clamp(" + data.s + ", " + std::to_string(d.low) + ", " + last.s + ")"};
  }

  Reduction<> reduction(Type t, std::string& text) {
    const std::size_t spatial = vars.size();
    const Reduced r = axes();
    AxisList list(r.axes.size() == 1 ? AxisList(r.axes[0]) : AxisList({r.axes[0], r.axes[1]}));
    std::string over = r.axes.size() == 1 ? "k" : "{k, l}";
    if (s.one_in(4)) {
      const Text k = vars[spatial].value, other = vars.size() > 1
                                                      ? vars[s.pick(static_cast<std::uint32_t>(vars.size() - 1))].value
                                                      : Text{ir::index(1), "1"};
      const Text c = vars.size() > spatial && spatial > 0 && s.one_in(5)
                         ? Text{vars[0].value.e % 2 == 0, vars[0].value.s + " % 2 == 0"}  // of all terms or of none
                     : s.one_in(2) ? Text{(k.e + other.e) % 2 == 0, "(k + " + other.s + ") % 2 == 0"}
                                   : Text{k.e <= other.e + 1, "k <= " + other.s + " + 1"};
      form("where");
      list = list.where(c.e);
      over = (r.axes.size() == 1 ? over : "AxisList" + over) + ".where(" + c.s + ")";
    }
    const int kind = static_cast<int>(s.pick(t == bool_ ? 2 : 8));
    if (t == bool_ || kind >= 6) {
      const Text v = value(t, 2);
      vars.resize(spatial);
      const bool least = t == bool_ ? kind == 0 : kind == 6;
      form("minimum or maximum");
      text = r.text + "  return " + (least ? "minimum" : "maximum") + "(" + v.s + ", " + over + ")";
      Reduction<> red = least ? minimum(Operand(v.e), list) : maximum(Operand(v.e), list);
      return start(red, t, text);
    }
    Text v = value(t, 2);
    if (kind >= 1 && kind <= 3) {
      const Text w = leaf(t, 0);
      v = {v.e * w.e, v.s + " * " + w.s};
    }
    if (kind == 5 && made.exact && t.is_float())
      v = {clamp(Operand(v.e), Operand(-2), Operand(2)), "clamp(" + v.s + ", -2, 2)"};
    vars.resize(spatial);
    form(kind == 4 ? "strict sum" : kind == 5 ? "product" : kind >= 1 && kind <= 3 ? "sum of products" : "sum");
    const char* name = kind == 4 ? "strict_sum" : kind == 5 ? "product" : "sum";
    text = r.text + "  return " + name + "(" + v.s + ", " + over + ")";
    Reduction<> red = kind == 4   ? strict_sum(Operand(v.e), list)
                      : kind == 5 ? product(Operand(v.e), list)
                                  : sum(Operand(v.e), list);
    return start(red, t, text);
  }
  Reduction<> start(const Reduction<>& red, Type t, std::string& text) {
    if (!s.one_in(4)) return red;
    const Text init = leaf(t, 0);
    form("from");
    text += ".from(" + init.s + ")";
    return red.from(Operand(init.e));
  }
};

}  // namespace fuzz
