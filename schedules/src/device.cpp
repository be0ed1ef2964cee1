// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs on devices: cheap stages are inlined, and every other stage is a launch. In most of them a thread computes one
// point. Recurrences and scatters are parallelized as far as their order allows.
#include <algorithm>

#include <ashlar/analysis/recurrence.h>
#include <ashlar/ir/print.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/gpu_elementwise.h>
#include <ashlar/schedules/gpu_scan.h>
#include <ashlar/schedules/gpu_scatter.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {

namespace {

using namespace costs::device;

// The number of threads of a block.
int usual_threads(const Draft& d) { return std::min(threads, d.s.target().device().max_threads); }

// for bo in (E + by - 1) / by     block_x
//   for bi in by                  thread_x           E points of all `loops`, which stand around each other
void over_grid(Draft& d, const Stage& stage, const std::vector<Loop>& loops, int by) {
  const Split split = stage.split(detail::fused(stage, loops, d.where), by, Tail::guard, d.where);
  stage.bind(split.outer, gpu::block_x, d.where).bind(split.inner, gpu::thread_x, d.where);
}

// A single result: each thread of a block has a partial sum.
bool one_result(Draft& d, Id id) {
  if (!spatial_of(d.stage(id)).empty() || !d.stage(id).is_reduction() || !d.options.regroup) return false;
  return d.attempt(id, "sums of 64 threads", [&] {
    const Stage stage = d.handle(id);
    const Split split = stage.split(whole_loops(d, stage, true).back(), 64, Tail::guard, d.where);
    stage.cross_thread_reduce(split.inner, d.where).bind(split.inner, gpu::thread_x, d.where);
  });
}

// Independent points, bound by memory.
bool vectors(Draft& d, Id id) {
  if (d.s.target().device().kind != Device::Kind::cuda || d.family(id).family != Family::elementwise ||
      d.stage(id).is_reduction() || spatial_of(d.stage(id)).empty())
    return false;
  return d.attempt(
      id, "accesses of 16 bytes where a call's rows are aligned (schedules::gpu_elementwise)",
      [&] { gpu_elementwise(d.s, d.handle(id), {.threads = usual_threads(d)}, d.where); }, "a point a thread");
}

bool points(Draft& d, Id id, bool registers) {
  if (spatial_of(d.stage(id)).empty()) return false;
  return d.attempt(id, "a point a thread, blocks of " + std::to_string(usual_threads(d)) + " (schedules::gpu_points)",
                   [&] { gpu_points(d.s, d.handle(id), {.threads = usual_threads(d), .registers = registers}, d.where); });
}

// The dimensions of a stage that it does not run along.
std::vector<std::size_t> free_of_order(const ir::Stage& s) {
  std::vector<std::size_t> dims;
  for (std::size_t k = 0; k < spatial_of(s).size(); ++k)
    if (std::find(s.along.begin(), s.along.end(), k) == s.along.end()) dims.push_back(k);
  return dims;
}

// Stages inside a recurrence are computed by its thread.
void keep_in_thread(Draft& d, Id id) {
  std::vector<Id> inside;
  ir::walk(ir::nests_of(d.program(), id).front()->body(), [&](const ir::Stmt& s) {
    if (const ir::NestStmt* nest = s.as<ir::NestStmt>()) inside.push_back(nest->stage);
  });
  for (const Id stage : inside) d.handle(stage).store_in(Scope::stack, d.where);
}

// Steps that read other points of earlier steps: the threads of a block compute the points of a step, with a barrier between
// steps. Dimensions along which points are independent become blocks.
//
//   for ro in rows              block_x
//     for t in steps
//       for po in points by threads
//         for pi in threads     thread_x
bool steps_in_block(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  const auto dims = spatial_of(s);
  const ir::Stmt* nest = ir::nests_of(d.program(), id).front();
  bool inside = false;
  ir::walk(nest->body(), [&](const ir::Stmt& below) { inside = inside || below.is<ir::NestStmt>(); });
  if (inside) return false;
  std::vector<std::size_t> apart, together;
  for (const std::size_t k : free_of_order(s)) {
    const bool alone = analysis::iterations_apart(d.program(), s, nest->get<ir::NestStmt>().roots[k].axis);
    (alone ? apart : together).push_back(k);
  }
  if (together.empty()) return false;
  double most = 1;
  for (const std::size_t k : together) most *= d.most().extent(s, dims[k].id);
  if (!apart.empty() && most < few_a_step) return false;
  std::string names;
  for (const std::size_t k : together) names += (names.empty() ? "" : ", ") + dims[k].name;
  const bool done =
      d.attempt(id, "each step by the threads of a block along " + names + ", which wait for one another before the next", [&] {
        const Stage stage = d.handle(id);
        const auto loops = [&](const std::vector<std::size_t>& some) {
          std::vector<Loop> result;
          for (const std::size_t k : some) result.push_back(loop_over(d, stage, dims[k].id));
          return result;
        };
        const std::vector<Loop> blocks = loops(apart), points = loops(together);
        std::vector<Loop> order = blocks;
        for (const std::vector<Loop>& more : {loops(s.along), points}) order.insert(order.end(), more.begin(), more.end());
        reorder(d, stage, order);
        if (!blocks.empty()) stage.bind(detail::fused(stage, blocks, d.where), gpu::block_x, d.where);
        const Loop all = detail::fused(stage, points, d.where);
        stage.bind(stage.split(all, usual_threads(d), Tail::guard, d.where).inner, gpu::thread_x, d.where);
      });
  if (done) keep_steps(d, id);
  return done;
}

// Steps in their order. Each thread runs them for its own points, along all dimensions that the recurrence does not run along.
// If steps read other points of earlier steps, the threads of a block share the points of a step, or threads run along one
// dimension.
bool rows(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  const auto dims = spatial_of(s);
  std::vector<std::vector<std::size_t>> choices{free_of_order(s)};
  if (choices[0].size() > 1)
    for (const std::size_t k : free_of_order(s)) choices.push_back({k});
  for (const std::vector<std::size_t>& free : choices) {
    if (free.empty()) return false;
    std::string names;
    for (const std::size_t k : free) names += (names.empty() ? "" : ", ") + dims[k].name;
    const bool done =
        d.attempt(id, "its steps in each thread, threads along " + names + ", blocks of " + std::to_string(rows_a_block), [&] {
          const Stage stage = d.handle(id);
          keep_in_thread(d, id);
          std::vector<Loop> loops, order;
          for (const std::size_t k : free) loops.push_back(loop_over(d, stage, dims[k].id));
          order = loops;
          for (const Loop& l : stage.nest(d.where))
            if (std::find(loops.begin(), loops.end(), l) == loops.end()) order.push_back(l);
          reorder(d, stage, order);
          over_grid(d, stage, loops, rows_a_block);
        });
    if (done || (&free == &choices.front() && steps_in_block(d, id))) return true;
  }
  return false;
}

// Steps that are neighbors in memory: threads scan parts together.
bool scanned(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  const auto dims = spatial_of(s);
  const bool exact =
      std::none_of(s.buffers.begin(), s.buffers.end(), [&](Id b) { return d.program().buffer(b).type.is_float(); });
  if (s.scan.kind == ir::ReducerKind::none || s.along != std::vector<std::size_t>{dims.size() - 1} ||
      !(exact || d.options.regroup) || d.most().extent(s, dims.back().id) < few_steps)
    return false;
  return d.attempt(
      id, "parts of the steps, scanned by the threads of a block each (schedules::gpu_scan)",
      [&] { gpu_scan(d.s, d.handle(id), {}, d.where); }, "each row in one thread");
}

void slow_in_order(Draft& d, Id id) {
  const ir::Stage& s = d.stage(id);
  if (d.most().terms(s) * d.most().points(s) >= few_steps)
    d.why(id, "slow: one thread of the device takes all steps in their order");
}

// Scatters. Integers are combined in memory, by all threads. Otherwise the threads of one block store the init, and the first
// of them goes over the points in order.
bool scattered(Draft& d, Id id, bool families) {
  const ir::Stage s = d.stage(id);
  const auto init = [&](const Stage& stage) {
    const Loop all = detail::fused(stage, stage.spatial_loops(d.where), d.where);
    stage.bind(stage.split(all, usual_threads(d), Tail::guard, d.where).inner, gpu::thread_x, d.where);
  };
  if (families && d.most().terms(s) >= steps_an_element * d.most().points(s) &&
      d.attempt(
          id, "parts of the steps, each with a result in shared memory, then the parts (schedules::gpu_scatter)",
          [&] { gpu_scatter(d.s, d.handle(id), {.threads = usual_threads(d)}, d.where); }, "in one launch"))
    return true;
  const bool whole =
      std::none_of(s.buffers.begin(), s.buffers.end(), [&](Id b) { return d.program().buffer(b).type.is_float(); });
  if (whole && d.attempt(id, "combined in memory, a point a thread, blocks of " + std::to_string(usual_threads(d)), [&] {
        const Stage stage = d.handle(id);
        stage.atomic(d.where);
        over_grid(d, stage, stage.spatial_loops(d.where), usual_threads(d));
        over_grid(d, stage, stage.reduction_loops(d.where), usual_threads(d));
      }))
    return true;
  slow_in_order(d, id);
  return d.attempt(id, "the init by the threads of one block, points in their order by its first", [&] { init(d.handle(id)); });
}

// A launch of one thread. A stage without dimensions already is one; others get a loop over threads with one iteration. For a
// scatter that is a loop of its init.
void one_thread(Draft& d, Id id) {
  const auto dims = free_of_order(d.stage(id));
  slow_in_order(d, id);
  if (dims.empty()) return d.done(id, "one thread");
  d.attempt(id, "one thread", [&] {
    const Stage stage = d.handle(id);
    keep_in_thread(d, id);
    const Loop loop = d.stage(id).scatters() ? stage.spatial_loops(d.where).back()
                                             : loop_over(d, stage, spatial_of(d.stage(id))[dims.back()].id);
    stage.bind(stage.split(loop, 1, Tail::guard, d.where).inner, gpu::thread_x, d.where);
  });
}

// Every stage at the root is a launch, never a loop of the host. If the device refuses the complete schedule, it is tried again
// without families.
void launches(Draft& d, const std::vector<Id>& all) {
  const Draft::Told before = d.told();
  std::string why;
  for (const bool families : {true, false}) {
    const auto refused = d.s.attempt([&] {
      std::set<Id> taken;
      for (const Id id : all) {
        if (taken.count(id) || (families && schedule_on_device_by_family(d, id, taken))) continue;
        const ir::Stage& s = d.stage(id);
        const bool done = s.scatters()        ? scattered(d, id, families)
                          : s.is_recurrence() ? (families && scanned(d, id)) || rows(d, id)
                                              : one_result(d, id) || (families && vectors(d, id)) || points(d, id, families);
        if (!done) one_thread(d, id);
      }
      schedule::finish(d.s.scheduled(), d.s.target());
    });
    if (!refused) {
      if (!why.empty())
        for (const Id id : all) d.why(id, "no families for devices (" + why + ")");
      return;
    }
    why = refused->primitive + " expects " + refused->expected + ", found " + refused->found;
    d.take_back(before);
  }
  for (const Id id : all) d.why(id, "no launches (" + why + ")");
}

}  // namespace

void schedule_on_device(Draft& d) {
  inline_stages(d);
  std::vector<Id> all;
  for (const Id id : analysis::consumers_first(d.program()))
    if (is_fresh(d.program(), d.stage(id))) all.push_back(id);
  if (d.s.target().device().kind == Device::Kind::cuda && !all.empty()) {
    const auto of_rows = rows_that_fit(d, all);
    const auto few = of_rows ? std::nullopt : few_results_at_calls(d, all);
    const std::string what = of_rows ? ", whose rows are read once, into shared memory" : ", whose terms are added in parts";
    Schedule* variant = nullptr;
    if (const auto fit = of_rows ? of_rows : few;
        fit && d.attempt(
                   all.front(), "a variant for " + ir::text(*fit) + what, [&] { variant = &d.s.specialize(*fit, d.where); },
                   of_rows ? "rows that are read more than once" : "all terms by one block")) {
      Draft of_variant(*variant, d.options, d.where);
      if (few) of_variant.part_k = costs::device::terms_of_part;
      launches(of_variant, all);
    }
  }
  launches(d, all);
}

}  // namespace ashlar::schedules
