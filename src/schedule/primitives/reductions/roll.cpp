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
// reduction. The leader may be one that was rolled before. The sum is rounded otherwise than in two passes. It may have further
// dimensions behind those of the leader, as a sum of vectors has: then so has the result (drop_dim stores the rest without).
//
// Legality: REASSOC of the sum; the terms obey the rescale, term(now) = term(old) * rescale(old, now), which is looked at for a
// few values, as it is declared and not proved; nobody reads the leader before the follower is computed.
#include <algorithm>

#include <ashlar/analysis/thread_tree.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"
#include "schedule/primitives/rescale.h"

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

// What the two reductions are, and where they stand.
struct Pair {
  ir::Op op{};  // max or min
  Type type, sum_type;
  Rescale rescale;
};

// match: a maximum or minimum, and a sum of one type
Pair pair_of(const Context& c, const ir::Stage& follower, const ir::Stage& leader) {
  Pair pair;
  if (follower.id == leader.id) c.refuse("two reductions", follower.name + " twice");
  pair.rescale = rescale_of(c, 2);
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

// match: one domain, where the follower may have more dimensions behind those of the leader. The leader's variables by the
// follower's.
ir::Substitution require_one_domain(const Context& c, const ir::Stage& follower, const ir::Stage& leader) {
  ir::Substitution to;
  const analysis::Facts facts = analysis::facts_of_arguments(c.p);
  const auto same = [&](const Expr& a, const Expr& b) {
    return a.empty() == b.empty() &&
           (a.empty() || ir::same(analysis::simplify(ir::substitute(a, to), facts), analysis::simplify(b, facts)));
  };
  const std::size_t rank = static_cast<std::size_t>(leader.spatial_rank()), own = leader.iters.size();
  bool one = own <= follower.iters.size() && leader.domain.size() == follower.domain.size() &&
             follower.iters.size() - static_cast<std::size_t>(follower.spatial_rank()) == own - rank;
  for (std::size_t k = 0; one && k < own; ++k) {
    const ir::IterVar &a = leader.iters[k], &b = follower.iters[k < rank ? k : k + follower.iters.size() - own];
    one = a.kind == b.kind && same(a.begin, b.begin) && same(a.end, b.end);
    to.emplace_back(a.id, ir::var(b.id, b.name));
  }
  for (std::size_t k = 0; one && k < leader.domain.size(); ++k) one = same(leader.domain[k], follower.domain[k]);
  if (!one) c.refuse("reductions over the same points", leader.name + " and " + follower.name);
  return to;
}

// match: where both are computed. In the place of the leader if what the follower reads is there; else in that of the follower,
// if nobody reads the leader before. True for the follower's.
bool at_follower(const Context& c, const ir::Stage& follower, const ir::Stage& leader, const Stmt& nest, const Stmt& first) {
  const Spot here = locate(c.p, nest.id), there = locate(c.p, first.id);
  std::string made;
  const ir::Stage* reader = nullptr;
  for (std::size_t k = there.index + 1; k < here.index; ++k) {
    const Stmt& between = (*here.body)[k];
    for (const auto& [id, b] : c.p.buffers)
      if (reads_buffer(follower, id) && subtree_writes(c.p, between, id)) made = b.name;
    for (const auto& [id, other] : c.p.stages)
      for (const Id b : leader.buffers)
        if (id != leader.id && id != follower.id && reads_buffer(other, b) &&
            subtree_writes(c.p, between, other.buffers.front()))
          reader = &other;
  }
  const bool later = !made.empty() || follower.iters.size() > leader.iters.size();
  if (later && reader && made.empty())
    c.refuse("a leader that nobody reads before " + follower.name, leader.name + ", which " + reader->name + " reads");
  if (later && reader)
    c.refuse("a follower that reads nothing which comes after the leader (inline it)", follower.name + ", which reads " + made);
  return later;
}

void prove_rolled(Context& c, const ir::Stage& follower, const ir::Stage& leader, const Pair& pair, const Sampled& sampled) {
  prove_reassociation(c, follower, "its terms are rescaled as they are met", "two terms, the second with a larger maximum");
  prove_reassociation(c, leader, "it carries a sum", "two terms");
  if (!(pair.rescale.factor.type() == pair.type))
    c.refuse("a rescale of " + ir::text(pair.type), ir::text(pair.rescale.factor.type()));
  try_rescale(c, sampled, pair.rescale, pair.type, pair.op == ir::Op::max);
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
  const Expr less = pair.rescale.of(loser, both.combine.front());
  const Expr first_loses = pair.op == ir::Op::max ? ir::lt(m1, m2) : ir::lt(m2, m1);
  both.combine.push_back(ir::select(ir::eq(m1, m2), ir::add(t1, t2),
                                    ir::select(first_loses, ir::add(ir::mul(t1, less), t2), ir::add(t1, ir::mul(t2, less)))));
  both.unjoinable = leader.reducer.unjoinable;
  return both;
}

// rewrite: values of both at one point, over the variables of one of them. A term that was rescaled from its own value, as
// rebase makes it, is itself.
Expr value_of(const ir::Stage& leader, const Expr& term, const Expr& own, const Rescale& rescale) {
  const auto is_leader = [&](const Expr& e) { return ir::is(e, ir::Op::load) && e.node()->id == leader.buffers.front(); };
  if (ir::is(term, ir::Op::mul)) {
    Expr read;
    ir::walk(ir::args_of(term)[1], [&](const Expr& e) {
      if (is_leader(e)) read = e;
      return true;
    });
    if (!read.empty() && ir::same(ir::args_of(term)[1], rescale.of(own, read))) return ir::args_of(term)[0];
  }
  return ir::transform(term, [&](const Expr& e) { return is_leader(e) ? own : e; });
}

// rewrite and remap: a nest goes, with its loops
Stmt take_nest(Context& c, const std::string& of, Id id) {
  Stmt nest = take(c.p, id);
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const LoopStmt* loop = s.as<LoopStmt>())
      c.consume(s.id, c.p.axis(loop->axis).name + " of " + of, "went into the reduction that roll made", {});
  });
  for (const ir::Root& r : nest.get<NestStmt>().roots) c.p.axes.erase(r.axis);
  return nest;
}

