// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/transpose.h>

#include <algorithm>

#include <ashlar/instructions/shuffles.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/transpose.h"

namespace ashlar::schedules {

namespace detail {

int neighbors_of(const char* family, const Schedule& s, const Stage& stage, Where where) {
  const ir::Stage& d = definition(s, stage);
  const char* expected = "a stage that copies the elements of one tensor to other places, y(i, j) = x(j, i)";
  if (d.is_reduction() || d.is_recurrence() || d.values.size() != 1 || !ir::is(d.values[0], ir::Op::load))
    refuse(family, expected, d.name + ", which computes", where);
  const auto at = ir::args_of(d.values[0]);
  if (at.empty()) refuse(family, expected, d.name + " without dimensions", where);
  for (std::size_t k = 0; k < d.iters.size(); ++k)
    if (ir::is(at.back(), ir::Op::var) && at.back().node()->id == d.iters[k].id) {
      if (k + 1 == d.iters.size())
        refuse(family, expected, d.name + ", whose neighbors are neighbors there (schedules::elementwise)", where);
      return static_cast<int>(k);
    }
  refuse(family, expected, d.name + ", whose last index is " + std::string("no dimension of the result"), where);
}

}  // namespace detail

void transpose(Schedule& s, const Stage& stage, const StageRef& source, const TransposeOptions& o, Where where) {
  detail::expect_processor("transpose", s, where);
  const std::size_t along = static_cast<std::size_t>(detail::neighbors_of("transpose", s, stage, where));
  detail::expect_option("transpose", "tile", o.tile, 0, where);
  detail::expect_option("transpose", "tiles_i", o.tiles_i, 0, where);
  detail::expect_option("transpose", "tiles_j", o.tiles_j, 0, where);
  const Type type = detail::definition(s, stage).values[0].type();
  const int lanes = std::max(1, s.target().lanes(type)), file = s.target().vector_registers();
  int T = o.tile > 0 ? o.tile : detail::power_of_two_up_to(std::clamp(lanes, 4, std::max(4, file / 2)));
  while (o.tile == 0 && file > 0 && T > 2 && T * std::max(1, T / lanes) > file - 2) T /= 2;  // T rows of so many registers
  T = static_cast<int>(detail::given_or_chosen(s, stage, "tile", o.tile, T, {T / 2, T * 2}, where));
  const int row = T * static_cast<int>(type.bytes()), line = s.target().cache_line();
  const bool at_once = row >= line || o.stream;
  const std::int64_t usual_i = std::max(1, (at_once ? 2048 : 1024) / row),
                     usual_j = std::max(1, (at_once ? line : 8 * line) / row);
  const std::int64_t along_i = detail::given_or_chosen(s, stage, "tiles_i", o.tiles_i, usual_i,
                                                       {1, usual_i / 4, usual_i / 2, usual_i * 2, usual_i * 4}, where);
  const std::int64_t along_j =
      detail::given_or_chosen(s, stage, "tiles_j", o.tiles_j, usual_j, {1, usual_j / 2, usual_j * 2, usual_j * 4}, where);

  const Stage turned = s.cache_write(stage, Scope::registers, where);
  std::vector<Loop> outer = stage.spatial_loops(where);
  const Loop i = outer[along], j = outer.back();
  outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(along)), outer.pop_back();
  for (const Loop& other : outer) stage.reorder({other, where}, i);
  const Tiles tiles = stage.tile(i, j, T, T, Tail::guard, where);
  const Tiles blocks = stage.tile(tiles.outer_i, tiles.outer_j, along_i, along_j, Tail::guard, where);
  stage.tighten(blocks.inner_i, where).tighten(blocks.inner_j, where);
  stage.unroll(tiles.inner_i, where).vectorize(tiles.inner_j, where);
  outer.push_back(blocks.outer_i), outer.push_back(blocks.outer_j);
  const Loop all = detail::fused(stage, outer, where);
  if (o.parallel) stage.parallel(all, where);

  turned.compute_at(blocks.inner_j, where);
  const Stage rows = s.cache_read(source, {turned}, Scope::stack, Operand(0, where), where);
  rows.compute_at(blocks.inner_j, where);
  const std::vector<Loop> of_turned = turned.spatial_loops(where), of_rows = rows.spatial_loops(where);
  const Tiles tile = turned.tile(of_turned[along], of_turned.back(), T, T, Tail::pad, where);
  turned.tensorize(tile.inner_i, shuffles::transpose(type, T, T, where), where);
  for (std::size_t k = 0; k + 1 < of_rows.size(); ++k)
    if (detail::number_or(of_rows[k].extent(where), 0) == T) rows.unroll(of_rows[k], where);
  rows.vectorize(of_rows.back(), where);
  if (o.stream) stage.stream_store(where);
}

}  // namespace ashlar::schedules
