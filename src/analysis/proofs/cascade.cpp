// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/cascade.h>

#include <algorithm>
#include <map>

#include <ashlar/analysis/digits.h>
#include <ashlar/analysis/integer_set.h>
#include <ashlar/ir/print.h>

#include "analysis/simplify/bits.h"
#include "analysis/simplify/engine.h"
#include <ashlar/analysis/evaluate.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

constexpr std::int64_t most_points = 65'536;  // of an enumeration

bool uses_any(const Expr& e, std::span<const Id> ids) {
  const ir::Node* n = e.node();
  if (n->op == Op::var) return std::find(ids.begin(), ids.end(), n->id) != ids.end();
  for (std::uint32_t k = 0; k < n->count; ++k)
    if (uses_any(n->args[k], ids)) return true;
  return false;
}

constexpr Id first_copied_id = 0xffff'ffff'0000'0000ull;  // Programs number their variables from 1

// A second copy of some variables: what happens in another iteration.
struct Copy {
  std::vector<Id> of, as;
  ir::Substitution renaming;

  void add(Id id, const char* name) {
    const Id fresh = first_copied_id + as.size();
    of.push_back(id);
    as.push_back(fresh);
    renaming.emplace_back(id, ir::var(fresh, name));
  }
  Expr operator()(const Expr& e) const { return ir::substitute(e, renaming); }
  Expr var(Id id) const {
    for (std::size_t k = 0; k < of.size(); ++k)
      if (of[k] == id) return renaming[k].second;
    return {};
  }
  Id original(Id id) const {
    for (std::size_t k = 0; k < as.size(); ++k)
      if (as[k] == id) return of[k];
    return id;
  }
  bool copied(Id id) const { return std::find(as.begin(), as.end(), id) != as.end(); }
};

void state(Facts& out, Id id, const VarFacts& f, const Expr& lo, const Expr& hi) {
  out.bound(id, f.min, f.max);
  out.range(id, lo, hi);
  out.multiple(id, f.multiple_of);
}

// The facts of both iterations; `later` of the copy comes after `later` of the original.
Facts both(const Facts& facts, const Copy& copy, Id later, const Expr& later_var) {
  Facts out;
  for (const VarFacts& f : facts.vars()) state(out, f.id, f, f.lo, f.hi);
  const auto renamed = [&](const Expr& e) { return e.empty() ? e : copy(e); };
  for (const VarFacts& f : facts.vars()) {
    const Expr v = copy.var(f.id);
    if (v.empty() || !ir::is(v, Op::var) || !copy.copied(v.node()->id)) continue;
    state(out, v.node()->id, f, renamed(f.lo), renamed(f.hi));
  }
  const Expr second = copy.var(later);
  const VarFacts* known = out.of(second.node()->id);
  out.range(second.node()->id, ir::add(later_var, ir::index(1)), known ? known->hi : Expr{});
  for (const Expr& c : facts.conditions()) {
    out.assume(c);
    if (uses_any(c, copy.of)) out.assume(copy(c));
  }
  return out;
}

// Are there values at which all pairs are equal and all conditions and facts hold? `less`, if given, is a pair whose strict
// order the facts state: bits decide it by equality.
struct Question {
  std::vector<std::pair<Expr, Expr>> equal;
  std::vector<Expr> conditions;
  Facts facts;
  Expr less, than;
};

struct Solution {
  Answer answer = Answer::unknown;  // proved: there are none
  Step step = Step::none;
  Assignment at;
  std::string why;
};

bool holds(const Question& q, const Assignment& at, std::span<const Expr> stated) {
  for (const auto& [a, b] : q.equal) {
    const auto x = evaluate(a, at), y = evaluate(b, at);
    if (!x || !y || *x != *y) return false;
  }
  for (const Expr& c : stated) {
    const auto v = evaluate(c, at);
    if (!v || !*v) return false;
  }
  return true;
}

