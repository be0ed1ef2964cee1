// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages that a function in C computes: it gets addresses, strides and extents, so what it reads and writes must lie in memory,
// in rows, on the host; and it is called where one thread runs at a time.
#include <algorithm>

#include <ashlar/ir/function.h>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {
namespace {

void require_rows(const Context& c, const ir::Function& f, const ir::Buffer& b) {
  const auto refuse = [&](const std::string& found) {
    c.refuse("memory of the host, in rows, for " + b.name + ", which " + f.symbol + " gets the address of", found);
  };
  if (!b.layout.map.empty()) refuse("a layout of its own, or a ring");
  if (!b.layout.dropped.empty()) refuse("a dimension that is not stored");
  if (!(b.scope == Scope::global) && !(b.scope == Scope::stack)) refuse("Scope::" + std::string(b.scope.name));
}

}  // namespace

void prove_external(Context& c, const Stmt& nest) {
  const ir::Stage& stage = c.p.stage(nest.get<NestStmt>().stage);
  const ir::Function* f = ir::computed_by(stage.values);
  if (!f) return;
  if (c.target.is_gpu())
    c.refuse("a target without a device, for " + stage.name + ", which " + f->symbol + " computes on the host",
             std::string(c.target.text()));
  for (const ir::Needed& n : ir::needed_by(stage.values.front())) require_rows(c, *f, c.p.buffer(n.first.node()->id));
  for (Id b : stage.buffers) require_rows(c, *f, c.p.buffer(b));
  for (const Stmt* s : ir::path_to(c.p, nest.id))
    if (const LoopStmt* loop = s->as<LoopStmt>();
        loop && (loop->kind == ir::LoopKind::vectorized || loop->kind == ir::LoopKind::tensorized))
      c.refuse("no vectorized loop around " + stage.name + ", which " + f->symbol + " computes a box at a time",
               name_of(c.p, *s));
}

}  // namespace ashlar::schedule
