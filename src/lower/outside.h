#pragma once
// What runs where a tile does not lie wholly inside (interior.cpp).
#include <ashlar/analysis/facts.h>

#include "lower/interior.h"

namespace ashlar::lower_impl {

void in_turn(ir::KStmt&, const Buffers&);  // of a tile: lanes that would be divided by a Symbol become points
void skip_empty(std::vector<ir::KStmt>&, const analysis::Facts&);

}  // namespace ashlar::lower_impl
