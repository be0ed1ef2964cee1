// specialize(condition): calls whose symbols keep the condition get a schedule of their own, a variant.
//
//   nest C                         where N <= 8          else
//     for j in N           ->        nest C                nest C
//       C                              for j in N            for j in N
//                                        C                     C
//
// The variant begins with the program as it stands. Its later steps may rely on the condition, those of the program that is
// left on the opposite; neither changes the other any more. What both need of their arguments is the same: the entry is one.
//
// Legality: nothing moves. Refused is a condition that leaves one of the two without calls, and one that is not over symbols.
#include "schedule/legality.h"
#include "schedule/primitives.h"

namespace ashlar::schedule {

void apply_specialize(Context& c) {
  // match
  const Expr condition = condition_over_symbols(c);
  for (const ir::Variant& v : c.p.variants)
    if (ir::same(v.condition, condition)) c.refuse("a condition without a variant yet", ir::text(condition));
  // prove
  if (analysis::can_prove(condition, analysis::facts_of_arguments(c.p)))
    c.refuse("a condition that some call breaks", ir::text(condition) + ", which always holds");
  // rewrite
  ir::Variant variant{condition, c.p.assumptions.size(), nullptr, c.step.where};
  Scheduled other{c.p, {}, {}, {}};
  other.program.variants.clear();
  other.program.assumptions.push_back(condition);
  analysis::derive_regions(other.program);
  Context there{other, other.program, c.target, c.step, {}};
  prove_reads(there);  // boxes are other ones where more is known
  variant.program = std::make_shared<const ir::Program>(std::move(other.program));
  c.p.assumptions.push_back(ir::logic_not(condition));
  c.p.variants.push_back(std::move(variant));
}

}  // namespace ashlar::schedule
