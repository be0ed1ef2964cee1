// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Obligations of loops: tails, kinds, order of accumulation.
#include <algorithm>

#include <ashlar/analysis/dropped.h>
#include <ashlar/ir/skew.h>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {

using analysis::Facts;
using analysis::Interval;

namespace {

Facts facts_around(const Program& p, const Stmt& loop) {
  auto path = ir::path_to(p, loop.id);
  path.pop_back();
  return analysis::facts_at(p, path);
}

bool derives_from(const Program& p, Id axis, Id ancestor) {
  if (axis == ancestor) return true;
  const ir::Axis& a = p.axis(axis);
  switch (a.origin) {
    case ir::Axis::Origin::root:
      return false;
    case ir::Axis::Origin::fused:
      return derives_from(p, a.outer, ancestor) || derives_from(p, a.inner, ancestor);
    case ir::Axis::Origin::skewed:
      return derives_from(p, a.outer, ancestor) || derives_from(p, a.parent, ancestor);
    default:
      return derives_from(p, a.parent, ancestor);
  }
}

// The split by shift whose outer axis this loop comes from; its iterations overlap. Null if there is none.
const ir::Axis* shifted_origin(const Program& p, Id axis) {
  for (const auto& [id, a] : p.axes)
    if (a.origin == ir::Axis::Origin::split_outer && a.tail == ir::Tail::shift && derives_from(p, axis, id)) return &a;
  return nullptr;
}

void prove_shift_outside_reduction(Context& c, const Stmt& nest, const ir::Axis& outer) {
  const NestStmt& node = nest.get<NestStmt>();
  // A tile that is computed again must start from its init: no reduction loop may stand around the tile loop, and an init that
  // stands apart must stand in it.
  const auto has = [&](const Stmt& s, ir::Piece piece) {
    bool found = false;
    ir::walk(s.body(),
             [&](const Stmt& b) { found = found || (ir::is_block_of(b, node.stage) && b.get<BlockStmt>().piece == piece); });
    return found;
  };
  std::vector<const Stmt*> loops;
  const std::function<void(const Stmt&, std::vector<const Stmt*>&)> visit = [&](const Stmt& s,
                                                                                std::vector<const Stmt*>& around) {
    if (const LoopStmt* loop = s.as<LoopStmt>()) {
      if (derives_from(c.p, loop->axis, outer.id))
        for (const Stmt* r : around)
          if (c.p.axis(r->get<LoopStmt>().axis).reduce)
            c.unproved(Obligation::idempotent, "a loop with Tail::shift outside of the reduction loops",
                       c.p.axis(loop->axis).name + " inside " + c.p.axis(r->get<LoopStmt>().axis).name,
                       "the last two tiles overlap; each step of " + c.p.axis(r->get<LoopStmt>().axis).name +
                           " would accumulate twice into their common points");
      if (derives_from(c.p, loop->axis, outer.id) && has(s, ir::Piece::update) && !has(s, ir::Piece::init))
        c.unproved(Obligation::idempotent, "the init inside the tile loop of Tail::shift",
                   c.p.stage(node.stage).name + ", whose init stands outside of " + c.p.axis(loop->axis).name,
                   "the last two tiles overlap, and both would accumulate into what one init has started");
      around.push_back(&s);
    }
    for (const Stmt& b : s.body())
      if (!b.is<NestStmt>()) visit(b, around);
    if (s.is<LoopStmt>()) around.pop_back();
  };
  visit(nest, loops);
}

const char* reducer_word(ir::ReducerKind kind) {
  static constexpr const char* words[] = {"none", "sum", "strict_sum", "product", "minimum", "maximum", "custom reduction"};
  return words[static_cast<int>(kind)];
}

// Tail::pad and Tail::cover, of which the second computes other stages past the end, and not this one.
void prove_pad(Context& c, const ir::Stage& stage, const Stmt& loop, bool covers) {
  const std::string tail = covers ? "Tail::cover" : "Tail::pad";
  const ir::Axis* a = &c.p.axis(loop.get<LoopStmt>().axis);
  while (a->origin == ir::Axis::Origin::split_outer) {
    const ir::Axis& split = c.p.axis(a->parent);
    // That tiles begin at different places is what vectors, threads and workers rely on: each tile is there once.
    if (a->tail == ir::Tail::shift)
      c.unproved(Obligation::overcompute, tail + " on a loop that may go past its end",
                 name_of(c.p, loop) + ", over the tiles of " + split.name + ", split with Tail::shift at " + location(a->where),
                 "iterations " + a->name + " = " + ir::text(ir::sub(a->extent, ir::index(1))) + " and " + a->name + " = " +
                     ir::text(a->extent) + " would both compute the last tile, from " + split.name + " = " +
                     ir::text(analysis::simplify(ir::sub(split.extent, a->factor))));
    a = &split;
  }
  if (a->origin != ir::Axis::Origin::root)
    return c.unproved(Obligation::overcompute, tail + " on a loop that runs over a whole dimension (or the outer part of one)",
                      name_of(c.p, loop) + (a->origin == ir::Axis::Origin::fused    ? ", a fused loop"
                                            : a->origin == ir::Axis::Origin::skewed ? ", a skewed loop"
                                                                                    : ", an inner part"));
  for (const ir::IterVar& v : stage.iters)
    if (v.id == a->iter && v.descending)
      c.unproved(Obligation::overcompute,
                 "a loop in the order of its variable: what lies past the end of a reversed one is before its begin",
                 name_of(c.p, loop));
  if (covers) {
    if (a->reduce) c.unproved(Obligation::overcompute, "Tail::cover on a spatial loop", name_of(c.p, loop) + ", a reduction");
    if (stage.scatters())
      c.unproved(Obligation::overcompute, "Tail::cover on a stage that computes each of its points",
                 stage.name + ", a scatter");
    return;
  }
  for (Id b : stage.buffers)
    if (!a->reduce && c.p.buffer(b).role != ir::Role::temporary)
      c.unproved(Obligation::overcompute, "Tail::pad on a stage with storage of its own",
                 stage.name + " writes the argument " + c.p.buffer(b).name +
                     ", which has no room past its extent (cache_write it first)");
  if (!a->reduce) return;
  if (stage.scatters())
    c.unproved(Obligation::overcompute, "a tail that takes no steps past the end (Tail::guard)",
               stage.name + ", a scatter, which would choose an element there");
  const ir::IterVar* k = nullptr;
  for (const ir::IterVar& v : stage.iters)
    if (v.id == a->iter) k = &v;
  if (!k) throw InternalError("an axis without its iteration variable");
  if (stage.reducer.kind != ir::ReducerKind::sum && stage.reducer.kind != ir::ReducerKind::strict_sum)
    c.unproved(Obligation::overcompute, "Tail::pad on a sum (padding adds zeros)",
               stage.name + ", a " + reducer_word(stage.reducer.kind));
  for (const Expr& v : stage.values)
    if (!zero_from(c.p, v, k->id, k->end))
      c.unproved(Obligation::overcompute,
                 "terms that are zero past the end of " + k->name + " (cache_read both factors with fill 0: 0 * NaN is NaN)",
                 ir::text(v));
}

}  // namespace

