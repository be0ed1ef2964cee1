// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions with contiguous results: products, windows, columns. A tile of results is summed in registers, with its columns in
// vectors, in one pass over the terms; every sum keeps the order of its terms.
//
//   for io, jo             a tile of the leader
//     for k                the terms, in their order
//       for ii             rows, unrolled
//         for ji           columns: vectors, unrolled
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::tiles;
using costs::most_nodes;

int dim_of(const ir::Stage& s, Id variable) {
  const auto spatial = spatial_of(s);
  for (std::size_t k = 0; k < spatial.size(); ++k)
    if (spatial[k].id == variable) return static_cast<int>(k);
  return -1;
}

// Among numbers close to the maximum, the one that leaves the least of the last tile empty.
std::int64_t rows_for(std::optional<std::int64_t> extent, std::int64_t most) {
  if (!extent) return most;
  if (*extent <= most) return std::max<std::int64_t>(1, *extent);
  std::int64_t best = most;
  double filled = 0;
  for (std::int64_t r = most; r >= most / 2 && r > 0; --r) {
    const double f = static_cast<double>(*extent) / static_cast<double>((*extent + r - 1) / r * r);
    if (f > filled + 0.02) filled = f, best = r;
  }
  return best;
}

}  // namespace

namespace {

// For a convolution with channels before pixels, as in PyTorch: pixels are rows, channels are columns.
void columns_of_channels(Draft& d, const ir::Stage& s, const Classified& c, Tile& t) {
  const auto spatial = spatial_of(s);
  const auto slides = [&](Id v) { return std::find(c.over.begin(), c.over.end(), v) != c.over.end(); };
  const Id pixels = spatial.back().id, channels = c.rows == pixels ? c.columns : c.rows;
  if (!slides(pixels) || slides(channels) || spatial.size() < 3 || spatial.size() > 5 || d.s.target().is_gpu()) return;
  if (d.sizes().extent(s, channels) < 8) return;
  for (const Reading& r : readings_of(d.program(), s)) {
    if (r.of_init || r.producer != 0 || r.at.size() < 3 || r.at.size() > 5) continue;
    for (std::size_t k = 0; k + 1 < r.at.size(); ++k)
      if (r.at[k].plain(channels)) t.packed = r.buffer, t.packed_dim = static_cast<int>(k), t.columns = dim_of(s, channels);
  }
}

// For a convolution whose weights have the output channels first, [O, R, S, C], and whose result has them last: the weights of
// neighboring results are far apart, so each vector would be a gather until they are packed.
void pack_channels(Draft& d, const ir::Stage& s, const Classified& c, Tile& t) {
  const auto spatial = spatial_of(s);
  const Id channels = spatial[static_cast<std::size_t>(t.columns)].id;
  const auto slides = [&](Id v) { return std::find(c.over.begin(), c.over.end(), v) != c.over.end(); };
  if (!c.window || slides(channels) || d.s.target().is_gpu() || d.sizes().extent(s, channels) < 8) return;
  for (const Reading& r : readings_of(d.program(), s)) {
    if (r.of_init || r.producer != 0 || r.at.size() < 3 || r.at.size() > 5 || r.at.back().moves_with(channels)) continue;
    for (std::size_t k = 0; k + 1 < r.at.size(); ++k)
      if (r.at[k].plain(channels)) t.packed = r.buffer, t.packed_dim = static_cast<int>(k);
  }
}

// The place of an element in a layout with dimension `dim` last.
template <std::size_t N>
At<N> last_in_memory(std::array<Expr, N> index, int dim) {
  std::rotate(index.begin() + dim, index.begin() + dim + 1, index.end());
  return {index};
}
// The same in blocks of that dimension; the blocks come first.
template <std::size_t N>
At<N + 1> in_blocks(const std::array<Expr, N>& index, int dim, std::int64_t by) {
  At<N + 1> to;
  std::copy(index.begin(), index.end(), to.index.begin() + 1);
  std::rotate(to.index.begin() + 1 + dim, to.index.begin() + 2 + dim, to.index.end());
  const Expr along = index[static_cast<std::size_t>(dim)];
  to.index.front() = along / by, to.index.back() = along % by;
  return to;
}
// Calls `use` with the map as a function of as many variables as there are dimensions.
template <class Use>
void map_in_blocks(int rank, int dim, std::int64_t by, const Use& use) {
  if (rank == 3) use([&](Var a, Var b, Var c) { return in_blocks<3>({a, b, c}, dim, by); });
  if (rank == 4) use([&](Var a, Var b, Var c, Var e) { return in_blocks<4>({a, b, c, e}, dim, by); });
  if (rank == 5) use([&](Var a, Var b, Var c, Var e, Var f) { return in_blocks<5>({a, b, c, e, f}, dim, by); });
}

// Whether only one stage reads the constant, and it has no layout yet.
bool may_lie_otherwise(const ir::Program& p, const ir::Buffer& b) {
  if (b.role != ir::Role::constant || !b.layout.map.empty()) return false;
  return std::count_if(p.stages.begin(), p.stages.end(), [&](const auto& s) {
           const auto all = readings_of(p, s.second);
           return std::any_of(all.begin(), all.end(), [&](const Reading& r) { return r.buffer == b.id; });
         }) == 1;
}

}  // namespace

