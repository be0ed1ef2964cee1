// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/transpose.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace ashlar::lang {
using ir::Op;

std::vector<Free> variables_of(const Addition& a, Where where) {
  std::vector<Free> all;
  const StageDef& s = *a.stage;
  if (!a.reduces || s.targets.empty())
    for (std::size_t d = 0; d < s.dimensions.size(); ++d)
      all.push_back({s.dimensions[d], variable(s.dimensions[d], where).name, s.domain[d].begin, s.domain[d].end});
  if (a.reduces)
    for (Id k : s.axes) {
      const VariableDef& v = variable(k, where);
      all.push_back({k, v.name, v.begin, v.end});
    }
  return all;
}

Expr condition_of(const Addition& a) {
  Expr all = a.reduces ? a.stage->keep : Expr();
  if (a.reduces)
    for (const Expr& c : a.stage->conditions) all = all.empty() ? c : ir::logic_and(all, c);
  return all;
}

namespace {

// e = sum of coefficient * variable + rest, the rest without any of them.
struct Affine {
  std::map<Id, std::int64_t> of;
  Expr rest = ir::index(0);
  bool known = true;

  void add(const Expr& e, std::int64_t factor, const std::vector<Free>& free) {
    const auto args = ir::args_of(e);
    std::int64_t v = 0;
    const auto is_free = [&](Id id) {
      return std::any_of(free.begin(), free.end(), [&](const Free& f) { return f.id == id; });
    };
    if (ir::is(e, Op::var) && is_free(e.node()->id))
      of[e.node()->id] += factor;
    else if (ir::is(e, Op::add))
      add(args[0], factor, free), add(args[1], factor, free);
    else if (ir::is(e, Op::sub))
      add(args[0], factor, free), add(args[1], -factor, free);
    else if (ir::is(e, Op::neg))
      add(args[0], -factor, free);
    else if (ir::is(e, Op::mul) && ir::is_int(args[1], &v))
      add(args[0], factor * v, free);
    else if (ir::is(e, Op::mul) && ir::is_int(args[0], &v))
      add(args[1], factor * v, free);
    else if (std::none_of(free.begin(), free.end(), [&](const Free& f) { return ir::uses_var(e, f.id); }))
      rest = ir::add(rest, ir::mul(e, ir::index(factor)));
    else
      known = false;
  }
};

class Solver {
 public:
  Solver(const Addition& a, const TensorDef& of, const std::vector<Expr>& at, Where where)
      : a_(a), of_(of), at_(at), where_(where), free_(variables_of(a, where)) {}

  std::optional<Received> run() {
    const auto indices = ir::args_of(a_.load);
    for (std::size_t d = 0; d < indices.size(); ++d) {
      Affine form;
      form.add(ir::substitute(indices[d], solved_), 1, free_);
      if (!form.known || !solve(d, std::move(form))) return std::nullopt;
    }
    for (const auto& [v, domain] : domains_) {
      const Expr value = ir::substitute(v, solved_);
      limit(ir::le(ir::substitute(domain.begin, solved_), value));
      limit(ir::lt(value, ir::substitute(domain.end, solved_)));
    }
    if (const Expr c = condition_of(a_); !c.empty()) limit(ir::substitute(c, solved_));
    Received r;
    if (!make_axes(r.axes)) return std::nullopt;
    r.value = ir::substitute(ir::substitute(a_.value, solved_), renamed_);
    if (!conditions_.empty())
      r.value = ir::select(ir::substitute(conditions_, renamed_), r.value, ir::float_const(r.value.type(), 0));
    return r;
  }

 private:
  void limit(const Expr& c) {
    std::int64_t v = 0;
    if (ir::is_int(c, &v) && v != 0) return;
    conditions_ = conditions_.empty() ? c : ir::logic_and(conditions_, c);
  }

