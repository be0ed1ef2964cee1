// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where stages inside of a recurrence may be computed.
//
// Between its steps: inside all loops along which it runs. Or ahead of a block of steps, where all that is read of the
// recurrence, for every point that is computed there, is of earlier iterations of the loops around.
//
//   for i, jo, ji: x[i, 16 jo + ji] reads s[i, 16 jo + ji], which reads x[i, k]
//     s at ji                                          wherever k lies, as long as it lies before the point
//     s at jo, for its 16 points                       of k in [0, 16 jo), which earlier iterations of jo computed
#include <ashlar/analysis/recurrence.h>

#include <algorithm>
#include <set>

#include <ashlar/analysis/regions.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/thread_axis.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {
namespace {

bool on_threads(const LoopStmt& loop) { return loop.kind == ir::LoopKind::bound || loop.kind == ir::LoopKind::vthread; }
bool runs_in_order(const LoopStmt& loop) { return loop.kind == ir::LoopKind::serial || loop.kind == ir::LoopKind::unrolled; }

// The iterations of a root axis that an iteration of a loop holds, those of the loops around it given: `size` from `first` on.
//
//   j split by 16 into jo, ji; ji split by 4 into jp, ji      jo: 16 from 16 jo      jp: 4 from 16 jo + 4 jp
struct Held {
  Expr first, size;
};

// ... where the parent of the axis begins; empty where that depends on a loop which is not around.
Expr begin_of(const Program& p, Id axis, const std::vector<Id>& around) {
  const ir::Axis& a = p.axis(axis);
  if (a.origin == ir::Axis::Origin::root) return ir::index(0);
  if (a.origin != ir::Axis::Origin::split_inner) return {};
  const ir::Axis& outer = p.axis(p.axis(a.parent).became.front());
  const Expr begin = begin_of(p, a.parent, around);
  if (begin.empty() || outer.tail == ir::Tail::shift || std::find(around.begin(), around.end(), outer.id) == around.end())
    return {};
  return ir::add(begin, ir::mul(ir::var(outer.id, outer.name), a.factor));
}
std::optional<Held> held_by(const Program& p, Id axis, const std::vector<Id>& around) {
  const ir::Axis& a = p.axis(axis);
  const bool outer = a.origin == ir::Axis::Origin::split_outer;
  const Expr begin = begin_of(p, outer ? a.parent : axis, around), size = outer ? a.factor : ir::index(1);
  if (begin.empty() || size.empty() || a.parts != 0 || a.tail == ir::Tail::shift) return {};
  return Held{ir::add(begin, ir::mul(ir::var(axis, a.name), size)), size};
}

// Where a read is done: its iteration variables, innermost first, and what is known of them.
struct Points {
  std::vector<VarRange> ranges;
  Facts facts, of_loops;  // with the variables, and of the loops around alone
};

// Drops the constant operand of a maximum, which leaves a weaker bound: max(N - 8 to - 8, 0) becomes N - 8 to - 8. The prover
// does not see through a maximum inside a quotient.
Expr over_loops(const Expr& lo) {
  if (!ir::is(lo, ir::Op::max)) return lo;
  const auto args = ir::args_of(lo);
  return ir::is_int(args[1]) ? args[0] : ir::is_int(args[0]) ? args[1] : lo;
}

// Is e below `limit` wherever the points are?
bool below(const Expr& e, const Expr& limit, const Points& points) {
  if (can_prove(ir::lt(e, limit), points.facts)) return true;
  const Expr most = bounds_over(e, points.ranges, points.of_loops).hi;
  return !most.empty() && can_prove(ir::lt(most, limit), points.of_loops);
}

// Is the read of an earlier iteration of these loops, of the nest of a recurrence, wherever it is done below them?
bool computed_before(const Program& p, const NestStmt& around, const std::vector<const LoopStmt*>& loops, const Expr& load,
                     const Points& points) {
  std::vector<Id> outside;
  for (const LoopStmt* loop : loops) {
    const auto roots = ir::roots_of(p, loop->axis);
    if (roots.size() != 1) return false;
    const auto root =
        std::find_if(around.roots.begin(), around.roots.end(), [&](const ir::Root& r) { return r.axis == roots.front(); });
    if (root == around.roots.end()) return false;
    const auto d = static_cast<std::size_t>(root - around.roots.begin());
    const ir::IterVar& v = p.stage(around.stage).iters.at(d);
    const Expr& index = ir::args_of(load)[d];
    if (depends_on_data(index)) return false;
    const Expr at_root =
        v.descending ? ir::sub(ir::sub(ir::add(root->begin, root->extent), ir::index(1)), index) : ir::sub(index, root->begin);
    const auto held = held_by(p, loop->axis, outside);
    if (!held) return false;
    if (runs_in_order(*loop) && below(at_root, held->first, points)) return true;
    if (!below(at_root, ir::add(held->first, held->size), points)) return false;
    if (!runs_in_order(*loop) && !can_prove(ir::ge(at_root, held->first), points.facts)) return false;
    outside.push_back(loop->axis);
  }
  return false;
}

// Why the nest may not stand ahead of the steps inside the loops around it, to follow the place in a message; nothing if it
// may.
std::optional<std::string> ahead_of(const Program& p, const Stmt& nest, const Stmt& around,
                                    const std::vector<const Stmt*>& path) {
  const NestStmt& n = nest.get<NestStmt>();
  std::vector<const LoopStmt*> loops;
  bool own = true;  // not in the nest of another stage inside
  for (auto s = std::find(path.begin(), path.end(), &around) + 1; s != path.end(); ++s) {
    own = own && !(*s)->is<NestStmt>();
    if (const LoopStmt* loop = (*s)->as<LoopStmt>(); own && loop) loops.push_back(loop);
  }
  if (std::any_of(loops.begin(), loops.end(), [](const LoopStmt* l) { return on_threads(*l) || l->part != ir::Part::all; }))
    return ", in loops of threads or parts of loops";
  const ir::Stage& stage = p.stage(n.stage);
  Points start;
  start.of_loops = start.facts = facts_at(p, path);
  const auto add = [](Points& points, Id variable, const Expr& lo, const Expr& hi) {
    points.facts.range(variable, lo, hi);
    points.ranges.insert(points.ranges.begin(), VarRange{variable, {over_loops(lo), hi}});
  };
  for (const ir::Root& r : n.roots)
    if (!p.axis(r.axis).reduce) add(start, r.iter, r.begin, ir::sub(ir::add(r.begin, r.extent), ir::index(1)));
  Points terms = start;
  for (const ir::IterVar& v : stage.iters)
    if (v.kind == ir::IterKind::reduce) add(terms, v.id, v.begin, ir::sub(v.end, ir::index(1)));
  for (const Expr& atom : stage.domain) terms.facts.assume(atom);
  const auto& buffers = p.stage(around.get<NestStmt>().stage).buffers;
  for (const Read& r : reads_of(stage)) {
    if (std::find(buffers.begin(), buffers.end(), r.load.node()->id) == buffers.end()) continue;
    Points points = r.of_start || r.bounds ? start : terms;
    for (const Expr& c : r.conditions) points.facts.assume(c);
    if (!computed_before(p, around.get<NestStmt>(), loops, r.load, points)) return ", where it reads " + ir::text(r.load);
  }
  return {};
}

// A skewed loop around a stage that is computed for points of other iterations of it, which may not have come as far.
const Stmt* skewed_around(const Program& p, const Stmt& nest, const Stmt& around, const std::vector<const Stmt*>& path) {
  const auto skewed = [&](Id axis) {
    while (p.axis(axis).origin == ir::Axis::Origin::split_outer || p.axis(axis).origin == ir::Axis::Origin::split_inner)
      axis = p.axis(axis).parent;
    return p.axis(axis).origin == ir::Axis::Origin::skewed;
  };
  for (auto s = std::find(path.begin(), path.end(), &around) + 1; s != path.end(); ++s) {
    if ((*s)->is<NestStmt>()) break;
    const LoopStmt* loop = (*s)->as<LoopStmt>();
    if (!loop || !skewed(loop->axis)) continue;
    for (const ir::Root& r : nest.get<NestStmt>().roots)
      if (!p.axis(r.axis).reduce && !ir::is_int(r.extent, 1) &&
          (ir::uses_var(r.begin, loop->axis) || ir::uses_var(r.extent, loop->axis)) &&
          !can_prove(ir::le(r.extent, ir::index(1)), facts_at(p, path)))
        return *s;
  }
  return nullptr;
}

// A dimension that says which steps are read and is computed past its end (Tail::pad): these steps are not there yet.
const ir::Root* past_its_steps(const Program& p, const Stmt& nest, const ir::Stage& recurrence) {
  const ir::Stage& stage = p.stage(nest.get<NestStmt>().stage);
  std::set<Id> chooses;
  for (const Expr& value : stage.values)
    ir::walk(value, [&](const Expr& e) {
      if (!ir::is(e, ir::Op::load) || p.buffer(e.node()->id).stage != recurrence.id) return true;
      for (const std::size_t d : recurrence.along)
        for (const Id v : ir::free_vars(ir::args_of(e)[d])) chooses.insert(v);
      return true;
    });
  for (const ir::IterVar& v : stage.iters)  // a term's bounds choose too
    if (v.kind == ir::IterKind::reduce && chooses.count(v.id) > 0)
      for (const Expr& end : {v.begin, v.end})
        for (const Id of : ir::free_vars(end)) chooses.insert(of);
  for (const ir::Root& r : nest.get<NestStmt>().roots)
    if (!p.axis(r.axis).reduce && chooses.count(r.iter) > 0 && !ir::same(covered_extent(p, r.axis), r.extent)) return &r;
  return nullptr;
}

}  // namespace

