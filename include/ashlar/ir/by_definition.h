// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A cache of answers that depend only on the formulas of a stage, keyed by the nodes of the formulas. A schedule asks for such
// answers after every step, and few steps change a formula. Each thread has its own cache; a full one is cleared.
#include <memory>
#include <unordered_map>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::ir {

// Calls f with every formula of a stage, including empty ones: its values, the indices it stores at, and its bounds.
template <class F>
void each_formula(const Stage& s, F&& f) {
  for (const auto* list : {&s.values, &s.inits, &s.targets})
    for (const Expr& e : *list) f(e);
  f(s.keep);
  for (const IterVar& v : s.iters) f(v.begin), f(v.end);
}

template <class Answer>
class ByDefinition {
 public:
  template <class Find>
  std::shared_ptr<const Answer> of(const Stage& s, Find&& find) {
    auto& bucket = known_[hash_of(s)];
    for (const Entry& e : bucket)
      if (e.is(s)) return e.answer;
    if (++count_ > most) {
      known_.clear(), count_ = 0;
      return of(s, find);
    }
    Entry e{{s.values.size(), s.inits.size(), s.targets.size()}, {}, {}, std::make_shared<const Answer>(find())};
    each_formula(s, [&](const Expr& x) { e.formulas.push_back(x); });
    for (const IterVar& v : s.iters) e.variables.push_back(v.id);
    bucket.push_back(std::move(e));
    return bucket.back().answer;
  }

 private:
  static constexpr std::size_t most = 16'384;

  struct Entry {
    std::size_t counts[3];  // of values, inits and targets
    std::vector<Expr> formulas;
    std::vector<Id> variables;
    std::shared_ptr<const Answer> answer;

    bool is(const Stage& s) const {
      if (counts[0] != s.values.size() || counts[1] != s.inits.size() || counts[2] != s.targets.size() ||
          variables.size() != s.iters.size())
        return false;
      std::size_t k = 0;
      bool same = true;
      each_formula(s, [&](const Expr& e) { same = same && formulas[k++].node() == e.node(); });
      for (std::size_t v = 0; same && v < variables.size(); ++v) same = variables[v] == s.iters[v].id;
      return same;
    }
  };

  static std::size_t hash_of(const Stage& s) {
    std::size_t h = s.iters.empty() ? 0 : s.iters.front().id;
    each_formula(s, [&](const Expr& e) { h = (h ^ std::hash<const Node*>()(e.node())) * 0x9e3779b97f4a7c15ull + (h >> 29); });
    return h;
  }

  std::unordered_map<std::size_t, std::vector<Entry>> known_;
  std::size_t count_ = 0;
};

// The buffers that a stage's values, inits, targets and `keep` load, each once, in order of first occurrence.
std::shared_ptr<const std::vector<Id>> buffers_loaded(const Stage&);

}  // namespace ashlar::ir
