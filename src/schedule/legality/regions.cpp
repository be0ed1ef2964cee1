// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Obligations of storage and placement: windows, rings, domains, order of computation.
#include <algorithm>
#include <set>
#include <unordered_map>

#include <ashlar/analysis/domains.h>
#include <ashlar/analysis/puts.h>
#include <ashlar/analysis/wraps.h>
#include <ashlar/ir/recurrence.h>

#include <ashlar/analysis/reads.h>
#include "schedule/legality/inside.h"
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

using analysis::Facts;
using analysis::Interval;

namespace {

const Stmt& loop_around(const Program& p, const Stmt& nest, Id loop) {
  for (const Stmt* s : ir::path_to(p, nest.id))
    if (s->id == loop && s->is<LoopStmt>()) return *s;
  throw InternalError("a nest slides along a loop that is not around it");
}

Expr at_axis(const Expr& e, Id axis, const Expr& value) { return ir::substitute(e, {{axis, value}}); }

// What the guards of the splits that made an axis test, the outermost one first: value < extent.
std::vector<Expr> guards_of(const Program& p, const ir::Axis& axis) {
  std::vector<Expr> guards;
  for (const ir::Axis* a = &axis; a->origin == ir::Axis::Origin::split_inner || a->origin == ir::Axis::Origin::split_outer;) {
    const ir::Axis& whole = p.axis(a->parent);
    if (a->tail == ir::Tail::guard || a->tail == ir::Tail::predicate)
      guards.insert(guards.begin(), ir::lt(ir::axis_value(p, whole.id), whole.extent));
    a = &whole;
  }
  return guards;
}

// An iteration that a guard leaves out, and all behind it, need nothing. Where a window in such an iteration ends no later than
// the one before (`ends`), nothing is computed in it either, and the window has to move as it should in the iterations before
// alone: the facts of these. All facts otherwise.
Facts before_guards(const Facts& facts, const std::vector<Expr>& guards, const Expr& ends) {
  Facts inside = facts;
  for (const Expr& guard : guards) {
    if (analysis::can_prove(guard, inside)) continue;
    Facts left_out = inside;
    left_out.assume(ir::logic_not(guard));
    if (!analysis::can_prove(ends, left_out)) return facts;
    inside.assume(guard);
  }
  return inside;
}

// The outer loop of a padded split below an axis: what it computes past the extent is part of no box.
const ir::Axis* padded_below(const Program& p, Id axis) {
  for (Id n : p.axis(axis).became) {
    const ir::Axis& a = p.axis(n);
    if (a.origin == ir::Axis::Origin::split_outer && a.tail == ir::Tail::pad) return &a;
    if (const ir::Axis* below = padded_below(p, n)) return below;
  }
  return nullptr;
}

}  // namespace

