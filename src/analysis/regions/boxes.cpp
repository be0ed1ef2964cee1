// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage: the box of a buffer at its alloc, over logical and over physical coordinates.
#include <ashlar/analysis/regions.h>

#include <ashlar/ir/refusal.h>

#include <ashlar/analysis/blocks.h>
#include <ashlar/analysis/reads.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

Box logical_box(const Program& p, Id id) {
  const Stmt* alloc = ir::alloc_of(p, id);
  if (!alloc) throw InternalError("no alloc with id " + std::to_string(id));
  const ir::Buffer& buffer = p.buffer(alloc->get<ir::AllocStmt>().buffer);
  const Path here = ir::path_to(p, alloc->id);
  const Id parent = parent_of(here);
  const Facts facts = facts_down_to(p, here, parent);
  std::vector<Interval> box(static_cast<std::size_t>(buffer.rank));
  bool first = true;
  const TreeIndex tree(p, buffer.stage);
  for (const Path& path : tree.blocks) {
    if (!under(path, parent)) continue;
    const auto iters = iter_intervals(p, path, parent, facts);
    for (std::size_t d = 0; d < box.size(); ++d) widen(box, d, iters[d].range, first, facts);
    first = false;
  }
  if (first) throw InternalError("nothing writes " + buffer.name + " below its alloc");
  Box result;
  for (const Interval& i : box) {
    if (!i.bounded()) throw InternalError("the box of " + buffer.name + " has no bound");
    result.lo.push_back(simplify(i.lo, facts));
    result.extent.push_back(simplify(ir::add(ir::sub(i.hi, i.lo), ir::index(1)), facts));
  }
  return result;
}

Box physical_box(const Program& p, Id id) {
  Box box = logical_box(p, id);
  const Stmt* alloc = ir::alloc_of(p, id);
  const ir::Buffer& buffer = p.buffer(alloc->get<ir::AllocStmt>().buffer);
  const ir::Layout& layout = buffer.layout;
  const Facts facts = facts_at(p, alloc->id);
  if (!layout.map.empty()) {
    std::vector<VarRange> ranges;
    for (std::size_t d = 0; d < layout.vars.size(); ++d)
      ranges.push_back({layout.vars[d], {box.lo[d], ir::sub(ir::add(box.lo[d], box.extent[d]), ir::index(1))}});
    Box physical;
    for (const Expr& e : layout.map) {
      const Interval i = bounds_over(e, ranges, facts);
      if (!i.bounded()) throw InternalError("the layout of " + buffer.name + " has no bound");
      physical.lo.push_back(simplify(i.lo, facts));
      physical.extent.push_back(simplify(ir::add(ir::sub(i.hi, i.lo), ir::index(1)), facts));
    }
    box = std::move(physical);
  }
  if (layout.align_dim >= 0) {
    Expr& e = box.extent.at(static_cast<std::size_t>(layout.align_dim));
    const Expr to = ir::index(layout.pad_to);
    e = simplify(ir::mul(ir::ceil_div(e, to), to), facts);
  }
  return box;
}

std::vector<Expr> storage_extents(const Program& p, Id id) {
  const Stmt* alloc = ir::alloc_of(p, id);
  if (!alloc) throw InternalError("no alloc with id " + std::to_string(id));
  const Path path = ir::path_to(p, alloc->id);
  const Facts facts = facts_of_arguments(p);
  // Space is set aside before any table is read: what a bound read from one may be at most.
  std::vector<VarRange> ranges = loops_below(p, path, 0), data;
  for (VarRange& r : ranges) {
    r.range.lo = without_data(r.range.lo, data, facts);
    r.range.hi = without_data(r.range.hi, data, facts);
  }
  std::vector<Expr> result;
  for (const Expr& extent : physical_box(p, id).extent) {
    std::vector<VarRange> own = data;
    const Expr e = without_data(extent, own, facts);
    std::vector<VarRange> all = ranges;
    all.insert(all.end(), own.begin(), own.end());
    result.push_back(upper_bound(e, all, facts));
  }
  return result;
}

}  // namespace ashlar::analysis
