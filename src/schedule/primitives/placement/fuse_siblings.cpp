// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuse_siblings(stage, loop): the outermost loop of the stage and that of another one, which is computed before, become one.
//
//   nest A i [0, +N)                  nest A i [0, +N)
//     for i in N                        for i in N
//       block A                           block A
//   nest B j [0, +N)          ->          nest B beside i: j [i, +1)
//     for j in N                            for j in 1
//       block B                               block B
//
// Iteration i of the loop has what iteration i of the stage's own had: a value of its variable, or where the loop is the outer
// one of a split, a tile of them. The stage's loops stay, with extents that follow from that.
//
// Legality: ORDER. What an iteration of B reads of A, an earlier or the same iteration of A has computed; where the iterations
// are not taken in their order, the same (prove_beside, which is asked again after every step). Steps of a recurrence that lie
// in different iterations want these in their order.
#include <ashlar/analysis/siblings.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/recurrence.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {
namespace {

// match: a stage with all of its points to compute, at the top
void require_own_place(const Context& c, const ir::Stage& stage, const Stmt& nest) {
  if (ir::path_to(c.p, nest.id).size() != 1 || nest.get<NestStmt>().after)
    c.refuse("stages computed at root, neither inside the other", stage.name + ", which is computed inside another");
  if (stage.iters.empty() || stage.iters.front().begin.empty())
    c.refuse("a stage with a stated domain, compute(\"" + stage.name + "\", {...}, ...)",
             stage.name + ", whose domain is inferred");
  if (stage.scatters() || stage.atomic)
    c.refuse("stages that compute their points one after another",
             stage.name + (stage.atomic ? ", which is atomic" : ", a scatter"));
  if (ir::computed_by(stage.values)) c.refuse("stages with loops of their own", stage.name + ", which a function computes");
}

// match: the outermost loop of a nest, over points
void require_outermost(const Context& c, const Stmt& nest, const Stmt& loop) {
  const LoopStmt& node = loop.get<LoopStmt>();
  if (nest.body().size() != 1 || nest.body().front().id != loop.id)
    c.refuse("the outermost loop of " + c.p.stage(nest.get<NestStmt>().stage).name + ", over all of it", name_of(c.p, loop));
  require_serial(c, loop);
  require_whole(c, loop);
  if (node.tight) c.refuse("a loop that was not tightened", name_of(c.p, loop));
  if (c.p.axis(node.axis).reduce) c.refuse("loops over points", name_of(c.p, loop) + ", a reduction");
}

void apply_fuse_siblings(Context& c) {
  const ir::Stage& stage = c.stage(0);
  Stmt& loop = c.loop(1);
  LoopStmt& l = loop.get<LoopStmt>();
  Stmt& nest = only_nest(c, stage);
  const Stmt& host = nest_of(c.p, loop.id);
  const ir::Stage& other = c.p.stage(host.get<NestStmt>().stage);
  if (c.target.is_gpu())
    c.refuse("a processor (on a device compute_at and fuse_into put stages into one launch)", std::string(c.target.text()));
  if (host.id == nest.id) c.refuse("a loop of another stage", name_of(c.p, loop) + ", a loop of " + stage.name + " itself");
  require_own_place(c, stage, nest), require_own_place(c, other, host);
  if (!ir::stages_inside(c.p, stage).empty())
    c.refuse("a stage that computes nothing between its steps", stage.name + ", which does");
  if (nest.body().size() != 1 || !nest.body().front().is<LoopStmt>())
    c.refuse("one loop outside of all others of " + stage.name, "none (or parts of one, or its storage beside it)");
  const Stmt& own = nest.body().front();
  const LoopStmt& own_loop = own.get<LoopStmt>();
  require_outermost(c, host, loop), require_outermost(c, nest, own);
  if (!analysis::values_of(c.p, nest, own_loop.axis))
    c.refuse(
        "a loop over the values of one dimension of " + stage.name + ", in their order, or over tiles of them (Tail::guard)",
        name_of(c.p, own));
  const analysis::Facts facts = analysis::facts_of_arguments(c.p);
  const Expr &mine = c.p.axis(own_loop.axis).extent, &theirs = c.p.axis(l.axis).extent;
  if (const auto proof = analysis::prove(ir::eq(mine, theirs), facts); !proof)
    c.refuse("two loops of one extent (of tiles: split both by as much)",
             name_of(c.p, own) + " in " + ir::text(mine) + " and " + name_of(c.p, loop) + " in " + ir::text(theirs), proof.why);
  if (locate(c.p, host.id).index > locate(c.p, nest.id).index)
    c.refuse("a loop of a stage that is computed before " + stage.name,
             name_of(c.p, loop) + ", and " + other.name + " is computed later; the other way round it is s[" + other.name +
                 "].fuse_siblings(...) with the loop " + name_of(c.p, own));
  // rewrite; handles stay
  const Id host_id = host.id, loop_id = loop.id, shared = l.axis;
  Stmt moved = take(c.p, nest.id);
  moved.get<NestStmt>().sibling = {shared, moved.body().front().get<LoopStmt>().axis};
  moved.where = c.step.where;
  ir::find(c.p, loop_id)->body().push_back(std::move(moved));
  for (Id b : stage.buffers)
    if (const Stmt* alloc = ir::alloc_of(c.p, b)) insert_beside(c.p, host_id, take(c.p, alloc->id), false);
}

// Most often two whose outermost loops have one extent; and sometimes both on workers.
bool draw_fuse_siblings(Draw& d) {
  const auto outermost = [](const Stmt& nest) {
    const bool one = nest.is<NestStmt>() && nest.body().size() == 1;
    return one && nest.body().front().is<LoopStmt>() ? &nest.body().front() : nullptr;
  };
  std::vector<std::pair<Id, const Stmt*>> pairs;
  const std::vector<Stmt>& body = d.p.body;
  for (std::size_t k = 0; k < body.size(); ++k)
    for (std::size_t n = k + 1; n < body.size(); ++n)
      if (const Stmt *a = outermost(body[k]), *b = outermost(body[n]); a && b)
        if (ir::same(d.p.axis(a->get<LoopStmt>().axis).extent, d.p.axis(b->get<LoopStmt>().axis).extent))
          pairs.emplace_back(body[n].get<NestStmt>().stage, a);
  std::pair<Id, const Stmt*> chosen{d.stage(), nullptr};
  if (!pairs.empty() && !d.one_in(8)) {
    chosen = d.any(pairs);
  } else {
    const std::vector<const Stmt*> theirs = loops_of(d.p, d.stage());
    if (theirs.empty() || !d.one_in(4)) return false;
    chosen.second = d.any(theirs);
  }
  const Arg loop = Arg::loop(chosen.second->id);
  d.step("fuse_siblings", {Arg::stage(chosen.first), loop});
  if (d.one_in(3)) d.step("parallel", {loop});
  return true;
}

}  // namespace

extern constexpr Primitive fuse_siblings_primitive{
    .name = "fuse_siblings",
    .spelling = "fuse_siblings",
    .parameters = {takes::stage(), takes::loop("sibling")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_fuse_siblings,
    .cpp = of_stage,
    .draw = Drawing{.often = 2, .draw = draw_fuse_siblings},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::fuse_siblings(Loop l, Where w) const { return of_any(schedule::fuse_siblings_primitive, l, w); }

}  // namespace ashlar
