// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What code for a target needs of the processor, as the runtime can tell machines apart (runtime/cpu.h).
//
//   needs_of(Target::parse("x86-64+sse3")).features == 1 << ASHLAR_X86_SSE2 | 1 << ASHLAR_X86_SSE3
//
// Of a GPU: what the processor that launches it needs. A feature that says what the code may do with numbers (flush) needs
// nothing of the machine beside what it stands on.
#include <cstdint>
#include <string>
#include <vector>

#include <ashlar/target/target.h>

namespace ashlar {

struct TargetNeeds {
  std::uint64_t features = 0;  // bits by the numbers of the target's architecture
  // Enabled features that no machine of the target's system can be asked about; and what the code generator takes a processor
  // that it knows by name to have beyond the table.
  std::vector<std::string> undetected;
};
TargetNeeds needs_of(const Target&);

}  // namespace ashlar
