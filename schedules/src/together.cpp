// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two results of different shapes from the same rows, in one pass over them: a value of a row that is itself a result is
// computed just before the row of the other result that reads it.
//
//   scale[t] = max |x[t, :]| / 127                     for t                          in parallel
//   q[t, d] = round(x[t, d] / scale[t])         ->       scale[t], with the maximum inside
//                                                        for d: q[t, d]
//
// The two share the loop over the first dimension (fuse_siblings). This pays off if both read the same tensor, and the part
// that an iteration reads stays in the second-level cache until the second stage needs it.
#include <algorithm>
#include <set>

#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

std::set<Id> inputs_of(const Draft& d, const Group& g) {
  std::set<Id> all;
  const auto add = [&](Id stage) {
    for (const Reading& r : readings_of(d.program(), d.stage(stage)))
      if (!r.producer && !r.at.empty()) all.insert(r.buffer);
  };
  add(g.leader);
  for (const Id id : g.members) add(id);
  return all;
}

// The elements of the input that one value of the group's first dimension reads, if they depend on it; otherwise 0.
double slice_of(const Draft& d, const Group& g, Id input) {
  const ir::Buffer& b = d.program().buffer(input);
  const Sizes sizes = d.sizes();
  double elements = b.type.bytes();
  for (std::size_t k = 1; k < b.extents.size(); ++k) elements *= std::max(1.0, sizes.of(b.extents[k]));
  const auto moves = [&](Id stage) {
    const auto dims = spatial_of(d.stage(stage));
    const auto all = readings_of(d.program(), d.stage(stage));
    return std::any_of(all.begin(), all.end(), [&](const Reading& r) {
      return r.buffer == input &&
             std::any_of(dims.begin(), dims.end(), [&](const auto& v) { return r.at.front().plain(v.id); });
    });
  };
  return moves(g.leader) || std::any_of(g.members.begin(), g.members.end(), moves) ? elements : 0;
}

// Whether there is no loop over the first dimension around all others, or one of the others runs on the thread pool.
bool splits_rows(Draft& d, const Group& g, const Plan& p) {
  const Family f = d.family(g.leader).family;
  return p.taken != Taken::no || p.product || p.levels.empty() || p.levels.front().dim != 0 ||
         p.levels.front().part != Level::Part::whole || p.parallel > 0 || f == Family::recurrence || f == Family::scatter ||
         f == Family::external;
}

// Makes the leader compute one row at a time, so that each can be followed by its readers.
void by_rows(Draft& d, const Group& g, Plan& plan) {
  const ir::Stage& s = d.stage(g.leader);
  if (spatial_of(s).size() != 1 || s.is_reduction() || plan.taken != Taken::no || plan.product) return;
  plan = Plan{};
  plan.levels.push_back({0, Level::Part::whole, {}});
  for (const Id id : g.members) {
    const auto& follows = g.follows.at(id);
    const bool apart = std::any_of(follows.begin(), follows.end(), [](const Follow& f) { return f.dim == 0 && f.apart(); });
    if (apart)
      plan.place[id] = 0, plan.slides[id] = false;
    else
      plan.outside.push_back(id);
  }
}

// The outermost loop over the first dimension: over all of it, or over blocks of rows.
Loop row_loop(Draft& d, const Stage& stage) {
  const ir::Program& p = d.program();
  const Id row = spatial_of(d.stage(stage.id())).front().id;
  for (const Loop& l : stage.nest(d.where))
    for (const Id root : ir::roots_of(p, ir::find(p, l.id())->get<ir::LoopStmt>().axis))
      if (p.axis(root).iter == row) return l;
  throw InternalError("a stage without a loop over its first dimension");
}

bool is_whole(const Draft& d, const Loop& loop) {
  const ir::Program& p = d.program();
  return p.axis(ir::find(p, loop.id())->get<ir::LoopStmt>().axis).origin == ir::Axis::Origin::root;
}

}  // namespace

std::optional<Group> rows_before(Draft& d, const Group& reader, const Plan& plan, const std::vector<Group>& others) {
  if (d.s.target().is_gpu() || splits_rows(d, reader, plan)) return std::nullopt;
  const ir::Stage& s = d.stage(reader.leader);
  const Id row = spatial_of(s).front().id;
  const auto readings = readings_of(d.program(), s);
  const auto limit = static_cast<double>(d.s.target().cache_bytes(2)) / 2;
  for (const Group& g : others) {
    const auto at = d.program().stages.find(g.leader);
    if (at == d.program().stages.end() || !is_output(d.program(), at->second) || !is_untouched(d.program(), at->second))
      continue;
    std::size_t reads = 0;
    const bool own_row = std::all_of(readings.begin(), readings.end(), [&](const Reading& r) {
      if (r.producer != g.leader) return true;
      ++reads;
      return !r.of_init && !r.at.empty() && r.at.front().plain(row);
    });
    if (!own_row || reads == 0) continue;
    const std::set<Id> mine = inputs_of(d, reader), theirs = inputs_of(d, g);
    const bool shared = std::any_of(mine.begin(), mine.end(), [&](Id b) {
      const double slice = theirs.count(b) ? std::min(slice_of(d, g, b), slice_of(d, reader, b)) : 0;
      return slice > 0 && (limit == 0 || slice <= limit);
    });
    if (!shared) continue;
    Plan rows = plan_of(d, g);
    by_rows(d, g, rows);
    if (!splits_rows(d, g, rows)) return g;
  }
  return std::nullopt;
}

void schedule_together(Draft& d, const Group& reader, Plan plan, const Group& first) {
  Plan rows = plan_of(d, first);
  by_rows(d, first, rows);
  const bool parallel = plan.parallel >= 0 || rows.parallel >= 0;
  const bool own_loop = plan.parallel >= 0;
  plan.parallel = rows.parallel = -1;
  schedule_group(d, reader, plan);
  schedule_group(d, first, rows);
  const Stage before = d.handle(first.leader), after = d.handle(reader.leader);
  const Loop rows_before = row_loop(d, before), rows_after = row_loop(d, after);
  const std::string of = d.stage(first.leader).name;
  bool one = false;
  if (is_whole(d, rows_before) && is_whole(d, rows_after)) {
    one = d.attempt(
        reader.leader, "computed beside " + of + ", a " + std::string(rows_before.label(d.where)) + " after the other",
        [&] { after.fuse_siblings(rows_before, d.where); }, "each by itself");
  } else {  // the reduction of a row is costly: a vector has several rows
    d.why(reader.leader, "not computed beside " + of + ": several rows are computed at once");
  }
  if (!parallel) return;
  const auto on_pool = [&](const Stage& s) {
    const Loop loop = row_loop(d, s);
    d.attempt(s.id(), std::string(loop.label(d.where)) + " in parallel", [&] { s.parallel(loop, d.where); }, "one thread");
  };
  on_pool(before);
  if (!one && own_loop) on_pool(after);
}

}  // namespace ashlar::schedules