bool zero_from(const Program& p, const Expr& value, Id k, const Expr& end) {
  const auto args = ir::args_of(value);
  switch (ir::op_of(value)) {
    case ir::Op::int_const:
      return value.node()->i == 0;
    case ir::Op::float_const:
      return value.node()->f == 0;
    case ir::Op::mul:
      return zero_from(p, args[0], k, end) && zero_from(p, args[1], k, end);
    case ir::Op::cast:
      return zero_from(p, args[0], k, end);
    case ir::Op::select: {
      if (zero_from(p, args[1], k, end) && zero_from(p, args[2], k, end)) return true;
      Facts facts = analysis::facts_of_arguments(p);
      facts.range(k, end, {});
      return analysis::can_prove(ir::logic_not(args[0]), facts) && zero_from(p, args[2], k, end);
    }
    case ir::Op::load: {
      const ir::Buffer& b = p.buffer(value.node()->id);
      if (!b.stage) return false;
      const ir::Stage& s = p.stage(b.stage);
      if (!s.has_fill || !zero_from(p, s.fill, k, end)) return false;
      const auto box = declared_box(p, p.buffer(s.origin_of));
      for (std::size_t d = 0; box && d < args.size(); ++d) {
        Facts facts = analysis::facts_of_arguments(p);
        facts.range(k, end, {});
        if (analysis::can_prove(ir::ge(args[d], (*box)[d].second), facts)) return true;
      }
      return false;
    }
    default:
      return false;
  }
}

