// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// assume(condition): what every call keeps, said by who knows. Proofs of this step's successors may use it; the entry checks it
// and refuses, by its text, a call that breaks it.
//
//   s.assume(N % 16 == 0);        split(j, 16, Tail::exact) is proved
//
// Nothing is rewritten: the program is another one, whose callers promise more.
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

void apply_assume(Context& c) {
  // match; prove: only that some call can keep it
  const Expr condition = condition_over_symbols(c);
  // rewrite
  c.p.assumptions.push_back(condition);
}

}  // namespace ashlar::schedule