// The same solution in small numbers: 0 and 1 instead of 0 and 7. Each variable in turn takes the smallest value that still
// holds.
Assignment shrunk(const Question& q, Assignment at, std::span<const Expr> stated) {
  for (int round = 0; round < 2; ++round) {
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::int64_t value = at[k].value;
      const std::int64_t magnitude = value < 0 ? -value : value;
      std::vector<std::int64_t> candidates{0, 1, 2, 3, 4, value / 2};
      for (const Binding& b : at) {
        candidates.push_back(b.value);
        candidates.push_back(b.value + 1);
      }
      std::sort(candidates.begin(), candidates.end(), [](std::int64_t a, std::int64_t b) { return std::abs(a) < std::abs(b); });
      for (const std::int64_t c : candidates) {
        if (std::abs(c) >= magnitude) break;
        at[k].value = c;
        if (holds(q, at, stated)) break;
        at[k].value = value;
      }
    }
  }
  return at;
}

// The equations of a question, as pairs whose products of variables are taken apart; none where nothing came apart.
std::vector<std::pair<Expr, Expr>> in_digits(const Question& q, std::span<const std::pair<Expr, Expr>> open) {
  Facts facts = q.facts;
  for (const Expr& c : q.conditions) facts.assume(c);
  std::vector<std::pair<Expr, Expr>> result;
  bool apart = false;
  const auto add = [&](const Expr& a, const Expr& b) {
    auto pairs = digits_of_equal(a, b, facts);
    apart = apart || pairs.size() > 1;
    for (auto& p : pairs) result.push_back(std::move(p));
  };
  for (const auto& [a, b] : open) add(a, b);
  for (const Expr& c : q.conditions)
    if (ir::is(c, Op::eq) && is_scalar_index(ir::args_of(c)[0])) add(ir::args_of(c)[0], ir::args_of(c)[1]);
  if (!apart) result.clear();
  return result;
}

Solution solve(const Question& q) {
  Solution s;
  std::vector<Expr> stated = q.conditions, of_facts;
  {
    std::vector<Expr> about = q.conditions;
    for (const auto& [a, b] : q.equal) {
      about.push_back(a);
      about.push_back(b);
    }
    if (!q.less.empty()) {
      about.push_back(q.less);
      about.push_back(q.than);
    }
    of_facts = conditions_of_facts(about, q.facts);
    stated.insert(stated.end(), of_facts.begin(), of_facts.end());
  }
  // 2. intervals and congruences
  std::vector<std::pair<Expr, Expr>> open;
  {
    Facts facts = q.facts;
    for (const Expr& c : q.conditions) facts.assume(c);
    Engine engine(facts);
    engine.set_budget(400);
    engine.lift_data();
    for (const auto& [a, b] : q.equal) {
      const Truth differ = engine.decide(ir::ne(a, b));
      if (differ == Truth::yes) return {Answer::proved, Step::intervals, {}, {}};
      if (differ == Truth::open) open.emplace_back(a, b);
    }
    const Facts plain = q.facts;
    Engine conditions(plain);
    conditions.lift_data();
    for (const Expr& c : q.conditions)
      if (conditions.decide(c) == Truth::no) return {Answer::proved, Step::intervals, {}, {}};
  }
  // 3. integer sets
  std::vector<Expr> all = stated;
  for (const auto& [a, b] : open) all.push_back(ir::eq(a, b));
  const PointSearch p = find_point(all, q.facts);
  if (p.found == PointSearch::Found::none) return {Answer::proved, Step::integer_sets, {}, {}};
  if (p.found == PointSearch::Found::point) return {Answer::refuted, Step::integer_sets, shrunk(q, p.point, stated), {}};
  s.why = p.why;
  if (const auto digits = in_digits(q, open); !digits.empty()) {
    for (const auto& [a, b] : digits) all.push_back(ir::eq(a, b));
    if (find_point(all, q.facts).found == PointSearch::Found::none) return {Answer::proved, Step::integer_sets, {}, {}};
  }
  std::vector<Expr> asked = q.conditions;
  for (const auto& [a, b] : open) asked.push_back(ir::eq(a, b));
  if (none_without_data(asked, of_facts, q.facts)) return {Answer::proved, Step::integer_sets, {}, {}};
  // 4. bits
  BitSystem bits(q.facts);
  for (const auto& [a, b] : open) bits.equate(a, b);  // what is not bit-linear is left out: a proof needs no more
  if (!bits.consistent() || (!q.less.empty() && bits.implies_equal(q.less, q.than)))
    return {Answer::proved, Step::bits, {}, {}};
  if (!q.less.empty())
    if (auto at = bits.solution_with_difference(q.less, q.than); at && holds(q, *at, stated))
      return {Answer::refuted, Step::bits, shrunk(q, *at, stated), {}};
  return s;
}