// For every iteration r of the loop but the first: the window moves forward (lo and hi do not fall), leaves no gap
// (lo(r) <= hi(r-1) + 1), and in the other dimensions it stays where it is.
void prove_slide(Context& c, const Stmt& nest, const ir::Slide& slide) {
  const NestStmt& node = nest.get<NestStmt>();
  const Program& p = c.p;
  const ir::Stage& stage = p.stage(node.stage);
  const Stmt& loop = loop_around(p, nest, slide.loop);
  const LoopStmt& l = loop.get<LoopStmt>();
  const ir::Axis& axis = p.axis(l.axis);
  const std::string where = stage.name + " along " + name_of(p, loop);
  if (l.kind != ir::LoopKind::serial && l.kind != ir::LoopKind::unrolled)
    c.unproved(Obligation::disjoint, "a serial or unrolled loop to slide along",
               name_of(p, loop) + ", which is " + word(l.kind),
               "iteration " + axis.name + " = 1 reads what " + axis.name + " = 0 computed");
  const auto path = ir::path_to(p, nest.id);
  if (path.size() < 2 || path[path.size() - 2]->id != loop.id)
    c.unproved(Obligation::cover, "the stage to be computed directly inside the loop it slides along",
               where + " (compute_at that loop first)");
  for (Id b : stage.buffers) {
    const Stmt* alloc = ir::alloc_of(p, b);
    if (alloc && encloses(p, loop.id, alloc->id))
      c.unproved(Obligation::cover, "storage outside of the loop it slides along (store_at an outer loop)",
                 p.buffer(b).name + " is stored inside " + name_of(p, loop));
  }
  for (const ir::Root& r : node.roots)
    if (const ir::Axis* padded = r.iter == slide.iter ? padded_below(p, r.axis) : nullptr)
      c.unproved(Obligation::cover, "a nest that computes nothing past its window in the dimension in which it slides",
                 where + ", whose " + padded->name + " is of a split with Tail::pad",
                 "the first iteration computes rows past its window from rows that are not there yet");
  Facts facts = analysis::facts_at(p, path);
  const ir::LoopRange range = ir::range_of(p, loop);
  facts.range(axis.id, ir::add(range.begin, ir::index(1)), ir::sub(range.end, ir::index(1)));
  const auto window = analysis::required_region(p, nest.id);
  const Expr before = ir::sub(ir::axis_var(p, axis.id), ir::index(1));
  const bool guarded =
      axis.origin == ir::Axis::Origin::split_inner && (axis.tail == ir::Tail::guard || axis.tail == ir::Tail::predicate);
  const std::string advice = guarded && !l.tight
                                 ? " (tighten(" + axis.name +
                                       ") first, or split with Tail::exact or Tail::shift: the last iterations of a " +
                                       "guarded split need nothing)"
                                 : "";
  const std::vector<Expr> guards = guards_of(p, axis);
  std::size_t d = 0;
  for (const ir::IterVar& v : stage.iters) {
    if (v.kind == ir::IterKind::reduce) continue;
    const Interval& now = window.at(d++);
    const Interval earlier{at_axis(now.lo, axis.id, before), at_axis(now.hi, axis.id, before)};
    const std::string shows = "[" + ir::text(now.lo) + ", " + ir::text(now.hi) + "]";
    if (v.id != slide.iter) {
      if (ir::uses_var(now.lo, axis.id) || ir::uses_var(now.hi, axis.id))
        c.unproved(Obligation::cover, "a window that moves in one dimension", where + " moves in " + v.name + " too: " + shows);
      continue;
    }
    const Facts moving = before_guards(facts, guards, ir::le(now.hi, earlier.hi));
    for (const auto& [condition, fault] :
         {std::pair{ir::ge(now.lo, earlier.lo), "begins before the one of the iteration before"},
          std::pair{ir::ge(now.hi, earlier.hi), "ends before the one of the iteration before"},
          std::pair{ir::le(now.lo, ir::add(earlier.hi, ir::index(1))), "leaves a gap after the one of the iteration before"}}) {
      const auto proof = analysis::prove(condition, moving);
      if (!proof)
        c.unproved(Obligation::cover, "a window that moves forward without gaps" + advice,
                   where + ": " + v.name + " in " + shows + " " + fault, proof.why);
    }
  }
}

std::optional<std::int64_t> ring_of(const ir::Layout& layout, std::size_t dim) {
  if (layout.map.empty()) return {};
  int uses = 0;
  std::int64_t n = 1;  // an index that no coordinate uses: a ring of one
  bool ring = true;
  for (const Expr& e : layout.map) {
    if (!ir::uses_var(e, layout.vars.at(dim))) continue;
    ++uses;
    ring = ir::is(e, ir::Op::mod) && ir::is(ir::args_of(e)[0], ir::Op::var) && ir::is_int(ir::args_of(e)[1], &n);
  }
  if (uses > 1 || !ring) return {};  // a plain coordinate, or a digit of a panel
  const bool dropped = std::find(layout.dropped.begin(), layout.dropped.end(), static_cast<int>(dim)) != layout.dropped.end();
  return dropped ? std::nullopt : std::optional(n);
}

