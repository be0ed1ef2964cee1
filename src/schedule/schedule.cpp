// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The handles of schedule.h over the steps of step.h. Composites (tile, vectorize by lanes) are several steps, all or none.
#include <ashlar/schedule/schedule.h>

#include <algorithm>
#include <memory>

#include <ashlar/ir/recurrence.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/cpp_text.h>

#include "schedule/handles.h"
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"
#include "schedule/state.h"

namespace ashlar {

using schedule::Arg;

namespace detail {

namespace {

const char* word(Tail t) {
  static constexpr const char* names[] = {"guard", "predicate", "shift", "pad", "peel", "exact"};
  return names[static_cast<int>(t)];
}

Arg index_map(const std::vector<Expr>& vars, const std::vector<Expr>& map) {
  // numbered 1, 2, ... : what the language numbers must not reach what is saved
  std::vector<ir::Id> ids;
  ir::Substitution numbered;
  for (std::size_t k = 0; k < vars.size(); ++k) {
    ids.push_back(k + 1);
    numbered.emplace_back(vars[k].node()->id, ir::var(k + 1, vars[k].node()->name));
  }
  std::vector<Expr> exprs;
  for (const Expr& e : map) exprs.push_back(ir::substitute(e, numbered));
  return Arg::map(std::move(ids), std::move(exprs));
}

}  // namespace
}  // namespace detail

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
  if (!loop || loop->kind != ir::Stmt::Kind::loop)
    refuse(what, "a loop of this schedule", "one whose step was taken back", where);
  return *loop;
}

const ir::Stage& standing(const detail::ScheduleState& state, ir::Id id, const char* what, Where where) {
  const auto& s = state.scheduled;
  if (const auto it = s.consumed.find(id); it != s.consumed.end()) refuse_consumed(what, "stage", it->second, where);
  const auto it = s.program.stages.find(id);
  if (it == s.program.stages.end()) refuse(what, "a stage of this schedule", "one whose step was taken back", where);
  return it->second;
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
  return state_->scheduled.program.axis(s.axis).name;
}

StageRef::StageRef(const Stage& s) : stage_(s.id()), state_(s.state_) {}

Arg Stage::any(Loop l, const char* primitive, Where where) const {
  if (!l.state_) refuse(primitive, "a loop of a schedule", "an empty Loop, which was given no value", where);
  if (!detail::serves(l.state_, l.id_, *state_)) {
    const ir::Program& other = l.state_->scheduled.program;
    const ir::Stmt* s = ir::find(other, l.id_);
    refuse(primitive, "a loop of this schedule",
           (s ? schedule::name_of(other, *s) : std::string("a loop")) + " in another schedule", where);
  }
  return Arg::loop(l.id_);
}

Arg Stage::own(Loop l, const char* primitive, Where where) const {
  const Arg a = any(l, primitive, where);
  const ir::Program& p = state_->scheduled.program;
  const ir::Stmt* s = ir::find(p, l.id_);
  if (s && s->kind == ir::Stmt::Kind::loop && schedule::nest_of(p, l.id_).stage != id_)
    refuse(primitive, "a loop of " + standing(*state_, id_, primitive, where).name,
           schedule::name_of(p, *s) + ", which is scheduled through " + p.stage(schedule::nest_of(p, l.id_).stage).name, where);
  return a;
}

const std::vector<ir::Id>& Stage::apply(const char* primitive, std::vector<Arg> args, Where where) const {
  schedule::Step step;
  step.primitive = primitive;
  step.args = std::move(args);
  step.where = where;
  return state_->apply(std::move(step));
}

const char* Stage::name() const {
  const auto& s = state_->scheduled;
  if (const auto it = s.consumed.find(id_); it != s.consumed.end()) return it->second.name.c_str();
  return s.program.stage(id_).name.c_str();
}

