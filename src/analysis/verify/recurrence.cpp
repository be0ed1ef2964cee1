// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about recurrences: what is defined, and that the loops carry it out in an order it allows.
#include <algorithm>

#include <ashlar/analysis/recurrence.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/recurrence.h>

#include "analysis/verify/view.h"

namespace ashlar::analysis::verifier {

Broken stage_recurrence(const View& v) {
  for (const auto& [id, s] : v.p.stages) {
    for (std::size_t d = 0; d < s.iters.size(); ++d) {
      const bool along = std::find(s.along.begin(), s.along.end(), d) != s.along.end();
      if (along != (s.iters[d].kind == ir::IterKind::ordered)) return s.iters[d].name + " of " + s.name;
      if (s.iters[d].descending && !along && s.is_recurrence())
        return s.iters[d].name + " of " + s.name + ", which counts down";
      if (s.is_recurrence() && s.iters[d].begin.empty()) return s.name + " without a stated domain";
    }
    if (!s.is_recurrence()) continue;
    if (s.is_reduction()) return s.name + ", a reduction";
    for (std::size_t d : s.along)
      if (d >= s.iters.size()) return s.name + " along a dimension that it has not";
    for (const ir::SelfRead& r : ir::self_reads(v.p, s))
      if (!ir::lies_before(r, s.along)) return ir::text(r.load) + " in " + s.name;
  }
  return {};
}

Broken loop_ordered(const View& v) {
  const auto around = ir::recurrences_around(v.p);
  Broken broken;
  for (int k = 0; k < v.size() && broken.empty(); ++k) {
    const Stmt& nest = v.at(k);
    const NestStmt* n = nest.as<NestStmt>();
    if (!n || v.loops_before(nest)) continue;
    if (const auto it = around.find(n->stage); it != around.end())
      if (const auto found = misplaced(v.p, nest, it->second)) broken = *found;
    if (!v.p.stage(n->stage).is_recurrence()) continue;
    if (const auto found = misordered(v.p, nest))
      broken = v.name(*found->loop) + " of " + v.name(nest) + ": " + found->iterations;
  }
  return broken;
}

}  // namespace ashlar::analysis::verifier
