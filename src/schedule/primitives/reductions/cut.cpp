// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cut(stage, terms, loop): of a reduction, the terms of earlier iterations of a loop are summed by a stage of their own, from
// which the stage goes on.
//
//   S[i, j] = sum of v over k in [0, j)     S_cut[i, j] = sum of v over k in [0, j / 16 * 16)
//   loop jo of j by 16, cut(k, jo)     ->   S[i, j]     = sum of v over k in [j / 16 * 16, j) from S_cut[i, j]
//
// All points of an iteration of jo have the same terms in S_cut. So these are computed for all of them at once, in lanes, at
// jo: where the loop is one of a recurrence that S is inside of, they read earlier blocks alone. In this form the blocked
// factorizations of linear algebra are written (Golub and Van Loan, Matrix Computations, 3.2).
//
// The loop is the outer one of a split of a dimension by a constant, or of the split of such a block in equal parts: of the
// stage, or of what reads the stage at that dimension's variable. Where it counts down, earlier iterations are those of greater
// values, so the terms behind come first.
//
// Legality: each term is in one of the two, and they come in the order of definition; but for a loop that counts down: REASSOC.
#include <algorithm>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/recurrence.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"
#include "schedule/primitives/storage/storage.h"

namespace ashlar::schedule {
namespace {

// A dimension of the stage that the blocks are of, and the one of the loop's own stage.
struct CutBlocks {
  std::size_t dim = 0;
  ir::IterVar of;
  std::int64_t size = 0;
};

// The dimension of `stage` whose index is the variable in all reads by `reader`.
std::optional<std::size_t> dimension_at(const ir::Stage& reader, const ir::Stage& stage, Id variable) {
  std::optional<std::vector<bool>> at;
  const auto meet = [&](const Expr& e) {
    ir::walk(e, [&](const Expr& x) {
      if (!ir::is(x, ir::Op::load) ||
          std::find(stage.buffers.begin(), stage.buffers.end(), x.node()->id) == stage.buffers.end())
        return true;
      const auto index = ir::args_of(x);
      if (!at) at.emplace(index.size(), true);
      for (std::size_t d = 0; d < index.size(); ++d)
        (*at)[d] = (*at)[d] && ir::is(index[d], ir::Op::var) && index[d].node()->id == variable;
      return true;
    });
  };
  for (const auto* list : {&reader.values, &reader.inits})
    for (const Expr& e : *list) meet(e);
  if (!at) return {};
  const auto found = std::find(at->begin(), at->end(), true);
  return found == at->end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - at->begin()));
}

CutBlocks blocks_of(Context& c, const ir::Stage& stage, const Stmt& loop) {
  const ir::Axis& outer = c.p.axis(loop.get<LoopStmt>().axis);
  CutBlocks b;
  const auto expect = [&](bool holds) {
    if (!holds) c.refuse("the outer loop of a split of a dimension by a constant", name_of(c.p, loop));
  };
  expect(outer.origin == ir::Axis::Origin::split_outer && !outer.reduce && outer.parts == 0 &&
         ir::is_int(outer.factor, &b.size));
  const ir::Axis* root = &c.p.axis(outer.parent);
  for (std::int64_t larger = 0; root->origin != ir::Axis::Origin::root; root = &c.p.axis(root->parent)) {
    expect(root->origin == ir::Axis::Origin::split_inner && ir::is_int(root->factor, &larger));
    if (larger % b.size != 0)
      c.refuse("a split of a block in equal parts",
               name_of(c.p, loop) + ", " + std::to_string(b.size) + " of " + std::to_string(larger));
  }
  const ir::Stage& owner = stage_around(c.p, loop.id);
  const Id variable = root->iter;
  const auto dim =
      owner.id == stage.id
          ? std::optional(static_cast<std::size_t>(
                std::find_if(stage.iters.begin(), stage.iters.end(), [&](const ir::IterVar& v) { return v.id == variable; }) -
                stage.iters.begin()))
          : dimension_at(owner, stage, variable);
  if (!dim)
    c.refuse("a loop of " + stage.name + ", or of a stage that reads it at the variable of the loop", name_of(c.p, loop));
  b.dim = *dim;
  for (const ir::IterVar& v : owner.iters)
    if (v.id == variable) b.of = v;
  if (b.of.descending && b.of.end.empty())
    c.refuse("loops in the order of their variables (move this call before reverse)", name_of(c.p, loop));
  return b;
}