// A ring of n: everything that is live at once in that dimension, the window a reader needs while the stage is computed for
// it, fits n.
void prove_fold(Context& c, const ir::Buffer& buffer) {
  const Program& p = c.p;
  for (std::size_t dim = 0; dim < buffer.layout.vars.size(); ++dim) {
    const auto slots = ring_of(buffer.layout, dim);
    if (!slots) continue;
    const std::int64_t n = *slots;
    for (const Stmt* nest : ir::nests_of(p, buffer.stage)) {
      if (prove_steps_fold(c, *nest, buffer, dim, n)) continue;
      auto path = ir::path_to(p, nest->id);
      const Facts facts = analysis::facts_at(p, path);
      const auto window = analysis::required_region(p, nest->id);
      if (window.empty())
        c.refuse("readers of " + buffer.name + " beside where it is computed",
                 p.stage(buffer.stage).name + ", which has none there");
      Interval live = window.at(dim);
      const Id iter = p.stage(buffer.stage).iters[dim].id;
      const bool slides = std::any_of(nest->get<NestStmt>().slides.begin(), nest->get<NestStmt>().slides.end(),
                                      [&](const ir::Slide& s) { return s.iter == iter; });
      for (const ir::Root& r : nest->get<NestStmt>().roots)
        if (r.iter == iter) {
          const Expr covered = analysis::covered_extent(p, r.axis);
          if (!slides) {  // all of what is computed, which may be more than what is read
            live = {r.begin, ir::sub(ir::add(r.begin, covered), ir::index(1))};
            break;
          }
          if (!ir::same(covered, r.extent)) live.hi = ir::add(live.hi, ir::sub(covered, r.extent));
        }
      const Expr extent = analysis::simplify(ir::add(ir::sub(live.hi, live.lo), ir::index(1)), facts);
      const auto proof = analysis::prove(ir::le(extent, ir::index(n)), facts);
      if (!proof) {
        std::string later;
        if (path.size() == 1)
          later = ", and all of " + buffer.name +
                  " is computed before its readers; compute_at (and slide, where windows overlap) come before fold";
        else if (nest->get<NestStmt>().slides.empty())
          later = "; where its windows overlap, slide comes before fold";
        c.unproved(Obligation::capacity,
                   "a ring with room for all live elements: dimension " + std::to_string(dim) + " of " + buffer.name +
                       " holds " + ir::text(extent),
                   std::to_string(n) + later, proof.why);
      }
    }
  }
}

namespace {

// Which values of an axis an iteration of the loops around leaves to the loops inside: one, a run without gaps, all, or others.
enum class Left { one, run, all, gaps };

Left left_inside(const Program& p, Id axis, const std::vector<const Stmt*>& around) {
  const ir::Axis& a = p.axis(axis);
  if (a.became.empty()) {
    const bool fixed = ir::is_int(a.extent, 1) ||
                       std::any_of(around.begin(), around.end(), [&](const Stmt* s) { return ir::runs_over(*s, axis); });
    return fixed ? Left::one : Left::all;
  }
  const Left outer = left_inside(p, a.became[0], around);
  if (p.axis(a.became[0]).origin == ir::Axis::Origin::skewed) {  // one of both axes leaves a diagonal
    const Left along = left_inside(p, p.axis(a.became[0]).outer, around);
    if (outer == Left::all) return Left::all;
    return outer == Left::one && along == Left::one ? Left::one : Left::gaps;
  }
  if (a.became.size() == 1) return outer == Left::run ? Left::gaps : outer;  // part of a fused axis is not a box
  const Left inner = left_inside(p, a.became[1], around);
  if (outer == Left::gaps || inner == Left::gaps) return Left::gaps;
  if (outer == Left::one) return inner == Left::all && !ir::is_int(p.axis(a.became[0]).extent, 1) ? Left::run : inner;
  if (inner == Left::one) return ir::is_int(p.axis(a.became[0]).factor, 1) ? outer : Left::gaps;
  return inner == Left::all ? outer : Left::gaps;
}

// Does the statement accumulate, or store whole, points of the stage?
bool finishes(const Stmt& s, Id stage) {
  if (const BlockStmt* block = s.as<BlockStmt>(); block && block->stage == stage) return block->piece != ir::Piece::init;
  return std::any_of(s.body().begin(), s.body().end(), [&](const Stmt& b) { return finishes(b, stage); });
}

// Nothing of the producer comes after the nest but the other parts of a loop that was peeled, which have other points.
void prove_finished(Context& c, const std::vector<const Stmt*>& path, const ir::Stage& producer) {
  for (std::size_t k = 0; k + 1 < path.size(); ++k) {
    const std::vector<Stmt>& body = path[k]->body();
    for (const Stmt* s = path[k + 1] + 1; s != body.data() + body.size(); ++s) {
      if (!finishes(*s, producer.id)) continue;
      const LoopStmt *later = s->as<LoopStmt>(), *here = path[k + 1]->as<LoopStmt>();
      const bool parts =
          later && here && later->axis == here->axis && !c.p.axis(here->axis).reduce && finishes(*path[k + 1], producer.id);
      if (!parts)
        c.unproved(Obligation::order, "a loop after which the points of " + producer.name + " are finished",
                   (here ? name_of(c.p, *path[k + 1]) : c.p.stage(path.back()->get<NestStmt>().stage).name) + ", after which " +
                       producer.name + " goes on");
    }
  }
}

}  // namespace

