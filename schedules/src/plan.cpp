// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans the loops of a leader: which dimensions are split, the order of the loops, which one runs on the thread pool, and
// inside which loop each member is computed. Nothing is changed here.
//
//   dimensions that members follow, the most followed ones first; the outer part of the vectors' dimension, where members
//   follow it (strips: their rows); dimensions that no member follows; the vectors
#include <algorithm>
#include <cmath>
#include <numeric>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::plan;
using costs::worth_parallel;

bool sums(Family f) { return f == Family::matmul || f == Family::column_reduction; }
bool sums_in_tiles(const ir::Stage& s, Family f) { return s.is_reduction() && (sums(f) || f == Family::stencil); }

const Follow* along(const std::vector<Follow>& follows, int dim) {
  for (const Follow& f : follows)
    if (f.dim == dim) return &f;
  return nullptr;
}

// Whether vectors of several points, with all values of each, load neighbors in the leader too.
bool leads_pixels(const Draft& d, const ir::Stage& s, int vector_dim) {
  return vector_dim + 1 == static_cast<int>(spatial_of(s).size()) && reads_neighbors(d, s) &&
         d.last_in_memory(s.id).value_or(static_cast<std::size_t>(vector_dim)) == static_cast<std::size_t>(vector_dim);
}

// A member whose results fit a tile of the leader: the same points, with its columns in the leader's vectors.
std::optional<Tile> tile_through(Draft& d, const Group& g, int vector_dim) {
  for (const bool product : {true, false})
    for (const Id id : g.members) {
      const ir::Stage& s = d.stage(id);
      const Family f = d.family(id).family;
      if (!sums_in_tiles(s, f) || (f == Family::matmul) != product) continue;
      const Tile own = tile_of(d, s, d.family(id));
      if (own.columns < 0) continue;
      const auto& follows = g.follows.at(id);
      const auto same = [&](int dim) {
        const Follow& to = follows[static_cast<std::size_t>(dim)];
        return to.scale == 1 && to.lo == 0 && to.hi == 0 ? to.dim : -1;
      };
      const bool turned = own.packed && own.columns + 1 != static_cast<int>(follows.size());
      if (turned ? same(own.columns) < 0 || same(own.rows) < 0 : same(own.columns) != vector_dim) continue;
      if (own.pixels >= 0 && (same(own.pixels) != vector_dim - 1 || !leads_pixels(d, d.stage(g.leader), vector_dim))) continue;
      Tile t = own;
      t.columns = same(own.columns), t.rows = own.rows < 0 ? -1 : same(own.rows);
      if (t.pixels >= 0) t.pixels = vector_dim - 1;
      if (!turned) t.packed = 0;  // the member's own affair
      return t;
    }
  return std::nullopt;
}

// If indices are divided by numbers, x(i / 3, j / 3), the number of points with the same quotient; 0 if there are none, or too
// many for one vector.
std::int64_t divided_by(const ir::Stage& s, Id variable) {
  std::int64_t all = 1;
  for (const Expr& value : s.values)
    ir::walk(value, [&](const Expr& e) {
      std::int64_t by = 0;
      const bool divides = (ir::is(e, ir::Op::div) || ir::is(e, ir::Op::mod)) && e.type().is_index() &&
                           ir::is_int(ir::args_of(e)[1], &by) && by > 1 && ir::uses_var(ir::args_of(e)[0], variable);
      if (divides) all = by > most_of_quotient ? most_of_quotient + 1 : std::lcm(all, by);
      return all <= most_of_quotient;
    });
  return all > 1 && all <= most_of_quotient ? all : 0;
}

// Products among the members of which a row of the leader needs all columns. A strip of rows, as many as fit a register tile,
// shares the loads along the columns.
//
//   for io                            14 rows
//     re[14, ..] = sum over n of ..   tiles of 14 x 32
//     for ii                          what needs one row of it
std::map<Id, Tile> products_of_strips(Draft& d, const Group& g) {
  std::map<Id, Tile> strips;
  int dim = -1;
  std::int64_t rows = 0;
  for (const Id id : g.members) {
    const ir::Stage& s = d.stage(id);
    if (d.family(id).family != Family::matmul) continue;
    const Tile own = tile_of(d, s, d.family(id));
    if (own.rows < 0 || own.columns < 0 || own.rows_by < 2 || own.packed || own.phases || own.pixels >= 0) continue;
    const auto& follows = g.follows.at(id);
    const Follow &along = follows[static_cast<std::size_t>(own.rows)],
                 &columns = follows[static_cast<std::size_t>(own.columns)];
    if (along.dim < 0 || along.scale != 1 || along.lo != 0 || along.hi != 0 || columns.dim >= 0) continue;
    if ((dim >= 0 && (dim != along.dim || rows != own.rows_by)) || !reads_along_columns(d, s, own)) continue;
    dim = along.dim, rows = own.rows_by;
    strips.emplace(id, own);
  }
  return strips;
}

