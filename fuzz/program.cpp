#include "program.h"

#include <algorithm>

#include "operators.h"

namespace fuzz {
namespace {

using namespace ashlar;

class Maker : Operators {
 public:
  Maker(Source& source, const Kind& kind) : Operators(source), kind_(kind) { functions = !kind.device || source.one_in(20); }

  Made make() {
    made.exact = s.one_in(4);
    made.edges = !made.exact && s.one_in(4);
    if (s.one_in(kind_.tiles ? 5 : 25)) return product_of_tiles();
    const int symbol_count = s.between(0, 2);
    for (int k = 0; k < symbol_count; ++k) symbol(k);
    const int inputs = s.between(1, 3);
    for (int k = 0; k < inputs; ++k) input(k);
    if (s.one_in(4)) scalar();
    if (s.one_in(4)) table_of_numbers();
    const int stages = s.between(1, 5);
    for (int k = 0; k < stages; ++k) stage(k, k + 1 == stages);
    outputs();
    made.built = lang::build_program("fuzzed", arguments);
    return std::move(made);
  }

 private:
  // C = A B, of the types that instructions of a warp take and of others, and now and then something that is made of it.
  Made product_of_tiles() {
    form("product of tiles");
    static const std::vector<Type> halves{f16, bf16, f16, i8, f32, u8};
    const Type half = s.of(halves), wide = half.is_float() ? f32 : i32;
    made.edges = false;
    const auto extent = [&](const char* name, int tile) {
      const bool known = s.one_in(3);
      Symbol::Facts f;
      f.multiple_of = tile;
      if (s.one_in(3)) f.multiple_of = 1, f.min = s.between(0, 3);
      const int n = tile * s.between(1, 3);
      made.text += known ? "" : std::string("Symbol ") + name + ", a multiple of " + std::to_string(f.multiple_of) + ";\n";
      return known ? Text{ir::index(n), std::to_string(n)} : Text{Symbol(name, f), name};
    };
    const Text M = extent("M", 16), N = extent("N", 8), K = extent("K", 16);
    lang::ArgumentLayout rows{.order = lang::ArgumentLayout::Order::dense, .align = 16};
    if (kind_.rows && !s.one_in(4)) rows = {}, made.text += "// rows apart\n";
    const Tensor A = lang::make_input("A", half, {M.e, K.e}, rows), B = lang::make_input("B", half, {K.e, N.e}, rows);
    const Axis k{"k", Operand(K.e)};
    const auto to_wide = [&](const Expr& e) { return e.type() == wide ? e : wide(e); };
    const Tensor product =
        compute("product", {M.e, N.e}, [&](Var i, Var j) { return sum(to_wide(A(i, k)) * to_wide(B(k, j)), k); });
    const bool more = s.one_in(3);
    const Tensor result =
        more ? compute("result", {M.e, N.e}, [&](Var i, Var j) { return max(product(i, j) * 2, 0); }) : product;
    const Tensor C = lang::make_output("C", wide, {M.e, N.e});
    lang::bind(C, result);
    made.text += std::string("C = A B: ") + name_of(half) + "[" + M.s + ", " + K.s + "] by [" + K.s + ", " + N.s + "] to " +
                 name_of(wide) + (more ? ", max(C * 2, 0)\n" : "\n");
    made.product = Made::TiledProduct{A, B, product, result, half};
    made.built = lang::build_program("fuzzed", {A, B, C});
    return std::move(made);
  }

  // ---- arguments ----
  void symbol(int k) {
    Symbol::Facts f;
    if (s.one_in(2)) f.min = s.between(1, 3);
    if (s.one_in(4)) f.multiple_of = s.between(2, 4), f.min = f.min / f.multiple_of * f.multiple_of;
    if (s.one_in(3)) f.max = f.min + f.multiple_of * s.between(1, 4);
    const std::string name = k == 0 ? "N" : "M";
    symbols.push_back({Text{Symbol(name.c_str(), f), name}, f});
    made.text += "Symbol " + name + "{\"" + name + "\", {.min = " + std::to_string(f.min) +
                 (f.max == INT64_MAX ? "" : ", .max = " + std::to_string(f.max)) +
                 ", .multiple_of = " + std::to_string(f.multiple_of) + "}};\n";
  }

