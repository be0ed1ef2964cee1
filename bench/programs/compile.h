#pragma once
// What it costs to compile a program, scheduled by default for a target whatever the machine is: CPU seconds of each part.
#include <string>

#include "bench/programs/registry.h"

namespace bench::programs {

struct CompileSeconds {
  double schedule = 0, lower = 0, code = 0, llvm = 0;  // code: from the kernel to LLVM's form; llvm: from there to the object
  double all() const { return schedule + lower + code + llvm; }
};

CompileSeconds compile_seconds(const Entry&, const std::string& target);

}  // namespace bench::programs
