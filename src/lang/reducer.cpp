// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reducers of the user's own: the declaration, and the trial of what it claims.
//
// A claim is tried on values of each component drawn from a fixed list in a fixed order, that of the identity left out; so a
// reducer that is refused is refused in every run. Floating results are compared to a tolerance that rounding explains; where a
// result is infinite or NaN at ordinary values the claim of the identity has failed, and that of the order says nothing (the
// mean of no values).
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <ashlar/ir/function.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/compute.h>

#include <ashlar/lang/definition.h>
#include <ashlar/lang/operand_types.h>

namespace ashlar {
namespace {

using ir::Value;
using lang::VariableDef;
using Tuple = std::vector<Value>;

std::string text_of(const Tuple& t) {
  std::string s = t.size() == 1 ? "" : "(";
  for (std::size_t k = 0; k < t.size(); ++k) s += (k ? ", " : "") + ir::text(t[k]);
  return s + (t.size() == 1 ? "" : ")");
}

bool finite(const Tuple& t) {
  return std::all_of(t.begin(), t.end(), [](const Value& v) { return !v.type.is_float() || std::isfinite(v.f); });
}

// Equal up to what the rounding of a few operations explains.
bool close(const Tuple& x, const Tuple& y) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!x[k].type.is_float() || !std::isfinite(x[k].f) || !std::isfinite(y[k].f)) {
      if (!ir::same_value(x[k], y[k])) return false;
      continue;
    }
    const Type t = x[k].type;
    const double share = t.bits >= 64   ? 0x1p-42
                         : t.bits == 32 ? 0x1p-13
                         : t == f16     ? 0x1p-5
                         : t == bf16    ? 0x1p-3
                         : t == e4m3    ? 0x1p-1
                                        : 1.0;  // of the value
    if (std::fabs(x[k].f - y[k].f) > share * std::max({1.0, std::fabs(x[k].f), std::fabs(y[k].f)})) return false;
  }
  return true;
}

class Combine {
 public:
  Combine(const ir::Reducer& r) : r_(r) {}

  Tuple operator()(const Tuple& a, const Tuple& b) const {
    std::map<const ir::Node*, Value> known;
    Tuple result;
    for (const Expr& e : r_.combine) result.push_back(value(e, a, b, known));
    return result;
  }
  // Did a value leave what an index holds since this was asked last? Such values show nothing.
  bool left_indices() const { return std::exchange(outside_, false); }

 private:
  Value value(const Expr& root, const Tuple& a, const Tuple& b, std::map<const ir::Node*, Value>& known) const {
    std::vector<Expr> pending{root};  // iterative: a combiner may be deep
    while (!pending.empty()) {
      const Expr e = pending.back();
      if (known.count(e.node())) {
        pending.pop_back();
        continue;
      }
      bool ready = true;
      std::vector<Value> args;
      for (const Expr& x : ir::args_of(e)) {
        const auto at = known.find(x.node());
        if (at == known.end())
          pending.push_back(x), ready = false;
        else if (ready)
          args.push_back(at->second);
      }
      if (!ready) continue;
      pending.pop_back();
      known.emplace(e.node(), of(e, args, a, b));
    }
    return known.at(root.node());
  }
  Value of(const Expr& e, const std::vector<Value>& args, const Tuple& a, const Tuple& b) const {
    switch (ir::op_of(e)) {
      case ir::Op::int_const:
      case ir::Op::float_const:
        return ir::value_of(e);
      case ir::Op::in_range:
        return args[0];
      case ir::Op::var:
        for (std::size_t k = 0; k < a.size(); ++k) {
          if (r_.left[k] == e.node()->id) return a[k];
          if (r_.right[k] == e.node()->id) return b[k];
        }
        throw InternalError("a combiner over a variable that is not its argument");
      case ir::Op::call: {
        const ir::Function& f = ir::function(e.node()->id);
        if (!f.run)
          refuse("reducer", "functions in C that are in this process, where a combiner is tried", f.symbol, e.node()->where);
        return ir::run(f, args.data());
      }
      default:
        if (const auto v = ir::evaluate(ir::op_of(e), e.type(), args)) return *v;
        if (!e.type().is_index()) throw InternalError("a combiner with an operator that has no value: " + ir::text(e));
        outside_ = true;  // index arithmetic leaves 63 bits
        return ir::int_value(e.type(), 0);
    }
  }
  const ir::Reducer& r_;
  mutable bool outside_ = false;
};

// ---- the trial ---------------------------------------------------------------------------------------------------------

