// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// associative_scan(stage, loop): a scan is taken apart at the outer loop of a split of what it runs along, in blocks of B.
// Their totals are reductions, a scan over the totals says what stands before each block, and each block is scanned by itself:
//
//   y(t) = y(t - 1) + v(t)            y_total(o) = sum over i of v(o B + i)
//     t split into o, i;       ->     y_carry(o) = y_carry(o - 1) + y_total(o - 1), 0 before the first
//     associative_scan(o)             y_block(o, i) = y_block(o, i - 1) + v(o B + i), 0 before the first of each block
//                                     y(t) = y_carry(t / B) + y_block(t / B, t % B)
//
// No iteration of o depends on another one but in y_carry, which is short. The stage keeps its loops, and is no recurrence any
// more; the other three stand just before it.
//
// A term is met twice, in a total and in a block: with y_block computed inside o, memory is read twice and written once.
//
// Legality: REASSOC (Blelloch: Prefix sums and their applications, 1990, gives the three phases).
#include <algorithm>

#include <ashlar/analysis/thread_tree.h>
#include <ashlar/ir/recurrence.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {
namespace {

struct Blocks {  // of the scan: t = begin + o size + i, o < count
  std::size_t dim;
  Expr begin, end, size, count;
  bool exact, descending;
  bool starts_alike;  // the first element is that of any step
  Expr whole(const Expr& o, const Expr& i) const { return ir::add(begin, ir::add(ir::mul(o, size), i)); }
  Expr inside(const Expr& o, const Expr& i) const { return ir::lt(ir::add(ir::mul(o, size), i), ir::sub(end, begin)); }
  // Before what a block, or a row of blocks, begins with there is nothing.
  Expr is_first(const Expr& at, const Expr& extent) const {
    return descending ? ir::ge(at, ir::sub(extent, ir::index(1))) : ir::lt(at, ir::index(1));
  }
  Expr before(const Expr& at) const { return descending ? ir::add(at, ir::index(1)) : ir::sub(at, ir::index(1)); }
};

// A stage over the points of another one, with `made` in the place of the dimension that is scanned.
struct Draft {
  ir::Stage stage;
  ir::Substitution to;      // from the scan's variables, the one it runs along left out
  std::vector<Expr> point;  // the stage's own variables, in order
};

ir::IterVar variable(Context& c, const std::string& name, ir::IterKind kind, const Expr& end) {
  ir::IterVar v;
  v.id = c.p.fresh();
  v.name = name;
  v.kind = kind;
  v.begin = ir::index(0);
  v.end = end;
  v.where = c.step.where;
  return v;
}

Draft draft(Context& c, const ir::Stage& scan, const Blocks& b, const char* suffix, const std::vector<ir::IterVar>& made) {
  Draft d;
  d.stage.id = c.p.fresh();
  d.stage.name = scan.name + suffix;
  d.stage.where = c.step.where;
  d.stage.origin = ir::Stage::Origin::scan;
  d.stage.origin_of = scan.id;
  for (std::size_t k = 0; k < scan.iters.size(); ++k) {
    if (k == b.dim) {
      for (const ir::IterVar& v : made) d.stage.iters.push_back(v);
      continue;
    }
    ir::IterVar v = scan.iters[k];
    v.id = c.p.fresh();
    d.stage.iters.push_back(v);
    d.to.emplace_back(scan.iters[k].id, ir::var(v.id, v.name));
  }
  for (const ir::IterVar& v : d.stage.iters) d.point.push_back(ir::var(v.id, v.name));
  for (std::size_t k = 0; k < scan.buffers.size(); ++k) {
    ir::Buffer buffer;
    buffer.id = c.p.fresh();
    buffer.name = d.stage.name + (scan.buffers.size() == 1 ? "" : std::to_string(k));
    buffer.type = c.p.buffer(scan.buffers[k]).type;
    buffer.rank = static_cast<int>(d.stage.iters.size());
    buffer.stage = d.stage.id;
    buffer.where = c.step.where;
    d.stage.buffers.push_back(buffer.id);
    c.p.buffers[buffer.id] = buffer;
  }
  return d;
}

std::vector<Expr> loads(const Context& c, const ir::Stage& from, const std::vector<Expr>& at) {
  std::vector<Expr> result;
  for (const Id b : from.buffers) result.push_back(ir::load(b, c.p.buffer(b).name, c.p.buffer(b).type, at, c.step.where));
  return result;
}

// Is `e` a step from the identity by the reducer's operator? Then it is its second operand.
bool steps_from(const Expr& e, ir::ReducerKind kind, const Expr& identity) {
  const bool by = (kind == ir::ReducerKind::sum && ir::is(e, ir::Op::add)) ||
                  (kind == ir::ReducerKind::product && ir::is(e, ir::Op::mul)) ||
                  (kind == ir::ReducerKind::minimum && ir::is(e, ir::Op::min)) ||
                  (kind == ir::ReducerKind::maximum && ir::is(e, ir::Op::max));
  return by && ir::args_of(e)[0].node() == identity.node();
}

// A value of the scan with other elements before it, a component each.
Expr with_before(const ir::Stage& scan, const Expr& value, const std::vector<Expr>& before) {
  return ir::transform(value, [&](const Expr& e) {
    for (std::size_t n = 0; n < scan.buffers.size(); ++n)
      if (ir::is(e, ir::Op::load) && e.node()->id == scan.buffers[n]) return before[n];
    return e;
  });
}

// The values of the scan at t, where the elements before it are `before`. `none`: those are the identity, which combined with a
// term is the term.
std::vector<Expr> values_with(const ir::Stage& scan, const Draft& d, const Blocks& b, const Expr& t,
                              const std::vector<Expr>& before, bool none) {
  ir::Substitution to = d.to;
  to.emplace_back(scan.iters[b.dim].id, t);
  std::vector<Expr> result;
  for (std::size_t k = 0; k < scan.values.size(); ++k) {
    const Expr value = b.starts_alike ? ir::args_of(scan.values[k])[2] : scan.values[k];
    const Expr there = with_before(scan, ir::substitute(value, to), before);
    result.push_back(!none ? there : ir::transform(there, [&](const Expr& e) {
      return steps_from(e, scan.scan.kind, before[k]) ? ir::args_of(e)[1] : e;
    }));
  }
  return result;
}

// Is select(start, first, step) the same as step, where nothing is before it but the identity?
bool starts_alike(const ir::Stage& scan, const std::vector<Expr>& identity) {
  return std::all_of(scan.values.begin(), scan.values.end(), [&](const Expr& value) {
    return ir::is(value, ir::Op::select) && ir::same(ir::args_of(value)[1], with_before(scan, ir::args_of(value)[2], identity));
  });
}

Blocks blocks_of(Context& c, const ir::Stage& stage, const Stmt& loop, const std::vector<Expr>& identity) {
  const ir::Axis& outer = c.p.axis(loop.get<LoopStmt>().axis);
  const std::size_t dim = stage.along.front();
  const ir::IterVar& t = stage.iters[dim];
  const std::string expected =
      "the outer loop of a split by a constant of " + t.name + ", along which " + stage.name + " scans";
  if (outer.origin != ir::Axis::Origin::split_outer) c.refuse(expected, name_of(c.p, loop));
  const ir::Axis& whole = c.p.axis(outer.parent);
  if (whole.origin != ir::Axis::Origin::root || whole.iter != t.id)
    c.refuse(expected, name_of(c.p, loop) + ", made of " + whole.name);
  std::int64_t size = 0;
  if (!ir::is_int(outer.factor, &size)) c.refuse(expected, "a split by " + ir::text(outer.factor));
  for (const ir::IterVar& v : stage.iters)
    for (const Expr* e : {&t.begin, &t.end})
      if (ir::uses_var(*e, v.id)) c.refuse("the same range of " + t.name + " at every point", ir::text(*e));
  Blocks b{dim, t.begin, t.end, outer.factor, {}, outer.tail == ir::Tail::exact, t.descending, starts_alike(stage, identity)};
  b.count = analysis::simplify(ir::ceil_div(ir::max(ir::index(0), ir::sub(t.end, t.begin)), b.size),
                               analysis::facts_of_arguments(c.p));
  return b;
}

void require_scan(Context& c, const ir::Stage& stage, const Stmt& nest) {
  if (stage.scan.kind == ir::ReducerKind::none)
    c.refuse("a scan",
             stage.name + (stage.is_recurrence() ? ", a recurrence by another step" : ", which does not read itself"));
  if (!ir::stages_inside(c.p, stage).empty()) c.refuse("a scan without stages inside of its step", stage.name);
  ir::walk(nest.body(), [&](const Stmt& s) {
    require_no_producer(c, stage, s);
    require_undivided_loop(c, s);
  });
}

// Blocks are combined with what is before them, where the definition combines term after term.
void prove_blocks(Context& c, const ir::Stage& stage, const std::string& loop) {
  ir::Stage terms = stage;
  terms.reducer = stage.scan;
  if (terms.reducer.order == ir::Reducer::Order::exact)
    c.unproved(Obligation::reassoc, "a reducer declared with Order::regroup or Order::any",
               terms.reducer.name + " of " + stage.name + ", whose terms are met in order",
               "the terms of " + loop + " = 1 are combined by themselves, and then with those of " + loop +
                   " = 0, where the definition combines term after term");
  prove_joinable(c, terms, "before the first block stands the identity");
}

// rewrite: the totals of blocks
Draft total_of(Context& c, const ir::Stage& scan, const Blocks& b, const std::string& o_name,
               const std::vector<Expr>& identity) {
  Draft total = draft(c, scan, b, "_total", {variable(c, o_name, ir::IterKind::spatial, b.count)});
  const ir::IterVar over = variable(c, scan.iters[b.dim].name, ir::IterKind::reduce, b.size);
  total.stage.iters.push_back(over);
  total.stage.reducer = scan.scan;
  total.stage.inits = identity;
  const Expr o = total.point[b.dim], i = ir::var(over.id, over.name);
  total.stage.values = values_with(scan, total, b, b.whole(o, i), identity, true);
  if (!b.exact) total.stage.domain.push_back(b.inside(o, i));
  return total;
}

// rewrite: what is before each block
Draft carry_of(Context& c, const ir::Stage& scan, const Blocks& b, const ir::Stage& total, const std::string& o_name,
               const std::vector<Expr>& identity) {
  Draft carry = draft(c, scan, b, "_carry", {variable(c, o_name, ir::IterKind::ordered, b.count)});
  carry.stage.along = {b.dim};
  carry.stage.iters[b.dim].descending = b.descending;
  carry.stage.scan = scan.scan;
  const Expr o = carry.point[b.dim];
  std::vector<Expr> at = carry.point;
  at[b.dim] = b.before(o);
  const std::vector<Expr> next = ir::combine(scan.scan, loads(c, carry.stage, at), loads(c, total, at));
  for (std::size_t k = 0; k < next.size(); ++k)
    carry.stage.values.push_back(ir::select(b.is_first(o, b.count), identity[k], next[k]));
  return carry;
}

// rewrite: each block by itself
Draft block_of(Context& c, const ir::Stage& scan, const Blocks& b, const std::string& o_name,
               const std::vector<Expr>& identity) {
  Draft block = draft(c, scan, b, "_block",
                      {variable(c, o_name, ir::IterKind::spatial, b.count),
                       variable(c, scan.iters[b.dim].name, ir::IterKind::ordered, b.size)});
  block.stage.along = {b.dim + 1};
  block.stage.iters[b.dim + 1].descending = b.descending;
  block.stage.scan = scan.scan;
  const Expr o = block.point[b.dim], i = block.point[b.dim + 1];
  std::vector<Expr> at = block.point, before;
  at[b.dim + 1] = b.before(i);
  const std::vector<Expr> loaded = loads(c, block.stage, at);
  for (std::size_t k = 0; k < loaded.size(); ++k) before.push_back(ir::select(b.is_first(i, b.size), identity[k], loaded[k]));
  const std::vector<Expr> values = values_with(scan, block, b, b.whole(o, i), before, false);
  for (std::size_t k = 0; k < values.size(); ++k)
    block.stage.values.push_back(b.exact ? values[k] : ir::select(b.inside(o, i), values[k], identity[k]));
  return block;
}

// rewrite: the stage, both together
void join(Context& c, ir::Stage& stage, const Blocks& b, const ir::Stage& carry, const ir::Stage& block) {
  std::vector<Expr> at;
  for (const ir::IterVar& v : stage.iters) at.push_back(ir::var(v.id, v.name));
  const Expr from = ir::sub(at[b.dim], b.begin);
  at[b.dim] = ir::div(from, b.size);
  const std::vector<Expr> left = loads(c, carry, at);
  at.insert(at.begin() + static_cast<std::ptrdiff_t>(b.dim) + 1, ir::mod(from, b.size));
  stage.values = ir::combine(stage.scan, left, loads(c, block, at));
  stage.along.clear();
  stage.scan = {};
  for (ir::IterVar& v : stage.iters) v.kind = ir::IterKind::spatial;
}

void apply_associative_scan(Context& c) {
  // match
  ir::Stage& stage = c.stage(0);
  Stmt& loop = c.loop(1);
  Stmt& nest = only_nest(c, stage);
  require_scan(c, stage, nest);
  require_serial(c, loop), require_whole(c, loop);
  if (nest_of(c.p, loop.id).id != nest.id) c.refuse("a loop of " + stage.name, name_of(c.p, loop));
  std::vector<Expr> identity;
  for (std::size_t k = 0; k < stage.buffers.size(); ++k)
    identity.push_back(analysis::identity_of(stage.scan, k, c.p.buffer(stage.buffers[k]).type));
  const Blocks b = blocks_of(c, stage, loop, identity);
  const std::string o_name = c.p.axis(loop.get<LoopStmt>().axis).name;
  // prove
  prove_blocks(c, stage, o_name);
  // rewrite
  const ir::Stage scan = stage;
  const Draft total = total_of(c, scan, b, o_name, identity);
  const Draft carry = carry_of(c, scan, b, total.stage, o_name, identity);
  const Draft block = block_of(c, scan, b, o_name, identity);
  join(c, stage, b, carry.stage, block.stage);
  std::vector<Stmt> before;
  for (const Draft* d : {&total, &carry, &block}) {
    c.p.stages[d->stage.id] = d->stage;
    for (const Id buffer : d->stage.buffers) before.push_back(fresh_alloc(c.p, buffer, c.step.where));
    before.push_back(fresh_nest(c.p, d->stage, c.step.where));
  }
  insert_before(c.p, nest.id, std::move(before));
  // remap
  c.results = {total.stage.id, carry.stage.id, block.stage.id};
}

// Of a scan that is split for it; the split takes four ids, for two axes and their loops.
bool draw_associative_scan(Draw& d) {
  const Program& p = d.p;
  std::vector<Id> scans;
  for (const Id id : d.stages())
    if (p.stage(id).scan.kind != ir::ReducerKind::none || (p.stage(id).is_recurrence() && d.one_in(8))) scans.push_back(id);
  if (scans.empty()) return false;
  const ir::Stage& stage = p.stage(d.any(scans));
  const Id along = stage.iters[stage.along.front()].id;
  const std::vector<const Stmt*> loops = loops_of(p, stage.id);
  const auto own =
      std::find_if(loops.begin(), loops.end(), [&](const Stmt* l) { return p.axis(l->get<LoopStmt>().axis).iter == along; });
  if (own == loops.end()) return false;
  const Arg tail = Arg::text(d.one_in(4) ? "exact" : "guard");
  d.step("split", {Arg::loop((*own)->id), Arg::integer(d.factor()), tail});
  ir::Stage combined = stage;
  combined.reducer = combined.scan;
  d.reassociates = order_matters(p, combined);
  return d.step("associative_scan", {Arg::stage(stage.id), Arg::loop(p.next_id + (d.one_in(10) ? 3 : 2))});
}

}  // namespace

extern constexpr Primitive associative_scan_primitive{
    .name = "associative_scan",
    .spelling = "associative_scan",
    .parameters = {takes::stage(), takes::loop()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_associative_scan,
    .cpp = of_stage,
    .draw = Drawing{.often = 2, .draw = draw_associative_scan},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

std::array<Stage, 3> Stage::associative_scan(Loop l, Where w) const {
  const schedule::Primitive& scan = schedule::associative_scan_primitive;
  const std::vector<ir::Id> made = apply(scan, {Arg::stage(id_), own(l, scan, w)}, w);
  return {Stage(made[0], state_), Stage(made[1], state_), Stage(made[2], state_)};
}

}  // namespace ashlar
