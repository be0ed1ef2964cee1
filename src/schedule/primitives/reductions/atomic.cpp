// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomic(stage): steps of a reduction or scatter that run at once combine into memory by read-modify-writes that are
// indivisible, so that two of them may choose one element.
//
//   for y            parallel                          for y            parallel
//     for x                                      ->      for x
//       counts[in[y, x]] += 1     (refused)                counts[in[y, x]] atomic+= 1
//
// The steps of one element are taken in any order. Where no reduction loop runs at once nothing changes.
//
// Legality: REASSOC and commutation, exactly; a combiner and a type that the target's memory has; the init stands before all
// steps, and readers behind them (legality/atomic.cpp).
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_atomic(Context& c) {
  // match
  ir::Stage& stage = c.stage(0);
  if (stage.atomic) c.refuse("a stage that is not atomic yet", stage.name);
  // prove
  prove_memory_combines(c, stage);
  // rewrite; handles stay
  stage.atomic = true;
  const std::function<void(Stmt&)> start = [&](Stmt& s) {  // no step knows that it is the first: the init is stored in advance
    if (s.kind == Stmt::Kind::block && s.stage == stage.id) s.first_stores = false;
    for (Stmt& b : s.body) start(b);
  };
  for (Stmt& s : c.p.body) start(s);
}

}  // namespace

extern constexpr Primitive atomic_primitive{
    .name = "atomic",
    .spelling = "atomic",
    .parameters = {takes::stage()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_atomic,
    .cpp = of_stage,
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::atomic(Where w) const { return done(schedule::atomic_primitive, {Arg::stage(id_)}, w); }

}  // namespace ashlar