  // In another index than d, which is still to be solved?
  bool elsewhere(Id v, std::size_t d) const {
    const auto indices = ir::args_of(a_.load);
    for (std::size_t k = d + 1; k < indices.size(); ++k)
      if (ir::uses_var(ir::substitute(indices[k], solved_), v)) return true;
    return false;
  }

  bool solve(std::size_t d, Affine form) {
    std::erase_if(form.of, [](const auto& t) { return t.second == 0; });
    Expr left = ir::sub(at_[d], form.rest);
    if (form.of.empty()) {
      limit(ir::eq(left, ir::index(0)));
      return true;
    }
    // a coefficient of 1 first, and of those a variable that no other index has
    Id chosen = 0;
    std::int64_t best = INT64_MAX;
    for (const Free& f : free_) {
      const auto term = form.of.find(f.id);
      if (term == form.of.end()) continue;
      const std::int64_t size = std::abs(term->second);
      const bool shared = elsewhere(f.id, d);
      if (size != 1 && shared) continue;
      const std::int64_t cost = 2 * size + (shared ? 1 : 0);
      if (cost < best) best = cost, chosen = f.id;
    }
    if (chosen == 0) return false;
    for (const auto& [v, c] : form.of)
      if (v != chosen) left = ir::sub(left, ir::mul(named(v), ir::index(c)));
    const std::int64_t c = form.of.at(chosen);
    if (c != 1 && c != -1) limit(ir::eq(ir::mod(left, ir::index(std::abs(c))), ir::index(0)));
    const Expr value = c == 1 ? left : c == -1 ? ir::neg(left) : ir::div(left, ir::index(c));
    const auto free = std::find_if(free_.begin(), free_.end(), [&](const Free& f) { return f.id == chosen; });
    const bool whole = c == 1 && ir::same(value, at_[d]) && spans(*free, d);
    if (!whole) domains_.emplace_back(named(chosen), *free);
    free_.erase(free);
    const ir::Substitution one{{chosen, value}};
    for (auto& [v, e] : solved_) e = ir::substitute(e, one);
    if (!conditions_.empty()) conditions_ = ir::substitute(conditions_, one);
    solved_.emplace_back(chosen, value);
    return true;
  }

  bool spans(const Free& v, std::size_t d) const {
    if (of_.kind == TensorDef::Kind::stage && stage(of_.stage, where_).inferred) return false;
    const Bounds b = bounds_of(of_, static_cast<int>(d), where_);
    return ir::same(v.begin, b.begin) && ir::same(v.end, b.end);
  }

  Expr named(Id v) const { return ir::var(v, variable(v, where_).name, ir::index_type); }

  // The variables that are left, each after those that its bounds are over.
  bool make_axes(std::vector<Axis>& axes) {
    while (!free_.empty()) {
      const auto next = std::find_if(free_.begin(), free_.end(), [&](const Free& f) {
        return std::none_of(free_.begin(), free_.end(), [&](const Free& other) {
          return ir::uses_var(ir::substitute(f.begin, solved_), other.id) ||
                 ir::uses_var(ir::substitute(f.end, solved_), other.id);
        });
      });
      if (next == free_.end()) return false;
      const auto bound = [&](const Expr& e) { return Operand(ir::substitute(ir::substitute(e, solved_), renamed_), where_); };
      axes.emplace_back(next->name.c_str(), bound(next->begin), bound(next->end), where_);
      renamed_.emplace_back(next->id, axes.back());
      free_.erase(next);
    }
    return true;
  }

  const Addition& a_;
  const TensorDef& of_;
  const std::vector<Expr>& at_;
  Where where_;
  std::vector<Free> free_;
  ir::Substitution solved_, renamed_;
  std::vector<std::pair<Expr, Free>> domains_;  // of the variables that were solved for
  Expr conditions_;
};

}  // namespace

std::optional<Received> received(const Addition& a, const TensorDef& of, const std::vector<Expr>& at, Where where) {
  return Solver(a, of, at, where).run();
}

}  // namespace ashlar::lang
