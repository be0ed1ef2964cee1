// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rfactor(stage, loop): the reduction is taken apart at one of its loops. A new stage, the partial, reduces over all other
// reduction loops, with the iterations of the loop as a last dimension of its own (or, with `first`, the first one); the stage
// reduces the partials over it.
//
//   C[i] = sum A[i, ko * 8 + ki]           C_rf[i, ki] = sum over ko of A[i, ko * 8 + ki]
//     loops i, ko, ki; rfactor(ki)   ->    C[i]        = sum over ki of C_rf[i, ki]
//
// The stage keeps its loops except for the other reduction loops; the partial is computed just before it, and compute_at places
// it. With the loop outside of the tile loops this is accumulation through memory: partial sums of a block of k in registers,
// added to the stage's storage at every step, of which the first stores.
//
// Of a scatter the partial is one too, into an element of each iteration of the loop: private results, added afterwards.
//
//   C[b] += 1 at b = x[io * 8 + ii]        C_rf[b, io] += 1 at b = x[io * 8 + ii]
//     init b; steps io, ii; rfactor(io) ->   for io: init b; steps ii
//                                          C[b] = sum over io of C_rf[b, io]
//
// Legality: REASSOC (Suriana, Adams, Kamil: Parallel associative reductions in Halide, CGO 2017, gives the method).
#include <algorithm>

#include <ashlar/analysis/thread_tree.h>

