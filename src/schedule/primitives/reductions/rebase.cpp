// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rebase(terms, leader, rescale): terms that read the maximum of all read that of their own part instead, so that a part needs
// nothing of the others. Where the sums of the parts are added, each is worth rescale(its maximum, the maximum of all).
//
//   top[i]      = maximum over p of top_rf[i, p]               top_rf[i, p]   = maximum over k of x[i, 64 p + k]
//   e[i, j]     = exp(x[i, j] - top[i])
//   total[i]    = sum over p of total_rf[i, p]                 total_rf[i, p] = sum over k of e[i, 64 p + k]
//
//     rebase(e, top, exp(old - now))   ->   e[i, j]  = exp(x[i, j] - top_rf[i, j / 64])
//                                           total[i] = sum over p of total_rf[i, p] * exp(top_rf[i, p] - top[i])
//
// The parts are made before, by rfactor. Now `roll` makes one pass of top and total, a part at a time: all of its terms are met
// with one maximum, and one rescale is computed for all (Dao: FlashAttention-2, 2023). Sums whose terms are products with what
// is rebased follow as well, sums of vectors too. In such a product what is rebased may be rounded to a narrower float and
// back, f32(bf16(e[i, j])) * v[j]: the rounding is relative, so a product moves by as much as it is off. A zero may skip its
// product, select(e[i, j] == 0, 0, e[i, j] * v[j]): which e are 0 stays, except for those that underflow.
//
// Legality: REASSOC of the sums; the terms obey the rescale, term(now) = term(old) * rescale(old, now), which is looked at for
// a few values, as it is declared and not proved. A part of the leader has the terms that the part of the sums reads, so a term
// is bounded by its part's maximum as it was by the maximum of all: exp(x - top_rf) cannot overflow where exp(x - top) does
// not.
#include <algorithm>

#include "schedule/calls.h"
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"
#include "schedule/primitives/rescale.h"

namespace ashlar::schedule {
namespace {

// A sum of a part's terms, and the sum of those.
struct Follower {
  Id part = 0, whole = 0;
  std::size_t dim = 0;    // of the terms: it counts them
  std::size_t place = 0;  // of the part: the dimension that counts parts
  std::int64_t size = 0;  // terms of a part
  Expr begin;             // of the first part
};

bool is_load_of(const Expr& e, const ir::Stage& stage) {
  return ir::is(e, ir::Op::load) && e.node()->id == stage.buffers.front();
}
bool is_var(const Expr& e, Id id) { return ir::is(e, ir::Op::var) && e.node()->id == id; }

bool reads(const Expr& e, const ir::Stage& stage) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) { return found = found || is_load_of(x, stage), !found; });
  return found;
}

// Loads that begin with the reader's own first dimensions.
bool at_own(const Expr& load, const ir::Stage& reader, std::size_t rank) {
  const auto at = ir::args_of(load);
  for (std::size_t d = 0; d < rank; ++d)
    if (d >= at.size() || !is_var(at[d], reader.iters[d].id)) return false;
  return true;
}

// match: a reduction whose one value is an element of another stage, at its own point, its one step in dimension `place` of it.
const ir::Stage* parts_of(const Program& p, const ir::Stage& whole, std::size_t& place) {
  if (!whole.is_reduction() || whole.scatters() || whole.values.size() != 1 || !whole.domain.empty() ||
      whole.iters.size() != static_cast<std::size_t>(whole.spatial_rank()) + 1 || !ir::is(whole.values.front(), ir::Op::load))
    return nullptr;
  const auto at = ir::args_of(whole.values.front());
  const Id made = p.buffer(whole.values.front().node()->id).stage;
  if (!made || at.size() != whole.iters.size()) return nullptr;
  std::size_t own = 0;
  place = at.size();
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (place == at.size() && is_var(at[d], whole.iters.back().id))
      place = d;
    else if (!is_var(at[d], whole.iters[own++].id))
      return nullptr;
  }
  return place < at.size() ? &p.stage(made) : nullptr;
}

const ir::Stage& only_reader(const Context& c, const ir::Stage& stage, const std::string& what) {
  const std::vector<Id> all = readers_of(c.p, stage.id);
  if (all.size() != 1) c.refuse("one reader of " + stage.name + ", " + what, std::to_string(all.size()));
  return c.p.stage(all.front());
}

