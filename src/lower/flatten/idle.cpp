// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over parts of a reduction that a custom reducer combines, as `roll` makes them, without the iterations at their ends
// whose part is the reducer's identity at every point that the block of threads computes (flatten.h).
//
//   for t in [0, +N / 32)                                            keys of a tile
//     s = queries keys'
//     top = max over j of select(j <= i, s, -inf)                    all that follows is -inf or 0 where no i of the block
//     e = select(j <= i, exp(s - top), 0)                            reaches the tile's first j
//     (most, sums) = combine((most, sums), (top, e values))
//
//   for t in [0, +min(N / 32, (last i of the block + 32) / 32))
//
// The ends are the same for all threads of a block, which copy tiles together. What an iteration computes is traced from the
// components back: a select whose condition bounds the loop has its other value outside, and a sum of zeros, or a maximum of
// its own identity, is that. A product with such a 0 counts as 0 whatever the other factor is (docs/ir.md, "Stages").
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <ashlar/ir/function.h>
#include <ashlar/ir/operation.h>

#include "lower/flatten/idle.h"
#include "lower/margin.h"

namespace ashlar::lowering {

namespace {

bool same(const ir::Value& a, const ir::Value& b) { return a.type == b.type && (a.type.is_float() ? a.f == b.f : a.i == b.i); }

class Idle {
 public:
  Idle(const Program& p, const std::vector<const Stmt*>& path, const ir::Substitution& single, const Facts& facts)
      : p_(p), loop_(*path.back()), single_(single), facts_(facts) {
    for (std::size_t k = path.size() - 1; k-- > 0;) {
      if (!nest_ && path[k]->is<NestStmt>()) nest_ = path[k];
      if (const LoopStmt* l = path[k]->as<LoopStmt>()) around_.push_back(l);
    }
  }

  std::optional<ir::LoopRange> busy(const ir::LoopRange& all) {
    if (!combines() || !local()) return std::nullopt;
    const ir::Stage& stage = p_.stage(nest_->get<NestStmt>().stage);
    for (std::size_t k = 0; k < stage.values.size(); ++k) {
      const auto none = value(stage.values[k], nullptr), identity = value(stage.reducer.identity[k], nullptr);
      if (!none || !identity || !same(*none, *identity)) return std::nullopt;
    }
    if (!found_ || (found_->begin.empty() && found_->end.empty())) return std::nullopt;
    // One iteration stays in a loop that has any: it stores what the reduction starts from, where its first step does.
    const Expr last = ir::sub(all.end, ir::index(1));
    ir::LoopRange kept = all;
    if (!found_->begin.empty()) kept.begin = ir::max(all.begin, ir::min(found_->begin, last));
    if (!found_->end.empty()) kept.end = ir::min(all.end, ir::max(found_->end, ir::add(kept.begin, ir::index(1))));
    kept.begin = analysis::simplify(kept.begin, facts_), kept.end = analysis::simplify(kept.end, facts_);
    return kept;
  }

 private:
  // A loop over all parts, of a reduction over nothing else.
  bool combines() const {
    const LoopStmt& l = loop_.get<LoopStmt>();
    const ir::Axis& axis = p_.axis(l.axis);
    if (!nest_ || l.kind != LoopKind::serial || l.part != ir::Part::all || l.tight || !axis.reduce ||
        axis.origin != ir::Axis::Origin::root)
      return false;
    const ir::Stage& stage = p_.stage(nest_->get<NestStmt>().stage);
    const auto terms = std::count_if(stage.iters.begin(), stage.iters.end(),
                                     [](const ir::IterVar& v) { return v.kind == ir::IterKind::reduce; });
    return stage.reducer.kind == ir::ReducerKind::custom && stage.reducer.order == ir::Reducer::Order::any &&
           stage.reducer.unjoinable.empty() && stage.domain.empty() && terms == 1 &&
           std::all_of(around_.begin(), around_.end(), [](const LoopStmt* a) { return a->kind != LoopKind::vectorized; });
  }