#include <ashlar/ir/vscale.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {
namespace {

// Of a reducer that may be regrouped and does not commute: does the loop take its terms apart into runs of neighbors, first
// the first run? So it is with the outermost of the loops over the terms, as long as these stand in the order of definition.
bool keeps_order(const Program& p, const ir::Stage& stage, const Stmt& nest, Id axis) {
  if (stage.reducer.order != ir::Reducer::Order::regroup) return false;
  for (const ir::Root& r : nest.get<NestStmt>().roots)
    for (Id leaf : ir::leaves_of(p, r.axis))
      if (p.axis(leaf).reduce) return leaf == axis;  // the first in the order of definition
  return false;
}

// The nest of a scatter becomes that of an ordinary reduction: the loops of the init, and in them `loop` around the block.
// False for a statement without an init.
bool reduce_in_init(std::vector<Stmt>& body, const Stmt& loop) {
  for (std::size_t k = 0; k < body.size(); ++k) {
    Stmt& s = body[k];
    const BlockStmt* leaf = s.as<BlockStmt>();
    const bool init = leaf && leaf->piece == ir::Piece::init;
    if (!init && !(s.has_body() && reduce_in_init(s.body(), loop))) continue;
    if (init) {
      Stmt steps = loop, block = s;
      block.get<BlockStmt>().piece = ir::Piece::whole;
      steps.body().clear();
      steps.body().push_back(std::move(block));
      s = std::move(steps);
    }
    Stmt kept = std::move(s);
    body.clear();
    body.push_back(std::move(kept));
    return true;
  }
  return false;
}

// The extent of a reduction's axis over iteration variables (its nest has it over loops): root extents are from definitions.
Expr extent_over(const Program& p, const ir::Stage& stage, Id id) {
  const ir::Axis& a = p.axis(id);
  switch (a.origin) {
    case ir::Axis::Origin::root:
      for (const ir::IterVar& v : stage.iters)
        if (v.id == a.iter) return ir::max(ir::index(0), ir::sub(v.end, v.begin));
      break;
    case ir::Axis::Origin::split_outer:
      return ir::ceil_div(extent_over(p, stage, a.parent), a.factor);
    case ir::Axis::Origin::split_inner:
      return a.factor;
    case ir::Axis::Origin::skewed:  // of spatial loops alone
      break;
    case ir::Axis::Origin::fused:
      return ir::mul(extent_over(p, stage, a.outer), extent_over(p, stage, a.inner));
  }
  throw InternalError("an axis of " + stage.name + " without a root");
}

bool by_factors(const Program& p, Id axis) {
  const std::vector<Id>& became = p.axis(axis).became;
  return became.size() != 1 &&
         std::all_of(became.begin(), became.end(), [&](Id n) { return p.axis(n).parts == 0 && by_factors(p, n); });
}

// Bounds that depend on spatial variables (triangles, rows that a table bounds) become those of the partial, which has these
// variables as well. The loop itself has to be alike at every point, as the partial's new dimension is.
bool follows_points(Context& c, const ir::Stage& stage, const Stmt& nest, const Stmt& loop, bool tightened) {
  const auto uses = [](const Expr& e, const ir::IterVar& w) { return ir::uses_var(e, w.id); };
  bool follows = false;
  for (const ir::IterVar& v : stage.iters)
    for (const ir::IterVar& w : stage.iters) {
      if (v.kind != ir::IterKind::reduce || !(uses(v.begin, w) || uses(v.end, w))) continue;
      follows = true;
      const std::string found = v.name + " in [" + ir::text(v.begin) + ", " + ir::text(v.end) + ")";
      if (w.kind == ir::IterKind::reduce) c.refuse("a reduction whose bounds do not depend on " + w.name, found);
      if (tightened) c.refuse("loops that were not tightened, where bounds depend on " + w.name, found);
      for (const ir::Root& r : nest.get<NestStmt>().roots)
        if (c.p.axis(r.axis).reduce && !by_factors(c.p, r.axis))
          c.refuse("reduction loops that are split by factors alone, where bounds depend on " + w.name, name_of(c.p, loop));
      if (uses(extent_over(c.p, stage, loop.get<LoopStmt>().axis), w))
        c.refuse("a loop whose extent does not depend on " + w.name + " (split it, and take the inner one)",
                 name_of(c.p, loop) + ", of " + found);
    }
  return follows;
}

// ---- match -----------------------------------------------------------------------------------------------------------------

// What is taken apart: the loop, and the other reduction leaves in the order of their loops.
struct Factored {
  ir::Axis axis;
  bool first = false;  // the new dimension
  std::vector<Id> others;
  std::map<Id, Expr> tight;  // of those, the ends of loops that follow the domain: the partial's domain follows it too
  bool follows = false;      // bounds depend on points
};

void require_plain_loops(Context& c, const ir::Stage& stage, const Stmt& nest) {
  for (const ir::IterVar& v : stage.iters)
    if (v.descending)
      c.refuse("loops in the order of their variables (move this call before reverse)", v.name + " of " + stage.name);
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const NestStmt* n = s.as<NestStmt>())
      c.refuse("a stage with nothing placed in it yet (move rfactor before compute_at of its producers)",
               c.p.stage(n->stage).name + " inside " + stage.name);
    const LoopStmt* l = s.as<LoopStmt>();
    if (!l) return;
    require_undivided_loop(c, s);
    if (l->combines || l->pipeline)
      c.refuse(
          "loops without a kind yet (move this call before " + std::string(l->combines ? "cross_thread_reduce)" : "pipeline)"),
          name_of(c.p, s));
  });
}

Factored factored(Context& c, const ir::Stage& stage, const Stmt& nest, const Stmt& loop) {
  Factored f;
  f.first = c.count() > 2 && c.word(2) == "first";
  f.axis = c.p.axis(loop.get<LoopStmt>().axis);
  if (!f.axis.reduce) c.refuse("a reduction loop", name_of(c.p, loop) + ", a spatial one");
  require_plain_loops(c, stage, nest);
  ir::walk(nest.body(), [&](const Stmt& s) {
    const LoopStmt* l = s.as<LoopStmt>();
    if (!l || !c.p.axis(l->axis).reduce) return;
    if (l->axis != f.axis.id) f.others.push_back(l->axis);
    if (l->tight) f.tight[l->axis] = ir::range_of(c.p, s).end;
  });
  const auto is_own = [&](Id leaf) {
    return leaf == f.axis.id || std::find(f.others.begin(), f.others.end(), leaf) != f.others.end();
  };
  for (const auto& [id, a] : c.p.axes) {
    if (a.origin != ir::Axis::Origin::split_inner || !ir::uses_var(a.factor, ir::vscale_id)) continue;
    const std::vector<Id> leaves = ir::leaves_of(c.p, id);  // itself, or what it was fused into
    if (std::any_of(leaves.begin(), leaves.end(), is_own))
      c.refuse("reduction loops of so many iterations on every machine (rfactor before the split into scalable lanes)",
               a.name + " of " + stage.name + " in " + ir::text(a.factor));
  }
  if (f.tight.count(f.axis.id)) c.refuse("a loop that was not tightened (tighten the other ones)", name_of(c.p, loop));
  return f;
}