// The load of the terms in a factor: itself, or rounded to a narrower float and back.
Expr load_in(const Expr& factor, const ir::Stage& terms) {
  if (is_load_of(factor, terms)) return factor;
  if (!ir::is(factor, ir::Op::cast)) return {};
  const Expr& narrow = ir::args_of(factor)[0];
  const bool rounds = ir::is(narrow, ir::Op::cast) && narrow.type().is_float() && narrow.type().bits < factor.type().bits;
  if (!rounds || !is_load_of(ir::args_of(narrow)[0], terms) || !(ir::args_of(narrow)[0].type() == factor.type())) return {};
  return ir::args_of(narrow)[0];
}

// The product of a term that a zero of `terms` may skip: itself, or y of select(x == 0, 0, y) for a factor x of it.
Expr product_in(const Expr& value, const ir::Stage& terms) {
  if (ir::is(value, ir::Op::mul)) return value;
  if (!ir::is(value, ir::Op::select)) return {};
  const auto parts = ir::args_of(value);
  const auto zero = [](const Expr& e) { return ir::is(e, ir::Op::float_const) && e.node()->f == 0; };
  if (!ir::is(parts[0], ir::Op::eq) || !zero(ir::args_of(parts[0])[1]) || !zero(parts[1]) || !ir::is(parts[2], ir::Op::mul))
    return {};
  const Expr& tested = ir::args_of(parts[0])[0];
  const auto factors = ir::args_of(parts[2]);
  const bool own = !load_in(tested, terms).empty() && (ir::same(tested, factors[0]) || ir::same(tested, factors[1]));
  return own ? parts[2] : Expr{};
}

// match: one reader of the terms
Follower follower_of(const Context& c, const ir::Stage& terms, const ir::Stage& part, std::size_t rank) {
  const std::string expected = "sums of parts of " + terms.name + " (split and rfactor), or of products with it";
  const Expr& value = part.values.front();
  Expr load;
  if (part.reducer.kind == ir::ReducerKind::sum && part.values.size() == 1 && !part.scatters()) {
    if (is_load_of(value, terms)) load = value;
    if (const Expr product = product_in(value, terms); !product.empty())
      for (int k : {0, 1})
        if (const auto args = ir::args_of(product); load.empty() && !reads(args[1 - k], terms)) load = load_in(args[k], terms);
  }
  if (load.empty() || !at_own(load, part, rank)) c.refuse(expected, part.name);
  Follower f;
  f.part = part.id;
  const ir::Stage& whole = only_reader(c, part, "the sum of its parts");
  f.whole = whole.id;
  if (whole.reducer.kind != ir::ReducerKind::sum || parts_of(c.p, whole, f.place) != &part || f.place < rank)
    c.refuse("the sum of the parts of " + part.name, whole.name);
  const ir::IterVar& number = part.iters[f.place];
  const auto at = ir::args_of(load);
  const analysis::Facts facts = analysis::facts_of_arguments(c.p);
  const auto with = [&](const Expr& e, Id v, std::int64_t n) { return ir::substitute(e, {{v, ir::index(n)}}); };
  bool found = false;
  for (std::size_t d = rank; d < at.size(); ++d) {
    if (!ir::uses_var(at[d], number.id)) continue;
    if (found) c.refuse(expected, part.name + ", which reads " + ir::text(load));
    found = true, f.dim = d;
    Expr first = with(at[d], number.id, 0);
    const auto step = [&](Id v) {
      std::int64_t n = 0;
      const Expr next = ir::substitute(at[d], {{v, ir::add(ir::var(v, "v"), ir::index(1))}});
      return ir::is_int(analysis::simplify(ir::sub(next, at[d]), facts), &n) ? n : -1;
    };
    f.size = step(number.id);
    std::int64_t reached = 1;  // the terms of a part follow each other
    for (std::size_t k = part.iters.size(); k-- > 0;) {
      const ir::IterVar& v = part.iters[k];
      if (v.kind != ir::IterKind::reduce || !ir::uses_var(at[d], v.id)) continue;
      std::int64_t extent = 0;
      if (step(v.id) < 0 || !ir::is_int(v.begin, std::int64_t{0}) || !ir::is_int(v.end, &extent))
        c.refuse(expected, part.name + ", which reads " + ir::text(load));
      reached += step(v.id) * (extent - 1);
      first = with(first, v.id, 0);
    }
    f.begin = analysis::simplify(first, facts);
    for (const ir::IterVar& v : part.iters)
      if (ir::uses_var(f.begin, v.id)) c.refuse(expected, part.name + ", which reads " + ir::text(load));
    if (f.size < 1 || reached > f.size) c.refuse(expected, part.name + ", which reads " + ir::text(load));
  }
  if (!found) c.refuse(expected, part.name + ", which reads " + ir::text(load));
  return f;
}

