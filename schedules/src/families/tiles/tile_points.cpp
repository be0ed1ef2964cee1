// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/tile_points.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/tiles/tiles.h"
#include "schedules/src/reading.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr const char* points_family = "tile_points";
constexpr std::int64_t usual_columns = 64;

// Dimensions whose points have the same terms, so that they are added up together.
std::vector<std::size_t> together(const ir::Stage& d) {
  const auto dims = spatial_of(d);
  std::vector<std::size_t> some;
  for (std::size_t k = 0; k < dims.size(); ++k)
    if (!bounds_terms(d, dims[k].id)) some.push_back(k);
  return some;
}

// Of these, the dimension along which a read finds neighbors in memory, where that is not the last one.
std::size_t neighbors_along(const Schedule& s, const ir::Stage& d, const std::vector<std::size_t>& some) {
  const auto dims = spatial_of(d);
  for (const Reading& r : readings_of(s.scheduled().program, d)) {
    if (r.at.empty() || r.at.back().coefficients.size() != 1) continue;
    for (std::size_t k = 0; k + 1 < some.size(); ++k)
      if (r.at.back().moves_with(dims[some[k]].id)) return some[k];
  }
  return some[some.size() - 2];
}

}  // namespace

void tile_points(Schedule& s, const Stage& stage, const TilePointsOptions& o, Where where) {
  const AtLine line(where);
  expect_tiles(points_family, s, where);
  const ir::Stage d = definition(s, stage);
  expect_points(points_family, d, where);
  for (const auto& [name, n] : {std::pair{"rows", o.rows}, {"columns", o.columns}, {"elements", o.elements}}) {
    expect_option(points_family, name, n, 0, where);
    if (n > 0) expect_power_of_two(points_family, name, n, where);
  }
  const std::vector<Loop> points = stage.spatial_loops(where), terms = stage.reduction_loops(where);
  const std::size_t rank = points.size();
  if (o.rows_along >= 0 && static_cast<std::size_t>(o.rows_along) + 1 >= std::max<std::size_t>(1, rank))
    refuse(points_family, "rows_along below the last dimension of " + d.name, std::to_string(o.rows_along), where);
  if (points.empty()) return;  // one point: a block by itself
  const std::vector<std::size_t> some = together(d);
  const std::int64_t elements = std::max(1, o.elements);
  std::vector<std::int64_t> widths(rank, 1);
  if (!some.empty()) {
    const std::int64_t wanted = o.columns > 0 ? o.columns : some.size() < 2 ? elements : std::min(usual_columns, elements);
    widths[some.back()] = width_along(s, points[some.back()], wanted, where);
    if (some.size() > 1) {
      const std::size_t along = o.rows_along >= 0 ? static_cast<std::size_t>(o.rows_along) : neighbors_along(s, d, some);
      const std::int64_t left = std::max<std::int64_t>(1, elements / widths[some.back()]);
      widths[along] = width_along(s, points[along], o.rows > 0 ? o.rows : left, where);
    }
  }
  std::vector<Loop> blocks, inside;
  for (std::size_t k = 0; k < rank; ++k) {
    if (widths[k] == 1) {
      blocks.push_back(points[k]);
      continue;
    }
    const Split split = stage.split(points[k], widths[k], Tail::guard, where);
    blocks.push_back(split.outer), inside.push_back(split.inner);
  }
  std::vector<Loop> order = blocks;
  for (const std::vector<Loop>& more : {terms, inside}) order.insert(order.end(), more.begin(), more.end());
  if (order.size() > 1) stage.reorder(order, where);
  const Loop columns = blocks.back();
  blocks.pop_back();
  over_blocks(stage, blocks, columns, where);
  std::size_t next = 0;
  for (const std::int64_t width : widths)
    if (width > 1) stage.as_tile(inside[next++], Factor(width), where);
}

}  // namespace ashlar::schedules
