// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop that is a dimension of tiles (as_tile).
#include <algorithm>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {

void prove_tile(Context& c, const Stmt& loop) {
  const LoopStmt& node = loop.get<LoopStmt>();
  const Program& p = c.p;
  const ir::Stage& stage = stage_around(p, loop.id);
  if (stage.is_recurrence())
    c.refuse("a stage whose points can be computed together", stage.name + ", a recurrence, whose steps follow one another");
  if (stage.scatters()) c.refuse("a stage that stores each point once", stage.name + ", a scatter");
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
  if (!p.axis(node.axis).reduce) return prove_independent(c, loop);
  prove_reassociation(c, stage, "tiles combine terms in any order", "");
  prove_joinable(c, stage, "where a tile reaches beyond the terms");
}

}  // namespace ashlar::schedule