// ---- prove -----------------------------------------------------------------------------------------------------------------

void prove_factored(Context& c, const ir::Stage& stage, const Stmt& nest, const Stmt& loop, Factored& f) {
  if (!keeps_order(c.p, stage, nest, f.axis.id))
    prove_reassociation(c, stage, "rfactor sums its parts apart",
                        "the terms of " + f.axis.name + " = 0 and of " + f.axis.name +
                            " = 1 are summed apart and then added, where the definition adds term after term");
  prove_joinable(c, stage, "a part without terms is the identity");
  f.follows = follows_points(c, stage, nest, loop, !f.tight.empty());
  for (const auto& [id, a] : c.p.axes)
    if (a.reduce && a.origin == ir::Axis::Origin::split_outer && a.tail == ir::Tail::shift)
      throw InternalError("a reduction split by shift");
}

// ---- rewrite: the partial --------------------------------------------------------------------------------------------------

// The partial's definition, and what its variables are of the stage's.
struct Partial {
  ir::Stage stage;
  ir::IterVar step;          // its new dimension
  std::ptrdiff_t place = 0;  // of it
  ir::Substitution points;   // spatial variables of the stage -> those of the partial
  ir::Substitution leaves;   // leaf axes -> variables
  std::vector<Expr> reads;   // the stage's own point
};

// The extent of an axis of the reduction, as the partial has it.
Expr extent_in(const Context& c, const ir::Stage& stage, const Factored& f, const Partial& p, Id axis) {
  return f.follows ? ir::substitute(extent_over(c.p, stage, axis), p.points) : c.p.axis(axis).extent;
}

Partial variables_of(Context& c, const ir::Stage& stage, const Factored& f) {
  Partial p;
  p.stage.id = c.p.fresh();
  p.stage.name = stage.name + "_rf";
  p.stage.where = c.step.where;
  p.stage.reducer = stage.reducer;
  for (std::size_t k = 0; k < stage.buffers.size(); ++k)
    p.stage.inits.push_back(analysis::identity_of(stage.reducer, k, c.p.buffer(stage.buffers[k]).type));
  p.stage.origin = ir::Stage::Origin::rfactor;
  p.stage.origin_of = stage.id;
  for (const ir::IterVar& v : stage.iters) {
    if (v.kind == ir::IterKind::reduce) continue;
    ir::IterVar w = v;
    w.id = c.p.fresh();
    w.begin = w.end = Expr();  // what the stage needs of it
    p.stage.iters.push_back(w);
    p.points.emplace_back(v.id, ir::var(w.id, w.name));
    p.reads.push_back(ir::var(v.id, v.name));
  }
  p.step.id = c.p.fresh();
  p.step.name = f.axis.name;
  p.step.where = c.step.where;
  p.place = static_cast<std::ptrdiff_t>(f.first ? 0 : p.stage.iters.size());
  p.stage.iters.insert(p.stage.iters.begin() + p.place, p.step);
  p.leaves = {{f.axis.id, ir::var(p.step.id, p.step.name)}};
  for (Id other : f.others) {
    ir::IterVar w;
    w.id = c.p.fresh();
    w.name = c.p.axis(other).name;
    w.kind = ir::IterKind::reduce;
    w.begin = ir::index(0);
    w.end = f.tight.count(other) ? ir::substitute(f.tight.at(other), p.leaves) : extent_in(c, stage, f, p, other);
    w.where = c.step.where;
    p.stage.iters.push_back(w);
    p.leaves.emplace_back(other, ir::var(w.id, w.name));
  }
  return p;
}

