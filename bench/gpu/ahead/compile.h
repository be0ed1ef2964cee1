// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Compiles cases and kernels for a machine without a compiler (pack.py links what this writes).
#include <string>
#include <vector>

#include "bench/gpu/cases.h"

namespace gpu_bench {

// Part i of n of the cases (every nth): FOLDER/NUMBER.o with line tables for the device, and FOLDER/NUMBER.case (case_file.h)
// with their inputs and what the interpreter left. Prints a line of JSON for each.
void compile_ahead(const std::string& folder, const std::string& target, const std::vector<Case>&, std::size_t part,
                   std::size_t parts);

// FOLDER/NUMBER.o of the kernels with these names (kernels.h). Prints the function of each.
void compile_kernels_ahead(const std::string& folder, const std::string& target, const std::vector<std::string>& names);

}  // namespace gpu_bench