// Numbers of which no few sum to zero, nor is any zero: a count, a weight or a determinant that vanishes makes tuples that
// stand for the same thing differ.
std::vector<Value> ordinary(Type t) {
  std::vector<Value> list;
  if (t.is_float())
    for (double v : {1.25, -0.6875, 2.5, -1.9375, 3.125, -0.4375}) list.push_back(ir::float_value(t, v));
  else if (t.is_bool())
    for (int v : {1, 0}) list.push_back(ir::int_value(t, v));
  else if (t.is_unsigned())
    for (int v : {1, 3, 7, 19}) list.push_back(ir::int_value(t, v));
  else
    for (int v : {1, -3, 7, -11, 19}) list.push_back(ir::int_value(t, v));
  return list;
}

std::vector<Value> edges(Type t) {
  if (t.is_bool()) return ordinary(t);
  if (!t.is_float()) return {ir::int_value(t, ir::lowest_of(t)), ir::int_value(t, ir::highest_of(t))};
  const double large = t.bits >= 32 ? 1e30 : t == e4m3 ? 224 : 1e4;
  return {ir::float_value(t, large), ir::float_value(t, -large), ir::float_value(t, -1e-3)};
}

class Trial {
 public:
  Trial(const detail::Declaration& d, ir::Reducer& r) : d_(d), r_(r), combine_(r) {
    for (const Expr& e : r.identity) identity_.push_back(ir::value_of(e));
  }

  void run() {
    identity();
    if (d_.order == Order::exact) return;
    for (int n = 0; n < 40; ++n) {
      const Tuple x = draw(ordinary), y = draw(ordinary), z = draw(ordinary);
      claim("is associative", combine_(combine_(x, y), z), combine_(x, combine_(y, z)), [&] {
        return "x = " + text_of(x) + ", y = " + text_of(y) + ", z = " + text_of(z) + ": combine(combine(x, y), z)";
      });
      if (d_.order == Order::any)
        claim("commutes (Order::regroup for one that does not)", combine_(x, y), combine_(y, x),
              [&] { return "x = " + text_of(x) + ", y = " + text_of(y) + ": combine(x, y)"; });
    }
  }

 private:
  void identity() {
    for (auto* list : {&ordinary, &edges})
      for (int n = 0; n < 20; ++n) {
        const Tuple x = draw(*list), left = combine_(identity_, x), right = combine_(x, identity_);
        if (combine_.left_indices()) continue;
        for (const Tuple* got : {&left, &right}) {
          if (close(*got, x) || (list == &edges && !finite(*got))) continue;
          if (got == &right && d_.order == Order::exact) continue;  // it is only ever on the left
          refuse(d_.name, "an identity: combine(" + std::string(got == &left ? "identity, x" : "x, identity") + ") = x",
                 text_of(*got) + " for x = " + text_of(x) + " and the identity " + text_of(identity_), d_.where);
        }
      }
    const Tuple both = combine_(identity_, identity_);
    if (!close(both, identity_))
      r_.unjoinable = "the identity " + text_of(identity_) + " combined with itself gives " + text_of(both);
  }

  template <class Said>
  void claim(const char* what, const Tuple& one, const Tuple& other, Said said) {
    if (combine_.left_indices() || !finite(one) || !finite(other) || close(one, other)) return;
    refuse(d_.name, std::string("a combiner that ") + what,
           "for " + said() + " is " + text_of(one) + ", and the other way " + text_of(other), d_.where);
  }

  Tuple draw(std::vector<Value> (*list)(Type)) {
    Tuple t;
    for (std::size_t k = 0; k < d_.count; ++k) {
      std::vector<Value> of = list(d_.types[k]);
      std::erase_if(of, [&](const Value& v) { return of.size() > 1 && ir::same_value(v, identity_[k]); });
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      t.push_back(of[static_cast<std::size_t>((state_ >> 33) % of.size())]);
    }
    return t;
  }

  const detail::Declaration& d_;
  ir::Reducer& r_;
  Combine combine_;
  Tuple identity_;
  std::uint64_t state_ = 1;
};

std::string nth(const std::string& name, std::size_t k, std::size_t count) {
  return count == 1 ? name : name + ", component " + std::to_string(k);
}

}  // namespace

