// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The conditions under which parts of an expression are evaluated: those of the selects on a path from the root to them.
//
//   select(c, x[i], select(d, x[i - 1], 0))       x[i] under c, x[i - 1] under !c, d
//
// A node that n selects share is reached on 2^n paths. More than `most` of them are merged: two that differ only in a condition
// and its opposite become one without it; if there are still too many, only their common conditions are kept.
//
// Invariant: whenever a node is evaluated, all conditions of one of its ways hold. Conditions may be lost, but never invented.
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

// The loads below the roots, which are evaluated under `base`, each with its ways. Operands come before their uses, and every
// node is visited once.
struct ReachedLoad {
  const Expr* load;
  std::vector<Way> ways;
};
std::vector<ReachedLoad> reached_loads(std::span<const Expr* const> roots, const Way& base);

}  // namespace ashlar::ir