void prove_tail(Context& c, const Stmt& loop, const Expr& factor, ir::Tail tail) {
  const ir::Axis& axis = c.p.axis(loop.get<LoopStmt>().axis);
  const ir::Stage& stage = stage_around(c.p, loop.id);
  const Facts facts = facts_around(c.p, loop);
  const std::string name = name_of(c.p, loop);
  if (stage.is_recurrence() && tail == ir::Tail::shift)
    c.unproved(Obligation::idempotent, "a stage that does not read itself",
               stage.name + ", a recurrence: the last tile would compute again what other steps have read");
  if (stage.is_recurrence() && (tail == ir::Tail::pad || tail == ir::Tail::cover))
    c.unproved(Obligation::overcompute, "a stage that does not read itself",
               stage.name + ", a recurrence: what lies past the end of " + name + " has nothing before it");
  switch (tail) {
    case ir::Tail::exact: {
      const auto proof = analysis::prove(ir::eq(ir::mod(axis.extent, factor), ir::index(0)), facts);
      if (!proof)
        c.unproved(Obligation::overcompute,
                   "an extent of " + name + " that " + ir::text(factor) + " divides (a constant, or a Symbol with multiple_of)",
                   ir::text(axis.extent), proof.why);
      break;
    }
    case ir::Tail::shift: {
      if (axis.reduce)
        c.unproved(Obligation::idempotent, "Tail::shift on a spatial loop",
                   name + ", a reduction: the overlap would be accumulated twice");
      for (const Id b : stage.buffers)
        if (const ir::Buffer& stored = c.p.buffer(b); stored.may_alias_inputs)
          c.unproved(Obligation::idempotent, "a result that lies apart from the inputs",
                     stored.name + ", which may be an input: the last tile would read what the one before it has stored");
      const auto proof = analysis::prove(ir::ge(axis.extent, factor), facts);
      if (!proof)
        c.unproved(
            Obligation::overcompute,
            "an extent of " + name + " of at least " + ir::text(factor) + " (a Symbol with min), so that the last tile fits",
            ir::text(axis.extent), proof.why);
      break;
    }
    case ir::Tail::pad:
    case ir::Tail::cover:
      prove_pad(c, stage, loop, tail == ir::Tail::cover);
      break;
    default:
      break;
  }
}

void prove_split(Context& c, const Stmt& nest, const ir::Axis& outer) {
  const ir::Axis& parent = c.p.axis(outer.parent);
  auto path = ir::path_to(c.p, nest.id);
  const Facts facts = analysis::facts_at(c.p, path);
  const std::string split =
      parent.name + " of " + c.p.stage(nest.get<NestStmt>().stage).name + ", split at " + location(outer.where);
  if (outer.tail == ir::Tail::exact) {
    const auto proof = analysis::prove(ir::eq(ir::mod(parent.extent, outer.factor), ir::index(0)), facts);
    if (!proof)
      c.unproved(Obligation::overcompute, "an extent that " + ir::text(outer.factor) + " still divides for " + split,
                 ir::text(parent.extent), proof.why);
  }
  if (outer.tail == ir::Tail::shift) {
    const auto proof = analysis::prove(ir::ge(parent.extent, outer.factor), facts);
    if (!proof)
      c.unproved(Obligation::overcompute, "an extent still of at least " + ir::text(outer.factor) + " for " + split,
                 ir::text(parent.extent), proof.why);
    prove_shift_outside_reduction(c, nest, outer);
  }
}

namespace {
// A loop of a skewed pair: it stands inside the loop over the other axis, or a part of it, and its ends follow from that.
void prove_tight_skewed(Context& c, const Stmt& loop, const std::vector<Id>& skews) {
  const std::string name = name_of(c.p, loop);
  const LoopStmt& node = loop.get<LoopStmt>();
  if (node.part != ir::Part::all) c.refuse("a whole loop (peel and partition know no ends that follow a skew)", name);
  if (node.kind == ir::LoopKind::bound || node.kind == ir::LoopKind::vthread)
    c.refuse("a loop with as many iterations for all threads", name + ", which was tightened along a skew");
  std::string inside;
  for (Id y : skews) {
    const ir::Axis& skewed = c.p.axis(y);
    const bool moves = derives_from(c.p, node.axis, y);
    const std::vector<Id> other = ir::leaves_of(c.p, moves ? skewed.outer : y);
    for (const Stmt* s : ir::path_to(c.p, loop.id))
      if (const LoopStmt* l = s->as<LoopStmt>();
          l && s->id != loop.id && std::find(other.begin(), other.end(), l->axis) != other.end())
        return;
    inside += (inside.empty() ? "" : ", ") + c.p.axis(other.front()).name;
  }
  c.refuse("a loop of the axis that " + name + " was skewed with to stand around it", inside + " inside it");
}
}  // namespace