  // Does an iteration compute nothing that is read after it, but for the reduction?
  bool local() {
    std::vector<Id> stored, written;
    bool plain = true;
    ir::walk(loop_.body(), [&](const Stmt& s) {
      if (const ir::AllocStmt* alloc = s.as<ir::AllocStmt>()) stored.push_back(alloc->buffer);
      if (s.is<ir::PrefetchStmt>()) plain = false;
      const NestStmt* nest = s.as<NestStmt>();
      if (!nest) return;
      plain = plain && nest->slides.empty() && !nest->sibling && nest->after == 0;
      for (const Id b : p_.stage(nest->stage).buffers) written.push_back(b);
    });
    for (const Stmt& s : loop_.body())
      if (const NestStmt* nest = s.as<NestStmt>()) nests_[nest->stage] = nest;
    return plain && std::all_of(written.begin(), written.end(),
                                [&](Id b) { return std::find(stored.begin(), stored.end(), b) != stored.end(); });
  }

  // The value that a component of the stage has at all points that an idle iteration computes.
  std::optional<ir::Value> value_of(Id buffer) {
    const ir::Stage* s = p_.buffer(buffer).stage ? &p_.stage(p_.buffer(buffer).stage) : nullptr;
    const auto nest = s ? nests_.find(s->id) : nests_.end();
    if (nest == nests_.end() || s->scatters() || s->is_recurrence() || s->values.size() != 1 || ir::computed_by(s->values))
      return std::nullopt;
    if (const auto known = known_.find(s->id); known != known_.end()) return known->second;
    known_[s->id] = std::nullopt;
    auto v = value(s->values.front(), nest->second);
    if (v && s->has_fill) {
      const auto fill = value(s->fill, nullptr);
      if (!fill || !same(*v, *fill)) v.reset();
    }
    if (v && s->is_reduction()) v = after_steps(*s, *v);
    return known_[s->id] = v;
  }

  // What a reduction ends with if each of its terms, however many, is v.
  std::optional<ir::Value> after_steps(const ir::Stage& s, const ir::Value& v) {
    const auto init = value(s.inits.front(), nullptr);
    if (!init || s.reducer.kind == ir::ReducerKind::custom) return std::nullopt;
    const auto constant = [](const ir::Value& x) {
      return x.type.is_float() ? ir::float_const(x.type, x.f) : ir::int_const(x.type, x.i);
    };
    const auto next = value(ir::combine(s.reducer, {constant(*init)}, {constant(v)}).front(), nullptr);
    return next && same(*next, *init) ? init : std::nullopt;
  }

  std::optional<ir::Value> value(const Expr& e, const NestStmt* nest) {
    if (ir::is(e, Op::int_const) || ir::is(e, Op::float_const)) return ir::value_of(e);
    if (ir::is(e, Op::load)) return value_of(e.node()->id);
    if (ir::is(e, Op::var) || e.type().lanes != 1) return std::nullopt;
    const auto args = ir::args_of(e);
    if (ir::is(e, Op::select)) {
      if (const auto holds = value(args[0], nest)) return value(args[holds->i ? 1 : 2], nest);
      const auto kept = std::pair(known_, found_);
      const auto held = value(args[1], nest), other = value(args[2], nest);
      if (held && other && same(*held, *other)) return held;  // a copy with a fill has it outside of what it copies
      std::tie(known_, found_) = kept;
      return nest && bounds(args[0], *nest) ? value(args[2], nest) : std::nullopt;
    }
    std::vector<ir::Value> known;
    for (const Expr& a : args) {
      const auto v = value(a, nest);
      if (v && ir::is(e, Op::mul) && (v->type.is_float() ? v->f == 0 : v->i == 0)) return v;
      if (v) known.push_back(*v);
    }
    return known.size() == args.size() ? ir::evaluate(ir::op_of(e), e.type(), known) : std::nullopt;
  }

