// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "analysis/regions/relax.h"

#include <algorithm>

#include <ashlar/analysis/regions.h>

namespace ashlar::analysis {

Interval over_threads(const ir::Program& p, const std::vector<const ir::Stmt*>& path, const ir::Stage& stage, Interval i,
                      const Facts& facts) {
  if (std::none_of(stage.buffers.begin(), stage.buffers.end(), [&](ir::Id b) { return p.buffer(b).scope == Scope::shared; }))
    return i;
  std::vector<VarRange> threads;
  for (std::size_t k = path.size(); k-- > 0;) {
    const ir::Stmt& s = *path[k];
    const ir::LoopStmt* loop = s.as<ir::LoopStmt>();
    if (!loop) continue;
    const bool thread = loop->kind == ir::LoopKind::bound && !ir::is_block(loop->bound_to);
    if (!thread && loop->kind != ir::LoopKind::vthread) continue;
    const ir::LoopRange r = ir::range_of(p, s);
    threads.push_back({loop->axis, {r.begin, ir::sub(r.end, ir::index(1))}});
  }
  if (threads.empty()) return i;
  if (!i.lo.empty()) i.lo = bounds_over(i.lo, threads, facts).lo;
  if (!i.hi.empty()) i.hi = bounds_over(i.hi, threads, facts).hi;
  return i;
}

}  // namespace ashlar::analysis
