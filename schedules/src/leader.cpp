// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Carries out the plan of a group: the leader's loops, then its members in them, each with its own loops, then the kinds of the
// leader's loops.
#include <algorithm>
#include <bit>

#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

std::string label(const Draft& d, Loop l) { return std::string(l.label(d.where)); }

// How many points together fill a vector with their channels.
std::int64_t points_of_vector(const Draft& d, const ir::Stage& s, std::int64_t channels) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(lanes_of(d, s) / channels)));
}

// Vectors of several points with all their channels. `inside`: the loop over the points of a vector, if there is one.
bool vectors_of_channels(Draft& d, Id id, Loop points, std::optional<Loop> inside, Loop channels, std::int64_t many) {
  const std::int64_t by = points_of_vector(d, d.stage(id), many);
  const Stage stage = d.handle(id);
  const std::string along = d.stage(id).iters[spatial_of(d.stage(id)).size() - 2].name;
  return d.attempt(
      id,
      "vectors of " + count(static_cast<double>(by)) + " points along " + along + " with " + count(static_cast<double>(many)) +
          " values each",
      [&] {
        if (!inside) inside = stage.split(points, by, Tail::guard, d.where).inner;
        stage.vectorize(stage.fuse(*inside, channels, d.where), d.where);
      },
      "a vector of the values of one");
}

// A ring with as many rows as are live at once, if the steps are proved to need no more.
void fold(Draft& d, Id id, const std::vector<Follow>& follows, int dim) {
  for (std::size_t k = 0; k < follows.size(); ++k) {
    if (follows[k].dim != dim) continue;
    std::int64_t rows = 1;
    while (static_cast<double>(rows) < follows[k].hi - follows[k].lo + 1) rows *= 2;
    for (int more = 0; more < 2; ++more, rows *= 2)
      if (d.attempt(id, more == 1 ? "a ring of " + std::to_string(rows) + " rows" : "",
                    [&] { d.handle(id).fold(static_cast<int>(k), rows, d.where); })) {
        if (more == 0) d.done(id, "a ring of " + std::to_string(rows) + " rows");
        return;
      }
  }
}

// Each element is stored once, and has left the caches when all are stored, so lines need not be read first.
void stream(Draft& d, Id id) {
  const ir::Stage& s = d.stage(id);
  const Sizes sizes = d.sizes();
  const auto dims = spatial_of(s);
  const bool sized = d.options.extent > 0 || std::all_of(dims.begin(), dims.end(), [&](const ir::IterVar& v) {
                       return sizes.constant_extent(s, v.id).has_value();
                     });
  double stored = 0;
  for (const Id b : s.buffers) stored += sizes.points(s) * d.program().buffer(b).type.bytes();
  // The tables of generic processors understate the caches of many machines.
  const auto last = static_cast<double>(std::max<std::int64_t>(d.s.target().cache_bytes(3), std::int64_t{32} << 20));
  if (!d.options.stream || !sized || stored < last || !is_output(d.program(), s) ||
      d.s.target().architecture() != Architecture::x86_64)
    return;
  if (d.attempt(id, "stored past the caches", [&] { d.handle(id).stream_store(d.where); }))
    d.why(id, bytes(stored) + " are stored, more than the last cache holds");
}

// The dimension of a member that follows the points of a leader with points in lanes.
std::optional<std::size_t> point_of(const Plan& plan, const std::vector<Follow>& follows) {
  for (std::size_t k = 0; k < follows.size(); ++k)
    if (follows[k].dim == plan.tile->columns && follows[k].scale == 1 && follows[k].lo == 0 && follows[k].hi == 0) return k;
  return std::nullopt;
}

// The loops of a leader by its plan, and what is computed in them.
class Leader {
 public:
  Leader(Draft& draft, const Group& group, Plan& chosen)
      : d(draft), g(group), plan(chosen), family(draft.family(group.leader).family), leader(draft.handle(group.leader)) {}

