// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "analysis/regions/cover.h"

#include <algorithm>
#include <map>

#include <ashlar/analysis/regions.h>

namespace ashlar::analysis {

std::int64_t covered_past(const ir::Program& p, const ir::Stage& stage, std::size_t k) {
  std::map<ir::Id, std::int64_t> past;  // by iteration variable: one less than the factor of its covering split
  for (const auto& [id, a] : p.axes) {
    std::int64_t factor = 1;
    if (a.origin != ir::Axis::Origin::split_outer || a.tail != ir::Tail::cover || !ir::is_int(a.factor, &factor)) continue;
    const ir::Axis* root = &p.axis(a.parent);
    while (root->origin == ir::Axis::Origin::split_outer) root = &p.axis(root->parent);
    if (root->origin == ir::Axis::Origin::root) past[root->iter] = std::max(past[root->iter], factor - 1);
  }
  if (past.empty() || stage.buffers.empty() || p.buffer(stage.buffers.front()).role != ir::Role::temporary) return 0;
  std::int64_t most = 0;
  for (const auto& [id, reader] : p.stages)
    for (const Read& r : reads_of(reader)) {
      if (p.buffer(r.load.node()->id).stage != stage.id) continue;
      const Expr& index = ir::args_of(r.load)[k];
      const auto at = ir::is(index, ir::Op::var) ? past.find(index.node()->id) : past.end();
      if (at != past.end()) most = std::max(most, at->second);
    }
  return most;
}

}  // namespace ashlar::analysis
