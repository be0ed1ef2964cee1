// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inline(stage): its readers compute its value where they read it.
//
//   P[i] = A[i] * 2              C[i] = A[i - 1] * 2 + A[i + 1] * 2
//   C[i] = P[i-1] + P[i+1]   ->
//
// A stage that nothing reads any more is dropped with it: one that only P read, for what its readers' formulas have no use for
// (the arm of a select that is decided where P is read), or one that its readers read to say which element of P they want.
#include <algorithm>
#include <set>

#include <ashlar/ir/function.h>

#include <ashlar/analysis/reads.h>
#include "schedule/legality/legality.h"
#include "schedule/primitives/placement/placement.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {
namespace {

// Do formulas alone read a buffer, and not a function in C, which reads it in memory?
void require_formulas(Context& c, const ir::Stage& stage, Id buffer, const ir::Stage& reader) {
  if (const ir::Function* f = ir::computed_by(reader.values); f && reads_buffer(reader, buffer))
    c.refuse("a stage that formulas alone read (compute_at places it)",
             stage.name + ", which " + f->symbol + " reads in memory, for " + reader.name);
}

}  // namespace

const ir::Stage* unread(const Program& p) {
  std::set<Id> read;
  for (const auto& [id, stage] : p.stages)
    for (Id b : analysis::buffers_read(stage))
      if (p.buffer(b).stage != id) read.insert(b);
  for (const auto& [id, stage] : p.stages)
    if (std::none_of(stage.buffers.begin(), stage.buffers.end(),
                     [&](Id b) { return p.buffer(b).role != ir::Role::temporary || read.count(b); }))
      return &stage;
  return nullptr;
}

void drop_stage(Context& c, const ir::Stage& stage, const std::string& because) {
  std::vector<Id> axes;
  std::vector<Stmt> nests;
  for (const Stmt* nest : ir::nests_of(c.p, stage.id)) nests.push_back(*nest);
  for (const Stmt& nest : nests) {
    ir::walk({nest}, [&](const Stmt& s) {
      if (const NestStmt* n = s.as<NestStmt>(); n && n->sibling && n->stage != stage.id)
        c.refuse("stages that share no loop with one that nothing reads any more (move this call before fuse_siblings)",
                 c.p.stage(n->stage).name + ", which shares " + c.p.axis(n->sibling->loop).name + " with " + stage.name);
      if (s.is<LoopStmt>()) c.consume(s.id, name_of(c.p, s), "went with " + stage.name + ", which " + because, {});
    });
    take(c.p, nest.id);
  }
  ir::walk(nests, [&](const Stmt& s) {
    const NestStmt* n = s.as<NestStmt>();
    if (!n) return;
    for (const ir::Root& r : n->roots) axes.push_back(r.axis);
    const auto at = c.p.stages.find(n->stage);
    if (at == c.p.stages.end()) return;  // a copy in another part of a peeled loop
    for (Id b : at->second.buffers) {
      ir::walk(c.p.body, [&](const Stmt& p) {
        if (const PrefetchStmt* prefetch = p.as<PrefetchStmt>(); prefetch && prefetch->buffer == b)
          c.refuse("a stage that nothing prefetches (move this call before the prefetch)",
                   at->second.name + ", prefetched at " + location(p.where));
      });
      while (const Stmt* alloc = ir::alloc_of(c.p, b)) take(c.p, alloc->id);
      c.p.buffers.erase(b);
      c.consume(b, at->second.name, because, {});
    }
    c.consume(n->stage, at->second.name, because, {});
    c.p.stages.erase(at);
  });
  while (!axes.empty()) {
    const Id a = axes.back();
    axes.pop_back();
    if (!c.p.axes.count(a)) continue;
    for (Id n : c.p.axis(a).became) axes.push_back(n);
    c.p.axes.erase(a);
  }
}

void drop_unread(Context& c, const std::string& because) {
  while (const ir::Stage* other = unread(c.p)) drop_stage(c, ir::Stage(*other), because);
}

