// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Loads that are the same for all points of a tile, as variables of a `let` outside of the loops that do not move them: so that
// a distance from data can stand in the bounds of a loop (interior.cpp).
//
//   for c in [0, +n)                                    let w = index(weight[r])
//     for x in [0, +8) vectorized                 ->      for c in [0, +n)
//       ... c * 8 + x - index(weight[r]) ...                if c * 8 - w >= 0 ...
//
// No load happens that the program would not do, and none reads another value: the load in the `let` has the mask that the
// program's load has at the first point of the loops, and stands outside of no loop that stores to its buffer.
#include <string>
#include <vector>

#include <ashlar/analysis/facts.h>
#include <ashlar/ir/kernel.h>

namespace ashlar::lowering {

// What stands around a tile, outermost first: loops, or branches by the condition under which they are taken.
struct Around {
  const ir::KFor* loop = nullptr;
  Where where = {};  // of the loop
  Expr condition;
  analysis::Facts facts;            // outside of it
  std::vector<ir::KLet> lets = {};  // without bodies, to be put around the loop, the first one outermost
};

class UniformLoads {
 public:
  UniformLoads(std::vector<Around>& around, ir::Kernel& kernel) : around_(around), kernel_(kernel) {}

  struct Found {
    Expr variable;  // empty: no `let` may have it
    Expr known;     // the variable has the value wherever this holds; over what stands around the tile
  };
  // `e`: an index that is read from data, with no variable of the tile in it. `happens`: the program reads it in an iteration
  // of the loops around where this holds.
  Found variable_of(const Expr& e, const Expr& happens);
  bool used(const Expr&) const;  // one of them, here
  void keep(const Expr&);        // the lets of those that are used here are to stand around their loops

 private:
  struct Made {
    Expr value, known, variable;
    std::string name;
    std::size_t level = 0;  // of `around`
    bool kept = false;
  };
  std::vector<Around>& around_;
  ir::Kernel& kernel_;
  std::vector<Made> made_;
};

// Is a buffer of a load in `e` stored to in the statements?
bool stores_what_it_reads(const std::vector<ir::KStmt>&, const Expr& e);

}  // namespace ashlar::lowering
