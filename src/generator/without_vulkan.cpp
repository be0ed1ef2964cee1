// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled in the place of with_vulkan.cpp where there is no back end for SPIR-V.
#include "generator/outputs.h"
#include "generator/view/spirv_text.h"

namespace ashlar::generator {

std::vector<std::string> missing_back_ends() {
#ifdef ASHLAR_HAS_LLVM
  return {"Vulkan (ASHLAR_VULKAN)"};
#else
  return {"LLVM"};
#endif
}

std::string view::spirv_text(const std::string&) { return {}; }

}  // namespace ashlar::generator
