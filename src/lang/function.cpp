// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/lang/function.h>

#include <ashlar/ir/refusal.h>

#include <ashlar/lang/definition.h>
#include <ashlar/lang/operand_types.h>

namespace ashlar::lang {

void require_symbol(const char* symbol, const char* what, Where where) {
  if (!symbol || !is_identifier(symbol))
    refuse(what, "a symbol that is a C identifier", symbol ? "\"" + std::string(symbol) + "\"" : "none", where);
  if (std::string_view(symbol).starts_with("ashlar_"))
    refuse(what, "a symbol that does not begin with ashlar_, as those of the runtime do", symbol, where);
}

}  // namespace ashlar::lang

namespace ashlar::detail {

ir::Id declare_function(const char* symbol, std::vector<Type> parameters, Type result, void (*address)(),
                        ir::Value (*run)(void (*)(), const ir::Value*), Where where) {
  lang::require_symbol(symbol, "c_function", where);
  return ir::declare({symbol, std::move(parameters), result, address, run, where});
}

Expr call_function(ir::Id id, const Operand* operands, std::size_t count, Where where) {
  const ir::Function& f = ir::function(id);
  std::vector<Expr> list;
  for (std::size_t k = 0; k < count; ++k) list.push_back(lang::to_type(f.parameters[k], operands[k], f.symbol));
  return ir::call(id, list, where);
}

}  // namespace ashlar::detail
