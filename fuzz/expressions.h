#pragma once
// Random expressions over what a program has so far: index variables, tensors with the boxes where they have values, scalars.
// Each is made together with the text a user would type for it.
//
// Invariant: an index stays inside what it reads, for every value that the facts of the Symbols allow; or a boundary extends
// it.
#include "data_indices.h"
#include "texts.h"

namespace fuzz {

class Expressions {
 protected:
  explicit Expressions(Source& source) : s(source) {}

  Text end_of(const Span& span) const {
    if (span.symbol < 0) return {ir::index(span.high), std::to_string(span.high)};
    const Text n = plus(symbols[static_cast<std::size_t>(span.symbol)].value, span.high);
    if (span.least == 0) return n;
    return {max(Operand(n.e), Operand(span.least)), "max(" + n.s + ", " + std::to_string(span.least) + ")"};
  }
  std::int64_t least_end(const Span& span) const {
    if (span.symbol < 0) return span.high;
    const std::int64_t end = symbols[static_cast<std::size_t>(span.symbol)].facts.min + span.high;
    return span.least == 0 ? end : std::max<std::int64_t>(end, span.least);
  }
  // The same where the index variables in sight have values: one that runs up to the Symbol says that it is not too small.
  std::int64_t least_end_here(const Span& span) const {
    std::int64_t least = least_end(span);
    if (span.symbol >= 0)
      for (const Index& v : vars)
        if (v.span.symbol == span.symbol && v.span.least == 0)
          least = std::max<std::int64_t>(least, v.span.low - v.span.high + 1 + span.high);
    return least;
  }
  bool never_empty_here(const Span& span) const { return least_end_here(span) > span.low; }

  Type type() {
    static const std::vector<Type> plain{f32, i32, f64, f32, u8,    i16,  f16,  i8, bf16,
                                         u16, u32, i64, u64, bool_, e4m3, e5m2, f32};
    static const std::vector<Type> exact{f32, i32, f64, f32, u8, i16, i8, u32, i64};
    return s.of(made.exact ? exact : plain);
  }

  void form(const char* name) { made.forms.insert(known_form(name)); }

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
      case 4:
        t = {t.e * 2, t.s + " * 2"};
        break;
      case 5:
        t = {t.e / 2, t.s + " / 2"};
        break;
      case 6:
        t = {t.e % 3, t.s + " % 3"};
        break;
      case 7: {
        const Index& w = s.of(vars);
        t = {t.e + w.value.e, t.s + " + " + w.value.s};
        break;
      }
      default:
        break;
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
    if (how >= 8 && never_empty_here(d)) {
      const Text last = plus(end_of(d), -1);
      if (how == 9 && depth > 0) {  // a gather
        static const std::vector<Type> small{u8, i8, i16, i32};
        const Text data = value(s.of(small), depth - 1);
        form("gather");
        if (s.one_in(2)) return of_data(d, depth);
        if (s.one_in(3)) {  // a promise, which the remainder keeps
          const Text size = plus(end_of(d), -d.low);
          form("in_range");
          return Text{in_range(Operand(d.low + data.e % size.e), Operand(ir::index(d.low)), Operand(end_of(d).e)),
                      "in_range(" + std::to_string(d.low) + " + " + data.s + " % (" + size.s + "), " + std::to_string(d.low) +
                          ", " + end_of(d).s + ")"};
        }
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
      if (v.span.symbol == d.symbol)
        high = v.span.least == 0 ? d.high - v.span.high : std::min(d.high - v.span.high, d.least - v.span.least);
      else if (v.span.symbol < 0)
        high = static_cast<int>(least_end(d)) - v.span.high;
      else
        continue;
      if (low <= high) fits.push_back({&v, {low, high}});
    }
    if (!fits.empty() && how < 7) {
      // simplest: the variable that runs over exactly this
      std::stable_sort(fits.begin(), fits.end(),
                       [&](const auto& a, const auto& b) { return (a.first->span == d) > (b.first->span == d); });
      const auto& [v, shifts] = how < 4 ? fits.front() : s.of(fits);
      const int least = std::max(shifts.first, -4), most = std::min(shifts.second, 4);
      if (how == 6 && v->span == d) {
        const Text last = plus(end_of(d), d.low - 1);
        return Text{last.e - v->value.e, last.s + " - " + v->value.s};
      }
      const int zero = std::clamp(0, least, std::max(least, most));
      return plus(v->value, how < 2 || most <= least ? zero : s.between(least, most));
    }
    if (never_empty_here(d)) {
      const int c =
          d.low + static_cast<int>(s.pick(static_cast<std::uint32_t>(std::min<std::int64_t>(least_end_here(d) - d.low, 4))));
      return Text{ir::index(c), std::to_string(c)};
    }
    return std::nullopt;
  }

