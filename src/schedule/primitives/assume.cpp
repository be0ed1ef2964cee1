// assume(condition): what every call keeps, said by who knows. Proofs of this step's successors may use it; the entry checks it
// and refuses, by its text, a call that breaks it.
//
//   s.assume(N % 16 == 0);        split(j, 16, Tail::exact) is proved
//
// Nothing is rewritten: the program is another one, whose callers promise more.
#include "schedule/legality.h"
#include "schedule/primitives.h"

namespace ashlar::schedule {

void apply_assume(Context& c) {
  // match
  const Arg& arg = c.expect(0, Arg::Kind::exprs, "a condition");
  if (arg.exprs.size() != 1 || !arg.exprs.front().type().is_bool()) c.refuse("one condition", "something else");
  const Expr condition = over_symbols(c, arg.exprs.front(), "a condition");
  if (ir::free_vars(condition).empty()) c.refuse("a condition over symbols", ir::text(condition));
  // prove: only that some call can keep it
  const analysis::Facts facts = analysis::facts_of_arguments(c.p);
  if (analysis::can_prove(ir::logic_not(condition), facts))
    c.refuse("a condition that some call can keep", ir::text(condition) + ", which is never true");
  // rewrite
  c.p.assumptions.push_back(condition);
}

}  // namespace ashlar::schedule