// The terms, or the copy of them that is summed: past their end it has zeros, which any rescale leaves as they are.
const ir::Stage& met_as(const Program& p, Id terms) {
  const std::vector<Id> all = readers_of(p, terms);
  if (all.size() != 1) return p.stage(terms);
  const ir::Stage& copy = p.stage(all.front());
  const bool zeros = !copy.has_fill || (ir::is(copy.fill, ir::Op::float_const) && copy.fill.node()->f == 0);
  return copy.origin == ir::Stage::Origin::cache_read && zeros ? copy : p.stage(terms);
}

std::vector<Follower> followers_of(Context& c, const ir::Stage& terms, const ir::Stage& leader, std::size_t rank) {
  std::vector<Follower> all;
  const ir::Stage& met = met_as(c.p, terms.id);
  for (const Id id : readers_of(c.p, met.id)) {
    const Follower f = follower_of(c, met, c.p.stage(id), rank);
    if (!all.empty() && (f.dim != all.front().dim || f.size != all.front().size || !ir::same(f.begin, all.front().begin)))
      c.refuse("the same parts in all sums of " + terms.name, c.p.stage(id).name + " and " + c.p.stage(all.front().part).name);
    const ir::Stage& whole = c.p.stage(f.whole);
    const ir::IterVar &own = whole.iters.back(), &of_leader = leader.iters.back();
    if (!ir::same(own.begin, of_leader.begin) || !ir::same(own.end, of_leader.end))
      c.refuse("as many parts of " + whole.name + " as of " + leader.name,
               ir::text(own.end) + " and " + ir::text(of_leader.end));
    require_plain(c, whole, only_nest(c, whole));
    all.push_back(f);
  }
  if (all.empty()) c.refuse("terms that are summed", terms.name);
  return all;
}

// Does `e` have `part` in it, evaluated wherever e is?
bool has(const Expr& e, const Expr& part) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) { return found = found || ir::same(x, part), !found; });
  return found;
}

// The same of a term under a condition: select(when, term, nothing), where e has term inside of a select of that condition.
bool has_masked(const Expr& e, const Expr& part) {
  if (has(e, part)) return true;
  if (!ir::is(part, ir::Op::select)) return false;
  const auto own = ir::args_of(part);
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    found = found || (ir::is(x, ir::Op::select) && ir::same(ir::args_of(x)[0], own[0]) && has(ir::args_of(x)[1], own[1]));
    return !found;
  });
  return found;
}

// Part p of the leader has the leader's own terms at exactly the elements that part p of the sums adds.
void require_same_parts(const Context& c, const ir::Stage& terms, const ir::Stage& parts, std::size_t place, std::size_t rank,
                        const Follower& f) {
  const std::string expected = "parts of " + parts.name + " that have what " + terms.name + " reads at the same elements";
  const ir::IterVar *number = nullptr, *term = nullptr;
  ir::Substitution at_element;
  for (std::size_t d = 0, own = 0; d < parts.iters.size(); ++d) {
    const ir::IterVar& v = parts.iters[d];
    if (v.kind == ir::IterKind::reduce) {
      if (term) c.refuse(expected, parts.name + ", which reduces over more than one variable");
      term = &v;
    } else if (d == place) {
      number = &v;
    } else {
      at_element.emplace_back(terms.iters[own++].id, ir::var(v.id, v.name));
    }
  }
  std::int64_t size = 0;
  if (!number || !term || at_element.size() != rank || parts.values.size() != 1 || parts.scatters() ||
      !ir::is_int(term->begin, std::int64_t{0}) || !ir::is_int(term->end, &size) || size != f.size)
    c.refuse(expected, parts.name + ", whose parts have " + (term ? ir::text(term->end) : "no") + " terms, not " +
                           std::to_string(f.size));
  analysis::Facts facts = analysis::facts_of_arguments(c.p);
  const Expr element = analysis::simplify(
      ir::add(f.begin, ir::add(ir::mul(ir::var(number->id, number->name), ir::index(f.size)), ir::var(term->id, term->name))),
      facts);
  const ir::IterVar& counts = terms.iters[f.dim];
  at_element.emplace_back(counts.id, element);
  const auto simple = [&](const Expr& e) {
    return ir::transform(e, [&](const Expr& x) { return x.type().is_index() ? analysis::simplify(x, facts) : x; });
  };
  const Expr met = simple(parts.values.front()), term_there = simple(ir::substitute(terms.values.front(), at_element));
  if (!has_masked(term_there, met))
    c.refuse(expected, ir::text(met) + " of " + parts.name + " and " + ir::text(term_there) + " of " + terms.name);
  facts.bound(number->id, 0, std::nullopt);
  facts.bound(term->id, 0, size - 1);
  if (!counts.begin.empty()) facts.assume(ir::le(counts.begin, element));
  if (!counts.end.empty()) facts.assume(ir::lt(element, counts.end));
  for (const Expr& condition : parts.domain)
    if (!analysis::can_prove(condition, facts))
      c.refuse(expected, "terms of " + parts.name + " only where " + ir::text(condition));
}

