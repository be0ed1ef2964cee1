// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Words that generated names must avoid.
#include <string_view>

namespace ashlar::ir {

// A keyword of C or C++, or a macro that compilers define in lower case (linux, unix).
bool is_keyword(std::string_view);

}  // namespace ashlar::ir
