#pragma once
// Random recurrences and scans over a box: a term like those of other stages, and reads of what was computed before.
#include <string>
#include <utility>
#include <vector>

#include "expressions.h"

namespace fuzz {

class Recurrences : protected Expressions {
 protected:
  using Expressions::Expressions;

  struct Defined {
    std::vector<Tensor> tensors;
    std::string text;  // everything behind the name and the box
  };

  Defined scanned(const std::string& name, const Shape& shape, Type t, const std::vector<Span>& spans,
                  const std::string& params) {
    const int d = static_cast<int>(s.pick(static_cast<std::uint32_t>(spans.size())));
    const bool backwards = s.one_in(4), exclusive = s.one_in(3);
    static constexpr std::pair<Combine, const char*> combiners[] = {
        {Combine::add, "add"},       {Combine::max, "max"},         {Combine::min, "min"},
        {Combine::bit_or, "bit_or"}, {Combine::bit_xor, "bit_xor"}, {Combine::bit_and, "bit_and"}};
    const bool bits = !t.is_float();
    const auto& [combine, word] = t == bool_ ? combiners[3 + s.pick(3)] : combiners[s.pick(bits ? 6 : 3)];
    Text term;
    const Along forward(d);
    if (spans.size() < 3 && s.one_in(4))
      return scanned_by_reducer(name, spans, backwards ? forward.backwards() : forward, exclusive, params);
    const Tensor result = scan(
        name.c_str(), shape, backwards ? forward.backwards() : forward, combine,
        [&, &spans_ = spans](Indices at) {
          set_vars(at, spans_);
          term = value(t, s.between(1, 2));
          return term.e;
        },
        exclusive ? Scan::exclusive : Scan::inclusive);
    return {{result},
            "Along{" + std::to_string(d) + "}" + (backwards ? ".backwards()" : "") + ", Combine::" + word + ", [&](" + params +
                ") {\n  return " + term.s + ";\n}" + (exclusive ? ", Scan::exclusive" : "")};
  }

  // The latest term that is not 0, and how many there were: it regroups, and does not commute.
  Defined scanned_by_reducer(const std::string& name, const std::vector<Span>& spans, const Along& along, bool exclusive,
                             const std::string& params) {
    form("scan by a reducer");
    const auto last = reducer(
        "last", {i32, i32}, {0, 0}, [](Values<2> a, Values<2> b) { return values(select(b[1] != 0, b[0], a[0]), a[1] + b[1]); },
        Order::regroup);
    Text term;
    const auto terms = [&](const Expr& v) { return values(v, i32(v != 0)); };
    const Scan kind = exclusive ? Scan::exclusive : Scan::inclusive;
    const auto ends = [&](std::size_t k) {
      return spans[k].low == 0 ? Extent(end_of(spans[k]).e) : Extent(Range{ir::index(spans[k].low), end_of(spans[k]).e});
    };
    const auto at = [&](std::initializer_list<Expr> index) {
      vars.clear();
      std::size_t k = 0;
      for (const Expr& e : index) vars.push_back({Text{e, std::string(1, "ij"[k])}, spans[k]}), ++k;
      term = value(i32, s.between(1, 2));
      return terms(term.e);
    };
    const auto both = spans.size() == 1
                          ? scan(
                                name.c_str(), {ends(0)}, along, last, [&](Var i) { return at({i}); }, kind)
                          : scan(name.c_str(), {ends(0), ends(1)}, along, last, [&](Var i, Var j) { return at({i, j}); }, kind);
    return {{both[0], both[1]},
            "Along{...}, reducer(\"last\", ..., Order::regroup), [&](" + params + ") {\n  Expr v = " + term.s +
                ";\n  return values(v, i32(v != 0));\n}" + (exclusive ? ", Scan::exclusive" : "")};
  }

