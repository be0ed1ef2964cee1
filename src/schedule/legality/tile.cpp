// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop that is a dimension of tiles (as_tile).
#include <algorithm>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {

void prove_tile(Context& c, const Stmt& loop) {
  const LoopStmt& node = loop.get<LoopStmt>();
  const Program& p = c.p;
  const ir::Stage& stage = stage_around(p, loop.id);
  const auto roots = ir::roots_of(p, node.axis);
  const bool steps =
      stage.is_recurrence() && std::any_of(roots.begin(), roots.end(), [&](Id root) {
        const Id iter = p.axis(root).iter;
        return std::any_of(stage.along.begin(), stage.along.end(), [&](std::size_t d) { return stage.iters[d].id == iter; });
      });
  if (steps && stage.scan.kind == ir::ReducerKind::none)
    c.refuse("points that can be computed together, or the steps of a scan",
             name_of(p, loop) + ", steps of a recurrence that is no scan");
  const ir::LoopRange r = ir::range_of(p, loop);
  const Expr extent = analysis::simplify(ir::sub(r.end, r.begin), analysis::facts_at(p, loop.id));
  std::int64_t most = node.width + 1;
  if (const Expr bound =
          analysis::upper_bound(extent, analysis::loops_below(p, ir::path_to(p, loop.id), 0), analysis::facts_of_arguments(p));
      !bound.empty())
    ir::is_int(bound, &most);
  if (most > node.width)  // whatever the loops around do: min(.., 64)
    most = std::min(most, analysis::constant_max(extent, analysis::facts_of_arguments(p)).value_or(most));
  if (most > node.width)
    c.unproved(Obligation::capacity, "at most " + std::to_string(node.width) + " iterations",
               name_of(p, loop) + " in " + ir::text(extent));
  if (steps) {
    ir::Stage terms = stage;
    terms.reducer = stage.scan;
    prove_reassociation(c, terms, "tiles combine terms in any order", "");  // which side is the earlier one is left open
    return prove_joinable(c, terms, "where a tile reaches beyond the terms");
  }
  if (!p.axis(node.axis).reduce || stage.scatters()) return prove_independent(c, loop, true);
  prove_reassociation(c, stage, "tiles combine terms in any order", "");
  prove_joinable(c, stage, "where a tile reaches beyond the terms");
}

}  // namespace ashlar::schedule
