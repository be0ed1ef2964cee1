// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file of its own: it alone is compiled anew once a back end can be built.
#include "generator/outputs.h"

namespace ashlar::generator {

std::vector<std::string> missing_back_ends() {
  std::vector<std::string> missing;
#ifndef ASHLAR_HAS_LLVM
  missing.emplace_back("LLVM");
#elif !defined ASHLAR_HAS_SPIRV
  missing.emplace_back("Vulkan (ASHLAR_VULKAN)");
#endif
  return missing;
}

}  // namespace ashlar::generator
