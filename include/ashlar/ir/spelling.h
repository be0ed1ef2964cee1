// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Expands operators into others by their rows of the table (ashlar/ir/operation.h), until only operators to keep are left.
//
//   Spelling spelled([](const Applied& a) { return a.op != Op::halving_add; });
//   spelled(e)      halving_add(x, y) + z    becomes    ((x & y) + ((x ^ y) >> 1)) + z
//
// The values have the same bits. Parts that expressions share stay shared, across all calls of one Spelling.
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include <ashlar/ir/operation.h>

namespace ashlar::ir {

class Spelling {
 public:
  using Keeps = std::function<bool(const Applied&)>;
  using Values = std::function<std::optional<Interval>(const Expr&)>;  // what an integer may be, where that is known
  explicit Spelling(Keeps keeps, Values values = {}, bool subnormals = true)
      : keeps_(std::move(keeps)), values_(std::move(values)), subnormals_(subnormals) {}

  Expr operator()(const Expr&);

 private:
  Expr spell(const Expr&);

  Keeps keeps_;
  Values values_;
  bool subnormals_;  // Applied::subnormals
  std::unordered_map<const Node*, Expr> done_;
  std::vector<Expr> alive_;  // whose nodes are keys
};

}  // namespace ashlar::ir
