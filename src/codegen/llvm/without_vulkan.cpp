// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replaces of_vulkan.cpp in builds without the SPIR-V back end.
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/of_vulkan.h"

namespace ashlar::codegen {

VulkanCode vulkan_shaders(const ir::Kernel&, const Target&, bool, bool) {
  refuse("target", "an ashlar that was built with ASHLAR_VULKAN", "one built without it", Where{});
}

std::vector<std::pair<const char*, void (*)()>> vulkan_entries() { return {}; }

}  // namespace ashlar::codegen