std::vector<Loop> Stage::roots_(bool reduce, std::optional<std::size_t> expected, Where where) const {
  const ir::Program& p = state_->scheduled.program;
  const char* what = reduce ? "reduction" : "spatial";
  const ir::Stage& stage = standing(*state_, id_, what, where);
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
  const ir::Stage& stage = standing(*state_, id_, "loop", where);
  if (const auto it = state_->iter_of.find({id_, axis.node()->id}); it != state_->iter_of.end())
    for (const ir::Stmt* nest : ir::nests_of(p, id_))
      for (const ir::Root& r : nest->roots) {
        if (r.iter != it->second) continue;
        const ir::Axis& root = p.axis(r.axis);
        if (!root.became.empty()) refuse_became("loop", p, root, stage, where);
        return Loop(schedule::loop_over(*nest, root.id, init_), state_);
      }
  refuse("loop", "an Axis that " + stage.name + " reduces over", axis.node()->name, where);
}

std::vector<Loop> Stage::nest(Where where) const {
  const ir::Program& p = state_->scheduled.program;
  standing(*state_, id_, "nest", where);
  std::vector<Loop> loops;
  const auto blocks = ir::blocks_of(p, id_);
  const auto own = std::find_if(blocks.begin(), blocks.end(),
                                [&](const ir::Stmt* b) { return (b->piece == ir::Stmt::Piece::init) == init_; });
  if (own == blocks.end()) refuse("nest", "a stage whose init was taken out (decompose_init)", name(), where);
  for (const ir::Stmt* s : ir::path_to(p, (*own)->id))
    if (s->kind == ir::Stmt::Kind::loop && schedule::nest_of(p, s->id).stage == id_) loops.push_back(Loop(s->id, state_));
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
  standing(*state_, id_, "loops", where);
  std::vector<Loop> loops;
  for (ir::Id id : schedule::all_loops(state_->scheduled.program, id_)) loops.push_back(Loop(id, state_));
  return loops;
}

