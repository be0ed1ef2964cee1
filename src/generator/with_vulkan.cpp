// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tool asks of the SPIR-V back end. Builds without that back end compile without_vulkan.cpp instead.
#include <cstdint>
#include <cstring>
#include <vector>

#include <ashlar/codegen/spirv.h>

#include "generator/outputs.h"
#include "generator/view/spirv_text.h"

namespace ashlar::generator {

std::vector<std::string> missing_back_ends() {
#ifdef ASHLAR_HAS_LLVM
  return {};
#else
  return {"LLVM"};
#endif
}

std::string view::spirv_text(const std::string& module) {
  std::vector<std::uint32_t> words(module.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), module.data(), words.size() * sizeof(std::uint32_t));
  return codegen::spirv::disassemble(words);
}

}  // namespace ashlar::generator
