// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reorder(a, b, c): the named loops take each other's places, outermost first; loops between them that are not named stay.
//
//   reorder(j, i)    for i { for j { block } }   ->   for j { for i { block } }
//
// Legality: ORDER. A stage writes each point from its own iteration, so spatial loops may stand in any order; the reduction
// loops of a point are an order of accumulation, and changing their relative order needs REASSOC.
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

// All of a loop but what is in it.
Stmt header_of(const Stmt& loop) {
  Stmt s = loop;
  s.body().clear();
  return s;
}

Id axis_of(const Stmt& loop) { return loop.get<LoopStmt>().axis; }

// match: the loops named, each once, in the order in which they shall stand
std::vector<Id> wanted_of(const Context& c) {
  std::vector<Id> wanted;
  for (std::size_t k = 0; k < c.count(); ++k) {
    const Stmt& loop = c.loop(k);
    if (std::find(wanted.begin(), wanted.end(), loop.id) != wanted.end())
      c.refuse("each loop once", name_of(c.p, loop) + " twice");
    wanted.push_back(loop.id);
  }
  if (wanted.size() < 2) c.refuse("at least two loops", std::to_string(wanted.size()));
  return wanted;
}

// What stands beside the next loop, in the words of the step that put it there.
[[noreturn]] void refuse_between(const Context& c, const Stmt& s) {
  for (const Stmt& b : s.body())
    if (const NestStmt* nest = b.as<NestStmt>())
      c.refuse("loops with nothing between them", c.p.stage(nest->stage).name + " is computed inside " + name_of(c.p, s) +
                                                      " (move this call before its " +
                                                      (nest->after ? "fuse_into)" : "compute_at)"));
  for (const Stmt& b : s.body()) {
    if (const AllocStmt* alloc = b.as<AllocStmt>())
      c.refuse("loops with nothing between them", c.p.buffer(alloc->buffer).name + " is stored inside " + name_of(c.p, s) +
                                                      " (move this call before its store_at)");
    if (const PrefetchStmt* prefetch = b.as<PrefetchStmt>())
      c.refuse("loops with nothing between them", c.p.buffer(prefetch->buffer).name + " is prefetched inside " +
                                                      name_of(c.p, s) + " (move this call before its prefetch)");
  }
  if (stage_around(c.p, s.id).scatters() && !c.p.axis(s.get<LoopStmt>().axis).reduce)
    c.refuse("loops with nothing between them",
             "inside " + name_of(c.p, s) + " the init stands beside the steps of the scatter");
  c.refuse("loops with nothing between them",
           "the parts of a loop that was peeled inside " + name_of(c.p, s) + " (move this call before the peel)");
}

// match: from the outermost to the innermost of them all loops, each the only statement in the loop around it
std::vector<Stmt*> chain_of(const Context& c, const std::vector<Id>& wanted) {
  Stmt* top = nullptr;
  for (Id id : wanted)
    if (std::all_of(wanted.begin(), wanted.end(), [&](Id other) { return other == id || encloses(c.p, id, other); }))
      top = ir::find(c.p, id);
  if (!top)
    c.refuse("loops around one another",
             name_of(c.p, c.loop(0)) + " and " + name_of(c.p, c.loop(1)) + " are not all on one path");
  std::vector<Stmt*> chain;
  std::size_t found = 0;
  for (Stmt* s = top;; s = &s->body().front()) {
    LoopStmt* loop = s->as<LoopStmt>();
    if (!loop) throw InternalError("loops around one another with a block between them");
    chain.push_back(s);
    found += static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), s->id));
    if (found == wanted.size()) return chain;
    if (loop->body.size() != 1) refuse_between(c, *s);
  }
}