analysis::Facts facts_of(const Program& program, const Factored& f, const Partial& p) {
  analysis::Facts facts = analysis::facts_of_arguments(program);
  facts.range(p.step.id, ir::index(0), ir::sub(f.axis.extent, ir::index(1)));
  for (const ir::IterVar& w : p.stage.iters)
    if (w.kind == ir::IterKind::reduce) facts.range(w.id, w.begin, ir::sub(w.end, ir::index(1)));
  return facts;
}

// Where the points of a root's guarded splits end. Padded terms are zero, whoever sums them.
void add_guards(const Context& c, const ir::Stage& stage, const Factored& f, Id root, const analysis::Facts& facts,
                Partial& p) {
  std::vector<Id> pending{root};
  while (!pending.empty()) {
    const ir::Axis& a = c.p.axis(pending.back());
    pending.pop_back();
    for (Id n : a.became) pending.push_back(n);
    if (a.became.size() != 2) continue;
    const ir::Tail tail = c.p.axis(a.became[0]).tail;
    if (tail == ir::Tail::exact || tail == ir::Tail::pad || f.tight.count(a.became[1])) continue;
    const Expr value = ir::substitute(ir::axis_value(c.p, a.id), p.leaves);
    const Expr atom = analysis::simplify(ir::lt(value, extent_in(c, stage, f, p, a.id)), facts);
    if (!ir::is_int(atom, 1) && !analysis::can_prove(atom, facts)) p.stage.domain.push_back(atom);
  }
}

// From the stage's variables to the partial's, those of the reduction by the loops that they became.
ir::Substitution to_partial(const Context& c, const ir::Stage& stage, const Stmt& nest, const Factored& f, Partial& p) {
  const analysis::Facts facts = facts_of(c.p, f, p);
  const auto begin = [&](const ir::Root& r) {
    if (!f.follows) return r.begin;
    for (const ir::IterVar& v : stage.iters)
      if (v.id == r.iter) return ir::substitute(v.begin, p.points);
    throw InternalError("a root of " + stage.name + " without a variable");
  };
  ir::Substitution to = p.points;
  for (const ir::Root& r : nest.get<NestStmt>().roots) {
    if (!c.p.axis(r.axis).reduce) continue;
    const Expr value = ir::substitute(ir::axis_value(c.p, r.axis), p.leaves);
    to.emplace_back(r.iter, analysis::simplify(ir::add(begin(r), value), facts));
    add_guards(c, stage, f, r.axis, facts, p);
  }
  return to;
}

bool is_of_steps(const ir::Stage& s, const Expr& atom) {
  return std::any_of(s.iters.begin(), s.iters.end(),
                     [&](const ir::IterVar& w) { return w.kind == ir::IterKind::reduce && ir::uses_var(atom, w.id); });
}

// The partial's formulas. What comes back is the conditions that use no loop it reduces over, which say which partials there
// are: the stage sums no others. One that was on steps stays so, also where only one value of the step is possible: it skips
// terms, while a condition on points alone would leave a point without a value.
std::vector<Expr> define(const ir::Stage& stage, const ir::Substitution& to, Partial& p) {
  for (const Expr& v : stage.values) p.stage.values.push_back(ir::substitute(v, to));
  for (const Expr& e : stage.targets) p.stage.targets.push_back(ir::substitute(e, to));
  const Expr at_step = ir::var(p.step.id, p.step.name);
  if (stage.scatters()) p.stage.targets.insert(p.stage.targets.begin() + p.place, at_step);
  if (!stage.keep.empty()) p.stage.keep = ir::substitute(stage.keep, to);
  std::vector<bool> of_steps(p.stage.domain.size(), true);
  for (const Expr& atom : stage.domain) {
    p.stage.domain.push_back(ir::substitute(atom, to));
    of_steps.push_back(is_of_steps(stage, atom));
  }
  std::vector<Expr> kept;
  for (std::size_t k = 0; k < p.stage.domain.size(); ++k) {
    const Expr& atom = p.stage.domain[k];
    if (is_of_steps(p.stage, atom)) continue;
    if (!of_steps[k] || ir::uses_var(atom, p.step.id))
      kept.push_back(atom);
    else
      kept.push_back(ir::is_int(atom) && atom.node()->i == 0 ? ir::lt(at_step, ir::index(0))
                                                             : ir::logic_and(atom, ir::ge(at_step, ir::index(0))));
  }
  return kept;
}