// Every point of a constant box that satisfies the facts; false if there is no such box, or data decides whether a point does.
template <class Visit>
bool enumerate(std::span<const Expr> about, const Facts& facts, Visit&& visit) {
  Sampler sampler(about, facts);
  if (!sampler.complete(most_points)) return false;
  while (sampler.next_point()) {
    if (!sampler.certain()) return false;
    if (!visit(sampler.assignment())) return true;
  }
  return true;
}

std::optional<std::vector<std::int64_t>> values(std::span<const Expr> at, const Assignment& point) {
  std::vector<std::int64_t> out;
  for (const Expr& e : at) {
    const auto v = evaluate(e, point);
    if (!v) return std::nullopt;
    out.push_back(*v);
  }
  return out;
}

std::optional<bool> all_hold(std::span<const Expr> conditions, const Assignment& at) {
  for (const Expr& c : conditions) {
    const auto v = evaluate(c, at);
    if (!v) return std::nullopt;
    if (!*v) return false;
  }
  return true;
}

std::string element_text(const std::vector<std::int64_t>& e) {
  std::string s = "[";
  for (std::size_t k = 0; k < e.size(); ++k) s += (k ? ", " : "") + std::to_string(e[k]);
  return s + "]";
}

std::int64_t value_in(const Assignment& at, Id id) {
  for (const Binding& b : at)
    if (b.id == id) return b.value;
  return 0;
}

// ---- DISJOINT ----------------------------------------------------------------------------------------------------------

struct Pair {
  const Access& first;   // in the earlier iteration
  const Access& second;  // in the later one
};

Verdict conflict(const Pair& pair, Id loop, std::span<const Id> inner, const Assignment& first, const Assignment& second,
                 Step step) {
  Verdict v;
  v.answer = Answer::refuted;
  v.step = step;
  v.first = first;
  v.second = second;
  if (auto e = values(pair.first.at, first)) v.element = *e;
  const std::string name = [&] {
    for (const Binding& b : first)
      if (b.id == loop && b.name) return std::string(b.name);
    return std::string("_");
  }();
  const std::string one = name + " = " + std::to_string(value_in(first, loop)),
                    two = name + " = " + std::to_string(value_in(second, loop));
  const std::string element = pair.first.buffer + element_text(v.element);
  if (pair.first.write == pair.second.write)
    v.why = "iterations " + one + " and " + two + " both write " + element;
  else
    v.why = "iteration " + one + (pair.first.write ? " writes " : " reads ") + element + " and iteration " + two +
            (pair.second.write ? " writes it" : " reads it");
  Assignment own_first, own_second, shared;
  for (const Binding& b : first) {
    if (b.id == loop) continue;
    const bool own = std::find(inner.begin(), inner.end(), b.id) != inner.end();
    (own ? own_first : shared).push_back(b);
  }
  for (const Binding& b : second)
    if (b.id != loop && std::find(inner.begin(), inner.end(), b.id) != inner.end()) own_second.push_back(b);
  std::string details;
  if (!own_first.empty() || !own_second.empty())
    details = (own_first.empty() ? "-" : text(own_first)) + " and " + (own_second.empty() ? "-" : text(own_second));
  if (!shared.empty()) details += (details.empty() ? "" : "; ") + text(shared);
  if (!details.empty()) v.why += " (" + details + ")";
  return v;
}

