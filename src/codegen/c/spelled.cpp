// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that C has not, as functions: the body is the operator's expansion (ashlar/ir/operation.h).
//
//   static inline int32_t halving_add_i32(int32_t a, int32_t b) {
//     return add_i32(a & b, (int32_t)((a ^ b) >> 1));
//   }
#include <ashlar/ir/operation.h>
#include <ashlar/ir/refusal.h>

#include "codegen/c/function.h"

namespace ashlar::codegen::c {

namespace {

Type held(Type t) { return t.is_index() ? i64 : t.element(); }  // an index by the integer that holds it, whose sums wrap

}  // namespace

std::string Function::spelled(ir::Op op, Type result, std::initializer_list<Type> operands) {
  const std::string of = key(operands.begin()->element());
  const std::string name = op == ir::Op::cast       ? key(result) + "_from_" + of
                           : op == ir::Op::saturate ? "saturate_" + key(result) + "_" + of
                                                    : std::string(ir::op_name(op)) + "_" + of;
  if (file.helpers.defines(name)) return name;
  Function f(file);
  f.is_helper = true;
  std::vector<Expr> parameters;
  std::string list;
  for (const Type t : operands) {
    const std::string parameter(1, static_cast<char>('a' + parameters.size()));
    parameters.push_back(ir::var(parameters.size() + 1, parameter, held(t)));
    f.bind_value(parameters.size(), parameter, held(t));
    list += (list.empty() ? "" : ", ") + value_type(t) + " " + parameter;
  }
  const Expr body = ir::expanded({op, held(result), parameters, Where{}});
  if (body.empty()) throw InternalError(std::string("codegen: ") + ir::op_name(op) + " was not expanded");
  f.prepare({&body});
  const std::string value = f.value(body);
  return file.helpers.define(
      name, "static inline " + value_type(result) + " " + name + "(" + list + ") {\n" + f.text + "  return " + value + ";\n}");
}

}  // namespace ashlar::codegen::c