// prove: terms keep their order, or may be regrouped; and loops stay inside of those that bound them
void prove_reordered(Context& c, const std::vector<Stmt*>& chain, const std::vector<Stmt>& headers) {
  std::vector<Id> before, after;
  for (std::size_t k = 0; k < chain.size(); ++k) {
    if (const Id axis = axis_of(*chain[k]); c.p.axis(axis).reduce) before.push_back(axis);
    if (const Id axis = axis_of(headers[k]); c.p.axis(axis).reduce) after.push_back(axis);
  }
  const ir::Stage& stage = stage_around(c.p, chain.front()->id);
  if (before != after) {
    // the outermost loop that now stands further in, and the one that took its place
    const std::size_t k =
        static_cast<std::size_t>(std::mismatch(before.begin(), before.end(), after.begin()).first - before.begin());
    const std::string x = c.p.axis(before[k]).name, y = c.p.axis(after[k]).name;
    prove_reassociation(
        c, stage, "this changes the order of its reduction loops",
        x + " = 0, " + y + " = 1 comes before " + x + " = 1, " + y + " = 0 in the definition, and after it in the schedule");
  }
  for (std::size_t k = 0; k < headers.size(); ++k)
    for (std::size_t j = k; j < headers.size(); ++j)
      if (const ir::Axis &outer = c.p.axis(axis_of(headers[k])), &inner = c.p.axis(axis_of(headers[j]));
          ir::uses_var(outer.extent, inner.id))
        c.refuse("a loop inside those that bound it",
                 outer.name + " in " + ir::text(outer.extent) + " would stand outside " + inner.name);
}

void apply_reorder(Context& c) {
  const std::vector<Id> wanted = wanted_of(c);
  const std::vector<Stmt*> chain = chain_of(c, wanted);
  std::vector<Stmt> headers;  // of the loops as they shall stand, without what is in them
  std::size_t next = 0;
  for (const Stmt* s : chain) {
    const bool named = std::find(wanted.begin(), wanted.end(), s->id) != wanted.end();
    headers.push_back(header_of(named ? *ir::find(c.p, wanted[next++]) : *s));
  }
  prove_reordered(c, chain, headers);
  // rewrite; every loop keeps its id, so handles stay as they are
  for (std::size_t k = 0; k < chain.size(); ++k) {
    std::vector<Stmt> body = std::move(chain[k]->body());
    *chain[k] = std::move(headers[k]);
    chain[k]->body() = std::move(body);
  }
}

// Some of the loops above one block.
bool draw_reorder(Draw& d) {
  const Id stage = d.stage();
  const std::vector<const Stmt*> loops = loops_of(d.p, stage);
  std::vector<const Stmt*> chain, chosen;
  for (const Stmt* s : ir::path_to(d.p, d.any(ir::blocks_of(d.p, stage))->id))
    if (std::find(loops.begin(), loops.end(), s) != loops.end()) chain.push_back(s);
  if (chain.size() < 2) return false;
  for (const Stmt* s : chain)
    if (d.pick(4) < 3) chosen.push_back(s);
  if (chosen.size() < 2) chosen = chain;
  const auto is_chosen = [&](const Stmt* s) { return std::find(chosen.begin(), chosen.end(), s) != chosen.end(); };
  std::vector<const Stmt*> order = chosen, before, after;
  for (std::size_t k = 0; k + 1 < order.size(); ++k)
    std::swap(order[k], order[k + 1 + d.pick(static_cast<std::uint32_t>(order.size() - k - 1))]);
  std::size_t next = 0;  // how the reduction loops follow each other afterwards
  for (const Stmt* s : chain) {
    const Stmt* there = is_chosen(s) ? order[next++] : s;
    if (d.p.axis(s->get<LoopStmt>().axis).reduce) before.push_back(s);
    if (d.p.axis(there->get<LoopStmt>().axis).reduce) after.push_back(there);
  }
  d.reassociates = before != after && order_matters(d.p, d.p.stage(stage));
  std::vector<Arg> args;
  for (const Stmt* s : order) args.push_back(Arg::loop(s->id));
  return d.step("reorder", std::move(args));
}

}  // namespace

extern constexpr Primitive reorder_primitive{
    .name = "reorder",
    .spelling = "reorder",
    .parameters = {takes::loop("loop").any_number()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::of_one_nest, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_reorder,
    .cpp = of_loop,
    .draw = Drawing{.often = 2, .draw = draw_reorder},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::reorder(std::span<const Loop> loops, Where w) const {
  std::vector<Arg> args;
  for (const Loop& l : loops) args.push_back(own(l, schedule::reorder_primitive, w));
  return done(schedule::reorder_primitive, std::move(args), w);
}

}  // namespace ashlar
