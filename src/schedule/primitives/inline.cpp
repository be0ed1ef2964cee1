// inline(stage): its readers compute its value where they read it.
//
//   P[i] = A[i] * 2              C[i] = A[i - 1] * 2 + A[i + 1] * 2
//   C[i] = P[i-1] + P[i+1]   ->
#include <algorithm>

#include "schedule/primitives.h"

namespace ashlar::schedule {

void apply_inline(Context& c) {
  // match
  const ir::Stage stage = c.stage(0);
  if (stage.is_reduction()) c.refuse("a stage that is not a reduction", stage.name + " (compute_at places it)");
  if (stage.buffers.size() != 1)
    c.refuse("a stage with one value", stage.name + " with " + std::to_string(stage.buffers.size()));
  const Id buffer = stage.buffers.front();
  if (c.p.buffer(buffer).role != ir::Role::temporary) c.refuse("a stage that is not an output", stage.name);
  if (!c.p.buffer(buffer).layout.map.empty())
    c.refuse("a stage without storage choices", stage.name + ", whose layout was set");
  const Stmt& nest = only_nest(c, stage);
  std::vector<Stmt> inner;
  ir::walk(nest.body, [&](const Stmt& s) {
    if (s.kind == Stmt::Kind::nest)
      c.refuse("a stage with nothing computed inside it (inline before placing others)",
               c.p.stage(s.stage).name + " inside " + stage.name);
  });
  for (const auto& [id, reader] : c.p.stages) {
    if (id == stage.id || !reads_buffer(reader, buffer)) continue;
    for (const Stmt* n : ir::nests_of(c.p, id))
      if (n->after == stage.id) c.refuse("a stage that no other was put after", reader.name + " after " + stage.name);
  }
  // rewrite: nothing to prove, every read lies in the stage's domain already
  bool any = false;
  for (auto& [id, reader] : c.p.stages) {
    if (id == stage.id) continue;
    auto replace = [&](Expr& e) {
      e = ir::transform(e, [&](const Expr& x) {
        if (!ir::is(x, ir::Op::load) || x.node()->id != buffer) return x;
        any = true;
        ir::Substitution at;
        for (std::size_t d = 0; d < stage.iters.size(); ++d) at.emplace_back(stage.iters[d].id, ir::args_of(x)[d]);
        return ir::substitute(stage.values.front(), at);
      });
    };
    for (Expr& e : reader.values) replace(e);
    for (Expr& e : reader.inits) replace(e);
  }
  if (!any) c.refuse("a stage that something reads", stage.name);
  std::vector<Id> axes;
  for (const ir::Root& r : nest.roots) axes.push_back(r.axis);
  take(c.p, ir::alloc_of(c.p, buffer)->id);
  take(c.p, only_nest(c, stage).id);
  while (!axes.empty()) {
    const Id a = axes.back();
    axes.pop_back();
    if (!c.p.axes.count(a)) continue;
    for (Id n : c.p.axis(a).became) axes.push_back(n);
    c.p.axes.erase(a);
  }
  c.p.stages.erase(stage.id);
  c.p.buffers.erase(buffer);
  // remap
  c.consume(stage.id, stage.name, "was inlined", {});
}

}  // namespace ashlar::schedule
