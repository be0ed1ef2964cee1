// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every candidate once, like the hands of a clock: the last knob that has a next value takes it, and those after it begin again
// from their usual values. Choices that depend on earlier ones are among the knobs that a trial made, so none is missed.
#include "tune/src/searchers.h"

namespace ashlar::tune {

namespace {

class Exhaustive : public Searcher {
 public:
  explicit Exhaustive(const SearchSpace& space) : space_(space) { begin(space_.usual); }
  const char* name() const override { return "exhaustive"; }

  std::optional<Candidate> next(const std::vector<Trial>& trials) override {
    if (!started_) {
      started_ = true;
      return propose();
    }
    // A candidate that was refused did not say its choices; the hands are as far as they are known.
    if (!trials.empty() && trials.back().asked == last_ && !trials.back().made.knobs.empty()) begin(trials.back().made);
    while (!hands_.empty()) {
      Hand& last = hands_.back();
      if (last.place + 1 < last.values.size()) {
        ++last.place;
        return propose();
      }
      hands_.pop_back();
    }
    return std::nullopt;
  }
  bool one_at_a_time() const override { return true; }

 private:
  struct Hand {
    std::string name;
    bool parameter = false;
    std::vector<std::string> values;  // the usual one first, which a choice has that no candidate has decided yet
    std::size_t place = 0;
  };

  static std::vector<std::string> usual_first(const Knob& k) {
    std::vector<std::string> values{k.usual};
    for (const std::string& v : k.values)
      if (v != k.usual) values.push_back(v);
    return values;
  }

  // Keeps the hands as far as they are those of a trial; the knobs after them begin.
  void begin(const Description& made) {
    std::size_t at = 0;
    for (const Knob& k : made.knobs) {
      if (!is_tuned(space_, k)) continue;
      Hand hand{k.name, k.parameter, usual_first(k)};
      if (at == hands_.size() || hands_[at].name != hand.name || hands_[at].values != hand.values) {
        hands_.resize(at);
        hands_.push_back(std::move(hand));
      }
      ++at;
    }
    hands_.resize(at);
  }
  Candidate propose() {
    last_ = {};
    for (const Hand& h : hands_) (h.parameter ? last_.parameters : last_.choices)[h.name] = h.values[h.place];
    return last_;
  }

  SearchSpace space_;
  std::vector<Hand> hands_;
  Candidate last_;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Searcher> exhaustive_searcher(const SearchSpace& space) { return std::make_unique<Exhaustive>(space); }

}  // namespace ashlar::tune
