// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/interior/uniform_loads.h"

#include <algorithm>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

#include "lower/passes.h"

namespace ashlar::lowering {

namespace {

std::set<Id> buffers_read(const Expr& e) {
  std::set<Id> buffers;
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, Op::load)) buffers.insert(x.node()->id);
    return true;
  });
  return buffers;
}

bool stores_to(const std::vector<KStmt>& list, const std::set<Id>& buffers) {
  for (const KStmt& s : list) {
    if (const auto* store = s.as<ir::KStore>(); store && buffers.count(store->buffer)) return true;
    if (const auto* call = s.as<ir::KCall>())  // which operand is written, its description says: all count
      for (const ir::Call::Actual& a : call->actuals)
        if (buffers.count(a.buffer)) return true;
    for (const auto* inside : s.bodies())
      if (stores_to(*inside, buffers)) return true;
  }
  return false;
}

// Every load in it under one more condition.
Expr where(const Expr& e, const Expr& condition) {
  if (ir::is_int(condition, 1)) return e;
  return ir::transform(e, [&](const Expr& x) {
    if (!ir::is(x, Op::load)) return x;
    const auto args = ir::args_of(x);
    const Expr mask = args.size() > 1 ? ir::logic_and(condition, args[1]) : condition;
    return ir::load(x.node()->id, x.node()->name, x.type(), std::vector<Expr>{args[0], mask}, x.node()->where);
  });
}

std::string name_of_load(const Expr& e) {
  std::string name = "uniform";
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, Op::load)) name = std::string(x.node()->name) + "_here";
    return !ir::is(x, Op::load);
  });
  return name;
}

}  // namespace

bool stores_what_it_reads(const std::vector<KStmt>& list, const Expr& e) { return stores_to(list, buffers_read(e)); }

// Moves outward while nothing changes the value or what it depends on. If the loops on the way have iterations, the first
// ones are the only point at which the program certainly reads the value.
UniformLoads::Found UniformLoads::variable_of(const Expr& e, const Expr& happens) {
  Expr known = happens, there;
  std::optional<std::size_t> level;
  for (std::size_t k = around_.size(); k-- > 0;) {
    const Around& a = around_[k];
    if (!a.loop) {
      if (a.condition.empty() || has_load(a.condition)) break;
      known = ir::logic_and(a.condition, known);
      continue;
    }
    const ir::KFor& loop = *a.loop;
    if (loop.kind != ir::LoopKind::serial || ir::uses_var(e, loop.var) || has_load(loop.begin) || has_load(loop.extent) ||
        stores_what_it_reads(loop.body, e))
      break;
    known = ir::logic_and(ir::gt(loop.extent, ir::index(0)), ir::substitute(known, {{loop.var, loop.begin}}));
    level = k, there = known;
  }
  if (!level) return {};
  there = analysis::simplify(there, around_[*level].facts);
  if (ir::is_int(there, std::int64_t{0})) return {};
  const Expr value = where(e, there);
  for (const Made& m : made_)
    if (m.level == *level && ir::same(m.value, value)) return {m.variable, m.known};
  for (const ir::KLet& let : around_[*level].lets)
    if (ir::same(let.value, value)) return {ir::var(let.var, let.name), there};
  Made made{value, there, {}, name_of_load(e), *level};
  made.variable = ir::var(kernel_.fresh(), made.name);
  made_.push_back(made);
  return {made.variable, there};
}

bool UniformLoads::used(const Expr& e) const {
  const auto uses = [&](Id v) { return ir::uses_var(e, v); };
  return std::any_of(made_.begin(), made_.end(), [&](const Made& m) { return uses(m.variable.node()->id); }) ||
         std::any_of(around_.begin(), around_.end(), [&](const Around& a) {
           return std::any_of(a.lets.begin(), a.lets.end(), [&](const ir::KLet& let) { return uses(let.var); });
         });
}

void UniformLoads::keep(const Expr& e) {
  for (Made& m : made_) {
    if (m.kept || !ir::uses_var(e, m.variable.node()->id)) continue;
    around_[m.level].lets.push_back({m.variable.node()->id, m.name, m.value});
    m.kept = true;
  }
}

}  // namespace ashlar::lowering
