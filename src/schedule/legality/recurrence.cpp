// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Obligations of recurrences: what a step reads is computed before it, and once.
#include <ashlar/analysis/recurrence.h>
#include <ashlar/ir/recurrence.h>

#include <algorithm>
#include <optional>

#include "schedule/legality/inside.h"
#include "schedule/legality/legality.h"

namespace ashlar::schedule {

void prove_recurrence(Context& c, const Stmt& nest) {
  const ir::Stage& stage = c.p.stage(nest.get<NestStmt>().stage);
  const auto found = analysis::misordered(c.p, nest);
  if (!found) return;
  const Stmt& loop = *found->loop;
  const LoopStmt& l = loop.get<LoopStmt>();
  const std::string& name = c.p.axis(l.axis).name;
  if (found->order)
    return c.unproved(Obligation::order, "loops of " + stage.name + " that compute " + found->read + " before its reader",
                      name_of(c.p, loop) + ", in which the reader may come first", found->iterations);
  c.unproved(Obligation::disjoint, "a loop whose iterations are independent, or one of kind serial",
             name_of(c.p, loop) + ", which is " + word(l.kind) + ", while " + stage.name + " reads " + found->read,
             found->iterations + ", of another iteration of " + name);
}

namespace {

// The loops of a nest around the one over all steps of a dimension, which has not been taken apart.
std::optional<std::vector<const Stmt*>> around_steps(const Program& p, const Stmt& nest, Id axis) {
  if (!p.axis(axis).became.empty()) return {};
  std::vector<const Stmt*> around;
  std::optional<std::vector<const Stmt*>> found;
  const auto visit = [&](const auto& self, const std::vector<Stmt>& body) -> void {
    for (const Stmt& s : body) {
      const LoopStmt* loop = s.as<LoopStmt>();
      if (!loop) continue;
      if (loop->axis == axis && !found) found = around;
      around.push_back(&s);
      self(self, loop->body);
      around.pop_back();
    }
  };
  visit(visit, nest.body());
  return found;
}

}  // namespace

// Slot v % n holds the step v until the step v + n is computed. Every read goes back by less than n, and between a step and its
// readers no other iteration of the loops around runs: then no read of the recurrence's own comes too late. Those of others
// come when all is computed, up to the last step: what they read is among the last n.
bool prove_steps_fold(Context& c, const Stmt& nest, const ir::Buffer& buffer, std::size_t dim, std::int64_t slots) {
  const NestStmt& n = nest.get<NestStmt>();
  const Program& p = c.p;
  const ir::Stage& stage = p.stage(n.stage);
  if (!stage.is_recurrence()) return false;
  const auto reads = ir::self_reads(p, stage);
  if (std::all_of(reads.begin(), reads.end(), [&](const ir::SelfRead& r) { return r.back[dim] && *r.back[dim] == 0; }))
    return false;
  const ir::IterVar& step = stage.iters[dim];
  const std::string expected =
      "a ring with room for all live elements: dimension " + std::to_string(dim) + " of " + buffer.name;
  const auto element = [&](std::int64_t v) { return buffer.name + " at " + step.name + " = " + std::to_string(v); };
  for (const ir::SelfRead& r : reads) {
    if (!r.back[dim] || *r.back[dim] < 0)
      return c.unproved(Obligation::capacity, expected + " is read a constant number of steps back alone",
                        ir::text(r.load) + ", which may lie anywhere along " + step.name, ""),
             true;
    const std::int64_t back = *r.back[dim];
    if (back < slots) continue;
    const std::int64_t reader = step.descending ? 0 : back, source = step.descending ? back : 0;
    c.unproved(Obligation::capacity,
               expected + " holds " + std::to_string(back + 1) + ", a step and the " + std::to_string(back) + " before it",
               std::to_string(slots),
               "step " + step.name + " = " + std::to_string(reader) + " reads " + element(source) + ", whose place " +
                   element(step.descending ? source - slots : source + slots) + " has taken");
  }
  const ir::Root* root = nullptr;
  for (const ir::Root& r : n.roots)
    if (r.iter == step.id) root = &r;
  if (!root) throw InternalError("a nest lacks a root for an iteration variable");
  const auto around = around_steps(p, nest, root->axis);
  if (!around)
    return c.unproved(Obligation::capacity,
                      "one loop over the steps of " + stage.name + " along " + step.name + " (fold before it is split)",
                      "a loop that was split, fused or skewed", ""),
           true;
  for (const Stmt* loop : *around)
    if (!analysis::iterations_apart(p, stage, loop->get<LoopStmt>().axis))
      c.unproved(Obligation::capacity,
                 "the loop over " + step.name + " of " + stage.name + " outside of those in which a step reads other points",
                 name_of(p, *loop) + " around it", "all steps of one point are done before another point reads them");
  auto path = ir::path_to(p, nest.id);
  const analysis::Facts facts = analysis::facts_at(p, path);
  const auto window = analysis::required_region(p, nest.id, analysis::Steps::read);
  if (window.empty())
    c.refuse("readers of " + buffer.name + " beside where it is computed", stage.name + ", which has none there");
  const analysis::Interval& read = window.at(dim);
  Expr first = root->begin, last = ir::sub(ir::add(root->begin, root->extent), ir::index(1));
  if (std::any_of(n.slides.begin(), n.slides.end(), [&](const ir::Slide& s) { return s.iter == step.id; })) {
    const analysis::Interval all = analysis::required_region(p, nest.id).at(dim);  // with those of iterations before
    first = all.lo, last = all.hi;
  }
  const Expr held = step.descending ? ir::sub(read.hi, first) : ir::sub(last, read.lo);
  const auto proof = analysis::prove(ir::lt(held, ir::index(slots)), facts);
  if (!proof)
    c.unproved(Obligation::capacity,
               expected + " is read from " + ir::text(analysis::simplify(read.lo, facts)) + " to " +
                   ir::text(analysis::simplify(read.hi, facts)) + " when the steps from " +
                   ir::text(analysis::simplify(first, facts)) + " to " + ir::text(analysis::simplify(last, facts)) +
                   " are done",
               std::to_string(slots) + ", which keeps only the " + (step.descending ? "first" : "last") + " steps", proof.why);
  return true;
}

void prove_inside(Context& c, const Stmt& nest, Id recurrence) {
  const auto found = analysis::misplaced(c.p, nest, recurrence);
  if (!found) return;
  const std::string &name = c.p.stage(recurrence).name, &inside = c.p.stage(nest.get<NestStmt>().stage).name;
  c.unproved(Obligation::order, inside + " inside the loops along which " + name + " runs, since each reads the other", *found,
             "a step of " + name + " reads " + inside + ", which reads the steps of " + name + " before");
}

void require_no_recurrence(const Context& c, const ir::Stage& stage, const std::string& why) {
  if (stage.is_recurrence()) c.refuse("a stage that does not read itself", stage.name + ", a recurrence" + why);
}

}  // namespace ashlar::schedule