namespace {
// Whether neighboring results read every second element or at a larger stride: each load then takes several vectors, and a
// half-empty last tile costs more than a wide tile gains.
bool reads_apart(const ir::Program& p, const ir::Stage& s, Id columns) {
  const auto all = readings_of(p, s);
  return std::any_of(all.begin(), all.end(), [&](const Reading& r) {
    if (r.of_init || r.at.empty()) return false;
    const auto at = r.at.back().coefficients.find(columns);
    return at != r.at.back().coefficients.end() && std::abs(at->second) > 1;
  });
}
}  // namespace

// The lanes of a vector along the columns, if their number is known: no more than there are columns, and half a register if
// that fills up and a whole one does not: 24 = 3 x 8 with 16 lanes.
std::int64_t lanes_for(std::optional<std::int64_t> columns, std::int64_t lanes) {
  if (!columns || *columns < 2 || *columns % lanes == 0) return lanes;
  if (*columns < lanes) return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(*columns)));
  return lanes / 2 >= least_lanes && *columns % (lanes / 2) == 0 && *columns < 2 * lanes ? lanes / 2 : lanes;
}

bool reads_along_columns(const Draft& d, const ir::Stage& s, const Tile& t) {
  const Id columns = spatial_of(s)[static_cast<std::size_t>(t.columns)].id;
  for (const Reading& r : readings_of(d.program(), s))
    for (std::size_t k = 0; k < r.at.size(); ++k)
      if (r.at[k].moves_with(columns) && (k + 1 < r.at.size() || !r.at[k].plain(columns))) return false;
  return true;
}

std::int64_t vectors_of_columns(std::optional<std::int64_t> extent, std::int64_t lanes) {
  if (!extent) return usual_vectors;
  const std::int64_t all = (*extent + lanes - 1) / lanes;
  std::int64_t best = 1;
  for (std::int64_t v = 1; v <= most_vectors; ++v)
    if ((all + v - 1) / v * v <= (all + best - 1) / best * best) best = v;
  return best;
}

void lies_last(const Stage& stage, int rank, int dim, Where where) {
  if (rank == 2) stage.transform_layout([&](Var a, Var b) { return last_in_memory<2>({a, b}, dim); }, where);
  if (rank == 3) stage.transform_layout([&](Var a, Var b, Var c) { return last_in_memory<3>({a, b, c}, dim); }, where);
  if (rank == 4)
    stage.transform_layout([&](Var a, Var b, Var c, Var e) { return last_in_memory<4>({a, b, c, e}, dim); }, where);
  if (rank == 5)
    stage.transform_layout([&](Var a, Var b, Var c, Var e, Var f) { return last_in_memory<5>({a, b, c, e, f}, dim); }, where);
}

