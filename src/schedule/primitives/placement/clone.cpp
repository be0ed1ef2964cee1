// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clone(stage, readers): another stage with the same definition, which these readers read instead.
//
//   nest P                              nest P
//   nest A: reads P                     nest P_clone
//   nest B: reads P            ->       nest A: reads P
//                                       nest B: reads P_clone
//
// Each of the two is placed on its own: one may be computed at a loop of its reader, the other at root or inline. The clone is
// computed at root, just before its first reader; where its own producers are computed inside of loops it follows them, so it
// is made first.
//
// Legality: nothing is computed that the program did not compute, and one reader at least keeps the stage.
#include <algorithm>

#include <ashlar/ir/recurrence.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"
#include "schedule/primitives/storage/storage.h"

namespace ashlar::schedule {
namespace {

// The same definition over iteration variables of its own, into buffers of its own.
ir::Stage copy_of(Context& c, const ir::Stage& stage) {
  ir::Stage s = stage;
  s.id = c.p.fresh();
  s.name = stage.name + "_clone";
  s.where = c.step.where;
  ir::Substitution to;
  for (ir::IterVar& v : s.iters) {
    const Id old = v.id;
    v.id = c.p.fresh();
    v.descending = false;
    for (Expr* bound : {&v.begin, &v.end})
      if (!bound->empty()) *bound = ir::substitute(*bound, to);
    to.emplace_back(old, ir::var(v.id, v.name));
  }
  for (auto* list : {&s.domain, &s.values, &s.inits, &s.targets})
    for (Expr& e : *list) e = ir::substitute(e, to);
  if (!s.keep.empty()) s.keep = ir::substitute(s.keep, to);
  s.atomic = false;
  s.buffers.clear();
  for (const Id b : stage.buffers) {
    const ir::Buffer from = c.p.buffer(b);
    ir::Buffer& own = new_buffer(c, from, from.name + "_clone", Scope::global);
    own.stage = s.id;
    s.buffers.push_back(own.id);
  }
  return s;
}

bool reads_any(const ir::Stage& reader, const ir::Stage& stage) {
  return std::any_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) { return reads_buffer(reader, b); });
}

void apply_clone(Context& c) {
  // match
  const ir::Stage stage = c.stage(0);
  require_no_recurrence(c, stage, "");
  if (ir::recurrences_around(c.p).count(stage.id))
    c.refuse("a stage outside of recurrences", stage.name + ", which one reads and that reads it");
  std::vector<Id> readers;
  for (std::size_t k = 1; k < c.count(); ++k) {
    const ir::Stage& reader = c.stage(k);
    if (!reads_any(reader, stage)) c.refuse("stages that read " + stage.name, reader.name + ", which does not");
    for (const Stmt* n : ir::nests_of(c.p, reader.id))
      if (n->get<NestStmt>().after == stage.id)
        c.refuse("a reader that is computed after what it reads (move this call before fuse_into)", reader.name);
    readers.push_back(reader.id);
  }
  if (readers.empty()) c.refuse("stages that read " + stage.name, "none");
  const bool kept = std::any_of(stage.buffers.begin(), stage.buffers.end(),
                                [&](Id b) { return c.p.buffer(b).role != ir::Role::temporary; }) ||
                    std::any_of(c.p.stages.begin(), c.p.stages.end(), [&](const auto& s) {
                      return s.first != stage.id && reads_any(s.second, stage) &&
                             std::find(readers.begin(), readers.end(), s.first) == readers.end();
                    });
  if (!kept) c.refuse("a reader that keeps " + stage.name, "all of them named");
  for (const Id b : stage.buffers)
    ir::walk(c.p.body, [&](const Stmt& s) {
      if (const PrefetchStmt* prefetch = s.as<PrefetchStmt>(); prefetch && prefetch->buffer == b)
        c.refuse("a stage that is not prefetched yet (move this call before the prefetch)", stage.name);
    });
  // rewrite
  const ir::Stage made = copy_of(c, stage);
  c.p.stages[made.id] = made;
  for (const Id r : readers)
    for (std::size_t k = 0; k < stage.buffers.size(); ++k)
      redirect_reads(c.p.stages.at(r), stage.buffers[k], c.p.buffer(made.buffers[k]));
  std::vector<Stmt> statements;
  for (const Id b : made.buffers) statements.push_back(fresh_alloc(c.p, b, c.step.where));
  statements.push_back(fresh_nest(c.p, made, c.step.where));
  insert_before_use(c.p, c.p.body, std::move(statements), made.buffers);
  // remap
  c.results = {made.id};
}

std::string line_of_clone(CppCall& w, const Step& s) {
  const std::string readers = stages_from(w, s, 1, &CppCall::stage_ref), stage = w.stage_ref(s.args[0].id);
  return w.schedule() + ".clone(" + stage + ", " + readers + ")";
}

bool draw_clone(Draw& d) {
  const Id stage = d.temporary();
  std::vector<Id> readers = readers_of(d.p, stage);
  if (readers.size() < 2 && !d.one_in(12)) return false;
  if (readers.empty()) readers = d.stages();
  std::vector<Arg> args{Arg::stage(stage)};
  const std::size_t keeps = d.pick(static_cast<std::uint32_t>(readers.size()));
  for (std::size_t k = 0; k < readers.size(); ++k)
    if (k != keeps || d.one_in(12)) args.push_back(Arg::stage(readers[k]));
  return d.step("clone", std::move(args));
}

}  // namespace

extern constexpr Primitive clone_primitive{
    .name = "clone",
    .spelling = "clone",
    .parameters = {takes::stage(), takes::stage("reader").any_number()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_clone,
    .cpp = line_of_clone,
    .draw = Drawing{.often = 1, .draw = draw_clone},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Schedule::clone(StageRef stage, std::initializer_list<StageRef> readers, Where w) {
  std::vector<Arg> args{Arg::stage(stage_of(stage, "clone", w))};
  for (const StageRef& r : readers) args.push_back(Arg::stage(stage_of(r, "clone", w)));
  const Stage any(0, state_);
  return Stage(any.apply(schedule::clone_primitive, std::move(args), w)[0], state_);
}

}  // namespace ashlar
