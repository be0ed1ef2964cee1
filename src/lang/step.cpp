// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions that stand in the step of a recurrence as values: each is a stage of its own, over those of the step's Vars that
// it uses, and is read at them.
//
//   recur("x", {N, M}, Along{0}, ..., [&](Prior x, Var t, Var r) { return b(t, r) - sum(L(t, k) * x(k, r), k); })
//
//   x_sum(t, r) = sum(L(t, k) * x(k, r), k)       x(t, r) = b(t, r) - x_sum(t, r)
#include <algorithm>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/recur.h>

#include "lang/define.h"

namespace ashlar::detail {

struct StepScope::State {
  struct Known {
    Reduction<1> reduction;
    Expr element;
  };
  std::string name;
  std::vector<Expr> vars;
  std::vector<Extent> computed;  // a dimension each: the elements that are not given; empty where none are
  std::vector<Known> known;
  std::map<std::string, int> names;
  State* around;
};

namespace {

thread_local constinit void* innermost = nullptr;  // the StepScope::State of the step whose lambda runs

bool same(const Expr& a, const Expr& b) { return a.empty() || b.empty() ? a.empty() == b.empty() : ir::same(a, b); }
bool same(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Expr& x, const Expr& y) { return same(x, y); });
}
bool same(const Reduction<1>& first, const Reduction<1>& second) {
  const Reduced a = Access::reduced(first), b = Access::reduced(second);
  const std::vector<Expr> of_a(a.axes.axes().begin(), a.axes.axes().end()), of_b(b.axes.axes().begin(), b.axes.axes().end());
  return a.kind == b.kind && a.reducer == b.reducer && same(a.terms[0], b.terms[0]) && same(a.initial[0], b.initial[0]) &&
         same(of_a, of_b) && same(a.axes.conditions(), b.axes.conditions());
}

const char* word(Reduce kind) {
  switch (kind) {
    case Reduce::sum:
      return "sum";
    case Reduce::strict_sum:
      return "strict_sum";
    case Reduce::product:
      return "product";
    case Reduce::minimum:
      return "minimum";
    case Reduce::maximum:
      return "maximum";
    case Reduce::custom:
      return "reduced";
  }
  return "reduced";
}

// The variables of the stage that a reduction is: those that its terms, its start, its conditions and its bounds use, but for
// its axes.
std::vector<ir::Id> variables_of(const Reduced& r) {
  std::vector<ir::Id> found;
  const auto note = [&](const Expr& e) {
    if (e.empty()) return;
    for (ir::Id id : ir::free_vars(e)) {
      const auto kind = lang::variable(id, r.where).kind;
      if (kind == lang::VariableDef::Kind::dimension && std::find(found.begin(), found.end(), id) == found.end())
        found.push_back(id);
    }
  };
  note(r.terms[0]);
  note(r.initial[0]);
  for (const Expr& c : r.axes.conditions()) note(c);
  for (const Axis& a : r.axes.axes()) {
    const lang::VariableDef& v = lang::variable(a.node()->id, r.where);
    note(v.begin);
    note(v.end);
  }
  return found;
}

// The box of the elements that steps compute, which lies behind what the first lambda gives: a declared domain for what is
// reduced in them, where the state of earlier steps may be read at all. Empty where no element is given; what is wrong with the
// dimensions is said when the recurrence is defined.
std::vector<Extent> computed_by_steps(const Site& site, const Along& along, const Lag& lag) {
  std::vector<Extent> box(site.extents, site.extents + site.at.rank());
  const std::vector<lang::Bounds> whole = lang::domain_of(site.extents, box.size(), site.name ? site.name : "", site.where);
  bool given = false;
  for (std::size_t k = 0; k < along.count; ++k) {
    const int steps = lag.steps[lag.count == 1 ? 0 : k], d = along.dims[k];
    if ((lag.count != 1 && lag.count != along.count) || steps < 0 || d < 0 || d >= site.at.rank()) return {};
    if (steps == 0) continue;
    given = true;
    const auto at = static_cast<std::size_t>(d);
    const Expr &begin = whole[at].begin, &end = whole[at].end;
    const bool down = along.descending[k];
    const Range rest{down ? begin : ir::add(begin, ir::index(steps)), down ? ir::sub(end, ir::index(steps)) : end};
    std::int64_t length = 0;  // below 0 where all are given; a domain may be so by its symbols, not by its numbers
    const bool none = ir::is_int(ir::sub(rest.end, rest.begin), &length) && length < 0;
    box[at] = none ? Range{rest.begin, rest.begin} : rest;
  }
  return given ? box : std::vector<Extent>{};
}

}  // namespace

StepScope::StepScope(const Site& site, const Along& along, const Lag& lag)
    : state_(new State{site.name ? site.name : "", {}, {}, {}, {}, nullptr}) {
  for (int d = 0; d < site.at.rank(); ++d) state_->vars.push_back(site.at[d]);
  state_->computed = computed_by_steps(site, along, lag);
  state_->around = static_cast<State*>(innermost);
  innermost = state_;
}
StepScope::~StepScope() {
  innermost = state_->around;
  delete state_;
}

Expr element_of(const Reduction<1>& reduction, Where where) {
  const Reduced r = Access::reduced(reduction);
  auto* step = static_cast<StepScope::State*>(innermost);
  std::vector<ir::Id> used = variables_of(r);
  Indices at;
  std::vector<Extent> domain;
  if (step)
    for (std::size_t d = 0; d < step->vars.size(); ++d)
      if (const auto it = std::find(used.begin(), used.end(), step->vars[d].node()->id); it != used.end()) {
        used.erase(it);
        Access::append(at, step->vars[d]);
        if (!step->computed.empty()) domain.push_back(step->computed[d]);
      }
  if (!step || !used.empty())
    refuse(word(r.kind),
           "a name for it, since a reduction is a whole stage: compute(\"total\", ...), and total(...) in its place",
           "a reduction as a part of a value", where,
           "only the step of a recurrence may reduce where it stands, over its own Vars");
  for (const auto& known : step->known)
    if (same(known.reduction, reduction)) return known.element;
  std::string name = step->name + "_" + word(r.kind);
  if (const int number = ++step->names[name]; number > 1) name += std::to_string(number);
  Tensor result;
  define_reduction(Site{name.c_str(), domain.empty() ? nullptr : domain.data(), at, where}, r, &result);
  const Expr element = result(at, where);
  step->known.push_back({reduction, element});
  return element;
}

}  // namespace ashlar::detail
