// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proof with an answer for people: proved, refuted by an assignment, or the term that could not be bounded.
#include <ashlar/analysis/simplify.h>

#include <algorithm>

#include <ashlar/ir/print.h>

#include "analysis/simplify/engine.h"
#include <ashlar/analysis/evaluate.h>
#include "analysis/simplify/memo.h"
#include <ashlar/ir/work.h>

namespace ashlar::analysis {

namespace {

constexpr int steps_of_a_proof = 400;
constexpr std::int64_t small_box = 4096;
constexpr int samples = 256;

Proof refuted_at(const Assignment& at) { return {Answer::refuted, text(at), at}; }

// The same refutation in small numbers: each variable in turn takes the smallest value at which the facts hold and the
// condition still fails.
Assignment shrunk(Sampler& sampler, const Expr& condition) {
  const auto fails = [&](const Assignment& at) {
    const auto v = evaluate(condition, at);
    return v && !*v;
  };
  Assignment at = sampler.assignment();
  for (int round = 0; round < 2; ++round) {
    for (Binding& b : at) {
      const std::int64_t value = b.value, size = value < 0 ? -value : value;
      for (std::int64_t candidate = 0; candidate < std::min<std::int64_t>(size, 80); ++candidate) {
        b.value = value < 0 ? -candidate : candidate;
        if (sampler.allows(at) && fails(at)) break;
        b.value = value;
      }
    }
  }
  return at;
}

}  // namespace

bool can_prove(const Expr& condition, const Facts& facts) {
  if (ir::is_int(condition)) return condition.node()->i != 0;
  ++ir::work.proofs;
  const auto memo = memo_for(condition, facts);
  if (const auto it = memo->decided.find(condition); it != memo->decided.end()) return it->second;
  bool proved = false;
  try {
    proved = memo->ask([&](Engine& engine) {
      engine.set_budget(steps_of_a_proof);
      engine.lift_data();
      if (engine.decide(condition) == Truth::yes) return true;
      if (!engine.met_data()) return false;
      engine.begin();  // as it was written: its bounds may be closer than those of its parts
      engine.set_budget(steps_of_a_proof);
      return engine.decide(condition) == Truth::yes;
    });
  } catch (const Overflow&) { proved = false; }
  memo->decided.emplace(condition, proved);
  return proved;
}

Proof prove(const Expr& condition, const Facts& facts) {
  if (can_prove(condition, facts)) return {Answer::proved, {}, {}};
  const Expr wanted[] = {condition};
  Sampler sampler(wanted, facts);
  if (sampler.complete(small_box)) {
    bool evaluated = true;
    while (sampler.next_point()) {
      const auto v = evaluate(condition, sampler.assignment());
      if (!v || (!*v && !sampler.certain()))
        evaluated = false;
      else if (!*v)
        return refuted_at(sampler.assignment());
    }
    if (evaluated) return {Answer::proved, {}, {}};
  } else {
    for (std::uint64_t seed = 0; seed < samples; ++seed) {
      if (!sampler.sample(seed)) continue;
      const auto v = evaluate(condition, sampler.assignment());
      if (v && !*v) return refuted_at(shrunk(sampler, condition));
    }
  }
  const Expr left = simplify(condition, facts);
  if (std::int64_t holds = 0; ir::is_int(left, &holds)) return holds ? Proof{Answer::proved, {}, {}} : refuted_at({});
  return {Answer::unknown, "could not decide " + ir::text(left), {}};
}

}  // namespace ashlar::analysis
