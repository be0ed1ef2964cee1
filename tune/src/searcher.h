// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Searchers: which candidate is tried next, by what is known of the ones before.
//
// A candidate need not say everything. What it leaves out is drawn by the schedule with the candidate's seed or, without one,
// has its usual value; what was chosen is known afterwards (Trial::made). So a searcher never has to know which choices depend
// on which.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tune/src/space.h"

namespace ashlar::tune {

struct Trial {
  Candidate asked;
  Description made;    // of what was built; its knobs have the values that were taken
  bool good = false;   // it was built, its results are right, and it was timed
  double seconds = 0;  // of a call, where it is good
};

class Searcher {
 public:
  virtual ~Searcher() = default;
  virtual const char* name() const = 0;
  // Whether it wants to know a trial before it proposes the next; otherwise it may be asked for several.
  virtual bool one_at_a_time() const { return false; }
  // The next candidate; nothing: there is no other one. `trials` are all so far, the usual candidate first; those that were
  // proposed since the last call are at its end, in any order.
  virtual std::optional<Candidate> next(const std::vector<Trial>& trials) = 0;
};

struct SearchSpace {
  Description usual;               // of the usual candidate
  std::vector<std::string> tuned;  // the parameters that may change
  std::uint64_t seed = 1;
};

// "random", "exhaustive", "annealing", "evolution". std::runtime_error: another name.
std::unique_ptr<Searcher> make_searcher(const std::string& name, const SearchSpace&);
std::vector<std::string> searcher_names();

}  // namespace ashlar::tune