void prove_tight(Context& c, const Stmt& loop) {
  const LoopStmt& node = loop.get<LoopStmt>();
  const ir::Axis& a = c.p.axis(node.axis);
  if (const std::vector<Id> skews = ir::skews_of(c.p, node.axis); !skews.empty()) return prove_tight_skewed(c, loop, skews);
  if (a.origin != ir::Axis::Origin::split_inner || (a.tail != ir::Tail::guard && a.tail != ir::Tail::predicate))
    c.refuse("the inner loop of a split with Tail::guard, or a loop of two skewed axes",
             name_of(c.p, loop) + (a.origin == ir::Axis::Origin::split_inner   ? ", the inner loop of a split with another tail"
                                   : a.origin == ir::Axis::Origin::split_outer ? ", the outer loop of a split"
                                   : a.origin == ir::Axis::Origin::fused       ? ", a fused loop"
                                                                               : ", which no split made"));
  for (Id leaf : ir::leaves_of(c.p, c.p.axis(a.parent).became.front())) {
    bool around = false;
    for (const Stmt* s : ir::path_to(c.p, loop.id)) around |= ir::runs_over(*s, leaf) && s->id != loop.id;
    if (!around)
      c.refuse("the outer loop of the split that made " + name_of(c.p, loop) + " to stand around it",
               c.p.axis(leaf).name + " inside it");
  }
}

void prove_constant_extent(Context& c, const Stmt& loop, std::int64_t most) {
  const ir::LoopRange r = ir::range_of(c.p, loop);
  const Expr extent = analysis::simplify(ir::sub(r.end, r.begin), facts_around(c.p, loop));
  std::int64_t n = 0;
  if (!ir::is_int(extent, &n))
    c.refuse("a loop of constant extent (split it first)", name_of(c.p, loop) + " in " + ir::text(extent));
  if (n > most) c.refuse("an extent of at most " + std::to_string(most), name_of(c.p, loop) + " in " + std::to_string(n));
}

namespace {

void no_kind_around_or_inside(Context& c, const Stmt& loop, ir::LoopKind kind, const std::string& expected) {
  for (const Stmt* s : ir::path_to(c.p, loop.id))
    if (const LoopStmt* l = s->as<LoopStmt>(); l && s->id != loop.id && l->kind == kind)
      c.refuse(expected, name_of(c.p, loop) + " inside " + name_of(c.p, *s) + ", at " + location(s->where));
  ir::walk(loop.body(), [&](const Stmt& s) {
    if (ir::is_loop(s, kind))
      c.refuse(expected, name_of(c.p, s) + ", at " + location(s.where) + ", inside " + name_of(c.p, loop));
  });
}

// Two iterations of a reduction loop, as text.
std::string two_updates(const Program& p, const Stmt& loop, const ir::Stage& stage) {
  const std::string k = p.axis(loop.get<LoopStmt>().axis).name;
  std::string at;
  for (const ir::IterVar& v : stage.iters)
    if (v.kind != ir::IterKind::reduce) at += (at.empty() ? "" : ", ") + v.name;
  return "iterations " + k + " = 0 and " + k + " = 1 both update " + stage.name + "[" + at + "]";
}

}  // namespace

namespace {

// Does a stage store to another place as one of its leaf axes moves? Not if it lies in a ring of one.
bool moves(const Program& p, const NestStmt& nest, const ir::Buffer& buffer, Id axis) {
  if (buffer.layout.map.empty()) return true;
  const ir::Substitution values = ir::iter_values(p, nest);
  ir::Substitution at;
  for (const ir::IterVar& v : p.stage(nest.stage).iters)
    if (v.kind != ir::IterKind::reduce)
      at.emplace_back(buffer.layout.vars.at(at.size()), ir::substitute(ir::var(v.id, v.name), values));
  return std::any_of(buffer.layout.map.begin(), buffer.layout.map.end(),
                     [&](const Expr& e) { return ir::uses_var(analysis::simplify(ir::substitute(e, at)), axis); });
}

}  // namespace

