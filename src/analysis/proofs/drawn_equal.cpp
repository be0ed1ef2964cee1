// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <unordered_map>

#include <ashlar/analysis/evaluate.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

constexpr int most_bases = 6;          // values of the variables that both sides read
constexpr int most_draws = 96;         // of the others for each of them
constexpr std::size_t most_joins = 4;  // points of one side kept for a value

std::vector<Id> vars_of(const Expr& e) {
  std::vector<Id> found;
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, ir::Op::var)) found.push_back(x.node()->id);
    return true;
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<Id> without(const std::vector<Id>& all, const std::vector<Id>& other) {
  std::vector<Id> rest;
  std::set_difference(all.begin(), all.end(), other.begin(), other.end(), std::back_inserter(rest));
  return rest;
}

// One side of the equation: the points drawn so far by the side's value.
struct Side {
  const Expr& address;
  std::vector<Id> own;  // variables of this side alone
  std::unordered_multimap<std::int64_t, Assignment> drawn;

  // The base with this side's own variables from a point.
  Assignment take(const Assignment& base, const Assignment& point) const {
    Assignment at = base;
    for (std::size_t k = 0; k < at.size(); ++k)
      if (std::binary_search(own.begin(), own.end(), at[k].id)) at[k].value = point[k].value;
    return at;
  }
};

}  // namespace

bool drawn_equal(const Expr& a, const Expr& b, std::span<const Expr> conditions, const Facts& facts) {
  std::vector<Expr> about{a, b};
  about.insert(about.end(), conditions.begin(), conditions.end());
  Sampler sampler(about, facts);
  const std::vector<Id> first = vars_of(a), second = vars_of(b);
  Side sides[2] = {{a, without(first, second), {}}, {b, without(second, first), {}}};
  std::uint64_t seed = 0;
  const auto holds = [&](const Assignment& at) {
    return sampler.allows(at) && std::all_of(conditions.begin(), conditions.end(), [&](const Expr& c) {
             const auto v = evaluate(c, at);
             return v && *v;
           });
  };
  for (int round = 0; round < most_bases; ++round) {
    if (!sampler.sample(seed++)) continue;
    const Assignment base = sampler.assignment();
    for (Side& s : sides) s.drawn.clear();
    for (int k = 0; k < most_draws; ++k) {
      if (!sampler.sample(seed++)) continue;
      for (int which : {0, 1}) {
        Side& here = sides[which];
        const Side& there = sides[1 - which];
        const Assignment at = here.take(base, sampler.assignment());
        const auto value = evaluate(here.address, at);
        if (!value) return false;  // reads memory or leaves 63 bits: no point can be checked
        const auto [begin, end] = there.drawn.equal_range(*value);
        for (auto it = begin; it != end; ++it)
          if (holds(here.take(it->second, at))) return true;
        if (here.drawn.count(*value) < most_joins) here.drawn.emplace(*value, at);
      }
    }
  }
  return false;
}

}  // namespace ashlar::analysis