Tile tile_of(Draft& d, const ir::Stage& s, const Classified& c) {
  const auto spatial = spatial_of(s);
  const Sizes sizes = d.sizes();
  const Target& target = d.s.target();
  Tile t;
  if (spatial.empty()) return t;
  t.columns = static_cast<int>(spatial.size()) - 1;
  while (t.columns > 0 && sizes.constant_extent(s, spatial[static_cast<std::size_t>(t.columns)].id) == 1) --t.columns;
  if (c.family == Family::matmul) columns_of_channels(d, s, c, t);
  if (c.family == Family::matmul && !t.packed) pack_channels(d, s, c, t);
  if (bounds_terms(s, spatial[static_cast<std::size_t>(t.columns)].id)) return {};  // neighbors have other terms
  const auto columns = sizes.constant_extent(s, spatial[static_cast<std::size_t>(t.columns)].id);
  const std::int64_t lanes = t.lanes =
      lanes_for(columns, std::max(1, target.lanes(d.program().buffer(s.buffers.front()).type)));
  std::int64_t vectors = c.family == Family::matmul ? (columns && *columns == 3 * lanes ? 3 : 2) : 4;
  if (c.family == Family::stencil && lanes > 1) t.phases = phases_of(d, s, spatial[static_cast<std::size_t>(t.columns)].id);
  if (!t.phases && reads_apart(d.program(), s, spatial[static_cast<std::size_t>(t.columns)].id))
    vectors = std::min<std::int64_t>(vectors, 2);
  if (c.family != Family::matmul && has_borders(s)) vectors = 1;
  if (columns) vectors = std::clamp<std::int64_t>((*columns + lanes - 1) / lanes, 1, vectors);
  t.columns_by = vectors * lanes;
  if (!t.phases && c.family != Family::matmul)
    if (const auto pixels = tile_of_pixels(d, s); pixels && pixels->columns == t.columns) return *pixels;
  if (c.family != Family::matmul) return t;
  t.rows = dim_of(s, c.rows);
  if (t.rows == t.columns) t.rows = dim_of(s, c.columns);
  if (t.rows < 0 || t.rows == t.columns) return t.rows = -1, t;
  if (bounds_terms(s, spatial[static_cast<std::size_t>(t.rows)].id)) {
    const std::int64_t most = columns ? (*columns + lanes - 1) / lanes : vectors;
    t.columns_by = std::clamp<std::int64_t>(most, 1, 4) * lanes;
    return t.rows = -1, t;
  }
  const std::int64_t registers = target.vector_registers();
  const std::int64_t most = std::max<std::int64_t>(1, (registers - vectors - 1) / vectors);
  t.rows_by =
      rows_for(sizes.constant_extent(s, spatial[static_cast<std::size_t>(t.rows)].id), std::min<std::int64_t>(most, 14));
  return t;
}

void pack_columns(Draft& d, Id id, Id sums, const Tile& t) {
  const std::string name = d.program().buffer(t.packed).name,
                    columns = spatial_of(d.stage(sums))[static_cast<std::size_t>(t.columns)].name;
  d.attempt(id, name + " in blocks of " + count(static_cast<double>(t.columns_by)) + " along " + columns, [&] {
    const Stage of_sums = d.handle(sums);
    if (t.columns + 1 != d.stage(sums).spatial_rank()) lies_last(of_sums, d.stage(sums).spatial_rank(), t.columns, d.where);
    const ir::Buffer& weights = d.program().buffer(t.packed);
    const Tensor source = tensor_of(d.s, t.packed, d.where);
    if (may_lie_otherwise(d.program(), weights))
      return map_in_blocks(weights.rank, t.packed_dim, t.columns_by,
                           [&](const auto& map) { d.s.pack_argument(source, map, Pack::at_entry, d.where); });
    const Stage packed = d.s.cache_read(source, {of_sums}, Scope::global, d.where);
    const int rank = d.stage(packed.id()).spatial_rank();
    map_in_blocks(rank, t.packed_dim, t.columns_by, [&](const auto& map) { packed.transform_layout(map, d.where); });
    std::vector<Loop> order = packed.nest(d.where);
    const Loop along = order[static_cast<std::size_t>(t.packed_dim)];
    order.erase(order.begin() + t.packed_dim);
    const Split blocks = packed.split(along, t.columns_by, Tail::guard, d.where);
    order.insert(order.begin(), blocks.outer), order.push_back(blocks.inner);
    reorder(d, packed, order);
    packed.compute_root(d.where);
    const int lanes = d.s.target().lanes(d.program().buffer(t.packed).type);
    if (lanes > 1 && t.columns_by % lanes == 0) packed.vectorize(blocks.inner, lanes, d.where);
    if (d.options.parallel) packed.parallel(packed.fuse(order[0], order[1], d.where), d.where);
  });
}

