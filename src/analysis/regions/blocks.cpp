// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/blocks.h>

#include <algorithm>
#include <set>

#include <ashlar/analysis/puts.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/skew.h>

#include <ashlar/analysis/reads.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

// The iterations of a loop and of its siblings over other parts of the same axis: what they need together is needed by a
// whole loop, while a part taken alone seems to have an iteration even where the axis is empty.
VarRange range_of_parts(const Program& p, const Stmt& loop) {
  const LoopStmt& l = loop.get<LoopStmt>();
  if (l.part == ir::Part::all || l.part == ir::Part::full || l.part == ir::Part::rest) {
    const ir::LoopRange r = ir::range_of(p, loop);
    return {l.axis, {r.begin, ir::sub(r.end, ir::index(1))}};
  }
  return {l.axis, {ir::index(0), ir::sub(p.axis(l.axis).extent, ir::index(1))}};
}

VarRange range_below(const Program& p, const Stmt& loop) {
  const ir::LoopRange r = ir::range_of(p, loop);
  return {loop.get<LoopStmt>().axis, {r.begin, ir::sub(r.end, ir::index(1))}};
}

const ir::Root& root_of(const NestStmt& nest, Id iter) {
  for (const ir::Root& r : nest.roots)
    if (r.iter == iter) return r;
  throw InternalError("a nest lacks a root for an iteration variable");
}

// Do the loops in `inner`, which stand on the path, take an axis through its whole extent, wherever those around them are?
bool runs_whole(const Program& p, Id axis, const Path& path, std::span<const VarRange> inner) {
  const std::vector<Id>& became = p.axis(axis).became;
  if (!became.empty()) return std::all_of(became.begin(), became.end(), [&](Id n) { return runs_whole(p, n, path, inner); });
  const auto over = [&](const Stmt* s) { return ir::runs_over(*s, axis); };
  return std::any_of(path.begin(), path.end(), over) &&
         std::any_of(inner.begin(), inner.end(), [&](const VarRange& r) { return r.id == axis; });
}

// Does the block take the steps of a scatter, which its init does not?
bool takes_steps(const BlockStmt* block) { return block && block->piece == ir::Piece::update; }

Interval eliminate(const Interval& i, std::span<const VarRange> vars, const Facts& facts) {
  Interval out;
  if (!i.lo.empty()) out.lo = bounds_over(i.lo, vars, facts).lo;
  if (!i.hi.empty()) out.hi = bounds_over(i.hi, vars, facts).hi;
  return out;
}

// Does what stands inside of the split's loops compute whole tiles?
bool whole_tiles(ir::Tail tail) { return tail == ir::Tail::pad || tail == ir::Tail::cover; }

// Is there a split below the axis whose own tail is guarded?
bool guarded_below(const Program& p, Id axis) {
  for (Id n : p.axis(axis).became) {
    const auto& parts = p.axis(n).became;
    if (parts.size() == 2 && p.axis(parts[0]).tail != ir::Tail::exact && !whole_tiles(p.axis(parts[0]).tail)) return true;
    if (guarded_below(p, n)) return true;
  }
  return false;
}

// The largest value of an axis while the listed loops run, with the guards of the splits below it: a tile that is split again
// ends where the tile ends.
Expr largest_guarded(const Program& p, Id axis, std::span<const VarRange> loops, const Facts& facts) {
  const ir::Axis& a = p.axis(axis);
  if (a.became.size() != 2 || p.axis(a.became[0]).tail == ir::Tail::shift)
    return bounds_over(ir::axis_value(p, axis), loops, facts).hi;
  const Expr outer = largest_guarded(p, a.became[0], loops, facts), inner = largest_guarded(p, a.became[1], loops, facts);
  if (outer.empty() || inner.empty()) return {};
  const Interval value{{}, ir::add(ir::mul(outer, p.axis(a.became[0]).factor), inner)};
  if (whole_tiles(p.axis(a.became[0]).tail)) return value.hi;
  return intersect(value, {{}, ir::sub(a.extent, ir::index(1))}, facts).hi;
}

