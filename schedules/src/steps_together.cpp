// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences over the same steps of one input, in one pass over it: a step of the first, then a step of the second. Each
// proceeds while the other waits, and common reads happen once.
//
//   for t                                    for t
//     fast[t] = f(x[t], fast[t - 1])           fast[t] = f(x[t], fast[t - 1])
//   for t                             ->       slow[t] = g(x[t], slow[t - 1])
//     slow[t] = g(x[t], slow[t - 1])
//
// This applies to loops over steps that are outermost and not vectorized, forwards or backwards (fuse_siblings).
#include <algorithm>
#include <set>

#include <ashlar/ir/recurrence.h>

#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

// A recurrence whose outermost loop goes over its steps.
struct Stepping {
  Id stage = 0, axis = 0;
  bool descending = false, regroups = false;  // scans that may be taken a vector of steps at a time
  std::uint64_t state = 0;                    // elements that a step keeps for later ones
  std::set<Id> reads;
};

std::optional<Stepping> stepping(Draft& d, const ir::Stmt& nest) {
  const ir::Program& p = d.program();
  const ir::Stage& s = p.stage(nest.get<ir::NestStmt>().stage);
  if (!s.is_recurrence() || s.along.size() != 1 || nest.body().size() != 1 || !ir::stages_inside(p, s).empty()) return {};
  const ir::Stmt& loop = nest.body().front();
  const ir::IterVar& v = s.iters[s.along.front()];
  const ir::LoopStmt* l = loop.as<ir::LoopStmt>();
  if (!l || l->kind != ir::LoopKind::serial || l->part != ir::Part::all) return {};
  const ir::Axis& axis = p.axis(l->axis);
  if (axis.origin != ir::Axis::Origin::root || axis.iter != v.id || !axis.became.empty()) return {};
  Stepping r;
  r.stage = s.id, r.axis = l->axis, r.descending = v.descending, r.regroups = s.scan.kind != ir::ReducerKind::none;
  for (const ir::SelfRead& read : ir::self_reads(p, s)) {
    const auto back = read.back[s.along.front()];
    if (!back || *back < 0) return {};
    r.state = std::max(r.state, static_cast<std::uint64_t>(*back) * s.buffers.size());
  }
  for (const Reading& read : readings_of(p, s))
    if (std::find(s.buffers.begin(), s.buffers.end(), read.buffer) == s.buffers.end()) r.reads.insert(read.buffer);
  return r;
}

}  // namespace

void share_steps(Draft& d) {
  std::vector<Stepping> all;  // in the order in which they are computed
  for (const ir::Stmt& s : d.program().body)
    if (s.is<ir::NestStmt>())
      if (const auto r = stepping(d, s)) all.push_back(*r);
  std::set<Id> taken;
  for (std::size_t a = 0; a < all.size(); ++a) {
    if (taken.count(all[a].stage)) continue;
    Stepping& first = all[a];
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      const Stepping& next = all[b];
      const bool shares = std::any_of(next.reads.begin(), next.reads.end(), [&](Id r) { return first.reads.count(r) > 0; });
      if (!shares || taken.count(next.stage) || first.descending != next.descending || first.regroups != next.regroups ||
          first.state + next.state > static_cast<std::uint64_t>(d.s.target().vector_registers() / 2) ||
          !ir::same(d.program().axis(first.axis).extent, d.program().axis(next.axis).extent))
        continue;
      const ir::Stage& host = d.stage(first.stage);
      const Id steps = spatial_of(host)[host.along.front()].id;
      if (d.attempt(next.stage, "step by step with " + host.name,
                    [&] { d.handle(next.stage).fuse_siblings(loop_over(d, d.handle(first.stage), steps), d.where); })) {
        taken.insert(next.stage);
        first.state += next.state;
        first.reads.insert(next.reads.begin(), next.reads.end());
      }
    }
  }
}

}  // namespace ashlar::schedules
