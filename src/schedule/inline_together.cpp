// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedule/inline_together.h>

#include <algorithm>

#include <ashlar/analysis/domains.h>
#include <ashlar/analysis/verify.h>
#include <ashlar/ir/at_line.h>

#include <ashlar/analysis/kept_boxes.h>
#include "schedule/legality/legality.h"
#include "schedule/primitives/placement/placement.h"
#include "schedule/primitives/primitives.h"
#include "schedule/state.h"

namespace ashlar::schedule {
namespace {

Step step_of(Id stage, Where where) {
  Step step;
  step.primitive = "inline";
  step.args = {Arg::stage(stage)};
  step.where = where;
  step.place = location(where);
  return step;
}

// Empty if a stage's value is put nowhere, or a stage has no reader left.
std::optional<Scheduled> inlined(const Scheduled& state, std::vector<Step>& steps, const Target& target) {
  Scheduled next{state.program, state.consumed, {}, {}};
  std::map<Id, Inlined> stages;
  for (Step& step : steps) {
    Context c{next, next.program, target, step, {}};
    const ir::Stage stage = inlined_stage(c);
    stages.emplace(stage.buffers.front(), Inlined{stage});
    step.text = call_text(state, step);
  }
  Context last{next, next.program, target, steps.back(), {}};
  inline_into_readers(last, stages);
  for (const Step& step : steps) {
    Context c{next, next.program, target, step, {}};
    const ir::Stage& stage = next.program.stage(step.args.front().id);
    if (!stages.at(stage.buffers.front()).read) return {};
    drop_stage(c, ir::Stage(stage), "was inlined");
  }
  if (unread(next.program)) return {};
  prove_order(last);
  if (target.is_gpu())
    analysis::derive_regions(next.program);
  else
    analysis::derive_regions(next.program, state.program, 0);
  recheck(last, &state.program);
  analysis::verify(next.program, "inline", &state.program);
  return next;
}

}  // namespace

bool inline_together(Schedule& s, const std::vector<Id>& stages, Where where) {
  detail::ScheduleState& state = detail::ScheduleState::of(s);
  if (stages.empty() || state.general || state.observer || !state.scheduled.variants.empty()) return false;
  if (!analysis::symbolic_pad(state.scheduled.program).empty()) return false;
  const Where line = AtLine::of(where);
  std::vector<Step> steps;
  for (const Id id : stages) steps.push_back(step_of(id, line));
  std::optional<Scheduled> next;
  try {
    next = inlined(state.scheduled, steps, state.target);
  } catch (const RefusalError&) { return false; }  // the steps one by one say which, and why
  if (!next) return false;
  std::swap(state.scheduled.program, next->program);
  std::swap(state.scheduled.consumed, next->consumed);
  if (state.transaction)
    state.transaction->applied(std::make_shared<Undo>(Undo{std::move(next->program), std::move(next->consumed)}));
  std::move(steps.begin(), steps.end(), std::back_inserter(state.scheduled.trace));
  return true;
}

}  // namespace ashlar::schedule