// Reverse compute_at: the nest runs where its producer's points are finished, each point once; they are a box.
void prove_after(Context& c, const Stmt& nest) {
  const NestStmt& node = nest.get<NestStmt>();
  const Program& p = c.p;
  const auto path = ir::path_to(p, nest.id);
  const ir::Stage& producer = p.stage(node.after);
  for (const Stmt* s : path) {
    const NestStmt* n = s->as<NestStmt>();
    if (!n || n->stage != producer.id) continue;
    for (const ir::Root& r : n->roots)
      if (!p.axis(r.axis).reduce && left_inside(p, r.axis, path) == Left::gaps)
        c.unproved(Obligation::cover,
                   "the loops of " + producer.name + " inside, where " + p.stage(node.stage).name +
                       " is computed, to finish a box of it (outer parts of a split around inner ones)",
                   p.axis(r.axis).name + ", parts of which they finish with gaps between them");
  }
  for (const Stmt* s : path) {
    const LoopStmt* loop = s->as<LoopStmt>();
    if (!loop || stage_around(p, s->id).id != producer.id || !p.axis(loop->axis).reduce) continue;
    // inside a reduction loop: its last iteration alone, which must exist
    const Facts facts = analysis::facts_of_arguments(p);
    const auto proof = analysis::prove(ir::ge(p.axis(loop->axis).extent, ir::index(1)), facts);
    if (!proof)
      c.unproved(Obligation::cover,
                 "a reduction with at least one step (a Symbol with min 1), else " + p.stage(node.stage).name +
                     " would never be computed",
                 p.axis(loop->axis).name + " in " + ir::text(p.axis(loop->axis).extent), proof.why);
    const ir::LoopRange r = ir::range_of(p, *s);
    const Expr last = ir::sub(p.axis(loop->axis).extent, ir::index(1));
    if (loop->part == ir::Part::but_last || loop->part == ir::Part::first || loop->part == ir::Part::middle ||
        loop->part == ir::Part::full || loop->part == ir::Part::below || loop->part == ir::Part::between)
      c.unproved(
          Obligation::cover, "the loop that holds the last step of the reduction",
          name_of(p, *s) + " in [" + ir::text(r.begin) + ", " + ir::text(r.end) + "), while the last is " + ir::text(last));
  }
  prove_finished(c, path, producer);
}

// ---- order -----------------------------------------------------------------------------------------------------------------

namespace {

class Ids {  // a set of ids below a bound, which are dense
 public:
  explicit Ids(Id end) : has_(static_cast<std::size_t>(end)) {}
  bool insert(Id id) { return has_[id] ? false : (has_[id] = true); }
  void erase(Id id) { has_[id] = false; }
  bool count(Id id) const { return has_[id]; }

 private:
  std::vector<bool> has_;
};

struct OrderChecker {
  Context& c;
  std::map<Id, Id> recurrence_of;  // of stages inside of one
  Ids allocated, computed;
  std::vector<Id> reducing;  // the stages of the reduction loops around

