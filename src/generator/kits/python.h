// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The kit for Python's arrays: of each function a C file over ashlar/runtime/python.h (-e python), which defines a method with
// a docstring, and its lines of a type stub (-e python_stub). ashlar_add_python_module (cmake/AshlarKits.cmake) makes an
// extension module of them.
#include <string>

#include <ashlar/ir/kernel.h>

#include "generator/header.h"
#include "generator/kits/interface.h"

namespace ashlar::generator {

std::string python_c_text(const ir::Kernel&, const HeaderFacts&, const std::string& header);
std::string python_stub_text(const ir::Kernel&);

}  // namespace ashlar::generator