void prove_vectorizable(Context& c, const Stmt& loop) {
  const LoopStmt& node = loop.get<LoopStmt>();
  const ir::Axis& axis = c.p.axis(node.axis);
  const ir::Stage& stage = stage_around(c.p, loop.id);
  const bool puts = axis.reduce && stage.scatters();
  if (puts) prove_steps_apart(c, loop, "lanes that store to places of their own", "rfactor makes private results");
  if (axis.reduce && !puts)
    c.unproved(Obligation::disjoint, "a loop whose iterations are independent (rfactor makes lanes of a reduction)",
               name_of(c.p, loop) + ", a reduction", two_updates(c.p, loop, stage));
  if (stage.is_reduction() && shifted_origin(c.p, node.axis))
    c.unproved(Obligation::disjoint, "a loop whose iterations are independent",
               name_of(c.p, loop) + ", tiles that overlap by Tail::shift",
               "the last two tiles both accumulate into their common points");
  // Tiles begin at different places, so lanes over whole tiles never meet; lanes over tiles and what is in them do.
  for (const auto& [id, a] : c.p.axes)
    if (a.origin == ir::Axis::Origin::split_outer && a.tail == ir::Tail::shift && derives_from(c.p, node.axis, id) &&
        derives_from(c.p, node.axis, c.p.axis(a.parent).became[1]))
      c.unproved(Obligation::disjoint, "lanes that store to places of their own",
                 name_of(c.p, loop) + ", a fusion of tiles that overlap by Tail::shift",
                 "the last two tiles both store their common points");
  const bool same = analysis::over_dropped(c.p, loop, analysis::dropped_iters(c.p, stage));  // prove_dropped's business
  if (!ir::is_int(axis.extent, 1) && !puts)
    for (Id b : stage.buffers)
      if (!(same && !c.p.buffer(b).layout.dropped.empty()) &&
          !moves(c.p, nest_of(c.p, loop.id).get<NestStmt>(), c.p.buffer(b), axis.id))
        c.unproved(Obligation::disjoint, "lanes that store to places of their own",
                   name_of(c.p, loop) + ", while " + c.p.buffer(b).name + " keeps one element for all of them");
  no_kind_around_or_inside(c, loop, ir::LoopKind::vectorized, "one vectorized loop on a path");
  ir::walk(loop.body(), [&](const Stmt& s) {
    if (const NestStmt* nest = s.as<NestStmt>())
      c.refuse("a vectorized loop with nothing computed inside it",
               c.p.stage(nest->stage).name + " is computed inside " + name_of(c.p, loop));
    if (const LoopStmt* l = s.as<LoopStmt>()) {
      if (l->kind == ir::LoopKind::parallel)
        c.refuse("parallel loops outside of vectorized ones", name_of(c.p, s) + " inside " + name_of(c.p, loop));
      const ir::LoopRange r = ir::range_of(c.p, s);
      if (ir::uses_var(r.begin, axis.id) || ir::uses_var(r.end, axis.id))
        c.unproved(
            Obligation::capacity, "inner loops that run alike in every lane",
            name_of(c.p, s) + " from " + ir::text(r.begin) + " to " + ir::text(r.end) + ", which depends on " + axis.name,
            "lanes " + axis.name + " = 0 and " + axis.name + " = 1 run other iterations of " + c.p.axis(l->axis).name);
    }
  });
}

void prove_independent(Context& c, const Stmt& loop, bool in_memory) {
  const LoopStmt& node = loop.get<LoopStmt>();
  const Program& p = c.p;
  const ir::Axis& axis = p.axis(node.axis);
  const Stmt& nest = nest_of(p, loop.id);
  const ir::Stage& stage = p.stage(nest.get<NestStmt>().stage);
  const std::string independent = "a loop whose iterations are independent";
  if (axis.reduce && !(stage.atomic && in_memory)) {
    if (!stage.scatters())
      return c.unproved(Obligation::disjoint, independent + " (rfactor makes one of partial results)",
                        name_of(p, loop) + ", a reduction", two_updates(p, loop, stage));
    prove_steps_apart(c, loop, independent, "rfactor makes private results, atomic combines in memory");
  }
  if (stage.is_reduction())
    if (shifted_origin(p, node.axis))
      c.unproved(Obligation::disjoint, independent, name_of(p, loop) + ", tiles that overlap by Tail::shift",
                 "the last two tiles both accumulate into their common points of " + stage.name);
  prove_apart(c, loop);
}

