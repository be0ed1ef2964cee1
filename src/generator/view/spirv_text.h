// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <string>

namespace ashlar::generator::view {

// The instructions of a module as text; empty in a build without SPIR-V, which makes no modules.
std::string spirv_text(const std::string& module);

}  // namespace ashlar::generator::view
