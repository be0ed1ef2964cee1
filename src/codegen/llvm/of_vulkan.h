// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What code for Vulkan takes of the back end and the runtime: of_vulkan.cpp has it, or without_vulkan.cpp in a build that has
// neither.
#pragma once

#include <utility>
#include <vector>

#include <ashlar/codegen/spirv.h>
#include <ashlar/target/target.h>

namespace ashlar::codegen {

// The shaders of a kernel, in one form or in the two of Unit::shaders. Where indices of 32 bits are right for some calls alone,
// `wide` is the same with indices of 64 bits for the others.
struct VulkanCode {
  std::vector<spirv::Code> shaders, wide;
  Expr narrow_if;  // over symbols and strides; empty without `wide`
};
// Refused in a build without the back end.
VulkanCode vulkan_shaders(const ir::Kernel&, const Target&, bool wide_indices, bool line_tables);

// The entries of the runtime that compiled host code calls, by name; none in such a build.
std::vector<std::pair<const char*, void (*)()>> vulkan_entries();

}  // namespace ashlar::codegen