  Defined recurring(const std::string& name, const Shape& shape, Type t, const std::vector<Span>& spans,
                    const std::string& params) {
    Run run;
    run.along = {static_cast<int>(s.pick(static_cast<std::uint32_t>(spans.size())))};
    if (spans.size() > 1 && s.one_in(3))
      run.along.push_back((run.along[0] + 1 + static_cast<int>(s.pick(static_cast<std::uint32_t>(spans.size() - 1)))) %
                          static_cast<int>(spans.size()));
    run.backwards = s.one_in(4);
    for (std::size_t k = 0; k < run.along.size(); ++k) run.lag.push_back(k == 0 ? s.between(1, 2) : s.between(0, 1));
    run.types = {t};
    if (s.one_in(4)) run.types.push_back(type());
    const Along along = run.along.size() == 1 ? Along(run.along[0]) : Along(run.along[0], run.along[1]);
    const Lag lag = run.lag.size() == 1 ? Lag(run.lag[0]) : Lag(run.lag[0], run.lag[1]);
    std::string text = "Along{" + numbers(run.along) + "}" + (run.backwards ? ".backwards()" : "") + ", Lag{" +
                       numbers(run.lag) + "}, [&](" + params + ") {\n  return ";
    std::vector<Tensor> tensors;
    const auto start = [&](const Indices& at) {
      set_vars(at, spans);
      std::vector<Text> all_;
      for (Type u : run.types) all_.push_back(value(u, 1));
      text += written(all_) + ";\n}, [&](Prior y, " + params + ") {\n  return ";
      return all_;
    };
    const auto step = [&](const Prior& y, const Indices& at) {
      set_vars(at, spans);
      std::vector<Text> all_;
      for (Type u : run.types) all_.push_back(next(y, u, run, spans));
      text += written(all_) + ";\n}";
      return all_;
    };
    const Along way = run.backwards ? along.backwards() : along;
    if (run.types.size() == 1) {
      tensors = {recur(
          name.c_str(), shape, way, lag, [&](Indices at) { return start(at)[0].e; },
          [&](Prior y, Indices at) { return step(y, at)[0].e; })};
    } else {
      const auto two = recur(
          name.c_str(), shape, way, lag,
          [&](Indices at) {
            const auto v = start(at);
            return values(v[0].e, v[1].e);
          },
          [&](Prior y, Indices at) {
            const auto v = step(y, at);
            return values(v[0].e, v[1].e);
          });
      tensors = {two[0], two[1]};
    }
    return {tensors, text};
  }

  // A step with a stage of its own, which reads the step before.
  Defined cell(const std::string& name, Type t, const std::vector<Span>& spans) {
    const Text rows = end_of(spans[0]), columns = end_of(spans[1]);
    const auto set = [&](const Expr& i, const Expr& j, const char* first, const char* second, int low) {
      vars = {{Text{i, first}, spans[0]}, {Text{j, second}, spans[1]}};
      vars[0].span.low = low;
    };
    const bool sums = s.one_in(2) && !t.is_bool();
    std::string first, inner, last;
    const Tensor result = recur(
        name.c_str(), {Extent(rows.e), Extent(columns.e)}, Along{0}, Lag{1},
        [&](Var i, Var j) {
          set(i, j, "i", "j", 0);
          const Text v = value(t, 1);
          first = v.s;
          return v.e;
        },
        [&](Prior y, Var i, Var j) {
          const auto read = [&](const Expr& at, const Expr& column, const std::string& text) {
            Text v{y(at, column), text};
            if (made.exact && !t.is_bool()) {
              const bool sign = t.is_float() || t.is_signed();
              v = {clamp(Operand(v.e), Operand(sign ? -4 : 0), Operand(4)),
                   "clamp(" + v.s + ", " + (sign ? "-4" : "0") + ", 4)"};
            }
            return v;
          };
          const Tensor g =
              sums ? compute((name + "g").c_str(), {Range{ir::index(1), rows.e}, Extent(columns.e)},
                             [&](Var p, Var q) {
                               set(p, q, "p", "q", 1);
                               const Axis k("k", Operand(ir::index(0)), Operand(columns.e));
                               vars.push_back({Text{k, "k"}, spans[1]});
                               const Text w = leaf(t, 0), v = read(p - 1, k, "y(p - 1, k)");
                               inner = "sum(" + v.s + " * " + w.s + ", k)";
                               return sum(Operand(v.e * w.e), k);
                             })
                   : compute((name + "g").c_str(), {Range{ir::index(1), rows.e}, Extent(columns.e)}, [&](Var p, Var q) {
                       set(p, q, "p", "q", 1);
                       const Text w = leaf(t, 0), v = read(p - 1, q, "y(p - 1, q)");
                       const Text both = call("select", select(w.e == v.e, w.e, v.e), {w, w, v});
                       inner = both.s;
                       return both.e;
                     });
          set(i, j, "i", "j", 1);
          const Text w = value(t, 1);
          Expr of_g = g(i, j);
          if (made.exact && !t.is_bool())
            of_g = clamp(Operand(of_g), Operand(t.is_float() || t.is_signed() ? -4 : 0), Operand(4));
          last = w.s;
          return select(Operand(w.e == of_g), Operand(of_g), Operand(w.e));
        });
    form("stage inside a recurrence");
    return {{result},
            "Along{0}, Lag{1}, [&](Var i, Var j) {\n  return " + first +
                ";\n}, [&](Prior y, Var i, Var j) {\n  Tensor g = compute(" + "\"" + name + "g\", {Range{1, " + rows.s + "}, " +
                columns.s + "}, [&](Var p, Var q) { return " + inner + "; });\n  return " + last + " or g(i, j);\n}"};
  }

