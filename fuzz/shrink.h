#pragma once
// Makes a failing case smaller while it fails in the same way: steps are dropped, then choices of the program and of the data
// are dropped or replaced by simpler ones.
#include "check.h"

namespace fuzz {

// The report of the smallest case found; `budget` cases are tried at most.
Report shrink(Case, const Report& failed, const Setup&, int budget = 600);

}  // namespace fuzz
