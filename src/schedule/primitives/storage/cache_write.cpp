// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache_write(stage, scope): the stage's computation moves to a new stage; the stage itself becomes a copy of it.
//
//   C[i, j] = sum A[i, k] * B[k, j]     ->     C_cache[i, j] = sum A[i, k] * B[k, j]
//                                              C[i, j] = C_cache[i, j]
//
// The new stage is computed at root, just before the copy; compute_at places it. The spatial loops stay loops of the copy.
#include <ashlar/ir/recurrence.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"
#include "schedule/primitives/storage/storage.h"

namespace ashlar::schedule {
namespace {

std::string consumed(const Program& p, const ir::Axis& axis) {
  return p.axis(axis.became.front()).origin == ir::Axis::Origin::skewed ? ", which was skewed" : ", which was split or fused";
}

// The loops of a nest, one for each iteration variable and in their order, which are as the definition made them.
std::vector<Id> require_untouched(const Context& c, const ir::Stage& stage, const Stmt& nest) {
  const NestStmt& node = nest.get<NestStmt>();
  const auto refuse = [&](const std::string& found) {
    c.refuse("a stage whose loops were not scheduled yet (move cache_write before other steps of " + stage.name + ")", found);
  };
  const auto only_one = [&](const std::vector<Stmt>& body) {
    for (const Stmt& s : body) {
      if (const PrefetchStmt* prefetch = s.as<PrefetchStmt>()) refuse("a prefetch of " + c.p.buffer(prefetch->buffer).name);
      if (const BlockStmt* block = s.as<BlockStmt>(); block && block->piece != ir::Piece::whole)
        refuse("its init, which decompose_init took out");
    }
    if (body.size() != 1) refuse("the parts of " + name_of(c.p, body.front()) + ", which was peeled or partitioned");
  };
  if (stage.scatters()) {  // each loop once, in the order of the definition: those of the init come first in either
    std::vector<Id> wanted, found, loops;
    for (const ir::Root& r : node.roots) wanted.push_back(r.axis);
    ir::walk(nest.body(), [&](const Stmt& s) {
      if (const PrefetchStmt* f = s.as<PrefetchStmt>()) refuse("a prefetch of " + c.p.buffer(f->buffer).name);
      const LoopStmt* l = s.as<LoopStmt>();
      if (!l) return;
      if (l->kind != ir::LoopKind::serial) refuse(name_of(c.p, s) + ", which is " + word(l->kind));
      found.push_back(l->axis);
      loops.push_back(s.id);
    });
    for (Id a : wanted)
      if (!c.p.axis(a).became.empty()) refuse(c.p.axis(a).name + " of " + stage.name + consumed(c.p, c.p.axis(a)));
    if (found != wanted) refuse("loops of " + stage.name + " in another order");
    return loops;
  }
  std::vector<Id> loops(node.roots.size());
  const std::vector<Stmt>* body = &nest.body();
  for (std::size_t k : ir::loop_order(c.p, stage)) {
    const ir::Root& r = node.roots[k];
    only_one(*body);
    const Stmt& loop = body->front();
    const LoopStmt& inner = loop.get<LoopStmt>();
    const ir::Axis& axis = c.p.axis(r.axis);
    if (!axis.became.empty()) refuse(axis.name + " of " + stage.name + consumed(c.p, axis));
    if (inner.axis != r.axis) refuse(name_of(c.p, loop) + " in the place of " + axis.name);
    if (inner.kind != ir::LoopKind::serial) refuse(name_of(c.p, loop) + ", which is " + word(inner.kind));
    if (inner.combines) refuse(name_of(c.p, loop) + ", whose threads are combined");
    loops[k] = loop.id;
    body = &loop.body();
  }
  only_one(*body);
  return loops;
}

// The loops of a nest that was just made get these ids, the outermost first.
void keep_ids(Stmt& nest, const std::vector<Id>& loops) {
  std::vector<Stmt>* body = &nest.body();
  for (std::size_t k = 0; k < loops.size() && body->front().is<LoopStmt>(); ++k) {
    body->front().id = loops[k];
    body = &body->front().body();
  }
}

void apply_cache_write(Context& c) {
  // match
  ir::Stage& stage = c.stage(0);
  const Scope scope = c.scope(1);
  require_scope(c, scope);
  if (stage.buffers.size() != 1)
    c.refuse("a stage with one value", stage.name + " with " + std::to_string(stage.buffers.size()));
  Stmt& nest = only_nest(c, stage);
  NestStmt& node = nest.get<NestStmt>();
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const NestStmt* n = s.as<NestStmt>())
      c.refuse("a stage with nothing placed in it yet", c.p.stage(n->stage).name + " inside " + stage.name);
  });
  const std::vector<Id> loops = require_untouched(c, stage, nest);
  if (node.after || !node.slides.empty()) c.refuse("a stage that was not placed yet", stage.name);
  // rewrite: the definition goes to the new stage, with its iteration variables; the old one copies
  const Id target = stage.buffers.front();
  const ir::Buffer from = c.p.buffer(target);
  ir::Buffer& to = new_buffer(c, from, from.name + "_cache", scope);
  ir::Stage computed = stage;
  computed.id = c.p.fresh();
  computed.name = to.name;
  computed.buffers = {to.id};
  computed.origin = ir::Stage::Origin::cache_write;
  computed.origin_of = target;
  computed.has_fill = false;  // what it holds where its source has no element stands in its value
  computed.fill = Expr();
  if (stage.is_recurrence())  // it reads what it computes now
    for (Expr& v : computed.values)
      v = ir::transform(v, [&](const Expr& x) {
        return ir::is(x, ir::Op::load) && x.node()->id == target
                   ? ir::load(to.id, to.name, to.type, ir::args_of(x), x.node()->where)
                   : x;
      });
  to.stage = computed.id;
  ir::Stage copy;
  copy.id = stage.id;
  copy.name = stage.name;
  copy.where = stage.where;
  copy.buffers = stage.buffers;
  std::vector<Expr> at;
  for (const ir::IterVar& v : stage.iters) {
    if (v.kind == ir::IterKind::reduce) continue;
    ir::IterVar w = v;
    w.id = c.p.fresh();
    w.kind = ir::IterKind::spatial;
    w.descending = false;
    copy.iters.push_back(w);
    at.push_back(ir::var(w.id, w.name));
  }
  copy.domain = conditions_on_points(stage, at);
  copy.values = {ir::load(to.id, to.name, to.type, at, stage.where)};
  const std::vector<ir::IterVar> stage_iters = stage.iters;
  const Id id = stage.id, made = computed.id;
  c.p.stages[made] = computed;
  c.p.stages[id] = copy;
  const Id nest_id = nest.id;
  std::vector<std::pair<Id, std::string>> reductions;
  for (std::size_t k = 0; k < loops.size(); ++k)
    if (stage_iters[k].kind == ir::IterKind::reduce)
      reductions.emplace_back(loops[k], stage_iters[k].name + " of " + copy.name);
  Stmt fresh = fresh_nest(c.p, c.p.stage(id), nest.where);
  keep_ids(fresh, loops);
  Stmt below = fresh_nest(c.p, c.p.stage(made), c.step.where);
  Stmt alloc = fresh_alloc(c.p, to.id, c.step.where);
  const Spot spot = locate(c.p, nest_id);
  *spot = std::move(fresh);
  std::vector<Stmt> before;
  before.push_back(std::move(alloc));
  before.push_back(std::move(below));
  spot.body->insert(spot.body->begin() + static_cast<std::ptrdiff_t>(spot.index), std::make_move_iterator(before.begin()),
                    std::make_move_iterator(before.end()));
  // remap
  c.results = {made};
  for (const auto& [loop, name] : reductions) c.consume(loop, name, "went to " + computed.name + " by cache_write", {});
}

bool draw_cache_write(Draw& d) {
  const Scope& scope = d.one_in(2) ? Scope::stack : Scope::global;
  return d.step("cache_write", {Arg::stage(d.stage()), Arg::place(scope)});
}

}  // namespace

extern constexpr Primitive cache_write_primitive{
    .name = "cache_write",
    .spelling = "cache_write",
    .parameters = {takes::stage(), takes::scope()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_cache_write,
    .cpp = of_schedule,
    .draw = Drawing{.often = 1, .draw = draw_cache_write},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Schedule::cache_write(StageRef stage, Scope scope, Where w) {
  const Stage any(0, state_);
  return Stage(
      any.apply(schedule::cache_write_primitive, {Arg::stage(stage_of(stage, "cache_write", w)), Arg::place(scope)}, w)[0],
      state_);
}

}  // namespace ashlar