  void run() {
    copy_sums();
    dims = spatial_of(d.stage(g.leader));
    if (!split_loops()) return;
    fuse_for_pool();
    place_sums();
    sum_in_lanes();
    for (const Id id : g.members) {
      const std::optional<Level> level = place(id);
      if (level) schedule_member(id, *level);
    }
    choose_kinds();
    if (plan.place.empty()) few_points(d, g.leader);
  }

 private:
  // The sums of a tile, and values in separate vectors, get their own stage, from which the leader copies.
  void copy_sums() {
    const bool values = d.stage(g.leader).values.size() > 1;  // of one point; LLVM keeps them in registers
    reduction = d.stage(g.leader).is_reduction();
    if (plan.tile && (reduction || (plan.tile->apart && g.members.empty())) && !(plan.points && values)) {
      const auto write = [&] {
        sums = d.s.cache_write(leader, Scope::stack, d.where);
        d.made(sums->id(), g.leader);
      };
      if (!d.attempt(g.leader, "", write)) plan.tile.reset(), plan.points = false, plan.factors.clear(), plan.levels.clear();
      leader = d.handle(g.leader);
    }
  }

  void split_all() {
    std::map<int, Split> splits;
    for (const auto& [dim, factor] : plan.factors) {
      const Loop whole = loop_over(d, leader, dims[static_cast<std::size_t>(dim)].id);
      if (plan.channels &&
          dim == plan.vector_dim - 1) {  // pieces of whole vectors: rows shorter than a piece have no more of them
        const std::int64_t by =
            points_of_vector(d, d.stage(g.leader), *d.sizes().constant_extent(d.stage(g.leader), dims.back().id));
        const Split vectors = leader.split(whole, by, Tail::guard, d.where);
        splits[dim] = leader.split(vectors.outer, factor / by, Tail::guard, d.where);
        leader.tighten(splits[dim].inner, d.where);
        of_vector = vectors.inner;
      } else {
        splits[dim] = leader.split(whole, factor, Tail::guard, d.where);
      }
    }
    std::vector<Loop> order;
    for (Level& l : plan.levels) {
      l.loop = l.part == Level::Part::whole   ? loop_over(d, leader, dims[static_cast<std::size_t>(l.dim)].id)
               : l.part == Level::Part::outer ? splits.at(l.dim).outer
                                              : splits.at(l.dim).inner;
      order.push_back(l.loop);
    }
    if (of_vector) order.insert(order.end() - 1, *of_vector);
    if (plan.points && !sums) {
      const std::vector<Loop> terms = whole_loops(d, leader, true);
      order.insert(order.end() - 1, terms.begin(), terms.end());
    }
    reorder(d, leader, order);
  }

  bool split_loops() {
    std::string tiles;
    for (const auto& [dim, factor] : plan.factors)
      tiles += (tiles.empty() ? "" : ", ") + dims[static_cast<std::size_t>(dim)].name + " by " + std::to_string(factor);
    return !plan.levels.empty() &&
           d.attempt(g.leader, tiles.empty() ? "" : "tiles: " + tiles, [&] { split_all(); }, "loops as they are");
  }

  void fuse_for_pool() {
    for (int level = plan.parallel + 1; plan.parallel >= 0 && level <= plan.parallel_to; ++level) {
      const auto at = [&](int l) -> Loop& { return plan.levels[static_cast<std::size_t>(l)].loop; };
      Loop one;
      if (!d.attempt(g.leader, "", [&] { one = leader.fuse(at(plan.parallel), at(level), d.where); })) break;
      for (int l = plan.parallel; l <= level; ++l) at(l) = one;
    }
    if (plan.strip >= 0)  // a window that slides needs rows up to the end, and none behind it
      d.attempt(g.leader, "", [&] { leader.tighten(plan.levels[static_cast<std::size_t>(plan.strip)].loop, d.where); });
  }

