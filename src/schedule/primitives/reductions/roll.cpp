// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// roll(follower, leader, rescale): two reductions over the same points, of which the second reads what the first ends with,
// become one that carries both. Where a new maximum is met, what was summed so far is worth rescale(old, new) times as much.
//
//   top[i]   = maximum over k of x[i, k]
//   total[i] = sum over k of exp(x[i, k] - top[i])
//
//     roll(total, top, exp(old - now))   ->   (top, total)[i] = over k of (x[i, k], exp(x[i, k] - x[i, k])), combined as
//                                               m = max(m1, m2)        t = t1 * exp(m1 - m) + t2 * exp(m2 - m)
//
// A term is met with its own value as the maximum, so that the combiner is associative and commutes (Milakov and Gimelshein:
// Online normalizer calculation for softmax, 2018): the result may be regrouped, split and spread over lanes as any other
// reduction. The leader may be one that was rolled before. The sum is rounded otherwise than in two passes.
//
// Legality: REASSOC of the sum; the terms obey the rescale, term(now) = term(old) * rescale(old, now), which is looked at for a
// few values, as it is declared and not proved; nobody reads the leader before the follower is computed.
#include <algorithm>
#include <cmath>

#include <ashlar/analysis/thread_tree.h>
#include <ashlar/ir/recurrence.h>

#include <ashlar/interp/tape.h>
#include "schedule/trace/cpp_names.h"
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {
namespace {

// The component that leads, combined by max or min: of a plain maximum or minimum, or the first of what was rolled before.
bool leads(const ir::Stage& a, ir::Op& op) {
  if (a.reducer.kind == ir::ReducerKind::maximum) return op = ir::Op::max, true;
  if (a.reducer.kind == ir::ReducerKind::minimum) return op = ir::Op::min, true;
  if (a.reducer.kind != ir::ReducerKind::custom) return false;
  const Expr& first = a.reducer.combine.front();
  op = ir::op_of(first);
  if (op != ir::Op::max && op != ir::Op::min) return false;
  const auto args = ir::args_of(first);
  const auto is_var = [](const Expr& e, Id id) { return ir::is(e, ir::Op::var) && e.node()->id == id; };
  return is_var(args[0], a.reducer.left.front()) && is_var(args[1], a.reducer.right.front());
}

// A nest as its definition made it: nothing that was asked of it is lost.
void require_plain(const Context& c, const ir::Stage& stage, const Stmt& nest) {
  const NestStmt& node = nest.get<NestStmt>();
  if (stage.scatters() || stage.atomic || stage.is_recurrence()) c.refuse("reductions that store each point once", stage.name);
  if (!node.slides.empty() || node.after || node.sibling) c.refuse("stages that are placed on their own", stage.name);
  if (ir::recurrences_around(c.p).count(stage.id))
    c.refuse("a stage outside of recurrences", stage.name + ", which one reads and that reads it");
  for (const ir::IterVar& v : stage.iters)
    if (v.descending)
      c.refuse("loops in the order of their variables (move this call before reverse)", v.name + " of " + stage.name);
  for (const ir::Root& r : node.roots)
    if (!ir::is_leaf(c.p, r.axis))
      c.refuse("loops as they were defined (move this call before other steps)", c.p.axis(r.axis).name + " of " + stage.name);
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const NestStmt* n = s.as<NestStmt>())
      c.refuse("a stage with nothing placed in it yet (move this call before compute_at of its producers)",
               c.p.stage(n->stage).name + " inside " + stage.name);
    if (const BlockStmt* block = s.as<BlockStmt>(); block && block->piece != ir::Piece::whole)
      c.refuse("a stage whose init was not taken apart (move this call before decompose_init)", stage.name);
    if (const LoopStmt* loop = s.as<LoopStmt>();
        loop && (loop->kind != ir::LoopKind::serial || loop->part != ir::Part::all || loop->combines || loop->pipeline))
      c.refuse("loops without a kind or a part yet (move this call before it)", name_of(c.p, s));
  });
}

class NoMemory final : public interp::Memory {
 public:
  int resolve(Id, const char*) override { throw InternalError("a load in an expression without loads"); }
  interp::Value read(int, const std::int64_t*, int) override { throw InternalError("a load in an expression without loads"); }
  std::string where() const override { return "roll"; }
};

// The term with the leader's result, and every other thing that it reads, as variables.
struct Sampled {
  Expr term, met;  // `met`: the leader's own term at the point
  Id leader = 0;
  std::vector<std::pair<Id, Type>> others;
};

