// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The kit for C++: a header with a function over views (ashlar/runtime/views.h), in a namespace, that calls the C entry (-e
// cpp).
//
//   mine::row_norm(x, w, y);                       throws
//   mine::row_norm(std::nothrow, x, w, y)          returns what went wrong
#include <string>

#include <ashlar/ir/kernel.h>

#include "generator/header.h"

namespace ashlar::generator {

std::string cpp_text(const ir::Kernel&, const HeaderFacts&, const std::string& ns, const std::string& header);

}  // namespace ashlar::generator