Verdict ordered(const Pair& pair, Id loop, std::span<const Id> inner, const Facts& facts, const char* loop_name) {
  std::vector<Expr> about(pair.first.at);
  about.insert(about.end(), pair.second.at.begin(), pair.second.at.end());
  Copy copy;
  copy.add(loop, loop_name);
  for (Id id : inner) copy.add(id, ir::name_of_var(id, about));
  const Expr here = ir::var(loop, loop_name);
  Question q;
  q.facts = both(facts, copy, loop, here);
  q.less = here;
  q.than = copy.var(loop);
  for (std::size_t d = 0; d < pair.first.at.size(); ++d) q.equal.emplace_back(pair.first.at[d], copy(pair.second.at[d]));
  q.conditions = pair.first.when;
  for (const Expr& c : pair.second.when) q.conditions.push_back(copy(c));
  const Solution s = solve(q);
  if (s.answer != Answer::refuted) return {s.answer, s.step, s.why, {}, {}, {}};
  Assignment first, second;
  for (const Binding& b : s.at) {
    if (copy.copied(b.id))
      second.push_back({copy.original(b.id), b.name, b.value});
    else
      first.push_back(b);
  }
  const std::size_t own = second.size();
  for (const Binding& b : first) {  // shared variables have one value in both
    bool is_own = b.id == loop || std::find(inner.begin(), inner.end(), b.id) != inner.end();
    for (std::size_t k = 0; k < own; ++k) is_own = is_own || second[k].id == b.id;
    if (!is_own) second.push_back(b);
  }
  return conflict(pair, loop, inner, first, second, s.step);
}

// Step 5: all points of one copy of the domain, grouped by the element they touch and by the shared variables.
std::optional<Verdict> enumerate_disjoint(const Access& a, const Access& b, Id loop, std::span<const Id> inner,
                                          const Facts& facts, const Expr& loop_var) {
  std::vector<Expr> about{loop_var};
  for (const Access* x : {&a, &b}) {
    about.insert(about.end(), x->at.begin(), x->at.end());
    about.insert(about.end(), x->when.begin(), x->when.end());
  }
  std::map<std::vector<std::int64_t>, std::vector<Assignment>>
      touched;  // at most two iterations each: one of them differs from any other
  bool evaluated = true;
  std::optional<Verdict> found;
  const auto key_of = [&](const Access& x, const Assignment& at) -> std::optional<std::vector<std::int64_t>> {
    auto key = values(x.at, at);
    if (!key) return key;
    for (const Binding& v : at)
      if (v.id != loop && std::find(inner.begin(), inner.end(), v.id) == inner.end()) key->push_back(v.value);
    return key;
  };
  const bool complete = enumerate(about, facts, [&](const Assignment& at) {
    const auto happens = all_hold(a.when, at);
    if (!happens) return evaluated = false;
    if (!*happens) return true;
    const auto key = key_of(a, at);
    if (!key) return evaluated = false;
    auto& there = touched[*key];
    if (there.empty() || (there.size() == 1 && value_in(there[0], loop) != value_in(at, loop))) there.push_back(at);
    return true;
  });
  if (!complete || !evaluated) return std::nullopt;
  enumerate(about, facts, [&](const Assignment& at) {
    const auto happens = all_hold(b.when, at);
    if (!happens) return evaluated = false;
    if (!*happens) return true;
    const auto key = key_of(b, at);
    if (!key) return evaluated = false;
    const auto it = touched.find(*key);
    if (it == touched.end()) return true;
    for (const Assignment& other : it->second) {
      if (value_in(other, loop) == value_in(at, loop)) continue;
      const bool a_first = value_in(other, loop) < value_in(at, loop);
      found = conflict(a_first ? Pair{a, b} : Pair{b, a}, loop, inner, a_first ? other : at, a_first ? at : other,
                       Step::enumeration);
      return false;
    }
    return true;
  });
  if (found) return found;
  if (!evaluated) return std::nullopt;
  return Verdict{Answer::proved, Step::enumeration, {}, {}, {}, {}};
}

}  // namespace

const char* step_name(Step s) {
  switch (s) {
    case Step::structure:
      return "structure";
    case Step::intervals:
      return "intervals and congruences";
    case Step::integer_sets:
      return "integer sets";
    case Step::bits:
      return "bit-linear algebra";
    case Step::enumeration:
      return "enumeration";
    case Step::none:
      return "none";
  }
  return "none";
}

