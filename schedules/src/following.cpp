// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences that their readers follow: a stage that reads a step at its own point is computed in the same pass, so the steps
// are never all stored.
//
//   for s by 512 (pool): for t: m[t, s]               for s by 512 (pool)
//   for t: y[t, s] = f(m[t, s], ..)           ->        for t
//   for s by 64 (pool)                                    m[t % 2, s], from m[(t - 1) % 2, s]
//     for t: most[s] = max(most[s], y[t, s])              y[t, s]
//                                                         most[s] = max(most[s], y[t, s])
//
// The last reader has the loops: over blocks of columns, then over steps in the order of the recurrence, then over columns in
// lanes. In a reduction of columns, the terms are the steps. The other stages are computed at a step of it, recurrences in
// rings that slide; so are results of which it reads every element.
//
// This pays off if the recurrence alone would leave the second-level cache before it is read.
#include <algorithm>
#include <bit>
#include <set>

#include <ashlar/ir/function.h>
#include <ashlar/ir/recurrence.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using costs::worth_parallel;

// Stages of one rank whose last dimension is the columns; `steps` is the dimension of each along which the last reader steps.
struct Pass {
  std::vector<Id> stages;  // producers first; the last one has the loops
  std::size_t rank = 0, steps = 0;
};

bool holds(const std::vector<Id>& all, Id id) { return std::find(all.begin(), all.end(), id) != all.end(); }

// Whether there are enough columns for a vector.
bool has_columns(const Draft& d, const ir::Stage& s) {
  const int lanes = lanes_of(d, s);
  return lanes > 1 && s.spatial_rank() > 0 && d.sizes().constant_extent(s, spatial_of(s).back().id).value_or(lanes) >= lanes;
}

// A recurrence that runs forwards along one dimension before its last, and has no stages in its steps.
bool is_followed(const Draft& d, const ir::Stage& s) {
  return s.is_recurrence() && s.along.size() == 1 && !s.iters[s.along.front()].descending &&
         s.along.front() + 1 < spatial_of(s).size() && has_columns(d, s) && ir::stages_inside(d.program(), s).empty() &&
         is_fresh(d.program(), s);
}

bool is_pointwise(const Draft& d, const ir::Stage& s) {
  return !s.is_reduction() && !s.is_recurrence() && !s.scatters() && !ir::computed_by(s.values) && s.domain.empty() &&
         has_columns(d, s) && is_untouched(d.program(), s);
}

// A reduction whose terms are the steps, in order, and whose points are those of a step.
bool reduces_steps(const Draft& d, const Pass& pass, const ir::Stage& s) {
  return s.is_reduction() && !s.scatters() && s.domain.empty() && s.values.size() == 1 && reduce_of(s).size() == 1 &&
         s.spatial_rank() + 1 == static_cast<int>(pass.rank) && has_columns(d, s) && is_untouched(d.program(), s);
}

// The variable of a reader that goes along a dimension of the pass.
Id variable_of(const Pass& pass, const ir::Stage& reader, std::size_t dim) {
  if (!reader.is_reduction()) return reader.iters[dim].id;
  if (dim == pass.steps) return reduce_of(reader).front().id;
  return reader.iters[dim < pass.steps ? dim : dim - 1].id;
}

// Whether the stages of the pass are read at the reader's own point; recurrences also a few steps back.
bool reads_own_points(const Draft& d, const Pass& pass, const ir::Stage& reader) {
  for (const Reading& r : readings_of(d.program(), reader)) {
    if (!r.producer || r.producer == reader.id || !holds(pass.stages, r.producer)) continue;
    if (r.of_init || r.at.size() != pass.rank) return false;
    const bool steps_back = d.stage(r.producer).is_recurrence();
    for (std::size_t k = 0; k < r.at.size(); ++k) {
      Index at = r.at[k];
      if (k == pass.steps && steps_back && std::abs(at.constant) <= costs::steps::most_back) at.constant = 0;
      if (!at.plain(variable_of(pass, reader, k))) return false;
    }
  }
  return true;
}

bool joins(const Draft& d, const Pass& pass, const ir::Stage& s) {
  if (reduces_steps(d, pass, s)) return reads_own_points(d, pass, s);
  if (s.spatial_rank() != static_cast<int>(pass.rank)) return false;
  if (is_followed(d, s) && s.along.front() != pass.steps) return false;
  return (is_followed(d, s) || is_pointwise(d, s)) && reads_own_points(d, pass, s);
}

// The stage outside of the pass that reads it; 0 if there are several, or none.
Id next_reader(const Draft& d, const Pass& pass) {
  Id next = 0;
  for (const Id id : pass.stages)
    for (const Id reader : readers_of(d.program(), d.stage(id))) {
      if (holds(pass.stages, reader)) continue;
      if (next && next != reader) return 0;
      next = reader;
    }
  return next;
}

