// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The address as lane part plus base part: what only the base moves is a constant for all lanes, and in a bit-linear part it is
// an xor. Where lanes and base do not come apart, every base of a small box is looked at.
#include "analysis/layout/lanes.h"

#include <algorithm>
#include <map>
#include <set>

#include <ashlar/ir/print.h>

#include "analysis/simplify/bits.h"
#include "analysis/simplify/engine.h"
#include <ashlar/analysis/evaluate.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

constexpr std::int64_t most_lane_points = 65'536;

class Lanes {
 public:
  Lanes(const Addressing& a, const WarpAccess& w, std::int64_t unit, bool may_xor, const Facts& facts)
      : access_(w), unit_(unit), may_xor_(may_xor), facts_(facts) {
    facts_.bound(w.lane, 0, w.lanes - 1);
    Engine engine(facts_);
    for (int e = 0; e < w.elements; ++e) {
      ir::Substitution s;
      for (std::size_t d = 0; d < a.vars.size(); ++d)
        s.emplace_back(a.vars[d], d == w.along && e ? ir::add(w.at[d], ir::index(e)) : w.at[d]);
      addresses_.push_back(engine.simplify(ir::substitute(a.address, s)));
    }
  }

  LanePatterns find() {
    std::string why;
    if (contiguous()) {
      LanePatterns p = separate(&why);
      if (!p.patterns.empty() && p.exact) return p;
      LanePatterns e = enumerate();
      return !e.patterns.empty() || p.patterns.empty() ? (e.patterns.empty() && !why.empty() ? LanePatterns{{}, true, why} : e)
                                                       : p;
    }
    return enumerate();
  }

 private:
  bool contiguous() const {
    Engine engine(facts_);
    const Linear first = engine.linear(addresses_[0]);
    for (std::size_t e = 1; e < addresses_.size(); ++e) {
      const Linear d = difference(engine.linear(addresses_[e]), first);
      if (!d.is_constant() || d.constant != static_cast<std::int64_t>(e)) return false;
    }
    const Congruence c = engine.congruence(first);
    return c.modulus % access_.elements == 0 && c.remainder % access_.elements == 0;
  }

  bool has_lane(const Expr& e) const { return ir::uses_var(e, access_.lane); }

  LanePatterns separate(std::string* why) const {
    Engine engine(facts_);
    Linear base, lanes;
    const Linear all = engine.linear(addresses_[0]);
    base.constant = all.constant;
    bool mixed = false;
    for (const Term& t : all.terms) (has_lane(t.atom) ? lanes : base).terms.push_back(t);
    for (const Term& t : lanes.terms)
      for (const Id id : ir::free_vars(t.atom)) mixed = mixed || id != access_.lane;
    LanePatterns p;
    std::vector<std::int64_t> zero;
    if (!mixed) {
      const Expr e = emit(lanes);
      for (int l = 0; l < access_.lanes; ++l) {
        const auto v = evaluate(e, {{access_.lane, "lane", l}});
        if (!v) {
          *why = "the address " + ir::text(e) + " has no value for each lane";
          return {};
        }
        zero.push_back(*v);
      }
    } else if (!may_xor_) {
      *why = "the base is xored to the lanes in " + ir::text(emit(lanes)) + ", and where the buffer starts is not known";
      return {};
    } else {
      BitSystem bits(facts_);
      const auto word = bits.word(emit(lanes));
      if (!word) {
        *why = "lanes and base do not come apart in " + ir::text(emit(lanes));
        return {};
      }
      const auto [first, width] = bits.bits_of(access_.lane);
      for (std::int64_t l = 0; l < access_.lanes; ++l) {
        std::int64_t v = 0;
        for (std::size_t b = 0; b < word->size(); ++b) {
          bool bit = (*word)[b][BitSystem::most_inputs];
          for (std::size_t k = 0; k < width; ++k) bit ^= (*word)[b][first + k] && (l >> k & 1);
          v |= static_cast<std::int64_t>(bit) << b;
        }
        zero.push_back(v);
      }
    }
    // What the base adds: one residue of the unit, or all that its congruence allows.
    const Congruence c = engine.congruence(base);
    std::set<std::int64_t> shifts;
    if (c.modulus == 0) {
      shifts.insert(floor_mod(c.remainder, unit_));
    } else {
      for (std::int64_t s = floor_mod(c.remainder, c.modulus), k = 0; k < unit_; ++k, s += c.modulus)
        shifts.insert(floor_mod(s, unit_));
    }
    if (mixed && !(shifts.size() == 1 && *shifts.begin() == 0)) {
      *why = "the base adds " + ir::text(emit(base)) + ", no multiple of " + std::to_string(unit_) + ", to an xor";
      return {};
    }
    p.exact = shifts.size() == 1;
    for (const std::int64_t s : shifts) {
      std::vector<std::int64_t> moved = zero;
      for (std::int64_t& v : moved) v += s;
      p.patterns.push_back(std::move(moved));
    }
    return p;
  }

  LanePatterns enumerate() const {
    std::vector<Expr> about = addresses_;
    about.push_back(ir::var(access_.lane, "lane"));
    Sampler sampler(about, facts_);
    if (!sampler.complete(most_lane_points))
      return {{}, true, "the base of " + ir::text(addresses_[0]) + " has no small constant range"};
    // Patterns by the values of all variables but the lane.
    std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> by_base;
    while (sampler.next_point()) {
      const Assignment& at = sampler.assignment();
      std::vector<std::int64_t> base;
      std::int64_t lane = 0;
      for (const Binding& b : at)
        if (b.id == access_.lane)
          lane = b.value;
        else
          base.push_back(b.value);
      const auto first = evaluate(addresses_[0], at);
      if (!first) return {{}, true, "the address " + ir::text(addresses_[0]) + " has no value"};
      for (std::size_t e = 0; e < addresses_.size(); ++e) {
        const auto v = evaluate(addresses_[e], at);
        if (!v || *v != *first + static_cast<std::int64_t>(e))
          return {{}, true, "the elements that a lane reads at once do not lie one behind the other, at " + text(at)};
      }
      if (floor_mod(*first, access_.elements) != 0)
        return {{}, true, "the elements that a lane reads at once are not aligned, at " + text(at)};
      auto& pattern = by_base[base];
      pattern.resize(static_cast<std::size_t>(access_.lanes), 0);
      pattern[static_cast<std::size_t>(lane)] = *first;
    }
    LanePatterns p;
    std::set<std::vector<std::int64_t>> seen;
    for (const auto& [base, pattern] : by_base)
      if (seen.insert(pattern).second) p.patterns.push_back(pattern);
    return p;
  }

  const WarpAccess& access_;
  std::int64_t unit_;
  bool may_xor_;
  Facts facts_;
  std::vector<Expr> addresses_;  // of each element that a lane reads at once
};

}  // namespace

LanePatterns lane_patterns(const Addressing& a, const WarpAccess& w, std::int64_t unit, bool may_xor, const Facts& facts) {
  if (w.at.size() != a.vars.size()) return {{}, true, "an access needs an index for each dimension"};
  if (w.elements < 1 || w.lanes < 1) return {{}, true, "an access needs lanes and elements"};
  try {
    return Lanes(a, w, unit, may_xor, facts).find();
  } catch (const Overflow&) { return {{}, true, "a coefficient leaves 64 bits"}; }
}

}  // namespace ashlar::analysis