  void body(const std::vector<Stmt>& list) {
    std::vector<Id> here;
    for (const Stmt& s : list) {
      if (const AllocStmt* alloc = s.as<AllocStmt>()) {
        if (std::find(reducing.begin(), reducing.end(), c.p.buffer(alloc->buffer).stage) != reducing.end())
          throw InternalError("storage of " + c.p.buffer(alloc->buffer).name + " inside its own reduction loops");
        if (!allocated.insert(alloc->buffer))
          throw InternalError("two allocations of " + c.p.buffer(alloc->buffer).name + " in one scope");
        here.push_back(alloc->buffer);
      }
      if (s.is<BlockStmt>()) block(s);
      if (const PrefetchStmt* ahead = s.as<PrefetchStmt>()) prefetch(s, *ahead);
      const LoopStmt* loop = s.as<LoopStmt>();
      const bool reduces = loop && c.p.axis(loop->axis).reduce;
      if (reduces) {
        const Id reduced = stage_around(c.p, s.id).id;
        if (std::find(reducing.begin(), reducing.end(), reduced) == reducing.end()) start(c.p.stage(reduced));
        reducing.push_back(reduced);
      }
      body(s.body());
      if (reduces) reducing.pop_back();
      if (const NestStmt* nest = s.as<NestStmt>())
        for (Id b : c.p.stage(nest->stage).buffers) computed.insert(b);
    }
    for (Id b : here) allocated.erase(b), computed.erase(b);
  }
  // A reduction starts before the outermost of its reduction loops: what its start reads is there by then.
  void start(const ir::Stage& stage) {
    for (const Expr& init : stage.inits)
      ir::walk(init, [&](const Expr& e) {
        if (!ir::is(e, ir::Op::load)) return true;
        const ir::Buffer& b = c.p.buffer(e.node()->id);
        if (b.stage && b.stage != stage.id && !computed.count(b.id))
          c.unproved(Obligation::order,
                     b.name + " to be computed before the reduction loops of " + stage.name + ", which starts from it",
                     b.name + " is computed inside them");
        return true;
      });
  }
  // What is asked for exists there, and the loop along which it is asked for still reads it at an address known in advance.
  void prefetch(const Stmt& s, const PrefetchStmt& ahead) {
    const auto it = c.p.buffers.find(ahead.buffer);
    if (it == c.p.buffers.end()) throw InternalError("a prefetch of a buffer that is not there");
    const std::string what = "the prefetch of " + it->second.name;
    const std::string move = " (move this call before the prefetch)";
    if (it->second.role == ir::Role::temporary && !allocated.count(ahead.buffer))
      c.refuse("storage of " + it->second.name + " around " + what + move, "storage further in");
    const Stmt* loop = nullptr;
    for (const Stmt* around : ir::path_to(c.p, s.id))
      if (around->id == ahead.loop && around->is<LoopStmt>()) loop = around;
    if (!loop) c.refuse("the loop along which " + what + " runs to stay as it is" + move, "a step that takes it apart");
    // A reduction that starts inside the loop has the start before its outermost reduction loop.
    const auto starts_before = [&](const Stmt& b) {
      for (const Stmt* around : ir::path_to(c.p, b.id)) {
        if (const LoopStmt* l = around->as<LoopStmt>();
            l && c.p.axis(l->axis).reduce && stage_around(c.p, around->id).id == b.get<BlockStmt>().stage)
          return true;
        if (around == loop) return false;
      }
      return false;
    };
    bool read = false;
    ir::walk(loop->body(), [&](const Stmt& b) {
      const BlockStmt* leaf = b.as<BlockStmt>();
      if (!leaf) return;
      for (const analysis::Read& r : analysis::reads_of(c.p.stage(leaf->stage))) {
        if (r.load.node()->id != ahead.buffer || !analysis::happens_in(r, b)) continue;
        if (r.of_start && leaf->piece == ir::Piece::whole && starts_before(b)) continue;
        bool known = true;
        for (const Expr& index : ir::args_of(r.load))
          ir::walk(index, [&](const Expr& e) { return known &= !ir::is(e, ir::Op::load); });
        read |= known;
      }
    });
    if (!read)
      c.refuse("a read of " + it->second.name + " inside " + name_of(c.p, *loop) +
                   ", at an index that does not depend on data" + move,
               "none");
  }
  void block(const Stmt& s) {
    const ir::Stage& stage = c.p.stage(s.get<BlockStmt>().stage);
    for (Id b : stage.buffers)
      if (c.p.buffer(b).role == ir::Role::temporary && !allocated.count(b))
        c.unproved(Obligation::cover,
                   stage.name + " to be computed inside the loop that its storage begins at (move it or its store_at first)",
                   "it would move outside of it, with the stage that it is computed in");
    for (const analysis::Read& r : analysis::reads_of(stage)) {
      const ir::Buffer& b = c.p.buffer(r.load.node()->id);
      if (!b.stage || b.stage == stage.id || !analysis::happens_in(r, s)) continue;
      if (b.role == ir::Role::temporary && !allocated.count(b.id))
        c.unproved(Obligation::cover, b.name + " to be stored around its reader " + stage.name,
                   b.name + " is stored inside a loop that " + stage.name + " is outside of (move " + b.name + " first)");
      if (!computed.count(b.id)) {
        // read inside the nest that computes it: allowed for a nest put after its producer
        const Stmt& nest = nest_of(c.p, s.id);
        const NestStmt& node = nest.get<NestStmt>();
        if (node.after == b.stage) continue;
        if (beside_stage(c.p, s, b.stage)) continue;  // prove_beside
        // or between the steps of a recurrence: those before are
        if (const auto it = recurrence_of.find(node.stage); it != recurrence_of.end() && it->second == b.stage) {
          // prove_inside says where, when boxes are known; here it has to be in the recurrence's nest.
          const auto path = ir::path_to(c.p, nest.id);
          if (std::none_of(path.begin(), path.end(), [&](const Stmt* n) { return ir::is_nest_of(*n, b.stage); }))
            prove_inside(c, nest, b.stage);
          continue;
        }
        c.unproved(
            Obligation::order, b.name + " to be computed before its reader " + stage.name,
            b.name + " is computed later, or in a loop that " + stage.name + " is outside of (move " + b.name + " first)");
      }
    }
  }
};

}  // namespace

