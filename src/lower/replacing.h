// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Replaces expressions in statements.
//
// Invariant: an expression is looked up before the one around it is rebuilt, so keys match the expressions as written.
#include <unordered_map>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/kernel.h>

namespace ashlar::lowering {

using Replacements = std::unordered_map<Expr, Expr, ir::ExprHash, ir::ExprSame>;

class Replacing {
 public:
  explicit Replacing(const Replacements& by) : by_(by) {}
  Expr operator()(const Expr&);
  // Masks that hold are left out, and so are branches that are not taken.
  std::vector<ir::KStmt> operator()(const std::vector<ir::KStmt>&);

 private:
  const Replacements& by_;
  std::unordered_map<const ir::Node*, Expr> done_;
  std::vector<Expr> keep_;  // keeps the keys alive
};

}  // namespace ashlar::lowering