void store(Context& c, const ir::Stage& stage, Partial& p) {
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) {
    ir::Buffer buffer;
    buffer.id = c.p.fresh();
    buffer.name = p.stage.name + (stage.buffers.size() == 1 ? "" : std::to_string(k));
    buffer.type = c.p.buffer(stage.buffers[k]).type;
    buffer.rank = static_cast<int>(p.reads.size()) + 1;
    buffer.stage = p.stage.id;
    buffer.where = c.step.where;
    p.stage.buffers.push_back(buffer.id);
    c.p.buffers[buffer.id] = buffer;
  }
}

// ---- rewrite: the stage ----------------------------------------------------------------------------------------------------

// One reduction loop is left, over the partials. Its variable.
ir::IterVar sum_partials(Context& c, ir::Stage& stage, const Factored& f, const Partial& p, const std::vector<Expr>& atoms) {
  ir::IterVar over;
  over.id = c.p.fresh();
  over.name = f.axis.name;
  over.kind = ir::IterKind::reduce;
  over.begin = ir::index(0);
  over.end = f.axis.extent;
  over.where = c.step.where;
  std::erase_if(stage.iters, [](const ir::IterVar& v) { return v.kind == ir::IterKind::reduce; });
  ir::Substitution back{{p.step.id, ir::var(over.id, over.name)}};  // from the partial's variables to those of the stage
  for (std::size_t k = 0; k < stage.iters.size(); ++k)
    back.emplace_back(p.stage.iters[f.first ? k + 1 : k].id, ir::var(stage.iters[k].id, stage.iters[k].name));
  stage.iters.push_back(over);
  std::vector<Expr> reads = p.reads;
  reads.insert(reads.begin() + p.place, ir::var(over.id, over.name));
  stage.values.clear();
  for (Id b : p.stage.buffers) stage.values.push_back(ir::load(b, c.p.buffer(b).name, c.p.buffer(b).type, reads, c.step.where));
  stage.domain.clear();
  stage.targets.clear();
  stage.keep = Expr();
  for (const Expr& atom : atoms) stage.domain.push_back(ir::substitute(atom, back));
  stage.reducer.fused = false;
  return over;
}

// The loop runs over a variable of its own; those of the other reduction axes are gone. Which, with their names.
std::vector<std::pair<Id, std::string>> keep_loop(Context& c, Stmt& nest, const Stmt& loop, const ir::IterVar& over,
                                                  bool scattered) {
  NestStmt& node = nest.get<NestStmt>();
  const Id axis = loop.get<LoopStmt>().axis;
  std::vector<std::pair<Id, std::string>> gone;
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const LoopStmt* l = s.as<LoopStmt>(); l && c.p.axis(l->axis).reduce && l->axis != axis)
      gone.emplace_back(s.id, name_of(c.p, s));
  });
  ir::Axis& root = c.p.axes.at(axis);
  root.origin = ir::Axis::Origin::root;
  root.iter = over.id;
  root.parent = root.outer = root.inner = 0;
  root.parts = 0;
  root.factor = Expr();
  std::vector<Id> dead;
  for (const ir::Root& r : node.roots)
    if (c.p.axis(r.axis).reduce && r.axis != axis) dead.push_back(r.axis);
  std::erase_if(node.roots, [&](const ir::Root& r) { return c.p.axis(r.axis).reduce; });
  node.roots.push_back({over.id, axis, ir::index(0), over.end});
  if (const Stmt steps = loop; scattered)
    reduce_in_init(nest.body(), steps);
  else
    drop_reduction_loops(c.p, nest.body(), axis);
  while (!dead.empty()) {
    const Id a = dead.back();
    dead.pop_back();
    if (a == axis || !c.p.axes.count(a)) continue;
    for (Id n : c.p.axis(a).became) dead.push_back(n);
    c.p.axes.erase(a);
  }
  return gone;
}