void prove_order(Context& c) {
  OrderChecker checker{c, ir::recurrences_around(c.p), Ids(c.p.next_id), Ids(c.p.next_id), {}};
  checker.body(c.p.body);
}

// ---- reads lie in domains ------------------------------------------------------------------------------------------------

namespace {

// What the reads of a stage follow from: its definition and domain, and those of the stages that it reads, by their revisions.
std::vector<std::uint64_t> grounds_of(const Program& p, const ir::Stage& stage, const analysis::Domains& domains) {
  std::vector<std::uint64_t> grounds{domains.at(stage.id).revision};
  for (Id b : analysis::buffers_read(stage))
    if (const Id producer = p.buffer(b).stage) grounds.push_back(domains.at(producer).revision);
  return grounds;
}

// Does the read stand beside another condition, a && x(i - 1) > 0?
bool in_condition(const ir::Stage& stage, const Expr& load) {
  bool found = false;
  for (const Expr& value : stage.values)
    ir::walk(value, [&](const Expr& e) {
      if (ir::is(e, ir::Op::logic_and) || ir::is(e, ir::Op::logic_or))
        ir::walk(e, [&](const Expr& inner) {
          found = found || inner.node() == load.node();
          return !found;
        });
      return !found;
    });
  return found;
}

void prove_reads_of(Context& c, const ir::Stage& stage, const analysis::Domains& domains, const Facts& arguments) {
  const Program& p = c.p;
  // a reduction starts at every spatial point, where it has terms or not
  Facts at_terms = arguments, at_start = arguments;
  const analysis::Domain& domain = domains.at(stage.id);
  for (std::size_t k = 0; k < stage.iters.size(); ++k) {
    const ir::IterVar& v = stage.iters[k];
    at_terms.range(v.id, domain.computed[k].lo, domain.computed[k].hi);
    if (v.kind != ir::IterKind::reduce) at_start.range(v.id, domain.computed[k].lo, domain.computed[k].hi);
    // a term has a value of its axis, which is not empty then
    else if (!analysis::depends_on_data(v.begin) && !analysis::depends_on_data(v.end))
      at_terms.assume(ir::lt(v.begin, v.end));
  }
  for (const Expr& atom : stage.domain) {
    at_terms.assume(atom);
    if (std::none_of(stage.iters.begin(), stage.iters.end(),
                     [&](const ir::IterVar& v) { return v.kind == ir::IterKind::reduce && ir::uses_var(atom, v.id); }))
      at_start.assume(atom);
  }
  for (const Expr& e : domain.inhabited) at_terms.assume(e), at_start.assume(e);
  // A table is read where the loops run whose variables say at which element, before any condition is tested; other loops may
  // stand inside, and say nothing.
  const auto at_table = [&](const Expr& load) {
    std::vector<Id> used = ir::free_vars(load);
    Facts facts = arguments;
    for (std::size_t k = stage.iters.size(); k-- > 0;)
      if (std::find(used.begin(), used.end(), stage.iters[k].id) != used.end())
        for (const Expr& end : {domain.box[k].lo, domain.box[k].hi})
          for (Id v : ir::free_vars(end)) used.push_back(v);
    for (std::size_t k = 0; k < stage.iters.size(); ++k)
      if (std::find(used.begin(), used.end(), stage.iters[k].id) != used.end())
        facts.range(stage.iters[k].id, domain.box[k].lo, domain.box[k].hi);
    return facts;
  };
  // In an arm of a select that is never taken.
  const auto never_reads = [&](const analysis::Read& r) {
    Facts before = r.bounds ? at_table(r.load) : r.of_start ? at_start : at_terms;
    for (const Expr& condition : r.conditions) {
      const Expr e = analysis::decided(condition, r.conditions);
      if (analysis::can_prove(ir::logic_not(e), before)) return true;
      analysis::assume_of_data(before, e);
    }
    return false;
  };
  if (stage.scatters()) prove_targets(c, stage, at_terms);
  for (const analysis::Read& r : analysis::reads_of(stage)) {
    const ir::Buffer& b = p.buffer(r.load.node()->id);
    const bool declared = b.stage == 0 || (!p.stage(b.stage).iters.empty() && !p.stage(b.stage).iters.front().begin.empty());
    if (!declared) continue;
    Facts here = r.bounds ? at_table(r.load) : r.of_start ? at_start : at_terms;
    for (const Expr& condition : r.conditions) analysis::assume_of_data(here, analysis::decided(condition, r.conditions));
    for (std::size_t d = 0; d < ir::args_of(r.load).size(); ++d) {
      const Expr& e = ir::args_of(r.load)[d];
      const Expr begin = b.stage ? p.stage(b.stage).iters[d].begin : ir::index(0);
      const Expr end = b.stage ? p.stage(b.stage).iters[d].end : b.extents[d];
      for (const auto& [condition, side] :
           {std::pair{ir::ge(e, begin), "below its begin "}, std::pair{ir::lt(e, end), "past its end "}}) {
        const auto proof = analysis::prove(condition, here);
        if (proof || never_reads(r)) continue;
        const bool from_data = analysis::depends_on_data(e);
        const std::string bound =
            from_data ? "(bound the index, which comes from data: clamp(e, " + ir::text(begin) + ", " +
                            ir::text(ir::sub(end, ir::index(1))) + "), or promise in_range(e, " + ir::text(begin) + ", " +
                            ir::text(end) + "))"
            : in_condition(stage, r.load)
                ? "(&& and || read both sides, select(a, b, false) reads b where a holds; or clamp the index)"
                : "(clamp the index, use a boundary, or state a fact of the Symbols)";
        c.unproved(Obligation::cover,
                   {c.step.primitive.empty() ? "read" : spelling_of(c.step), "reads of " + b.name + " inside of it " + bound,
                    stage.name + " reads " + b.name + " at " + ir::text(e) + " in dimension " + std::to_string(d) +
                        (proof.answer == analysis::Answer::refuted ? ", " : ", perhaps ") + side +
                        ir::text(side[0] == 'b' ? begin : end) + (from_data ? analysis::wraps_where(e, here) : ""),
                    proof.why, c.step.primitive.empty() ? r.load.node()->where : c.step.where});
      }
    }
  }
}

}  // namespace

void prove_reads(Context& c) {
  const Program& p = c.p;
  const Facts arguments = analysis::facts_of_arguments(p);
  const analysis::Domains domains = analysis::domains_of(p);
  // The grounds on which the reads of a stage were proved, by the first of them. A full memory starts afresh.
  thread_local std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> proved;
  if (proved.size() > 65'536) proved.clear();
  for (const auto& [id, stage] : p.stages) {
    const std::vector<std::uint64_t> grounds = grounds_of(p, stage, domains);
    if (const auto at = proved.find(grounds.front()); at != proved.end() && at->second == grounds) continue;
    prove_reads_of(c, stage, domains, arguments);
    if (!c.unproved_obligations) proved[grounds.front()] = grounds;
  }
}

}  // namespace ashlar::schedule
