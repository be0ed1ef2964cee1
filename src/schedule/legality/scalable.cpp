// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Obligations of vectors whose length the machine knows: every operation is on all lanes at once, since nobody can name one.
#include <ashlar/ir/vscale.h>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {
namespace {

// What there are no scalable instructions for; empty if there is nothing.
std::string without_instruction(const Program& p, const Expr& value) {
  std::string found;
  ir::walk(value, [&](const Expr& e) {
    const Type t = e.type();
    if (ir::is(e, ir::Op::call)) found = "a call of " + std::string(e.node()->name ? e.node()->name : "a function in C");
    if (ir::is(e, ir::Op::load) && p.buffer(e.node()->id).type.is_packed())
      found = p.buffer(e.node()->id).name + ", which is packed";
    const bool doubled = ir::is(e, ir::Op::mul_high) || ir::is(e, ir::Op::mul_high_rounding);
    if (doubled && t.bits == 64) found = ir::text(e) + " of 64 bits";
    return found.empty();
  });
  return found;
}

}  // namespace

bool prove_scalable(Context& c, const Stmt& loop) {
  const ir::LoopRange r = ir::range_of(c.p, loop);
  const Expr extent = analysis::simplify(ir::sub(r.end, r.begin), analysis::facts_of_arguments(c.p));
  if (!ir::scalable_lanes(extent)) return false;
  const std::string name = name_of(c.p, loop);
  if (loop.get<LoopStmt>().part != ir::Part::all)
    c.refuse("all iterations of a loop over scalable lanes", name + ", which was peeled or partitioned");
  ir::walk(loop.body(), [&](const Stmt& s) {
    if (s.is<LoopStmt>()) c.refuse("scalable lanes innermost", name_of(c.p, s) + " inside " + name);
    const BlockStmt* block = s.as<BlockStmt>();
    if (!block) return;
    const ir::Stage& stage = c.p.stage(block->stage);
    if (stage.scatters()) c.refuse("a stage that stores each point once", stage.name + ", a scatter");
    for (const Id b : stage.buffers)
      if (c.p.buffer(b).scope == Scope::registers || c.p.buffer(b).type.is_packed())
        c.refuse("results of scalable lanes in memory, an element apart", c.p.buffer(b).name);
    for (const auto* list : {&stage.values, &stage.inits, &stage.domain})
      for (const Expr& e : *list)
        if (const std::string found = without_instruction(c.p, e); !found.empty())
          c.refuse("operations that scalable vectors have", stage.name + ", with " + found);
  });
  return true;
}

}  // namespace ashlar::schedule