// Reductions of rows, in strips along one dimension of the leader. `rows_in_strip(stage, variable of the rows)` is how many
// rows a strip has; 0 for a stage that takes no part.
template <class F>
std::map<Id, Tile> strips_of_rows(Draft& d, const Group& g, F rows_in_strip) {
  std::map<Id, Tile> strips;
  int dim = -1;
  for (const Id id : g.members) {
    const ir::Stage& s = d.stage(id);
    const auto dims = spatial_of(s);
    if (d.family(id).family != Family::row_reduction || dims.empty() || bounds_terms(s, dims.back().id)) continue;
    const std::int64_t rows = rows_in_strip(s, dims.back().id);
    if (rows == 0) continue;
    const Follow& row = g.follows.at(id).back();
    if (row.dim < 0 || row.scale != 1 || row.lo != 0 || row.hi != 0 || (dim >= 0 && row.dim != dim)) continue;
    dim = row.dim;
    Tile t;
    t.columns = t.rows = static_cast<int>(dims.size()) - 1, t.rows_by = t.columns_by = rows;
    strips.emplace(id, t);
  }
  return strips;
}

// A sum over a row of the leader that keeps its order, with a function in each term: rows are lanes, and each lane adds its
// terms in order, although its loads are gathers.
//
//   for io                            16 rows
//     total = sum over w of exp(..)   a lane a row
//     for ii                          what needs one row of it
std::map<Id, Tile> costly_sums_of_strips(Draft& d, const Group& g) {
  return strips_of_rows(d, g, [&](const ir::Stage& s, Id row) -> std::int64_t {
    if (regroups(d, s) || s.values.size() != 1 || cost_of(s) < costly_term) return 0;
    for (const ir::IterVar& k : reduce_of(s))
      if (d.sizes().from_data(s, k.id)) return 0;
    const std::int64_t lanes = lanes_of(d, s), rows = std::min(lanes, d.sizes().constant_extent(s, row).value_or(lanes));
    return rows < 4 ? 0 : rows;
  });
}

// What merging two parts costs: the operations of a reducer of the user's own.
double cost_of_merge(const ir::Stage& s) {
  double cost = 0;
  for (const Expr& e : s.reducer.combine)
    ir::walk(e, [&](const Expr& x) {
      cost += cost_of(ir::op_of(x));
      return true;
    });
  return cost;
}

// Rows of the leader that a costly reducer merges. Their lanes are merged in a tree, in which each level waits for the one
// before: a few rows go through it side by side.
//
//   for io                                  4 rows
//     moments[4] = merge over k of x(i, k)  a vector of partial results a row
//     for ii                                what needs one row of it
std::map<Id, Tile> costly_merges_of_strips(Draft& d, const Group& g) {
  return strips_of_rows(d, g, [&](const ir::Stage& s, Id row) -> std::int64_t {
    const int lanes = lanes_of(d, s);
    if (s.reducer.kind != ir::ReducerKind::custom || !regroups(d, s) || cost_of_merge(s) < costly_merge || lanes < 4) return 0;
    const auto terms = reduce_of(s);
    if (terms.size() != 1 || d.sizes().from_data(s, terms[0].id) || terms_beside_few(d, s) ||
        d.sizes().extent(s, terms[0].id) < static_cast<double>(lanes))
      return 0;
    const std::int64_t rows = merges_side_by_side;
    return d.sizes().constant_extent(s, row).value_or(rows) < rows ? 0 : rows;
  });
}

std::map<Id, Tile> strips_of(Draft& d, const Group& g) {
  std::map<Id, Tile> strips = products_of_strips(d, g);
  if (strips.empty()) strips = costly_sums_of_strips(d, g);
  return strips.empty() ? costly_merges_of_strips(d, g) : strips;
}

