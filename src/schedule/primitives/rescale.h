// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What roll and rebase share: terms that read a maximum (or minimum), and what they are worth where it changes.
#include "schedule/edit.h"

namespace ashlar::schedule {

// A nest as its definition made it: nothing that was asked of it is lost.
void require_plain(const Context&, const ir::Stage&, const Stmt& nest);

// A term with the leader's result, and every other thing that it reads, as variables.
struct Sampled {
  Expr term, met;  // `met`: the leader's own term at the point
  Id leader = 0;
  std::vector<std::pair<Id, ashlar::Type>> others;
};
// Of the first value of `follower`, which reads the first value of `leader` at its own point: the first of its dimensions are
// those of the leader.
Sampled sampled_of(const Context&, const ir::Stage& follower, const ir::Stage& leader, ashlar::Type);

// rescale(old, now), by two variables.
struct Rescale {
  Expr factor;
  std::vector<Id> vars;
  Expr of(const Expr& old, const Expr& now) const { return ir::substitute(factor, {{vars[0], old}, {vars[1], now}}); }
};
// Argument `arg` of the step. Refused: what a saved schedule cannot hold.
Rescale rescale_of(const Context&, std::size_t arg);

// Does term(now) = term(old) * rescale(old, now) hold where old may become now? For a few values of everything. `rises`: now is
// the larger one.
void try_rescale(const Context&, const Sampled&, const Rescale&, Type, bool rises);

// rescale(old, now) as C++, a function of both.
std::string rescale_text(const Arg&);

}  // namespace ashlar::schedule