void last_in_memory(Draft& d, Id id, int dim) {
  const int rank = d.stage(id).spatial_rank();
  if (dim + 1 < rank) lies_last(d.handle(id), rank, dim, d.where);
}

namespace {

// Dimensions of a product besides rows and columns that are so short where it is computed that registers hold all of them, such
// as the 2 x 2 results of a max pool: loads along the columns then serve all of them.
std::vector<std::size_t> short_dims(const Draft& d, const ir::Stage& s, const Tile& t, std::int64_t lanes) {
  std::vector<std::size_t> found;
  if (t.rows < 0) return found;
  const auto spatial = spatial_of(s);
  const std::int64_t vectors = std::max<std::int64_t>(1, t.columns_by / lanes), registers = d.s.target().vector_registers();
  std::int64_t rows = t.rows_by;
  for (std::size_t k = spatial.size(); k-- > 0;) {
    if (static_cast<int>(k) == t.rows || static_cast<int>(k) == t.columns || bounds_terms(s, spatial[k].id)) continue;
    const auto extent = d.sizes().constant_extent(s, spatial[k].id);
    if (!extent || *extent < 2 || (rows * *extent + 1) * vectors >= registers) continue;
    rows *= *extent;
    found.insert(found.begin(), k);
  }
  return found;
}

// Unrolls the innermost terms of a small window. `rows`: those of the tile.
std::vector<Id> unrolled_terms(const Draft& d, const ir::Stage& s, const Tile& t, std::int64_t rows, std::int64_t lanes) {
  const Sizes sizes = d.sizes();
  std::int64_t statements = rows * std::max<std::int64_t>(1, t.width() / lanes);
  std::int64_t nodes = 0;
  for (const Expr& e : s.values) nodes += static_cast<std::int64_t>(ir::node_count(e));
  std::vector<Id> unrolled;
  const auto terms = reduce_of(s);
  for (std::size_t k = terms.size(); k-- > 0;) {
    const auto extent = sizes.constant_extent(s, terms[k].id);
    if (!extent || *extent * statements > most_unrolled || *extent * statements * nodes > static_cast<std::int64_t>(most_nodes))
      break;
    statements *= std::max<std::int64_t>(1, *extent);
    unrolled.push_back(terms[k].id);
  }
  return unrolled;
}
std::int64_t lanes_in(const Draft& d, Id id, const Tile& t) {
  if (t.lanes > 0) return t.lanes;
  return std::max(1, d.s.target().lanes(d.program().buffer(d.stage(id).buffers.front()).type));
}

// Unrolls the terms of a strided window one period at a time, so that the phase that each of them reads is a constant.
std::optional<Loop> by_phases(Draft& d, const Stage& stage, const Tile& t, const std::vector<Id>& unrolled,
                              std::vector<Loop>& reduce) {
  if (!t.phases || std::find(unrolled.begin(), unrolled.end(), t.phases->term) != unrolled.end()) return std::nullopt;
  const auto extent = d.sizes().constant_extent(d.stage(stage.id()), t.phases->term);
  if (!extent || *extent % t.phases->stride != 0) return std::nullopt;
  const auto at = std::find(reduce.begin(), reduce.end(), loop_over(d, stage, t.phases->term));
  const Split split = stage.split(*at, t.phases->stride, Tail::exact, d.where);
  *at = split.outer;
  reduce.insert(at + 1, split.inner);
  return split.inner;
}

}  // namespace

void unroll_terms(Draft& d, Id id, const Tile& t) {
  const Stage stage = d.handle(id);
  for (const Id v : unrolled_terms(d, d.stage(id), t, t.rows_by, lanes_in(d, id, t)))
    d.attempt(id, "", [&] { stage.unroll(loop_over(d, stage, v), d.where); });
}