// Where an extent is max(e, 0) or select(c, e, 0), nothing runs in the other case: e itself keeps it out of hulls.
Expr without_empty_case(const Expr& extent) {
  const auto args = ir::args_of(extent);
  if (ir::is(extent, ir::Op::select) && ir::is_int(args[2], std::int64_t{0})) return without_empty_case(args[1]);
  if (ir::is(extent, ir::Op::max))
    for (std::size_t k = 0; k < 2; ++k)
      if (ir::is_int(args[k], std::int64_t{0})) return args[1 - k];
  return extent;
}

}  // namespace

TreeIndex::TreeIndex(const Program& p, Id stage) : p_(p), stage_(stage) {
  Path path;
  visit(p.body, path);
}

void TreeIndex::visit(const std::vector<Stmt>& body, Path& path) {
  for (const Stmt& s : body) {
    path.push_back(&s);
    if (const BlockStmt* block = s.as<BlockStmt>(); block && (!stage_ || block->stage == stage_)) blocks.push_back(path);
    if (const NestStmt* nest = s.as<NestStmt>(); nest && (!stage_ || nest->stage == stage_)) nests.push_back(path);
    visit(s.body(), path);
    path.pop_back();
  }
}

const std::vector<std::size_t>& TreeIndex::readers(Id buffer) const {
  if (!asked_) {
    for (std::size_t k = 0; k < blocks.size(); ++k)
      for (Id b : buffers_read(p_.stage(blocks[k].back()->get<BlockStmt>().stage))) readers_[b].push_back(k);
    asked_ = true;
  }
  static const std::vector<std::size_t> none;
  const auto at = readers_.find(buffer);
  return at == readers_.end() ? none : at->second;
}

const Stmt* nest_on(const Path& path) {
  for (std::size_t k = path.size(); k-- > 0;)
    if (path[k]->is<NestStmt>()) return path[k];
  throw InternalError("a block outside of any nest");
}

Id parent_of(const Path& path) { return path.size() < 2 ? 0 : path[path.size() - 2]->id; }

bool under(const Path& path, Id ancestor) {
  if (ancestor == 0) return true;
  return std::any_of(path.begin(), path.end(), [&](const Stmt* s) { return s->id == ancestor; });
}

