// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rfactor(stage, loop): the reduction is taken apart at one of its loops. A new stage, the partial, reduces over all other
// reduction loops, with the iterations of the loop as a last dimension of its own (or, with `first`, the first one); the stage
// reduces the partials over it.
//
//   C[i] = sum A[i, ko * 8 + ki]           C_rf[i, ki] = sum over ko of A[i, ko * 8 + ki]
//     loops i, ko, ki; rfactor(ki)   ->    C[i]        = sum over ki of C_rf[i, ki]
//
// The stage keeps its loops but for the other reduction loops; the partial is computed just before it, and compute_at places
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

// Of a reducer that may be regrouped and does not commute: does the loop take its terms apart into runs of neighbours, first
// the first run? So it is with the outermost of the loops over the terms, as long as these stand in the order of definition.
bool keeps_order(const Program& p, const ir::Stage& stage, const Stmt& nest, Id axis) {
  if (stage.reducer.order != ir::Reducer::Order::regroup) return false;
  for (const ir::Root& r : nest.roots)
    for (Id leaf : ir::leaves_of(p, r.axis))
      if (p.axis(leaf).reduce) return leaf == axis;  // the first in the order of definition
  return false;
}

// The nest of a scatter becomes that of an ordinary reduction: the loops of the init, and in them `loop` around the block.
// False for a statement without an init.
bool reduce_in_init(std::vector<Stmt>& body, const Stmt& loop) {
  for (std::size_t k = 0; k < body.size(); ++k) {
    Stmt& s = body[k];
    const bool init = s.kind == Stmt::Kind::block && s.piece == Stmt::Piece::init;
    if (!init && !reduce_in_init(s.body, loop)) continue;
    if (init) {
      Stmt steps = loop, block = s;
      block.piece = Stmt::Piece::whole;
      steps.body.clear();
      steps.body.push_back(std::move(block));
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
      for (const ir::Root& r : nest.roots)
        if (c.p.axis(r.axis).reduce && !by_factors(c.p, r.axis))
          c.refuse("reduction loops that are split by factors alone, where bounds depend on " + w.name, name_of(c.p, loop));
      if (uses(extent_over(c.p, stage, loop.axis), w))
        c.refuse("a loop whose extent does not depend on " + w.name + " (split it, and take the inner one)",
                 name_of(c.p, loop) + ", of " + found);
    }
  return follows;
}

void apply_rfactor(Context& c) {
  // match
  ir::Stage& stage = c.stage(0);
  Stmt& loop = c.loop(1);
  const bool first = c.count() > 2 && c.word(2) == "first";
  require_serial(c, loop), require_whole(c, loop);
  Stmt& nest = only_nest(c, stage);
  if (nest_of(c.p, loop.id).id != nest.id) c.refuse("a loop of " + stage.name, name_of(c.p, loop));
  const ir::Axis axis = c.p.axis(loop.axis);
  if (!axis.reduce) c.refuse("a reduction loop", name_of(c.p, loop) + ", a spatial one");
  for (const ir::IterVar& v : stage.iters)
    if (v.descending)
      c.refuse("loops in the order of their variables (move this call before reverse)", v.name + " of " + stage.name);
  ir::walk(nest.body, [&](const Stmt& s) {
    if (s.kind == Stmt::Kind::nest)
      c.refuse("a stage with nothing placed in it yet (move rfactor before compute_at of its producers)",
               c.p.stage(s.stage).name + " inside " + stage.name);
    if (s.kind == Stmt::Kind::loop && s.part != ir::Part::all)
      c.refuse("a stage of whole loops (move this call before the peel)", name_of(c.p, s) + ", a part of one");
    if (s.kind == Stmt::Kind::loop && (s.combines || s.pipeline.stages > 0))
      c.refuse(
          "loops without a kind yet (move this call before " + std::string(s.combines ? "cross_thread_reduce)" : "pipeline)"),
          name_of(c.p, s));
  });
  std::vector<Id> others;    // the other reduction leaves, in the order of their loops
  std::map<Id, Expr> tight;  // of those, the ends of loops that follow the domain: the partial's domain follows it too
  ir::walk(nest.body, [&](const Stmt& s) {
    if (s.kind != Stmt::Kind::loop || !c.p.axis(s.axis).reduce) return;
    if (s.axis != axis.id) others.push_back(s.axis);
    if (s.tight) tight[s.axis] = ir::range_of(c.p, s).end;
  });
  const auto is_own = [&](Id leaf) { return leaf == axis.id || std::find(others.begin(), others.end(), leaf) != others.end(); };
  for (const auto& [id, a] : c.p.axes) {
    if (a.origin != ir::Axis::Origin::split_inner || !ir::uses_var(a.factor, ir::vscale_id)) continue;
    const std::vector<Id> leaves = ir::leaves_of(c.p, id);  // itself, or what it was fused into
    if (std::any_of(leaves.begin(), leaves.end(), is_own))
      c.refuse("reduction loops of so many iterations on every machine (rfactor before the split into scalable lanes)",
               a.name + " of " + stage.name + " in " + ir::text(a.factor));
  }
  if (tight.count(axis.id)) c.refuse("a loop that was not tightened (tighten the other ones)", name_of(c.p, loop));
  // prove
  if (!keeps_order(c.p, stage, nest, axis.id))
    prove_reassociation(c, stage, "rfactor sums its parts apart",
                        "the terms of " + axis.name + " = 0 and of " + axis.name +
                            " = 1 are summed apart and then added, where the definition adds term after term");
  prove_joinable(c, stage, "a part without terms is the identity");
  const bool follows = follows_points(c, stage, nest, loop, !tight.empty());
  for (const auto& [id, a] : c.p.axes)
    if (a.reduce && a.origin == ir::Axis::Origin::split_outer && a.tail == ir::Tail::shift)
      throw InternalError("a reduction split by shift");
  // rewrite: the partial's definition
  ir::Stage partial;
  partial.id = c.p.fresh();
  partial.name = stage.name + "_rf";
  partial.where = c.step.where;
  partial.reducer = stage.reducer;
  for (std::size_t k = 0; k < stage.buffers.size(); ++k)
    partial.inits.push_back(analysis::identity_of(stage.reducer, k, c.p.buffer(stage.buffers[k]).type));
  partial.origin = ir::Stage::Origin::rfactor;
  partial.origin_of = stage.id;
  ir::Substitution to;  // iteration variables and leaf axes of the stage -> those of the partial
  std::vector<Expr> reads;
  for (const ir::IterVar& v : stage.iters) {
    if (v.kind == ir::IterKind::reduce) continue;
    ir::IterVar w = v;
    w.id = c.p.fresh();
    w.begin = w.end = Expr();  // what the stage needs of it
    partial.iters.push_back(w);
    to.emplace_back(v.id, ir::var(w.id, w.name));
    reads.push_back(ir::var(v.id, v.name));
  }
  ir::IterVar step;
  step.id = c.p.fresh();
  step.name = axis.name;
  step.where = c.step.where;
  const auto place = static_cast<std::ptrdiff_t>(first ? 0 : partial.iters.size());
  partial.iters.insert(partial.iters.begin() + place, step);
  ir::Substitution leaves{{axis.id, ir::var(step.id, step.name)}};
  const ir::Substitution points = to;
  const auto extent = [&](Id id) {
    return follows ? ir::substitute(extent_over(c.p, stage, id), points) : c.p.axis(id).extent;
  };
  const auto begin = [&](const ir::Root& r) {
    if (!follows) return r.begin;
    for (const ir::IterVar& v : stage.iters)
      if (v.id == r.iter) return ir::substitute(v.begin, points);
    throw InternalError("a root of " + stage.name + " without a variable");
  };
  for (Id other : others) {
    ir::IterVar w;
    w.id = c.p.fresh();
    w.name = c.p.axis(other).name;
    w.kind = ir::IterKind::reduce;
    w.begin = ir::index(0);
    w.end = tight.count(other) ? ir::substitute(tight.at(other), leaves) : extent(other);
    w.where = c.step.where;
    partial.iters.push_back(w);
    leaves.emplace_back(other, ir::var(w.id, w.name));
  }
  analysis::Facts facts = analysis::facts_of_arguments(c.p);
  facts.range(step.id, ir::index(0), ir::sub(axis.extent, ir::index(1)));
  for (const ir::IterVar& w : partial.iters)
    if (w.kind == ir::IterKind::reduce) facts.range(w.id, w.begin, ir::sub(w.end, ir::index(1)));
  bool padded = false;
  for (const ir::Root& r : nest.roots) {
    if (!c.p.axis(r.axis).reduce) continue;
    to.emplace_back(r.iter, analysis::simplify(ir::add(begin(r), ir::substitute(ir::axis_value(c.p, r.axis), leaves)), facts));
    std::vector<Id> pending{r.axis};
    while (!pending.empty()) {
      const ir::Axis& a = c.p.axis(pending.back());
      pending.pop_back();
      for (Id n : a.became) pending.push_back(n);
      if (a.became.size() != 2) continue;
      const ir::Axis& outer = c.p.axis(a.became[0]);
      if (outer.tail == ir::Tail::exact || tight.count(a.became[1])) continue;
      if (outer.tail == ir::Tail::pad) {
        padded = true;
        continue;
      }
      const Expr atom = analysis::simplify(ir::lt(ir::substitute(ir::axis_value(c.p, a.id), leaves), extent(a.id)), facts);
      if (!ir::is_int(atom, 1) && !analysis::can_prove(atom, facts)) partial.domain.push_back(atom);
    }
  }
  (void)padded;  // padded terms are zero, whoever sums them
  for (const Expr& v : stage.values) partial.values.push_back(ir::substitute(v, to));
  for (const Expr& e : stage.targets) partial.targets.push_back(ir::substitute(e, to));
  if (stage.scatters()) partial.targets.insert(partial.targets.begin() + place, ir::var(step.id, step.name));
  if (!stage.keep.empty()) partial.keep = ir::substitute(stage.keep, to);
  const auto reduces = [](const ir::Stage& s, const Expr& atom) {
    return std::any_of(s.iters.begin(), s.iters.end(),
                       [&](const ir::IterVar& w) { return w.kind == ir::IterKind::reduce && ir::uses_var(atom, w.id); });
  };
  std::vector<bool> of_steps(partial.domain.size(), true);
  for (const Expr& atom : stage.domain) {
    partial.domain.push_back(ir::substitute(atom, to));
    of_steps.push_back(reduces(stage, atom));
  }
  // A condition that uses no loop the partial reduces over says which partials there are: the stage sums no others. One that
  // was on steps stays so, also where only one value of the step is possible: it skips terms, while a condition on points alone
  // would leave a point without a value.
  std::vector<Expr> kept_atoms;
  for (std::size_t k = 0; k < partial.domain.size(); ++k) {
    const Expr& atom = partial.domain[k];
    if (reduces(partial, atom)) continue;
    const Expr at_step = ir::var(step.id, step.name);
    if (!of_steps[k] || ir::uses_var(atom, step.id))
      kept_atoms.push_back(atom);
    else
      kept_atoms.push_back(ir::is_int(atom) && atom.node()->i == 0 ? ir::lt(at_step, ir::index(0))
                                                                   : ir::logic_and(atom, ir::ge(at_step, ir::index(0))));
  }
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) {
    ir::Buffer buffer;
    buffer.id = c.p.fresh();
    buffer.name = partial.name + (stage.buffers.size() == 1 ? "" : std::to_string(k));
    buffer.type = c.p.buffer(stage.buffers[k]).type;
    buffer.rank = static_cast<int>(reads.size()) + 1;
    buffer.stage = partial.id;
    buffer.where = c.step.where;
    partial.buffers.push_back(buffer.id);
    c.p.buffers[buffer.id] = buffer;
  }
  // the stage: one reduction loop, over the partials
  ir::IterVar over;
  over.id = c.p.fresh();
  over.name = axis.name;
  over.kind = ir::IterKind::reduce;
  over.begin = ir::index(0);
  over.end = axis.extent;
  over.where = c.step.where;
  std::vector<ir::IterVar> kept;
  for (const ir::IterVar& v : stage.iters)
    if (v.kind != ir::IterKind::reduce) kept.push_back(v);
  kept.push_back(over);
  reads.insert(reads.begin() + place, ir::var(over.id, over.name));
  stage.iters = kept;
  stage.values.clear();
  for (Id b : partial.buffers) stage.values.push_back(ir::load(b, c.p.buffer(b).name, c.p.buffer(b).type, reads, c.step.where));
  stage.domain.clear();
  const bool scattered = stage.scatters();
  stage.targets.clear();
  stage.keep = Expr();
  ir::Substitution back{{step.id, ir::var(over.id, over.name)}};  // from the partial's variables to those of the stage
  for (std::size_t k = 0; k + 1 < kept.size(); ++k)
    back.emplace_back(partial.iters[first ? k + 1 : k].id, ir::var(kept[k].id, kept[k].name));
  for (const Expr& atom : kept_atoms) stage.domain.push_back(ir::substitute(atom, back));
  stage.reducer.fused = false;
  const Id stage_id = stage.id;
  c.p.stages[partial.id] = partial;
  // the tree
  ir::Axis& root = c.p.axes.at(axis.id);
  root.origin = ir::Axis::Origin::root;
  root.iter = over.id;
  root.parent = root.outer = root.inner = 0;
  root.parts = 0;
  root.factor = Expr();
  std::vector<ir::Root> roots;
  std::vector<Id> dead;
  for (const ir::Root& r : nest.roots)
    (c.p.axis(r.axis).reduce && r.axis != axis.id ? dead.push_back(r.axis), void() : roots.push_back(r));
  roots.erase(std::remove_if(roots.begin(), roots.end(), [&](const ir::Root& r) { return r.axis == axis.id; }), roots.end());
  roots.push_back({over.id, axis.id, ir::index(0), axis.extent});
  nest.roots = std::move(roots);
  const Id nest_id = nest.id;
  std::vector<std::pair<Id, std::string>> gone;
  ir::walk(nest.body, [&](const Stmt& s) {
    if (s.kind == Stmt::Kind::loop && c.p.axis(s.axis).reduce && s.axis != axis.id) gone.emplace_back(s.id, name_of(c.p, s));
  });
  if (const Stmt steps = loop; scattered)
    reduce_in_init(nest.body, steps);
  else
    drop_reduction_loops(c.p, nest.body, axis.id);
  const std::function<void(Stmt&)> mark = [&](Stmt& s) {
    if (s.kind == Stmt::Kind::block)  // with conditions the first step may be left out
      s.first_stores = kept_atoms.empty() && s.piece == Stmt::Piece::whole && !c.p.stage(stage_id).atomic;
    for (Stmt& b : s.body) mark(b);
  };
  mark(*ir::find(c.p, nest_id));
  while (!dead.empty()) {
    const Id a = dead.back();
    dead.pop_back();
    if (a == axis.id || !c.p.axes.count(a)) continue;
    for (Id n : c.p.axis(a).became) dead.push_back(n);
    c.p.axes.erase(a);
  }
  std::vector<Stmt> before;
  for (Id b : partial.buffers) before.push_back(fresh_alloc(c.p, b, c.step.where));
  Stmt below = fresh_nest(c.p, c.p.stage(partial.id), c.step.where);
  const Spot spot = locate(c.p, nest_id);
  before.push_back(std::move(below));
  spot.body->insert(spot.body->begin() + static_cast<std::ptrdiff_t>(spot.index), std::make_move_iterator(before.begin()),
                    std::make_move_iterator(before.end()));
  // remap
  c.results = {partial.id};
  for (const auto& [id, name] : gone) c.consume(id, name, "went to " + partial.name + " by rfactor", {});
  (void)stage_id;
}

}  // namespace

extern constexpr Primitive rfactor_primitive{
    .name = "rfactor",
    .spelling = "rfactor",
    .parameters = {takes::stage(), takes::loop(), takes::word("place", "last first").as("Place::").maybe()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_rfactor,
    .cpp = of_stage,
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