// What other stages write inside must be private to an iteration, or lie in places of its own.
void prove_apart(Context& c, const Stmt& loop) {
  const LoopStmt& node = loop.get<LoopStmt>();
  const Program& p = c.p;
  const ir::Axis& axis = p.axis(node.axis);
  const ir::Stage& stage = stage_around(p, loop.id);
  const std::string independent = "a loop whose iterations are independent";
  ir::walk(loop.body(), [&](const Stmt& s) {
    const NestStmt* nest = s.as<NestStmt>();
    if (!nest || nest->stage == stage.id) return;
    const ir::Stage& inner = p.stage(nest->stage);
    for (const ir::Slide& slide : nest->slides)
      if (slide.loop == loop.id)
        c.unproved(Obligation::disjoint, independent, name_of(p, loop) + ", along which " + inner.name + " slides",
                   "iteration " + axis.name + " = 1 reads what iteration " + axis.name + " = 0 computed");
    if (nest->after == stage.id && !shifted_origin(p, node.axis)) return;  // at the points its producer owns
    for (Id b : inner.buffers) {
      const Stmt* alloc = ir::alloc_of(p, b);
      if (alloc && encloses(p, loop.id, alloc->id)) continue;
      bool apart = false;
      std::string shared = "iterations " + axis.name + " = 0 and " + axis.name + " = 1 both write " + p.buffer(b).name;
      auto path = ir::path_to(p, s.id);
      const Facts facts = analysis::facts_at(p, path);
      const auto below = analysis::loops_below(p, path, loop.id);
      const std::set<Id> dropped = p.buffer(b).layout.dropped.empty() ? std::set<Id>{} : analysis::dropped_iters(p, inner);
      const analysis::Box stored = alloc ? analysis::logical_box(p, alloc->id) : analysis::Box{};
      for (std::size_t d = 0; d < nest->roots.size(); ++d) {
        const ir::Root& r = nest->roots[d];
        if (dropped.count(r.iter) || p.axis(r.axis).reduce) continue;  // no place of its own there
        const Expr last = ir::sub(ir::add(r.begin, analysis::covered_extent(p, r.axis)), ir::index(1));
        const Interval lo = analysis::bounds_over(r.begin, below, facts), hi = analysis::bounds_over(last, below, facts);
        if (lo.lo.empty() || hi.hi.empty()) continue;
        const Expr next = ir::substitute(lo.lo, {{axis.id, ir::add(ir::axis_var(p, axis.id), ir::index(1))}});
        const auto slots = alloc ? ring_of(p.buffer(b).layout, d) : std::nullopt;
        const bool wraps = slots && !analysis::can_prove(ir::le(stored.extent.at(d), ir::index(*slots)), facts);
        if (!wraps && analysis::can_prove(ir::lt(hi.hi, next), facts)) apart = true;
        shared = wraps ? "element " + std::to_string(*slots) + " of dimension " + std::to_string(d) +
                             " lies in the place of element 0, which another iteration writes"
                       : "iterations " + axis.name + " = 0 and " + axis.name + " = 1 both write " + p.buffer(b).name + ": " +
                             ir::text(hi.hi) + " of iteration " + axis.name + " against " + ir::text(next) + " of the next";
      }
      if (!apart)
        c.unproved(Obligation::disjoint,
                   "storage of its own for each iteration of " + name_of(p, loop) + " (store " + inner.name + " inside it)",
                   inner.name + " is computed inside and stored outside", shared);
    }
  });
}

void prove_parallel(Context& c, const Stmt& loop) {
  prove_independent(c, loop, true);
  const Program& p = c.p;
  no_kind_around_or_inside(c, loop, ir::LoopKind::parallel, "one parallel loop on a path (fuse them)");
  for (const Stmt* s : ir::path_to(p, loop.id))
    if (ir::is_loop(*s, ir::LoopKind::vectorized) && s->id != loop.id)
      c.refuse("parallel loops outside of vectorized ones", name_of(p, loop) + " inside " + name_of(p, *s));
}

void prove_reassociation(Context& c, const ir::Stage& stage, const std::string& because, const std::string& conflict) {
  if (!stage.is_reduction() || stage.reducer.order == ir::Reducer::Order::any) return;
  if (stage.reducer.kind == ir::ReducerKind::strict_sum)
    return c.unproved(Obligation::reassoc, "a reduction that may be regrouped (sum, not strict_sum)",
                      stage.name + " is accumulated in order; " + because, conflict);
  c.unproved(Obligation::reassoc, "a reducer declared with Order::any",
             stage.reducer.name + " of " + stage.name + ", whose terms are met in order; " + because, conflict);
}

void prove_joinable(Context& c, const ir::Stage& stage, const char* because) {
  if (!stage.reducer.unjoinable.empty())
    c.unproved(Obligation::reassoc, std::string("a reducer whose identity combines with itself (") + because + ")",
               stage.reducer.name + " of " + stage.name, stage.reducer.unjoinable);
}

}  // namespace ashlar::schedule
