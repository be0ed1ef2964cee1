// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Counts of the work done in this thread. They are the same on every machine, so tests check the cost of scheduling and
// lowering by them (tests/lower/growth_test.cpp) and never by a clock.
//
//   const ir::Work before = ir::work;   lower(program);   ir::work.simplified - before.simplified
#include <cstdint>

namespace ashlar::ir {

struct Work {
  std::uint64_t walked = 0;      // expression nodes that walk, transform and the search for loads visited
  std::uint64_t simplified = 0;  // nodes that the simplifier visited
  std::uint64_t proofs = 0;      // conditions to prove
  std::uint64_t sets = 0;        // queries to integer sets
  std::uint64_t verified = 0;    // programs and kernels verified
};

extern thread_local constinit Work work;

}  // namespace ashlar::ir