  // A step that reduces over the steps before it, where it stands.
  Defined reducing(const std::string& name, const Shape& shape, Type t, const std::vector<Span>& spans,
                   const std::string& params) {
    form("reduction in a step");
    const std::size_t d = s.pick(static_cast<std::uint32_t>(spans.size()));
    const bool backwards = s.one_in(4), bounded = !s.one_in(3);
    const int lag = s.between(0, 1);
    std::string first, inner, last;
    const auto start = [&](Indices at) {
      set_vars(at, spans);
      const Text v = value(t, 1);
      first = v.s;
      return v.e;
    };
    const auto step = [&](const Prior& y, const Indices& at) {
      set_vars(at, spans);
      const Text here = vars[d].value, end = end_of(spans[d]), begin{ir::index(spans[d].low), std::to_string(spans[d].low)};
      const Text from = bounded && backwards ? plus(here, 1) : begin, to = bounded && !backwards ? here : end;
      const Axis k("k", Operand(from.e), Operand(to.e));
      const AxisList terms = bounded ? AxisList(k) : k.where(backwards ? Operand(Expr(k) > here.e) : Operand(Expr(k) < here.e));
      std::vector<Text> index;
      for (const Index& v : vars) index.push_back(v.value);
      index[d] = {k, "k"};
      for (std::size_t other = 0; other < index.size(); ++other)
        if (other != d && never_empty_here(spans[other]) && s.one_in(3)) {
          const Text top = plus(end_of(spans[other]), -1), moved = plus(index[other], s.between(0, 2) - 1);
          index[other] = {clamp(Operand(moved.e), Operand(ir::index(spans[other].low)), Operand(top.e)),
                          "clamp(" + moved.s + ", " + std::to_string(spans[other].low) + ", " + top.s + ")"};
        }
      Text read{element(y[0], index), "y("};
      for (std::size_t n = 0; n < index.size(); ++n) read.s += (n ? ", " : "") + index[n].s;
      read = kept_small(Text{read.e, read.s + ")"});
      if (lag == 1) {  // and the step before, which the first one does not have
        index[d] = plus(here, backwards ? 1 : -1);
        const Text before = kept_small(Text{element(y[0], index), "y(" + index[d].s + ", ...)"});
        read = {read.type().is_bool() ? read.e != before.e : read.e - before.e, read.s + " less " + before.s};
        read = kept_small(read);
      }
      vars.push_back({Text{k, "k"}, spans[d]});
      const Text w = leaf(t, 0);
      vars.pop_back();
      const std::uint32_t how = s.pick(4);
      const Reduction<> r = how == 0   ? maximum(read.e, terms)
                            : how == 1 ? minimum(read.e + w.e, terms)
                            : how == 2 ? strict_sum(read.e * w.e, terms)
                                       : sum(read.e * w.e, terms);
      static constexpr const char* words[] = {"maximum(", "minimum(", "strict_sum(", "sum("};
      inner = words[how] + read.s + (how == 0 ? "" : (how == 1 ? " + " : " * ") + w.s) + ", k from " + from.s + " to " + to.s +
              (bounded     ? ")"
               : backwards ? ", k > " + here.s + ")"
                           : ", k < " + here.s + ")");
      const Text of{value_of(r), inner};
      const Text small = kept_small(of), v = value(t, 1);
      last = v.s + " where it is no more than " + small.s;
      return select(Operand(v.e <= small.e), Operand(v.e), Operand(small.e));
    };
    const Along along(static_cast<int>(d));
    const Tensor result = recur(name.c_str(), shape, backwards ? along.backwards() : along, Lag(lag), start,
                                [&](Prior y, Indices at) { return step(y, at); });
    return {{result},
            "Along{" + std::to_string(d) + "}" + (backwards ? ".backwards()" : "") + ", Lag{" + std::to_string(lag) +
                "}, [&](" + params + ") {\n  return " + first + ";\n}, [&](Prior y, " + params + ") {\n  return " + last +
                ";\n}"};
  }

  void set_vars(const Indices& at, const std::vector<Span>& spans) {
    static constexpr const char* names[] = {"i", "j", "h"};
    vars.clear();
    for (int d = 0; d < at.rank(); ++d) vars.push_back({Text{at[d], names[d]}, spans[static_cast<std::size_t>(d)]});
  }

