// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What searchers share, and one function a searcher, each in its own file.
#include <random>

#include "tune/src/searcher.h"

namespace ashlar::tune {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  double unit() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  std::uint64_t seed() { return random_() >> 1; }
  template <class T>
  const T& any(const std::vector<T>& all) {
    return all[below(all.size())];
  }

 private:
  std::mt19937_64 random_;
};

bool is_tuned(const SearchSpace&, const Knob&);

// Another value for one knob of a candidate that was built. The others keep theirs, where they are candidates again; choices
// that were not made before are drawn.
std::optional<Candidate> mutated(const SearchSpace&, const Description& made, Dice&);

std::unique_ptr<Searcher> random_searcher(const SearchSpace&);
std::unique_ptr<Searcher> exhaustive_searcher(const SearchSpace&);
std::unique_ptr<Searcher> annealing_searcher(const SearchSpace&);
std::unique_ptr<Searcher> evolution_searcher(const SearchSpace&);

}  // namespace ashlar::tune
