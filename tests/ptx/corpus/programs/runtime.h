// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Of the CUDA runtime over the executor (runtime.cpp): what its tests set and ask.
#include <vector>

namespace ashlar::ptx_corpus {

std::vector<const char*> program_files();  // "programs/cub": the PTX of the programs that are linked
void set_capability(int);                  // ten times the compute capability that the runtime reports; 80 at first

}  // namespace ashlar::ptx_corpus