Stage Stage::inside(const char* name, Where where) const {
  const ir::Program& p = state_->scheduled.program;
  const ir::Stage& stage = standing(*state_, id_, "inside", where);
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

// ---- primitives ------------------------------------------------------------------------------------------------------------

Split Stage::split(Loop l, Factor f, Tail tail, Where w) const {
  const auto& r = apply("split", {own(l, "split", w), Arg::integer(f.value()), Arg::text(detail::word(tail))}, w);
  return {Loop(r[0], state_), Loop(r[1], state_)};
}
Split Stage::split(Loop l, Parts parts, Tail tail, Where w) const {
  const auto& r =
      apply("split_parts", {own(l, "split_parts", w), Arg::integer(parts.count.value()), Arg::text(detail::word(tail))}, w);
  return {Loop(r[0], state_), Loop(r[1], state_)};
}
Loop Stage::fuse(Loop outer, Loop inner, Where w) const {
  return Loop(apply("fuse", {own(outer, "fuse", w), own(inner, "fuse", w)}, w)[0], state_);
}
Loop Stage::skew(Loop along, Loop l, Factor by, Where w) const {
  return Loop(apply("skew", {own(along, "skew", w), own(l, "skew", w), Arg::integer(by.value())}, w)[0], state_);
}
Tiles Stage::tile(Loop i, Loop j, Factor fi, Factor fj, Tail tail, Where w) const {
  detail::Together together(*state_);
  const Split a = split(i, fi, tail, w), b = split(j, fj, tail, w);
  const Loop loops[] = {a.outer, b.outer, a.inner, b.inner};
  reorder(loops, w);
  together.keep();
  return {a.outer, b.outer, a.inner, b.inner};
}
Stage Stage::reorder(std::span<const Loop> loops, Where w) const {
  std::vector<Arg> args;
  for (const Loop& l : loops) args.push_back(own(l, "reorder", w));
  apply("reorder", std::move(args), w);
  return *this;
}
Loop Stage::peel(Loop l, Peel which, Where w) const {
  return Loop(apply("peel", {own(l, "peel", w), Arg::text(which == Peel::first ? "first" : "last")}, w)[0], state_);
}
Ends Stage::peel(Loop l, Where w) const {
  const auto& r = apply("peel", {own(l, "peel", w), Arg::text("both")}, w);
  return {Loop(r[0], state_), Loop(r[1], state_)};
}
Loop Stage::partition(Loop l, Operand at, Where w) const {
  if (at.is_number() ? at.number_type().is_float() || at.number_type().is_bool() : !at.expr().type().is_index())
    refuse("partition", "a point that counts iterations: an integer, or an Expr over symbols",
           at.is_number() ? "a floating number or bool" : "one of " + ir::text(at.expr().type()), w);
  lang::Built names;
  names.variable_of = state_->variable_of;
  const Expr point = at.is_number() ? ir::index(at.integer()) : names.in_program(at.expr(), w);
  return Loop(apply("partition", {own(l, "partition", w), Arg::map({}, {point})}, w)[0], state_);
}
std::vector<Stage> Stage::distribute_(std::size_t expected, Where w) const {
  detail::Together together(*state_);
  std::vector<Stage> sums;
  for (const ir::Id id : apply("distribute", {Arg::stage(id_)}, w)) sums.push_back(Stage(id, state_));
  if (sums.size() != expected)
    refuse("distribute",
           std::to_string(sums.size()) + (sums.size() == 1 ? " sum" : " sums") + ", which the term has multiplied out",
           std::to_string(expected) + " asked for", w);
  together.keep();
  return sums;
}
std::array<Expr, 2> Stage::values_of_(StageRef r, Where w) const {
  const Type type = state_->scheduled.program.buffer(buffer_of(*state_, r, "roll", w)).type;
  return {ir::var(ir::fresh_id(), "old", type), ir::var(ir::fresh_id(), "now", type)};
}
Stage Stage::roll_(StageRef r, const std::array<Expr, 2>& values, const Expr& rescale, Where w) const {
  const ir::Id leader = state_->scheduled.program.buffer(buffer_of(*state_, r, "roll", w)).stage;
  if (!leader) refuse("roll", "a maximum or minimum that leads", "an input", w);
  if (rescale.empty()) refuse("roll", "a rescale of two values", "nothing", w);
  const Type type = values[0].type();
  const Expr f = ir::substitute(
      rescale, {{values[0].node()->id, ir::var(1, "old", type)}, {values[1].node()->id, ir::var(2, "now", type)}});
  bool others = false;
  ir::walk(f, [&](const Expr& e) { return others = others || ir::is(e, ir::Op::load), !others; });
  for (const ir::Id v : ir::free_vars(f)) others = others || v > 2;
  if (others) refuse("roll", "a rescale of its two values alone", ir::text(rescale), w);
  return Stage(apply("roll", {Arg::stage(id_), Arg::stage(leader), Arg::map({1, 2}, {f})}, w)[0], state_);
}
Stage Stage::unroll_and_jam(Loop l, Where w) const { return apply("unroll_and_jam", {own(l, "unroll_and_jam", w)}, w), *this; }
Stage Stage::reverse(Loop l, Where w) const { return apply("reverse", {own(l, "reverse", w)}, w), *this; }
Stage Stage::tighten(Loop l, Where w) const { return apply("tighten", {own(l, "tighten", w)}, w), *this; }
Stage Stage::vectorize(Loop l, Where w) const { return apply("vectorize", {own(l, "vectorize", w)}, w), *this; }
Stage Stage::unroll(Loop l, Where w) const { return apply("unroll", {own(l, "unroll", w)}, w), *this; }
Stage Stage::parallel(Loop l, Where w) const { return apply("parallel", {own(l, "parallel", w)}, w), *this; }
Stage Stage::vectorize(Loop l, Factor lanes, Where w) const {
  detail::Together together(*state_);
  const ir::Id inner =
      apply("split", {own(l, "vectorize", w), Arg::integer(lanes.value()), Arg::text("guard"), Arg::text("keep")}, w)[1];
  apply("vectorize", {Arg::loop(inner)}, w);
  together.keep();
  return *this;
}
Stage Stage::vectorize(Loop l, Scalable lanes, Where w) const {
  detail::Together together(*state_);
  const ir::Id inner = apply(
      "split",
      {own(l, "vectorize", w), Arg::integer(lanes.lanes.value()), Arg::text("guard"), Arg::text("keep"), Arg::text("scalable")},
      w)[1];
  apply("vectorize", {Arg::loop(inner)}, w);
  together.keep();
  return *this;
}
Stage Stage::unroll(Loop l, Factor by, Where w) const {
  detail::Together together(*state_);
  const ir::Id inner =
      apply("split", {own(l, "unroll", w), Arg::integer(by.value()), Arg::text("guard"), Arg::text("keep")}, w)[1];
  apply("unroll", {Arg::loop(inner)}, w);
  together.keep();
  return *this;
}
Stage Stage::bind(Loop l, ThreadAxis a, Where w) const {
  return apply("bind", {own(l, "bind", w), Arg::text(ir::text(a))}, w), *this;
}
Stage Stage::vthread(Loop l, Where w) const { return apply("vthread", {own(l, "vthread", w)}, w), *this; }
Stage Stage::cross_thread_reduce(Loop l, Where w) const {
  return apply("cross_thread_reduce", {own(l, "cross_thread_reduce", w)}, w), *this;
}
Stage Stage::pipeline(Loop l, const Async& how, Where w) const {
  std::vector<Arg> args{own(l, "pipeline", w), Arg::integer(how.stages), Arg::integer(how.async_copy ? 1 : 0)};
  for (const Stage& load : how.loads) {
    if (!detail::serves(load.state_, load.id_, *state_))
      refuse("pipeline", "a stage of this schedule", "one of another schedule", w);
    args.push_back(Arg::stage(standing(*state_, load.id_, "pipeline", w).id));
  }
  apply("pipeline", std::move(args), w);
  return *this;
}
Stage Stage::double_buffer(Where w) const { return apply("double_buffer", {Arg::stage(id_)}, w), *this; }
Stage Stage::compute_at(Loop l, Where w) const {
  return apply("compute_at", {Arg::stage(id_), any(l, "compute_at", w)}, w), *this;
}
Stage Stage::compute_root(Where w) const { return apply("compute_root", {Arg::stage(id_)}, w), *this; }
Stage Stage::inline_(Where w) const { return apply("inline", {Arg::stage(id_)}, w), *this; }
Stage Stage::fuse_siblings(Loop l, Where w) const {
  return apply("fuse_siblings", {Arg::stage(id_), any(l, "fuse_siblings", w)}, w), *this;
}
Stage Stage::fuse_into(Loop l, Where w) const {
  return apply("fuse_into", {Arg::stage(id_), any(l, "fuse_into", w)}, w), *this;
}
Stage Stage::store_at(Loop l, Where w) const { return apply("store_at", {Arg::stage(id_), any(l, "store_at", w)}, w), *this; }
Stage Stage::slide(Loop l, Where w) const { return apply("slide", {Arg::stage(id_), any(l, "slide", w)}, w), *this; }
Stage Stage::fold(int dim, Factor n, Where w) const {
  return apply("fold", {Arg::stage(id_), Arg::integer(dim), Arg::integer(n.value())}, w), *this;
}
Stage Stage::store_in(Scope scope, Where w) const { return apply("set_scope", {Arg::stage(id_), Arg::place(scope)}, w), *this; }
Stage Stage::align(int dim, Factor to, Where w) const {
  return apply("align", {Arg::stage(id_), Arg::integer(dim), Arg::integer(to.value())}, w), *this;
}
Stage Stage::widen(Type t, Where w) const { return apply("widen", {Arg::stage(id_), Arg::text(ir::text(t))}, w), *this; }
Stage Stage::atomic(Where w) const { return apply("atomic", {Arg::stage(id_)}, w), *this; }
Stage Stage::stream_store(Where w) const { return apply("stream_store", {Arg::stage(id_)}, w), *this; }
Stage Stage::set_layout_(const std::vector<Expr>& vars, const std::vector<Expr>& map, Where w) const {
  return apply("set_layout", {Arg::stage(id_), detail::index_map(vars, map)}, w), *this;
}
Stage Stage::swizzle_(const std::vector<Expr>& vars, const std::vector<Expr>& map, Where w) const {
  return apply("swizzle", {Arg::stage(id_), detail::index_map(vars, map)}, w), *this;
}
Stage Stage::drop_dim(int component, int dim, Where w) const {
  return apply("drop_dim", {Arg::stage(id_), Arg::integer(component), Arg::integer(dim)}, w), *this;
}
Stage Stage::pad(int dim, Factor by, Where w) const {
  const ir::Program& p = state_->scheduled.program;
  const ir::Stage& stage = standing(*state_, id_, "pad", w);
  if (dim < 1 || dim >= stage.spatial_rank())
    refuse("pad", "a dimension of " + stage.name + " with one outside of it, 1 to " + std::to_string(stage.spatial_rank() - 1),
           std::to_string(dim), w);
  if (by.value() < 1) refuse("pad", "at least 1 element", std::to_string(by.value()), w);
  const ir::Stmt* alloc = ir::alloc_of(p, stage.buffers.front());
  if (!alloc) refuse("pad", "a stage with storage of its own (cache_write gives an output one)", stage.name, w);
  const Expr extent = analysis::storage_extents(p, alloc->id).at(static_cast<std::size_t>(dim));
  std::int64_t row = 0;
  if (extent.empty() || !ir::is_int(extent, &row))
    refuse("pad", "a constant extent of dimension " + std::to_string(dim) + " of " + stage.name,
           extent.empty() ? "one without bound" : ir::text(extent), w);
  std::vector<Expr> vars, map;
  for (int d = 0; d < stage.spatial_rank(); ++d) {
    vars.push_back(ir::var(static_cast<ir::Id>(d) + 1, "d" + std::to_string(d)));
    if (d == dim)
      map.back() = ir::add(ir::mul(map.back(), ir::index(row + by.value())), vars.back());
    else
      map.push_back(vars.back());
  }
  return set_layout_(vars, map, w);
}
Stage Stage::rfactor(Loop l, Place place, Where w) const {
  if (place == Place::last) return rfactor(l, w);
  return Stage(apply("rfactor", {Arg::stage(id_), own(l, "rfactor", w), Arg::text("first")}, w)[0], state_);
}
Stage Stage::rfactor(Loop l, Where w) const {
  return Stage(apply("rfactor", {Arg::stage(id_), own(l, "rfactor", w)}, w)[0], state_);
}
Stage Stage::cut(Loop terms, Loop blocks, Where w) const {
  return Stage(apply("cut", {Arg::stage(id_), own(terms, "cut", w), any(blocks, "cut", w)}, w)[0], state_);
}
std::array<Stage, 3> Stage::associative_scan(Loop l, Where w) const {
  const std::vector<ir::Id> made = apply("associative_scan", {Arg::stage(id_), own(l, "associative_scan", w)}, w);
  return {Stage(made[0], state_), Stage(made[1], state_), Stage(made[2], state_)};
}

Stage Stage::decompose_init(Loop l, Where w) const { return apply("decompose_init", {own(l, "decompose_init", w)}, w), *this; }
Stage Stage::init(Where w) const {
  const ir::Stage& stage = standing(*state_, id_, "init", w);
  const auto blocks = ir::blocks_of(state_->scheduled.program, id_);
  if (std::none_of(blocks.begin(), blocks.end(), [](const ir::Stmt* b) { return b->piece == ir::Stmt::Piece::init; }))
    refuse("init", "a stage whose init was taken out (decompose_init)", stage.name, w);
  return Stage(id_, state_, true);
}
Stage Stage::tensorize(Loop l, const Intrinsic& f, Where w) const {
  return apply("tensorize", {own(l, "tensorize", w), Arg::call_of(f.node())}, w), *this;
}

// The buffer of a tensor or of a stage's first value, as the program stands.
ir::Id Stage::buffer_of(const detail::ScheduleState& state, StageRef r, const char* what, Where where) {
  if (r.stage_) {
    if (!detail::serves(r.state_, r.stage_, state)) refuse(what, "a stage of this schedule", "one of another schedule", where);
    return standing(state, r.stage_, what, where).buffers.front();
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

Stage Stage::prefetch(Loop l, StageRef of, Factor ahead, Where w) const {
  const ir::Id buffer = buffer_of(*state_, of, "prefetch", w);
  apply("prefetch", {own(l, "prefetch", w), Arg::buffer(buffer), Arg::integer(ahead.value())}, w);
  return *this;
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

std::vector<Arg> Schedule::reader_args(StageRef source, std::initializer_list<StageRef> readers, const Scope& scope,
                                       const Operand* fill, Where where) const {
  const ir::Id buffer = Stage::buffer_of(*state_, source, "cache_read", where);
  std::vector<Arg> args{Arg::buffer(buffer), Arg::place(scope), Arg::integer(fill ? 1 : 0)};
  if (fill) {
    const Type type = state_->scheduled.program.buffer(buffer).type;
    if (!fill->is_number()) refuse("cache_read", "a number to fill with", "an Expr", where);
    if (fill->number_type().is_bool() && !type.is_bool())
      refuse("cache_read", "a value to fill " + ir::text(type) + " with", "a bool", where);
    Expr value;
    if (type.is_float())
      value = ir::float_const(type, fill->number_type().is_float() ? fill->real() : static_cast<double>(fill->integer()));
    else if (!fill->number_type().is_float())
      value = ir::int_const(type, fill->integer());
    else
      refuse("cache_read", "an integer to fill " + ir::text(type) + " with", "a floating number", where);
    args.push_back(Arg::map({}, {value}));
  }
  for (const StageRef& r : readers) args.push_back(Arg::stage(stage_of(r, "cache_read", where)));
  return args;
}

void Schedule::assume(Operand condition, Where w) {
  if (condition.is_number() || !condition.expr().type().is_bool())
    refuse("assume", "a condition over symbols, such as M <= N", "no condition", w);
  lang::Built names;
  names.variable_of = state_->variable_of;
  Stage(0, state_).apply("assume", {Arg::map({}, {names.in_program(condition.expr(), w)})}, w);
}
void Schedule::injective(const Tensor& table, Where w) {
  Stage(0, state_).apply("injective", {Arg::buffer(Stage::buffer_of(*state_, table, "injective", w))}, w);
}
Stage Schedule::clone(StageRef stage, std::initializer_list<StageRef> readers, Where w) {
  std::vector<Arg> args{Arg::stage(stage_of(stage, "clone", w))};
  for (const StageRef& r : readers) args.push_back(Arg::stage(stage_of(r, "clone", w)));
  const Stage any(0, state_);
  return Stage(any.apply("clone", std::move(args), w)[0], state_);
}
Stage Schedule::cache_read(StageRef source, std::initializer_list<StageRef> readers, Scope scope, Where w) {
  const Stage any(0, state_);
  return Stage(any.apply("cache_read", reader_args(source, readers, scope, nullptr, w), w)[0], state_);
}
Stage Schedule::cache_read(StageRef source, std::initializer_list<StageRef> readers, Scope scope, Operand fill, Where w) {
  const Stage any(0, state_);
  return Stage(any.apply("cache_read", reader_args(source, readers, scope, &fill, w), w)[0], state_);
}
Stage Schedule::cache_write(StageRef stage, Scope scope, Where w) {
  const Stage any(0, state_);
  return Stage(any.apply("cache_write", {Arg::stage(stage_of(stage, "cache_write", w)), Arg::place(scope)}, w)[0], state_);
}

void Schedule::pack_argument_(const Tensor& input, const std::vector<Expr>& vars, const std::vector<Expr>& map, Pack pack,
                              Where w) {
  const ir::Id buffer = Stage::buffer_of(*state_, input, "pack_argument", w);
  const Stage any(0, state_);
  const bool constant = state_->scheduled.program.buffer(buffer).role == ir::Role::constant;
  if (constant && pack == Pack::by_caller)
    refuse("pack_argument", "an input (Pack::at_entry lays a constant out when it is compiled)",
           state_->scheduled.program.buffer(buffer).name + ", a constant, which no caller passes", w);
  if (constant || pack == Pack::by_caller) {
    any.apply("pack_argument", {Arg::buffer(buffer), detail::index_map(vars, map)}, w);
    return;
  }
  // at entry: a copy in that layout, made before anything else
  detail::Together together(*state_);
  std::vector<Arg> args{Arg::buffer(buffer), Arg::place(Scope::global), Arg::integer(0)};
  for (const auto& [id, stage] : state_->scheduled.program.stages)
    if (schedule::reads_buffer(stage, buffer)) args.push_back(Arg::stage(id));
  const ir::Id packed = any.apply("cache_read", std::move(args), w)[0];
  any.apply("set_layout", {Arg::stage(packed), detail::index_map(vars, map)}, w);
  together.keep();
}

std::optional<Refusal> Schedule::attempt_(void (*call)(void*), void* steps) {
  detail::Together together(*state_);
  try {
    call(steps);
    together.keep();
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
  detail::Together together(*state_);
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
  together.keep();
}

}  // namespace ashlar
