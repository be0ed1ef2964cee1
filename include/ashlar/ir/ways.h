// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The conditions under which parts of an expression are evaluated: those of the selects on a way from the root down to them.
//
//   select(c, x[i], select(d, x[i - 1], 0))       x[i] under c, x[i - 1] under !c, d
//
// A node that many selects share is reached on 2^n ways. More than `most` are taken together: two that differ in one condition
// and its opposite are one without it, and of those that are left then, only what all have in common is kept.
//
// Invariant: whenever a node is evaluated, all conditions of one of its ways hold. So conditions may be lost, never invented.
#include <span>
#include <unordered_map>
#include <vector>

#include <ashlar/ir/build.h>

namespace ashlar::ir {

using Way = std::vector<Expr>;  // outermost first

class Ways {
 public:
  static constexpr std::size_t most = 8;
  void add(const Way&);
  const std::vector<Way>& all() const { return ways_; }

 private:
  bool join_two();
  std::vector<Way> ways_;
};

// The loads below some roots that are evaluated under `base`, operands before what uses them, each with its ways. Every node is
// met once.
struct ReachedLoad {
  const Expr* load;
  std::vector<Way> ways;
};
std::vector<ReachedLoad> reached_loads(std::span<const Expr* const> roots, const Way& base);

}  // namespace ashlar::ir
