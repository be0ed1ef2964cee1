// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// SPIRV-Tools: the validator and the optimizer, in process.
#include <cstdint>
#include <vector>

#include <ashlar/codegen/spirv.h>

namespace ashlar::codegen::spirv {

std::vector<std::uint32_t> optimized(const std::vector<std::uint32_t>& words);  // InternalError where the optimizer fails

}  // namespace ashlar::codegen::spirv