// The decisions of plan_of, in order. Each may use the results of the previous ones.
class Planner {
 public:
  Planner(Draft& draft, const Group& group)
      : d(draft),
        g(group),
        leader(draft.stage(group.leader)),
        family(draft.family(group.leader).family),
        sizes(draft.sizes()),
        dims(spatial_of(leader)),
        n(static_cast<int>(dims.size())) {}

  Plan run(bool families) {
    if (whole_group(families)) return std::move(plan);
    find_followers();
    choose_tile();
    choose_vectors();
    choose_factors();
    choose_order();
    if (plan.levels.empty()) {
      plan.outside = g.members;
      return std::move(plan);
    }
    choose_parallel();
    place_members();
    add_levels_to_parallel();
    return std::move(plan);
  }

 private:
  double extent(int dim) const { return sizes.extent(leader, dims[static_cast<std::size_t>(dim)].id); }
  std::optional<std::int64_t> constant(int dim) const {
    return sizes.constant_extent(leader, dims[static_cast<std::size_t>(dim)].id);
  }
  bool split(int dim) const { return plan.factors.count(dim) > 0; }
  void add(int dim, Level::Part part) { plan.levels.push_back({dim, part, {}}); }

  // Whether something other than levels of loops handles the group. Families leave members outside.
  bool whole_group(bool families) {
    if (n == 0 || family == Family::recurrence || family == Family::scatter || family == Family::external ||
        family == Family::full_reduction) {
      plan.outside = g.members;
      return true;
    }
    if (families && (plan.taken = taken_by(d, g.leader)) != Taken::no) {
      plan.outside = g.members;
      return true;
    }
    if (families && is_separable(d, g)) {
      plan.taken = Taken::separable;
      return true;
    }
    if (families && (plan.product = product_for(d, g))) {
      const Product::Kind kind = plan.product->kind;  // panels have a tile after which a reader may stand
      for (const Id id : g.members)
        if (id != plan.product->stage || kind != Product::Kind::panels) plan.outside.push_back(id);
      return true;
    }
    return false;
  }

  void find_followers() {
    followed.assign(static_cast<std::size_t>(n), 0);
    window.assign(static_cast<std::size_t>(n), 0);
    for (const auto& [id, follows] : g.follows)
      for (const Follow& f : follows)
        if (f.dim >= 0) {
          ++followed[static_cast<std::size_t>(f.dim)];
          if (!f.apart())
            window[static_cast<std::size_t>(f.dim)] = std::max(window[static_cast<std::size_t>(f.dim)], f.hi - f.lo);
        }
    windows = std::any_of(window.begin(), window.end(), [](double reach) { return reach > 0; });
  }

  void choose_tile() {
    if (takes_points(d, leader)) {
      plan.tile = points_of(d, leader), plan.vector_dim = plan.tile->columns, plan.points = true;
    } else if (sums_in_tiles(leader, family)) {
      plan.tile = tile_of(d, leader, d.family(g.leader));
      plan.vector_dim = plan.tile->columns;
    } else if (!leader.is_reduction()) {
      plan.vector_dim = n - 1;
      while (plan.vector_dim > 0 && constant(plan.vector_dim) == 1) --plan.vector_dim;
      if (const auto last = d.last_in_memory(g.leader)) plan.vector_dim = static_cast<int>(*last);
      plan.tile = tile_through(d, g, plan.vector_dim);
      if (plan.tile) plan.vector_dim = plan.tile->columns;
    }
    v = plan.vector_dim;
    if (plan.tile && plan.tile->columns < 0) plan.tile.reset();
  }

  // Channels and pixels: several dimensions share a vector.
  void choose_vectors() {
    // What is read all along a dimension for each point, a row of scores, is computed for one point at a time.
    const bool of_rows = std::any_of(g.follows.begin(), g.follows.end(), [&](const auto& member) {
      const ir::Stage& s = d.stage(member.first);
      for (std::size_t k = 0; k < member.second.size(); ++k)
        if (member.second[k].dim < 0 && sizes.constant_extent(s, s.iters[k].id).value_or(INT64_MAX) > few_values) return true;
      return false;
    });
    plan.channels = v == n - 1 && !plan.tile && !of_rows && has_channels(d, leader, window, g.members.empty());
    if (v == n - 1 && !plan.tile && !plan.channels && g.members.empty() && !leader.is_reduction() && leader.values.size() == 1)
      plan.tile = tile_of_pixels(d, leader);
    pixels = plan.tile && plan.tile->pixels >= 0, several = plan.channels || pixels;
    w = several ? v - 1 : v;
  }

