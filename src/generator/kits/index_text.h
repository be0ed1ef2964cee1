// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Index expressions in the languages of generated files. Division and modulo are to the floor, as everywhere.
//
//   index_text(N / 2 + 1, {{N, "N"}}, Syntax::c)        "(ashlar_floor_div(N, 2) + 1)"
//   index_text(N / 2 + 1, {{N, "N"}}, Syntax::python)   "((N // 2) + 1)"
#include <map>
#include <string>

#include <ashlar/ir/expr.h>

namespace ashlar::generator {

enum class Syntax { c, python };
using IndexNames = std::map<ir::Id, std::string>;  // of the variables

// Refused, in the name of `primitive`: what is not integer arithmetic.
std::string index_text(const Expr&, const IndexNames&, Syntax, const char* primitive);

}  // namespace ashlar::generator