Verdict disjoint(const Access& a, const Access& b, const Expr& loop_var, std::span<const Id> inner, const Facts& facts) {
  if ((!a.write && !b.write) || a.buffer != b.buffer || a.at.size() != b.at.size())
    return {Answer::proved, Step::structure, {}, {}, {}, {}};
  const Id loop = loop_var.node()->id;
  const char* loop_name = loop_var.node()->name;
  try {
    bool same_access = a.write == b.write && a.when.size() == b.when.size();
    for (std::size_t d = 0; d < a.at.size(); ++d) same_access = same_access && ir::same(a.at[d], b.at[d]);
    for (std::size_t k = 0; same_access && k < a.when.size(); ++k) same_access = ir::same(a.when[k], b.when[k]);
    Verdict v = ordered({a, b}, loop, inner, facts, loop_name);
    if (v.answer == Answer::refuted) return v;
    if (!same_access) {
      Verdict other = ordered({b, a}, loop, inner, facts, loop_name);
      if (other.answer == Answer::refuted || (v && !other))
        v = std::move(other);
      else if (v && other.step > v.step)
        v.step = other.step;
    }
    if (v.answer != Answer::unknown) return v;
    if (auto e = enumerate_disjoint(a, b, loop, inner, facts, loop_var)) return *e;
    return v;
  } catch (const Overflow&) { return {Answer::unknown, Step::none, "a coefficient leaves 64 bits", {}, {}, {}}; }
}

// ---- BIJECT ------------------------------------------------------------------------------------------------------------

namespace {

// Step 1 of maps: what is known of the arguments when the values of the map are. Digits e/c, e%c give e; a sum or xor with
// something known gives the rest.
bool recovers_all(std::span<const Id> vars, std::span<const Expr> map, Engine& engine) {
  std::vector<Id> unknown(vars.begin(), vars.end());
  std::vector<Expr> known;
  for (const Expr& e : map) known.push_back(engine.simplify(e));
  const auto learn = [&](const Expr& e) {
    for (const Expr& k : known)
      if (ir::same(k, e)) return false;
    known.push_back(e);
    return true;
  };
  for (bool progress = true; progress && !unknown.empty() && known.size() < 64;) {
    progress = false;
    for (std::size_t i = 0; i < known.size(); ++i) {
      // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): learning moves the others
      const Expr e = known[i];
      if (ir::is(e, Op::var)) {
        const auto it = std::find(unknown.begin(), unknown.end(), e.node()->id);
        if (it != unknown.end()) {
          unknown.erase(it);
          progress = true;
        }
        continue;
      }
      if (!is_scalar_index(e)) continue;
      const auto args = ir::args_of(e);
      if (ir::is(e, Op::bit_xor)) {
        if (!uses_any(args[0], unknown))
          progress = learn(args[1]) || progress;
        else if (!uses_any(args[1], unknown))
          progress = learn(args[0]) || progress;
      }
      if (ir::is(e, Op::div)) {
        for (std::size_t j = 0; j < known.size(); ++j) {
          if (!ir::is(known[j], Op::mod) || !ir::same(ir::args_of(known[j])[0], args[0]) ||
              !ir::same(ir::args_of(known[j])[1], args[1]))
            continue;
          progress = learn(args[0]) || progress;
        }
      }
      Linear l = read(e), rest;
      for (const Term& t : l.terms)
        if (uses_any(t.atom, unknown)) rest.terms.push_back(t);
      if (rest.terms.empty() || (rest.terms.size() == l.terms.size() && l.constant == 0 && rest.terms[0].coef == 1)) continue;
      const std::int64_t g = content(rest);
      for (Term& t : rest.terms) t.coef /= g;
      progress = learn(emit(rest)) || progress;
    }
  }
  return unknown.empty();
}

}  // namespace

