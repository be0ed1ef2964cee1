// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The part of a kit's C file that is the same for all: the tables and functions of an ashlar_kit_op (runtime/kit.h).
#include <string>

#include "generator/header.h"
#include "generator/kits/interface.h"

namespace ashlar::generator {

// Defines ashlar_arguments, ashlar_shapes and ashlar_run.
std::string kit_c_text(const KitInterface&, const std::string& function);
// {"scale", ashlar_arguments, 3, ashlar_shapes, ashlar_run}
std::string kit_op_text(const KitInterface&, const std::string& function);

// Refused, in the name of `kit`: devices, and processors without an operating system.
void require_processors(const HeaderFacts&, const char* kit);
// Refused: Vulkan, and processors without an operating system.
void require_tensors(const HeaderFacts&, const char* kit);

}  // namespace ashlar::generator