std::vector<VarRange> iter_intervals(const Program& p, const Path& path, Id outer, const Facts& facts) {
  const Stmt* const innermost = nest_on(path);
  const NestStmt& nest = innermost->get<NestStmt>();
  const ir::Stage& stage = p.stage(nest.stage);
  // Loops of the block's nest, and those between it and `outer`; innermost first. What a spatial variable runs over holds also
  // where a reduction has no terms: the start of it is stored there. So its interval is found without the reduction loops.
  std::vector<VarRange> own, own_spatial, around;
  bool inside_nest = true;
  for (std::size_t k = path.size(); k-- > 0;) {
    if (path[k]->id == outer && outer != 0) break;
    if (path[k] == innermost) inside_nest = false;
    const LoopStmt* loop = path[k]->as<LoopStmt>();
    if (!loop) continue;
    (inside_nest ? own : around).push_back(range_of_parts(p, *path[k]));
    if (inside_nest && !p.axis(loop->axis).reduce) own_spatial.push_back(own.back());
  }
  // steps of a scatter may store anywhere in the box
  const bool puts = stage.scatters() && takes_steps(path.back()->as<BlockStmt>());
  const bool pending = nest.after != 0 && nest.roots.front().extent.empty();
  std::vector<VarRange> result;
  for (const ir::IterVar& v : stage.iters) {
    if (pending) {  // its box follows from its producer's, which is being derived: all of its domain
      result.push_back({v.id, {v.begin, ir::sub(v.end, ir::index(1))}});
      continue;
    }
    const ir::Root& root = root_of(nest, v.id);
    const std::vector<VarRange>& inner = v.kind == ir::IterKind::reduce ? own : own_spatial;
    const Expr covered = without_empty_case(covered_extent(p, root.axis));
    const Expr end = ir::sub(ir::add(root.begin, covered), ir::index(1));
    Interval interval{root.begin, end};
    if (!runs_whole(p, root.axis, path, inner) && !(puts && stage.scattered(v.id))) {
      const Interval moving = bounds_over(ir::iter_value(p, nest, v.id), inner, facts);
      interval.lo = moving.lo.empty() ? root.begin : moving.lo;
      interval.hi = moving.hi.empty() ? end : intersect(moving, {{}, end}, facts).hi;
      if (v.descending || ir::skewed_below(p, root.axis)) interval.lo = intersect(interval, {root.begin, {}}, facts).lo;
      if (!v.descending && guarded_below(p, root.axis))
        if (const Expr most = largest_guarded(p, root.axis, inner, facts); !most.empty())
          interval.hi = intersect(interval, {{}, ir::add(root.begin, most)}, facts).hi;
    }
    // the bounds of a reduction may use other loops of the same nest
    Interval hull_of = eliminate(eliminate(interval, inner, facts), around, facts);
    // a triangle: the guards of the variables before it hold as well, so their own intervals bound it more closely
    const bool stated = !v.begin.empty() && std::any_of(result.begin(), result.end(), [&](const VarRange& r) {
      return ir::uses_var(v.begin, r.id) || ir::uses_var(v.end, r.id);
    });
    if (stated) {
      const Expr last = ir::sub(v.end, ir::index(1));
      hull_of = intersect(hull_of, {bounds_over(v.begin, result, facts).lo, bounds_over(last, result, facts).hi}, facts);
    }
    result.push_back({v.id, hull_of});
  }
  return result;
}

Facts facts_down_to(const Program& p, const Path& path, Id outer) {
  Facts facts = facts_of_arguments(p);
  if (outer == 0) return facts;
  for (const Stmt* s : path) {
    if (s->is<LoopStmt>()) {
      const VarRange r = range_below(p, *s);
      facts.range(r.id, r.range.lo, r.range.hi);
    }
    if (s->id == outer) break;
  }
  return facts;
}

void widen(std::vector<Interval>& box, std::size_t d, const Interval& by, bool first, const Facts& facts) {
  box[d] = first ? by : hull(box[d], by, facts);
}

// ---- what stands in regions.h --------------------------------------------------------------------------------------------

namespace {
// Does a split below the axis run past its extent? A padded one does, and an exact one whose outer axis is padded. Of a
// covering one what stands inside does.
bool padded(const Program& p, Id axis) {
  const ir::Axis& a = p.axis(axis);
  if (a.became.size() != 2) return false;
  const ir::Tail tail = p.axis(a.became[0]).tail;
  return whole_tiles(tail) || (tail == ir::Tail::exact && padded(p, a.became[0]));
}
}  // namespace

Expr covered_extent(const Program& p, Id axis) {
  const ir::Axis& a = p.axis(axis);
  return padded(p, axis) ? ir::mul(covered_extent(p, a.became[0]), p.axis(a.became[0]).factor) : a.extent;
}

Facts facts_at(const Program& p, const Path& path) {
  Facts facts = facts_of_arguments(p);
  for (const Stmt* s : path)
    if (s->is<LoopStmt>()) {
      const VarRange r = range_below(p, *s);
      facts.range(r.id, r.range.lo, r.range.hi);
    }
  return facts;
}
Facts facts_at(const Program& p, Id statement) { return facts_at(p, ir::path_to(p, statement)); }

std::vector<VarRange> loops_below(const Program& p, const Path& path, Id outer) {
  std::vector<VarRange> result;
  for (std::size_t k = path.size(); k-- > 0;) {
    if (outer != 0 && path[k]->id == outer) break;
    if (path[k]->is<LoopStmt>()) result.push_back(range_below(p, *path[k]));
  }
  return result;
}

