#pragma once
// Instructions that one call of a program executes, scheduled by default for a target whatever the machine is.
#include <cstdint>
#include <optional>
#include <string>

#include "bench/programs/registry.h"

namespace bench::programs {

enum class Counting {
  perf,   // the processor's own counter, in user mode
  other,  // by who runs this process: ashlar_programs_one_call is one call of the kernel
};

// Empty with Counting::other. Throws what() where the counter cannot be had.
std::optional<std::uint64_t> instructions(const Entry&, const std::string& target, Counting);

}  // namespace bench::programs
