// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Is an expression inside a launch the same for all threads of an aligned group?
//
//   thread / 128 < 2          over 128, 64, 32, … threads   yes
//   thread % 128 / 32         over 32 threads               yes
//   thread % 128 < 1          over 32 threads               no
//   row                       with row = block * 4 + i      yes, if the bounds of i are
//
// Structure first: an expression is uniform if its operands are; thread / c, thread < c and thread >= c are over groups of n
// where n divides c, and so with thread % d in the place of thread where n divides d. Otherwise thread = n q + r is put in, and
// the simplifier must find the same with r and with 0. What a load of shared or global memory gives is uniform if its address
// is.
#include <map>
#include <utility>
#include <vector>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/kernel.h>

namespace ashlar::analysis {

class Uniform {
 public:
  Uniform() = default;
  Uniform(const ir::Kernel& k, ir::Id thread) : k_(&k), thread_(thread) {}
  void let(ir::Id var, const Expr& value) { lets_[var] = value; }
  void loop(ir::Id var, const Expr& begin, const Expr& extent) { loops_[var] = {begin, extent}; }
  bool operator()(const Expr&, std::int64_t n);

 private:
  bool structural(const Expr&, std::int64_t n);
  bool like_thread(const Expr&, std::int64_t n) const;  // n q + thread % n, q uniform
  Expr unfolded(const Expr&) const;                     // lets replaced by their values

  const ir::Kernel* k_ = nullptr;
  ir::Id thread_ = 0;
  std::map<ir::Id, Expr> lets_;
  std::map<ir::Id, std::pair<Expr, Expr>> loops_;
  std::map<std::pair<const ir::Node*, std::int64_t>, bool> known_;
  std::vector<Expr> keep_;  // so that no node in known_ is another one
};

}  // namespace ashlar::analysis