// Does term(now) = term(old) * rescale(old, now) hold where old may become now? For a few values of everything.
void try_rescale(const Context& c, const Sampled& s, Id old_id, Id now_id, const Expr& rescale, Type type, bool rises) {
  NoMemory memory;
  interp::Slots slots;
  interp::Tape term(s.term, slots, memory, interp::Select::strict), factor(rescale, slots, memory, interp::Select::strict),
      met(s.met, slots, memory, interp::Select::strict);
  std::uint64_t state = 0x9E3779B97F4A7C15u;
  const auto draw = [&](Type t) {  // -2 .. 2; whole numbers of integers
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double x = static_cast<double>(state >> 40) / static_cast<double>(1 << 22) - 2;
    return t.is_float() ? ir::float_value(t, x)
                        : ir::int_value(t, static_cast<std::int64_t>(t.is_bool() ? x > 0 : std::abs(x * 2)));
  };
  const auto real = [](const ir::Value& v) { return v.type.is_float() ? v.f : static_cast<double>(v.i); };
  for (int round = 0; round < 24; ++round) {
    for (const auto& [id, t] : s.others) slots.set(id, draw(t));
    ir::Value a = draw(type), b = draw(type);
    if (round >= 16) {  // what was met is the maximum itself
      a = met.run();
      b = ir::float_value(type, a.f + (rises ? 1 : -1) * (std::abs(b.f) + 0.5));
      if (!std::isfinite(a.f) || a.f == b.f) continue;
    }
    if ((real(a) > real(b)) == rises) std::swap(a, b);
    slots.set(old_id, a), slots.set(now_id, b);
    const double f = real(factor.run());
    slots.set(s.leader, a);
    const double before = real(term.run());
    slots.set(s.leader, b);
    const double after = real(term.run());
    const double difference = std::abs(after - before * f), size = std::abs(after) + std::abs(before * f);
    if (!(difference <= 1e-3 * size + 1e-6))
      c.refuse("a rescale with term(now) = term(old) * rescale(old, now)", "rescale(old, now) = " + ir::text(rescale),
               "with old = " + ir::text(a) + " and now = " + ir::text(b) + " a term goes from " + std::to_string(before) +
                   " to " + std::to_string(after) + ", and not to " + std::to_string(before * f));
  }
}

// What the two reductions are, and where they stand.
struct Pair {
  ir::Op op{};  // max or min
  Type type, sum_type;
  Expr rescale;
  std::vector<Id> vars;  // of the rescale
  Expr rescaled(const Expr& old, const Expr& now) const { return ir::substitute(rescale, {{vars[0], old}, {vars[1], now}}); }
};

// match: a maximum or minimum, and a sum of one type
Pair pair_of(const Context& c, const ir::Stage& follower, const ir::Stage& leader) {
  const Arg& declared = c.arg(2);
  Pair pair;
  pair.rescale = declared.exprs.front(), pair.vars = declared.vars;
  if (follower.id == leader.id) c.refuse("two reductions", follower.name + " twice");
  std::string written;
  if (!cpp::expression(pair.rescale, [](Id, const std::string& name) { return name; }, written))
    c.refuse("a rescale of arithmetic, functions of one number, comparisons and select, which a saved schedule can hold",
             ir::text(pair.rescale));
  if (!leader.is_reduction() || !leads(leader, pair.op)) c.refuse("a maximum or minimum that leads", leader.name);
  if (follower.reducer.kind != ir::ReducerKind::sum || follower.buffers.size() != 1)
    c.refuse("a sum that follows (strict_sum keeps its order)", follower.name);
  pair.type = c.p.buffer(leader.buffers.front()).type, pair.sum_type = c.p.buffer(follower.buffers.front()).type;
  if (!pair.type.is_float() || !(pair.sum_type == pair.type))
    c.refuse("values of one floating type", ir::text(pair.type) + " and " + ir::text(pair.sum_type));
  return pair;
}

// match: the leader stands beside the follower, before it
void require_beside(Context& c, const ir::Stage& follower, const ir::Stage& leader, const Stmt& nest, const Stmt& first) {
  require_plain(c, leader, first), require_plain(c, follower, nest);
  const Spot here = locate(c.p, nest.id), there = locate(c.p, first.id);
  if (here.body != there.body || there.index > here.index)
    c.refuse("the leader beside the follower, before it (move this call before compute_at)", leader.name);
}

