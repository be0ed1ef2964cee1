// Searchers on a space whose times are a formula: what they propose, and whether they find its least.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <set>
#include <stdexcept>

#include "tune/src/searcher.h"

namespace ashlar::tune {
namespace {

constexpr int values = 16;

// A parameter and two choices of 16 values, and, where the first choice is below 8, another one of 4.
Description description(int a, int b, int c, int d) {
  std::vector<std::string> all, few{"0", "1", "2", "3"};
  for (int k = 0; k < values; ++k) all.push_back(std::to_string(k));
  Description made{"f",
                   "x86-64",
                   {{"a", true, all, std::to_string(a), "0"},
                    {"b", false, all, std::to_string(b), "0"},
                    {"c", false, all, std::to_string(c), "0"}}};
  if (b < 8) made.knobs.push_back({"d", false, few, std::to_string(d), "0"});
  return made;
}

// What a generator would make of a proposal.
Description made_of(const Candidate& p) {
  std::mt19937 random(p.seed ? static_cast<unsigned>(*p.seed) : 0);
  const auto value = [&](const std::map<std::string, std::string>& of, const char* name, int below) {
    const int drawn = p.seed ? static_cast<int>(random() % static_cast<unsigned>(below)) : 0;
    const auto at = of.find(name);
    return at == of.end() ? drawn : std::stoi(at->second);
  };
  const int a = p.parameters.count("a") ? std::stoi(p.parameters.at("a")) : 0;
  return description(a, value(p.choices, "b", values), value(p.choices, "c", values), value(p.choices, "d", 4));
}

int knob(const Description& d, const char* name) {
  for (const Knob& k : d.knobs)
    if (k.name == name) return std::stoi(k.value);
  return 0;
}

// Least at a = 11, b = 5, c = 9, d = 2, with a valley that leads there.
double seconds(const Description& d) {
  const double a = knob(d, "a") - 11, b = knob(d, "b") - 5, c = knob(d, "c") - 9, e = knob(d, "d") - 2;
  return 1 + std::fabs(a) * 0.1 + std::fabs(b) * 0.2 + std::fabs(c) * 0.1 + std::fabs(e) * 0.1;
}

SearchSpace space(std::uint64_t seed) { return {description(0, 0, 0, 0), {"a"}, seed}; }

struct Run {
  double best = 1e9;
  std::set<std::string> seen;
  bool ended = false;
};
Run search(const char* name, int count, std::uint64_t seed) {
  const SearchSpace s = space(seed);
  const std::unique_ptr<Searcher> searcher = make_searcher(name, s);
  std::vector<Trial> trials{{{}, s.usual, true, seconds(s.usual)}};
  Run run;
  for (int k = 0; k < count; ++k) {
    const std::optional<Candidate> p = searcher->next(trials);
    if (!p) {
      run.ended = true;
      break;
    }
    const Description made = made_of(*p);
    const bool refused = knob(made, "c") == 3;
    trials.push_back({*p, refused ? Description{} : made, !refused, seconds(made)});
    run.seen.insert(spelled_out(made, s.tuned).key());
    if (!refused) run.best = std::min(run.best, seconds(made));
  }
  return run;
}

double mean_best(const char* name, int count) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) sum += search(name, count, seed).best;
  return sum / 20;
}

}  // namespace

TEST_CASE("the exhaustive searcher proposes every candidate once, and then ends") {
  const Run run = search("exhaustive", 100000, 1);
  CHECK(run.ended);
  // where c = 3 nobody learns of d
  CHECK(run.seen.size() == 16 * (8 * (15 * 4 + 1) + 8 * 16));
  CHECK(run.best == 1.0);
}

TEST_CASE("annealing and evolution find more in 200 trials than random draws do") {
  const double random = mean_best("random", 200), annealing = mean_best("annealing", 200),
               evolution = mean_best("evolution", 200);
  CAPTURE(random);
  CAPTURE(annealing);
  CAPTURE(evolution);
  CHECK(annealing < random - 0.05);
  CHECK(evolution < random - 0.05);
}

TEST_CASE("one seed, one search; another name is refused with those that there are") {
  for (const std::string& name : searcher_names()) {
    CHECK(search(name.c_str(), 50, 4).seen == search(name.c_str(), 50, 4).seen);
    CHECK(make_searcher(name, space(1))->name() == name);
  }
  CHECK(search("random", 50, 4).seen != search("random", 50, 5).seen);
  CHECK_THROWS_WITH_AS(make_searcher("luck", space(1)),
                       "--searcher luck: expected one of random, exhaustive, annealing, evolution", std::runtime_error);
}

}  // namespace ashlar::tune