// Where the block of a value begins; of blocks that count down, where it ends.
Expr border_of(const CutBlocks& b, const Expr& value) {
  const Expr size = ir::index(b.size);
  const auto whole = [&](const Expr& steps) { return ir::mul(ir::div(steps, size), size); };
  if (b.of.descending) return ir::sub(b.of.end, whole(ir::sub(ir::sub(b.of.end, ir::index(1)), value)));
  return b.of.begin.empty() ? whole(value) : ir::add(b.of.begin, whole(ir::sub(value, b.of.begin)));
}

// A minimum of both, without the operands that are never the least.
Expr least_of(const Expr& bound, const Expr& border, const analysis::Facts& facts) {
  if (analysis::can_prove(ir::le(border, bound), facts)) return border;
  if (!ir::is(bound, ir::Op::min)) return ir::min(bound, border);
  const auto args = ir::args_of(bound);
  for (std::size_t k = 0; k < 2; ++k)
    if (analysis::can_prove(ir::le(border, args[k]), facts)) return least_of(args[1 - k], border, facts);
  return ir::min(bound, border);
}

analysis::Facts facts_of_points(const Program& p, const ir::Stage& stage) {
  analysis::Facts facts = analysis::facts_of_arguments(p);
  for (const ir::IterVar& v : stage.iters)
    if (v.kind != ir::IterKind::reduce && !v.begin.empty()) facts.range(v.id, v.begin, ir::sub(v.end, ir::index(1)));
  return facts;
}

// match: terms as they were defined, each point of its own
void require_terms(Context& c, const ir::Stage& stage, const Stmt& nest, const Stmt& terms) {
  const LoopStmt& terms_loop = terms.get<LoopStmt>();
  const ir::Axis& axis = c.p.axis(terms_loop.axis);
  if (nest_of(c.p, terms.id).id != nest.id || !axis.reduce) c.refuse("a loop over terms of " + stage.name, name_of(c.p, terms));
  if (axis.origin != ir::Axis::Origin::root)
    c.refuse("a loop over terms that is whole (move this call before its split)", name_of(c.p, terms));
  for (const ir::IterVar& v : stage.iters)
    if (v.id == axis.iter && v.descending)
      c.refuse("terms in the order of definition (move this call before reverse)", name_of(c.p, terms));
  if (stage.scatters() || stage.atomic)
    c.refuse("a reduction whose points have terms of their own", stage.name + ", a scatter");
  if (terms_loop.combines || terms_loop.pipeline || terms_loop.tight)
    c.refuse("a loop as it was defined (move this call before cross_thread_reduce, pipeline or tighten)", name_of(c.p, terms));
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const NestStmt* n = s.as<NestStmt>())
      c.refuse("a stage with nothing placed in it yet (move cut before compute_at of its producers)",
               c.p.stage(n->stage).name + " inside " + stage.name);
    if (const BlockStmt* block = s.as<BlockStmt>(); block && (block->first_stores || block->piece != ir::Piece::whole))
      c.refuse("a reduction that starts from its init where it is computed", stage.name);
    if (ir::is_loop(s, ir::LoopKind::tensorized))
      c.refuse("loops without an intrinsic (move this call before tensorize)", name_of(c.p, s));
  });
}

