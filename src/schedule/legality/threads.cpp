// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Obligations of loops that threads share in another way than by their iterations alone: reductions over threads, virtual
// threads, pipelines.
#include <algorithm>

#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/thread_tree.h>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {
namespace {

using ir::LoopKind;

bool over_threads(const Stmt& s) { return ir::is_loop(s, LoopKind::bound) && !ir::is_block(s.get<LoopStmt>().bound_to); }

// All threads of a block must meet inside the loops on this path.
void prove_uniform(Context& c, const std::vector<const Stmt*>& path, const std::string& what) {
  if (const std::string found = divergence(c.p, path); !found.empty())
    c.refuse("loops around " + what + " that run alike in all threads", found);
}

// The path to the reduction's outermost loop that this one stands in (or is), that loop the last.
std::vector<const Stmt*> to_outermost_reduction(const Program& p, const Stmt& loop) {
  auto path = ir::path_to(p, loop.id);
  std::size_t own = 0;
  for (std::size_t k = 0; k < path.size(); ++k)
    if (path[k]->is<NestStmt>()) own = k;
  for (std::size_t k = own + 1; k < path.size(); ++k)
    if (const LoopStmt* l = path[k]->as<LoopStmt>(); l && p.axis(l->axis).reduce) {
      path.resize(k + 1);
      break;
    }
  return path;
}

// The values that each thread keeps a part of: those of the spatial loops inside the reduction that are not threads'.
void prove_few_parts(Context& c, const Stmt& outermost) {
  std::int64_t parts = 1;
  const std::function<void(const Stmt&)> visit = [&](const Stmt& s) {
    if (s.is<NestStmt>()) return;
    if (const LoopStmt* loop = s.as<LoopStmt>(); loop && !c.p.axis(loop->axis).reduce && !over_threads(s)) {
      const auto most = analysis::constant_max(ir::extent_of(c.p, *loop), analysis::facts_at(c.p, ir::path_to(c.p, s.id)));
      if (!most)
        c.refuse("spatial loops inside the reduction of constant extent (reorder it outside)",
                 name_of(c.p, s) + " in " + ir::text(ir::extent_of(c.p, *loop)));
      parts *= std::clamp<std::int64_t>(*most, 1, 1024);
      if (parts > 64) c.refuse("at most 64 values inside the reduction", std::to_string(parts) + " with " + name_of(c.p, s));
    }
    for (const Stmt& b : s.body()) visit(b);
  };
  visit(outermost);
}

// Loops of the stage's nest that something else has to do with.
const Stmt* direct_nest(const Stmt& loop, Id stage) {
  for (const Stmt& s : loop.body())
    if (ir::is_nest_of(s, stage)) return &s;
  return nullptr;
}

void prove_async(Context& c, const ir::Stage& load, const Stmt& nest) {
  const std::string copies = "loads that copy from global memory, where async_copy is asked for";
  if (load.origin != ir::Stage::Origin::cache_read)
    c.refuse(copies + " (cache_read makes them)", load.name + ", which computes");
  if (!c.p.buffers.count(load.origin_of)) c.refuse(copies, load.name + ", which computes what was taken inline");
  const ir::Buffer& from = c.p.buffer(load.origin_of);
  if (from.role == ir::Role::temporary && !(from.scope == Scope::global))
    c.refuse(copies, from.name + " in " + from.scope.name);
  const bool zero = !load.has_fill || (ir::is(load.fill, ir::Op::float_const) ? load.fill.node()->f == 0
                                                                              : ir::is_int(load.fill, std::int64_t{0}));
  if (!zero) c.refuse("a fill of 0, which is all that an asynchronous copy fills with", ir::text(load.fill));
  const Type type = c.p.buffer(load.buffers.front()).type;
  std::int64_t bytes = type.bytes();
  ir::walk(nest.body(), [&](const Stmt& s) {
    std::int64_t n = 0;
    if (ir::is_loop(s, LoopKind::vectorized) && ir::is_int(ir::extent_of(c.p, s.get<LoopStmt>()), &n)) bytes *= n;
  });
  if (type.bits < 8 || (bytes != 4 && bytes != 8 && bytes != 16))
    c.refuse("copies of 4, 8 or 16 bytes, where async_copy is asked for (vectorize the load)",
             load.name + ", of " + std::to_string(bytes) + " bytes at a time");
}

}  // namespace

std::string divergence(const Program& p, const std::vector<const Stmt*>& path) {
  std::vector<const Stmt*> threads;
  for (const Stmt* s : path) {
    if (!s->is<LoopStmt>()) continue;
    if (over_threads(*s)) {
      threads.push_back(s);
      continue;
    }
    const ir::LoopRange r = ir::range_of(p, *s);
    for (const Stmt* t : threads)
      if (ir::uses_var(r.begin, t->get<LoopStmt>().axis) || ir::uses_var(r.end, t->get<LoopStmt>().axis))
        return name_of(p, *s) + " from " + ir::text(r.begin) + " to " + ir::text(r.end) + ", which depends on " +
               name_of(p, *t);
  }
  return {};
}

