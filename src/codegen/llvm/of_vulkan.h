// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What code for Vulkan takes of the back end and the runtime that may be absent. Its source alone is compiled anew once they
// are there.
#pragma once

#include <utility>
#include <vector>

#include <ashlar/codegen/spirv.h>
#include <ashlar/target/target.h>

namespace ashlar::codegen {

// The shaders of a kernel, in one form or in the two of Unit::shaders. Refused in a build without the back end.
std::vector<spirv::Code> vulkan_shaders(const ir::Kernel&, const Target&);

// The entries of the runtime that compiled host code calls, by name; none in such a build.
std::vector<std::pair<const char*, void (*)()>> vulkan_entries();

}  // namespace ashlar::codegen
