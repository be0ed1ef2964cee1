// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Steps that are applied though they are refused, so that a test sees what the refusal keeps away. No schedule comes about this
// way, and no kernel is made of one.
//
//   Forced f = force(state, step, target);   // vectorize of a reduction
//   f.unproved_obligations.front().owed                  // Obligation::disjoint
//   interp::run(f.state.program, args, {.races = true});   // reports the iterations that meet
#include <vector>

#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>

#include "schedule/edit.h"

namespace ashlar::schedule {

struct Forced {
  Scheduled state;
  std::vector<UnprovedObligation>
      unproved_obligations;  // in the order in which they were found; empty for a step that is legal
};

// As apply, except for obligations that are not proved. Throws RefusalError where the step cannot be carried out at all (a loop
// that is not there, a tree that has no place for what it would make); `found` then holds what was not proved before that.
Forced force(const Scheduled&, Step, const Target&, std::vector<UnprovedObligation>* found = nullptr);

const char* name_of(Obligation);  // "DISJOINT"

}  // namespace ashlar::schedule
