// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What is assumed of a tile that lies wholly inside: interior.cpp says what a tile is, and takes it apart.
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <ashlar/analysis/interval.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/kernel.h>

#include "lower/replacing.h"
#include "lower/interior/uniform_loads.h"

namespace ashlar::lowering {

using Buffers = std::map<ir::Id, ir::KBuffer>;

bool is_tile(const ir::KFor&);          // a vectorized or unrolled loop
ir::KFor* tile_of(ir::KStmt&);          // the loop that a statement is, if that is a tile; else null
bool has_collective(const ir::KStmt&);  // threads meet in it: it must not stand under a test that threads decide differently
analysis::VarRange range_of(const ir::KFor&);

// The surroundings of a tile: the facts that hold there, and the lanes of the vectors around it. A test that differs between
// lanes would mask stores but not loads, so what is assumed holds in all lanes.
struct TileContext {
  analysis::Facts facts;
  std::vector<analysis::VarRange> lanes = {};  // innermost first
  TileContext inside(const ir::KFor&) const;
};

// What is assumed of choices whose arms both read: nothing, or that all points take the first arm, or the second. `idle`: only
// that all points of a stored choice take the arm that reads nothing.
enum class Arms { any, first, second, idle };

// The conditions of a tile that differ between its points, what each becomes inside, and the scalar inequalities under which
// all of them do. interior/assumed.cpp
class Interior {
 public:
  // `loads`: gives loads that are the same for all points the variable of a `let` outside; null: none.
  Interior(const ir::KFor& tile, const TileContext& at, Arms arms, UniformLoads* loads);
  bool anything() const { return !replaced_.empty() && !failed_; }
  bool has_equal_arms() const { return equal_arms_; }
  // Is there a stored choice with an arm that reads nothing and a condition over two variables of the loops around, such as
  // j <= t? Then whole vectors lie on that side, not just a rim.
  bool has_idle_arm(const std::vector<ir::Id>& around) const;

  // The test, over the variables around the loop; false where it can never hold.
  Expr test() const;
  // Its terms: each is to be at least 0.
  const std::vector<Expr>& slacks() const { return slacks_; }
  // The body where the test holds. Of the variables of `loads`, those that the test has.
  std::vector<ir::KStmt> body(const std::vector<ir::KStmt>&) const;

 private:
  using Seen = std::unordered_set<const ir::Node*>;
  struct Uniform {
    Expr value, variable, known;  // the variable has it where `known` holds
  };

  bool moves(const Expr&) const;
  bool reads(const Expr&);
  void loop(const ir::KFor&, bool direct);
  void gather(const std::vector<ir::KStmt>&, bool direct);
  void bottom_up(const Expr&, Seen&);
  std::vector<Expr> terms_of(const Expr&) const;
  std::optional<std::int64_t> slope(const Expr&) const;
  void steepest(const Expr&, const std::vector<Expr>& terms);
  void condition(const Expr&, bool value);
  void expression(const Expr&);
  void choice(const Expr&);
  void equal_arms(const Expr& condition);
  void stored(const Expr&);
  void uniform(const Expr&);
  bool used(const Expr& variable) const;
  void assume(const Expr& e, const Expr& equals, const std::vector<Expr>& nonnegative);
  void require(const Expr& slack);
  Expr replaced(const Expr&) const;

  const analysis::Facts& facts_;
  const Arms arms_;
  UniformLoads* const loads_;
  bool equal_arms_ = false;
  std::vector<Expr> idle_;                           // conditions of stored choices with an arm that reads nothing
  std::vector<ir::Id> points_;                       // the variables of the tile
  std::vector<ir::Id> vectors_;                      // of the vectors around the current statement, inside of the tile
  std::vector<ir::Id> other_points_;                 // of tiles below serial loops in it, which are looked at on their own
  std::unordered_map<const ir::Node*, bool> reads_;  // is there a load in it?
  std::vector<analysis::VarRange>
      ranges_;                  // of all loops from the current statement to the tile, and of the lanes around, innermost first
  std::vector<ir::Id> inner_;   // variables of these loops, and of lets in the tile
  std::vector<Expr> branches_;  // the conditions around the current statement, inside of the tile
  Replacements replaced_, values_;  // what is assumed; loads, and the variables that have them
  std::vector<Uniform> uniform_;    // the same variables
  std::unordered_map<Expr, int, ir::ExprHash, ir::ExprSame> assumed_in_;  // the loop where an expression was last looked at
  std::unordered_set<Expr, ir::ExprHash, ir::ExprSame> refused_;
  bool failed_ = false;
  int scope_ = 0, scopes_ = 0;  // the loop whose body is looked at, by number
  std::vector<Expr> slacks_;    // each >= 0 is required
};

}  // namespace ashlar::lowering
