// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every parameter and every choice is drawn, each value with the same probability.
#include "tune/src/searchers.h"

namespace ashlar::tune {

namespace {

class Random : public Searcher {
 public:
  explicit Random(const SearchSpace& space) : space_(space), dice_(space.seed) {}
  const char* name() const override { return "random"; }
  std::optional<Candidate> next(const std::vector<Trial>&) override {
    Candidate c;
    for (const Knob& k : space_.usual.knobs)
      if (k.parameter && is_tuned(space_, k)) c.parameters[k.name] = dice_.any(k.values);
    c.seed = dice_.seed();
    return c;
  }

 private:
  SearchSpace space_;
  Dice dice_;
};

}  // namespace

std::unique_ptr<Searcher> random_searcher(const SearchSpace& space) { return std::make_unique<Random>(space); }

}  // namespace ashlar::tune