Verdict injective(std::span<const Id> vars, std::span<const Expr> map, const Facts& facts) {
  try {
    {
      Engine engine(facts);
      if (recovers_all(vars, map, engine)) return {Answer::proved, Step::structure, {}, {}, {}, {}};
    }
    Verdict v{Answer::proved, Step::structure, {}, {}, {}, {}};
    std::string unknown;
    bool open = false;
    for (std::size_t k = 0; k < vars.size(); ++k) {
      // Two points whose first difference is in variable k, where the second is larger.
      Copy copy;
      for (std::size_t j = k; j < vars.size(); ++j) copy.add(vars[j], ir::name_of_var(vars[j], map));
      const Expr here = ir::var(vars[k], ir::name_of_var(vars[k], map));
      Question q;
      q.facts = both(facts, copy, vars[k], here);
      q.less = here;
      q.than = copy.var(vars[k]);
      for (const Expr& e : map) q.equal.emplace_back(e, copy(e));
      const Solution s = solve(q);
      if (s.answer == Answer::proved) {
        v.step = std::max(v.step, s.step);
        continue;
      }
      if (s.answer == Answer::unknown) {
        open = true;
        if (unknown.empty()) unknown = s.why;
        continue;
      }
      v = {Answer::refuted, s.step, {}, {}, {}, {}};
      for (const Binding& b : s.at)
        if (copy.copied(b.id))
          v.second.push_back({copy.original(b.id), b.name, b.value});
        else
          v.first.push_back(b);
      for (const Binding& b : v.first) {
        bool present = false;
        for (const Binding& c : v.second) present = present || c.id == b.id;
        if (!present) v.second.push_back(b);
      }
      if (auto e = values(map, v.first)) v.element = *e;
      v.why = "(" + text(v.first) + ") and (" + text(v.second) + ") both map to " + element_text(v.element);
      return v;
    }
    if (!open) return v;
    // 5. enumeration
    std::map<std::vector<std::int64_t>, Assignment> image;
    bool evaluated = true;
    std::optional<Verdict> found;
    std::vector<Expr> about(map.begin(), map.end());
    for (Id id : vars) about.push_back(ir::var(id, ir::name_of_var(id, map)));
    const bool complete = enumerate(about, facts, [&](const Assignment& at) {
      auto key = values(map, at);
      if (!key) return evaluated = false;
      const std::vector<std::int64_t> element = *key;
      for (const Binding& b : at)
        if (std::find(vars.begin(), vars.end(), b.id) == vars.end()) key->push_back(b.value);
      const auto [it, fresh] = image.emplace(*key, at);
      if (fresh) return true;
      found = Verdict{Answer::refuted,
                      Step::enumeration,
                      "(" + text(it->second) + ") and (" + text(at) + ") both map to " + element_text(element),
                      it->second,
                      at,
                      element};
      return false;
    });
    if (found) return *found;
    if (complete && evaluated) return {Answer::proved, Step::enumeration, {}, {}, {}, {}};
    return {Answer::unknown, Step::none, unknown, {}, {}, {}};
  } catch (const Overflow&) { return {Answer::unknown, Step::none, "a coefficient leaves 64 bits", {}, {}, {}}; }
}

Verdict no_solution(std::span<const Expr> conditions, const Facts& facts) {
  try {
    Question q;
    q.facts = facts;
    q.conditions.assign(conditions.begin(), conditions.end());
    const Solution s = solve(q);
    Verdict v{s.answer, s.step, s.why, {}, {}, {}};
    if (s.answer == Answer::refuted) {
      v.first = s.at;
      v.why = s.at.empty() ? "they hold for every value" : text(s.at);
    }
    if (v.answer != Answer::unknown) return v;
    bool evaluated = true;
    const bool complete = enumerate(conditions, facts, [&](const Assignment& at) {
      const auto h = all_hold(conditions, at);
      if (!h) return evaluated = false;
      if (!*h) return true;
      v = {Answer::refuted, Step::enumeration, text(at), at, {}, {}};
      return false;
    });
    if (v.answer == Answer::unknown && complete && evaluated) return {Answer::proved, Step::enumeration, {}, {}, {}, {}};
    return v;
  } catch (const Overflow&) { return {Answer::unknown, Step::none, "a coefficient leaves 64 bits", {}, {}, {}}; }
}

}  // namespace ashlar::analysis
