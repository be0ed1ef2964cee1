// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedules/src/families/tiles/tiles.h"

#include <algorithm>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules::detail {

void expect_tiles(const char* family, const Schedule& s, Where where) {
  if (!s.target().has_tiles())
    refuse(family, "a target with tiles, such as cuda-tile-sm_90", "the target " + std::string(s.target().text()), where);
}

void expect_points(const char* family, const ir::Stage& d, Where where) {
  if (d.scatters() || d.is_recurrence())
    refuse(family, "a stage whose points are computed each by itself",
           d.name + (d.scatters() ? ", a scatter" : ", a recurrence, whose steps follow one another"), where);
}

std::int64_t power_of_two_from(std::int64_t n) {
  std::int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

std::optional<std::int64_t> most_iterations_of(const Schedule& s, const Loop& loop, Where where) {
  return analysis::constant_max(loop.extent(where), analysis::facts_of_arguments(s.scheduled().program));
}

std::int64_t width_along(const Schedule& s, const Loop& loop, std::int64_t most, Where where) {
  const auto n = most_iterations_of(s, loop, where);
  return n ? std::min(most, power_of_two_from(*n)) : most;
}

std::int64_t multiprocessors_of(const Target& t) {
  constexpr std::int64_t usual = 100;
  return t.device().multiprocessors > 0 ? t.device().multiprocessors : usual;
}

Expr few_blocks(const Schedule& s, const Expr& blocks, const Expr& terms) {
  return analysis::simplify(blocks) <= multiprocessors_of(s.target()) / 2 && terms >= 2 * terms_of_tile_part;
}

std::int64_t tile_part(const Schedule& s, const Expr& blocks, const Expr& terms, std::int64_t unit) {
  std::int64_t b = 0, n = 0;
  const std::int64_t chip = multiprocessors_of(s.target());
  if (!ir::is_int(analysis::simplify(blocks), &b) || !ir::is_int(terms, &n) || b < 1 || 2 * b > chip ||
      n < 2 * terms_of_tile_part)
    return 0;
  const std::int64_t parts = std::min(chip / b, n / terms_of_tile_part);
  return ((n + parts - 1) / parts + unit - 1) / unit * unit;
}

Loop over_blocks(const Stage& stage, const std::vector<Loop>& rows, const std::optional<Loop>& columns, Where where) {
  if (rows.empty()) {
    stage.bind(*columns, gpu::block_x, where);
    return *columns;
  }
  const Loop all = fused(stage, rows, where);
  stage.bind(all, gpu::block_x, where);
  if (columns) stage.bind(*columns, gpu::block_y, where);
  return columns ? *columns : all;
}

}  // namespace ashlar::schedules::detail
