// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Obligations of layouts: an index map sends different elements to different places, within storage that has a bound.
#include <algorithm>

#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/layout.h>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {

namespace {

std::string shown(const std::vector<Expr>& map) {
  std::string text;
  for (const Expr& e : map) text += (text.empty() ? "" : ", ") + ir::text(e);
  return "(" + text + ")";
}

struct Domain {  // of a buffer's logical indices
  analysis::Facts facts;
  analysis::IndexBox box;
  std::vector<analysis::VarRange> ranges;
};

Domain domain_of(const Context& c, const ir::Buffer& b, const Stmt* alloc, const std::vector<Id>& vars) {
  Domain d{analysis::facts_of_arguments(c.p), {}, {}};
  const auto add = [&](Id var, const Expr& lo, const Expr& extent) {
    d.box.lo.push_back(lo);
    d.box.extent.push_back(extent);
    d.ranges.push_back({var, {lo, ir::sub(ir::add(lo, extent), ir::index(1))}});
  };
  if (b.role == ir::Role::temporary) {
    if (!alloc) throw InternalError("no alloc of " + b.name);
    d.facts = analysis::facts_at(c.p, alloc->id);
    const analysis::Box box = analysis::logical_box(c.p, alloc->id);
    for (std::size_t k = 0; k < vars.size(); ++k) add(vars[k], box.lo[k], box.extent[k]);
  } else {
    for (std::size_t k = 0; k < vars.size(); ++k) add(vars[k], ir::index(0), b.extents[k]);
  }
  return d;
}

void prove_on(Context& c, const ir::Buffer& b, const Stmt* alloc, const std::vector<Id>& vars, const std::vector<Expr>& map) {
  if (analysis::injective_by_structure(vars, map)) return;  // and its coordinates have bounds wherever the indices have
  const Domain d = domain_of(c, b, alloc, vars);
  for (const Expr& e : map)
    if (!analysis::bounds_over(e, d.ranges, d.facts).bounded())
      c.refuse("a map whose coordinates have bounds over the symbols", ir::text(e));
  const analysis::Verdict verdict = analysis::injective_on(vars, map, d.box, d.facts);
  if (verdict) return;
  c.unproved(Obligation::biject, "a map that sends different elements of " + b.name + " to different places", shown(map),
             verdict.why);
}

}  // namespace

void prove_bijective(Context& c, const ir::Buffer& b, const std::vector<Id>& vars, const std::vector<Expr>& map) {
  prove_on(c, b, ir::alloc_of(c.p, b.id), vars, map);
}

void prove_bijective(Context& c, const Stmt& alloc) {
  const ir::Buffer& b = c.p.buffer(alloc.get<AllocStmt>().buffer);
  // A coordinate v % n that alone holds v is a ring (prove_fold), and so is none at all; beside them the map is injective.
  const ir::Layout& l = b.layout;
  std::vector<Expr> map = l.map;
  for (const Id v : l.vars) {
    const auto uses = std::count_if(l.map.begin(), l.map.end(), [&](const Expr& e) { return ir::uses_var(e, v); });
    if (uses == 0) map.push_back(ir::var(v, ""));
    for (std::size_t k = 0; k < l.map.size() && uses == 1; ++k) {
      const Expr& e = l.map[k];
      if (ir::is(e, ir::Op::mod) && ir::is(ir::args_of(e)[0], ir::Op::var) && ir::args_of(e)[0].node()->id == v)
        map[k] = ir::args_of(e)[0];
    }
  }
  prove_on(c, b, &alloc, l.vars, map);
}

void prove_within(Context& c, const ir::Buffer& b, const std::vector<Expr>& extents) {
  const Stmt* alloc = ir::alloc_of(c.p, b.id);
  const std::vector<Expr> needed = analysis::storage_extents(c.p, alloc->id);
  const analysis::Facts facts = analysis::facts_of_arguments(c.p);
  for (std::size_t k = 0; k < extents.size(); ++k) {
    if (extents[k].empty() || needed[k].empty())
      c.refuse("storage of " + b.name + " with a bound over the symbols", "a box that has none");
    const analysis::Proof fits = analysis::prove(ir::le(needed[k], extents[k]), facts);
    if (!fits)
      c.refuse("a permutation of the stored elements: dimension " + std::to_string(k) + " of " + b.name + " holds " +
                   ir::text(extents[k]),
               ir::text(b.layout.map[k]) + ", which needs " + ir::text(needed[k]), fits.why);
  }
}

}  // namespace ashlar::schedule
