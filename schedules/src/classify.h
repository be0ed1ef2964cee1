// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Classifies a stage by its definition alone: which variables its loads move with, whether it reduces, where its indices come
// from.
#include <ashlar/schedules/by_default.h>

#include "schedules/src/reading.h"

namespace ashlar::schedules {

struct Classified {
  Family family = Family::other;
  std::string why;  // "two loads at other offsets along y and x"
  // Reductions: the variable of the terms along which neighbors in memory lie; 0 if there is none.
  Id contiguous = 0;
  // Products: for each factor, a dimension that the other lacks; `columns` is the one along which stores run, if either is.
  Id rows = 0, columns = 0;
  bool window = false;   // a reduction that reads x(i + r)
  std::vector<Id> over;  // such i
  Id turned = 0;         // transpositions: the dimension along which neighbors in memory are read
};
Classified classify(const ir::Program&, const ir::Stage&, const Sizes&);

}  // namespace ashlar::schedules
