// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/regions.h>

#include <algorithm>
#include <optional>
#include <set>

#include <ashlar/analysis/domains.h>
#include <ashlar/analysis/recurrence.h>
#include <ashlar/analysis/siblings.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/skew.h>

#include <ashlar/analysis/blocks.h>
#include <ashlar/analysis/reads.h>
#include "analysis/regions/cover.h"
#include "analysis/regions/relax.h"
#include <ashlar/analysis/kept_boxes.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

// The windows of nests that slide along one loop: what their readers need in an iteration, those that slide along it as well as
// if they did not. What a nest computes in an iteration lies in its window, and all that it has computed in the union of those
// so far.
class Windows {
 public:
  Windows(const Program& program, const TreeIndex& index, std::optional<Domains>& d) : p(program), tree(index), domains(d) {}
  // For the block's own nest, if it slides along `loop`: the variable along which it does, and the window there.
  std::optional<VarRange> of(const Path& block, Id loop);

 private:
  const Program& p;
  const TreeIndex& tree;
  std::optional<Domains>& domains;
  std::map<Id, Interval> known_;  // by nest
};

// Does a block run, without a condition, whenever the statement around it does? What it reads may be read before it, then.
bool runs_each_time(const Program& p, const Path& path, Id parent, Facts facts) {
  if (!conditions_of(p, path).empty()) return false;
  const auto below = loops_below(p, path, parent);
  for (auto loop = below.rbegin(); loop != below.rend(); ++loop) {  // outermost first
    if (!loop->range.bounded() || !can_prove(ir::ge(loop->range.hi, loop->range.lo), facts)) return false;
    facts.range(loop->id, loop->range.lo, loop->range.hi);
  }
  return true;
}

