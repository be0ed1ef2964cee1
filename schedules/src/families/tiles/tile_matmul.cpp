// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/tile_matmul.h>

#include <algorithm>
#include <utility>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/tiles/tiles.h"
#include "schedules/src/reading.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr const char* matmul_family = "tile_matmul";
constexpr std::int64_t least_of_mma = 16;   // rows, columns and terms of an mma
constexpr std::int64_t pixels_of_row = 16;  // of columns that have two dimensions

struct ProductExtents {
  std::int64_t rows = 0, columns = 0, terms = 0;
};

// Tiles whose sums and factors a block of the target holds.
ProductExtents usual_extents(const Target& t, const TileProduct& p) {
  const bool wide = p.factor == f32 || p.factor == f64;
  if (wide) return {64, 64, 16};
  const bool large = t.has("sm_90") && !t.has("sm_120");  // sums of 128 x 256 by 8 warps, or in tensor memory
  const std::int64_t terms = p.factor.bits == 8 ? 128 : 64;
  if (p.gathers) return {64, 128, terms / 2};
  return large ? ProductExtents{128, 256, terms} : ProductExtents{128, 128, terms};
}

class ProductInTiles {
 public:
  ProductInTiles(Schedule& schedule, const Stage& sums, const Stage& last, const TileMatmulOptions& options, Where w)
      : s(schedule), product(sums), result(last), o(options), where(w) {
    const auto found = tile_product(definition(s, product));
    if (!found)
      refuse(matmul_family,
             "a sum of products of two factors, each with dimensions of its own, of types that an mma multiplies",
             definition(s, product).name, where);
    p = *found;
    if (definition(s, result).spatial_rank() != definition(s, product).spatial_rank())
      refuse(matmul_family, "a result with the dimensions of " + definition(s, product).name, definition(s, result).name,
             where);
    extents = usual_extents(s.target(), p);
    if (o.rows > 0) extents.rows = o.rows;
    if (o.columns > 0) extents.columns = o.columns;
    if (o.terms > 0) extents.terms = o.terms;
  }

  void run() {
    const std::vector<Loop> points = result.spatial_loops(where);
    widths.assign(points.size(), 1);
    tile(points, p.rows, extents.rows);
    tile(points, p.columns, extents.columns);
    std::vector<Loop> blocks, inside;
    for (std::size_t d = 0; d < points.size(); ++d) {
      if (widths[d] == 1) {
        blocks.push_back(points[d]);
        continue;
      }
      const Split split = result.split(points[d], widths[d], Tail::guard, where);
      blocks.push_back(split.outer), inside.push_back(split.inner);
    }
    const Loop columns = blocks.back();
    blocks.pop_back();
    const bool alone = product.id() == result.id();
    const auto [serial, terms] = steps();
    std::vector<Loop> order = blocks;
    order.push_back(columns);
    if (alone) order.insert(order.end(), serial.begin(), serial.end());
    order.insert(order.end(), inside.begin(), inside.end());
    if (alone) order.insert(order.end(), terms.begin(), terms.end());
    result.reorder(order, where);
    const Loop block = over_blocks(result, blocks, columns, where);
    if (!alone) sums_at(block, serial, terms);
    as_tiles(result, inside);
    for (std::size_t k = 0; k < terms.size(); ++k) product.as_tile(terms[k], Factor(term_widths[k]), where);
  }

 private:
  // The extents of tiles along dimensions of a factor: the last ones fill the matrix.
  void tile(const std::vector<Loop>& points, const std::vector<std::size_t>& dims, std::int64_t most) {
    std::int64_t left = most;
    for (std::size_t k = dims.size(); k-- > 0 && left > 1;) {
      const std::int64_t here = k > 0 ? std::min(left, pixels_of_row) : left;
      widths[dims[k]] = width_along(s, points[dims[k]], here, where);
      left /= widths[dims[k]];
    }
    if (most / left < least_of_mma) widths[dims.back()] *= least_of_mma / (most / left);  // some are none
  }

  // The loops over terms: serial ones, and those that are dimensions. The longest one is taken in steps; short ones join it.
  std::pair<std::vector<Loop>, std::vector<Loop>> steps() {
    const std::vector<Loop> all = product.reduction_loops(where);
    std::vector<std::size_t> order = p.terms;
    const auto length = [&](std::size_t t) { return most_iterations(s, all[t], where).value_or(std::int64_t{1} << 30); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return length(a) > length(b); });
    std::vector<Loop> serial, tiles;
    std::int64_t have = 1;
    for (const std::size_t t : order) {
      const std::int64_t width = width_along(s, all[t], std::max<std::int64_t>(1, extents.terms / have), where);
      if (have >= least_of_mma || width == 1) {
        serial.push_back(all[t]);
        continue;
      }
      have *= width;
      const Split split = product.split(all[t], width, Tail::guard, where);
      serial.insert(serial.begin(), split.outer), tiles.push_back(split.inner), term_widths.push_back(width);
    }
    for (std::size_t t = 0; t < all.size(); ++t)
      if (std::find(p.terms.begin(), p.terms.end(), t) == p.terms.end()) serial.push_back(all[t]);
    return {serial, tiles};
  }

  void sums_at(const Loop& block, const std::vector<Loop>& serial, const std::vector<Loop>& terms) {
    product.compute_at(block, where);
    const std::vector<Loop> points = product.spatial_loops(where);
    std::vector<Loop> order, inside;
    for (std::size_t d = 0; d < points.size(); ++d) (widths[d] == 1 ? order : inside).push_back(points[d]);
    for (const std::vector<Loop>* more : {&serial, &std::as_const(inside), &terms})
      order.insert(order.end(), more->begin(), more->end());
    product.reorder(order, where);
    as_tiles(product, inside);
  }

  void as_tiles(const Stage& stage, const std::vector<Loop>& inside) const {
    std::size_t next = 0;
    for (const std::int64_t width : widths)
      if (width > 1) stage.as_tile(inside[next++], Factor(width), where);
  }

  Schedule& s;
  const Stage product, result;
  const TileMatmulOptions& o;
  const Where where;
  TileProduct p;
  ProductExtents extents;
  std::vector<std::int64_t> widths, term_widths;  // along the dimensions of the product; along its terms
};

}  // namespace

void tile_matmul(Schedule& s, const Stage& product, const TileMatmulOptions& o, Where where) {
  tile_matmul(s, product, product, o, where);
}

void tile_matmul(Schedule& s, const Stage& product, const Stage& result, const TileMatmulOptions& o, Where where) {
  const AtLine line(where);
  expect_tiles(matmul_family, s, where);
  for (const auto& [name, n] : {std::pair{"rows", o.rows}, {"columns", o.columns}, {"terms", o.terms}}) {
    expect_option(matmul_family, name, n, 0, where);
    if (n > 0) expect_power_of_two(matmul_family, name, n, where);
  }
  ProductInTiles(s, product, result, o, where).run();
}

}  // namespace ashlar::schedules
