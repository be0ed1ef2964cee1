// Obligations of recurrences: what a step reads is computed before it, and once.
#include <ashlar/analysis/recurrence.h>

#include "schedule/inside.h"
#include "schedule/legality.h"

namespace ashlar::schedule {

void prove_recurrence(Context& c, const Stmt& nest) {
  const ir::Stage& stage = c.p.stage(nest.stage);
  const auto found = analysis::misordered(c.p, nest);
  if (!found) return;
  const Stmt& loop = *found->loop;
  const std::string& name = c.p.axis(loop.axis).name;
  if (found->order)
    return c.unproved(Obligation::order, "loops of " + stage.name + " that compute " + found->read + " before its reader",
                      name_of(c.p, loop) + ", in which the reader may come first", found->iterations);
  c.unproved(Obligation::disjoint, "a loop whose iterations are independent, or one of kind serial",
             name_of(c.p, loop) + ", which is " + word(loop.loop_kind) + ", while " + stage.name + " reads " + found->read,
             found->iterations + ", of another iteration of " + name);
}

void prove_inside(Context& c, const Stmt& nest, Id recurrence) {
  const auto found = analysis::misplaced(c.p, nest, recurrence);
  if (!found) return;
  const std::string &name = c.p.stage(recurrence).name, &inside = c.p.stage(nest.stage).name;
  c.unproved(Obligation::order, inside + " inside the loops along which " + name + " runs, since each reads the other", *found,
             "a step of " + name + " reads " + inside + ", which reads the steps of " + name + " before");
}

void require_no_recurrence(const Context& c, const ir::Stage& stage, const std::string& why) {
  if (stage.is_recurrence()) c.refuse("a stage that does not read itself", stage.name + ", a recurrence" + why);
}

}  // namespace ashlar::schedule
