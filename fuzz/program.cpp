#include "program.h"

#include <algorithm>
#include <optional>

#include <ashlar/ashlar.h>
#include <ashlar/ir/print.h>

namespace fuzz {
namespace {

using namespace ashlar;

struct Text {  // an expression, and how it is written
  Expr e;
  std::string s;
  Type type() const { return e.type(); }
};

struct Span {  // [low, symbol + high), or [low, high) where symbol is -1
  int symbol = -1, low = 0, high = 1;
  friend bool operator==(const Span&, const Span&) = default;
};

struct Known {  // a tensor that later stages may read
  Tensor tensor;
  std::string name;
  Type type;
  std::vector<Span> spans;  // where it has values
  bool argument = false, inferred = false, read = false;
};

struct Index { Text value; Span span; };  // an index variable and the values it takes

const char* name_of(Type t) {
  static constexpr std::pair<Type, const char*> names[] = {{f32, "f32"}, {f64, "f64"}, {f16, "f16"}, {bf16, "bf16"}, {i8, "i8"},
    {i16, "i16"}, {i32, "i32"}, {i64, "i64"}, {u8, "u8"}, {u16, "u16"}, {u32, "u32"}, {u64, "u64"}, {bool_, "bool_"}};
  for (const auto& [type, name] : names)
    if (type == t) return name;
  return "?";
}

class Maker {
 public:
  explicit Maker(Source& source) : s(source) {}

  Made make() {
    made.exact = s.one_in(4);
    made.edges = !made.exact && s.one_in(4);
    const int symbol_count = s.between(0, 2);
    for (int k = 0; k < symbol_count; ++k) symbol(k);
    const int inputs = s.between(1, 3);
    for (int k = 0; k < inputs; ++k) input(k);
    if (s.one_in(4)) scalar();
    const int stages = s.between(1, 5);
    for (int k = 0; k < stages; ++k) stage(k, k + 1 == stages);
    outputs();
    made.built = lang::build_program("fuzzed", arguments);
    return std::move(made);
  }

 private:
  // ---- arguments ----
  void symbol(int k) {
    Symbol::Facts f;
    f.min = s.between(0, 3);
    if (s.one_in(4)) f.multiple_of = s.between(2, 4), f.min = f.min / f.multiple_of * f.multiple_of;
    if (s.one_in(3)) f.max = f.min + f.multiple_of * s.between(1, 4);
    const std::string name = k == 0 ? "N" : "M";
    symbols.push_back({Text{Symbol(name.c_str(), f), name}, f});
    made.text += "Symbol " + name + "{\"" + name + "\", {.min = " + std::to_string(f.min) +
                 (f.max == INT64_MAX ? "" : ", .max = " + std::to_string(f.max)) + ", .multiple_of = " + std::to_string(f.multiple_of) + "}};\n";
  }

  Text end_of(const Span& span) const {
    if (span.symbol < 0) return {ir::index(span.high), std::to_string(span.high)};
    const Text& n = symbols[static_cast<std::size_t>(span.symbol)].value;
    if (span.high == 0) return n;
    if (span.high < 0) return {n.e - -span.high, n.s + " - " + std::to_string(-span.high)};
    return {n.e + span.high, n.s + " + " + std::to_string(span.high)};
  }
  std::int64_t least_end(const Span& span) const {
    return (span.symbol < 0 ? 0 : symbols[static_cast<std::size_t>(span.symbol)].facts.min) + span.high;
  }
  bool never_empty(const Span& span) const { return least_end(span) > span.low; }