  void input(int k) {
    std::vector<Span> spans;
    if (k == 0)  // the first says what every symbol is
      for (std::size_t d = 0; d < symbols.size(); ++d)
        spans.push_back({static_cast<int>(d), 0, s.one_in(4) ? s.between(0, 3) : 0});
    const int rank = std::max(static_cast<int>(spans.size()), s.between(0, 3));
    while (static_cast<int>(spans.size()) < rank) spans.push_back(span(true, true));
    const std::string name(1, static_cast<char>('a' + k));
    lang::ArgumentLayout layout;
    const std::uint32_t order = s.pick(6);
    // dense rows of packed elements start on bytes only where they are even
    const Type t = s.one_in(10) && (order != 4 || rank < 2) ? (s.one_in(2) ? i4 : u4) : type();
    if (order == 4) layout.order = lang::ArgumentLayout::Order::dense;
    if (order == 5) layout.order = lang::ArgumentLayout::Order::any;
    if (s.one_in(6)) layout.align = 64;
    Known known{lang::make_input(name.c_str(), t, extents(spans), layout), name, t, spans, true};
    made.text += std::string("Input ") + name + "{\"" + name + "\", " + name_of(t) + ", {" + written(spans) + "}};" +
                 (order == 4   ? "  // dense"
                  : order == 5 ? "  // any strides"
                               : "") +
                 (layout.align ? "  // aligned to 64\n" : "\n");
    arguments.push_back(known.tensor);
    all.push_back(known);
  }

  void table_of_numbers() {
    const Type t = type();
    std::vector<Span> spans;
    for (int rank = s.between(1, 2); rank > 0; --rank) spans.push_back({-1, 0, s.between(1, 5)});
    form("constant");
    const std::int64_t rows = spans[0].high, columns = spans.size() > 1 ? spans[1].high : 1;
    std::string numbers;
    std::vector<int> list;
    std::vector<bool> bools;
    for (std::int64_t k = 0; k < rows * columns; ++k) {
      list.push_back(s.between(0, 6) - (t.is_unsigned() || t.is_bool() ? 0 : 2));
      bools.push_back(list.back() > 2);
      numbers += (k ? ", " : "") + (t.is_bool() ? std::string(bools.back() ? "true" : "false") : std::to_string(list.back()));
    }
    const auto made_of = [&](const auto& values) {
      return spans.size() == 1 ? ashlar::constant("g", t, {rows}, values) : ashlar::constant("g", t, {rows, columns}, values);
    };
    const Tensor table = t.is_bool() ? made_of(bools) : made_of(list);
    made.text += std::string("Tensor g = constant(\"g\", ") + name_of(t) + ", {" + written(spans) + "}, {" + numbers + "});\n";
    all.push_back({table, "g", t, spans, true});
  }

  void scalar() {
    const Type t = type();
    scalars.push_back({lang::make_scalar("q", t), "q"});
    made.text += std::string("Scalar q{\"q\", ") + name_of(t) + "};\n";
    arguments.push_back(scalars.back().e);
  }

