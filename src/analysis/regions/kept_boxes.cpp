// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/kept_boxes.h>

#include <algorithm>

#include <ashlar/analysis/reads.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

KeptBoxes::KeptBoxes(const ir::Program& before, const ir::Program& now, const TreeIndex& tree)
    : before_(before), now_(now), tree_(tree), unchanged_(before, now), boxes_(static_cast<std::size_t>(now.next_id)) {
  // Nests that follow a producer or stand beside a loop have boxes that follow from more than readers; what a split pads widens
  // the domains of others.
  any_ = unchanged_.arguments() &&
         std::none_of(tree.nests.begin(), tree.nests.end(),
                      [](const Path& path) {
                        const NestStmt& nest = path.back()->get<NestStmt>();
                        return nest.after != 0 || nest.sibling.has_value();
                      }) &&
         std::none_of(now.axes.begin(), now.axes.end(),
                      [](const auto& a) { return a.second.tail == ir::Tail::pad || a.second.tail == ir::Tail::cover; });
  for (Id stage : unchanged_.left())
    if (const auto at = before.stages.find(stage); at != before.stages.end())
      for (Id buffer : buffers_read(at->second))
        if (const auto b = before.buffers.find(buffer); b != before.buffers.end()) fewer_.push_back(b->second.stage);
}

bool KeptBoxes::kept(const Path& path) const {
  return std::all_of(path.begin(), path.end(), [&](const Stmt* s) {
    return !s->is<NestStmt>() || box_of(s->id) == Box::kept || box_of(s->id) == Box::same;
  });
}

bool KeptBoxes::same_domain(Id stage) {
  if (unchanged_.definitions()) return true;
  if (!domains_) domains_ = domains_of(now_), domains_before_ = domains_of(before_);
  const auto at = domains_before_->of.find(stage);
  if (at == domains_before_->of.end()) return false;
  const Domain &a = domains_->at(stage), &b = at->second;
  const auto same = [](const Interval& x, const Interval& y) {
    return x.lo.empty() == y.lo.empty() && x.hi.empty() == y.hi.empty() && (x.lo.empty() || ir::same(x.lo, y.lo)) &&
           (x.hi.empty() || ir::same(x.hi, y.hi));
  };
  return std::equal(a.box.begin(), a.box.end(), b.box.begin(), b.box.end(), same) &&
         std::equal(a.inhabited.begin(), a.inhabited.end(), b.inhabited.begin(), b.inhabited.end(), ir::ExprSame{});
}

bool KeptBoxes::keeps(const Path& path) {
  const Stmt& nest = *path.back();
  const NestStmt& n = nest.get<NestStmt>();
  const ir::Stage& stage = now_.stage(n.stage);
  const Path around(path.begin(), path.end() - 1);
  if (!any_ || !unchanged_.nest(nest.id) || !unchanged_.stage(stage.id) || !kept(around)) return false;
  if (std::any_of(n.roots.begin(), n.roots.end(), [](const ir::Root& r) { return r.extent.empty(); })) return false;
  if (stage.is_recurrence() && !unchanged_.definitions()) return false;
  const bool declared = stage.iters.empty() || !stage.iters.front().begin.empty();
  const Id parent = parent_of(path);
  if (!(declared && parent == 0)) {
    if (!same_domain(stage.id)) return false;
    if (std::find(fewer_.begin(), fewer_.end(), stage.id) != fewer_.end()) return false;
    for (Id buffer : stage.buffers)
      for (std::size_t reader : tree_.readers(buffer)) {
        const Path& block = tree_.blocks[reader];
        if (!under(block, parent) || std::find(block.begin(), block.end(), &nest) != block.end()) continue;
        const Stmt& of = *nest_on(block);
        const NestStmt& of_nest = of.get<NestStmt>();
        if (!unchanged_.nest(of.id) || !unchanged_.stage(of_nest.stage) || !kept(block)) return false;
        // a window that a nest slides over is not in its box
        if (!n.slides.empty() && !of_nest.slides.empty() && box_of(of.id) != Box::kept) return false;
      }
  }
  boxes_[nest.id] = Box::kept;
  return true;
}

void KeptBoxes::derived(const Path& path, bool as_before) {
  const Stmt& nest = *path.back();
  boxes_[nest.id] = as_before && unchanged_.nest(nest.id) ? Box::same : Box::other;
}

}  // namespace ashlar::analysis
