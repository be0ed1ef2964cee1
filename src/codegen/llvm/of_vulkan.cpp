// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/of_vulkan.h"

#include <ashlar/ir/build.h>
#include <ashlar/runtime/vulkan.h>

namespace ashlar::codegen {

namespace {

std::vector<spirv::Code> both_forms(const ir::Kernel& kernel, const Target& target, bool index32, bool line_tables) {
  const bool float16 = target.has("float16");
  std::vector<spirv::Code> shaders;
  shaders.push_back(spirv::translate(kernel, {.float16 = float16, .line_tables = line_tables, .index32 = index32}));
  if ((shaders[0].features & (ASHLAR_VULKAN_FMA32 | ASHLAR_VULKAN_FMA64)) != 0)
    shaders.push_back(
        spirv::translate(kernel, {.native_fma = false, .float16 = float16, .line_tables = line_tables, .index32 = index32}));
  return shaders;
}

}  // namespace

VulkanCode vulkan_shaders(const ir::Kernel& kernel, const Target& target, bool wide_indices, bool line_tables) {
  const Expr narrow_if = wide_indices ? ir::boolean(false) : spirv::indices_of_32_bits(kernel);
  if (ir::is_int(narrow_if, std::int64_t{0})) return {both_forms(kernel, target, false, line_tables), {}, {}};
  VulkanCode code{both_forms(kernel, target, true, line_tables), {}, {}};
  if (!ir::is_int(narrow_if, 1)) code.wide = both_forms(kernel, target, false, line_tables), code.narrow_if = narrow_if;
  return code;
}

std::vector<std::pair<const char*, void (*)()>> vulkan_entries() {
  const auto entry = [](auto* function) { return reinterpret_cast<void (*)()>(function); };
  return {{"ashlar_abi1_vulkan_begin", entry(&ashlar_abi1_vulkan_begin)},
          {"ashlar_abi1_vulkan_run", entry(&ashlar_abi1_vulkan_run)},
          {"ashlar_abi1_vulkan_end", entry(&ashlar_abi1_vulkan_end)}};
}

}  // namespace ashlar::codegen
