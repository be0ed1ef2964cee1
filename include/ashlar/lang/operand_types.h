// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// How operands get their types; the rules stand in include/ashlar/lang/operand.h. `what` names the operation in refusals.
#include <string>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/lang/operand.h>

namespace ashlar::lang {

Expr as_expr(const Operand&, const std::string& what);             // numbers with their C++ type; refused when empty
Expr adopt(Type, const Operand& number, const std::string& what);  // a number of this type, or refused
Expr to_type(Type, const Operand&, const std::string& what);  // numbers adopt it, Exprs must have it (or be lifted to index)
// A component of a tuple: to_type, and a constant of another type stands for the number that was written, values(x, 0, 1)
// beside floats; an index for i64.
Expr component(Type, const Operand&, const std::string& what);
Expr to_index(const Operand&, const std::string& what);  // any integer
// The operands in one type, in their order.
std::vector<Expr> unify(const std::vector<const Operand*>&, const std::string& what);

void require_data_type(Type, const std::string& what, Where);  // a type this version stores and computes with

}  // namespace ashlar::lang