namespace {
// Steps of a scatter that are not kept, or whose target lies outside of the box, combine nothing. The target is read where the
// step is kept alone.
void add_scatter_conditions(const Program& p, const NestStmt& nest, Facts facts, std::vector<Expr>& conditions) {
  const ir::Stage& stage = p.stage(nest.stage);
  const ir::Substitution values = ir::iter_values(p, nest);
  for (const Expr& c : conditions) facts.assume(c);
  const Expr keep = stage.keep.empty() ? Expr() : ir::substitute(stage.keep, values);
  if (!keep.empty()) conditions.push_back(simplify(keep, facts));
  for (std::size_t d = 0; d < stage.targets.size(); ++d) {
    if (!stage.scattered(stage.iters[d].id)) continue;
    const Expr at = ir::substitute(stage.targets[d], values);
    const ir::Root& root = root_of(nest, stage.iters[d].id);
    const auto inside = [&](const Expr& i) {
      return std::pair{ir::ge(i, root.begin), ir::lt(i, ir::add(root.begin, root.extent))};
    };
    if (each_case(at, keep, facts, [&](const Expr& i, const Facts& here) {
          return can_prove(inside(i).first, here) && can_prove(inside(i).second, here);
        }))
      continue;
    const Expr both = ir::logic_and(inside(at).first, inside(at).second);
    conditions.push_back(keep.empty() ? both : ir::select(keep, both, ir::boolean(false)));
  }
}
}  // namespace

std::vector<Expr> conditions_of(const Program& p, const Path& path, bool spatial_only) {
  const NestStmt& nest = nest_on(path)->get<NestStmt>();
  const BlockStmt* const leaf = path.back()->as<BlockStmt>();
  const ir::Stage& stage = p.stage(nest.stage);
  const Facts facts = facts_at(p, path);
  std::vector<Expr> result;
  auto add = [&](const Expr& condition) {
    const Expr c = simplify(condition, facts);
    if (!ir::is_int(c, 1) && !can_prove(c, facts)) result.push_back(c);
  };
  const bool puts = stage.scatters() && takes_steps(leaf);
  for (const ir::Root& root : nest.roots) {
    std::vector<Id> pending{root.axis};
    if (puts && stage.scattered(root.iter)) {
      add(ir::ge(root.extent, ir::index(1)));  // a step of an empty result reads nothing
      continue;
    }
    while (!pending.empty()) {
      const ir::Axis& a = p.axis(pending.back());
      pending.pop_back();
      if (a.became.empty() || (spatial_only && a.reduce)) continue;
      for (Id n : a.became) pending.push_back(n);
      for (const Expr& e : ir::skew_conditions(p, a.id)) add(e);
      if (a.became.size() != 2) continue;
      const ir::Tail tail = p.axis(a.became[0]).tail;
      if (tail == ir::Tail::guard || tail == ir::Tail::predicate || tail == ir::Tail::peel || tail == ir::Tail::cover)
        add(ir::lt(ir::axis_value(p, a.id), a.extent));
    }
  }
  const ir::Substitution values = ir::iter_values(p, nest);
  for (const Expr& atom : stage.domain) {
    bool uses_reduce = false;
    for (const ir::IterVar& v : stage.iters) uses_reduce |= v.kind == ir::IterKind::reduce && ir::uses_var(atom, v.id);
    if (!(spatial_only && uses_reduce)) add(ir::substitute(atom, values));
  }
  if (leaf)
    for (const Expr& w : leaf->when) {
      bool uses_reduce = false;
      for (Id v : ir::free_vars(w)) uses_reduce |= p.axes.count(v) && p.axis(v).reduce;
      if (!(spatial_only && uses_reduce)) add(w);
    }
  if (puts) add_scatter_conditions(p, nest, facts, result);
  return result;
}

}  // namespace ashlar::analysis
