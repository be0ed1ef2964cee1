// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The processor features that code for a target needs, in the terms of the runtime's detection (runtime/cpu.h).
//
//   needs_of(Target::parse("x86-64+sse3")).features == 1 << ASHLAR_X86_SSE2 | 1 << ASHLAR_X86_SSE3
//
// For a GPU these are the features of its host processor. A feature that only permits the code to treat numbers differently
// (flush) needs no feature of the machine but those it depends on.
#include <cstdint>
#include <string>
#include <vector>

#include <ashlar/target/target.h>

namespace ashlar {

struct TargetNeeds {
  std::uint64_t features = 0;  // bits, by the feature numbers of the target's architecture
  // Enabled features that the runtime cannot detect on the target's system; also features beyond the table that the code
  // generator assumes for a processor that it knows by name.
  std::vector<std::string> undetected;
};
TargetNeeds needs_of(const Target&);

}  // namespace ashlar
