// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variants of a schedule and the states behind them.
#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/lang/build_program.h>

#include "schedule/primitives/primitives.h"
#include "schedule/state.h"

namespace ashlar {
namespace detail {

void ScheduleState::require_here(const char* what, Where where) const {
  if (gone) refuse(what, "a variant of this schedule", "one whose step was taken back", where);
}

const char* ScheduleState::called(const char* spelling) const {
  const char* const call = whole().transaction ? whole().transaction->call() : nullptr;
  return call ? call : spelling;
}

const std::vector<ir::Id>& ScheduleState::apply(schedule::Step step) {
  step.where = AtLine::of(step.where);
  step.call = called(nullptr);
  require_here(schedule::spelling_of(step), step.where);
  return whole().made(std::move(step), number);
}

const std::vector<ir::Id>& ScheduleState::replayed(schedule::Step step, std::size_t before) {
  require_here(schedule::spelling_of(step), step.where);
  const std::size_t in = step.variant ? before + step.variant : number;
  return whole().made(std::move(step), in);
}

const std::vector<ir::Id>& ScheduleState::made(schedule::Step step, std::size_t variant) {
  step.variant = variant;
  if (transaction && !variant) {
    schedule::Undo undo;
    schedule::apply(scheduled, std::move(step), target, undo);
    transaction->applied(std::make_shared<schedule::Undo>(std::move(undo)));
  } else {
    schedule::apply(scheduled, std::move(step), target);
  }
  mirror();
  const schedule::Step& done = scheduled.trace.back();
  if (observer) observer(observer_data, schedule::text(done), ir::text(schedule::variant(scheduled, variant).program));
  return done.results;
}

void Transaction::applied(std::shared_ptr<schedule::Undo> undo) {
  for (Transaction* t = this; t; t = t->around_)
    if (!t->before_) t->before_ = undo;
}

Transaction::~Transaction() {
  state_.transaction = around_;
  if (done_ || (!all_ && !before_)) return;
  if (all_) {
    state_.restore(std::move(*all_));
    return;
  }
  for (Transaction* t = around_; t; t = t->around_)
    if (t->before_ == before_) t->before_.reset();  // nothing has happened since they began
  schedule::Scheduled& now = state_.scheduled;
  now.program = std::move(before_->program), now.consumed = std::move(before_->consumed);
  now.trace.resize(steps_);
  now.variants.clear();
  state_.mirror();
}

namespace {
// The line that made a variant.
Where made_where(const schedule::Scheduled& s, std::size_t number) {
  std::size_t count = 0;
  for (const schedule::Step& step : s.trace)
    if (step.primitive == "specialize" && ++count == number) return step.where;
  return {};
}
}  // namespace

// The members that are neither handles nor their mirrors.
ScheduleState* ScheduleState::copied() const {
  if (general)
    refuse("specialize", "a reference to the variant: Schedule& narrow = s.specialize(...)",
           "a copy of it, whose steps nothing would take", made_at);
  auto copy = std::make_unique<ScheduleState>(
      ScheduleState{scheduled, target, buffer_of, iter_of, variable_of, algorithm, observer, observer_data});
  copy->decisions = decisions, copy->seed = seed;
  copy->mirror();
  return copy.release();
}

void ScheduleState::restore(schedule::Scheduled before) {
  scheduled = std::move(before);
  mirror();
}

void ScheduleState::mirror() {
  const std::size_t count = scheduled.variants.size();
  for (std::size_t k = count; k < mirrors.size(); ++k) {
    mirrors[k]->scheduled = {};
    mirrors[k]->gone = true;
    variants_gone.push_back(std::move(variants[k]));
  }
  mirrors.resize(std::min(count, mirrors.size()));
  variants.resize(mirrors.size());
  while (mirrors.size() < count) {
    mirrors.push_back(new ScheduleState{{}, target, buffer_of, iter_of, variable_of, algorithm});
    variants.emplace_back(new Schedule(mirrors.back()));
    mirrors.back()->general = this;
    mirrors.back()->number = mirrors.size();
    mirrors.back()->made_at = made_where(scheduled, mirrors.size());
  }
  for (std::size_t k = 0; k < count; ++k) mirrors[k]->scheduled = scheduled.variants[k];
}

ScheduleState& ScheduleState::specialized(const Expr& condition, Where where) {
  require_here("specialize", where);
  ScheduleState& all = whole();
  const auto& list = all.scheduled.variants;
  const std::vector<ir::Variant>& own = scheduled.program.variants;
  const auto same =
      std::find_if(own.begin(), own.end(), [&](const ir::Variant& v) { return ir::same(v.condition, condition); });
  if (same == own.end()) {
    schedule::Step step;
    step.primitive = "specialize";
    step.args = {schedule::Arg::map({}, {condition})};
    step.where = where;
    apply(std::move(step));
    return of(list.size());
  }
  for (std::size_t k = 0, seen = 0; k < list.size(); ++k)
    if (list[k].within == number && seen++ == static_cast<std::size_t>(same - own.begin())) return of(k + 1);
  throw InternalError("a variant without a schedule");
}

bool serves(const ScheduleState* from, ir::Id id, const ScheduleState& here) {
  const ScheduleState& all = here.whole();
  for (std::size_t number = here.number;;) {
    const ScheduleState* at = number ? all.mirrors[number - 1] : &all;
    if (at == from) return true;
    if (!number || id >= all.scheduled.variants[number - 1].begins) return false;
    number = all.scheduled.variants[number - 1].within;
  }
}

namespace {

Expr condition_of(const ScheduleState& state, const Operand& condition, Where where) {
  if (condition.is_number() || !condition.expr().type().is_bool())
    refuse("specialize", "a condition over symbols, such as N <= 8", "no condition", where);
  lang::Built names;
  names.variable_of = state.variable_of;
  return names.in_program(condition.expr(), where);
}

}  // namespace
}  // namespace detail

Schedule::Schedule(const Schedule& other) : state_(other.state_->copied()) {}
Schedule& Schedule::operator=(const Schedule& other) {
  if (this == &other) return *this;
  if (state_->general || other.state_->general)
    refuse("specialize", "a general schedule on both sides of the assignment", "a variant",
           state_->general ? state_->made_at : other.state_->made_at);
  const std::unique_ptr<detail::ScheduleState> copy(other.state_->copied());  // handles to this schedule stay handles to it
  state_->target = copy->target;
  state_->buffer_of = copy->buffer_of, state_->iter_of = copy->iter_of, state_->variable_of = copy->variable_of;
  state_->algorithm = copy->algorithm;
  state_->observer = copy->observer, state_->observer_data = copy->observer_data;
  state_->restore(copy->scheduled);
  return *this;
}

Schedule& Schedule::specialize(Operand condition, Where w) {
  detail::ScheduleState& made = state_->specialized(detail::condition_of(*state_, condition, w), w);
  return *made.general->variants[made.number - 1];
}
Stage Stage::specialize(Operand condition, Where w) const {
  return Stage(id_, &state_->specialized(detail::condition_of(*state_, condition, w), w));
}

}  // namespace ashlar