  // ---- stages ----
  // ---- scatters ----
  // An index of the result: one that stays inside, or any that the condition of the put keeps there.
  Text target(const Span& d, std::optional<Text>& keep) {
    if (!by_table_ && !s.one_in(3))
      if (const std::optional<Text> at = inside(d, 2)) return *at;
    const Text data = by_table_     ? *std::exchange(by_table_, std::nullopt)
                      : s.one_in(2) ? value(s.one_in(2) ? u8 : i32, 1)
                                    : literal_anywhere(),
               end = end_of(d);
    if (d.low == 0 && table_over_.empty() && s.one_in(2)) return {data.e % end.e, "(" + data.s + ") % (" + end.s + ")"};
    const std::string low = std::to_string(d.low);
    const Text within{data.e >= d.low && data.e < end.e, data.s + " >= " + low + " && " + data.s + " < " + end.s};
    keep = keep ? Text{keep->e && within.e, keep->s + " && " + within.s} : within;
    return data;
  }
  template <std::size_t N>
  Put<N> draw_put(Type t, bool small, const std::vector<Span>& spans, std::string& text) {
    std::optional<Text> keep;
    std::array<Text, N> at;
    std::string indices;
    for (std::size_t d = 0; d < N; ++d) {
      at[d] = target(spans[d], keep);
      indices += ", " + at[d].s;
    }
    if (s.one_in(5)) {
      const Text c = value(bool_, 1);
      keep = keep ? Text{c.e && keep->e, c.s + " && " + keep->s} : c;
    }
    Text v = value(t, 2);
    if (small) v = {clamp(Operand(v.e), Operand(-2), Operand(2)), "clamp(" + v.s + ", -2, 2)"};
    text = (keep ? "put_if(" + keep->s + ", " : "put(") + v.s + indices + ")";
    const auto made_at = [&]<std::size_t... D>(std::index_sequence<D...>) {
      return keep ? put_if(Operand(keep->e), Operand(v.e), at[D].e...) : put(Operand(v.e), at[D].e...);
    };
    return made_at(std::make_index_sequence<N>());
  }
  template <std::size_t N, std::size_t M>
  Tensor scatter_over(const std::string& name, Type t, const std::vector<Span>& spans, const std::vector<Span>& over,
                      std::string& text) {
    static constexpr const char* called[] = {"Combine::add",    "Combine::max",     "Combine::min",    "Combine::multiply",
                                             "Combine::bit_or", "Combine::bit_and", "Combine::bit_xor"};
    static constexpr Combine all_combines[] = {Combine::add,    Combine::max,     Combine::min,    Combine::multiply,
                                               Combine::bit_or, Combine::bit_and, Combine::bit_xor};
    const std::size_t which = t.is_bool() ? 4 + s.pick(3) : s.pick(t.is_float() ? 4 : 7);
    const bool in_order = (t == f32 || t == i32) && s.one_in(4), several = s.one_in(6);
    const bool small = made.exact && t.is_float() && which == 3 && !in_order;
    const Operand init = t.is_bool() ? Operand(true) : Operand(s.between(0, 3));
    const auto extents_of = [&]<std::size_t... D>(const std::vector<Span>& of, std::index_sequence<D...>, auto&& f) {
      const std::vector<Extent> e = extents(of);
      const Extent list[] = {e[D]...};
      return f(list);
    };
    const auto defined = [&](auto&& body) {
      return extents_of(spans, std::make_index_sequence<N>(), [&](const auto& result) {
        return extents_of(over, std::make_index_sequence<M>(), [&](const auto& points_of) {
          if (!in_order) return scatter(name.c_str(), result, all_combines[which], init, points_of, body);
          const auto add = reducer("add", {t}, {0}, [](Values<1> a, Values<1> b) { return values(a[0] + b[0]); }, Order::exact);
          return scatter(name.c_str(), result, add, init, points_of, body);
        });
      });
    };
    std::string first, second;
    const auto set = [&](auto... v) {
      std::size_t d = 0;
      ((vars.push_back({Text{v, d == 0 ? "p" : "q"}, over[d]}), ++d), ...);
      if (table_over_.empty()) return;
      by_table_ = Text{element(table_, {vars[0].value, vars.back().value}), table_over_ + (M == 2 ? "(p, q)" : "(p)")};
      if constexpr (M == 1) by_table_->e = table_(vars[0].value.e);
    };
    Tensor result;
    if (several) form("puts");
    if (several)
      result = defined([&](auto... v) {
        set(v...);
        const Put<N> a = draw_put<N>(t, small, spans, first), b = draw_put<N>(t, small, spans, second);
        return puts(a, b);
      });
    else
      result = defined([&](auto... v) {
        set(v...);
        return draw_put<N>(t, small, spans, first);
      });
    text = std::string(in_order ? "reducer(\"add\", ..., Order::exact)" : called[which]) + ", " +
           (t.is_bool() ? "true" : ir::text(lang_init(t, init))) + ", {" + written(over) + "}, [&](Var p" +
           (M == 2 ? ", Var q" : "") + ") { return " + (several ? "puts(" + first + ", " + second + ")" : first) + "; }";
    return result;
  }
  static Expr lang_init(Type t, const Operand& init) {
    return t.is_float() ? ir::float_const(t, static_cast<double>(init.integer())) : ir::int_const(t, init.integer());
  }
  void scatter_stage(const std::string& name, const std::vector<Span>& spans) {
    form("scatter");
    const Type t = type();
    std::vector<Span> over;
    std::vector<const Known*> tables;
    for (const Known& k : all)
      if (k.argument && !k.type.is_float() && !k.type.is_bool() && !k.type.is_packed() &&
          (k.spans.size() == 1 || k.spans.size() == 2))
        tables.push_back(&k);
    table_over_.clear();
    if (!tables.empty() && s.one_in(3)) {
      const Known& from = *s.of(tables);
      form("scatter by a table");
      table_ = from.tensor, table_over_ = from.name, over = from.spans;
    } else
      for (int k = s.between(1, 2); k > 0; --k) over.push_back(s.one_in(3) && spans[0].low == 0 ? spans[0] : span(true, false));
    vars.clear();
    std::string text;
    const auto draw = [&]<std::size_t N>() {
      return over.size() == 1 ? scatter_over<N, 1>(name, t, spans, over, text) : scatter_over<N, 2>(name, t, spans, over, text);
    };
    const Tensor result = spans.size() == 1   ? draw.template operator()<1>()
                          : spans.size() == 2 ? draw.template operator()<2>()
                                              : draw.template operator()<3>();
    made.text += "Tensor " + name + " = scatter(\"" + name + "\", {" + written(spans) + "}, " + text + ");\n";
    all.push_back({result, name, result.type(), spans, false, false, false});
  }

