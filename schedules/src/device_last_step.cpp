// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stage for a device whose rows read the last step of a recurrence alone, as a sorting network is read: a block has a row,
// and keeps two steps of it in shared memory.
//
//   for rows                              block_x
//     for t in steps
//       for po, for pi in threads         thread_x     the points of a step of the row; steps t and t - 1: shared memory
//     for jo, for ji in threads           thread_x     the row of the stage
#include <algorithm>
#include <set>

#include <ashlar/analysis/recurrence.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {

namespace {

using namespace costs::device;

struct LastStep {
  Id recurrence = 0;
  std::vector<std::size_t> points;      // its dimensions that a step reads at other places
  std::vector<std::size_t> rows, rest;  // dimensions of the reader: those that follow a row of the recurrence, and the others
};

// The recurrence that the stage reads at one step, which nothing else reads, if neither is scheduled.
Id read_at_one_step(const Draft& d, const ir::Stage& reader, Reading& at) {
  const ir::Program& p = d.program();
  const auto reads = readings_of(p, reader);
  Id found = 0;
  for (const Reading& r : reads) {
    if (!r.producer || !d.stage(r.producer).is_recurrence()) continue;
    const ir::Stage& s = d.stage(r.producer);
    const auto one_step = [&](std::size_t k) { return r.at[k].uses.empty() && !r.at[k].from_data; };
    if (found || s.along.size() != 1 || !one_step(s.along[0]) || is_output(p, s) || !is_untouched(p, s) ||
        readers_of(p, s) != std::vector<Id>{reader.id})
      return 0;
    found = r.producer, at = r;
  }
  return found;
}

std::optional<LastStep> last_step_of(const Draft& d, Id id) {
  const ir::Program& p = d.program();
  const ir::Stage& reader = d.stage(id);
  if (reader.is_reduction() || spatial_of(reader).empty() || !is_untouched(p, reader)) return std::nullopt;
  Reading at;
  LastStep found;
  found.recurrence = read_at_one_step(d, reader, at);
  if (!found.recurrence) return std::nullopt;
  const ir::Stage& s = d.stage(found.recurrence);
  const ir::Stmt* nest = ir::nests_of(p, found.recurrence).front();
  bool inside = false;
  ir::walk(nest->body(), [&](const ir::Stmt& below) { inside = inside || below.is<ir::NestStmt>(); });
  if (inside || s.values.size() != 1) return std::nullopt;
  const auto own = spatial_of(s), dims = spatial_of(reader);
  double elements = 2;  // of two steps of a row
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (k == s.along[0]) continue;
    if (!analysis::iterations_apart(p, s, nest->get<ir::NestStmt>().roots[k].axis)) {
      const auto extent = d.sizes().constant_extent(s, own[k].id);
      if (!extent) return std::nullopt;
      elements *= static_cast<double>(*extent);
      found.points.push_back(k);
      continue;
    }
    const auto follows = std::find_if(dims.begin(), dims.end(), [&](const auto& dim) { return at.at[k].plain(dim.id); });
    if (follows == dims.end()) return std::nullopt;
    found.rows.push_back(static_cast<std::size_t>(follows - dims.begin()));
  }
  for (std::size_t k = 0; k < dims.size(); ++k)
    if (std::find(found.rows.begin(), found.rows.end(), k) == found.rows.end()) found.rest.push_back(k);
  const double bytes = elements * p.buffer(s.buffers.front()).type.bytes();
  if (found.points.empty() || found.rows.empty() || found.rest.empty() || elements < 2 * few_a_step ||
      bytes > static_cast<double>(d.s.target().device().shared_bytes))
    return std::nullopt;
  return found;
}

}  // namespace

bool by_last_step(Draft& d, Id id, std::set<Id>& taken) {
  const auto found = last_step_of(d, id);
  if (!found || taken.count(found->recurrence)) return false;
  const std::string of = d.stage(id).name;
  const int threads_of_block = std::min(threads, d.s.target().device().max_threads);
  const auto loops = [&](const Stage& stage, Id of_stage, const std::vector<std::size_t>& some) {
    std::vector<Loop> all;
    for (const std::size_t k : some) all.push_back(loop_over(d, stage, spatial_of(d.stage(of_stage))[k].id));
    return all;
  };
  d.choice(found->recurrence);
  const bool done = d.attempt(
      id, "a block for each row, with the steps of " + d.stage(found->recurrence).name + " that it reads",
      [&] {
        const Stage reader = d.handle(id), steps = d.handle(found->recurrence);
        const std::vector<Loop> rows = loops(reader, id, found->rows), rest = loops(reader, id, found->rest);
        std::vector<Loop> order = rows;
        order.insert(order.end(), rest.begin(), rest.end());
        reorder(d, reader, order);
        const Loop row = detail::fused(reader, rows, d.where), own = detail::fused(reader, rest, d.where);
        reader.bind(row, gpu::block_x, d.where);
        reader.bind(reader.split(own, threads_of_block, Tail::guard, d.where).inner, gpu::thread_x, d.where);
        steps.compute_at(row, d.where);
        const std::size_t along = d.stage(found->recurrence).along[0];
        steps.fold(static_cast<int>(along), 2, d.where).store_in(Scope::shared, d.where);
        order = loops(steps, found->recurrence, {along});
        const std::vector<Loop> points = loops(steps, found->recurrence, found->points);
        order.insert(order.end(), points.begin(), points.end());
        reorder(d, steps, order);
        const Loop all = detail::fused(steps, points, d.where);
        steps.bind(steps.split(all, threads_of_block, Tail::guard, d.where).inner, gpu::thread_x, d.where);
      },
      "in launches of their own");
  if (!done) return false;
  d.done(found->recurrence, "in the launch of " + of + ", two steps of a row in shared memory, by the threads of its block");
  taken.insert({id, found->recurrence});
  return true;
}

}  // namespace ashlar::schedules
