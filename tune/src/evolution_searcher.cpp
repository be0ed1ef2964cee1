// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evolution: the fastest candidates so far are parents. A child has one or two knobs of a parent changed, or takes each knob
// from one of two parents; one in eight is drawn at random, so that a population that is stuck gets new blood.
#include <algorithm>

#include "tune/src/searchers.h"

namespace ashlar::tune {

namespace {

constexpr std::size_t population = 12;

class Evolution : public Searcher {
 public:
  explicit Evolution(const SearchSpace& space) : space_(space), dice_(space.seed), random_(random_searcher(space)) {}
  const char* name() const override { return "evolution"; }

  std::optional<Candidate> next(const std::vector<Trial>& trials) override {
    std::vector<const Trial*> parents;
    for (const Trial& t : trials)
      if (t.good) parents.push_back(&t);
    std::stable_sort(parents.begin(), parents.end(), [](const Trial* a, const Trial* b) { return a->seconds < b->seconds; });
    if (parents.size() > population) parents.resize(population);
    if (parents.empty() || trials.size() < population / 2 || dice_.below(8) == 0) return random_->next(trials);
    // A tournament of two, so that fast parents have more children.
    const auto parent = [&] { return parents[std::min(dice_.below(parents.size()), dice_.below(parents.size()))]; };
    const Trial& one = *parent();
    if (parents.size() > 1 && dice_.below(3) == 0) return crossed(one.made, parent()->made);
    std::optional<Candidate> c = mutated(space_, one.made, dice_);
    if (c && dice_.below(3) == 0) {
      Description changed = one.made;
      for (Knob& k : changed.knobs) {
        const auto& values = k.parameter ? c->parameters : c->choices;
        if (const auto at = values.find(k.name); at != values.end()) k.value = at->second;
      }
      c = mutated(space_, changed, dice_);
    }
    return c;
  }

 private:
  Candidate crossed(const Description& a, const Description& b) {
    Candidate child = spelled_out(a, space_.tuned);
    const Candidate other = spelled_out(b, space_.tuned);
    for (auto part : {&Candidate::parameters, &Candidate::choices})
      for (const auto& [name, value] : other.*part)
        if (dice_.below(2) == 0 || !(child.*part).count(name)) (child.*part)[name] = value;
    child.seed = dice_.seed();
    return child;
  }

  SearchSpace space_;
  Dice dice_;
  std::unique_ptr<Searcher> random_;
};

}  // namespace

std::unique_ptr<Searcher> evolution_searcher(const SearchSpace& space) { return std::make_unique<Evolution>(space); }

}  // namespace ashlar::tune
