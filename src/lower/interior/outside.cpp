// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Outside of the interior: points one after the other where lanes would be divided by a number that is not known, or each be a
// branch, and vectors without an active lane that do not run.
#include "lower/interior/outside.h"

#include <algorithm>

#include <ashlar/analysis/simplify.h>

#include "lower/passes.h"

namespace ashlar::lowering {

using analysis::VarRange;

namespace {

// Lanes are divided by a number that is not known: no target has that in vectors, so each lane would be divided by itself,
// those that are left out as well.
bool divides_lanes(const KStmt& s, Id lane) {
  bool found = false;
  for_each_expr(s, [&](const Expr& root) {
    ir::walk(root, [&](const Expr& e) {
      if ((ir::is(e, Op::div) || ir::is(e, Op::mod)) && e.type().is_index())
        found = found || (!ir::is(ir::args_of(e)[1], Op::int_const) && ir::uses_var(ir::args_of(e)[0], lane));
      return !found;
    });
  });
  for (const auto* inside : s.bodies())
    for (const KStmt& x : *inside) found = found || divides_lanes(x, lane);
  return found;
}

// What a tile touches: is any of it in registers, or in a frame; and is there memory of elements so narrow that no instruction
// accesses a vector of them under a mask?
struct Touched {
  bool registers = false, frame = false, unmasked = false;
};

Touched touched_by(const KStmt& s, Id lane, const Outside& o) {
  Touched all;
  const auto access = [&](Id buffer, const Expr& address) {
    const auto at = o.buffers.find(buffer);
    if (at == o.buffers.end()) return;
    const ir::Storage storage = at->second.storage;
    all.registers = all.registers || storage == ir::Storage::registers;
    all.frame = all.frame || storage == ir::Storage::stack || storage == ir::Storage::registers;
    all.unmasked = all.unmasked || (at->second.type.bits < o.masked_bits && ir::uses_var(address, lane));
  };
  const auto look = [&](const auto& self, const KStmt& x) -> void {
    if (const auto* store = x.as<ir::KStore>()) access(store->buffer, store->address);
    all.registers = all.registers || x.is<ir::KCall>();
    for_each_expr(x, [&](const Expr& root) {
      ir::walk(root, [&](const Expr& e) {
        if (ir::is(e, Op::load)) access(e.node()->id, ir::args_of(e)[0]);
        return true;
      });
    });
    for (const auto* inside : x.bodies())
      for (const KStmt& k : *inside) self(self, k);
  };
  look(look, s);
  return all;
}

}  // namespace

// Computes points outside one after the other where lanes would not be faster. Registers have no address that depends on a
// loop, and memory of the frame stays in registers if no address does.
void Outside::in_turn(KStmt& s, bool few, const Facts& facts, bool chooses) const {
  if (const KFor* lanes = ir::as_loop(s, ir::LoopKind::vectorized)) {
    bool divides = divides_lanes(s, lanes->var);
    if (divides && chooses) {  // by comparing, where remainders lie near their period
      std::vector<KStmt> list{s};
      choose_remainders(list, facts);
      divides = divides_lanes(list.front(), lanes->var);
      if (!divides) s = std::move(list.front());
    }
    KFor& loop = s.get<KFor>();
    const Touched touched = touched_by(s, loop.var, *this);
    if (divides ? !touched.registers : few && touched.unmasked && !touched.frame) loop.kind = ir::LoopKind::serial;
  }
  const auto below = [&](std::vector<KStmt>& list, const Facts& known) {
    for (KStmt& k : list) in_turn(k, few, known, chooses);
  };
  Facts inner = facts;
  if (const auto* loop = s.as<KFor>()) runs(inner, *loop);
  if (auto* branch = s.as<KIf>()) {
    Facts other = facts;
    if (!has_load(branch->condition)) inner.assume(branch->condition), other.assume(ir::logic_not(branch->condition));
    below(branch->body, inner);
    below(branch->otherwise, other);
    return;
  }
  for (auto* inside : s.bodies()) below(*inside, inner);
}

// A vector none of whose lanes is active is left out, and so are unrolled ones side by side: the condition of the first lane,
// or the last one, is asked before, and the guards pass makes it a bound of the loop around.
//
//   for x in [0, +16) vectorized                 if xo * 16 < W
//     if xo * 16 + x < W  X              ->        for x in [0, +16) vectorized
//                                                    if xo * 16 + x < W  X
void skip_empty(std::vector<KStmt>& list, const Facts& facts) {
  for (KStmt& s : list) {
    auto* const loop = s.as<KFor>();
    if (!loop) {
      for (auto* inside : s.bodies()) skip_empty(*inside, facts);
      continue;
    }
    if (!is_tile(*loop)) {
      skip_empty(loop->body, inside(facts, *loop));
      continue;
    }
    std::vector<VarRange> ranges;  // innermost first
    const KStmt* at = &s;
    bool lanes = false;
    for (const KFor* tile = loop; tile && is_tile(*tile) && tile->body.size() == 1; tile = at->as<KFor>()) {
      ranges.insert(ranges.begin(), range_of(*tile));
      lanes = tile->kind == ir::LoopKind::vectorized;
      at = &tile->body.front();
    }
    const auto* guard = at->as<KIf>();
    if (!lanes || !guard || !guard->otherwise.empty() || has_collective(s)) continue;
    Expr some = ir::boolean(true);
    const auto ask = [&](const auto& self, const Expr& c) -> void {
      const auto args = ir::args_of(c);
      if (ir::is(c, Op::logic_and)) return self(self, args[0]), self(self, args[1]);
      const bool less = ir::is(c, Op::lt), greater = ir::is(c, Op::ge);
      if ((!less && !greater) || !args[0].type().is_index() || has_load(c)) return;
      if (std::none_of(ranges.begin(), ranges.end(), [&](const VarRange& r) { return ir::uses_var(c, r.id); })) return;
      const Expr slack = less ? ir::sub(ir::sub(args[1], args[0]), ir::index(1)) : ir::sub(args[0], args[1]);
      const Expr most = analysis::bounds_over(slack, ranges, facts).hi;
      if (!most.empty() && !has_load(most)) some = ir::logic_and(some, ir::ge(most, ir::index(0)));
    };
    ask(ask, guard->condition);
    some = analysis::simplify(some, facts);
    if (ir::is_int(some, 1)) continue;
    const Where where = s.where;
    std::vector<KStmt> active;
    active.push_back(std::move(s));
    s = if_stmt(some, std::move(active), where);
  }
}

}  // namespace ashlar::lowering