// rewrite: both are the leader from here on, whose dimensions are those of the follower.
Id into_leader(Context& c, const ir::Stage& follower, ir::Stage& leader, const Pair& pair, const ir::Substitution& to, Id nest,
               Id first) {
  ir::Substitution back;
  for (const auto& [own, other] : to)
    for (const ir::IterVar& v : leader.iters)
      if (v.id == own) back.emplace_back(other.node()->id, ir::var(v.id, v.name));
  ir::Reducer both = both_of(c, follower, leader, pair);
  leader.values.push_back(value_of(leader, ir::substitute(follower.values.front(), back), leader.values.front(), pair.rescale));
  leader.inits.push_back(ir::substitute(follower.inits.front(), back));
  leader.reducer = std::move(both);
  leader.buffers.push_back(follower.buffers.front());
  c.p.buffers.at(follower.buffers.front()).stage = leader.id;
  take_nest(c, follower.name, nest);
  if (const Stmt* alloc = ir::alloc_of(c.p, follower.buffers.front())) insert_beside(c.p, first, take(c.p, alloc->id), false);
  const Id made = leader.id, gone = follower.id;
  c.p.stages.erase(gone);
  return made;
}

// match: where a stage reads the leader, it reads the follower at the same point of further dimensions.
std::vector<Expr> further_index(const Context& c, const ir::Stage& reader, const Expr& read, const ir::Stage& follower) {
  const auto at = ir::args_of(read);
  std::vector<Expr> found;
  const auto look = [&](const Expr& e) {
    ir::walk(e, [&](const Expr& x) {
      if (!found.empty() || !ir::is(x, ir::Op::load) || x.node()->id != follower.buffers.front()) return true;
      const auto there = ir::args_of(x);
      for (std::size_t d = 0; d < at.size(); ++d)
        if (!ir::same(there[d], at[d])) return true;
      found.assign(there.begin() + static_cast<std::ptrdiff_t>(at.size()), there.end());
      return true;
    });
  };
  for (const Expr& e : reader.values) look(e);
  if (found.empty())
    c.refuse("readers of " + ir::text(read) + " that read " + follower.name + " at the same point, whose dimensions it gets",
             reader.name);
  return found;
}