  // A stage that a function computes: of all of a tensor, or point by point. Floats are left out: a NaN has no bits of its own.
  bool external_stage(const std::string& name, const std::vector<Span>& spans) {
    std::vector<Known*> sources;
    for (Known& k : all)
      if (!k.inferred && !k.type.is_float() && !k.type.is_packed()) sources.push_back(&k);
    if (sources.empty()) return false;
    Known& from = *s.of(sources);
    from.read = true;
    form("stage of a C function");
    const bool pointwise = from.spans == spans && s.one_in(2);
    const auto define = [&]<std::size_t N>() {
      const std::vector<Extent> e = extents(spans);
      const auto with = [&]<std::size_t... D>(std::index_sequence<D...>) {
        const Extent list[] = {e[D]...};
        const auto body = [&](auto... v) {
          Need need = needs(from.tensor, v...);
          if (!pointwise) {
            need.box.clear();
            for (const Span& d : from.spans) need.box.push_back(Range{ir::index(d.low), end_of(d).e});
          }
          return need;
        };
        if (!pointwise) {
          all.push_back({c_stage(name.c_str(), i32, list, region_function("fuzz_mixed", fuzz_mixed), body), name, i32, spans});
          return;
        }
        const auto both = c_stage(name.c_str(), {i32, u8}, list, region_function("fuzz_pointwise", fuzz_pointwise), body);
        all.push_back({both[0], name + "a", i32, spans});
        all.push_back({both[1], name + "b", u8, spans});
      };
      with(std::make_index_sequence<N>());
    };
    const std::string read = from.name;
    if (spans.size() == 1)
      define.template operator()<1>();
    else if (spans.size() == 2)
      define.template operator()<2>();
    else
      define.template operator()<3>();
    made.text += (pointwise ? "auto [" + name + "a, " + name + "b]" : "Tensor " + name) + " = c_stage(\"" + name + "\", " +
                 (pointwise ? "{i32, u8}" : "i32") + ", {" + written(spans) + "}, ...);  // " +
                 (pointwise ? "each element of " : "all of ") + read + "\n";
    return true;
  }

