// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The processor features that code for a target needs, as the bits that the runtime detects (runtime/cpu.h).
//
//   needs_of(Target::parse("x86-64+sse3")).features == 1 << ASHLAR_X86_SSE2 | 1 << ASHLAR_X86_SSE3
//
// For a GPU these are the features of its host processor. A feature that only permits different arithmetic (flush) needs
// nothing of the machine except the features it depends on.
#include <cstdint>
#include <string>
#include <vector>

#include <ashlar/target/target.h>

namespace ashlar {

struct TargetNeeds {
  std::uint64_t features = 0;  // bits, by the feature numbers of the target's architecture
  // Enabled features that the runtime cannot detect on the target's system, and features that the code generator assumes for a
  // processor it knows by name although the table lacks them.
  std::vector<std::string> undetected;
};
TargetNeeds needs_of(const Target&);

}  // namespace ashlar
