// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Components that are stored without a dimension (drop_dim), because their values do not depend on it.
//
//   (m, l, o)[i, c] reduced over b; m and l lack c          for b
//     for b                                                   for i
//       for i                                                   for c
//         for c                          runs as                  block attend    stores o
//           block attend                                        for c in first of C
//                                                                 block attend    stores m, l
//
// Every step of o along c reads the values of m and l from before the step, so m and l are stored after the loops over c. If
// the whole reduction is inside these loops, it is repeated for each c with the same result, and the block stays whole.
#include <set>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

bool drops(const ir::Program&, const ir::Stage&);  // whether it has such components
// The iteration variables along which they are the same (one set for all of them).
std::set<ir::Id> dropped_iters(const ir::Program&, const ir::Stage&);
bool drops(const ir::Program&, const ir::Stage&, std::size_t component);

// The program with such blocks split in two; the same program if there are none.
ir::Program take_dropped_apart(const ir::Program&);

// Whether a loop of the nest runs over a variable along which components are dropped.
bool over_dropped(const ir::Program&, const ir::Stmt& loop, const std::set<ir::Id>& iters);

}  // namespace ashlar::analysis