// Recurrences that only stages of the pass read, in the same order, producers first. False if the pass reads other stages that
// would have to be computed in its loops.
bool takes_recurrences(const Draft& d, Pass& pass) {
  for (bool more = true; more;) {
    more = false;
    for (std::size_t k = 0; k < pass.stages.size() && !more; ++k)
      for (const Reading& r : readings_of(d.program(), d.stage(pass.stages[k]))) {
        if (!r.producer || holds(pass.stages, r.producer)) continue;
        const ir::Stage& s = d.stage(r.producer);
        Pass with = pass;
        with.stages.insert(with.stages.begin(), s.id);
        const auto readers = readers_of(d.program(), s);
        const bool own = std::all_of(readers.begin(), readers.end(), [&](Id reader) {
          return reader == s.id || (holds(pass.stages, reader) && reads_own_points(d, with, d.stage(reader)));
        });
        if (own && is_followed(d, s) && joins(d, pass, s)) {
          pass = with, more = true;
          break;
        }
        if (!s.is_recurrence() && !is_output(d.program(), s) && is_untouched(d.program(), s)) return false;
      }
  }
  return true;
}

std::optional<Pass> pass_of(const Draft& d, const ir::Stage& s) {
  if (!is_followed(d, s)) return {};
  Pass pass{{s.id}, spatial_of(s).size(), s.along.front()};
  while (!d.stage(pass.stages.back()).is_reduction()) {
    const Id next = next_reader(d, pass);
    if (!next || !joins(d, pass, d.stage(next))) break;
    pass.stages.push_back(next);
  }
  const ir::Stage& last = d.stage(pass.stages.back());
  const bool stored = is_pointwise(d, last) && !is_output(d.program(), last);  // as a whole, in the place of the recurrence
  if (pass.stages.size() < 2 || stored || !takes_recurrences(d, pass)) return {};
  return pass;
}

// Whether a stored recurrence leaves the second-level cache before it is read; always true without such a cache.
bool leaves_cache(const Draft& d, const Pass& pass) {
  const auto cache = static_cast<double>(d.s.target().cache_bytes(2));
  return std::any_of(pass.stages.begin(), pass.stages.end() - 1, [&](Id id) {
    const ir::Stage& s = d.stage(id);
    double stored = 0;
    for (const Id b : s.buffers) stored += d.sizes().points(s) * d.program().buffer(b).type.bytes();
    return s.is_recurrence() && stored > cache / 2;
  });
}

// The steps that a ring holds: the current one, and as many as it or a reader reads back.
std::int64_t steps_kept(const Draft& d, const Pass& pass, const ir::Stage& s) {
  std::int64_t back = 1;
  for (const ir::SelfRead& r : ir::self_reads(d.program(), s)) back = std::max(back, r.back[pass.steps].value_or(1));
  for (const Id id : pass.stages)
    for (const Reading& r : readings_of(d.program(), d.stage(id)))
      if (r.producer == s.id && id != s.id) back = std::max(back, std::abs(r.at[pass.steps].constant));
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(back) + 1));
}

struct Loops {
  std::optional<Loop> pieces;
  Loop steps;
};

// The loops of the last reader: others, pieces of columns, steps, columns in lanes.
Loops loops_of(Draft& d, const Pass& pass, std::int64_t width) {
  const Id last = pass.stages.back();
  const ir::Stage s = d.stage(last);
  const Id columns = spatial_of(s).back().id;
  const bool split = d.sizes().constant_extent(s, columns).value_or(INT64_MAX) > width;
  Loops loops;
  if (!s.is_reduction()) {
    const Stage stage = d.handle(last);
    loops.steps = loop_over(d, stage, s.iters[pass.steps].id);
    Loop lanes = loop_over(d, stage, columns);
    std::vector<Loop> order;
    for (const ir::IterVar& v : spatial_of(s))
      if (v.id != columns && v.id != s.iters[pass.steps].id) order.push_back(loop_over(d, stage, v.id));
    if (split) {
      const Split parts = stage.split(lanes, width, Tail::guard, d.where);
      loops.pieces = parts.outer, lanes = parts.inner;
      order.push_back(parts.outer);
    }
    order.push_back(loops.steps), order.push_back(lanes);
    reorder(d, stage, order);
    stage.vectorize(lanes, lanes_of(d, s), d.where);
    return loops;
  }
  const Stage sums = d.s.cache_write(d.handle(last), Scope::stack, d.where), copy = d.handle(last);
  d.made(sums.id(), last);
  Loop columns_of_copy = loop_over(d, copy, spatial_of(d.stage(last)).back().id);
  if (split) {
    const Split parts = copy.split(columns_of_copy, width, Tail::guard, d.where);
    std::vector<Loop> order;
    for (const Loop& l : copy.nest(d.where))
      if (!(l == parts.outer) && !(l == parts.inner)) order.push_back(l);
    order.push_back(parts.outer), order.push_back(parts.inner);
    reorder(d, copy, order);
    loops.pieces = parts.outer, columns_of_copy = parts.inner;
    sums.compute_at(parts.outer, d.where);
  } else if (const auto nest = copy.nest(d.where); nest.size() > 1) {
    sums.compute_at(nest[nest.size() - 2], d.where);
  }
  copy.vectorize(columns_of_copy, lanes_of(d, s), d.where);
  loops.steps = loop_over(d, sums, reduce_of(d.stage(sums.id())).front().id);
  std::vector<Loop> order;
  const Loop lanes = loop_over(d, sums, spatial_of(d.stage(sums.id())).back().id);
  for (const Loop& l : sums.nest(d.where))
    if (!(l == loops.steps) && !(l == lanes)) order.push_back(l);
  order.push_back(loops.steps), order.push_back(lanes);
  reorder(d, sums, order);
  sums.vectorize(lanes, lanes_of(d, s), d.where);
  return loops;
}

