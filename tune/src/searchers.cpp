// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/src/searchers.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ashlar::tune {

namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Searcher> (*make)(const SearchSpace&);
};
constexpr Entry entries[] = {{"random", random_searcher},
                             {"exhaustive", exhaustive_searcher},
                             {"annealing", annealing_searcher},
                             {"evolution", evolution_searcher}};

}  // namespace

bool is_tuned(const SearchSpace& space, const Knob& k) {
  return k.values.size() > 1 &&
         (!k.parameter || std::find(space.tuned.begin(), space.tuned.end(), k.name) != space.tuned.end());
}

std::optional<Candidate> mutated(const SearchSpace& space, const Description& made, Dice& dice) {
  std::vector<const Knob*> knobs;
  for (const Knob& k : made.knobs)
    if (is_tuned(space, k)) knobs.push_back(&k);
  if (knobs.empty()) return std::nullopt;
  const Knob& k = *dice.any(knobs);
  std::vector<std::string> others;
  for (const std::string& v : k.values)
    if (v != k.value) others.push_back(v);
  Candidate c = spelled_out(made, space.tuned);
  (k.parameter ? c.parameters : c.choices)[k.name] = dice.any(others);
  c.seed = dice.seed();
  return c;
}

std::unique_ptr<Searcher> make_searcher(const std::string& name, const SearchSpace& space) {
  for (const Entry& e : entries)
    if (name == e.name) return e.make(space);
  throw std::runtime_error(fmt::format("--searcher {}: expected one of {}", name, fmt::join(searcher_names(), ", ")));
}

std::vector<std::string> searcher_names() {
  std::vector<std::string> names;
  for (const Entry& e : entries) names.emplace_back(e.name);
  return names;
}

}  // namespace ashlar::tune