  // The same, by arithmetic in the type of the data; of bounds that are known, or of those of a Symbol as i64.
  Text of_data(const Span& d, int depth) {
    static const std::vector<Type> integers{u8, i8, i16, u16, i32, u32, i64, u64};
    form("arithmetic of data as an index");
    const Type t = s.of(integers);
    const Text data = value(t, depth - 1);
    if (d.symbol >= 0 && s.one_in(3)) {
      const Text k = convert(i64, data), last{i64(end_of(d).e) - 1, "i64(" + end_of(d).s + ") - 1"};
      return {clamp(Operand(k.e), Operand(d.low), Operand(last.e)),
              "clamp(" + k.s + ", " + std::to_string(d.low) + ", " + last.s + ")"};
    }
    return arithmetic_of_data(s, data, value(t, depth - 1), d.low, least_end_here(d) - 1 - d.low);
  }

  Expr element(const Tensor& t, const std::vector<Text>& at) const {
    switch (at.size()) {
      case 0:
        return t();
      case 1:
        return t(at[0].e);
      case 2:
        return t(at[0].e, at[1].e);
      default:
        return t(at[0].e, at[1].e, at[2].e);
    }
  }

  std::optional<Text> load(int depth) {
    if (all.empty()) return std::nullopt;
    const std::uint32_t which = s.pick(4);
    Known& from = which < 2 ? all[all.size() - 1 - s.pick(static_cast<std::uint32_t>(std::min<std::size_t>(all.size(), 2)))]
                            : all[s.pick(static_cast<std::uint32_t>(all.size()))];
    std::vector<Text> at;
    Tensor t = from.tensor;
    std::string name = from.name;
    const bool zero_based = std::all_of(from.spans.begin(), from.spans.end(), [](const Span& d) { return d.low == 0; });
    const bool full = std::all_of(from.spans.begin(), from.spans.end(), [&](const Span& d) { return never_empty_here(d); });
    if (!from.spans.empty() && !from.inferred && zero_based && full && s.one_in(8)) {
      form("reverse view");
      t = view::reverse(t, 0), name = "reverse(" + name + ", 0)";
      for (const Span& d : from.spans) {
        const auto i = inside(d, depth);
        if (!i) return std::nullopt;
        at.push_back(*i);
      }
      if (from.spans.size() == 2 && s.one_in(2)) {
        form("transpose view");
        t = view::transpose(t), name = "transpose(" + name + ")";
        std::swap(at[0], at[1]);
      }
    } else if (!from.spans.empty() && !from.inferred && zero_based && full && s.one_in(6)) {
      if (!other_view(from, t, name, at, depth)) return std::nullopt;
    } else if (!from.spans.empty() && !from.inferred && zero_based && s.one_in(3)) {
      form("boundary");
      static constexpr const char* kinds[] = {"constant boundary", "repeat", "mirror", "wrap", "reflect"};
      const std::uint32_t kind = s.pick(5);
      form(kinds[full ? kind : 0]);
      if (kind == 0 || !full) {
        const int v = s.between(0, 3);
        t = boundary::constant(t, from.type == bool_ ? Operand(v > 1) : Operand(v)),
        name = "constant(" + name + ", " + (from.type == bool_ ? v > 1 ? "true" : "false" : std::to_string(v)) + ")";
      } else if (kind == 1)
        t = boundary::repeat(t), name = "repeat(" + name + ")";
      else if (kind == 2)
        t = boundary::mirror(t), name = "mirror(" + name + ")";
      else if (kind == 3)
        t = boundary::wrap(t), name = "wrap(" + name + ")";
      else
        t = boundary::reflect(t), name = "reflect(" + name + ")";
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
    if (r.type().is_packed()) form("packed");
    if (r.type().is_float() && r.type().bits == 8) form("fp8");
    if (r.type().is_packed()) r = convert(r.type().is_signed() ? i8 : u8, r);
    if (made.exact && !(r.type() == bool_)) {
      const bool sign = r.type().is_float() || r.type().is_signed();
      r = {clamp(Operand(r.e), Operand(sign ? -4 : 0), Operand(4)), "clamp(" + r.s + ", " + (sign ? "-4" : "0") + ", 4)"};
    }
    return r;
  }

  // A part, the elements in another shape, or several times: `at` becomes an index into it.
  bool other_view(const Known& from, Tensor& t, std::string& name, std::vector<Text>& at, int depth) {
    std::vector<Span> spans = from.spans;
    const std::size_t last = spans.size() - 1, dim = s.pick(static_cast<std::uint32_t>(spans.size()));
    const bool two = last == 1 && spans[1].symbol < 0;
    const std::uint32_t how = s.pick(4);
    if (how == 0 && two) {  // one dimension, of all
      std::vector<Text> own;
      for (const Span& d : spans) {
        const auto i = inside(d, depth);
        if (!i) return false;
        own.push_back(*i);
      }
      form("reshape view");
      const Text rows = end_of(spans[0]);
      const int columns = spans[1].high;
      t = view::reshape(t, {Extent(rows.e * columns)});
      name = "reshape(" + name + ", {" + rows.s + " * " + std::to_string(columns) + "})";
      at = {{own[0].e * columns + own[1].e, own[0].s + " * " + std::to_string(columns) + " + " + own[1].s}};
      return true;
    }
    if (how == 1 && last == 0 && spans[0].symbol < 0 && spans[0].high % 2 == 0) {
      form("reshape view");
      t = view::reshape(t, {spans[0].high / 2, 2});
      name = "reshape(" + name + ", {" + std::to_string(spans[0].high / 2) + ", 2})";
      spans = {{-1, 0, spans[0].high / 2}, {-1, 0, 2}};
    } else if (how == 2 && last < 2) {
      form("broadcast view");
      const Span copies{-1, 0, s.between(1, 3)};
      std::vector<Extent> shape{Extent(copies.high)};
      for (const Span& d : spans) shape.push_back(Extent(end_of(d).e));
      t = shape.size() == 2 ? view::broadcast(t, {shape[0], shape[1]}) : view::broadcast(t, {shape[0], shape[1], shape[2]});
      name = "broadcast(" + name + ", {" + std::to_string(copies.high) + ", ...})";
      spans.insert(spans.begin(), copies);
    } else {
      form("slice view");
      Span& d = spans[dim];
      const int low = static_cast<int>(s.pick(static_cast<std::uint32_t>(std::min<std::int64_t>(least_end(d), 3))));
      const int step = d.symbol < 0 ? s.between(1, 2) : 1;
      t = view::slice(t, static_cast<int>(dim), Extent(Range{ir::index(low), end_of(d).e}), step);
      name = "slice(" + name + ", " + std::to_string(dim) + ", {" + std::to_string(low) + ", " + end_of(d).s + "}, " +
             std::to_string(step) + ")";
      d.high = d.symbol < 0 ? (d.high - low + step - 1) / step : d.high - low;
      if (d.least > 0) d.least -= low;
      if (d.least <= 0 && d.symbol >= 0 && from.spans[dim].least > 0) return false;
    }
    for (const Span& d : spans) {
      const auto i = inside(d, depth);
      if (!i) return false;
      at.push_back(*i);
    }
    return true;
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
  // The bits of a NaN, its sign among them, are not defined: what looks at them gets a number instead.
  Text a_number(const Text& x) const {
    if (!x.type().is_float()) return x;
    const Text one = convert(x.type(), {ir::float_const(x.type(), 1), std::string(name_of(x.type())) + "(1)"});
    return call("select", select(isnan(x.e), one.e, x.e), {call("isnan", isnan(x.e), {x}), one, x});
  }
  Text call(const char* name, Expr e, std::initializer_list<Text> args) const {
    std::string t = std::string(name) + "(";
    for (const Text* a = args.begin(); a != args.end(); ++a) t += (a == args.begin() ? "" : ", ") + a->s;
    return {std::move(e), t + ")"};
  }
  Text infix(const Text& a, const char* op, const Text& b, Expr e) const {
    return {std::move(e), "(" + a.s + " " + op + " " + b.s + ")"};
  }

  Text value(Type t, int depth) {
    if (depth <= 0 || s.pick(4) == 0) return leaf(t, depth);
    if (t == bool_) return condition(depth);
    if (s.one_in(6)) {
      const Text c = condition(depth - 1), a = value(t, depth - 1), b = value(t, depth - 1);
      form("select");
      return call("select", select(Operand(c.e), Operand(a.e), Operand(b.e)), {c, a, b});
    }
    if (s.one_in(8)) {
      const Type other = type();
      const Text x = value(other, depth - 1);
      if (!made.exact && s.one_in(3)) {
        form("saturate");
        return {saturate(t, x.e), "saturate(" + std::string(name_of(t)) + ", " + x.s + ")"};
      }
      if (!made.exact && other.bits == t.bits && !(other == bool_) && s.one_in(2) && !(x.type() == t)) {
        form("bitcast");
        return {bitcast(t, a_number(x).e), "bitcast(" + std::string(name_of(t)) + ", " + a_number(x).s + ")"};
      }
      if (!made.exact || other == t || !t.is_float()) return convert(t, x);
    }
    const Text a = value(t, depth - 1);
    if (functions && s.one_in(16)) {
      const Text b = value(t, depth - 1);
      if (const Expr e = call_chosen(a.e, b.e); !e.empty()) {
        form("C function");
        return call("chosen", e, {a, b});
      }
    }
    if (made.exact && t.is_float()) {
      switch (s.pick(6)) {
        case 0: {
          const Text b = value(t, depth - 1);
          return infix(a, "+", b, a.e + b.e);
        }
        case 1: {
          const Text b = value(t, depth - 1);
          return infix(a, "-", b, a.e - b.e);
        }
        case 2: {
          const Text b = leaf(t, 0);
          return infix(a, "*", b, a.e * b.e);
        }
        case 3: {
          const Text b = value(t, depth - 1);
          return call("min", min(a.e, b.e), {a, b});
        }
        case 4: {
          const Text b = value(t, depth - 1);
          return call("max", max(a.e, b.e), {a, b});
        }
        default:
          return call("abs", abs(a.e), {a});
      }
    }
    const std::uint32_t how = s.pick(28);
    if (how < 9) {
      const Text b = value(t, depth - 1);
      switch (how) {
        case 0:
        case 6:
          return infix(a, "+", b, a.e + b.e);
        case 1:
          return infix(a, "-", b, a.e - b.e);
        case 2:
        case 7:
          return infix(a, "*", b, a.e * b.e);
        case 3:
          return call("min", min(a.e, b.e), {a, b});
        case 4:
          return call("max", max(a.e, b.e), {a, b});
        case 5:
          return infix(a, "/", b, a.e / b.e);
        default:
          return infix(a, "%", b, a.e % b.e);
      }
    }
    if (how == 9) return call("abs", abs(a.e), {a});
    if (how == 10) return {-a.e, "-" + a.s};
    if (how == 11) {
      const Text b = value(t, depth - 1), c = value(t, depth - 1);
      return call("clamp", clamp(a.e, b.e, c.e), {a, b, c});
    }
    if (t.is_float()) { return function_of(t, a, depth - 1); }
    switch (how) {
      case 12: {
        const Text b = value(t, depth - 1);
        return infix(a, "&", b, a.e & b.e);
      }
      case 13: {
        const Text b = value(t, depth - 1);
        return infix(a, "|", b, a.e | b.e);
      }
      case 14: {
        const Text b = value(t, depth - 1);
        return infix(a, "^", b, a.e ^ b.e);
      }
      case 15: {
        const Text b = leaf(t, 0);
        return infix(a, "<<", b, a.e << b.e);
      }
      case 16: {
        const Text b = leaf(t, 0);
        return infix(a, ">>", b, a.e >> b.e);
      }
      case 17: {
        const Text b = value(t, depth - 1);
        return call("trunc_div", trunc_div(a.e, b.e), {a, b});
      }
      case 18: {
        const Text b = value(t, depth - 1);
        return call("trunc_rem", trunc_rem(a.e, b.e), {a, b});
      }
      case 19:
        return {~a.e, "~" + a.s};
      case 20:
        return call("popcount", popcount(a.e), {a});
      case 21:
        return s.one_in(2) ? call("clz", clz(a.e), {a}) : call("ctz", ctz(a.e), {a});
      case 22: {
        const Text b = leaf(t, 0);
        return call("rounding_shr", rounding_shr(a.e, b.e), {a, b});
      }
      case 23: {
        const Text b = value(t, depth - 1);
        return call("mul_high_rounding", mul_high_rounding(a.e, b.e), {a, b});
      }
      default:
        return fixed_point(t, a, depth - 1);
    }
  }

  Text function_of(Type t, const Text& a, int depth) {
    struct One {
      const char* name;
      Expr (*of)(Operand);
    };
    static constexpr One ones[] = {{"sqrt", sqrt},   {"exp", exp},   {"tanh", tanh},   {"floor", floor}, {"round", round},
                                   {"trunc", trunc}, {"ceil", ceil}, {"log", log},     {"sin", sin},     {"cos", cos},
                                   {"exp2", exp2},   {"log2", log2}, {"rsqrt", rsqrt}, {"cbrt", cbrt},   {"expm1", expm1},
                                   {"log1p", log1p}, {"tan", tan},   {"asin", asin},   {"acos", acos},   {"atan", atan},
                                   {"sinh", sinh},   {"cosh", cosh}, {"erf", erf},     {"erfc", erfc}};
    const auto b = [&] { return value(t, depth); };
    form("function of a float");
    const std::uint32_t how = s.pick(12);
    if (how < 6) {  // those whose code is short, more often
      const One& f = ones[s.pick(7)];
      return call(f.name, f.of(a.e), {a});
    }
    if (how < 8) {
      const One& f = ones[s.pick(static_cast<std::uint32_t>(std::size(ones)))];
      return call(f.name, f.of(a.e), {a});
    }
    if (how == 8) {
      const Text y = b(), c = leaf(t, 0);
      return call("fma", fma(a.e, y.e, c.e), {a, y, c});
    }
    if (how == 9) {
      const Text y = leaf(t, 0);
      return call("copysign", copysign(a.e, a_number(y).e), {a, a_number(y)});
    }
    if (how == 10) {
      const Text y = b();
      return call("atan2", atan2(a.e, y.e), {a, y});
    }
    const Text y = leaf(t, 0);
    if (t == f64) return call("max", max(a.e, y.e), {a, y});  // of f64 there is no pow
    return call("pow", pow(a.e, y.e), {a, y});
  }

  // The functions of fixed-point and pixel arithmetic, those that change the type brought back to t.
  Text fixed_point(Type t, const Text& a, int depth) {
    form("fixed point");
    const Text b = value(t, depth);
    switch (s.pick(10)) {
      case 0:
        return call("add_sat", add_sat(a.e, b.e), {a, b});
      case 1:
        return call("sub_sat", sub_sat(a.e, b.e), {a, b});
      case 2:
        return call("halving_add", halving_add(a.e, b.e), {a, b});
      case 3:
        return call("rounding_halving_add", rounding_halving_add(a.e, b.e), {a, b});
      case 4:
        return call("halving_sub", halving_sub(a.e, b.e), {a, b});
      case 5:
        return call("mul_high", mul_high(a.e, b.e), {a, b});
      case 6:
        return convert(t, call("abs_diff", abs_diff(a.e, b.e), {a, b}));
      case 7:
        if (t.is_signed()) return call("rounding_shl", rounding_shl(a.e, b.e), {a, b});
        return call("mul_high_rounding", mul_high_rounding(a.e, b.e), {a, b});
      default:
        break;
    }
    if (t.bits > 32) return call("mul_high_rounding", mul_high_rounding(a.e, b.e), {a, b});
    switch (s.pick(3)) {
      case 0:
        return convert(t, call("widening_add", widening_add(a.e, b.e), {a, b}));
      case 1:
        return convert(t, call("widening_sub", widening_sub(a.e, b.e), {a, b}));
      default: {
        const Text product = call("widening_mul", widening_mul(a.e, b.e), {a, b});
        return {saturate(t, product.e), "saturate(" + std::string(name_of(t)) + ", " + product.s + ")"};
      }
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
      case 0:
        return infix(a, "<", b, a.e < b.e);
      case 1:
        return infix(a, "<=", b, a.e <= b.e);
      case 2:
        return infix(a, ">", b, a.e > b.e);
      case 3:
        return infix(a, "!=", b, a.e != b.e);
      default:
        return infix(a, "==", b, a.e == b.e);
    }
  }

  Source& s;
  Made made;
  bool functions = true;  // in C
  struct NamedSymbol {
    Text value;
    Symbol::Facts facts;
  };
  std::vector<NamedSymbol> symbols;
  std::vector<Text> scalars;
  std::vector<Known> all;
  std::vector<Index> vars;
};

}  // namespace fuzz