  void choose_factors() {
    if (plan.tile) {
      plan.factors[w] = pixels ? plan.tile->pixels_by : plan.tile->columns_by;
      if (plan.tile->rows >= 0) plan.factors[plan.tile->rows] = plan.tile->rows_by;
    } else if (v >= 0) {
      const std::int64_t chunk = windows ? stencil_elements : chunk_elements;
      if (followed[static_cast<std::size_t>(w)] && constant(w).value_or(INT64_MAX) > 2 * chunk)
        plan.factors[w] = chunk;
      else if ((n == 1 || (plan.channels && n == 2)) && constant(w).value_or(INT64_MAX) > parallel_elements)
        plan.factors[w] = parallel_elements;
      if (const std::int64_t by = divided_by(leader, dims[static_cast<std::size_t>(v)].id);
          by > 0 && g.members.empty() && !plan.channels)
        plan.factors[v] = by;
      for (int k = 0; k < n; ++k)
        if (k != v && k != w && window[static_cast<std::size_t>(k)] > 0 && strip_dim < 0 && extent(k) > 1) strip_dim = k;
      if (strip_dim >= 0) {
        // What slides computes its window anew in each strip: windows of windows take more rows, as long as strips are enough
        // for all.
        std::int64_t rows = strip_rows;
        while (static_cast<double>(rows) < rows_of_window * window[static_cast<std::size_t>(strip_dim)] &&
               static_cast<double>(2 * rows * least_strips) <= extent(strip_dim))
          rows *= 2;
        plan.factors[strip_dim] = rows, slides_along_strip = true;
      } else if (const auto strips = strips_of(d, g); !strips.empty() && !plan.channels) {
        const auto& [id, tile] = *strips.begin();
        const int along = g.follows.at(id)[static_cast<std::size_t>(tile.rows)].dim;
        if (along != v && along != w) plan.strip_rows = along, plan.strips = strips;
        if (along != v && along != w && constant(along).value_or(INT64_MAX) > tile.rows_by)
          plan.factors[strip_dim = along] = tile.rows_by;
      } else if (family == Family::transposition && !plan.channels) {  // lines of the cache at both ends
        for (int k = 0; k < n; ++k)
          if (dims[static_cast<std::size_t>(k)].id == d.family(g.leader).turned) strip_dim = k;
        if (strip_dim == v) strip_dim = -1;
        if (strip_dim >= 0) plan.factors[strip_dim] = plan.factors[v] = block_of_lines;
      }
    }
  }

  void choose_order() {
    std::vector<int> outer;
    for (int k = 0; k < n; ++k)
      if (k != v && k != w && !(plan.tile && k == plan.tile->rows)) outer.push_back(k);
    std::stable_sort(outer.begin(), outer.end(), [&](int a, int b) {
      return followed[static_cast<std::size_t>(a)] > followed[static_cast<std::size_t>(b)];
    });
    const bool columns_first = plan.tile && plan.tile->packed;  // a block of what is packed stays in the cache
    if (columns_first) add(v, Level::Part::outer);
    std::vector<int> late;  // no member follows them: inside of what members are computed in
    const bool has_members = !g.members.empty() && !plan.tile;
    for (const int k : outer) {
      if (has_members && !followed[static_cast<std::size_t>(k)] && extent(k) > 1 && k != strip_dim)
        late.push_back(k);
      else
        add(k, split(k) ? Level::Part::outer : Level::Part::whole);
    }
    if (plan.tile && plan.tile->rows >= 0) add(plan.tile->rows, Level::Part::outer);
    if (v >= 0 && split(w) && !columns_first) add(w, Level::Part::outer);
    if (strip_dim >= 0) {
      if (slides_along_strip && std::find(late.begin(), late.end(), strip_dim) == late.end())
        plan.strip = static_cast<int>(plan.levels.size());
      add(strip_dim, Level::Part::inner);
    }
    places = plan.levels.size();
    for (const int k : late) add(k, Level::Part::whole);
    if (plan.tile && plan.tile->rows >= 0) add(plan.tile->rows, Level::Part::inner);
    if (several) add(w, split(w) ? Level::Part::inner : Level::Part::whole);
    if (v >= 0) add(v, split(v) ? Level::Part::inner : Level::Part::whole);
  }