// The first step stores, but where conditions may leave it out.
void let_first_store(Stmt& nest, bool stores) {
  ir::walk(nest.body(), [&](Stmt& s) {
    if (BlockStmt* block = s.as<BlockStmt>()) block->first_stores = stores && block->piece == ir::Piece::whole;
  });
}

void apply_rfactor(Context& c) {
  // match
  ir::Stage& stage = c.stage(0);
  Stmt& loop = c.loop(1);
  require_serial(c, loop), require_whole(c, loop);
  Stmt& nest = only_nest(c, stage);
  if (nest_of(c.p, loop.id).id != nest.id) c.refuse("a loop of " + stage.name, name_of(c.p, loop));
  Factored f = factored(c, stage, nest, loop);
  // prove
  prove_factored(c, stage, nest, loop, f);
  // rewrite
  Partial p = variables_of(c, stage, f);
  const ir::Substitution to = to_partial(c, stage, nest, f, p);
  const std::vector<Expr> atoms = define(stage, to, p);
  store(c, stage, p);
  const bool scattered = stage.scatters();
  const ir::IterVar over = sum_partials(c, stage, f, p, atoms);
  c.p.stages[p.stage.id] = p.stage;
  const auto gone = keep_loop(c, nest, loop, over, scattered);
  let_first_store(nest, atoms.empty() && !stage.atomic);
  std::vector<Stmt> before;
  for (Id b : p.stage.buffers) before.push_back(fresh_alloc(c.p, b, c.step.where));
  before.push_back(fresh_nest(c.p, p.stage, c.step.where));
  insert_before(c.p, nest.id, std::move(before));
  // remap
  c.results = {p.stage.id};
  for (const auto& [id, name] : gone) c.consume(id, name, "went to " + p.stage.name + " by rfactor", {});
}

bool draw_rfactor(Draw& d) {
  const Id stage = d.stage();
  std::vector<const Stmt*> loops;
  for (const Stmt* l : loops_of(d.p, stage))
    if (d.p.axis(l->get<LoopStmt>().axis).reduce) loops.push_back(l);
  if (loops.empty() && d.one_in(20)) loops = loops_of(d.p, stage);
  if (loops.empty()) return false;
  std::vector<Arg> args{Arg::stage(stage), Arg::loop(d.any(loops)->id)};
  if (d.one_in(3)) args.push_back(Arg::text("first"));
  d.reassociates = d.p.stage(stage).is_reduction() && order_matters(d.p, d.p.stage(stage));
  return d.step("rfactor", std::move(args));
}

}  // namespace

extern constexpr Primitive rfactor_primitive{
    .name = "rfactor",
    .spelling = "rfactor",
    .parameters = {takes::stage(), takes::loop(), takes::word("place", "last first").as("Place::").maybe()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_rfactor,
    .cpp = of_stage,
    .draw = Drawing{.often = 1, .draw = draw_rfactor},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::rfactor(Loop l, Where w) const {
  return Stage(apply(schedule::rfactor_primitive, {Arg::stage(id_), own(l, schedule::rfactor_primitive, w)}, w)[0], state_);
}
Stage Stage::rfactor(Loop l, Place place, Where w) const {
  if (place == Place::last) return rfactor(l, w);
  const schedule::Primitive& rfactor = schedule::rfactor_primitive;
  return Stage(apply(rfactor, {Arg::stage(id_), own(l, rfactor, w), Arg::text("first")}, w)[0], state_);
}

}  // namespace ashlar
