// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The kit for JAX: of each operator a C file with a handler of XLA's typed FFI (-e jax), and a Python module that registers it
// and gives it a function (-e jax_python). ashlar_add_jax_ops (cmake/AshlarKits.cmake) makes a library and a package of them.
//
//   mine.scale                    the target of the call in a compiled program
//   my_ops.scale(x, gain)         the function: jit, vmap by one call of the handler, grad where --backward made a kernel
//
// Scalars are operands of rank 0, so that jit does not compile anew for each value. A Symbol that no input's shape tells is a
// parameter of the function. Devices are refused.
#include <string>

#include <ashlar/ir/kernel.h>

#include "generator/header.h"
#include "generator/kits/interface.h"

namespace ashlar::generator {

std::string jax_c_text(const ir::Kernel&, const HeaderFacts&, const KitFacts&, const std::string& header);
std::string jax_python_text(const ir::Kernel&, const HeaderFacts&, const KitFacts&);

}  // namespace ashlar::generator