  // Is the condition false at all points of the nest outside of some iterations of the loop? These become part of what is kept.
  bool bounds(const Expr& condition, const NestStmt& nest) {
    std::vector<Expr> conditions;
    add_conjuncts(condition, conditions);
    ir::LoopRange kept;
    for (const Expr& c : conditions) {
      const Expr left = largest(c, nest);
      if (left.empty()) continue;
      const Id var = loop_.get<LoopStmt>().axis;
      const auto at = [&](const Expr& n) { return analysis::simplify(ir::substitute(left, {{var, n}}), facts_); };
      const Expr next = at(ir::add(ir::axis_var(p_, var), ir::index(1))), start = at(ir::index(0));
      std::int64_t step = 0;
      if (!ir::is_int(analysis::simplify(ir::sub(left, next), facts_), &step) || step == 0) continue;
      if (step > 0) {  // start - step * t > 0
        const Expr end = ir::div(ir::add(start, ir::index(step - 1)), ir::index(step));
        kept.end = kept.end.empty() ? end : ir::min(kept.end, end);
      } else {
        const Expr begin = ir::add(ir::div(ir::neg(start), ir::index(-step)), ir::index(1));
        kept.begin = kept.begin.empty() ? begin : ir::max(kept.begin, begin);
      }
    }
    if (kept.begin.empty() && kept.end.empty()) return false;
    if (!found_) {
      found_ = kept;
      return true;
    }
    const auto both = [](const Expr& a, const Expr& b, Op op) {
      return a.empty() || b.empty() ? Expr() : ir::same(a, b) ? a : ir::binary(op, a, b);
    };
    found_->begin = both(found_->begin, kept.begin, Op::min), found_->end = both(found_->end, kept.end, Op::max);
    return true;
  }

  // The margin of a comparison where it is largest, of all points that all threads compute in the nest. Empty if there is none.
  Expr largest(const Expr& condition, const NestStmt& nest) const {
    const Expr left = margin(condition);
    if (left.empty() || ir::has_load(left)) return Expr();
    // The extent of a tile at the rim is a minimum, which depends on the loops around; all of the tile does as well.
    const auto range = [&](const Expr& begin, const Expr& extent) {
      const auto most = analysis::constant_max(extent, facts_);
      return analysis::Interval{begin, ir::sub(ir::add(begin, most ? ir::index(*most) : extent), ir::index(1))};
    };
    std::vector<analysis::VarRange> ranges;
    for (std::size_t k = nest.roots.size(); k-- > 0;)
      ranges.push_back({nest.roots[k].iter, range(nest.roots[k].begin, nest.roots[k].extent)});
    for (const LoopStmt* l : around_)
      if (l->kind == LoopKind::bound && !ir::is_block(l->bound_to))
        ranges.push_back({l->axis, range(ir::index(0), ir::extent_of(p_, *l))});
    for (analysis::VarRange& r : ranges)
      for (Expr* e : {&r.range.lo, &r.range.hi}) *e = analysis::simplify(ir::substitute(*e, single_), facts_);
    return analysis::bounds_over(left, ranges, facts_).hi;
  }

  const Program& p_;
  const Stmt& loop_;
  const ir::Substitution& single_;
  const Facts& facts_;
  const Stmt* nest_ = nullptr;           // of the reduction
  std::vector<const LoopStmt*> around_;  // innermost first
  std::map<Id, const NestStmt*> nests_;  // in the loop, by stage
  std::map<Id, std::optional<ir::Value>> known_;
  std::optional<ir::LoopRange> found_;  // the iterations outside of which the conditions met so far are false
};

}  // namespace

std::optional<ir::LoopRange> busy_iterations(const Program& p, const std::vector<const Stmt*>& path, const ir::LoopRange& all,
                                             const ir::Substitution& single, const Facts& facts) {
  return Idle(p, path, single, facts).busy(all);
}

}  // namespace ashlar::lowering