 private:
  Text kept_small(const Text& v) const {  // so that sums are exact, where they are to be
    const Type t = v.type();
    if (!made.exact || t.is_bool()) return v;
    const bool sign = t.is_float() || t.is_signed();
    return {clamp(Operand(v.e), Operand(sign ? -4 : 0), Operand(4)), "clamp(" + v.s + ", " + (sign ? "-4" : "0") + ", 4)"};
  }

  struct Run {
    std::vector<int> along, lag;
    bool backwards = false;
    std::vector<Type> types;
  };

  static std::string numbers(const std::vector<int>& list) {
    std::string t;
    for (int n : list) t += (t.empty() ? "" : ", ") + std::to_string(n);
    return t;
  }
  static std::string written(const std::vector<Text>& list) {
    return list.size() == 1 ? list[0].s : "values(" + list[0].s + ", " + list[1].s + ")";
  }

  // An element of an earlier step, which is there where the first lambda does not say what is, or under a condition.
  Text earlier(const Prior& y, const Run& run, const std::vector<Span>& spans) {
    std::vector<Text> at;
    for (const Index& v : vars) at.push_back(v.value);
    const int way = run.backwards ? 1 : -1;
    std::size_t mover = run.along.size() > 1 && s.one_in(2) ? 1 : 0;
    Text guard;
    const auto dim = static_cast<std::size_t>(run.along[mover]);
    int back = 1;
    if (run.lag[mover] == 0) {
      const Text last = plus(end_of(spans[dim]), -1), first{ir::index(spans[dim].low), std::to_string(spans[dim].low)};
      guard = run.backwards ? Text{at[dim].e < last.e, at[dim].s + " < " + last.s}
                            : Text{at[dim].e > first.e, at[dim].s + " > " + first.s};
    } else {
      back = s.between(1, run.lag[mover]);
    }
    at[dim] = plus(at[dim], way * back);
    // Where this dimension has moved, the others may: those that are not before it.
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (d == dim || (mover == 1 && static_cast<int>(d) == run.along[0])) continue;
      const std::uint32_t how = s.pick(4);
      if (how == 2 && never_empty_here(spans[d])) {
        const Text last = plus(end_of(spans[d]), -1), to = plus(at[d], s.between(0, 2) - 1);
        at[d] = {clamp(Operand(to.e), Operand(ir::index(spans[d].low)), Operand(last.e)),
                 "clamp(" + to.s + ", " + std::to_string(spans[d].low) + ", " + last.s + ")"};
      } else if (how == 3 && guard.s.empty()) {
        const bool up = s.one_in(2);
        const Text last = plus(end_of(spans[d]), -1), first{ir::index(spans[d].low), std::to_string(spans[d].low)};
        guard = up ? Text{at[d].e < last.e, at[d].s + " < " + last.s} : Text{at[d].e > first.e, at[d].s + " > " + first.s};
        at[d] = plus(at[d], up ? 1 : -1);
      }
    }
    const int component = static_cast<int>(s.pick(static_cast<std::uint32_t>(run.types.size())));
    const std::string name = run.types.size() == 1 ? "y" : "y[" + std::to_string(component) + "]";
    Text read{element(y[component], at), name + "("};
    for (std::size_t d = 0; d < at.size(); ++d) read.s += (d ? ", " : "") + at[d].s;
    read.s += ")";
    if (!guard.s.empty()) {
      const Text otherwise = constant(read.type());
      read = call("select", select(Operand(guard.e), Operand(read.e), Operand(otherwise.e)), {guard, read, otherwise});
    }
    if (made.exact && !(read.type() == bool_)) {
      const bool sign = read.type().is_float() || read.type().is_signed();
      read = {clamp(Operand(read.e), Operand(sign ? -4 : 0), Operand(4)),
              "clamp(" + read.s + ", " + (sign ? "-4" : "0") + ", 4)"};
    }
    return read;
  }

  Text next(const Prior& y, Type t, const Run& run, const std::vector<Span>& spans) {
    Text v = value(t, s.between(0, 2));
    for (int reads = s.between(1, 2); reads > 0; --reads) {
      const Text p = convert(t, earlier(y, run, spans));
      if (t == bool_) {
        v = infix(v, "==", p, v.e == p.e);
        continue;
      }
      switch (s.pick(4)) {
        case 0:
          v = infix(v, "+", p, v.e + p.e);
          break;
        case 1:
          v = call("max", max(v.e, p.e), {v, p});
          break;
        case 2:
          v = infix(v, "-", p, v.e - p.e);
          break;
        default: {
          const Text c = condition(1);
          v = call("select", select(Operand(c.e), Operand(p.e), Operand(v.e)), {c, p, v});
          break;
        }
      }
    }
    return v;
  }
};

}  // namespace fuzz
