// Stages that a family of schedules takes whole: transpositions, and sums of windows of neighbours. What they read is computed
// before them, with loops of its own.
#include <algorithm>

#include <ashlar/schedules/stencil.h>
#include <ashlar/schedules/transpose.h>

#include "schedules/draft.h"

namespace ashlar::schedules {
namespace {

bool has_window_along(const Classified& c, Id v) { return std::find(c.over.begin(), c.over.end(), v) != c.over.end(); }

}  // namespace

Taken taken_by(Draft& d, Id id) {
  const ir::Stage& s = d.stage(id);
  const Classified& c = d.family(id);
  const auto dims = spatial_of(s);
  if (d.s.target().is_gpu() || d.s.target().lanes(d.program().buffer(s.buffers.front()).type) < 2) return Taken::no;
  if (c.family == Family::transposition && s.values.size() == 1 && ir::is(s.values.front(), ir::Op::load) &&
      d.program().buffer(s.values.front().node()->id).role == ir::Role::input)
    return Taken::transposition;
  // The window lies over dimensions before the last: channels.
  if (c.family == Family::stencil && s.is_reduction() && s.values.size() == 1 && dims.size() >= 3 &&
      !has_window_along(c, dims.back().id) && has_window_along(c, dims[dims.size() - 2].id) &&
      d.sizes().extent(s, dims.back().id) >= 4)
    return Taken::channels_last;
  return Taken::no;
}

bool schedule_taken(Draft& d, Id id, Taken taken) {
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
  }
  return false;
}

}  // namespace ashlar::schedules
