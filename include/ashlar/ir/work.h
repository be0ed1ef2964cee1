// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What was done in this thread, in counts that are the same on every machine: what a program costs to schedule and lower is
// tested by them (tests/lower/growth_test.cpp), never by a clock.
//
//   const ir::Work before = ir::work;   lower(program);   ir::work.simplified - before.simplified
#include <cstdint>

namespace ashlar::ir {

struct Work {
  std::uint64_t walked = 0;      // nodes of expressions that walk, transform and the search for loads entered
  std::uint64_t simplified = 0;  // nodes that the simplifier entered
  std::uint64_t proofs = 0;      // conditions that were to be proved
  std::uint64_t sets = 0;        // questions to integer sets
  std::uint64_t verified = 0;    // programs and kernels that were verified
};

extern thread_local constinit Work work;

}  // namespace ashlar::ir
