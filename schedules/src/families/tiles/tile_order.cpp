// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedules/src/families/tiles/tile_order.h"

#include <optional>

#include <ashlar/ir/at_line.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/tiles/tiles.h"
#include "schedules/src/reading.h"

namespace ashlar::schedules::detail {

namespace {

constexpr std::int64_t columns = 128;  // of a tile
constexpr std::int64_t at_once = 256;  // updates, and starting values

}  // namespace

void tile_steps(Schedule& s, const Stage& stage, bool regroup, Where where) {
  const AtLine line(where);
  const ir::Stage d = definition(s, stage);
  const std::vector<Loop> points = stage.spatial_loops(where);
  const std::size_t along = d.along.front(), last = points.size() - 1;
  const bool scans = regroup && along == last && d.scan.kind != ir::ReducerKind::none &&
                     d.scan.order == ir::Reducer::Order::any && d.scan.unjoinable.empty();
  std::vector<Loop> blocks, inside, steps;
  std::vector<std::int64_t> widths;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const bool tiled = k == along ? scans : k == (along == last ? last - 1 : last);
    if (!tiled) {
      (k == along ? steps : blocks).push_back(points[k]);
      continue;
    }
    widths.push_back(width_along(s, points[k], k == along || k == last ? columns : scans ? 1 : at_once / 8, where));
    const Split split = stage.split(points[k], widths.back(), Tail::guard, where);
    (k == along ? steps : blocks).push_back(split.outer), inside.push_back(split.inner);
  }
  std::vector<Loop> order = blocks;
  for (const std::vector<Loop>& more : {steps, inside}) order.insert(order.end(), more.begin(), more.end());
  if (order.size() > 1) stage.reorder(order, where);
  if (!blocks.empty()) over_blocks(stage, blocks, std::nullopt, where);
  for (std::size_t k = 0; k < inside.size(); ++k) stage.as_tile(inside[k], Factor(widths[k]), where);
}

void tile_updates(const Schedule& s, const Stage& stage, Where where) {
  const AtLine line(where);
  stage.atomic(where);
  for (const bool steps : {true, false}) {
    std::vector<Loop> loops = steps ? stage.reduction_loops(where) : stage.spatial_loops(where);
    const std::int64_t width = width_along(s, loops.back(), at_once, where);
    const Split split = stage.split(loops.back(), width, Tail::guard, where);
    loops.back() = split.outer;
    over_blocks(stage, loops, std::nullopt, where);
    stage.as_tile(split.inner, Factor(width), where);
  }
}

}  // namespace ashlar::schedules::detail