std::optional<std::string> misplaced(const Program& p, const Stmt& nest, Id recurrence) {
  const ir::Stage& stage = p.stage(nest.get<NestStmt>().stage);
  const auto path = ir::path_to(p, nest.id);
  const Stmt* around = nullptr;
  for (const Stmt* s : path)
    if (ir::is_nest_of(*s, recurrence)) around = s;
  const std::string name = p.stage(recurrence).name;
  if (!around) return stage.name + ", computed outside of " + name;
  for (std::size_t d : p.stage(recurrence).along)
    for (Id leaf : ir::leaves_of(p, around->get<NestStmt>().roots.at(d).axis)) {
      const bool inside = std::any_of(path.begin(), path.end(), [&](const Stmt* s) { return ir::runs_over(*s, leaf); });
      if (inside) continue;
      const auto later = ahead_of(p, nest, *around, path);
      if (!later) return {};
      return stage.name + ", computed outside of " + p.axis(leaf).name + " of " + name + *later;
    }
  if (const Stmt* loop = skewed_around(p, nest, *around, path))
    return stage.name + ", computed at once for points of several iterations of " + p.axis(loop->get<LoopStmt>().axis).name;
  if (const ir::Root* r = past_its_steps(p, nest, p.stage(recurrence)))
    return stage.name + ", computed past the end of " + p.axis(r->axis).name + ", which is split with Tail::pad";
  // What threads share is computed for all of them at once, where others have not come as far (analysis/regions/relax.h).
  const auto& buffers = stage.buffers;
  if (std::any_of(buffers.begin(), buffers.end(), [&](Id b) { return p.buffer(b).scope == Scope::shared; })) {
    const auto from = std::find(path.begin(), path.end(), around);
    for (auto s = from; s != path.end(); ++s)
      if (const LoopStmt* l = (*s)->as<LoopStmt>();
          l && on_threads(*l) && !(l->kind == ir::LoopKind::bound && ir::is_block(l->bound_to)))
        return stage.name + " in shared memory, computed for all of " + p.axis(l->axis).name + " at once";
  }
  return {};
}

}  // namespace ashlar::analysis