// match: the terms are the first, inside of the loops over the dimension that bounds them then. Their variable.
ir::IterVar& variable_of(Context& c, ir::Stage& stage, const Stmt& nest, const Stmt& terms, std::size_t dim) {
  const auto around = ir::path_to(c.p, terms.id);
  for (const ir::Root& r : nest.get<NestStmt>().roots)
    for (Id leaf : r.iter == stage.iters.at(dim).id ? ir::leaves_of(c.p, r.axis) : std::vector<Id>())
      if (std::none_of(around.begin(), around.end(), [&](const Stmt* s) { return ir::runs_over(*s, leaf); }))
        c.refuse("a loop over terms inside the loops over " + stage.iters.at(dim).name + ", which bounds it then",
                 name_of(c.p, terms) + " outside " + c.p.axis(leaf).name);
  const auto found = std::find_if(stage.iters.begin(), stage.iters.end(),
                                  [&](const ir::IterVar& v) { return v.id == c.p.axis(terms.get<LoopStmt>().axis).iter; });
  for (auto v = stage.iters.begin(); v != stage.iters.end(); ++v) {
    if (v->kind == ir::IterKind::reduce && v < found)
      c.refuse("the first of the loops over terms of " + stage.name, name_of(c.p, terms) + ", behind " + v->name);
    for (const Expr* bound : {&v->begin, &v->end})
      if (v->kind == ir::IterKind::reduce && !bound->empty() && ir::uses_var(*bound, found->id))
        c.refuse("terms whose number does not depend on " + found->name, v->name + " of " + stage.name);
  }
  return *found;
}

// Is the stage read by that one alone? Then it is computed at the points of the reader's domain.
bool read_alone(const Program& p, const ir::Stage& stage, Id reader) {
  return std::none_of(p.stages.begin(), p.stages.end(), [&](const auto& s) {
    return s.first != reader &&
           std::any_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) { return reads_buffer(s.second, b); });
  });
}

// The bounds of a variable of the part and of what is left, each up to the border or from it on.
struct Bounds {
  Expr begin, end;
};
struct Cut {
  Bounds part, rest;
};
Cut bounds_of(const ir::IterVar& terms, const CutBlocks& blocks, const Expr& border, const analysis::Facts& facts) {
  const Expr least = least_of(terms.end, border, facts);
  if (blocks.of.descending) return {{ir::max(terms.begin, border), terms.end}, {terms.begin, least}};
  const bool inside = analysis::can_prove(ir::le(terms.begin, border), facts);
  return {{terms.begin, least}, {inside ? border : ir::max(terms.begin, border), terms.end}};
}

// rewrite: a stage of the terms of earlier blocks, with variables and storage of its own. `reads`: the stage's own point.
ir::Stage part_of(Context& c, const ir::Stage& stage, Id terms, const Bounds& own, std::vector<Expr>& reads) {
  ir::Stage part;
  part.id = c.p.fresh();
  part.name = stage.name + "_cut";
  part.where = c.step.where;
  part.reducer = stage.reducer;
  part.origin = ir::Stage::Origin::rfactor;
  part.origin_of = stage.id;
  ir::Substitution to;
  for (const ir::IterVar& v : stage.iters) {
    ir::IterVar w = v;
    w.id = c.p.fresh();
    w.descending = false;
    if (v.kind != ir::IterKind::reduce) {
      w.begin = w.end = Expr();
      reads.push_back(ir::var(v.id, v.name));
    } else {
      w.begin = ir::substitute(v.id == terms ? own.begin : v.begin, to);
      w.end = ir::substitute(v.id == terms ? own.end : v.end, to);
    }
    part.iters.push_back(w);
    to.emplace_back(v.id, ir::var(w.id, w.name));
  }
  for (const Expr& atom : stage.domain) part.domain.push_back(ir::substitute(atom, to));
  for (const Expr& e : stage.values) part.values.push_back(ir::substitute(e, to));
  for (const Expr& e : stage.inits) part.inits.push_back(ir::substitute(e, to));
  for (const Id b : stage.buffers) {
    const ir::Buffer like = c.p.buffer(b);
    const std::string number = stage.buffers.size() == 1 ? "" : std::to_string(part.buffers.size());
    ir::Buffer& made = new_buffer(c, like, part.name + number, Scope::global);
    made.stage = part.id;
    part.buffers.push_back(made.id);
  }
  return part;
}