// match: one domain. The follower's variables by the leader's.
ir::Substitution require_one_domain(const Context& c, const ir::Stage& follower, const ir::Stage& leader) {
  ir::Substitution to;
  const auto same = [&](const Expr& a, const Expr& b) {
    return a.empty() == b.empty() &&
           (a.empty() || ir::same(analysis::simplify(ir::substitute(a, to), analysis::facts_of_arguments(c.p)),
                                  analysis::simplify(b, analysis::facts_of_arguments(c.p))));
  };
  bool one = leader.iters.size() == follower.iters.size() && leader.domain.size() == follower.domain.size();
  for (std::size_t k = 0; one && k < leader.iters.size(); ++k) {
    const ir::IterVar &a = follower.iters[k], &b = leader.iters[k];
    one = a.kind == b.kind && same(a.begin, b.begin) && same(a.end, b.end);
    to.emplace_back(a.id, ir::var(b.id, b.name));
  }
  for (std::size_t k = 0; one && k < leader.domain.size(); ++k) one = same(follower.domain[k], leader.domain[k]);
  if (!one) c.refuse("reductions over the same points", leader.name + " and " + follower.name);
  return to;
}

// match: what the follower reads of the leader is its first value, at the follower's own point
Sampled sampled_of(const Context& c, const ir::Stage& follower, const ir::Stage& leader, Type type) {
  Sampled sampled;
  sampled.leader = 1;
  std::vector<std::pair<Expr, Id>> known;
  bool reads = false;
  const auto of_leader = [&](const Expr& e) {
    if (!ir::is(e, ir::Op::load)) return false;
    const Id buffer = e.node()->id;
    if (std::find(leader.buffers.begin(), leader.buffers.end(), buffer) == leader.buffers.end()) return false;
    const auto at = ir::args_of(e);
    bool own = buffer == leader.buffers.front();
    for (std::size_t d = 0; own && d < at.size(); ++d)
      own = ir::is(at[d], ir::Op::var) && at[d].node()->id == follower.iters[d].id;
    if (!own) c.refuse("reads of the leader's value at the follower's own point", ir::text(e));
    return reads = true;
  };
  const std::function<Expr(const Expr&)> sample = [&](const Expr& e) -> Expr {
    if (of_leader(e)) return ir::var(sampled.leader, "leader", type);
    if (ir::is(e, ir::Op::load) || ir::is(e, ir::Op::var) || ir::is(e, ir::Op::call)) {
      for (const auto& [seen, id] : known)
        if (ir::same(seen, e)) return ir::var(id, "x", e.type());
      const Id id = known.size() + 2;
      known.emplace_back(e, id);
      sampled.others.emplace_back(id, e.type());
      return ir::var(id, "x", e.type());
    }
    const auto args = ir::args_of(e);
    if (args.empty()) return e;
    std::vector<Expr> fresh;
    for (const Expr& a : args) fresh.push_back(sample(a));
    return ir::make(ir::op_of(e), e.type(), fresh);
  };
  sampled.term = sample(follower.values.front());
  ir::Substitution back;
  for (std::size_t k = 0; k < leader.iters.size(); ++k)
    back.emplace_back(leader.iters[k].id, ir::var(follower.iters[k].id, follower.iters[k].name));
  sampled.met = sample(ir::substitute(leader.values.front(), back));
  if (!reads) c.refuse("a sum whose terms read the leader", follower.name + ", which does not read " + leader.name);
  return sampled;
}

// match: what the follower reads is there where the leader is
void require_read_before(Context& c, const ir::Stage& follower, const ir::Stage& leader, const Stmt& nest, const Stmt& first) {
  const auto refuse = [&](const std::string& name) {
    c.refuse("a follower that reads nothing which comes after the leader (inline it)", follower.name + ", which reads " + name);
  };
  for (const auto& [id, other] : c.p.stages)
    for (const Id b : other.buffers)
      if (id > leader.id && id != follower.id && reads_buffer(follower, b)) refuse(other.name);
  const Spot here = locate(c.p, nest.id), there = locate(c.p, first.id);
  for (std::size_t k = there.index + 1; k < here.index; ++k)
    for (const auto& [id, b] : c.p.buffers)
      if (reads_buffer(follower, id) && subtree_writes(c.p, (*here.body)[k], id)) refuse(b.name);
}

