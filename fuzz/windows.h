#pragma once
// Chains of windows: stages of which each reads a few rows and columns of the one before, and schedules that slide them along
// one loop of the last, in rings. `ashlar_fuzz --windows` draws nothing else.
//
//   w0(i, j) = x(i - 1, j) * 2 + x(i + 1, j + 1);  w1(i, j) = w0(i, j) * 2 + w0(i + 2, j);  y(i, j) = w1(i - 1, j) …
#include <vector>

#include <ashlar/schedule/step.h>

#include "program.h"

namespace fuzz {

Made make_chain_of_windows(Source&);

// Every stage, from the last to the first, is placed at a loop of the result, stored further out, slid and folded, as far as
// each step is legal; some are inlined, or left where they are. Empty where the program is no chain.
std::vector<ashlar::schedule::Step> sliding_steps(Source&, const Made&, const ashlar::Target&);

}  // namespace fuzz