namespace detail {

Expr placeholder(Type type, const char* side, std::size_t component) {
  VariableDef v;
  v.kind = VariableDef::Kind::placeholder;
  v.name = side + std::to_string(component);
  v.type = type;
  const std::string name = v.name;
  return ir::var(lang::add(std::move(v)), name, type);
}

ir::Id declare_reducer(const Declaration& d) {
  if (!d.name || !*d.name) refuse("reducer", "a name", "none", d.where);
  lang::ReducerDef def;
  def.name = d.name;
  def.where = d.where;
  ir::Reducer& r = def.reducer;
  r.kind = ir::ReducerKind::custom;
  r.name = d.name;
  r.order = static_cast<ir::Reducer::Order>(d.order);
  for (std::size_t k = 0; k < d.count; ++k) {
    const std::string what = nth(d.name, k, d.count);
    lang::require_data_type(d.types[k], what, d.where);
    r.left.push_back(d.left[k].node()->id);
    r.right.push_back(d.right[k].node()->id);
  }
  for (std::size_t k = 0; k < d.count; ++k) {
    const std::string what = nth(d.name, k, d.count);
    r.identity.push_back(lang::component(d.types[k], d.identity[k], what));
    if (!ir::is(r.identity[k], ir::Op::int_const) && !ir::is(r.identity[k], ir::Op::float_const))
      refuse(what, "a constant for an identity", ir::text(r.identity[k]), d.identity[k].where());
    if (d.combined[k].empty()) refuse(what, "a value from the combiner", "an empty Expr", d.where);
    r.combine.push_back(lang::component(d.types[k], Operand(d.combined[k], d.where), what));
    ir::walk(r.combine[k], [&](const Expr& x) {
      const bool own = ir::is(x, ir::Op::var) && (std::find(r.left.begin(), r.left.end(), x.node()->id) != r.left.end() ||
                                                  std::find(r.right.begin(), r.right.end(), x.node()->id) != r.right.end());
      if (ir::is(x, ir::Op::load) || (ir::is(x, ir::Op::var) && !own))
        refuse(what, "a combiner over its two arguments and constants alone (what a term needs stands in the term)",
               ir::text(x), d.where);
      return true;
    });
  }
  Trial(d, r).run();
  return lang::add(std::move(def));
}

void adopt_terms(ir::Id reducer, Expr* terms, const Operand* given, std::size_t count, const AxisList& axes, Where where) {
  const lang::ReducerDef& r = lang::reducer(reducer, where);
  if (axes.axes().empty()) refuse(r.name, "at least one Axis", "none", where);
  for (std::size_t k = 0; k < count; ++k)
    terms[k] = lang::component(r.reducer.combine[k].type(), given[k], nth(r.name, k, count));
}

}  // namespace detail

namespace {

// Among pairs (value, place): a NaN before numbers, then the extreme value, then the smaller place. A total order, so the
// reduction may be taken apart in any way.
Reduction<2> extreme(const char* name, bool largest, const Operand& value, AxisList axes, Where where) {
  Expr e = lang::as_expr(value, name);
  if (e.type().is_index()) e = ir::cast(i64, e);
  lang::require_data_type(e.type(), name, value.where());
  if (e.type().is_bool()) refuse(name, "a number (convert by name: i32(x))", "bool", value.where());
  if (axes.axes().size() != 1)
    refuse(name, "one Axis (a reducer of values(x, place) takes several)", std::to_string(axes.axes().size()), where);
  const Expr none = largest ? lowest(e.type(), where) : highest(e.type(), where);
  const auto pick = reducer(
      name, {e.type(), i64}, {Operand(none, where), Operand(highest(i64, where), where)},
      [&](const Values<2>& a, const Values<2>& b) {
        Expr before = largest ? ir::gt(a[0], b[0]) : ir::lt(a[0], b[0]), equal = ir::eq(a[0], b[0]);
        if (e.type().is_float()) {
          before = ir::logic_or(ir::logic_and(isnan(a[0]), ir::logic_not(isnan(b[0]))), before);
          equal = ir::logic_or(ir::logic_and(isnan(a[0]), isnan(b[0])), equal);
        }
        const Expr first = ir::logic_or(before, ir::logic_and(equal, ir::lt(a[1], b[1])));
        return select(Operand(first, where), a, b);
      },
      Order::any, where);
  const Expr place = ir::cast(i64, axes.axes()[0]);
  return pick(Values<2>{e, place}, std::move(axes), where);
}

}  // namespace

Reduction<2> argmax(Operand x, AxisList k, Where w) { return extreme("argmax", true, x, std::move(k), w); }
Reduction<2> argmin(Operand x, AxisList k, Where w) { return extreme("argmin", false, x, std::move(k), w); }

}  // namespace ashlar
