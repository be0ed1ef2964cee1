// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages that a family of schedules takes whole: transpositions, and sums of windows of neighbors. What they read is computed
// before them, with loops of its own; except for separable windows, of which both stages are taken.
#include <algorithm>
#include <set>

#include <ashlar/schedules/stencil.h>
#include <ashlar/schedules/transpose.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::families;

bool has_window_along(const Classified& c, Id v) { return std::find(c.over.begin(), c.over.end(), v) != c.over.end(); }

}  // namespace

Taken taken_by(Draft& d, Id id) {
  const ir::Stage& s = d.stage(id);
  const Classified& c = d.family(id);
  const auto dims = spatial_of(s);
  if (d.s.target().is_gpu() || d.s.target().lanes(d.program().buffer(s.buffers.front()).type) < 2) return Taken::no;
  if (c.family == Family::transposition && s.values.size() == 1 && ir::is(s.values.front(), ir::Op::load) &&
      d.program().buffer(s.values.front().node()->id).role == ir::Role::input && !reads_neighbors(d, s))
    return Taken::transposition;
  // The window lies over dimensions before the last: channels.
  if (c.family == Family::stencil && s.is_reduction() && s.values.size() == 1 && dims.size() >= 3 &&
      !has_window_along(c, dims.back().id) && has_window_along(c, dims[dims.size() - 2].id) &&
      d.sizes().extent(s, dims.back().id) >= 4 && !tile_of_pixels(d, s))
    return Taken::channels_last;
  return Taken::no;
}

// y(i, j) of a few rows of p(i + r, j), p(i, j) of columns: several rows of y share those of p in registers.
bool is_separable(Draft& d, const Group& g) {
  const ir::Stage& y = d.stage(g.leader);
  if (d.s.target().is_gpu() || g.members.size() != 1 || y.is_reduction() || y.scatters() || y.values.size() != 1) return false;
  const ir::Stage& p = d.stage(g.members.front());
  const Family family = d.family(p.id).family;
  const std::size_t rank = spatial_of(y).size();
  if ((family != Family::elementwise && family != Family::stencil) || p.is_reduction() || p.values.size() != 1 || rank < 2 ||
      spatial_of(p).size() != rank || cost_of(p) > most_cost || lanes_of(d, y) < 2)
    return false;
  for (const Id id : {y.id, p.id})
    for (const Reading& r : readings_of(d.program(), d.stage(id)))
      for (const Index& x : r.at)
        if (x.bent || x.from_data) return false;
  const auto& follows = g.follows.at(p.id);
  for (std::size_t k = 0; k < rank; ++k) {
    const Follow& f = follows[k];
    const double rows = f.hi - f.lo + 1;
    if (f.dim != static_cast<int>(k) || f.scale != 1) return false;
    if (k + 2 == rank ? rows < 2 || rows > most_rows : rows != 1) return false;
  }
  return true;
}

bool schedule_taken(Draft& d, const Group& g, Taken taken) {
  const Id id = g.leader;
  const Stage stage = d.handle(id);
  const bool parallel = d.options.parallel;
  switch (taken) {
    case Taken::no:
      return false;
    case Taken::transposition:
      return d.attempt(
          id, "tiles transposed in registers (schedules::transpose)",
          [&] {
            transpose(d.s, stage, tensor_of(d.s, d.stage(id).values.front().node()->id, d.where), {.parallel = parallel},
                      d.where);
            schedule::finish(d.s.scheduled(), d.s.target());
          },
          "blocks of both");
    case Taken::channels_last:
      return d.attempt(
          id, "several pixels and a vector of channels in registers (schedules::stencil)",
          [&] {
            stencil(d.s, stage, {.channels_last = true, .parallel = parallel}, d.where);
            schedule::finish(d.s.scheduled(), d.s.target());
          },
          "a tile of channels");
    case Taken::separable: {
      const Id member = g.members.front();
      const auto& rows = g.follows.at(member)[spatial_of(d.stage(id)).size() - 2];
      StencilOptions o{.together = d.s.target().vector_registers() >= 32 ? 8 : 4,
                       .in_registers = {{d.handle(member), static_cast<int>(rows.hi - rows.lo) + 1}},
                       .parallel = parallel};
      std::set<Id> read;
      for (const Reading& r : readings_of(d.program(), d.stage(member))) read.insert(r.buffer);
      if (read.size() == 1 && d.program().buffer(*read.begin()).role == ir::Role::input)
        o.prefetched = {tensor_of(d.s, *read.begin(), d.where)};
      if (!d.attempt(
              id,
              count(o.together) + " rows at once, with those of " + d.stage(member).name + " in registers (schedules::stencil)",
              [&] {
                stencil(d.s, stage, o, d.where);
                schedule::finish(d.s.scheduled(), d.s.target());
              },
              "a row at a time"))
        return false;
      d.done(member, "computed for the vectors of " + d.stage(id).name + " that read it");
      return true;
    }
  }
  return false;
}

}  // namespace ashlar::schedules
