// Obligation of layouts: an index map sends different elements to different places.
#include <ashlar/analysis/ladder.h>

#include "schedule/legality.h"

namespace ashlar::schedule {

void prove_bijective(Context& c, const ir::Buffer& b, const std::vector<Id>& vars, const std::vector<Expr>& map) {
  analysis::Facts facts = analysis::facts_of_arguments(c.p);
  if (b.role == ir::Role::temporary) {
    const Stmt* alloc = ir::alloc_of(c.p, b.id);
    if (!alloc) throw InternalError("no alloc of " + b.name);
    facts = analysis::facts_at(c.p, alloc->id);
    const analysis::Box box = analysis::logical_box(c.p, alloc->id);
    for (std::size_t d = 0; d < vars.size(); ++d)
      facts.range(vars[d], box.lo[d], ir::sub(ir::add(box.lo[d], box.extent[d]), ir::index(1)));
  } else {
    for (std::size_t d = 0; d < vars.size(); ++d) facts.range(vars[d], ir::index(0), ir::sub(b.extents[d], ir::index(1)));
  }
  const analysis::Verdict verdict = analysis::injective(vars, map, facts);
  if (verdict) return;
  std::string shown;
  for (const Expr& e : map) shown += (shown.empty() ? "" : ", ") + ir::text(e);
  c.refuse("a map that sends different elements of " + b.name + " to different places", "(" + shown + ")", verdict.why);
}

}  // namespace ashlar::schedule