  // Which level is for the pool.
  void choose_parallel() {
    const Sizes large = d.most();
    double work = 0;
    for (const auto& [id, follows] : g.follows)
      work += large.points(d.stage(id)) * large.terms(d.stage(id)) * cost_of(d.stage(id));
    work += large.points(leader) * large.terms(leader) * cost_of(leader);
    if (d.options.parallel && work >= worth_parallel) {
      double most = 1;
      const std::size_t candidates = v >= 0 ? std::max<std::size_t>(places, 1) : plan.levels.size();
      for (std::size_t k = 0; k < std::min(candidates, plan.levels.size()); ++k) {
        const Level& l = plan.levels[k];
        if (l.part == Level::Part::inner || (v >= 0 && k + (several ? 2 : 1) >= plan.levels.size())) continue;
        const double times = std::ceil(large.extent(leader, dims[static_cast<std::size_t>(l.dim)].id) /
                                       static_cast<double>(split(l.dim) ? plan.factors.at(l.dim) : 1));
        if (times <= most) continue;
        most = times, plan.parallel = static_cast<int>(k);
        if (times >= 8) break;
      }
    }
  }

  void place_members() {
    for (const Id id : g.members) {
      const auto& follows = g.follows.at(id);
      std::size_t depth = 0;
      bool slides = false;
      for (; depth < places && !slides; ++depth) {
        const Level& l = plan.levels[depth];
        if (extent(l.dim) <= 1) continue;
        if (l.dim == plan.strip_rows && l.part != Level::Part::outer && plan.strips.count(id)) break;
        const Follow* f = along(follows, l.dim);
        if (!f) break;
        if (f->apart()) continue;
        if (l.part == Level::Part::outer && f->hi - f->lo <= static_cast<double>(plan.factors.at(l.dim) * f->scale) / 2)
          continue;
        if (static_cast<int>(depth) != plan.strip || d.stage(id).is_reduction()) break;
        slides = true;
      }
      for (const Id r : readers_of(d.program(), d.stage(id))) {
        const auto at = plan.place.find(r);
        if (at != plan.place.end() && at->second + 1 < depth) depth = at->second + 1, slides = false;
      }
      if (depth == 0 || static_cast<int>(depth) <= plan.parallel) {
        plan.outside.push_back(id);
        continue;
      }
      plan.place[id] = depth - 1, plan.slides[id] = slides;
    }
  }

  // Strips of rows may be few, where rows are many.
  void add_levels_to_parallel() {
    if (plan.parallel < 0 || plan.levels[static_cast<std::size_t>(plan.parallel)].part != Level::Part::outer) return;
    double pieces = 1;  // for sure
    const auto pieces_of = [&](int level) {
      const Level& l = plan.levels[static_cast<std::size_t>(level)];
      return std::ceil(static_cast<double>(constant(l.dim).value_or(1)) /
                       static_cast<double>(split(l.dim) && l.part == Level::Part::outer ? plan.factors.at(l.dim) : 1));
    };
    const auto computed_in = [&](int level) {
      return std::any_of(plan.place.begin(), plan.place.end(),
                         [&](const auto& at) { return at.second == static_cast<std::size_t>(level); });
    };
    plan.parallel_to = plan.parallel, pieces = pieces_of(plan.parallel);
    for (int next = plan.parallel + 1; next + (several ? 2 : 1) < static_cast<int>(plan.levels.size()); ++next) {
      if (pieces >= many_pieces || plan.levels[static_cast<std::size_t>(next)].part == Level::Part::inner ||
          static_cast<std::size_t>(next) >= places || computed_in(next - 1) || g.members.empty())
        break;
      plan.parallel_to = next, pieces *= pieces_of(next);
    }
  }

  Draft& d;
  const Group& g;
  const ir::Stage& leader;
  const Family family;
  const Sizes sizes;
  const std::vector<ir::IterVar> dims;
  const int n;
  std::vector<int> followed;   // how many members follow each dimension of the leader
  std::vector<double> window;  // how far beyond a point they read along it
  bool windows = false;
  int v = -1, w = -1;                    // the dimension in vectors; the one along which vectors follow each other
  bool pixels = false, several = false;  // points with a few values each; these, or channels
  int strip_dim = -1;                    // its outer part stands outside, its inner part inside of the others
  bool slides_along_strip = false;
  std::size_t places = 0;  // members go into the first levels, so many
  Plan plan;
};

}  // namespace

Plan plan_of(Draft& d, const Group& g, bool families) { return Planner(d, g).run(families); }

}  // namespace ashlar::schedules