// rewrite: both are the follower from here on, which may have more dimensions. What the leader computes is the same along them.
Id into_follower(Context& c, const ir::Stage& leader, ir::Stage& follower, const Pair& pair, const ir::Substitution& to,
                 Id first) {
  const bool broader = follower.iters.size() > leader.iters.size();
  for (const Id b : leader.buffers)
    if (broader && (c.p.buffer(b).role != ir::Role::temporary || !c.p.buffer(b).layout.map.empty()))
      c.refuse("a leader that is not an output and has no layout, since it gets the dimensions of " + follower.name,
               c.p.buffer(b).name);
  for (auto& [id, reader] : c.p.stages) {
    if (!broader || id == leader.id || id == follower.id) continue;
    const ir::Stage as_read = reader;
    const auto with_more = [&](const Expr& e) {
      if (!ir::is(e, ir::Op::load) ||
          std::find(leader.buffers.begin(), leader.buffers.end(), e.node()->id) == leader.buffers.end())
        return e;
      const std::vector<Expr> more = further_index(c, as_read, e, follower);
      std::vector<Expr> at(ir::args_of(e).begin(), ir::args_of(e).end());
      at.insert(at.end(), more.begin(), more.end());
      return ir::load(e.node()->id, e.node()->name, e.type(), at, e.node()->where);
    };
    for (Expr& e : reader.values) e = ir::transform(e, with_more);
    for (Expr& e : reader.inits) e = ir::transform(e, with_more);
  }
  ir::Reducer both = both_of(c, follower, leader, pair);
  const Expr term = follower.values.front(), init = follower.inits.front();
  const Id sums = follower.buffers.front();
  follower.values.clear(), follower.inits.clear(), follower.buffers = leader.buffers;
  for (const Expr& e : leader.values) follower.values.push_back(ir::substitute(e, to));
  for (const Expr& e : leader.inits) follower.inits.push_back(ir::substitute(e, to));
  follower.values.push_back(value_of(leader, term, follower.values.front(), pair.rescale));
  follower.inits.push_back(init), follower.buffers.push_back(sums);
  follower.reducer = std::move(both);
  for (const Id b : leader.buffers) {
    c.p.buffers.at(b).stage = follower.id;
    c.p.buffers.at(b).rank = follower.spatial_rank();
  }
  take_nest(c, leader.name, first);
  const Id gone = leader.id;
  c.p.stages.erase(gone);
  return follower.id;
}

void apply_roll(Context& c) {
  // match
  ir::Stage &follower = c.stage(0), &leader = c.stage(1);
  const Pair pair = pair_of(c, follower, leader);
  const Stmt &nest = only_nest(c, follower), &first = only_nest(c, leader);
  require_beside(c, follower, leader, nest, first);
  const ir::Substitution to = require_one_domain(c, follower, leader);
  const Sampled sampled = sampled_of(c, follower, leader, pair.type);
  const bool later = at_follower(c, follower, leader, nest, first);
  // prove
  prove_rolled(c, follower, leader, pair, sampled);
  // rewrite
  const ir::Stage gone = later ? leader : follower;
  const Id made =
      later ? into_follower(c, gone, follower, pair, to, first.id) : into_leader(c, gone, leader, pair, to, nest.id, first.id);
  // remap
  c.consume(gone.id, gone.name, "was rolled into " + c.p.stage(made).name, {made});
  c.results = {made};
}

std::string line_of_roll(CppCall& w, const Step& s) {
  const std::string leader = w.stage_ref(s.args[1].id);
  return w.stage(s.args[0].id) + ".roll(" + leader + ", " + rescale_text(s.args[2]) + ")";
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
std::pair<ir::Id, Expr> Stage::leader_and_rescale_(const schedule::Primitive& of, StageRef r, const std::array<Expr, 2>& values,
                                                   const Expr& rescale, Where w) const {
  const char* call = of.spelling;
  const ir::Id leader = state_->scheduled.program.buffer(buffer_of(*state_, r, call, w)).stage;
  if (!leader) refuse(call, "a maximum or minimum that leads", "an input", w);
  if (rescale.empty()) refuse(call, "a rescale of two values", "nothing", w);
  const Type type = values[0].type();
  const Expr f = ir::substitute(
      rescale, {{values[0].node()->id, ir::var(1, "old", type)}, {values[1].node()->id, ir::var(2, "now", type)}});
  bool others = false;
  ir::walk(f, [&](const Expr& e) { return others = others || ir::is(e, ir::Op::load), !others; });
  for (const ir::Id v : ir::free_vars(f)) others = others || v > 2;
  if (others) refuse(call, "a rescale of its two values alone", ir::text(rescale), w);
  return {leader, f};
}
Stage Stage::roll_(StageRef r, const std::array<Expr, 2>& values, const Expr& rescale, Where w) const {
  const auto [leader, f] = leader_and_rescale_(schedule::roll_primitive, r, values, rescale, w);
  return Stage(apply(schedule::roll_primitive, {Arg::stage(id_), Arg::stage(leader), Arg::map({1, 2}, {f})}, w)[0], state_);
}

}  // namespace ashlar