void prove_combined(Context& c, const Stmt& loop) {
  const Program& p = c.p;
  const ir::Axis& axis = p.axis(loop.get<LoopStmt>().axis);
  const ir::Stage& stage = stage_around(p, loop.id);
  if (!axis.reduce) c.refuse("a reduction loop (a spatial one is bound without this)", name_of(p, loop) + ", a spatial one");
  prove_reassociation(c, stage, "each thread accumulates a part of its own",
                      "the terms of " + axis.name + " = 0 and of " + axis.name +
                          " = 1 are accumulated apart and then combined, where the definition takes term after term");
  prove_joinable(c, stage, "a thread without terms has the identity");
  const auto path = to_outermost_reduction(p, loop);
  for (const Stmt* s : path)
    if (ir::is_loop(*s, LoopKind::vthread))
      c.refuse("virtual threads inside of reductions over threads", name_of(p, loop) + " inside " + name_of(p, *s));
  prove_few_parts(c, *path.back());
  prove_uniform(c, path, "a reduction over threads");
}

void prove_virtual(Context& c, const Stmt& loop) {
  prove_independent(c, loop);
  prove_constant_extent(c, loop, 64);
  for (const Stmt* s : ir::path_to(c.p, loop.id))
    if (const LoopStmt* l = s->as<LoopStmt>();
        l && s->id != loop.id && (l->kind == LoopKind::parallel || l->kind == LoopKind::vectorized))
      c.refuse("virtual threads outside of parallel and vectorized loops", name_of(c.p, loop) + ", inside " + name_of(c.p, *s));
}

void prove_pipeline(Context& c, const Stmt& loop) {
  const LoopStmt& node = loop.get<LoopStmt>();
  const ir::Pipeline& pipeline = *node.pipeline;
  const Program& p = c.p;
  const std::string at = "computed and stored at " + name_of(p, loop);
  prove_uniform(c, ir::path_to(p, loop.id), "a pipeline");
  for (Id id : pipeline.loads) {
    if (!p.stages.count(id))
      c.refuse("a stage that no pipeline loads (take it inline before the pipeline)", "a load of " + name_of(p, loop));
    const ir::Stage& load = p.stage(id);
    const Stmt* nest = direct_nest(loop, id);
    if (!nest) c.refuse("loads that are " + at + " (compute_at)", load.name + ", which is computed elsewhere");
    for (Id b : load.buffers) {
      const bool here = std::any_of(loop.body().begin(), loop.body().end(),
                                    [&](const Stmt& s) { return s.is<AllocStmt>() && s.get<AllocStmt>().buffer == b; });
      if (!here) c.refuse("loads that are " + at, load.name + ", which is stored elsewhere");
      if (!(p.buffer(b).scope == Scope::shared))
        c.refuse("loads in Scope::shared", p.buffer(b).name + " in " + p.buffer(b).scope.name);
    }
    require_no_recurrence(c, load, ", which would read another buffer of the ring");
    const NestStmt& tile = nest->get<NestStmt>();
    if (!tile.slides.empty() || tile.after) c.refuse("loads that compute their whole tile", load.name + ", which slides");
    // what is computed stages - 1 iterations earlier must not wait for this iteration
    ir::walk(nest->body(), [&](const Stmt& s) {
      if (const LoopStmt* l = s.as<LoopStmt>(); l && l->pipeline && (l->pipeline->async_copy || pipeline.async_copy))
        c.refuse("loads without a pipeline of their own, where copies are asynchronous: each waits for its own",
                 name_of(p, s) + " in " + load.name);
      const BlockStmt* block = s.as<BlockStmt>();
      if (!block) return;
      for (const analysis::Read& r : analysis::reads_of(p.stage(block->stage))) {
        const Id from = r.load.node()->id;
        for (const Stmt& other : loop.body())
          if (other.id != nest->id && subtree_writes(p, other, from))
            c.refuse("loads that read nothing computed inside " + name_of(p, loop),
                     load.name + ", which reads " + p.buffer(from).name,
                     "at " + p.axis(node.axis).name + " = 0, " + load.name + " would be computed for " +
                         p.axis(node.axis).name + " = " + std::to_string(pipeline.stages - 1) + ", before " +
                         p.buffer(from).name + " is");
      }
    });
    if (pipeline.async_copy) prove_async(c, load, *nest);
  }
}

}  // namespace ashlar::schedule