  void stage(int k, bool last) {
    const std::string name = "s" + std::to_string(k);
    // the dimensions of something that is there already, most of the time
    std::vector<Span> spans;
    if (s.pick(5) < 3)
      spans = all[all.size() - 1].spans;
    else
      for (int rank = s.between(0, 3); rank > 0; --rank) spans.push_back(span(true, false));
    for (Span& d : spans) {
      if (s.one_in(4))
        d.high = std::max(d.high - s.between(0, 2),
                          d.symbol < 0 ? 0 : d.low - static_cast<int>(symbols[static_cast<std::size_t>(d.symbol)].facts.min));
      if (d.symbol >= 0 && d.high < 0 && least_end(d) < d.low) d.high = d.low;
      if (d.symbol < 0 && d.high < d.low) d.high = d.low;
      if (last || !s.one_in(8)) {
        if (d.low != 0) d.low = 0;
        if (least_end(d) < 0) d.high = 0;
      }
    }
    if (!spans.empty() && s.one_in(6)) return scatter_stage(name, spans);
    if (!spans.empty() && functions && s.one_in(8) && external_stage(name, spans)) return;
    if (s.one_in(6)) return tuple_stage(name, spans);
    if (!spans.empty() && s.one_in(10) && maximum_and_sum(name, spans)) return;
    if (s.one_in(12) && einsum_stage(name)) return;
    if (s.one_in(16) && gradient_stage(name)) return;
    if (spans.empty()) form("number");
    const bool inferred = !spans.empty() && !last && s.one_in(2);
    if (inferred)
      for (Span& d : spans)
        if (s.one_in(2)) d.low -= s.between(0, 2), d.high += s.between(0, 2);
    const Type t = type();
    if (inferred) form("inferred domain");
    const bool reduces = s.one_in(3);
    if (!reduces && !inferred && !spans.empty() && s.one_in(4)) return recurrence(name, t, spans);
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
        result = compute(name.c_str(), shape, [&](Indices at) {
          fill_vars(at);
          return body_of();
        });
        return;
      }
      const auto set = [&](std::initializer_list<Expr> at) {
        static constexpr const char* names[] = {"i", "j", "h"};
        std::size_t d = 0;
        for (const Expr& e : at) vars.push_back({Text{e, names[d]}, spans[d]}), ++d;
      };
      if (spans.size() == 1)
        result = compute(name.c_str(), [&](Var i) {
          set({i});
          return body_of();
        });
      else if (spans.size() == 2)
        result = compute(name.c_str(), [&](Var i, Var j) {
          set({i, j});
          return body_of();
        });
      else
        result = compute(name.c_str(), [&](Var i, Var j, Var h) {
          set({i, j, h});
          return body_of();
        });
    };
    if (reduces)
      defined([&] { return reduction(t, text); });
    else
      defined(plain);
    std::string params;
    for (std::size_t d = 0; d < spans.size(); ++d) params += std::string(d ? ", " : "") + "Var " + "ijh"[d];
    made.text += "Tensor " + name + " = compute(\"" + name + "\", " + (inferred ? "" : "{" + written(spans) + "}, ") + "[&](" +
                 params + ") {\n" + text + ";\n});" + (inferred ? "  // meant for " + written(spans) : "") + "\n";
    all.push_back({result, name, result.type(), spans, false, inferred, false});
  }

  void recurrence(const std::string& name, Type t, const std::vector<Span>& spans) {
    std::string params;
    for (std::size_t d = 0; d < spans.size(); ++d) params += std::string(d ? ", " : "") + "Var " + "ijh"[d];
    const Shape shape = Shape::of(extents(spans));
    const bool scans = s.one_in(3);
    const bool cells =
        !scans && spans.size() == 2 && spans[0].low == 0 && spans[1].low == 0 && least_end(spans[0]) >= 1 && s.one_in(2);
    const bool reduces = !scans && !cells && !t.is_bool() && s.one_in(2);
    form(scans ? "scan" : "recurrence");
    const Defined d = cells     ? cell(name, t, spans)
                      : reduces ? reducing(name, shape, t, spans, params)
                      : scans   ? scanned(name, shape, t, spans, params)
                                : recurring(name, shape, t, spans, params);
    const bool one = d.tensors.size() == 1;
    made.text += (one ? "Tensor " + name : "auto [" + name + "a, " + name + "b]") + " = " + (scans ? "scan" : "recur") + "(\"" +
                 name + "\", {" + written(spans) + "}, " + d.text + ");\n";
    for (std::size_t k = 0; k < d.tensors.size(); ++k)
      all.push_back({d.tensors[k], name + (one ? "" : k == 0 ? "a" : "b"), d.tensors[k].type(), spans, false, false, false});
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
      made.text += "Output " + name + "{\"" + name + "\", " + name_of(t.type) + ", {" + written(spans) + "}};  " + name +
                   " = " + t.name + ";\n";
      arguments.push_back(out);
    }
  }

  const Kind kind_;
  Tensor table_;  // whose elements say where the scatter at hand stores, and its name; empty where there is none
  std::string table_over_;
  std::optional<Text> by_table_;
  std::vector<lang::ArgumentRef> arguments;
};

}  // namespace

Made make_program(Source& s, const Kind& kind) { return Maker(s, kind).make(); }

}  // namespace fuzz
