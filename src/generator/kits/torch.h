// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The kit for PyTorch: of each operator a C file, which registers it through PyTorch's stable ABI (-e torch), and a Python
// module, which registers what that ABI cannot: fake kernels, vmap, and the derivative (-e torch_python). ashlar_add_torch_ops
// (cmake/AshlarKits.cmake) makes a library and a package of them.
//
//   mine::scale(Tensor x, float gain) -> Tensor              allocates its outputs
//   mine::scale.out(Tensor x, float gain, *, Tensor(a!) y) -> ()
//
//   mine::scale.plain                                        with --backward: the first without its derivative, for no_grad. A
//                                                            derivative costs each call some microseconds of Python
//
// A Symbol that no input's shape tells becomes a parameter of the first, `SymInt N`. Vulkan is refused.
#include <string>

#include <ashlar/ir/kernel.h>

#include "generator/header.h"
#include "generator/kits/interface.h"

namespace ashlar::generator {

std::string torch_schema(const KitInterface&, const std::string& function, bool out);
std::string torch_c_text(const ir::Kernel&, const HeaderFacts&, const KitFacts&, const std::string& header);
std::string torch_python_text(const ir::Kernel&, const HeaderFacts&, const KitFacts&);

}  // namespace ashlar::generator
