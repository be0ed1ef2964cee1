// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated annealing (Kirkpatrick, Gelatt and Vecchi, 1983): a step changes one knob. A slower candidate is taken with the
// probability exp(-log(ratio) / temperature); the temperature falls from trial to trial.
#include <cmath>

#include "tune/src/searchers.h"

namespace ashlar::tune {

namespace {

constexpr double hottest = 0.3, cooling = 0.97;

class Annealing : public Searcher {
 public:
  explicit Annealing(const SearchSpace& space) : space_(space), dice_(space.seed) {}
  const char* name() const override { return "annealing"; }

  std::optional<Candidate> next(const std::vector<Trial>& trials) override {
    for (; seen_ < trials.size(); ++seen_) {
      const Trial& t = trials[seen_];
      if (!t.good) continue;
      if (!at_ || t.seconds <= at_->seconds || dice_.unit() < std::exp(-std::log(t.seconds / at_->seconds) / temperature_))
        at_ = t;
      temperature_ *= cooling;
    }
    return mutated(space_, at_ ? at_->made : space_.usual, dice_);
  }

 private:
  SearchSpace space_;
  Dice dice_;
  std::optional<Trial> at_;
  std::size_t seen_ = 0;
  double temperature_ = hottest;
};

}  // namespace

std::unique_ptr<Searcher> annealing_searcher(const SearchSpace& space) { return std::make_unique<Annealing>(space); }

}  // namespace ashlar::tune
