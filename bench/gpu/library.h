// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Where the library for beside_torch.py takes its kernels from: compiled when they are asked for (library_compiled.cpp), or
// ahead (ahead/library_table.cpp).
#include <string>

#include <ashlar/runtime/desc.h>

namespace gpu_bench {

// A kernel of kernels.h by its name and target. Throws where it cannot be made.
const ashlar_abi1_desc& kernel_of(const std::string& name, const std::string& target);

}  // namespace gpu_bench
