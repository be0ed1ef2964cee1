// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/kits/index_text.h"

#include <string_view>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/refusal.h>
#include <fmt/format.h>

namespace ashlar::generator {

namespace {

std::string sign_in(Syntax syntax, std::string_view sign) {
  if (syntax == Syntax::python && sign == "&&") return "and";
  if (syntax == Syntax::python && sign == "||") return "or";
  return std::string(sign);
}

}  // namespace

std::string index_text(const Expr& e, const IndexNames& names, Syntax syntax, const char* primitive) {
  const bool c = syntax == Syntax::c;
  const auto arg = [&](std::size_t i) { return index_text(ir::args_of(e)[i], names, syntax, primitive); };
  switch (ir::op_of(e)) {
    case ir::Op::int_const:
      return fmt::format("{}", e.node()->i);
    case ir::Op::var:
      return names.at(e.node()->id);
    case ir::Op::neg:
      return fmt::format("(-{})", arg(0));
    case ir::Op::div:
      return fmt::format(fmt::runtime(c ? "ashlar_floor_div({}, {})" : "({} // {})"), arg(0), arg(1));
    case ir::Op::mod:
      return fmt::format(fmt::runtime(c ? "({0} - ashlar_floor_div({0}, {1}) * {1})" : "({0} % {1})"), arg(0), arg(1));
    case ir::Op::min:
      return fmt::format(fmt::runtime(c ? "({0} < {1} ? {0} : {1})" : "library.sym_min({0}, {1})"), arg(0), arg(1));
    case ir::Op::max:
      return fmt::format(fmt::runtime(c ? "({0} > {1} ? {0} : {1})" : "library.sym_max({0}, {1})"), arg(0), arg(1));
    case ir::Op::logic_not:
      return fmt::format(fmt::runtime(c ? "(!{})" : "(not {})"), arg(0));
    case ir::Op::select:
      return c ? fmt::format("({} ? {} : {})", arg(0), arg(1), arg(2))
               : fmt::format("({1} if {0} else {2})", arg(0), arg(1), arg(2));
    default:
      if (const char* sign = ir::operation(ir::op_of(e)).laws.sign; *sign)
        return fmt::format("({} {} {})", arg(0), sign_in(syntax, sign), arg(1));
      break;
  }
  refuse(primitive, "formulas of integer arithmetic, which generated files can hold", ir::op_name(ir::op_of(e)),
         e.node()->where);
}

}  // namespace ashlar::generator
