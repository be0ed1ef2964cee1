// Tables "this expression has this instruction": what the text of a kernel that stores f(x, y, z) has, and what it has not.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ashlar/ir/build.h>

#include "tests/support/text_parts.h"

namespace text_rows {

using ashlar::Expr;
using ashlar::Type;
using Formula = std::function<Expr(Expr, Expr, Expr)>;

struct Row {
  const char* what;
  Type type, result;
  Formula f;
  std::vector<const char*> with, without;
};

inline Formula bin(ashlar::ir::Op op) {
  return [op](Expr x, Expr y, Expr) { return ashlar::ir::binary(op, x, y); };
}
inline Formula un(ashlar::ir::Op op) {
  return [op](Expr x, Expr, Expr) { return ashlar::ir::unary(op, x); };
}
using text_parts::has;

inline void check(std::initializer_list<Row> rows, const std::function<std::string(Type, Type, const Formula&)>& text_of) {
  for (const Row& r : rows) {
    INFO(r.what);
    const std::string text = text_of(r.type, r.result, r.f);
    for (const char* part : r.with) CHECK_MESSAGE(has(text, part), "expected " << part << " in\n" << text);
    for (const char* part : r.without) CHECK_MESSAGE(!has(text, part), "expected no " << part << " in\n" << text);
  }
}

}  // namespace text_rows
