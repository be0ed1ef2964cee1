// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The handles of schedule.h over the steps of step.h. Composites (tile, vectorize by lanes) are several steps, all or none.
#include <ashlar/schedule/schedule.h>

#include <algorithm>
#include <memory>

#include <ashlar/ir/recurrence.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/cpp_text.h>

#include "schedule/calls.h"
#include "schedule/handles.h"
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar {

using schedule::Arg;

namespace schedule {

const char* word(Tail t) {
  static constexpr const char* names[] = {"guard", "predicate", "shift", "pad", "peel", "exact", "cover"};
  return names[static_cast<int>(t)];
}

const char* word(TileChip c) {
  static constexpr const char* names[] = {"any",   "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89",
                                          "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
  return names[static_cast<int>(c)];
}

Arg index_map(const std::vector<Expr>& vars, const std::vector<Expr>& map) {
  // numbered 1, 2, ... : what the language numbers must not reach what is saved
  std::vector<Id> ids;
  ir::Substitution numbered;
  for (std::size_t k = 0; k < vars.size(); ++k) {
    ids.push_back(k + 1);
    numbered.emplace_back(vars[k].node()->id, ir::var(k + 1, vars[k].node()->name));
  }
  std::vector<Expr> exprs;
  for (const Expr& e : map) exprs.push_back(ir::substitute(e, numbered));
  return Arg::map(std::move(ids), std::move(exprs));
}

}  // namespace schedule

// ---- loops and stages --------------------------------------------------------------------------------------------------

namespace {

[[noreturn]] void refuse_consumed(const char* what, const char* kind, const schedule::Consumed& c, Where where) {
  refuse(what, std::string("a ") + kind + " of the program as it stands", c.name + ", which " + c.reason, where);
}

const ir::Stmt& statement(const detail::ScheduleState* state, ir::Id id, const char* what, Where where) {
  if (!state) refuse(what, "a loop of a schedule", "an empty Loop, which was given no value", where);
  const auto& s = state->scheduled;
  if (const auto it = s.consumed.find(id); it != s.consumed.end()) refuse_consumed(what, "loop", it->second, where);
  const ir::Stmt* loop = ir::find(s.program, id);
  if (!loop || !loop->is<ir::LoopStmt>()) refuse(what, "a loop of this schedule", "one whose step was taken back", where);
  return *loop;
}

[[noreturn]] void refuse_became(const char* what, const ir::Program& p, const ir::Axis& axis, const ir::Stage& stage,
                                Where where) {
  std::vector<std::string> names;
  for (ir::Id n : axis.became) names.push_back(p.axis(n).name);
  refuse(what, "loops that were not consumed",
         axis.name + " of " + stage.name + ", which became " + schedule::list_names(names) + " at " +
             location(p.axis(axis.became.front()).where),
         where);
}

}  // namespace

namespace detail {

const ir::Stage& current_stage(const ScheduleState& state, ir::Id id, const char* what, Where where) {
  const auto& s = state.scheduled;
  if (const auto it = s.consumed.find(id); it != s.consumed.end()) refuse_consumed(what, "stage", it->second, where);
  const auto it = s.program.stages.find(id);
  if (it == s.program.stages.end()) refuse(what, "a stage of this schedule", "one whose step was taken back", where);
  return it->second;
}

}  // namespace detail

using detail::current_stage;

Expr Loop::extent(Where where) const {
  const ir::Stmt& s = statement(state_, id_, "extent", where);
  const ir::LoopRange r = ir::range_of(state_->scheduled.program, s);
  const Expr extent = analysis::simplify(ir::sub(r.end, r.begin), analysis::facts_of_arguments(state_->scheduled.program));
  // In the language's own variables, so that conditions may be made of it.
  return ir::transform(extent, [&](const Expr& e) {
    if (ir::is(e, ir::Op::var))
      for (const auto& [written, id] : state_->variable_of)
        if (id == e.node()->id) return ir::var(written, e.node()->name, e.type());
    return e;
  });
}
std::string_view Loop::label(Where where) const {
  const ir::Stmt& s = statement(state_, id_, "label", where);
  return state_->scheduled.program.axis(s.get<ir::LoopStmt>().axis).name;
}

StageRef::StageRef(const Stage& s) : stage_(s.id()), state_(s.state_) {}

Arg Stage::any(Loop l, const char* call, Where where) const {
  if (!l.state_) refuse(call, "a loop of a schedule", "an empty Loop, which was given no value", where);
  if (!detail::serves(l.state_, l.id_, *state_)) {
    const ir::Program& other = l.state_->scheduled.program;
    const ir::Stmt* s = ir::find(other, l.id_);
    refuse(call, "a loop of this schedule", (s ? schedule::name_of(other, *s) : std::string("a loop")) + " in another schedule",
           where);
  }
  return Arg::loop(l.id_);
}
Arg Stage::any(Loop l, const schedule::Primitive& primitive, Where where) const {
  return any(l, state_->called(primitive.spelling), where);
}

Arg Stage::own(Loop l, const schedule::Primitive& primitive, Where where) const {
  const char* const call = state_->called(primitive.spelling);
  const Arg a = any(l, call, where);
  const ir::Program& p = state_->scheduled.program;
  const ir::Stmt* s = ir::find(p, l.id_);
  if (s && s->is<ir::LoopStmt>() && schedule::stage_around(p, l.id_).id != id_)
    refuse(call, "a loop of " + current_stage(*state_, id_, call, where).name,
           schedule::name_of(p, *s) + ", which is scheduled through " + schedule::stage_around(p, l.id_).name, where);
  return a;
}

const std::vector<ir::Id>& Stage::apply(const schedule::Primitive& primitive, std::vector<Arg> args, Where where) const {
  schedule::Step step;
  step.primitive = primitive.name;
  step.args = std::move(args);
  step.where = where;
  return state_->apply(std::move(step));
}
Stage Stage::done(const schedule::Primitive& primitive, std::vector<Arg> args, Where where) const {
  apply(primitive, std::move(args), where);
  return *this;
}
Stage Stage::of_own(const schedule::Primitive& primitive, Loop l, Where where) const {
  return done(primitive, {own(l, primitive, where)}, where);
}
Stage Stage::of_any(const schedule::Primitive& primitive, Loop l, Where where) const {
  return done(primitive, {Arg::stage(id_), any(l, primitive, where)}, where);
}

const char* Stage::name() const {
  const auto& s = state_->scheduled;
  if (const auto it = s.consumed.find(id_); it != s.consumed.end()) return it->second.name.c_str();
  return s.program.stage(id_).name.c_str();
}

std::vector<Loop> Stage::roots_(bool reduce, std::optional<std::size_t> expected, Where where) const {
  const ir::Program& p = state_->scheduled.program;
  const char* what = reduce ? "reduction" : "spatial";
  const ir::Stage& stage = current_stage(*state_, id_, what, where);
  const schedule::RootLoops roots = schedule::root_loops(p, stage, reduce, init_);
  if (roots.became) refuse_became(what, p, p.axis(roots.became), stage, where);
  std::vector<Loop> loops;
  for (ir::Id id : roots.loops) loops.push_back(Loop(id, state_));
  if (expected && loops.size() != *expected)
    refuse(what,
           std::to_string(loops.size()) + (reduce ? " reduction loops of " : " spatial loops of ") + stage.name +
               ", as many as it has",
           std::to_string(*expected), where);
  return loops;
}

Loop Stage::reduction(Where where) const { return roots_(true, 1, where).front(); }

Loop Stage::loop(const Axis& axis, Where where) const {
  const ir::Program& p = state_->scheduled.program;
  const ir::Stage& stage = current_stage(*state_, id_, "loop", where);
  if (const auto it = state_->iter_of.find({id_, axis.node()->id}); it != state_->iter_of.end())
    for (const ir::Stmt* nest : ir::nests_of(p, id_))
      for (const ir::Root& r : nest->get<ir::NestStmt>().roots) {
        if (r.iter != it->second) continue;
        const ir::Axis& root = p.axis(r.axis);
        if (!root.became.empty()) refuse_became("loop", p, root, stage, where);
        return Loop(schedule::loop_over(*nest, root.id, init_), state_);
      }
  refuse("loop", "an Axis that " + stage.name + " reduces over", axis.node()->name, where);
}

std::vector<Loop> Stage::nest(Where where) const {
  const ir::Program& p = state_->scheduled.program;
  current_stage(*state_, id_, "nest", where);
  std::vector<Loop> loops;
  const auto blocks = ir::blocks_of(p, id_);
  const auto own = std::find_if(blocks.begin(), blocks.end(),
                                [&](const ir::Stmt* b) { return (b->get<ir::BlockStmt>().piece == ir::Piece::init) == init_; });
  if (own == blocks.end()) refuse("nest", "a stage whose init was taken out (decompose_init)", name(), where);
  for (const ir::Stmt* s : ir::path_to(p, (*own)->id))
    if (s->is<ir::LoopStmt>() && schedule::stage_around(p, s->id).id == id_) loops.push_back(Loop(s->id, state_));
  return loops;
}

Loop Stage::copy(Loop of, Loop peeled, Where where) const {
  any(of, "copy", where), any(peeled, "copy", where);
  const ir::Stmt& root = statement(state_, peeled.id(), "copy", where);
  const ir::Id found = schedule::copy_inside(root, of.id());
  if (!found)
    refuse("copy", "a loop with a copy inside " + std::string(peeled.label(where)), std::string(of.label(where)), where);
  return Loop(found, state_);
}

std::vector<Loop> Stage::loops(Where where) const {
  current_stage(*state_, id_, "loops", where);
  std::vector<Loop> loops;
  for (ir::Id id : schedule::all_loops(state_->scheduled.program, id_)) loops.push_back(Loop(id, state_));
  return loops;
}

Stage Stage::inside(const char* name, Where where) const {
  const ir::Program& p = state_->scheduled.program;
  const ir::Stage& stage = current_stage(*state_, id_, "inside", where);
  std::string names;
  ir::Id found = 0;
  int fitting = 0;
  for (ir::Id id : ir::stages_inside(p, stage)) {
    const std::string& its = p.stage(id).name;
    names += (names.empty() ? "" : ", ") + its;
    if (!name || its == name) found = id, ++fitting;
  }
  if (fitting != 1)
    refuse("inside",
           name ? "the name of a stage inside of " + stage.name : "one stage inside of " + stage.name + ", or its name",
           (name ? std::string(name) + "; inside are: " : std::string()) + (names.empty() ? "none" : names), where);
  return Stage(found, state_);
}

// The buffer of a tensor or of a stage's first value, as the program stands.
ir::Id Stage::buffer_of(const detail::ScheduleState& state, StageRef r, const char* what, Where where) {
  if (r.stage_) {
    if (!detail::serves(r.state_, r.stage_, state)) refuse(what, "a stage of this schedule", "one of another schedule", where);
    return current_stage(state, r.stage_, what, where).buffers.front();
  }
  state.require_here(what, where);
  const auto it = state.buffer_of.find(r.tensor_);
  if (it == state.buffer_of.end())
    refuse(what, "a tensor of this program",
           r.tensor_ ? "one that no output needs" : "an empty Tensor, which was given no value", where);
  const auto& consumed = state.scheduled.consumed;
  if (const auto gone = consumed.find(it->second); gone != consumed.end()) refuse_consumed(what, "tensor", gone->second, where);
  return it->second;
}

// ---- the schedule ----------------------------------------------------------------------------------------------------------

Schedule::Schedule(lang::Built built, const Target& target)
    : state_(new detail::ScheduleState{{std::move(built.program), {}, {}, {}},
                                       target,
                                       std::move(built.buffer_of),
                                       std::move(built.iter_of),
                                       std::move(built.variable_of)}) {
  try {
    analysis::derive_regions(state_->scheduled.program);
    schedule::Step none;
    schedule::Context c{state_->scheduled, state_->scheduled.program, target, none, {}};
    schedule::prove_order(c);
    schedule::prove_reads(c);
    state_->algorithm = std::make_shared<const ir::Program>(state_->scheduled.program);
  } catch (...) {
    delete state_;
    throw;
  }
}
Schedule::~Schedule() { delete state_; }

ir::Id Schedule::stage_of(StageRef r, const char* what, Where where) const {
  const ir::Buffer& b = state_->scheduled.program.buffer(Stage::buffer_of(*state_, r, what, where));
  if (!b.stage) refuse(what, "a tensor that is computed", b.name + ", an input (cache_read makes a stage of it)", where);
  return b.stage;
}

Stage Schedule::operator[](StageAt at) const {
  if (!detail::serves(at.stage.state_, at.stage.id_, *state_))
    refuse("schedule", "a stage of this schedule", "one of another schedule", at.where);
  return Stage(at.stage.id_, state_, at.stage.init_);
}
Stage Schedule::operator[](TensorAt t) const { return Stage(stage_of(t.tensor, "schedule", t.where), state_); }

std::optional<Refusal> Schedule::attempt_(void (*call)(void*), void* steps) {
  detail::Transaction transaction(*state_);
  try {
    call(steps);
    transaction.keep();
    return std::nullopt;
  } catch (const RefusalError& e) { return e.refusal; }
}

const Target& Schedule::target() const { return state_->target; }
const schedule::Scheduled& Schedule::scheduled() const { return state_->scheduled; }
std::string Schedule::text() const { return ir::text(state_->scheduled.program); }
std::string Schedule::json() const { return schedule::json(state_->whole().scheduled.trace); }
std::string Schedule::to_cpp(std::string_view function) const {
  return schedule::cpp_text(*state_->algorithm, state_->whole().scheduled.trace, state_->target, function).text;
}
std::uint64_t Schedule::trace_hash() const { return schedule::trace_hash(state_->whole().scheduled.trace); }
const ir::Program& Schedule::algorithm() const { return *state_->algorithm; }
std::string Schedule::trace() const {
  std::string t;
  for (const schedule::Step& s : state_->whole().scheduled.trace) t += schedule::text(s) + "\n";
  return t;
}
void Schedule::observe(void (*f)(void*, const std::string&, const std::string&), void* data) {
  state_->whole().observer = f;
  state_->whole().observer_data = data;
}

void Schedule::replay(std::string_view json, Where where) {
  detail::Transaction transaction(*state_);
  const std::size_t before = state_->whole().scheduled.variants.size();
  for (schedule::Step& step : schedule::steps_from_json(json, where)) {
    step.where = where;
    const std::string place = step.place;
    try {
      // 0 is this schedule, and 1 the first variant that the steps themselves make
      state_->replayed(std::move(step), before);
    } catch (const RefusalError& e) {
      Refusal r = e.refusal;
      r.primitive += place.empty() ? " (replayed)" : " (replayed from " + place + ")";
      throw RefusalError(r);
    }
  }
  transaction.keep();
}

}  // namespace ashlar
