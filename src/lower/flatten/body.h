// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Expressions of block bodies: iteration variables become loop variables, loads get flat addresses, and masks where what they
// stand under may be false.
//
//   select(x > 0, A[x - 1], 0)      becomes   select(x > 0, A[x - 1 where x > 0], 0)
//
// What is proved is proved before loads get addresses: facts, boxes of storage and bounds that tables give speak of the same.
//
// A part that reads only where it is always allowed to is lowered once, whatever it stands under. Another one that stands under
// many conditions (choices that share what they choose from: there are 2^n ways to it) is lowered for some of them, and for all
// others with loads that look at their own bounds.
//
// What a condition reads is not read again under it: the arms of a choice have the load that its condition has.
//
// Invariant: a load without a mask reads inside its buffer whenever the block's uniform guards hold.
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <ashlar/analysis/simplify.h>

#include "lower/flatten/storage.h"

namespace ashlar::lowering {

class Body {
 public:
  // `values`: what the variables of the expressions stand for. `facts`: loops around the block and its uniform guards.
  // `lanes`: the guards that differ between lanes (empty: none). `place_of` finds the storage of a buffer. `lane`: the variable
  // of the vectorized loop around the block, or 0.
  Body(ir::Substitution values, const analysis::Facts& facts, Expr lanes, std::function<const Place&(ir::Id)> place_of,
       ir::Id lane = 0)
      : values_(std::move(values)), facts_(facts), lanes_(std::move(lanes)), place_of_(std::move(place_of)), lane_(lane) {}

  Expr lower(const Expr& e) { return visit(e, Expr()); }
  // Of an access, simplified; the index over the variables that `values` has, not lowered.
  Expr address(ir::Id buffer, const std::vector<Expr>& index) { return address(buffer, known(index), Expr(), false).value; }

 private:
  Expr visit(const Expr&, const Expr& mask);
  Expr visit_under(const Expr&, const Expr& mask);
  bool allowed_anywhere(const Expr&);
  Expr visit_load(const Expr&, const Expr& mask);
  Expr adds_to(const Expr& mask, const Expr& more);
  Expr read_before(const Expr& element, const Expr& mask) const;
  std::vector<Expr> known(const std::vector<Expr>& index) const;  // over loops; not lowered, as the facts are
  struct Address {
    Expr value;
    bool of_lanes = false;  // valid in active lanes only: the load needs a mask
  };
  Address address(ir::Id buffer, const std::vector<Expr>& known_index, const Expr& mask, bool loads);
  const analysis::Facts& facts_under(const Expr& mask);
  int depth_of(const Expr& mask) const;
  Expr needed_of(const Expr& mask, bool indices_do);
  bool in_bounds(const Place&, const std::vector<Expr>& index, const analysis::Facts&);  // whether its conditions hold or not

  ir::Substitution values_;
  const analysis::Facts& facts_;
  Expr lanes_;
  std::map<const ir::Node*, analysis::Facts> under_;  // masks
  std::map<const ir::Node*, Expr> of_indices_;        // by a mask: its terms, and the lanes' guards, that read nothing
  std::function<const Place&(ir::Id)> place_of_;
  ir::Id lane_;
  std::map<std::pair<const ir::Node*, const ir::Node*>, Expr> done_;
  std::unordered_map<const ir::Node*, bool> anywhere_;
  std::unordered_map<const ir::Node*, int> conditions_of_;  // under how many it was lowered
  const Expr own_bounds_ = ir::var(0, "own_bounds");        // in the place of a mask: each load looks at its own bounds
  // Loads without masks, each with the masks under which there is one; and the mask that a mask adds a condition to.
  std::unordered_map<Expr, std::vector<std::pair<const ir::Node*, Expr>>, ir::ExprHash, ir::ExprSame> read_;
  std::unordered_map<const ir::Node*, const ir::Node*> outer_;
  std::unordered_set<const ir::Node*> masks_;
  std::unordered_map<const ir::Node*, int> depth_;  // of a mask: how many conditions were added to one another
  std::vector<Expr> kept_;                          // keeps the keys alive
};

}  // namespace ashlar::lowering