void accumulate(Draft& d, Id id, const Tile& of_stage) {
  Tile t = of_stage;
  if (t.apart) {  // values are rows
    last_in_memory(d, id, t.pixels);
    t.rows = t.columns, t.rows_by = t.columns_by, t.columns = t.pixels, t.columns_by = t.pixels_by;
    t.pixels = -1, t.pixels_by = 1, t.apart = false;
  }
  const Stage stage = d.handle(id);
  const std::int64_t lanes = lanes_in(d, id, t);
  const std::vector<std::size_t> beside = short_dims(d, d.stage(id), t, lanes);
  std::int64_t rows = t.rows_by;
  for (const std::size_t k : beside) rows *= d.sizes().constant_extent(d.stage(id), spatial_of(d.stage(id))[k].id).value();
  const std::vector<Id> unrolled = unrolled_terms(d, d.stage(id), t, rows, lanes);
  const auto steps = [&](Tail tail) {
    const std::vector<Loop> spatial = whole_loops(d, stage, false);
    std::vector<Loop> reduce = whole_loops(d, stage, true);
    std::vector<Loop> order, inner;
    for (std::size_t k = 0; k < spatial.size(); ++k)
      if (std::find(beside.begin(), beside.end(), k) != beside.end())
        inner.push_back(spatial[k]);
      else if (static_cast<int>(k) != t.rows && static_cast<int>(k) != t.columns && static_cast<int>(k) != t.pixels)
        order.push_back(spatial[k]);
    Loop row, half, lane;
    if (t.rows >= 0) {
      const Split split = stage.split(spatial[static_cast<std::size_t>(t.rows)], t.rows_by, tail, d.where);
      order.push_back(split.outer), row = split.inner, inner.push_back(row);
    }
    const int along = t.pixels < 0 ? t.columns : t.pixels;
    const Split columns =
        stage.split(spatial[static_cast<std::size_t>(along)], t.pixels < 0 ? t.columns_by : t.pixels_by, tail, d.where);
    order.push_back(columns.outer), inner.push_back(columns.inner);
    if (t.pixels >= 0) inner.push_back(spatial[static_cast<std::size_t>(t.columns)]);
    const std::optional<Loop> phases = by_phases(d, stage, t, unrolled, reduce);
    order.insert(order.end(), reduce.begin(), reduce.end());
    order.insert(order.end(), inner.begin(), inner.end());
    reorder(d, stage, order);
    lane = t.pixels < 0 ? columns.inner : stage.fuse(inner[inner.size() - 2], inner.back(), d.where);
    const bool halves = t.width() > lanes && t.width() % lanes == 0;
    if (halves) {
      const Split split = stage.split(lane, lanes, Tail::exact, d.where);
      half = split.outer, lane = split.inner;
    }
    for (const Id v : unrolled) stage.unroll(loop_over(d, stage, v), d.where);
    if (phases) stage.unroll(*phases, d.where);
    for (const std::size_t k : beside) stage.unroll(spatial[k], d.where);
    if (t.rows >= 0) stage.unroll(row, d.where);
    if (halves) stage.unroll(half, d.where);
    if (lanes > 1) stage.vectorize(lane, d.where);
  };
  const std::string what = "sums of a tile of " + (t.rows >= 0 ? count(static_cast<double>(rows)) + " x " : std::string()) +
                           count(static_cast<double>(t.width())) + ", " + count(static_cast<double>(lanes)) + " in a vector";
  if (!d.s.attempt([&] { steps(Tail::pad); }))
    d.done(id, what);
  else
    d.attempt(id, what, [&] { steps(Tail::guard); }, "loops as they are");
  if (t.rows >= 0) {  // vectors of different rows share no element, so that each may stay in a register
    const int columns = t.columns;
    d.attempt(id, "", [&] { stage.align(columns, lanes, d.where); });
  }
  on_stack(d, id);
}

void vectors_of_tile(Draft& d, Id id, Loop loop, const Tile& t) {
  const Stage stage = d.handle(id);
  const int own = std::max(1, d.s.target().lanes(d.program().buffer(d.stage(id).buffers.front()).type));
  const int lanes = t.lanes > 0 && t.width() % own != 0 ? static_cast<int>(t.lanes) : own;
  d.attempt(id, "vectors of " + std::to_string(t.apart ? t.width() : lanes) + " along " + std::string(loop.label(d.where)),
            [&] {
              if (!t.apart && t.width() > lanes && t.width() % lanes == 0) {  // values that were apart are shuffled as a whole
                const Split split = stage.split(loop, lanes, Tail::exact, d.where);
                stage.unroll(split.outer, d.where);
                loop = split.inner;
              }
              if (lanes > 1) stage.vectorize(loop, d.where);
            });
}

}  // namespace ashlar::schedules
