// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/siblings.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

std::optional<Values> values_of(const ir::Program& p, const Stmt& nest, Id axis) {
  const ir::Axis* a = &p.axis(axis);
  Expr unit = ir::index(1);
  while (a->origin == ir::Axis::Origin::split_outer) {
    if (a->parts > 0 || a->tail == ir::Tail::shift || a->tail == ir::Tail::pad || a->tail == ir::Tail::cover) return {};
    unit = ir::mul(unit, a->factor);
    a = &p.axis(a->parent);
  }
  if (a->origin != ir::Axis::Origin::root || a->reduce) return {};
  bool descending = false;
  for (const ir::IterVar& v : p.stage(nest.get<NestStmt>().stage).iters)
    descending = descending || (v.id == a->iter && v.descending);
  return Values{a->iter, unit, descending};
}

const Stmt* host_of(const std::vector<const Stmt*>& path) {
  const NestStmt* nest = path.back()->as<NestStmt>();
  if (!nest || !nest->sibling) return nullptr;
  for (std::size_t k = path.size() - 1; k-- > 0;)
    if (path[k]->is<NestStmt>()) return path[k];
  return nullptr;
}

}  // namespace ashlar::analysis