void follow(Draft& d, const Pass& pass) {
  const ir::Stage last = d.stage(pass.stages.back());
  const int lanes = lanes_of(d, last);
  const std::int64_t all = d.sizes().constant_extent(last, spatial_of(last).back().id).value_or(INT64_MAX);
  const std::int64_t width = (all > 32 * lanes ? 32 : 16) * lanes;
  double work = 0;
  for (const Id id : pass.stages) work += d.most().points(d.stage(id)) * d.most().terms(d.stage(id)) * cost_of(d.stage(id));
  std::string first;
  for (const Id id : pass.stages)
    if (first.empty() && d.stage(id).is_recurrence()) first = d.stage(id).name;
  // Threads share rows or blocks of columns. If there are neither, a reader that costs enough is left to use them for its
  // points.
  const bool shares = all > width || spatial_of(last).size() > (last.is_reduction() ? 1U : 2U);
  const double own = last.is_recurrence() ? 0 : d.most().points(last) * d.most().terms(last) * cost_of(last);
  if (d.options.parallel && !shares && own >= worth_parallel)
    return d.why(last.id, "not one pass with " + first + ", which a thread would have for itself");
  std::vector<std::int64_t> kept;  // steps
  for (const Id id : pass.stages) kept.push_back(steps_kept(d, pass, d.stage(id)));
  Loops loops;
  if (!d.attempt(
          last.id, "one pass with " + first + (all > width ? ", pieces of " + count(static_cast<double>(width)) : ""),
          [&] {
            loops = loops_of(d, pass, width);
            for (std::size_t k = pass.stages.size() - 1; k-- > 0;) {
              const Id id = pass.stages[k];
              const Stage stage = d.handle(id);
              stage.compute_at(loops.steps, d.where);
              if (!d.stage(id).is_recurrence()) continue;
              if (loops.pieces && !is_output(d.program(), d.stage(id))) stage.store_at(*loops.pieces, d.where);
              stage.slide(loops.steps, d.where);
              if (!is_output(d.program(), d.stage(id))) stage.fold(static_cast<int>(pass.steps), kept[k], d.where);
            }
            for (std::size_t k = 0; k + 1 < pass.stages.size(); ++k) {
              const ir::Stage s = d.stage(pass.stages[k]);
              const Stage stage = d.handle(s.id);
              stage.vectorize(loop_over(d, stage, spatial_of(s).back().id), lanes_of(d, s), d.where);
            }
            schedule::finish(d.s.scheduled(), d.s.target());
          },
          "passes of their own"))
    return;
  for (std::size_t k = 0; k + 1 < pass.stages.size(); ++k) {
    const ir::Stage& s = d.stage(pass.stages[k]);
    d.done(s.id, "computed at a step of " + last.name +
                     (s.is_recurrence() && !is_output(d.program(), s)
                          ? ", a ring of " + count(static_cast<double>(kept[k])) + " steps"
                          : ""));
    if (s.is_recurrence()) on_stack(d, s.id);
  }
  const Stage leader = d.handle(last.id);
  const std::vector<Loop> nest = leader.nest(d.where);
  const Loop outer = nest.front();
  const bool free = loops.pieces || (spatial_of(last).size() > 2 && !(outer == loops.steps));
  if (d.options.parallel && free && work >= worth_parallel)
    d.attempt(
        last.id, std::string(outer.label(d.where)) + " in parallel", [&] { leader.parallel(outer, d.where); }, "one thread");
}

std::vector<Id> sorted(std::vector<Id> all) {
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

void follow_steps(Draft& d) {
  std::vector<Id> recurrences;
  for (const auto& [id, s] : d.program().stages)
    if (s.is_recurrence()) recurrences.push_back(id);
  std::set<std::vector<Id>> tried;
  for (const Id id : recurrences) {
    if (!is_fresh(d.program(), d.stage(id))) continue;
    const auto pass = pass_of(d, d.stage(id));
    if (pass && leaves_cache(d, *pass) && tried.insert(sorted(pass->stages)).second) follow(d, *pass);
  }
}

}  // namespace ashlar::schedules