  Span span(bool from_zero, bool halo) {
    Span d;
    if (!symbols.empty() && s.pick(5) < 3) {
      d.symbol = static_cast<int>(s.pick(static_cast<std::uint32_t>(symbols.size())));
      d.high = halo && s.one_in(3) ? s.between(0, 3) : 0;
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

  Type type() {
    static const std::vector<Type> plain{f32, i32, f64, f32, u8, i16, f16, i8, bf16, u16, u32, i64, u64, bool_, f32};
    static const std::vector<Type> exact{f32, i32, f64, f32, u8, i16, i8, u32, i64};
    return s.of(made.exact ? exact : plain);
  }

  void input(int k) {
    std::vector<Span> spans;
    if (k == 0)  // the first says what every symbol is
      for (std::size_t d = 0; d < symbols.size(); ++d) spans.push_back({static_cast<int>(d), 0, s.one_in(4) ? s.between(0, 3) : 0});
    const int rank = std::max(static_cast<int>(spans.size()), s.between(0, 3));
    while (static_cast<int>(spans.size()) < rank) spans.push_back(span(true, true));
    const Type t = type();
    const std::string name(1, static_cast<char>('a' + k));
    lang::ArgumentLayout layout;
    const std::uint32_t order = s.pick(6);
    if (order == 4) layout.order = lang::ArgumentLayout::Order::dense;
    if (order == 5) layout.order = lang::ArgumentLayout::Order::any;
    if (s.one_in(6)) layout.align = 64;
    Known known{lang::make_input(name.c_str(), t, extents(spans), layout), name, t, spans, true};
    made.text += std::string("Input ") + name + "{\"" + name + "\", " + name_of(t) + ", {" + written(spans) + "}};" +
                 (order == 4 ? "  // dense" : order == 5 ? "  // any strides" : "") + (layout.align ? "  // aligned to 64\n" : "\n");
    arguments.push_back(known.tensor);
    all.push_back(known);
  }

  void scalar() {
    const Type t = type();
    scalars.push_back({lang::make_scalar("q", t), "q"});
    made.text += std::string("Scalar q{\"q\", ") + name_of(t) + "};\n";
    arguments.push_back(scalars.back().e);
  }

  std::vector<Extent> extents(const std::vector<Span>& spans) const {
    std::vector<Extent> result;
    for (const Span& d : spans) {
      if (d.low == 0) result.push_back(Extent(end_of(d).e));
      else result.push_back(Extent(Range{ir::index(d.low), end_of(d).e}));
    }
    return result;
  }
  std::string written(const std::vector<Span>& spans) const {
    std::string t;
    for (const Span& d : spans)
      t += (t.empty() ? "" : ", ") + (d.low == 0 ? end_of(d).s : "Range{" + std::to_string(d.low) + ", " + end_of(d).s + "}");
    return t;
  }

  // ---- indices ----
  Text plus(const Text& a, int c) const {
    if (c == 0) return a;
    return c > 0 ? Text{a.e + c, a.s + " + " + std::to_string(c)} : Text{a.e - -c, a.s + " - " + std::to_string(-c)};
  }

  // Any index at all, where every one may be read.
  Text anywhere() {
    if (vars.empty()) return {ir::index(s.between(0, 4)), ""};
    const Index& v = s.of(vars);
    Text t = v.value;
    switch (s.pick(8)) {
      case 4: t = {t.e * 2, t.s + " * 2"}; break;
      case 5: t = {t.e / 2, t.s + " / 2"}; break;
      case 6: t = {t.e % 3, t.s + " % 3"}; break;
      case 7: {
        const Index& w = s.of(vars);
        t = {t.e + w.value.e, t.s + " + " + w.value.s};
        break;
      }
      default: break;
    }
    return plus(t, s.between(0, 4) - 2);
  }
  Text literal_anywhere() {
    Text t = anywhere();
    if (t.s.empty()) t.s = ir::text(t.e);
    return t;
  }

  // An index that stays inside `d`, or nothing.
  std::optional<Text> inside(const Span& d, int depth) {
    const std::uint32_t how = s.pick(10);
    if (how >= 8 && never_empty(d)) {
      const Text last = plus(end_of(d), -1);
      if (how == 9 && depth > 0) {  // a gather
        static const std::vector<Type> small{u8, i8, i16, i32};
        const Text data = value(s.of(small), depth - 1);
        return Text{clamp(Operand(data.e), Operand(ir::index(d.low)), Operand(last.e)),
                    "clamp(" + data.s + ", " + std::to_string(d.low) + ", " + last.s + ")"};
      }
      const Text at = literal_anywhere();
      return Text{clamp(Operand(at.e), Operand(ir::index(d.low)), Operand(last.e)),
                  "clamp(" + at.s + ", " + std::to_string(d.low) + ", " + last.s + ")"};
    }
    std::vector<std::pair<const Index*, std::pair<int, int>>> fits;  // a variable and the shifts that stay inside
    for (const Index& v : vars) {
      const int low = d.low - v.span.low;
      int high;
      if (v.span.symbol == d.symbol) high = d.high - v.span.high;
      else if (v.span.symbol < 0) high = static_cast<int>(least_end(d)) - v.span.high;
      else continue;
      if (low <= high) fits.push_back({&v, {low, high}});
    }
    if (!fits.empty() && how < 7) {
      // simplest: the variable that runs over exactly this
      std::stable_sort(fits.begin(), fits.end(), [&](const auto& a, const auto& b) { return (a.first->span == d) > (b.first->span == d); });
      const auto& [v, shifts] = how < 4 ? fits.front() : s.of(fits);
      const int least = std::max(shifts.first, -4), most = std::min(shifts.second, 4);
      if (how == 6 && v->span == d) {
        const Text last = plus(end_of(d), d.low - 1);
        return Text{last.e - v->value.e, last.s + " - " + v->value.s};
      }
      const int zero = std::clamp(0, least, std::max(least, most));
      return plus(v->value, how < 2 || most <= least ? zero : s.between(least, most));
    }
    if (never_empty(d)) {
      const int c = d.low + static_cast<int>(s.pick(static_cast<std::uint32_t>(std::min<std::int64_t>(least_end(d) - d.low, 4))));
      return Text{ir::index(c), std::to_string(c)};
    }
    return std::nullopt;
  }

  Expr element(const Tensor& t, const std::vector<Text>& at) const {
    switch (at.size()) {
      case 0: return t();
      case 1: return t(at[0].e);
      case 2: return t(at[0].e, at[1].e);
      default: return t(at[0].e, at[1].e, at[2].e);
    }
  }

  std::optional<Text> load(int depth) {
    if (all.empty()) return std::nullopt;
    const std::uint32_t which = s.pick(4);
    Known& from = which < 2 ? all[all.size() - 1 - s.pick(static_cast<std::uint32_t>(std::min<std::size_t>(all.size(), 2)))] : all[s.pick(static_cast<std::uint32_t>(all.size()))];
    std::vector<Text> at;
    Tensor t = from.tensor;
    std::string name = from.name;
    const bool zero_based = std::all_of(from.spans.begin(), from.spans.end(), [](const Span& d) { return d.low == 0; });
    const bool full = std::all_of(from.spans.begin(), from.spans.end(), [&](const Span& d) { return never_empty(d); });
    if (!from.spans.empty() && !from.inferred && zero_based && s.one_in(3)) {
      const std::uint32_t kind = s.pick(5);
      if (kind == 0 || !full) {
        const int v = s.between(0, 3);
        t = boundary::constant(t, from.type == bool_ ? Operand(v > 1) : Operand(v)), name = "constant(" + name + ", " + (from.type == bool_ ? v > 1 ? "true" : "false" : std::to_string(v)) + ")";
      } else if (kind == 1) t = boundary::repeat(t), name = "repeat(" + name + ")";
      else if (kind == 2) t = boundary::mirror(t), name = "mirror(" + name + ")";
      else if (kind == 3) t = boundary::wrap(t), name = "wrap(" + name + ")";
      else t = boundary::reflect(t), name = "reflect(" + name + ")";
      for (std::size_t d = 0; d < from.spans.size(); ++d) {
        std::optional<Text> i;
        if (s.pick(3) < 2)
          for (const Index& v : vars)
            if (!i && v.span.symbol == from.spans[d].symbol) i = plus(v.value, s.between(0, 4) - 2);
        at.push_back(i ? *i : literal_anywhere());
      }
    } else {
      for (const Span& d : from.spans) {
        const auto i = inside(d, depth);
        if (!i) return std::nullopt;
        at.push_back(*i);
      }
    }
    from.read = true;
    std::string text = name + "(";
    for (std::size_t d = 0; d < at.size(); ++d) text += (d ? ", " : "") + at[d].s;
    Text r{element(t, at), text + ")"};
    if (made.exact && !(r.type() == bool_)) {
      const bool sign = r.type().is_float() || r.type().is_signed();
      r = {clamp(Operand(r.e), Operand(sign ? -4 : 0), Operand(4)), "clamp(" + r.s + ", " + (sign ? "-4" : "0") + ", 4)"};
    }
    return r;
  }

  // ---- values ----
  Text convert(Type t, const Text& x) const {
    if (x.type() == t) return x;
    return {t(x.e), std::string(name_of(t)) + "(" + x.s + ")"};
  }
  Text constant(Type t) {
    if (t == bool_) {
      const bool b = s.pick(2);
      return {ir::boolean(b), b ? "true" : "false"};
    }
    if (t.is_float()) {
      const double v = made.exact ? s.between(0, 6) - 2 : (s.between(0, 40) - 8) * 0.375;
      return {ir::float_const(t, v), std::string(name_of(t)) + "(" + std::to_string(v) + ")"};
    }
    const int v = t.is_unsigned() ? s.between(0, 9) : s.between(0, 12) - 4;
    return {ir::int_const(t, v), std::string(name_of(t)) + "(" + std::to_string(v) + ")"};
  }
  Text leaf(Type t, int depth) {
    const std::uint32_t how = s.pick(10);
    if (how < 7)
      if (const auto x = load(depth)) return convert(t, *x);
    if (how == 8 && !vars.empty()) return convert(t, s.of(vars).value);
    if (how == 9 && !scalars.empty()) {
      Text q = scalars.front();
      if (made.exact && !(q.type() == bool_)) q = {clamp(Operand(q.e), Operand(0), Operand(4)), "clamp(q, 0, 4)"};
      return convert(t, q);
    }
    return constant(t);
  }
  Text call(const char* name, Expr e, std::initializer_list<Text> args) const {
    std::string t = std::string(name) + "(";
    for (const Text* a = args.begin(); a != args.end(); ++a) t += (a == args.begin() ? "" : ", ") + a->s;
    return {std::move(e), t + ")"};
  }
  Text infix(const Text& a, const char* op, const Text& b, Expr e) const { return {std::move(e), "(" + a.s + " " + op + " " + b.s + ")"}; }

  Text value(Type t, int depth) {
    if (depth <= 0 || s.pick(4) == 0) return leaf(t, depth);
    if (t == bool_) return condition(depth);
    if (s.one_in(6)) {
      const Text c = condition(depth - 1), a = value(t, depth - 1), b = value(t, depth - 1);
      return call("select", select(Operand(c.e), Operand(a.e), Operand(b.e)), {c, a, b});
    }
    if (s.one_in(8)) {
      const Type other = type();
      const Text x = value(other, depth - 1);
      if (!made.exact && s.one_in(3)) return {saturate(t, x.e), "saturate(" + std::string(name_of(t)) + ", " + x.s + ")"};
      if (!made.exact && other.bits == t.bits && !(other == bool_) && s.one_in(2) && !(x.type() == t))
        return {bitcast(t, x.e), "bitcast(" + std::string(name_of(t)) + ", " + x.s + ")"};
      if (!made.exact || other == t || !t.is_float()) return convert(t, x);
    }
    const Text a = value(t, depth - 1);
    if (made.exact && t.is_float()) {
      switch (s.pick(6)) {
        case 0: { const Text b = value(t, depth - 1); return infix(a, "+", b, a.e + b.e); }
        case 1: { const Text b = value(t, depth - 1); return infix(a, "-", b, a.e - b.e); }
        case 2: { const Text b = leaf(t, 0); return infix(a, "*", b, a.e * b.e); }
        case 3: { const Text b = value(t, depth - 1); return call("min", min(a.e, b.e), {a, b}); }
        case 4: { const Text b = value(t, depth - 1); return call("max", max(a.e, b.e), {a, b}); }
        default: return call("abs", abs(a.e), {a});
      }
    }
    const std::uint32_t how = s.pick(t.is_float() ? 22 : 24);
    if (how < 9) {
      const Text b = value(t, depth - 1);
      switch (how) {
        case 0: case 6: return infix(a, "+", b, a.e + b.e);
        case 1: return infix(a, "-", b, a.e - b.e);
        case 2: case 7: return infix(a, "*", b, a.e * b.e);
        case 3: return call("min", min(a.e, b.e), {a, b});
        case 4: return call("max", max(a.e, b.e), {a, b});
        case 5: return infix(a, "/", b, a.e / b.e);
        default: return infix(a, "%", b, a.e % b.e);
      }
    }
    if (how == 9) return call("abs", abs(a.e), {a});
    if (how == 10) return {-a.e, "-" + a.s};
    if (how == 11) {
      const Text b = value(t, depth - 1), c = value(t, depth - 1);
      return call("clamp", clamp(a.e, b.e, c.e), {a, b, c});
    }
    if (t.is_float()) {
      switch (how) {
        case 12: return call("sqrt", sqrt(a.e), {a});
        case 13: return call("exp", exp(a.e), {a});
        case 14: return call("tanh", tanh(a.e), {a});
        case 15: return call("floor", floor(a.e), {a});
        case 16: return call("round", round(a.e), {a});
        case 17: return call("trunc", trunc(a.e), {a});
        case 18: return call("ceil", ceil(a.e), {a});
        case 19: { const Text b = value(t, depth - 1), c = leaf(t, 0); return call("fma", fma(a.e, b.e, c.e), {a, b, c}); }
        case 20: { const Text b = leaf(t, 0); return call("copysign", copysign(a.e, b.e), {a, b}); }
        default: return s.one_in(2) ? call("log", log(a.e), {a}) : call("sin", sin(a.e), {a});
      }
    }
    switch (how) {
      case 12: { const Text b = value(t, depth - 1); return infix(a, "&", b, a.e & b.e); }
      case 13: { const Text b = value(t, depth - 1); return infix(a, "|", b, a.e | b.e); }
      case 14: { const Text b = value(t, depth - 1); return infix(a, "^", b, a.e ^ b.e); }
      case 15: { const Text b = leaf(t, 0); return infix(a, "<<", b, a.e << b.e); }
      case 16: { const Text b = leaf(t, 0); return infix(a, ">>", b, a.e >> b.e); }
      case 17: { const Text b = value(t, depth - 1); return call("trunc_div", trunc_div(a.e, b.e), {a, b}); }
      case 18: { const Text b = value(t, depth - 1); return call("trunc_rem", trunc_rem(a.e, b.e), {a, b}); }
      case 19: return {~a.e, "~" + a.s};
      case 20: return call("popcount", popcount(a.e), {a});
      case 21: return s.one_in(2) ? call("clz", clz(a.e), {a}) : call("ctz", ctz(a.e), {a});
      case 22: { const Text b = leaf(t, 0); return call("rounding_shr", rounding_shr(a.e, b.e), {a, b}); }
      default: { const Text b = value(t, depth - 1); return call("mul_high_rounding", mul_high_rounding(a.e, b.e), {a, b}); }
    }
  }

  Text condition(int depth) {
    const std::uint32_t how = s.pick(9);
    if (how == 7 && depth > 0) {
      const Text a = condition(depth - 1), b = condition(depth - 1);
      return s.one_in(2) ? infix(a, "||", b, a.e || b.e) : infix(a, "&&", b, a.e && b.e);
    }
    if (how == 8 && depth > 0) {
      const Text a = condition(depth - 1);
      return {!a.e, "!" + a.s};
    }
    if (how < 2 && !vars.empty()) {
      const Text a = literal_anywhere(), b = s.one_in(2) ? literal_anywhere() : Text{ir::index(3), "3"};
      return how == 0 ? infix(a, "<", b, a.e < b.e) : infix(a, "==", b, a.e == b.e);
    }
    Type t = type();
    if (t == bool_) t = i32;
    const Text a = value(t, depth - 1), b = leaf(t, 0);
    switch (s.pick(5)) {
      case 0: return infix(a, "<", b, a.e < b.e);
      case 1: return infix(a, "<=", b, a.e <= b.e);
      case 2: return infix(a, ">", b, a.e > b.e);
      case 3: return infix(a, "!=", b, a.e != b.e);
      default: return infix(a, "==", b, a.e == b.e);
    }
  }

  // ---- stages ----
  // How often a reduction's value is computed stays small.
  struct Reduced { std::vector<Axis> axes; std::string text; };

  Reduced axes() {
    Reduced r;
    const int count = s.between(1, 2);
    const std::size_t spatial = vars.size();
    for (int k = 0; k < count; ++k) {
      const std::string name = k == 0 ? "k" : "l";
      Span d = k == 0 ? span(true, false) : Span{-1, 0, s.between(1, 4)};
      if (d.symbol < 0) d.high = std::min(d.high, 5);
      std::string bounds;
      if (s.one_in(8) && spatial > 0 && vars[0].span.low == 0) {  // a triangle
        d = vars[0].span;
        const Text end = plus(vars[0].value, 1);
        r.axes.push_back(Axis(name.c_str(), Operand(ir::index(0)), Operand(end.e)));
        bounds = "0, " + end.s;
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

  Reduction<> reduction(Type t, std::string& text) {
    const std::size_t spatial = vars.size();
    const Reduced r = axes();
    AxisList list(r.axes.size() == 1 ? AxisList(r.axes[0]) : AxisList({r.axes[0], r.axes[1]}));
    std::string over = r.axes.size() == 1 ? "k" : "{k, l}";
    if (s.one_in(4)) {
      const Text k = vars[spatial].value, other = vars.size() > 1 ? vars[s.pick(static_cast<std::uint32_t>(vars.size() - 1))].value : Text{ir::index(1), "1"};
      const Text c = s.one_in(2) ? Text{(k.e + other.e) % 2 == 0, "(k + " + other.s + ") % 2 == 0"} : Text{k.e <= other.e + 1, "k <= " + other.s + " + 1"};
      list = list.where(c.e);
      over = (r.axes.size() == 1 ? over : "AxisList" + over) + ".where(" + c.s + ")";
    }
    const int kind = static_cast<int>(s.pick(t == bool_ ? 2 : 8));
    if (t == bool_ || kind >= 6) {
      const Text v = value(t, 2);
      vars.resize(spatial);
      const bool least = t == bool_ ? kind == 0 : kind == 6;
      text = r.text + "  return " + (least ? "minimum" : "maximum") + "(" + v.s + ", " + over + ")";
      Reduction<> red = least ? minimum(Operand(v.e), list) : maximum(Operand(v.e), list);
      return start(red, t, text);
    }
    Text v = value(t, 2);
    if (kind >= 1 && kind <= 3) {
      const Text w = leaf(t, 0);
      v = {v.e * w.e, v.s + " * " + w.s};
    }
    if (kind == 5 && made.exact && t.is_float()) v = {clamp(Operand(v.e), Operand(-2), Operand(2)), "clamp(" + v.s + ", -2, 2)"};
    vars.resize(spatial);
    const char* name = kind == 4 ? "strict_sum" : kind == 5 ? "product" : "sum";
    text = r.text + "  return " + name + "(" + v.s + ", " + over + ")";
    Reduction<> red = kind == 4 ? strict_sum(Operand(v.e), list) : kind == 5 ? product(Operand(v.e), list) : sum(Operand(v.e), list);
    return start(red, t, text);
  }
  Reduction<> start(const Reduction<>& red, Type t, std::string& text) {
    if (!s.one_in(4)) return red;
    const Text init = leaf(t, 0);
    text += ".from(" + init.s + ")";
    return red.from(Operand(init.e));
  }

  void stage(int k, bool last) {
    const std::string name = "s" + std::to_string(k);
    // the dimensions of something that is there already, most of the time
    std::vector<Span> spans;
    if (s.pick(5) < 3) spans = all[all.size() - 1].spans;
    else
      for (int rank = s.between(0, 3); rank > 0; --rank) spans.push_back(span(true, false));
    for (Span& d : spans) {
      if (s.one_in(4)) d.high = std::max(d.high - s.between(0, 2), d.symbol < 0 ? 0 : d.low - static_cast<int>(symbols[static_cast<std::size_t>(d.symbol)].facts.min));
      if (d.symbol >= 0 && d.high < 0 && least_end(d) < d.low) d.high = d.low;
      if (d.symbol < 0 && d.high < d.low) d.high = d.low;
      if (last || !s.one_in(8)) {
        if (d.low != 0) d.low = 0;
        if (least_end(d) < 0) d.high = 0;
      }
    }
    const bool inferred = !spans.empty() && !last && s.one_in(2);
    if (inferred)
      for (Span& d : spans)
        if (s.one_in(2)) d.low -= s.between(0, 2), d.high += s.between(0, 2);
    const Type t = type();
    const bool reduces = s.one_in(3);
    vars.clear();
    const auto fill_vars = [&](const Indices& at) {
      static constexpr const char* names[] = {"i", "j", "h"};
      for (int d = 0; d < at.rank(); ++d) vars.push_back({Text{at[d], names[d]}, spans[static_cast<std::size_t>(d)]});
    };
    std::string text;
    Tensor result;
    const auto plain = [&] {
      const Text v = value(t, s.between(1, 3));
      text = "  return " + v.s;
      return v.e;
    };
    const auto defined = [&](auto&& body_of) {
      if (!inferred) {
        const Shape shape = Shape::of(extents(spans));
        result = compute(name.c_str(), shape, [&](Indices at) { fill_vars(at); return body_of(); });
        return;
      }
      const auto set = [&](std::initializer_list<Expr> at) {
        static constexpr const char* names[] = {"i", "j", "h"};
        std::size_t d = 0;
        for (const Expr& e : at) vars.push_back({Text{e, names[d]}, spans[d]}), ++d;
      };
      if (spans.size() == 1) result = compute(name.c_str(), [&](Var i) { set({i}); return body_of(); });
      else if (spans.size() == 2) result = compute(name.c_str(), [&](Var i, Var j) { set({i, j}); return body_of(); });
      else result = compute(name.c_str(), [&](Var i, Var j, Var h) { set({i, j, h}); return body_of(); });
    };
    if (reduces) defined([&] { return reduction(t, text); });
    else defined(plain);
    std::string params;
    for (std::size_t d = 0; d < spans.size(); ++d) params += std::string(d ? ", " : "") + "Var " + "ijh"[d];
    made.text += "Tensor " + name + " = compute(\"" + name + "\", " + (inferred ? "" : "{" + written(spans) + "}, ") + "[&](" + params + ") {\n" +
                 text + ";\n});" + (inferred ? "  // meant for " + written(spans) : "") + "\n";
    all.push_back({result, name, result.type(), spans, false, inferred, false});
  }

  void outputs() {
    for (Known& t : all) {
      const bool last = &t == &all.back();
      if (t.argument) continue;
      if (!last && t.read && !s.one_in(5)) continue;
      std::vector<Span> spans = t.spans;
      bool fits = true;
      for (Span& d : spans) {
        if (d.low > 0 || least_end(d) < 0) fits = false;
        d.low = 0;
      }
      if (!fits || (!last && t.read && !t.inferred && spans != t.spans)) continue;
      const std::string name = "out_" + t.name;
      lang::ArgumentLayout layout;
      const std::uint32_t order = s.pick(6);
      if (order == 5) layout.order = lang::ArgumentLayout::Order::any;
      const Tensor out = lang::make_output(name.c_str(), t.type, extents(spans), layout);
      lang::bind(out, t.tensor);
      made.text += "Output " + name + "{\"" + name + "\", " + name_of(t.type) + ", {" + written(spans) + "}};  " + name + " = " + t.name + ";\n";
      arguments.push_back(out);
    }
  }

  Source& s;
  Made made;
  struct NamedSymbol { Text value; Symbol::Facts facts; };
  std::vector<NamedSymbol> symbols;
  std::vector<Text> scalars;
  std::vector<Known> all;
  std::vector<Index> vars;
  std::vector<lang::ArgumentRef> arguments;
};

}  // namespace

Made make_program(Source& s) { return Maker(s).make(); }

}  // namespace fuzz
