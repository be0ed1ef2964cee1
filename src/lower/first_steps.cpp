// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first steps of a recurrence get a loop of their own, so that the others do not ask whether they are among them.
//
//   for t in [0, +T)                                                 for t in [0, +min(T, 1))
//     for c in [0, +C / 16)                                            for c: y[ramp16(..)] = x[ramp16(..)]
//       y[ramp16(..)] = select(x16(t < 1), x[ramp16(..), x16(t < 1)],  for t in [1, +T - 1)
//                              f(y[ramp16(..), x16(!(t < 1))]))         for c: y[ramp16(..)] = f(y[ramp16(..)])
//
// Of serial loops around others; what an innermost loop begins with, `carry` takes apart, which knows what it keeps. A
// condition counts that moves with the loop, is known to all that is inside, and is decided after a few iterations.
#include <algorithm>
#include <optional>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

#include "lower/interior/lanes.h"
#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

constexpr std::int64_t most_apart = 8;  // iterations that may be taken apart
constexpr int most_stores = 16;         // in the loop, which becomes two

struct Contents {
  std::vector<Expr> conditions;  // that move with the loop, over what is known before its body
  std::vector<Id> inner;         // variables that the body binds
  int stores = 0;
  bool loops = false, recurrent = false, opaque = false;
};

void look_into(const ir::Kernel& kernel, const std::vector<KStmt>& list, Contents& c) {
  for (const KStmt& s : list) {
    c.opaque = c.opaque || s.is<ir::KLaunch>() || s.is<ir::KSync>();
    if (const auto* loop = s.as<KFor>()) c.loops = true, c.inner.push_back(loop->var);
    if (const auto* let = s.as<ir::KLet>()) c.inner.push_back(let->var);
    if (const auto* store = s.as<KStore>())
      ++c.stores, c.recurrent = c.recurrent || kernel.buffers.at(store->buffer).facts().recurrent;
    for (const auto* inside : s.bodies()) look_into(kernel, *inside, c);
  }
}

void gather_conditions(const std::vector<KStmt>& list, Id var, Contents& c) {
  for (const KStmt& s : list) {
    for_each_expr(s, [&](const Expr& root) {
      ir::walk(root, [&](const Expr& e) {
        if (e.type().is_bool() && e.type().lanes == 1 && ir::is_comparison(ir::op_of(e)) && ir::uses_var(e, var) &&
            !has_load(e) && std::none_of(c.inner.begin(), c.inner.end(), [&](Id v) { return ir::uses_var(e, v); }) &&
            std::none_of(c.conditions.begin(), c.conditions.end(), [&](const Expr& f) { return ir::same(e, f); }))
          c.conditions.push_back(e);
        return true;
      });
    });
    for (const auto* inside : s.bodies()) gather_conditions(*inside, var, c);
  }
}

void decide(std::vector<KStmt>& list, const Decided& known) {
  for (KStmt& s : list) {
    for_each_expr(s, [&](Expr& e) { e = decided(e, known); });
    if (auto* store = s.as<KStore>(); store && !store->mask.empty() && is_true(store->mask)) store->mask = Expr();
    for (auto* inside : s.bodies()) decide(*inside, known);
  }
}

class FirstSteps {
 public:
  explicit FirstSteps(ir::Kernel& kernel) : kernel_(kernel) {}

  bool visit(std::vector<KStmt>& list, const Facts& facts) {
    bool changed = false;
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (list[k].is<ir::KLaunch>()) continue;
      if (KFor* loop = ir::as_loop(list[k], ir::LoopKind::serial); loop && !loop->body.empty())
        if (auto both = taken_apart(*loop, facts)) {
          const Where where = list[k].where;
          *loop = std::move(both->second);
          list.insert(list.begin() + static_cast<std::ptrdiff_t>(k), for_stmt(std::move(both->first), where));
          changed = true;
          for (const std::size_t part : {k, k + 1}) changed |= visit_body(list[part], facts);
          ++k;
          continue;
        }
      changed |= visit_body(list[k], facts);
    }
    return changed;
  }

 private:
  bool visit_body(KStmt& s, const Facts& facts) {
    if (auto* loop = s.as<KFor>()) return visit(loop->body, inside(facts, *loop));
    bool changed = false;
    for (auto* list : s.bodies()) changed |= visit(*list, facts);
    return changed;
  }

  // From iteration `from` on, and before `to` where there is one.
  static Decided known(const KFor& loop, const std::vector<Expr>& conditions, const Facts& outer, std::int64_t from,
                       std::int64_t to) {
    Facts facts = outer;
    Expr last = ir::sub(ir::add(loop.begin, loop.extent), ir::index(1));
    if (to >= 0) last = ir::min(last, ir::add(loop.begin, ir::index(to - 1)));
    facts.range(loop.var, ir::add(loop.begin, ir::index(from)), last);
    Decided d;
    for (const Expr& c : conditions)
      if (analysis::can_prove(c, facts))
        d.emplace_back(c, true);
      else if (analysis::can_prove(ir::logic_not(c), facts))
        d.emplace_back(c, false);
    return d;
  }

  std::optional<std::pair<KFor, KFor>> taken_apart(const KFor& loop, const Facts& facts) const {
    Contents c;
    look_into(kernel_, loop.body, c);
    if (!c.loops || !c.recurrent || c.opaque || c.stores > most_stores) return {};
    gather_conditions(loop.body, loop.var, c);
    if (c.conditions.empty()) return {};
    const std::size_t all = known(loop, c.conditions, facts, most_apart, -1).size();
    std::int64_t first = 0;
    while (first < most_apart && known(loop, c.conditions, facts, first, -1).size() < all) ++first;
    if (first == 0) return {};
    std::pair<KFor, KFor> both{loop, loop};
    const Expr n = ir::index(first);
    both.first.extent = analysis::simplify(ir::min(loop.extent, n), facts);
    decide(both.first.body, known(loop, c.conditions, facts, 0, first));
    if (analysis::can_prove(ir::le(loop.extent, n), facts)) {  // there are no others
      both.second.extent = ir::index(0);
      return both;
    }
    both.second.begin = ir::add(loop.begin, n);
    both.second.extent = analysis::simplify(ir::sub(loop.extent, n), facts);
    decide(both.second.body, known(loop, c.conditions, facts, first, -1));
    return both;
  }

  const ir::Kernel& kernel_;
};

}  // namespace

void take_first_steps(ir::Kernel& kernel) {
  if (!has_recurrences(kernel)) return;
  if (FirstSteps(kernel).visit(kernel.body, facts_of(kernel))) tidy(kernel);
}

}  // namespace ashlar::lowering