// What blocks below `parent` (other than those of `self`) read of `buffer`, one interval a dimension. `held`: the same, where
// parts of an index that are read from tables, at places that stay the same there, are what they are. `windows`: readers that
// slide along `parent` count with their windows.
bool needed(const Program& p, const TreeIndex& tree, Id parent, const Stmt* self, Id buffer, const Path& here, Windows* windows,
            std::vector<Interval>& box, std::vector<Interval>* held = nullptr) {
  bool first = true;
  const Facts facts = facts_down_to(p, here, parent);
  for (std::size_t reader : tree.readers(buffer)) {
    const Path& path = tree.blocks[reader];
    if (!under(path, parent)) continue;
    // not the stage itself; a nest put after it stands inside, and reads it
    if (self && std::find(path.begin(), path.end(), self) != path.end() &&
        nest_on(path)->get<NestStmt>().after != self->get<NestStmt>().stage)
      continue;
    const ir::Stage& stage = p.stage(path.back()->get<BlockStmt>().stage);
    auto iters = iter_intervals(p, path, parent, facts);
    if (const auto window = windows ? windows->of(path, parent) : std::nullopt)
      for (VarRange& v : iters)
        if (v.id == window->id) v = *window;
    std::vector<VarRange> data;  // at the root nothing depends on what tables say: the host knows how far loops run there
    if (parent == 0)
      for (VarRange& v : iters)
        for (Expr* end : {&v.range.lo, &v.range.hi})
          if (!end->empty()) *end = without_data(*end, data, facts);
    const std::vector<VarRange> spatial(iters.begin(), iters.begin() + stage.spatial_rank());
    iters.insert(iters.end(), data.begin(), data.end());
    const bool every_time = held && parent != 0 && runs_each_time(p, path, parent, facts);
    for (const Read& r : reads_of(stage)) {
      if (r.load.node()->id != buffer || !happens_in(r, *path.back())) continue;
      const auto indices = ir::args_of(r.load);
      const bool surely = every_time && r.conditions.empty();
      for (std::size_t d = 0; d < indices.size(); ++d) {
        const Interval i = index_interval(indices[d], r.of_start ? spatial : iters, facts);
        if (!i.bounded())
          refuse("region", "an index of " + p.buffer(buffer).name + " with a bound (clamp it, or promise one with in_range)",
                 ir::text(indices[d]), r.load.node()->where);
        widen(box, d, i, first, facts);
        if (!held) continue;
        std::vector<VarRange> ranges = r.of_start ? spatial : iters;
        const bool tables = parent != 0 && depends_on_data(indices[d]) && surely;
        const Expr index = tables ? with_held_tables(p, indices[d], ranges, facts) : indices[d];
        widen(*held, d, tables ? bounds_over(index, ranges, facts) : i, first, facts);
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
    if (fused.origin == ir::Axis::Origin::skewed) return;  // refresh_skews, when both axes have their extents
    const Expr &o = p.axes.at(fused.outer).extent, &i = p.axes.at(fused.inner).extent;
    if (!o.empty() && !i.empty()) update_axis(p, fused.id, ir::mul(o, i), facts);
  }
}

// The extents of the skewed axes of a nest, in the order in which they were made: the axes of each pair come before it.
void refresh_skews(Program& p, const Stmt& nest, const Facts& facts) {
  std::set<Id> skewed;
  std::vector<Id> pending;
  for (const ir::Root& r : nest.get<NestStmt>().roots) pending.push_back(r.axis);
  while (!pending.empty()) {
    const ir::Axis& a = p.axis(pending.back());
    pending.pop_back();
    pending.insert(pending.end(), a.became.begin(), a.became.end());
    if (a.origin == ir::Axis::Origin::skewed) skewed.insert(a.id);
  }
  for (Id id : skewed) {
    const ir::Axis& a = p.axis(id);
    if (!p.axis(a.parent).extent.empty() && !p.axis(a.outer).extent.empty()) update_axis(p, id, ir::skewed_extent(p, a), facts);
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
  NestStmt& n = nest.get<NestStmt>();
  const ir::Stage& stage = p.stage(n.stage);
  const ir::Stage& producer = p.stage(n.after);
  const Id parent = parent_of(path);
  const Facts facts = facts_down_to(p, path, parent);
  const ir::Buffer& buffer = p.buffer(producer.buffers.front());
  std::vector<Expr> at;  // the producer's dimension d is read at this iteration variable
  for (const Read& r : reads_of(stage))
    if (p.buffer(r.load.node()->id).stage == producer.id) at.assign(ir::args_of(r.load).begin(), ir::args_of(r.load).end());
  std::vector<Interval> box(static_cast<std::size_t>(buffer.rank));
  bool first = true;
  for (const Path& block : tree.blocks) {
    if (!under(block, parent) || !ir::is_block_of(*block.back(), producer.id)) continue;
    const auto iters = iter_intervals(p, block, parent, facts);
    for (std::size_t d = 0; d < box.size(); ++d) widen(box, d, iters[d].range, first, facts);
    first = false;
  }
  if (first) throw InternalError("a nest after a producer that is not computed beside it");
  for (const ir::IterVar& v : stage.iters) {
    Interval i{v.begin, ir::sub(v.end, ir::index(1))};
    for (std::size_t d = 0; d < at.size(); ++d)
      if (ir::is(at[d], ir::Op::var) && at[d].node()->id == v.id) i = intersect(i, box[d], facts);
    for (ir::Root& r : n.roots)
      if (r.iter == v.id) set_root(p, r, i.lo, ir::max(ir::index(0), ir::add(ir::sub(i.hi, i.lo), ir::index(1))), facts);
  }
  refresh_skews(p, nest, facts);
}

Expr shifted(const Expr& e, Id axis, const Expr& to) { return ir::substitute(e, {{axis, to}}); }

// What must hold for an inferred nest to compute anything, beyond what is known at its place; empty if nothing. A condition is
// known if a loop around, or the box, would be empty without it.
Expr inhabited_where(const Program& p, const Domain& domain, const std::vector<Interval>& box, const Path& path,
                     const Facts& facts) {
  Expr all;
  for (const Expr& condition : domain.inhabited) {
    if (can_prove(condition, facts) || holds_in_calls(p, condition)) continue;
    Facts otherwise = facts;
    otherwise.assume(ir::logic_not(condition));
    const bool around = std::any_of(path.begin(), path.end(), [&](const Stmt* s) {
      if (!s->is<LoopStmt>()) return false;
      const ir::LoopRange range = ir::range_of(p, *s);
      return can_prove(ir::le(range.end, range.begin), otherwise);
    });
    if (around ||
        std::any_of(box.begin(), box.end(), [&](const Interval& i) { return can_prove(ir::lt(i.hi, i.lo), otherwise); }))
      continue;
    all = all.empty() ? condition : ir::logic_and(all, condition);
  }
  return all;
}

// A box that begins where a table says, and whose extent no table has a say in: pages, blocks of a sparse matrix.
bool is_window(const Interval& i, const Facts& facts) {
  return i.bounded() && depends_on_data(i.lo) && !depends_on_data(simplify(ir::sub(i.hi, i.lo), facts));
}

bool copies_arguments(const Program& p, const ir::Stage& stage) {
  const Buffers read = buffers_read(stage);
  return std::all_of(read.begin(), read.end(), [&](Id b) { return p.buffer(b).stage == 0; });
}

// Does a split or a skew below the axis run past its extent?
bool overshoots(const Program& p, Id axis) {
  for (Id n : p.axis(axis).became) {
    const ir::Axis& a = p.axis(n);
    if (a.origin == ir::Axis::Origin::split_outer && a.tail != ir::Tail::exact && a.tail != ir::Tail::shift) return true;
    if (a.origin == ir::Axis::Origin::skewed) return true;
    if (overshoots(p, n)) return true;
  }
  return false;
}

// Bounds that are read from tables are read where the variables before lie in the nest's box, and nowhere past it: the
// condition of that, over those variables, and over others that their own bounds follow (a triangle); empty where none of their
// loops runs past it.
template <class RootOf>
Expr inside_tables(const Program& p, const ir::Stage& stage, const ir::IterVar& v, const RootOf& root_of) {
  std::vector<const Expr*> bounds;
  for (const Expr* e : {&v.begin, &v.end})
    if (depends_on_data(*e)) bounds.push_back(e);
  std::vector<const ir::IterVar*> used;
  for (std::size_t k = stage.iters.size(); k-- > 0;) {  // the bounds of a variable use those before it
    const ir::IterVar& w = stage.iters[k];
    if (!std::any_of(bounds.begin(), bounds.end(), [&](const Expr* e) { return ir::uses_var(*e, w.id); })) continue;
    used.push_back(&w);
    for (const Expr* e : {&w.begin, &w.end})
      if (!e->empty()) bounds.push_back(e);
  }
  Expr all;
  for (auto it = used.rbegin(); it != used.rend(); ++it) {
    const ir::IterVar& before = **it;
    const ir::Root& root = root_of(before);
    if (!overshoots(p, root.axis)) continue;
    const Expr at = ir::var(before.id, before.name);  // loops of one that descends run past its begin, skewed ones past both
    const Expr from = ir::ge(at, root.begin), to = ir::lt(at, ir::add(root.begin, root.extent));
    const Expr inside = ir::skewed_below(p, root.axis) ? ir::logic_and(from, to) : before.descending ? from : to;
    all = all.empty() ? inside : ir::logic_and(all, inside);
  }
  return all;
}

bool is_declared(const ir::Stage& stage) { return stage.iters.empty() || !stage.iters.front().begin.empty(); }

// The box of a nest: what the readers below `parent` need, where the stage has points. With `windows` that of a nest that
// slides.
std::vector<Interval> box_of(const Program& p, const TreeIndex& tree, const Path& path, Id parent, const Facts& facts,
                             std::optional<Domains>& domains, Windows* windows) {
  const Stmt& nest = *path.back();
  const ir::Stage& stage = p.stage(nest.get<NestStmt>().stage);
  const bool declared = is_declared(stage);
  const std::size_t rank = static_cast<std::size_t>(stage.spatial_rank());
  std::vector<Interval> box(rank), held(rank);
  bool any = false;
  for (Id buffer : stage.buffers) {
    std::vector<Interval> part(rank), held_part(rank);
    if (!needed(p, tree, parent, &nest, buffer, path, windows, part, &held_part)) continue;
    for (std::size_t d = 0; d < rank; ++d) widen(box, d, part[d], !any, facts), widen(held, d, held_part[d], !any, facts);
    any = true;
  }
  if (!any) refuse("region", "a reader of " + stage.name + " in the loop it is computed in", "none", nest.where);
  if (!declared && !domains) domains = domains_of(p);
  const bool covers = std::any_of(p.axes.begin(), p.axes.end(), [](const auto& a) { return a.second.tail == ir::Tail::cover; });
  // What has a fill has a value everywhere: its domain, the hull of all reads, is only taken where it makes a box simpler,
  // and where the hull over threads has no bound (a tile of rows f / N of a fused loop over threads, f in [0, N * N)).
  const auto within = [&](const Interval& i, const Interval& domain) {
    if (!stage.has_fill) return intersect(i, domain, facts);
    Interval r = i;
    if (!domain.lo.empty() && (i.lo.empty() || can_prove(ir::ge(domain.lo, i.lo), facts))) r.lo = simplify(domain.lo, facts);
    if (!domain.hi.empty() && (i.hi.empty() || can_prove(ir::le(domain.hi, i.hi), facts))) r.hi = simplify(domain.hi, facts);
    return r;
  };
  for (std::size_t k = 0; k < rank; ++k) {
    const ir::IterVar& v = stage.iters[k];
    Interval domain = declared ? Interval{v.begin, ir::sub(v.end, ir::index(1))} : domains->at(stage.id).box[k];
    if (declared && covers)
      if (const std::int64_t n = covered_past(p, stage, k)) domain.hi = ir::add(domain.hi, ir::index(n));
    box[k] = within(over_threads(p, path, stage, box[k], facts), domain);
    const Interval at_tables = within(over_threads(p, path, stage, held[k], facts), domain);
    if (is_window(at_tables, facts)) box[k] = at_tables;
  }
  close_box(p, stage, box);
  return box;
}

std::optional<VarRange> Windows::of(const Path& block, Id loop) {
  const Stmt& nest = *nest_on(block);
  const NestStmt& n = nest.get<NestStmt>();
  for (const ir::Slide& slide : n.slides) {
    if (slide.loop != loop) continue;
    auto at = known_.find(nest.id);
    if (at == known_.end()) {
      const Path path(block.begin(), std::find(block.begin(), block.end(), &nest) + 1);
      const ir::Stage& stage = p.stage(n.stage);
      const auto box = box_of(p, tree, path, loop, facts_down_to(p, path, loop), domains, this);
      std::size_t k = 0;
      while (stage.iters.at(k).id != slide.iter) ++k;
      at = known_.emplace(nest.id, box.at(k)).first;
    }
    return VarRange{slide.iter, at->second};
  }
  return std::nullopt;
}

void derive_nest(Program& p, const TreeIndex& tree, const Path& path, std::optional<Domains>& domains, Windows& windows) {
  Stmt& nest = const_cast<Stmt&>(*path.back());
  NestStmt& node = nest.get<NestStmt>();
  const ir::Stage& stage = p.stage(node.stage);
  const bool beside = node.sibling.has_value();  // its place is the host's, of whose loop each iteration has some of it
  const Stmt* host = host_of(path);
  const Id parent = beside ? parent_of(Path(path.begin(), std::find(path.begin(), path.end(), host) + 1)) : parent_of(path);
  const Facts facts = beside ? facts_at(p, path) : facts_down_to(p, path, parent);
  const std::optional<Values> shared = beside ? values_of(p, nest, node.sibling->axis) : std::nullopt;
  const bool declared = is_declared(stage);
  const std::size_t rank = static_cast<std::size_t>(stage.spatial_rank());
  std::vector<Interval> box(rank);
  Expr inhabited;
  const bool top = parent == 0;
  if (!(top && declared) && rank > 0) {
    box = box_of(p, tree, path, parent, facts, domains, node.slides.empty() ? nullptr : &windows);
    // a filled copy of an argument keeps its box; what else it may copy is there only where it is inhabited
    if (!declared && !(stage.has_fill && copies_arguments(p, stage)))
      inhabited = inhabited_where(p, domains->at(stage.id), box, path, facts);
  }
  const auto root_of = [&](const ir::IterVar& v) -> ir::Root& {
    for (ir::Root& r : node.roots)
      if (r.iter == v.id) return r;
    throw InternalError("a nest lacks a root for an iteration variable");
  };
  // Of the variables before the k-th. A variable whose loop is fused with another's depends on the other's extent, so that
  // values are asked for anew when extents have changed.
  const auto values_before = [&](std::size_t k) {
    ir::Substitution values;
    for (std::size_t n = 0; n < k; ++n) {
      const ir::Root& r = root_of(stage.iters[n]);
      const Expr step = ir::axis_value(p, r.axis);
      values.emplace_back(stage.iters[n].id, stage.iters[n].descending
                                                 ? ir::sub(ir::add(r.begin, ir::sub(r.extent, ir::index(1))), step)
                                                 : ir::add(r.begin, step));
    }
    return values;
  };
  // With the ranges of the nest's own loops over points, which the bounds of a reduction may use.
  const auto facts_of_points = [&] {
    Facts own = facts;
    for (const ir::Root& r : node.roots)
      if (!p.axis(r.axis).reduce)
        for (Id leaf : ir::leaves_of(p, r.axis))
          if (const Expr& n = p.axis(leaf).extent; !n.empty()) own.range(leaf, ir::index(0), ir::sub(n, ir::index(1)));
    return own;
  };
  for (std::size_t k = 0; k < stage.iters.size(); ++k) {
    const ir::IterVar& v = stage.iters[k];
    ir::Root* root = &root_of(v);
    const bool own_domain = v.kind == ir::IterKind::reduce || (top && declared);
    Expr extent;
    Interval i = own_domain ? Interval{v.begin, ir::sub(v.end, ir::index(1))} : box[k];
    if (own_domain) {  // bounds of a reduction may use the spatial variables
      const ir::Substitution values = v.kind == ir::IterKind::reduce ? values_before(k) : ir::Substitution{};
      const Expr inside = inside_tables(p, stage, v, root_of);
      for (Expr* end : {&i.lo, &i.hi}) {
        *end = ir::substitute(*end, values);
        if (!inside.empty())
          *end = ir::select(ir::substitute(inside, values), *end, end == &i.lo ? ir::index(0) : ir::index(-1));
      }
    } else {
      for (const ir::Slide& slide : node.slides) {
        if (slide.iter != v.id) continue;
        const Stmt* loop = nullptr;
        for (const Stmt* s : path)
          if (s->id == slide.loop) loop = s;
        if (!loop) throw InternalError("a nest slides along a loop that is not around it");
        const ir::LoopRange range = ir::range_of(p, *loop);
        const Id over = loop->get<LoopStmt>().axis;
        const Expr var = ir::axis_var(p, over);
        // Behind what the iteration before ended with; but what that wanted may lie before the domain altogether.
        Expr next = ir::add(shifted(i.hi, over, ir::sub(var, ir::index(1))), ir::index(1));
        Facts later = facts;
        later.range(over, ir::add(range.begin, ir::index(1)), ir::sub(range.end, ir::index(1)));
        next = simplify(next, later);
        if (!can_prove(ir::ge(next, i.lo), later)) next = ir::max(next, i.lo);
        const Expr warm_up = shifted(i.lo, over, range.begin);
        const Expr warm_end = shifted(i.hi, over, range.begin);
        const Expr first = ir::eq(var, range.begin);
        const auto from = [&](const Expr& lo, const Expr& hi) {
          return simplify(ir::add(ir::sub(hi, lo), ir::index(1)), facts);
        };
        extent = ir::select(first, from(warm_up, warm_end), from(next, i.hi));
        i.lo = ir::select(first, warm_up, next);
      }
    }
    if (extent.empty()) extent = ir::add(ir::sub(i.hi, i.lo), ir::index(1));
    if (shared && shared->iter == v.id) {
      const Expr before = ir::mul(ir::axis_value(p, node.sibling->loop), shared->unit), left = ir::sub(extent, before);
      extent = ir::min(shared->unit, left);
      i.lo = ir::add(i.lo, shared->descending ? ir::sub(left, extent) : before);
    }
    if (!can_prove(ir::ge(extent, ir::index(0)), facts)) extent = ir::max(ir::index(0), extent);
    if (k == 0 && !inhabited.empty()) extent = ir::select(inhabited, extent, ir::index(0));
    set_root(p, *root, i.lo, extent, v.kind == ir::IterKind::reduce && rank > 0 ? facts_of_points() : facts);
    if (k + 1 == rank) refresh_skews(p, nest, facts);  // of spatial axes alone
  }
}

// The begins and extents of a nest, and those of its axes.
std::vector<Expr> derived_of(const Program& p, const Stmt& nest) {
  std::vector<Expr> all;
  std::vector<Id> pending;
  for (const ir::Root& r : nest.get<NestStmt>().roots) all.push_back(r.begin), pending.push_back(r.axis);
  while (!pending.empty()) {
    const ir::Axis& a = p.axis(pending.back());
    pending.pop_back();
    all.push_back(a.extent), all.push_back(a.factor);
    pending.insert(pending.end(), a.became.begin(), a.became.end());
  }
  return all;
}

bool same_exprs(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Expr& x, const Expr& y) {
    return x.node() == y.node() || (!x.empty() && !y.empty() && ir::same(x, y));
  });
}

// `before`: the program with all its boxes from which a step made this one; those that are as they were stay.
void derive_once(Program& p, Id within, const Program* before) {
  const TreeIndex tree(p);
  const auto concerned = [&](const Path& path) { return under(path, within); };
  std::optional<KeptBoxes> kept;
  if (before) kept.emplace(*before, p, tree);
  std::optional<Domains> domains;  // where something needs them
  Windows windows(p, tree, domains);
  const bool pads = std::any_of(p.axes.begin(), p.axes.end(), [](const auto& a) {
    return a.second.tail == ir::Tail::pad || a.second.tail == ir::Tail::cover;
  });
  std::map<Id, std::vector<const Path*>> nests_of;  // by stage
  for (const Path& path : tree.nests) {
    NestStmt& nest = const_cast<Stmt*>(path.back())->get<NestStmt>();
    nests_of[nest.stage].push_back(&path);
    if (nest.after && concerned(path))
      for (ir::Root& r : nest.roots) r.extent = Expr();
  }
  const auto derive = [&](const Path& path) {
    if (!kept) return derive_nest(p, tree, path, domains, windows);
    if (kept->keeps(path)) return;
    const std::vector<Expr> earlier = derived_of(p, *path.back());
    derive_nest(p, tree, path, domains, windows);
    kept->derived(path, same_exprs(derived_of(p, *path.back()), earlier));
  };
  std::vector<const Path*> late;  // nests put after a producer, whose own boxes come first; it may be late itself
  std::set<Id> visited;
  const auto ready = [&](const Path& path) {
    const Id producer = path.back()->get<NestStmt>().after;
    return visited.count(producer) &&
           std::none_of(late.begin(), late.end(), [&](const Path* other) { return ir::is_nest_of(*other->back(), producer); });
  };
  for (Id id : consumers_first(p)) {
    for (const Path* path : nests_of[id])
      if (concerned(*path)) {
        path->back()->get<NestStmt>().after ? late.push_back(path) : derive(*path);
        if (pads) domains.reset();  // what it computes past its new box widens the domains of what it reads
      }
    visited.insert(id);
    for (bool more = true; more;) {
      more = false;
      for (auto it = late.begin(); it != late.end(); ++it)
        if (ready(**it)) {
          derive_after(p, tree, **it);
          late.erase(it);
          more = true;
          break;
        }
    }
  }
  if (!late.empty()) throw InternalError("a nest follows a producer that is not computed");
}

void derive(Program& p, Id within, const Program* before) {
  derive_once(p, within, before);
  const TreeIndex tree(p);
  // a nest beside another's loop follows the extents of that one's axes, which a consumer does not wait for
  if (std::any_of(tree.nests.begin(), tree.nests.end(),
                  [](const Path& path) { return path.back()->get<NestStmt>().sibling.has_value(); }))
    derive_once(p, within, nullptr);
}

}  // namespace

