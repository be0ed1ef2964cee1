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
constexpr std::int64_t least_of_mma = 16;                      // rows, columns and terms of an mma
constexpr std::int64_t pixels_of_row = 16;                     // of columns that have two dimensions
constexpr std::int64_t rows_of_sum = 8, columns_of_sum = 128;  // of results whose parts a block adds

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
    set_extents();
    if (definition(s, result).spatial_rank() != definition(s, product).spatial_rank())
      refuse(matmul_family, "a result with the dimensions of " + definition(s, product).name, definition(s, result).name,
             where);
  }

  void run() {
    set_widths();
    if (const std::int64_t part = terms_of_part(); part > 0) return in_parts(part);
    in_blocks();
  }

  // When few blocks share a sum that can be cut: in variables of the program, and over the symbols of loops.
  std::optional<FewBlocks> few() {
    if (!one_sum()) return std::nullopt;
    set_widths();
    const ir::Stage& d = definition(s, product);
    std::vector<Expr> declared, of_call;
    for (const ir::IterVar& v : spatial_of(d)) declared.push_back(v.end);
    for (const Loop& l : product.spatial_loops(where)) of_call.push_back(l.extent(where));
    const Expr terms = reduce_of(d).front().end;
    declared.push_back(terms);
    if (std::any_of(declared.begin(), declared.end(), [](const Expr& e) { return e.empty(); })) return std::nullopt;
    declared.pop_back();
    return FewBlocks{few_blocks(s, blocks_of(declared), terms),
                     few_blocks(s, blocks_of(of_call), product.reduction_loops(where).front().extent(where))};
  }

 private:
  ProductInTiles(Schedule& schedule, const Stage& parts, const TileProduct& of, const TileMatmulOptions& options, Where w)
      : s(schedule), product(parts), result(parts), o(options), where(w), p(of) {
    for (std::vector<std::size_t>* dims : {&p.rows, &p.columns})
      for (std::size_t& d : *dims) ++d;  // behind that of parts
    set_extents();
  }

  void set_extents() {
    extents = usual_extents(s.target(), p);
    if (o.rows > 0) extents.rows = o.rows;
    if (o.columns > 0) extents.columns = o.columns;
    if (o.terms > 0) extents.terms = o.terms;
  }

  void set_widths() {
    const std::vector<Loop> points = result.spatial_loops(where);
    widths.assign(points.size(), 1);
    tile(points, p.rows, extents.rows);
    tile(points, p.columns, extents.columns);
  }

  bool one_sum() const { return p.terms.size() == 1 && product.reduction_loops(where).size() == 1; }

  Expr blocks_of(const std::vector<Expr>& points) const {
    Expr blocks = ir::index(1);
    for (std::size_t d = 0; d < points.size(); ++d) blocks = blocks * ((points[d] + (widths[d] - 1)) / widths[d]);
    return blocks;
  }

  // 0: all of them
  std::int64_t terms_of_part() const {
    if (o.part_k == TileMatmulOptions::all_k) return 0;
    if (o.part_k > 0) return (o.part_k + extents.terms - 1) / extents.terms * extents.terms;
    if (!one_sum()) return 0;
    std::vector<Expr> points;
    for (const Loop& l : product.spatial_loops(where)) points.push_back(l.extent(where));
    return tile_part(s, blocks_of(points), product.reduction_loops(where).front().extent(where), extents.terms);
  }

  // Each block sums a part of the terms; then the parts of each result are added in their order.
  //
  //   for p, b, io, jo       parts[p, ..]: a product of `part` terms
  //   for b, io, jo          for p: product += parts[p, ..], a tile at a time; what is computed of it
  void in_parts(std::int64_t part) {
    if (!one_sum())
      refuse(matmul_family, "one sum, to be cut into parts (part_k)",
             definition(s, product).name + " over " + std::to_string(product.reduction_loops(where).size()), where);
    const Split split = product.split(product.reduction_loops(where).front(), part, Tail::guard, where);
    const Stage parts = product.rfactor(split.outer, Place::first, where);
    ProductInTiles of_parts(s, parts, p, o, where);
    of_parts.set_widths();
    of_parts.in_blocks();
    const std::vector<Loop> points = result.spatial_loops(where);
    widths.assign(points.size(), 1);
    widths[p.columns.back()] = width_along(s, points[p.columns.back()], columns_of_sum, where);
    widths[p.rows.back()] = width_along(s, points[p.rows.back()], rows_of_sum, where);
    in_blocks();
  }

  void in_blocks() {
    const std::vector<Loop> points = result.spatial_loops(where);
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
    if (!ir::is(definition(s, product).values.front(), ir::Op::mul)) return {all, {}};  // the parts of a sum
    std::vector<std::size_t> order = p.terms;
    const auto length = [&](std::size_t t) { return most_iterations_of(s, all[t], where).value_or(std::int64_t{1} << 30); };
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

std::optional<detail::FewBlocks> detail::few_blocks_of_matmul(Schedule& s, const Stage& product, Where where) {
  return ProductInTiles(s, product, product, {}, where).few();
}

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
  expect_option(matmul_family, "part_k", o.part_k, 0, where);
  ProductInTiles(s, product, result, o, where).run();
}

}  // namespace ashlar::schedules
