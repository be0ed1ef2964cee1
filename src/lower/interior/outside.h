// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What runs where a tile does not lie wholly inside (interior.cpp).
#include <ashlar/analysis/facts.h>

#include "lower/interior/interior.h"

namespace ashlar::lowering {

struct Outside {
  const Buffers& buffers;
  int masked_bits = 8;  // as in LowerOptions
  // Of a tile: lanes that would be divided by a Symbol become points, and where `few` are left those that would each be a
  // branch. `facts` hold where it stands. `chooses`: lanes whose remainders are chosen by comparing stay lanes.
  void in_turn(ir::KStmt&, bool few, const analysis::Facts& facts, bool chooses) const;
};
void skip_empty(std::vector<ir::KStmt>&, const analysis::Facts&);

}  // namespace ashlar::lowering