void prove_rolled(Context& c, const ir::Stage& follower, const ir::Stage& leader, const Pair& pair, const Sampled& sampled) {
  prove_reassociation(c, follower, "its terms are rescaled as they are met", "two terms, the second with a larger maximum");
  prove_reassociation(c, leader, "it carries a sum", "two terms");
  if (!(pair.rescale.type() == pair.type)) c.refuse("a rescale of " + ir::text(pair.type), ir::text(pair.rescale.type()));
  const Id old_id = sampled.others.size() + 2, now_id = old_id + 1;
  const Expr rescaled = pair.rescaled(ir::var(old_id, "old", pair.type), ir::var(now_id, "now", pair.type));
  try_rescale(c, sampled, old_id, now_id, rescaled, pair.type, pair.op == ir::Op::max);
  for (std::size_t k = 0; k < leader.buffers.size(); ++k)
    if (!ir::same(leader.inits[k], analysis::identity_of(leader.reducer, k, c.p.buffer(leader.buffers[k]).type)))
      c.refuse("a leader that starts from nothing (without from)", leader.name);
  if (!ir::same(follower.inits.front(), analysis::identity_of(follower.reducer, 0, pair.sum_type)))
    c.refuse("a sum that starts from 0 (without from): what it starts from belongs to no maximum", follower.name);
}

// rewrite: the reducer of both
ir::Reducer both_of(Context& c, const ir::Stage& follower, const ir::Stage& leader, const Pair& pair) {
  ir::Reducer both;
  both.kind = ir::ReducerKind::custom;
  both.name = leader.name + "_and_" + follower.name;
  both.order = ir::Reducer::Order::any;  // as both were, or they would have been refused
  ir::Substitution placeholders;
  for (std::size_t k = 0; k <= leader.buffers.size(); ++k) {
    both.left.push_back(c.p.fresh()), both.right.push_back(c.p.fresh());
    if (k < leader.buffers.size() && leader.reducer.kind == ir::ReducerKind::custom) {
      const Type t = c.p.buffer(leader.buffers[k]).type;
      placeholders.emplace_back(leader.reducer.left[k], ir::var(both.left[k], "a" + std::to_string(k), t));
      placeholders.emplace_back(leader.reducer.right[k], ir::var(both.right[k], "b" + std::to_string(k), t));
    }
    both.identity.push_back(k < leader.buffers.size()
                                ? analysis::identity_of(leader.reducer, k, c.p.buffer(leader.buffers[k]).type)
                                : ir::float_const(pair.sum_type, 0));
  }
  const Type type = pair.type;
  const Expr m1 = ir::var(both.left.front(), "a0", type), m2 = ir::var(both.right.front(), "b0", type);
  const std::string last = std::to_string(leader.buffers.size());
  const Expr t1 = ir::var(both.left.back(), "a" + last, type), t2 = ir::var(both.right.back(), "b" + last, type);
  if (leader.reducer.kind == ir::ReducerKind::custom)
    for (const Expr& e : leader.reducer.combine) both.combine.push_back(ir::substitute(e, placeholders));
  else
    both.combine.push_back(ir::binary(pair.op, m1, m2));
  // one of the two maxima is that of both: only the other part is worth less, and where they are equal none is
  const Expr loser = ir::binary(pair.op == ir::Op::max ? ir::Op::min : ir::Op::max, m1, m2);
  const Expr less = pair.rescaled(loser, both.combine.front());
  const Expr first_loses = pair.op == ir::Op::max ? ir::lt(m1, m2) : ir::lt(m2, m1);
  both.combine.push_back(ir::select(ir::eq(m1, m2), ir::add(t1, t2),
                                    ir::select(first_loses, ir::add(ir::mul(t1, less), t2), ir::add(t1, ir::mul(t2, less)))));
  both.unjoinable = leader.reducer.unjoinable;
  return both;
}

// rewrite and remap: the follower's nest goes, with its loops; its storage lies beside the leader's
void take_follower(Context& c, const ir::Stage& follower, Id nest_id, Id first_id) {
  const Id buffer = follower.buffers.front();
  const Stmt nest = take(c.p, nest_id);
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const LoopStmt* loop = s.as<LoopStmt>())
      c.consume(s.id, c.p.axis(loop->axis).name + " of " + follower.name, "went into the reduction that roll made", {});
  });
  if (const Stmt* alloc = ir::alloc_of(c.p, buffer)) insert_beside(c.p, first_id, take(c.p, alloc->id), false);
  for (const ir::Root& r : nest.get<NestStmt>().roots) c.p.axes.erase(r.axis);
}