  void place_sums() {
    const Level* around = nullptr;  // the tile
    for (const Level& l : plan.levels)
      if ((l.part == Level::Part::outer || l.part == Level::Part::whole) &&
          !(plan.tile && l.dim == plan.tile->columns && plan.tile->pixels >= 0))
        around = &l;
    const auto turn = [&](Id reader) {
      if (plan.points)
        turn_rows(d, reader, g.leader, around->loop, static_cast<std::size_t>(plan.tile->columns), plan.tile->columns_by);
    };
    if (!sums) turn(g.leader);
    if (sums) {
      d.attempt(g.leader, "", [&] { sums->compute_at(around->loop, d.where); });
      turn(sums->id());
      if (plan.tile->packed) pack_columns(d, g.leader, sums->id(), *plan.tile);
      if (plan.tile->phases) copy_phases(d, sums->id(), g.leader, around->loop, *plan.tile->phases);
      if (reduction)
        accumulate(d, sums->id(), *plan.tile);
      else
        values_apart(d, sums->id(), *plan.tile);
    }
  }

  // The leader's own terms come first: lanes cannot have partial sums once something is computed between them.
  void sum_in_lanes() {
    if (!d.stage(g.leader).is_reduction() || sums || plan.points) return;
    const bool in_order = g.members.empty() && plan.factors.empty() && !regroups(d, d.stage(g.leader));
    const std::optional<Loop> groups = in_order ? rows_side_by_side(d, g.leader) : std::nullopt;
    if (!groups) reduce_in_lanes(d, g.leader);
    for (Level& l : plan.levels)
      if (groups && l.dim + 1 == static_cast<int>(dims.size())) l.loop = *groups;
  }

  // The level at which a member is computed; nothing if it stays at root.
  std::optional<Level> place(Id id) {
    const auto at = plan.place.find(id);
    if (at == plan.place.end()) return std::nullopt;
    const Level& level = plan.levels[at->second];
    const std::string where = label(d, level.loop) + " of " + d.stage(g.leader).name;
    bool placed = false;
    if (plan.slides[id] && at->second > 0)
      placed = d.attempt(id, "computed at " + where + ", sliding", [&] {
        const Stage m = d.handle(id);
        m.compute_at(level.loop, d.where);
        m.store_at(plan.levels[at->second - 1].loop, d.where);
        m.slide(level.loop, d.where);
      });
    if (placed) fold(d, id, g.follows.at(id), level.dim);
    for (std::size_t k = at->second + 1; k-- > 0 && !placed;)
      placed = d.attempt(
          id, "computed at " + label(d, plan.levels[k].loop) + " of " + d.stage(g.leader).name,
          [&] { d.handle(id).compute_at(plan.levels[k].loop, d.where); }, "further out");
    if (!placed) {
      d.done(id, "at root");
      return std::nullopt;
    }
    return level;
  }

  // The tile of a reduction that is computed where the leader's tile is.
  std::optional<Tile> tile_inside(Id id) {
    std::optional<Tile> own;
    const std::size_t at = plan.place.at(id);
    const bool innermost = plan.tile && !sums && at + 1 < plan.levels.size() && plan.levels[at].part == Level::Part::outer &&
                           plan.levels[at + 1].part == Level::Part::inner;
    if (plan.channels && d.stage(id).is_reduction()) {  // its columns are the points that vectors follow each other along
      const Family f = d.family(id).family;
      const Follow& last = g.follows.at(id).back();
      if ((f == Family::stencil || f == Family::column_reduction) && last.dim == plan.vector_dim - 1)
        own = tile_of(d, d.stage(id), d.family(id));
      if (own && own->columns < 0) own.reset();
      if (own)  // borders stand at both ends of a row: narrow tiles leave few points beside them
        own->columns_by = std::max(1, d.s.target().lanes(d.program().buffer(d.stage(id).buffers.front()).type));
    }
    if (innermost && d.stage(id).is_reduction()) {
      const Family f = d.family(id).family;
      if (f == Family::matmul || f == Family::stencil || f == Family::column_reduction)
        own = tile_of(d, d.stage(id), d.family(id));
      if (own && own->columns < 0) own.reset();
      if (own) {
        const bool pixels = plan.tile->pixels >= 0;
        if (!pixels || own->pixels < 0) own->pixels = -1, own->pixels_by = 1, own->apart = false;
        own->columns_by = pixels && own->pixels < 0 ? plan.tile->pixels_by : plan.tile->columns_by;
        if (own->pixels >= 0) own->pixels_by = plan.tile->pixels_by;
        const auto& follows = g.follows.at(id);
        if (own->rows >= 0 && follows[static_cast<std::size_t>(own->rows)].dim == plan.tile->rows)
          own->rows_by = plan.tile->rows_by;
      }
    }
    return own;
  }

