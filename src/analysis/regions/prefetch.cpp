// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/prefetch.h>

#include <algorithm>

#include <ashlar/analysis/regions.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

bool reads_table(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) { return !(found = found || ir::is(x, ir::Op::load)); });
  return found;
}

}  // namespace

std::optional<PlainRead> first_plain_read(const ir::Program& p, const Stmt& loop, ir::Id buffer) {
  PlainRead found;
  const Stmt* nest = nullptr;
  for (const Stmt* s : ir::path_to(p, loop.id))
    if (s->is<NestStmt>()) nest = s;
  const auto search = [&](const auto& self, const Stmt& at) -> bool {
    found.path.push_back(&at);
    const Stmt* const outside = nest;
    if (at.is<NestStmt>()) nest = &at;
    if (const BlockStmt* block = at.as<BlockStmt>(); block && nest) {
      const ir::Substitution values = ir::iter_values(p, nest->get<NestStmt>());
      for (const Read& r : reads_of(p.stage(block->stage))) {
        if (!happens_in(r, at) || r.load.node()->id != buffer) continue;
        const auto args = ir::args_of(r.load);
        if (std::any_of(args.begin(), args.end(), [&](const Expr& e) { return reads_table(ir::substitute(e, values)); }))
          continue;
        found.load = r.load.node();
        return true;
      }
    }
    for (const Stmt& inner : at.body())
      if (self(self, inner)) return true;
    nest = outside;
    found.path.pop_back();
    return false;
  };
  if (!search(search, loop)) return {};
  return found;
}

}  // namespace ashlar::analysis