void apply_roll(Context& c) {
  // match
  const ir::Stage follower = c.stage(0);
  ir::Stage& leader = c.stage(1);
  const Pair pair = pair_of(c, follower, leader);
  const Stmt &nest = only_nest(c, follower), &first = only_nest(c, leader);
  require_beside(c, follower, leader, nest, first);
  const ir::Substitution to = require_one_domain(c, follower, leader);
  const Sampled sampled = sampled_of(c, follower, leader, pair.type);
  require_read_before(c, follower, leader, nest, first);
  prove_rolled(c, follower, leader, pair, sampled);
  // rewrite: the stage, which is the leader's from here on
  ir::Reducer both = both_of(c, follower, leader, pair);
  const Expr own = leader.values.front();
  leader.values.push_back(ir::transform(ir::substitute(follower.values.front(), to), [&](const Expr& e) {
    return ir::is(e, ir::Op::load) && e.node()->id == leader.buffers.front() ? own : e;
  }));
  leader.inits.push_back(ir::substitute(follower.inits.front(), to));
  leader.reducer = std::move(both);
  leader.buffers.push_back(follower.buffers.front());
  c.p.buffers.at(follower.buffers.front()).stage = leader.id;
  const Id leader_id = leader.id;
  take_follower(c, follower, nest.id, first.id);
  c.p.stages.erase(follower.id);
  // remap
  c.consume(follower.id, follower.name, "was rolled into " + c.p.stage(leader_id).name, {leader_id});
  c.results = {leader_id};
}

std::string line_of_roll(CppCall& w, const Step& s) {
  const Arg& rescale = s.args[2];
  std::string text;
  const auto name = [&](Id id, const std::string&) { return id == rescale.vars[0] ? std::string("old") : "now"; };
  if (!cpp::expression(rescale.exprs.front(), name, text)) throw NoForm{};
  const std::string leader = w.stage_ref(s.args[1].id);
  return w.stage(s.args[0].id) + ".roll(" + leader + ", [](Expr old, Expr now) { return " + text + "; })";
}

// {follower, leader}: sums and the maxima or minima that they read.
std::vector<std::pair<Id, Id>> pairs_to_roll(const Program& p) {
  std::vector<std::pair<Id, Id>> pairs;
  for (const auto& [leader, a] : p.stages) {
    const bool may_lead = a.reducer.kind == ir::ReducerKind::maximum || a.reducer.kind == ir::ReducerKind::minimum ||
                          (a.reducer.kind == ir::ReducerKind::custom && a.buffers.size() > 1);
    if (!a.is_reduction() || !may_lead) continue;
    for (const auto& [follower, b] : p.stages)
      if (follower != leader && b.is_reduction() && b.reducer.kind == ir::ReducerKind::sum &&
          reads_buffer(b, a.buffers.front()))
        pairs.emplace_back(follower, leader);
  }
  return pairs;
}

bool uses(const Expr& e, ir::Op op) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) { return found |= ir::is(x, op), !found; });
  return found;
}

// By the rescale that the terms ask for, most often: a power where they have one, else only what stands at the extreme counts.
bool draw_roll(Draw& d) {
  std::vector<std::pair<Id, Id>> pairs = pairs_to_roll(d.p);
  if (pairs.empty() || d.one_in(20)) {
    const std::vector<Id> all = d.stages();
    if (!d.one_in(4)) return false;
    pairs = {{d.any(all), d.any(all)}};
  }
  const auto [follower, leader] = d.any(pairs);
  const Type t = d.p.buffer(d.p.stage(leader).buffers.front()).type;
  if (!t.is_float()) return false;
  const Expr old = ir::var(1, "old", t), now = ir::var(2, "now", t);
  const ir::Reducer& by = d.p.stage(leader).reducer;
  bool powers = uses(d.p.stage(follower).values.front(), ir::Op::exp);
  bool rises =
      by.kind == ir::ReducerKind::custom ? ir::is(by.combine.front(), ir::Op::max) : by.kind == ir::ReducerKind::maximum;
  if (d.one_in(10)) powers = !powers;
  if (d.one_in(10)) rises = !rises;
  const Expr rescale = powers ? ir::unary(ir::Op::exp, rises ? ir::sub(old, now) : ir::sub(now, old))
                              : ir::select(ir::eq(old, now), ir::float_const(t, 1), ir::float_const(t, 0));
  d.reassociates = true;
  return d.step("roll", {Arg::stage(follower), Arg::stage(leader), Arg::map({1, 2}, {rescale})});
}

}  // namespace

extern constexpr Primitive roll_primitive{
    .name = "roll",
    .spelling = "roll",
    .parameters = {takes::stage("follower"), takes::stage("leader"), takes::rescale()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_roll,
    .cpp = line_of_roll,
    .draw = Drawing{.often = 1, .draw = draw_roll, .likely = [](const Draw& d) { return !pairs_to_roll(d.p).empty(); }},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

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
  return Stage(apply(schedule::roll_primitive, {Arg::stage(id_), Arg::stage(leader), Arg::map({1, 2}, {f})}, w)[0], state_);
}

}  // namespace ashlar
