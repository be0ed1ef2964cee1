// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/of_vulkan.h"

#include <ashlar/ir/refusal.h>
#include <ashlar/runtime/vulkan.h>

namespace ashlar::codegen {

#ifdef ASHLAR_HAS_SPIRV
std::vector<spirv::Code> vulkan_shaders(const ir::Kernel& kernel, const Target& target) {
  const bool float16 = target.has("float16");
  std::vector<spirv::Code> shaders;
  shaders.push_back(spirv::translate(kernel, {.float16 = float16}));
  if ((shaders[0].features & (ASHLAR_VULKAN_FMA32 | ASHLAR_VULKAN_FMA64)) != 0)
    shaders.push_back(spirv::translate(kernel, {.native_fma = false, .float16 = float16}));
  return shaders;
}

std::vector<std::pair<const char*, void (*)()>> vulkan_entries() {
  const auto entry = [](auto* function) { return reinterpret_cast<void (*)()>(function); };
  return {{"ashlar_abi1_vulkan_begin", entry(&ashlar_abi1_vulkan_begin)},
          {"ashlar_abi1_vulkan_run", entry(&ashlar_abi1_vulkan_run)},
          {"ashlar_abi1_vulkan_end", entry(&ashlar_abi1_vulkan_end)}};
}
#else
std::vector<spirv::Code> vulkan_shaders(const ir::Kernel&, const Target&) {
  refuse("target", "an ashlar that was built with ASHLAR_VULKAN", "one built without it", Where{});
}

std::vector<std::pair<const char*, void (*)()>> vulkan_entries() { return {}; }
#endif

}  // namespace ashlar::codegen