  void schedule_member(Id id, const Level& level) {
    if (const auto strip = plan.strips.find(id); strip != plan.strips.end()) {
      if (d.family(id).family == Family::matmul)
        sums_of_rows(d, id, strip->second);
      else if (regroups(d, d.stage(id)))
        merge_rows_of_strip(d, id, strip->second);
      else
        rows_in_lanes(d, id, strip->second);
      return;
    }
    const std::optional<Tile> own = tile_inside(id);
    if (const auto dim = plan.points ? point_of(plan, g.follows.at(id)) : std::nullopt)
      points_inside(d, id, level.loop, *dim, plan.tile->columns_by);
    else
      schedule_inside(d, id, level.loop, own);
  }

  void choose_kinds() {
    if (plan.points && !sums) unroll_terms(d, g.leader, *plan.tile);
    if (plan.tile) {
      for (const Level& l : plan.levels)
        if (l.part == Level::Part::inner && l.dim == plan.tile->rows)
          d.attempt(g.leader, "", [&] { leader.unroll(l.loop, d.where); });
      Loop columns = plan.levels.back().loop;
      if (plan.tile->pixels >= 0)
        d.attempt(g.leader, "", [&] { columns = leader.fuse(plan.levels[plan.levels.size() - 2].loop, columns, d.where); });
      vectors_of_tile(d, g.leader, columns, *plan.tile);
    } else if (plan.vector_dim >= 0) {
      const Level& last = plan.levels.back();
      const auto extent = last.part == Level::Part::inner
                              ? std::optional<std::int64_t>(plan.factors.at(last.dim))
                              : d.sizes().constant_extent(d.stage(g.leader), dims[static_cast<std::size_t>(last.dim)].id);
      const bool done = plan.channels && vectors_of_channels(d, g.leader, plan.levels[plan.levels.size() - 2].loop, of_vector,
                                                             last.loop, extent.value());
      if (!done && vectorize(d, g.leader, last.loop, extent) && family == Family::elementwise && g.members.empty())
        stream(d, g.leader);
    }
    if (plan.parallel >= 0) {
      const Loop loop = plan.levels[static_cast<std::size_t>(plan.parallel)].loop;
      d.attempt(g.leader, label(d, loop) + " in parallel", [&] { leader.parallel(loop, d.where); }, "one thread");
    }
  }

  Draft& d;
  const Group& g;
  Plan& plan;
  const Family family;
  Stage leader;
  std::optional<Stage> sums;  // what a tile of the leader is copied from
  bool reduction = false;
  std::vector<ir::IterVar> dims;
  std::optional<Loop> of_vector;  // the points of a vector, with channels
};

}  // namespace

void schedule_group(Draft& d, const Group& g, Plan plan) {
  d.choice(g.leader);
  if (d.family(g.leader).family == Family::full_reduction) return reduce_all(d, g.leader);
  if (g.members.empty() && few_results_together(d, g.leader, d.options.parallel)) return;
  if (plan.taken != Taken::no) {
    if (schedule_taken(d, g, plan.taken)) return;
    plan = plan_of(d, g, false);
  }
  if (plan.product) {
    if (schedule_product(d, g, *plan.product)) return;
    plan = plan_of(d, g, false);
  }
  if (plan.levels.empty()) return schedule_alone(d, g.leader);
  Leader(d, g, plan).run();
}

}  // namespace ashlar::schedules