// ---- what stands in the headers ------------------------------------------------------------------------------------------

void derive_regions(Program& p, Id within) { derive(p, within, nullptr); }
void derive_regions(Program& p, const Program& before, Id within) { derive(p, within, &before); }

std::vector<Interval> required_region(const Program& p, Id nest_id, Steps steps) {
  const TreeIndex tree(p);
  std::optional<Domains> domains;
  Windows windows(p, tree, domains);
  for (const Path& path : tree.nests) {
    const Stmt& nest = *path.back();
    const NestStmt& n = nest.get<NestStmt>();
    if (nest.id != nest_id) continue;
    const ir::Stage& stage = p.stage(n.stage);
    std::vector<Interval> box(static_cast<std::size_t>(stage.spatial_rank()));
    bool any = false;
    for (Id buffer : stage.buffers) {
      std::vector<Interval> part(box.size());
      const bool whole_windows = !n.slides.empty() && steps == Steps::before;
      if (!needed(p, tree, parent_of(path), &nest, buffer, path, whole_windows ? &windows : nullptr, part)) continue;
      for (std::size_t d = 0; d < box.size(); ++d) widen(box, d, part[d], !any, facts_at(p, path));
      any = true;
    }
    if (steps == Steps::before) close_box(p, stage, box);
    for (Interval& i : box) i = over_threads(p, path, stage, i, facts_at(p, path));
    return any ? box : std::vector<Interval>{};
  }
  throw InternalError("required_region of a nest that is not in the program");
}

bool regions_are_known(const ir::Program& p) {
  bool known = true;
  ir::walk(p.body, [&](const ir::Stmt& s) {
    if (const NestStmt* nest = s.as<NestStmt>())
      for (const ir::Root& r : nest->roots) known = known && !r.begin.empty() && !r.extent.empty();
  });
  return known;
}

}  // namespace ashlar::analysis
