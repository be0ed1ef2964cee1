#include <ashlar/analysis/regions.h>

#include <algorithm>
#include <set>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "analysis/engine.h"
#include "analysis/relax.h"

namespace ashlar::analysis {

using ir::Id;
using ir::Program;
using ir::Stmt;
using Path = std::vector<const Stmt*>;

namespace {

// Every block of the tree with the path that leads to it, and every nest with its own; made in one walk.
struct TreeIndex {
  std::vector<Path> blocks, nests;
  explicit TreeIndex(const Program& p) {
    Path path;
    visit(p.body, path);
  }
  void visit(const std::vector<Stmt>& body, Path& path) {
    for (const Stmt& s : body) {
      path.push_back(&s);
      if (s.kind == Stmt::Kind::block) blocks.push_back(path);
      if (s.kind == Stmt::Kind::nest) nests.push_back(path);
      visit(s.body, path);
      path.pop_back();
    }
  }
};

const Stmt* nest_on(const Path& path) {
  for (std::size_t k = path.size(); k-- > 0;)
    if (path[k]->kind == Stmt::Kind::nest) return path[k];
  throw InternalError("a block outside of any nest");
}

// The statement whose body holds the last statement of the path; 0 for the top.
Id parent_of(const Path& path) { return path.size() < 2 ? 0 : path[path.size() - 2]->id; }

bool under(const Path& path, Id ancestor) {
  if (ancestor == 0) return true;
  return std::any_of(path.begin(), path.end(), [&](const Stmt* s) { return s->id == ancestor; });
}

// The iterations of a loop and of its siblings over other parts of the same axis: what they need together is needed by a
// whole loop, while a part taken alone seems to have an iteration even where the axis is empty.
VarRange range_of_parts(const Program& p, const Stmt& loop) {
  if (loop.part == ir::Part::all || loop.part == ir::Part::full || loop.part == ir::Part::rest) {
    const ir::LoopRange r = ir::range_of(p, loop);
    return {loop.axis, {r.begin, ir::sub(r.end, ir::index(1))}};
  }
  return {loop.axis, {ir::index(0), ir::sub(p.axis(loop.axis).extent, ir::index(1))}};
}

VarRange range_below(const Program& p, const Stmt& loop) {
  const ir::LoopRange r = ir::range_of(p, loop);
  return {loop.axis, {r.begin, ir::sub(r.end, ir::index(1))}};
}

const ir::Root& root_of(const Stmt& nest, Id iter) {
  for (const ir::Root& r : nest.roots)
    if (r.iter == iter) return r;
  throw InternalError("a nest lacks a root for an iteration variable");
}

bool reads(const ir::Stage& stage, Id buffer) {
  for (const auto* list : {&stage.values, &stage.inits})
    for (const Expr& e : *list) {
      bool found = false;
      ir::walk(e, [&](const Expr& x) {
        found |= ir::is(x, ir::Op::load) && x.node()->id == buffer;
        return !found;
      });
      if (found) return true;
    }
  return false;
}

Interval eliminate(const Interval& i, std::span<const VarRange> vars, const Facts& facts) {
  Interval out;
  if (!i.lo.empty()) out.lo = bounds_over(i.lo, vars, facts).lo;
  if (!i.hi.empty()) out.hi = bounds_over(i.hi, vars, facts).hi;
  return out;
}

// Is there a split below the axis whose own tail is guarded?
bool guarded_below(const Program& p, Id axis) {
  for (Id n : p.axis(axis).became) {
    const auto& parts = p.axis(n).became;
    if (parts.size() == 2 && p.axis(parts[0]).tail != ir::Tail::exact && p.axis(parts[0]).tail != ir::Tail::pad) return true;
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
  if (p.axis(a.became[0]).tail == ir::Tail::pad) return value.hi;
  return intersect(value, {{}, ir::sub(a.extent, ir::index(1))}, facts).hi;
}

// The interval of each iteration variable of the block at the end of `path` while all loops below `outer` run; over the
// variables of the loops down to `outer`.
std::vector<VarRange> iter_intervals(const Program& p, const Path& path, Id outer, const Facts& facts) {
  const Stmt& nest = *nest_on(path);
  const ir::Stage& stage = p.stage(nest.stage);
  std::vector<VarRange> own, around;  // loops of the block's nest, and those between it and `outer`; innermost first
  bool inside_nest = true;
  for (std::size_t k = path.size(); k-- > 0;) {
    if (path[k]->id == outer && outer != 0) break;
    if (path[k] == &nest) inside_nest = false;
    if (path[k]->kind == Stmt::Kind::loop) (inside_nest ? own : around).push_back(range_of_parts(p, *path[k]));
  }
  const bool pending = nest.after != 0 && nest.roots.front().extent.empty();
  std::vector<VarRange> result;
  for (const ir::IterVar& v : stage.iters) {
    if (pending) {  // its box follows from its producer's, which is being derived: all of its domain
      result.push_back({v.id, {v.begin, ir::sub(v.end, ir::index(1))}});
      continue;
    }
    const ir::Root& root = root_of(nest, v.id);
    // Where the extent is max(e, 0), nothing runs for a negative e: e itself keeps the empty case out of the hull.
    Expr covered = covered_extent(p, root.axis);
    if (ir::is(covered, ir::Op::max))
      for (std::size_t k = 0; k < 2; ++k)
        if (ir::is_int(ir::args_of(covered)[k], std::int64_t{0})) {
          covered = ir::args_of(covered)[1 - k];
          break;
        }
    const Expr end = ir::sub(ir::add(root.begin, covered), ir::index(1));
    Interval interval{root.begin, end};
    const auto leaves = ir::leaves_of(p, root.axis);
    const bool whole = std::all_of(leaves.begin(), leaves.end(), [&](Id leaf) {
      return std::any_of(path.begin(), path.end(),
                         [&](const Stmt* s) { return s->kind == Stmt::Kind::loop && s->axis == leaf; }) &&
             std::any_of(own.begin(), own.end(), [&](const VarRange& r) { return r.id == leaf; });
    });
    if (!whole) {
      const Interval moving = bounds_over(ir::iter_value(p, nest, v.id), own, facts);
      interval.lo = moving.lo.empty() ? root.begin : moving.lo;
      interval.hi = moving.hi.empty() ? end : intersect(moving, {{}, end}, facts).hi;
      if (guarded_below(p, root.axis))
        if (const Expr most = largest_guarded(p, root.axis, own, facts); !most.empty())
          interval.hi = intersect(interval, {{}, ir::add(root.begin, most)}, facts).hi;
    }
    // the bounds of a reduction may use other loops of the same nest
    Interval hull_of = eliminate(eliminate(interval, own, facts), around, facts);
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

// Facts of the arguments and of the loops on the path down to and including `outer`.
Facts facts_down_to(const Program& p, const Path& path, Id outer) {
  Facts facts = facts_of_arguments(p);
  if (outer == 0) return facts;
  for (const Stmt* s : path) {
    if (s->kind == Stmt::Kind::loop) {
      const VarRange r = range_below(p, *s);
      facts.range(r.id, r.range.lo, r.range.hi);
    }
    if (s->id == outer) break;
  }
  return facts;
}

bool depends_on_data(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    found |= ir::is(x, ir::Op::load) || (ir::is(x, ir::Op::var) && !x.type().is_index());
    return !found;
  });
  return found;
}

// The index with every part that is read from data, or chosen by it, as a variable that runs over the values it may have:
// nobody knows more when storage is laid out. The variables are put before those in `ranges`.
Expr without_data(const Expr& index, std::vector<VarRange>& ranges, const Facts& facts) {
  if (!depends_on_data(index)) return index;
  Interval values;
  if (ir::is(index, ir::Op::select) && depends_on_data(ir::args_of(index)[0])) {
    const Expr a = without_data(ir::args_of(index)[1], ranges, facts), b = without_data(ir::args_of(index)[2], ranges, facts);
    values = {ir::min(a, b), ir::max(a, b)};
  } else if (ir::is(index, ir::Op::load) || ir::is(index, ir::Op::cast) || !index.type().is_index()) {
    Engine engine(facts);
    const Range r = engine.range(engine.simplify(index));
    if (r.has_lo()) values.lo = ir::index(r.lo);
    if (r.has_hi()) values.hi = ir::index(r.hi);
  } else {
    std::vector<Expr> args;
    for (const Expr& a : ir::args_of(index)) args.push_back(without_data(a, ranges, facts));
    return ir::rebuild(index, args);
  }
  const Id id = ir::fresh_id() | (Id{1} << 62);  // apart from the dense ids of a program
  ranges.insert(ranges.begin(), {id, values});
  return ir::var(id, "data");
}

void widen(std::vector<Interval>& box, std::size_t d, const Interval& by, bool first, const Facts& facts) {
  box[d] = first ? by : hull(box[d], by, facts);
}

// What blocks below `parent` (other than those of `self`) read of `buffer`, one interval a dimension.
bool needed(const Program& p, const TreeIndex& tree, Id parent, const Stmt* self, Id buffer, const Path& here,
            std::vector<Interval>& box) {
  bool first = true;
  const Facts facts = facts_down_to(p, here, parent);
  for (const Path& path : tree.blocks) {
    if (!under(path, parent)) continue;
    // not the stage itself; a nest put after it stands inside, and reads it
    if (self && std::find(path.begin(), path.end(), self) != path.end() && nest_on(path)->after != self->stage) continue;
    const ir::Stage& stage = p.stage(path.back()->stage);
    if (!reads(stage, buffer)) continue;
    const auto iters = iter_intervals(p, path, parent, facts);
    for (const Read& r : reads_of(stage)) {
      if (r.load.node()->id != buffer) continue;
      const auto indices = ir::args_of(r.load);
      for (std::size_t d = 0; d < indices.size(); ++d) {
        std::vector<VarRange> ranges = iters;
        const Expr index = without_data(indices[d], ranges, facts);
        const Interval i = bounds_over(index, ranges, facts);
        if (!i.bounded())
          refuse("region", "an index of " + p.buffer(buffer).name + " with a bound (clamp it, or promise one with in_range)",
                 ir::text(indices[d]), r.load.node()->where);
        widen(box, d, i, first, facts);
      }
      first = false;
    }
  }
  return !first;
}

void update_axis(Program& p, Id id, const Expr& extent, const Facts& facts) {
  ir::Axis& a = p.axes.at(id);
  a.extent = simplify(extent, facts);
  if (a.became.size() == 2) {
    ir::Axis& outer = p.axes.at(a.became[0]);
    ir::Axis& inner = p.axes.at(a.became[1]);
    if (outer.parts > 0)
      outer.factor = inner.factor = simplify(ir::max(ir::index(1), ir::ceil_div(a.extent, ir::index(outer.parts))), facts);
    const Expr count = outer.parts > 0 ? ir::index(outer.parts) : ir::ceil_div(a.extent, outer.factor);
    update_axis(p, outer.id, outer.parts > 0 ? ir::min(count, a.extent) : count, facts);
    update_axis(p, inner.id, inner.factor, facts);
  } else if (a.became.size() == 1) {
    ir::Axis& fused = p.axes.at(a.became[0]);
    const Expr &o = p.axes.at(fused.outer).extent, &i = p.axes.at(fused.inner).extent;
    if (!o.empty() && !i.empty()) update_axis(p, fused.id, ir::mul(o, i), facts);
  }
}

void set_root(Program& p, ir::Root& root, const Expr& begin, const Expr& extent, const Facts& facts) {
  root.begin = simplify(begin, facts);
  update_axis(p, root.axis, simplify(extent, facts), facts);
  root.extent = p.axes.at(root.axis).extent;
}

// The box of a nest put after its producer: the points that the producer's blocks in the same body finish.
void derive_after(Program& p, const TreeIndex& tree, const Path& path) {
  Stmt& nest = const_cast<Stmt&>(*path.back());
  const ir::Stage& stage = p.stage(nest.stage);
  const ir::Stage& producer = p.stage(nest.after);
  const Id parent = parent_of(path);
  const Facts facts = facts_down_to(p, path, parent);
  const ir::Buffer& buffer = p.buffer(producer.buffers.front());
  std::vector<Expr> at;  // the producer's dimension d is read at this iteration variable
  for (const Read& r : reads_of(stage))
    if (r.load.node()->id == buffer.id) at.assign(ir::args_of(r.load).begin(), ir::args_of(r.load).end());
  std::vector<Interval> box(static_cast<std::size_t>(buffer.rank));
  bool first = true;
  for (const Path& block : tree.blocks) {
    if (!under(block, parent) || block.back()->stage != producer.id) continue;
    const auto iters = iter_intervals(p, block, parent, facts);
    for (std::size_t d = 0; d < box.size(); ++d) widen(box, d, iters[d].range, first, facts);
    first = false;
  }
  if (first) throw InternalError("a nest after a producer that is not computed beside it");
  for (const ir::IterVar& v : stage.iters) {
    Interval i{v.begin, ir::sub(v.end, ir::index(1))};
    for (std::size_t d = 0; d < at.size(); ++d)
      if (ir::is(at[d], ir::Op::var) && at[d].node()->id == v.id) i = intersect(i, box[d], facts);
    for (ir::Root& r : nest.roots)
      if (r.iter == v.id) set_root(p, r, i.lo, ir::max(ir::index(0), ir::add(ir::sub(i.hi, i.lo), ir::index(1))), facts);
  }
}

Expr shifted(const Expr& e, Id axis, const Expr& to) { return ir::substitute(e, {{axis, to}}); }

void derive_nest(Program& p, const TreeIndex& tree, const Path& path) {
  Stmt& nest = const_cast<Stmt&>(*path.back());
  const ir::Stage& stage = p.stage(nest.stage);
  const Id parent = parent_of(path);
  const Facts facts = facts_down_to(p, path, parent);
  const bool declared = !stage.iters.empty() ? !stage.iters.front().begin.empty() : true;
  const std::size_t rank = static_cast<std::size_t>(stage.spatial_rank());
  std::vector<Interval> box(rank);
  const bool top = parent == 0;
  if (!(top && declared) && rank > 0) {
    bool any = false;
    for (Id buffer : stage.buffers) {
      std::vector<Interval> part(rank);
      if (!needed(p, tree, parent, &nest, buffer, path, part)) continue;
      for (std::size_t d = 0; d < rank; ++d) widen(box, d, part[d], !any, facts);
      any = true;
    }
    if (!any) refuse("region", "a reader of " + stage.name + " in the loop it is computed in", "none", nest.where);
  }
  ir::Substitution values;
  for (std::size_t k = 0; k < stage.iters.size(); ++k) {
    const ir::IterVar& v = stage.iters[k];
    ir::Root* root = nullptr;
    for (ir::Root& r : nest.roots)
      if (r.iter == v.id) root = &r;
    if (!root) throw InternalError("a nest lacks a root for an iteration variable");
    const bool own_domain = v.kind == ir::IterKind::reduce || (top && declared);
    Expr extent;
    Interval i = own_domain ? Interval{v.begin, ir::sub(v.end, ir::index(1))} : box[k];
    if (own_domain) {  // bounds of a reduction may use the spatial variables
      i.lo = ir::substitute(i.lo, values);
      i.hi = ir::substitute(i.hi, values);
    } else {
      i = over_threads(p, path, stage, i, facts);
      if (declared) i = intersect(i, {v.begin, ir::sub(v.end, ir::index(1))}, facts);
      for (const ir::Slide& slide : nest.slides) {
        if (slide.iter != v.id) continue;
        const Stmt* loop = nullptr;
        for (const Stmt* s : path)
          if (s->id == slide.loop) loop = s;
        if (!loop) throw InternalError("a nest slides along a loop that is not around it");
        const ir::LoopRange range = ir::range_of(p, *loop);
        const Expr var = ir::axis_var(p, loop->axis);
        const Expr next = ir::add(shifted(i.hi, loop->axis, ir::sub(var, ir::index(1))), ir::index(1));
        const Expr warm_up = shifted(i.lo, loop->axis, range.begin);
        const Expr warm_end = shifted(i.hi, loop->axis, range.begin);
        const Expr first = ir::eq(var, range.begin);
        const auto from = [&](const Expr& lo, const Expr& hi) {
          return simplify(ir::add(ir::sub(hi, lo), ir::index(1)), facts);
        };
        extent = ir::select(first, from(warm_up, warm_end), from(next, i.hi));
        i.lo = ir::select(first, warm_up, next);
      }
    }
    if (extent.empty()) extent = ir::add(ir::sub(i.hi, i.lo), ir::index(1));
    set_root(p, *root, i.lo, can_prove(ir::ge(extent, ir::index(0)), facts) ? extent : ir::max(ir::index(0), extent), facts);
    values.emplace_back(v.id, ir::add(root->begin, ir::axis_value(p, root->axis)));
  }
}

}  // namespace

// ---- what stands in the header -------------------------------------------------------------------------------------------

std::vector<Read> reads_of(const ir::Stage& stage) {
  std::vector<Read> result;
  struct Visitor {
    std::vector<Read>& result;
    std::vector<Expr> conditions;
    void visit(const Expr& e) {
      if (ir::is(e, ir::Op::select)) {
        const auto args = ir::args_of(e);
        visit(args[0]);
        conditions.push_back(args[0]);
        visit(args[1]);
        conditions.back() = ir::logic_not(args[0]);
        visit(args[2]);
        conditions.pop_back();
        return;
      }
      for (const Expr& a : ir::args_of(e)) visit(a);
      if (!ir::is(e, ir::Op::load)) return;
      for (const Read& r : result)
        if (ir::same(r.load, e) && r.conditions.size() == conditions.size() &&
            std::equal(conditions.begin(), conditions.end(), r.conditions.begin(), ir::ExprSame{}))
          return;
      result.push_back({e, conditions});
    }
  } visitor{result, {}};
  for (const Expr& e : stage.values) visitor.visit(e);
  for (const Expr& e : stage.inits) visitor.visit(e);
  return result;
}

std::vector<Id> consumers_first(const Program& p) {
  std::map<Id, std::vector<Id>> producers;  // stage -> stages it reads
  for (const auto& [id, stage] : p.stages) {
    auto& list = producers[id];
    for (const Read& r : reads_of(stage))
      if (Id s = p.buffer(r.load.node()->id).stage; s && s != id) list.push_back(s);
  }
  std::vector<Id> order;
  std::set<Id> done;
  // producers first, iteratively; then reversed
  for (const auto& entry : producers) {
    std::vector<std::pair<Id, std::size_t>> stack{{entry.first, 0}};
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (next == 0 && done.count(id)) {
        stack.pop_back();
        continue;
      }
      if (next < producers[id].size()) {
        const Id child = producers[id][next++];
        if (!done.count(child)) stack.push_back({child, 0});
      } else {
        if (done.insert(id).second) order.push_back(id);
        stack.pop_back();
      }
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

Expr covered_extent(const Program& p, Id axis) {
  const ir::Axis& a = p.axis(axis);
  if (a.became.size() == 2 && p.axis(a.became[0]).tail == ir::Tail::pad)
    return ir::mul(covered_extent(p, a.became[0]), p.axis(a.became[0]).factor);
  return a.extent;
}

void derive_regions(Program& p) {
  const TreeIndex tree(p);
  for (const Path& path : tree.nests)
    if (path.back()->after)
      for (ir::Root& r : const_cast<Stmt*>(path.back())->roots) r.extent = Expr();
  std::vector<const Path*> late;
  for (Id id : consumers_first(p))
    for (const Path& path : tree.nests) {
      if (path.back()->stage != id) continue;
      if (path.back()->after)
        late.push_back(&path);
      else
        derive_nest(p, tree, path);
      for (auto it = late.begin(); it != late.end();) {
        if ((*it)->back()->after == id) {
          derive_after(p, tree, **it);
          it = late.erase(it);
        } else {
          ++it;
        }
      }
    }
  if (!late.empty()) throw InternalError("a nest follows a producer that is not computed");
}

std::vector<Interval> required_region(const Program& p, Id nest_id) {
  const TreeIndex tree(p);
  for (const Path& path : tree.nests) {
    const Stmt& nest = *path.back();
    if (nest.id != nest_id) continue;
    const ir::Stage& stage = p.stage(nest.stage);
    std::vector<Interval> box(static_cast<std::size_t>(stage.spatial_rank()));
    bool any = false;
    for (Id buffer : stage.buffers) {
      std::vector<Interval> part(box.size());
      if (!needed(p, tree, parent_of(path), &nest, buffer, path, part)) continue;
      for (std::size_t d = 0; d < box.size(); ++d) widen(box, d, part[d], !any, facts_at(p, path));
      any = true;
    }
    return any ? box : std::vector<Interval>{};
  }
  throw InternalError("required_region of a nest that is not in the program");
}

Facts facts_at(const Program& p, const Path& path) {
  Facts facts = facts_of_arguments(p);
  for (const Stmt* s : path)
    if (s->kind == Stmt::Kind::loop) {
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
    if (path[k]->kind == Stmt::Kind::loop) result.push_back(range_below(p, *path[k]));
  }
  return result;
}

std::vector<Expr> conditions_of(const Program& p, const Path& path, bool spatial_only) {
  const Stmt& nest = *nest_on(path);
  const ir::Stage& stage = p.stage(nest.stage);
  const Facts facts = facts_at(p, path);
  std::vector<Expr> result;
  auto add = [&](const Expr& condition) {
    const Expr c = simplify(condition, facts);
    if (!ir::is_int(c, 1) && !can_prove(c, facts)) result.push_back(c);
  };
  for (const ir::Root& root : nest.roots) {
    std::vector<Id> pending{root.axis};
    while (!pending.empty()) {
      const ir::Axis& a = p.axis(pending.back());
      pending.pop_back();
      if (a.became.empty() || (spatial_only && a.reduce)) continue;
      for (Id n : a.became) pending.push_back(n);
      if (a.became.size() != 2) continue;
      const ir::Tail tail = p.axis(a.became[0]).tail;
      if (tail == ir::Tail::guard || tail == ir::Tail::predicate || tail == ir::Tail::peel)
        add(ir::lt(ir::axis_value(p, a.id), a.extent));
    }
  }
  const ir::Substitution values = ir::iter_values(p, nest);
  for (const Expr& atom : stage.domain) {
    bool uses_reduce = false;
    for (const ir::IterVar& v : stage.iters) uses_reduce |= v.kind == ir::IterKind::reduce && ir::uses_var(atom, v.id);
    if (!(spatial_only && uses_reduce)) add(ir::substitute(atom, values));
  }
  for (const Expr& w : path.back()->when) {
    bool uses_reduce = false;
    for (Id v : ir::free_vars(w)) uses_reduce |= p.axes.count(v) && p.axis(v).reduce;
    if (!(spatial_only && uses_reduce)) add(w);
  }
  return result;
}

Box logical_box(const Program& p, Id id) {
  const Stmt* alloc = ir::alloc_of(p, id);
  if (!alloc) throw InternalError("no alloc with id " + std::to_string(id));
  const ir::Buffer& buffer = p.buffer(alloc->buffer);
  const Path here = ir::path_to(p, alloc->id);
  const Id parent = parent_of(here);
  const Facts facts = facts_down_to(p, here, parent);
  std::vector<Interval> box(static_cast<std::size_t>(buffer.rank));
  bool first = true;
  const TreeIndex tree(p);
  for (const Path& path : tree.blocks) {
    if (path.back()->stage != buffer.stage || !under(path, parent)) continue;
    const auto iters = iter_intervals(p, path, parent, facts);
    for (std::size_t d = 0; d < box.size(); ++d) widen(box, d, iters[d].range, first, facts);
    first = false;
  }
  if (first) throw InternalError("nothing writes " + buffer.name + " below its alloc");
  Box result;
  for (const Interval& i : box) {
    if (!i.bounded()) throw InternalError("the box of " + buffer.name + " has no bound");
    result.lo.push_back(simplify(i.lo, facts));
    result.extent.push_back(simplify(ir::add(ir::sub(i.hi, i.lo), ir::index(1)), facts));
  }
  return result;
}

Box physical_box(const Program& p, Id id) {
  Box box = logical_box(p, id);
  const Stmt* alloc = ir::alloc_of(p, id);
  const ir::Buffer& buffer = p.buffer(alloc->buffer);
  const ir::Layout& layout = buffer.layout;
  const Facts facts = facts_at(p, alloc->id);
  if (!layout.map.empty()) {
    std::vector<VarRange> ranges;
    for (std::size_t d = 0; d < layout.vars.size(); ++d)
      ranges.push_back({layout.vars[d], {box.lo[d], ir::sub(ir::add(box.lo[d], box.extent[d]), ir::index(1))}});
    Box physical;
    for (const Expr& e : layout.map) {
      const Interval i = bounds_over(e, ranges, facts);
      if (!i.bounded()) throw InternalError("the layout of " + buffer.name + " has no bound");
      physical.lo.push_back(simplify(i.lo, facts));
      physical.extent.push_back(simplify(ir::add(ir::sub(i.hi, i.lo), ir::index(1)), facts));
    }
    box = std::move(physical);
  }
  if (layout.align_dim >= 0) {
    Expr& e = box.extent.at(static_cast<std::size_t>(layout.align_dim));
    const Expr to = ir::index(layout.pad_to);
    e = simplify(ir::mul(ir::ceil_div(e, to), to), facts);
  }
  return box;
}

std::vector<Expr> storage_extents(const Program& p, Id id) {
  const Stmt* alloc = ir::alloc_of(p, id);
  if (!alloc) throw InternalError("no alloc with id " + std::to_string(id));
  const Path path = ir::path_to(p, alloc->id);
  const auto loops = loops_below(p, path, 0);
  const Facts facts = facts_of_arguments(p);
  std::vector<Expr> result;
  for (const Expr& e : physical_box(p, id).extent) result.push_back(upper_bound(e, loops, facts));
  return result;
}

}  // namespace ashlar::analysis
