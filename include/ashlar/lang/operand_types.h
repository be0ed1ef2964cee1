// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// How operands get their types, by the rules in lang/operand.h. `what` names the operation in refusals.
#include <string>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/lang/operand.h>

namespace ashlar::lang {

Expr as_expr(const Operand&, const std::string& what);             // a number gets its C++ type; an empty Expr is refused
Expr adopt(Type, const Operand& number, const std::string& what);  // a number in this type; refused if it does not fit
Expr to_type(Type, const Operand&, const std::string& what);       // numbers adopt it; an Expr has it, or becomes an index
// A component of a tuple. Like to_type, but a constant Expr of another type is adopted like the number it was written as
// (values(x, 0, 1) with floats), and an index becomes i64.
Expr component(Type, const Operand&, const std::string& what);
Expr to_index(const Operand&, const std::string& what);  // of any integer type
// The operands in one common type, in their order.
std::vector<Expr> unify(const std::vector<const Operand*>&, const std::string& what);

void require_data_type(Type, const std::string& what, Where);  // a type that elements can have; others are refused

}  // namespace ashlar::lang
