#pragma once
// Chains of windows: each stage reads a few rows and columns of the one before it. Their schedules slide the stages along one
// loop of the last one and keep them in rings. `ashlar_fuzz --windows` draws nothing else.
//
//   w0(i, j) = x(i - 1, j) * 2 + x(i + 1, j + 1);  w1(i, j) = w0(i, j) * 2 + w0(i + 2, j);  y(i, j) = w1(i - 1, j) …
#include <vector>

#include <ashlar/schedule/step.h>

#include "program.h"

namespace fuzz {

Made make_chain_of_windows(Source&);

// From the last stage to the first: places each at a loop of the result, stores it further out, slides and folds it. Illegal
// steps are skipped; some stages are inlined or stay where they are. Returns no steps if the program is not a chain.
std::vector<ashlar::schedule::Step> sliding_steps(Source&, const Made&, const ashlar::Target&);

}  // namespace fuzz