void apply_rebase(Context& c) {
  // match
  ir::Stage& terms = c.stage(0);
  const ir::Stage& leader = c.stage(1);
  const Rescale rescale = rescale_of(c, 2);
  const bool rises = leader.reducer.kind == ir::ReducerKind::maximum;
  std::size_t place = 0;
  const ir::Stage* parts = rises || leader.reducer.kind == ir::ReducerKind::minimum ? parts_of(c.p, leader, place) : nullptr;
  const std::size_t rank = static_cast<std::size_t>(leader.spatial_rank());
  if (!parts) c.refuse("a maximum or minimum of those of parts (rfactor) that leads", leader.name);
  const Type type = c.p.buffer(leader.buffers.front()).type;
  if (!type.is_float() || !(rescale.factor.type() == type))
    c.refuse("a leader and a rescale of one floating type", ir::text(type) + " and " + ir::text(rescale.factor.type()));
  if (terms.is_reduction() || terms.is_recurrence() || terms.values.size() != 1 || !(terms.values.front().type() == type))
    c.refuse("a stage of one value of " + ir::text(type) + " for each term", terms.name);
  if (only_reader(c, leader, terms.name).id != terms.id) c.refuse("a leader that " + terms.name + " alone reads", leader.name);
  const Sampled sampled = sampled_of(c, terms, leader, type);
  require_plain(c, terms, only_nest(c, terms));
  const std::vector<Follower> followers = followers_of(c, terms, leader, rank);
  // prove
  require_same_parts(c, terms, *parts, place, rank, followers.front());
  for (const Follower& f : followers)
    prove_reassociation(c, c.p.stage(f.whole), "its parts are rescaled", "two parts, the second with a larger maximum");
  try_rescale(c, sampled, rescale, type, rises);
  // rewrite
  const ir::Buffer& of_part = c.p.buffer(parts->buffers.front());
  const auto part_at = [&](const ir::Stage& reader, const Expr& number) {
    std::vector<Expr> at;
    for (std::size_t d = 0; d < rank; ++d) at.push_back(ir::var(reader.iters[d].id, reader.iters[d].name));
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(place), number);
    return ir::load(of_part.id, of_part.name, of_part.type, at, c.step.where);
  };
  for (const Follower& f : followers) {
    ir::Stage& whole = c.p.stages.at(f.whole);
    const ir::IterVar& number = whole.iters.back();
    std::vector<Expr> own;
    for (std::size_t d = 0; d < rank; ++d) own.push_back(ir::var(whole.iters[d].id, whole.iters[d].name));
    const Expr all = ir::load(leader.buffers.front(), c.p.buffer(leader.buffers.front()).name, type, own, c.step.where);
    const Expr old = part_at(whole, ir::var(number.id, number.name));
    whole.values.front() = ir::mul(whole.values.front(), rescale.of(old, all));
  }
  const ir::IterVar& counts = terms.iters[followers.front().dim];
  const Expr at = ir::sub(ir::var(counts.id, counts.name), followers.front().begin);
  const Expr number = analysis::simplify(ir::div(at, ir::index(followers.front().size)), analysis::facts_of_arguments(c.p));
  const Expr own = part_at(terms, number);
  terms.values.front() = ir::transform(terms.values.front(), [&](const Expr& e) { return is_load_of(e, leader) ? own : e; });
}

