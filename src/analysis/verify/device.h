// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <ashlar/ir/kernel.h>

#include <string_view>

namespace ashlar::analysis {

// Launches and what stands inside them, tensor maps; nothing is asked of a kernel without any.
void verify_launches(const ir::Kernel&, std::string_view after);

}  // namespace ashlar::analysis
