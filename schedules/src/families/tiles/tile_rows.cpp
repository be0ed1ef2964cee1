// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/tile_rows.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/rows.h"
#include "schedules/src/families/tiles/tiles.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr const char* rows_family = "tile_rows";
constexpr std::int64_t elements_of_tile = 4096, most_rows_of_tile = 64;

class RowsInTiles {
 public:
  RowsInTiles(Schedule& schedule, const std::vector<Stage>& all, const TileRowsOptions& options, Where w)
      : s(schedule), stages(all), o(options), where(w), result(all.back()) {
    dims = static_cast<std::size_t>(o.dims >= 0 ? o.dims : detail::rows_of(s, all, w));
  }

  void run() {
    const std::vector<Loop> points = result.spatial_loops(where);
    if (dims > points.size())
      refuse(rows_family, "at most the " + std::to_string(points.size()) + " dimensions of " + definition(s, result).name,
             std::to_string(dims), where);
    const bool one_row = dims == 0 && stages.size() > 1;
    if (one_row && (reduces(result) || points.empty())) {  // one result: launches of their own
      for (const Stage& stage : stages) tile_rows(s, {stage}, o, where);
      return;
    }
    whole = fits();
    width = whole ? longest : std::min<std::int64_t>(o.piece, longest);
    height = dims == 0    ? 1
             : o.rows > 0 ? o.rows
                          : width_along(s, points[dims - 1],
                                        std::clamp<std::int64_t>(elements_of_tile / width, 1, most_rows_of_tile), where);
    std::vector<Stage> kept;
    for (std::size_t k = 0; k + 1 < stages.size(); ++k)
      if (reduces(stages[k]) || along(stages[k]).empty() || whole || s.attempt([&] { stages[k].inline_(where); }))
        kept.push_back(stages[k]);
    const Loop row = over_rows(points, one_row);
    for (std::size_t k = kept.size(); k-- > 0;) inside(kept[k], row);
  }

 private:
  bool reduces(const Stage& stage) const { return definition(s, stage).is_reduction(); }

  // The loops over what a row has: terms of a reduction, or the dimensions behind those that count rows.
  std::vector<Loop> along(const Stage& stage) const {
    std::vector<Loop> loops = reduces(stage) ? stage.reduction_loops(where) : stage.spatial_loops(where);
    if (!reduces(stage))
      loops.erase(loops.begin(), loops.begin() + std::min(std::ssize(loops), static_cast<std::ptrdiff_t>(dims)));
    return loops;
  }

  // Is each row one tile of each stage?
  bool fits() {
    bool all = true;
    longest = 1;
    for (const Stage& stage : stages) {
      const std::vector<Loop> own = along(stage);
      if (own.empty()) continue;
      const auto n = most_iterations_of(s, own.back(), where);
      all = all && n && *n <= o.most && own.size() == 1;
      longest = std::max(longest, n ? power_of_two_from(*n) : std::int64_t{1} << 40);
    }
    return all;
  }

  // A loop over the elements of a row, or over its terms, as tiles: the serial loop over pieces, where there is one, and the
  // dimension.
  std::pair<std::optional<Loop>, Loop> pieces(const Stage& stage, const Loop& loop) const {
    if (whole) return {std::nullopt, loop};
    const Split split = stage.split(loop, width, Tail::guard, where);
    return {split.outer, split.inner};
  }

  // The loops of the result, and the one inside of which the others are computed.
  Loop over_rows(const std::vector<Loop>& points, bool one_row) {
    std::vector<Loop> blocks(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(dims)), serial, tiles;
    std::vector<Loop> elements = along(result);
    if (reduces(result)) serial.assign(points.begin() + static_cast<std::ptrdiff_t>(dims), points.end());  // of extent 1
    if (!blocks.empty() && height > 1) {
      const Split rows = result.split(blocks.back(), height, Tail::guard, where);
      blocks.back() = rows.outer;
      tiles.push_back(rows.inner);
    }
    if (one_row) {
      const Split all = result.split(elements.front(), Parts{1}, Tail::guard, where);
      blocks.push_back(all.outer);
      elements.front() = all.inner;
    }
    Loop last;
    if (!elements.empty()) {
      serial.insert(serial.end(), elements.begin(), elements.end() - 1);
      const auto [outer, inner] = pieces(result, elements.back());
      if (outer) serial.push_back(*outer);
      tiles.push_back(last = inner);
    }
    std::vector<Loop> order = blocks;
    for (const std::vector<Loop>& more : {serial, tiles}) order.insert(order.end(), more.begin(), more.end());
    if (order.size() > 1) result.reorder(order, where);
    const Loop row = blocks.empty() ? Loop() : over_blocks(result, blocks, std::nullopt, where);
    for (const Loop& l : tiles) result.as_tile(l, Factor(l == last ? width : height), where);
    return row;
  }

  // A stage that is computed for the rows of a block.
  void inside(const Stage& stage, const Loop& row) const {
    stage.compute_at(row, where);
    const std::vector<Loop> points = stage.spatial_loops(where);
    std::vector<Loop> own = along(stage), order, tiles;
    for (std::size_t k = 0; k < points.size(); ++k)
      if (k + 1 != dims && (k < dims || reduces(stage))) order.push_back(points[k]);
    if (dims > 0 && height > 1)
      tiles.push_back(points[dims - 1]);
    else if (dims > 0)
      order.push_back(points[dims - 1]);
    Loop last;
    if (!own.empty()) {
      order.insert(order.end(), own.begin(), own.end() - 1);
      const auto [outer, inner] = pieces(stage, own.back());
      if (outer) order.push_back(*outer);
      tiles.push_back(last = inner);
    }
    order.insert(order.end(), tiles.begin(), tiles.end());
    if (order.size() > 1) stage.reorder(order, where);
    for (const Loop& l : tiles) stage.as_tile(l, Factor(l == last ? width : height), where);
  }

  Schedule& s;
  const std::vector<Stage>& stages;
  const TileRowsOptions& o;
  const Where where;
  const Stage result;
  std::size_t dims = 0;
  bool whole = false;
  std::int64_t longest = 1, width = 1, height = 1;
};

}  // namespace

void tile_rows(Schedule& s, const std::vector<Stage>& stages, const TileRowsOptions& o, Where where) {
  const AtLine line(where);
  expect_tiles(rows_family, s, where);
  if (stages.empty()) refuse(rows_family, "at least one stage, the result as the last one", "none", where);
  expect_option(rows_family, "dims", o.dims, -1, where);
  expect_option(rows_family, "rows", o.rows, 0, where);
  for (const auto& [name, n] : {std::pair{"most", o.most}, {"piece", o.piece}, {"rows", std::max(1, o.rows)}})
    expect_power_of_two(rows_family, name, n, where);
  for (const Stage& stage : stages) expect_points(rows_family, definition(s, stage), where);
  RowsInTiles(s, stages, o, where).run();
}

}  // namespace ashlar::schedules