ir::Stage inlined_stage(Context& c) {
  const ir::Stage stage = c.stage(0);
  for (Id b : stage.buffers)
    if (c.p.buffer(b).role != ir::Role::temporary)
      c.refuse("a stage that is not an output", stage.name + ", which the caller reads");
  if (stage.is_reduction()) c.refuse("a stage that is not a reduction", stage.name + " (compute_at places it)");
  require_no_recurrence(c, stage, " (compute_at places it)");
  if (const ir::Function* f = ir::computed_by(stage.values))
    c.refuse("a stage that formulas compute", stage.name + ", which " + f->symbol + " computes (compute_at places it)");
  if (stage.buffers.size() != 1)
    c.refuse("a stage with one value", stage.name + " with " + std::to_string(stage.buffers.size()));
  const Id buffer = stage.buffers.front();
  if (const ir::Layout& layout = c.p.buffer(buffer).layout; !layout.map.empty() || layout.align_dim >= 0)
    c.refuse("a stage without storage choices",
             stage.name + (layout.map.empty() ? ", which was aligned" : ", whose layout was set"));
  for (const auto& [id, reader] : c.p.stages)
    if (reader.has_fill && reader.origin_of == buffer)
      c.refuse("a stage that no copy fills past the end of (compute_at places it)",
               stage.name + ", which " + reader.name + " copies");
  const Stmt& nest = only_nest(c, stage);
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const NestStmt* n = s.as<NestStmt>())
      c.refuse(std::string("a stage with nothing computed inside it (move this call before the ") +
                   (n->after ? "fuse_into)" : "compute_at)"),
               c.p.stage(n->stage).name + " inside " + stage.name);
  });
  return stage;
}

Expr with_inlined(const Expr& e, const std::map<Id, Inlined>& stages) {
  return ir::transform(e, [&](const Expr& x) {
    if (!ir::is(x, ir::Op::load)) return x;
    const auto at = stages.find(x.node()->id);
    if (at == stages.end()) return x;
    ++at->second.read;
    const ir::Stage& stage = at->second.stage;
    ir::Substitution point;
    for (std::size_t d = 0; d < stage.iters.size(); ++d) point.emplace_back(stage.iters[d].id, ir::args_of(x)[d]);
    const Expr value = ir::substitute(stage.values.front(), point);
    return stages.size() > 1 ? with_inlined(value, stages) : value;
  });
}

void inline_into_readers(Context& c, const std::map<Id, Inlined>& stages) {
  std::set<Id> inlined;
  for (const auto& [buffer, of] : stages) inlined.insert(of.stage.id);
  for (auto& [id, reader] : c.p.stages) {
    bool any = false;
    for (const Id buffer : analysis::buffers_read(reader)) {
      const auto at = stages.find(buffer);
      if (at == stages.end() || (stages.size() == 1 && id == at->second.stage.id)) continue;
      require_formulas(c, at->second.stage, buffer, reader);
      any = true;
    }
    if (!any || inlined.count(id)) continue;
    for (auto* list : {&reader.values, &reader.inits, &reader.targets})
      for (Expr& e : *list) e = with_inlined(e, stages);
    if (!reader.keep.empty()) reader.keep = with_inlined(reader.keep, stages);
  }
}

namespace {

void apply_inline(Context& c) {
  // match
  const ir::Stage stage = inlined_stage(c);
  // rewrite: nothing to prove, every read lies in the stage's domain already
  const std::map<Id, Inlined> stages{{stage.buffers.front(), {stage}}};
  inline_into_readers(c, stages);
  if (!stages.begin()->second.read) throw InternalError(stage.name + " is read by nothing");
  // remap
  drop_stage(c, stage, "was inlined");
  drop_unread(c, "had no reader any more when " + stage.name + " was inlined");
}

}  // namespace

extern constexpr Primitive inline_primitive{
    .name = "inline",
    .spelling = "inline_",
    .parameters = {takes::stage()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_inline,
    .cpp = of_stage,
    .draw = Drawing{.often = 1, .draw = [](Draw& d) { return d.step("inline", {Arg::stage(d.temporary())}); }},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::inline_(Where w) const { return done(schedule::inline_primitive, {Arg::stage(id_)}, w); }

}  // namespace ashlar