std::string line_of_rebase(CppCall& w, const Step& s) {
  const std::string leader = w.stage_ref(s.args[1].id);
  return w.stage(s.args[0].id) + ".rebase(" + leader + ", " + rescale_text(s.args[2]) + ")";
}

struct ToRebase {
  Id leader = 0, terms = 0;
  std::vector<Id> sums;  // of the terms; empty: there are others, or none
};

// Maxima and minima that a stage of terms reads.
std::vector<ToRebase> to_rebase(const Program& p) {
  std::vector<ToRebase> all;
  for (const auto& [id, leader] : p.stages) {
    if (leader.reducer.kind != ir::ReducerKind::maximum && leader.reducer.kind != ir::ReducerKind::minimum) continue;
    for (const Id reader : readers_of(p, id)) {
      if (p.stage(reader).is_reduction()) continue;
      std::vector<Id> sums = readers_of(p, reader);
      if (std::any_of(sums.begin(), sums.end(), [&](Id s) { return p.stage(s).reducer.kind != ir::ReducerKind::sum; }))
        sums.clear();
      all.push_back({id, reader, sums});
    }
  }
  return all;
}

// The loop over the terms of a reduction that no step has changed.
const Stmt* whole_loop(const Program& p, Id stage) {
  const Stmt* found = nullptr;
  for (const Stmt* l : loops_of(p, stage)) {
    if (!p.axis(l->get<LoopStmt>().axis).reduce) continue;
    if (found || p.axis(l->get<LoopStmt>().axis).parent) return nullptr;
    found = l;
  }
  return found;
}

// Most often with the steps that take a maximum and sums apart: a split and an rfactor of each.
bool draw_rebase(Draw& d) {
  const std::vector<ToRebase> all = to_rebase(d.p);
  if (all.empty()) return false;
  const ToRebase r = d.any(all);
  const Type t = d.p.buffer(d.p.stage(r.leader).buffers.front()).type;
  if (!t.is_float()) return false;
  std::vector<Id> apart;
  if (!r.sums.empty()) apart = r.sums, apart.insert(apart.begin(), r.leader);
  if (std::all_of(apart.begin(), apart.end(), [&](Id s) { return whole_loop(d.p, s); }) && !apart.empty() && !d.one_in(8)) {
    const int size = d.factor();
    Id next = d.p.next_id;  // a split takes four ids: two axes, the outer and the inner loop
    for (const Id s : apart) {
      const char* tail = s == r.leader || d.one_in(2) ? "guard" : "pad";
      d.step("split", {Arg::loop(whole_loop(d.p, s)->id), Arg::integer(size), Arg::text(tail)});
    }
    for (const Id s : apart) d.step("rfactor", {Arg::stage(s), Arg::loop(next + 2)}), next += 4;
  }
  const bool rises = d.p.stage(r.leader).reducer.kind == ir::ReducerKind::maximum;
  bool powers = false;
  ir::walk(d.p.stage(r.terms).values.front(), [&](const Expr& e) { return powers |= ir::is(e, ir::Op::exp), !powers; });
  const Expr old = ir::var(1, "old", t), now = ir::var(2, "now", t);
  const Expr rescale = powers ? ir::unary(ir::Op::exp, rises ? ir::sub(old, now) : ir::sub(now, old))
                              : ir::select(ir::eq(old, now), ir::float_const(t, 1), ir::float_const(t, 0));
  d.reassociates = true;
  return d.step("rebase", {Arg::stage(r.terms), Arg::stage(r.leader), Arg::map({1, 2}, {rescale})});
}

bool may_rebase(const Draw& d) {
  const std::vector<ToRebase> all = to_rebase(d.p);
  return std::any_of(all.begin(), all.end(), [](const ToRebase& r) { return !r.sums.empty(); });
}

}  // namespace

extern constexpr Primitive rebase_primitive{
    .name = "rebase",
    .spelling = "rebase",
    .parameters = {takes::stage("terms"), takes::stage("leader"), takes::rescale()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_rebase,
    .cpp = line_of_rebase,
    .draw = Drawing{.often = 1, .draw = draw_rebase, .likely = may_rebase},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::rebase_(StageRef r, const std::array<Expr, 2>& values, const Expr& rescale, Where w) const {
  const auto [leader, factor] = leader_and_rescale_(schedule::rebase_primitive, r, values, rescale, w);
  return done(schedule::rebase_primitive, {Arg::stage(id_), Arg::stage(leader), Arg::map({1, 2}, {factor})}, w);
}

}  // namespace ashlar
