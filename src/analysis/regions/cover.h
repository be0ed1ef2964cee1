// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What is computed past the end of a stage's declared domain, since a reader's split covers whole tiles (Tail::cover).
//
//   for io in (M + 31) / 32, ii in 32      C, where io * 32 + ii < M, reads P[io * 32 + ii]; P is declared over [0, M)
//                                          inside of io P may be computed at [io * 32, +32)
#include <ashlar/ir/program.h>

namespace ashlar::analysis {

// The most points past the end of the stage's k-th variable: of readers that read it at a variable of their own, whose split
// covers. Zero without such readers.
std::int64_t covered_past(const ir::Program&, const ir::Stage&, std::size_t k);

}  // namespace ashlar::analysis