void apply_cut(Context& c) {
  // match
  ir::Stage& stage = c.stage(0);
  const Stmt &terms = c.loop(1), &loop = c.loop(2);
  require_serial(c, terms), require_whole(c, terms);
  const Stmt& nest = only_nest(c, stage);
  require_terms(c, stage, nest, terms);
  const CutBlocks blocks = blocks_of(c, stage, loop);
  ir::IterVar& variable = variable_of(c, stage, nest, terms, blocks.dim);
  const bool alone = read_alone(c.p, stage, stage_around(c.p, loop.id).id);
  // prove
  if (blocks.of.descending)
    prove_reassociation(c, stage, "cut takes its last terms first",
                        "the loop " + name_of(c.p, loop) + " counts down, so the terms of earlier iterations come last");
  // rewrite: the definitions
  const ir::IterVar& point = stage.iters.at(blocks.dim);
  analysis::Facts facts = facts_of_points(c.p, stage);
  if (point.begin.empty() && !blocks.of.begin.empty() && alone)
    facts.range(point.id, blocks.of.begin, ir::sub(blocks.of.end, ir::index(1)));
  const Expr border = analysis::simplify(border_of(blocks, ir::var(point.id, point.name)), facts);
  const Cut cut = bounds_of(variable, blocks, border, facts);
  std::vector<Expr> reads;
  const ir::Stage part = part_of(c, stage, variable.id, cut.part, reads);
  variable.begin = cut.rest.begin, variable.end = cut.rest.end;
  for (std::size_t k = 0; k < part.buffers.size(); ++k) {
    const ir::Buffer& b = c.p.buffer(part.buffers[k]);
    stage.inits[k] = ir::load(b.id, b.name, b.type, reads, c.step.where);
  }
  c.p.stages[part.id] = part;
  // the tree: just before the stage
  std::vector<Stmt> made;
  for (const Id b : part.buffers) made.push_back(fresh_alloc(c.p, b, c.step.where));
  made.push_back(fresh_nest(c.p, part, c.step.where));
  insert_before(c.p, nest.id, std::move(made));
  // remap
  c.results = {part.id};
}

// At a split of its own or of a reader's, which takes four ids; and often computed there.
bool draw_cut(Draw& d) {
  const Program& p = d.p;
  std::vector<Id> sums;
  for (const Id id : d.stages())
    if ((p.stage(id).is_reduction() && !p.stage(id).scatters()) || d.one_in(16)) sums.push_back(id);
  if (sums.empty()) return false;
  const Id stage = d.any(sums);
  std::vector<Id> owners = readers_of(p, stage);
  owners.push_back(stage);
  std::vector<const Stmt*> terms, points;
  for (const Stmt* l : loops_of(p, stage))
    if (p.axis(l->get<LoopStmt>().axis).reduce || d.one_in(16)) terms.push_back(l);
  for (const Id owner : owners)
    for (const Stmt* l : loops_of(p, owner))
      if ((!p.axis(l->get<LoopStmt>().axis).reduce && p.axis(l->get<LoopStmt>().axis).origin == ir::Axis::Origin::root) ||
          d.one_in(16))
        points.push_back(l);
  if (terms.empty() || points.empty()) return false;
  const auto counts_down = [&](Id id) {
    const auto& iters = p.stage(id).iters;
    return std::any_of(iters.begin(), iters.end(), [](const ir::IterVar& v) { return v.descending; });
  };
  d.reassociates = order_matters(p, p.stage(stage)) && std::any_of(owners.begin(), owners.end(), counts_down);
  const Arg tail = Arg::text(d.one_in(4) ? "exact" : "guard");
  d.step("split", {Arg::loop(d.any(points)->id), Arg::integer(d.factor()), tail});
  const Arg block = Arg::loop(p.next_id + (d.one_in(10) ? 3 : 2));
  d.step("cut", {Arg::stage(stage), Arg::loop(d.any(terms)->id), block});
  if (!d.one_in(3)) d.step("compute_at", {Arg::stage(p.next_id + 4), block});
  return true;
}

}  // namespace

extern constexpr Primitive cut_primitive{
    .name = "cut",
    .spelling = "cut",
    .parameters = {takes::stage(), takes::loop("terms"), takes::loop("blocks")},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_cut,
    .cpp = of_stage,
    .draw = Drawing{.often = 2, .draw = draw_cut},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::cut(Loop terms, Loop blocks, Where w) const {
  const schedule::Primitive& cut = schedule::cut_primitive;
  return Stage(apply(cut, {Arg::stage(id_), own(terms, cut, w), any(blocks, cut, w)}, w)[0], state_);
}

}  // namespace ashlar
