// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/packed.h>
#include <ashlar/analysis/tensorize.h>

#include <algorithm>

#include <ashlar/analysis/fragment.h>
#include <ashlar/analysis/cascade.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {
namespace {

using ir::IntrinsicOperand;

struct SiteLoop {
  Id axis = 0;
  std::string name;
  Expr extent;
  bool reduce = false;
};

// What is known so far of one attempt to unify. Copied where the order of operands is tried both ways.
struct Bindings {
  std::vector<TileSite> tiles;
  std::vector<Expr> values;
  std::size_t agreed = 0;  // nodes that were found equal: the attempt that came furthest is the one that is shown
};

struct Mismatch {  // the piece in which the two sides differ
  std::string expected, found;
  std::size_t agreed = 0;
};

class Matcher {
 public:
  Matcher(const Program& p, const Stmt& loop, const ir::Intrinsic& f) : p_(p), loop_(loop), f_(f) {
    auto path = ir::path_to(p, loop.id);
    for (const Stmt* s : path)
      if (const NestStmt* nest = s->as<NestStmt>()) nest_ = nest;
    path.pop_back();
    facts_ = facts_at(p, path);
  }

  IntrinsicMatch run() {
    if (!chain() || !stage_fits() || !unconditional()) return std::move(result_);
    const ir::Stage& stage = p_.stage(block_->stage);
    ir::Substitution ones;  // loops of one iteration have no part in it
    for (const SiteLoop& l : loops_)
      if (ir::is_int(l.extent, 1)) ones.emplace_back(l.axis, ir::index(0));
    std::erase_if(loops_, [](const SiteLoop& l) { return ir::is_int(l.extent, 1); });
    for (auto& [id, value] : ir::iter_values(p_, *nest_)) at_.emplace_back(id, ir::substitute(value, ones));
    const bool init = block_->piece == ir::Piece::init;
    value_ = ir::substitute(init ? stage.inits.front() : stage.values.front(), at_);
    std::vector<Expr> index;
    for (const ir::IterVar& v : stage.iters)
      if (v.kind != ir::IterKind::reduce) index.push_back(ir::substitute(ir::var(v.id, v.name), at_));
    const ir::Buffer& to = p_.buffer(stage.buffers.front());
    written_ = ir::load(to.id, to.name, to.type, index, stage.where);
    assigned_.assign(f_.spatial.size() + f_.reduce.size(), nullptr);
    if (assign(0)) return std::move(result_);
    if (tried_)
      mismatch(farthest_.expected, farthest_.found);
    else
      mismatch(wanted_loops(), loops_text());
    return std::move(result_);
  }

 private:
  bool mismatch(const std::string& expected, const std::string& found) {
    result_.matches = false;
    result_.expected = expected + ", for " + ir::text(f_);
    result_.found = found;
    return false;
  }

  // ---- what the loop holds -----------------------------------------------------------------------------------------------
  bool chain() {
    const Stmt* s = &loop_;
    while (true) {
      if (const BlockStmt* block = s->as<BlockStmt>()) {
        block_ = block;
        result_.block = s;
        return true;
      }
      const LoopStmt& loop = s->get<LoopStmt>();
      const ir::Axis& axis = p_.axis(loop.axis);
      const std::string& name = axis.name;
      if (loop.part != ir::Part::all) return mismatch("whole loops", name + ", which was peeled or partitioned");
      if (s != &loop_ && loop.kind != ir::LoopKind::serial)
        return mismatch("loops without a kind inside " + loop_name(), name + ", which has one");
      const ir::LoopRange range = ir::range_of(p_, *s);
      if (!ir::is_int(simplify(range.begin, facts_), std::int64_t{0}))
        return mismatch("loops from 0", name + " from " + ir::text(range.begin));
      loops_.push_back({loop.axis, name, simplify(range.end, facts_), axis.reduce});
      result_.axes.push_back(loop.axis);
      if (s->body().size() != 1 || (!s->body().front().is<LoopStmt>() && !s->body().front().is<BlockStmt>())) {
        std::string what = "the parts of a loop that was peeled or initialized";
        for (const Stmt& b : s->body()) {
          if (const NestStmt* nest = b.as<NestStmt>()) what = p_.stage(nest->stage).name + ", computed in it";
          if (const AllocStmt* alloc = b.as<AllocStmt>()) what = "the storage of " + p_.buffer(alloc->buffer).name;
          if (const PrefetchStmt* prefetch = b.as<PrefetchStmt>()) what = "a prefetch of " + p_.buffer(prefetch->buffer).name;
        }
        return mismatch("one block inside " + loop_name(), what);
      }
      s = &s->body().front();
    }
  }

  const std::string& loop_name() const { return p_.axis(loop_.get<LoopStmt>().axis).name; }

  bool stage_fits() {
    const ir::Stage& stage = p_.stage(block_->stage);
    if (stage.values.size() != 1)
      return mismatch("a stage of one value", stage.name + " of " + std::to_string(stage.values.size()));
    if (stage.has_fill) return mismatch("a stage whose value is its definition", stage.name + ", which fills past its source");
    const bool init = block_->piece == ir::Piece::init;
    const bool sums = stage.is_reduction() && !init;
    const bool wants_sum = !f_.reduce.empty();
    if (sums != wants_sum)
      return mismatch(
          wants_sum ? "a sum" : "a value without a reduction",
          init ? "the init of " + stage.name : stage.name + (sums ? ", a reduction" : ", which is not a reduction"));
    if (!sums) return true;
    if (stage.scatters()) return mismatch("a sum at points of its own", stage.name + ", a scatter");
    if (stage.reducer.kind != ir::ReducerKind::sum && stage.reducer.kind != ir::ReducerKind::strict_sum)
      return mismatch("a sum", stage.name + ", another reduction");
    if (f_.rounds_freely && stage.reducer.kind == ir::ReducerKind::strict_sum)
      return mismatch("a sum that may be rounded otherwise (sum, not strict_sum)", stage.name + ", a strict_sum");
    const bool fused = f_.value.type().is_float() && ir::is(f_.value, Op::mul);
    if (stage.reducer.fused != fused && f_.value.type().is_float())
      return mismatch(fused ? "a sum that accumulates by fma" : "a sum that rounds each product",
                      stage.name + (fused ? ", which rounds each term" : ", which accumulates by fma"));
    if (block_->first_stores) return mismatch("a sum that starts from memory", stage.name + ", whose first step stores");
    bool reduces_outside = false;
    for (const Stmt* s : ir::path_to(p_, loop_.id))
      if (s->is<NestStmt>())
        reduces_outside = false;
      else if (const LoopStmt* loop = s->as<LoopStmt>(); loop && s->id != loop_.id)
        reduces_outside = reduces_outside || p_.axis(loop->axis).reduce;
    const bool starts_inside = block_->piece == ir::Piece::whole && !reduces_outside;
    if (f_.accumulates && starts_inside)
      return mismatch(
          "sums that were started outside of " + loop_name() + " (split the reduction, or decompose_init before it)",
          stage.name + ", which starts its sums inside it");
    if (f_.accumulates) return true;
    if (!starts_inside)
      return mismatch("sums that start inside of " + loop_name(), stage.name + ", which goes on with earlier ones");
    const Expr& start = stage.inits.front();
    const bool zero = ir::is_int(start, std::int64_t{0}) || (ir::is(start, Op::float_const) && start.node()->f == 0);
    return zero || mismatch("sums from 0", stage.name + " from " + ir::text(start));
  }

  bool moves(const Expr& e) const {
    return std::any_of(result_.axes.begin(), result_.axes.end(), [&](Id a) { return ir::uses_var(e, a); });
  }

  // A call stands under the conditions of its tile's first element, so these hold for all elements or for none. Where it starts
  // its sums it stores without terms as well: what keeps terms away alone would keep the start away.
  bool unconditional() {
    const auto path = ir::path_to(p_, result_.block->id);
    ir::Substitution begin;
    for (Id axis : result_.axes) begin.emplace_back(axis, ir::index(0));
    const std::vector<Expr> all = conditions_of(p_, path, block_->piece == ir::Piece::init);
    const Facts facts = facts_at(p_, path);
    const std::string expected = "a tile without conditions (Tail::exact, peel, or pad over storage of its own)";
    const auto found = [&](const Expr& c) { return p_.stage(block_->stage).name + " where " + ir::text(c); };
    for (const Expr& c : all)
      if (moves(c) && !can_prove(c, facts) && !all_or_none(c, all, begin, facts)) return mismatch(expected, found(c));
    if (f_.reduce.empty() || f_.accumulates) return true;
    const std::vector<Expr> of_points = conditions_of(p_, path, true);
    for (const Expr& c : all) {
      const bool known = std::any_of(of_points.begin(), of_points.end(), [&](const Expr& o) { return ir::same(o, c); });
      if (!known && !can_prove(c, facts)) return mismatch("sums of all terms, where they start from 0", found(c));
    }
    return true;
  }

  // Where all conditions hold for the tile's first element, does this one for every element; and where all hold for one, does
  // this one for the first?
  bool all_or_none(const Expr& c, const std::vector<Expr>& all, const ir::Substitution& begin, const Facts& facts) const {
    std::vector<Expr> later{ir::logic_not(c)}, earlier{ir::logic_not(ir::substitute(c, begin))};
    for (const Expr& other : all) later.push_back(ir::substitute(other, begin)), earlier.push_back(other);
    return no_solution(later, facts).answer == Answer::proved && no_solution(earlier, facts).answer == Answer::proved;
  }

  // ---- loops for variables -----------------------------------------------------------------------------------------------
  std::size_t count() const { return f_.spatial.size() + f_.reduce.size(); }
  const Expr& extent_of_var(std::size_t v) const {
    return v < f_.spatial.size() ? f_.spatial_extents[v] : f_.reduce_sizes[v - f_.spatial.size()];
  }
  Id id_of_var(std::size_t v) const { return v < f_.spatial.size() ? f_.spatial[v] : f_.reduce[v - f_.spatial.size()]; }

  std::string wanted_loops() const {
    std::string s = "loops of ";
    for (std::size_t v = 0; v < count(); ++v)
      s += (v ? ", " : "") + ir::text(extent_of_var(v)) + (v < f_.spatial.size() ? "" : " (summed)");
    return s;
  }
  std::string loops_text() const {
    std::string s;
    for (const SiteLoop& l : loops_)
      s += (s.empty() ? "" : ", ") + l.name + " in " + ir::text(l.extent) + (l.reduce ? " (summed)" : "");
    return s.empty() ? "loops of one iteration" : s;
  }

  bool fits(const SiteLoop& l, std::size_t v) const {
    if (l.reduce != (v >= f_.spatial.size())) return false;
    const Expr& e = extent_of_var(v);
    std::int64_t n = 0;
    return ir::is_int(e, &n) ? ir::is_int(l.extent, n) : !moves(l.extent);  // a size takes the extent it finds
  }

  // Gives the description's variables loops, in every way that keeps the order of a sum, the site's own order first.
  bool assign(std::size_t v) {
    if (v == count()) {
      if (used_.size() != loops_.size()) return false;
      tried_ = true;
      return unify_all();
    }
    const bool reduce = v >= f_.spatial.size();
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      if (std::find(used_.begin(), used_.end(), k) != used_.end() || !fits(loops_[k], v)) continue;
      const bool later = std::all_of(used_.begin(), used_.end(), [&](std::size_t u) { return !loops_[u].reduce || u < k; });
      if (reduce && !later) continue;
      used_.push_back(k);
      assigned_[v] = &loops_[k];
      const bool done = assign(v + 1);
      assigned_[v] = nullptr;
      used_.pop_back();
      if (done) return true;
    }
    const Expr& e = extent_of_var(v);
    return (ir::is_int(e, 1) || !ir::is_int(e)) && assign(v + 1);  // no loop: one iteration
  }

  // ---- expressions -------------------------------------------------------------------------------------------------------
  const SiteLoop* loop_of(Id var) const {
    for (std::size_t v = 0; v < count(); ++v)
      if (id_of_var(v) == var) return assigned_[v];
    return nullptr;
  }

  bool differ(const Bindings& b, const std::string& expected, const std::string& found) {
    if (!have_difference_ || b.agreed > farthest_.agreed) farthest_ = {expected, found, b.agreed};
    have_difference_ = true;
    return false;
  }

  bool unify_all() {
    Bindings b;
    b.tiles.resize(f_.operands.size());
    b.values.resize(f_.operands.size());
    for (std::size_t v = 0; v < count(); ++v) {
      const Expr& e = extent_of_var(v);
      if (ir::is_int(e)) continue;
      const Expr found = assigned_[v] ? assigned_[v]->extent : ir::index(1);
      if (!size(b, e, found)) return false;
    }
    const IntrinsicOperand* result = nullptr;
    for (const IntrinsicOperand& o : f_.operands)
      if (o.kind == IntrinsicOperand::Kind::tile && o.access != IntrinsicOperand::Access::read) result = &o;
    if (!result) throw InternalError("the intrinsic " + f_.name + " writes nothing");
    std::vector<Expr> at;
    for (Id v : f_.spatial) at.push_back(ir::var(v, "i"));
    if (!tile(b, *result, at, written_) || !unify(b, f_.value, value_)) return false;
    result_.matches = true;
    result_.tiles = std::move(b.tiles);
    result_.values = std::move(b.values);
    return true;
  }

  std::size_t operand_at(const IntrinsicOperand& o) const { return static_cast<std::size_t>(&o - f_.operands.data()); }
  const IntrinsicOperand* operand(Id id) const {
    for (const IntrinsicOperand& o : f_.operands)
      if (o.id == id) return &o;
    return nullptr;
  }

  bool size(Bindings& b, const Expr& want, const Expr& found) {
    const IntrinsicOperand* o = ir::is(want, Op::var) ? operand(want.node()->id) : nullptr;
    if (!o) throw InternalError("an extent of " + f_.name + " that is neither a number nor a size");
    Expr& bound = b.values[operand_at(*o)];
    if (!bound.empty() && !ir::same(bound, found))
      return differ(b, o->name + " = " + ir::text(bound) + " everywhere", ir::text(found));
    bound = found;
    const auto within = [&](const Expr& c) { return ir::is_int(c, 1) || can_prove(c, facts_); };
    if (!within(ir::ge(found, ir::index(o->min))) || (o->max != INT64_MAX && !within(ir::le(found, ir::index(o->max)))))
      return differ(b, o->name + " from " + std::to_string(o->min) + " to " + std::to_string(o->max), ir::text(found));
    if (o->multiple_of > 1 && !within(ir::eq(ir::mod(found, ir::index(o->multiple_of)), ir::index(0))))
      return differ(b, o->name + " a multiple of " + std::to_string(o->multiple_of), ir::text(found));
    return true;
  }

  bool tile(Bindings& b, const IntrinsicOperand& o, std::span<const Expr> at, const Expr& site) {
    if (!(site.type() == o.type))
      return differ(b, o.name + " of " + ir::text(o.type), ir::text(site) + " of " + ir::text(site.type()));
    TileSite found;
    found.buffer = site.node()->id;
    ir::Substitution start;
    for (const SiteLoop& l : loops_) start.emplace_back(l.axis, ir::index(0));
    // What the loops around say of an index may be all that shows how it moves: (16 t + i) / 16 stays.
    const Facts facts = facts_at(p_, ir::path_to(p_, result_.block->id));
    std::vector<Expr> indices;
    for (const Expr& e : ir::args_of(site)) indices.push_back(simplify(e, facts));
    for (const Expr& e : indices) found.base.push_back(simplify(ir::substitute(e, start), facts_));
    std::vector<const SiteLoop*> along;
    for (const Expr& v : at) along.push_back(loop_of(v.node()->id));
    for (const SiteLoop& l : loops_) {
      std::vector<std::int64_t> steps;
      for (const Expr& e : indices) {
        const Expr next = ir::substitute(e, {{l.axis, ir::add(ir::axis_var(p_, l.axis), ir::index(1))}});
        std::int64_t step = 0;
        if (!ir::is_int(simplify(ir::sub(next, e), facts), &step))
          return differ(b, o.name + " at indices that move evenly with " + l.name, ir::text(site));
        steps.push_back(step);
      }
      const auto dimension = std::find(along.begin(), along.end(), &l);
      if (dimension == along.end() && std::any_of(steps.begin(), steps.end(), [](std::int64_t s) { return s != 0; }))
        return differ(b, o.name + " at indices that stay as " + l.name + " moves", ir::text(site));
    }
    for (std::size_t d = 0; d < at.size(); ++d) {
      std::vector<std::int64_t> steps(indices.size());
      if (along[d])
        for (std::size_t k = 0; k < indices.size(); ++k) {
          const Id axis = along[d]->axis;
          const Expr next = ir::substitute(indices[k], {{axis, ir::add(ir::axis_var(p_, axis), ir::index(1))}});
          ir::is_int(simplify(ir::sub(next, indices[k]), facts), &steps[k]);
        }
      if (along[d] && std::all_of(steps.begin(), steps.end(), [](std::int64_t s) { return s == 0; }))
        return differ(b, o.name + " at indices that move with " + along[d]->name, ir::text(site));
      found.steps.push_back(std::move(steps));
      found.extents.push_back(along[d] ? along[d]->extent : ir::index(1));
    }
    TileSite& bound = b.tiles[operand_at(o)];
    if (bound.buffer != 0) {
      bool equal = bound.buffer == found.buffer && bound.steps == found.steps && bound.base.size() == found.base.size();
      for (std::size_t d = 0; equal && d < bound.base.size(); ++d) equal = ir::same(bound.base[d], found.base[d]);
      if (!equal) return differ(b, o.name + " the same tile everywhere", ir::text(site));
    }
    bound = std::move(found);
    ++b.agreed;
    return true;
  }

  bool unify(Bindings& b, const Expr& want, const Expr& found) {
    if (ir::is(want, Op::var)) {
      const IntrinsicOperand* o = operand(want.node()->id);
      if (!o || o->kind != IntrinsicOperand::Kind::value) throw InternalError("a free variable in " + f_.name);
      if (!(found.type() == o->type))
        return differ(b, o->name + " of " + ir::text(o->type), ir::text(found) + " of " + ir::text(found.type()));
      if (moves(found)) return differ(b, o->name + ", one value for the whole tile", ir::text(found));
      Expr& bound = b.values[operand_at(*o)];
      if (!bound.empty() && !ir::same(bound, found))
        return differ(b, o->name + " = " + ir::text(bound) + " everywhere", ir::text(found));
      bound = found;
      ++b.agreed;
      return true;
    }
    if (ir::is(want, Op::load)) {
      const IntrinsicOperand* o = operand(want.node()->id);
      if (!o) throw InternalError("a load of " + f_.name + " of something that is not an operand");
      if (!ir::is(found, Op::load)) return differ(b, o->name + ", an element of a tensor", ir::text(found));
      return tile(b, *o, ir::args_of(want), found);
    }
    const auto a = ir::args_of(want), c = ir::args_of(found);
    const bool one_kind = ir::op_of(want) == ir::op_of(found) && want.type() == found.type() && a.size() == c.size();
    if (!one_kind) {
      // x - p stands for x with p = 0 (integers)
      if (ir::is(want, Op::sub) && ir::is(a[1], Op::var) && want.type() == found.type() && !want.type().is_float()) {
        Bindings with_zero = b;
        if (unify(with_zero, a[1], ir::int_const(want.type(), 0)) && unify(with_zero, a[0], found)) {
          b = std::move(with_zero);
          return true;
        }
      }
      return differ(b, ir::text(want), ir::text(found));
    }
    if (a.empty()) {
      if (!ir::same(want, found)) return differ(b, ir::text(want), ir::text(found));
      ++b.agreed;
      return true;
    }
    ++b.agreed;
    if (a.size() == 2 && ir::is_commutative(ir::op_of(want))) {
      Bindings straight = b;
      if (unify(straight, a[0], c[0]) && unify(straight, a[1], c[1])) {
        b = std::move(straight);
        return true;
      }
      return unify(b, a[0], c[1]) && unify(b, a[1], c[0]);
    }
    for (std::size_t k = 0; k < a.size(); ++k)
      if (!unify(b, a[k], c[k])) return false;
    return true;
  }

  const Program& p_;
  const Stmt& loop_;
  const ir::Intrinsic& f_;
  const NestStmt* nest_ = nullptr;
  const BlockStmt* block_ = nullptr;
  Facts facts_;
  std::vector<SiteLoop> loops_;
  ir::Substitution at_;  // the stage's iteration variables, over axes
  Expr value_, written_;
  std::vector<const SiteLoop*> assigned_;  // by variable of the description
  std::vector<std::size_t> used_;
  bool tried_ = false, have_difference_ = false;
  Mismatch farthest_;
  IntrinsicMatch result_;
};

}  // namespace

IntrinsicMatch match_intrinsic(const Program& p, const Stmt& loop, const ir::Intrinsic& f) { return Matcher(p, loop, f).run(); }

// ---- storage ---------------------------------------------------------------------------------------------------------------

namespace {

// A buffer's storage, where a loop stands: from physical coordinates to an address.
struct TileStorage {
  const ir::Buffer& b;
  std::vector<Expr> strides, low;  // strides of the caller's own are vars; low empty: 0
  bool bounded = true;

  TileStorage(const Program& p, Id buffer, std::size_t rank, const Facts& facts) : b(p.buffer(buffer)) {
    const std::size_t physical_rank = b.layout.map.empty() ? rank : b.layout.map.size();
    const auto dense = [&](const std::vector<Expr>& extents) {
      strides.assign(physical_rank, ir::index(1));
      for (std::size_t d = physical_rank; d-- > 1;) strides[d - 1] = simplify(ir::mul(strides[d], extents[d]), facts);
    };
    if (b.role == ir::Role::temporary) {
      const Stmt* alloc = ir::alloc_of(p, b.id);
      if (!alloc) throw InternalError("a tile of " + b.name + ", which has no storage");
      std::vector<Expr> extents = storage_extents(p, alloc->id);
      bounded = std::none_of(extents.begin(), extents.end(), [](const Expr& e) { return e.empty(); });
      if (!bounded) return;
      dense(extents);
      low = physical_box(p, alloc->id).lo;
    } else if (!b.layout.strides.empty()) {
      strides = b.layout.strides;
    } else if (b.order == ir::Buffer::Order::dense && b.layout.map.empty()) {
      dense(b.extents);
    } else if (b.role == ir::Role::constant) {
      dense(packed_extents(p.symbols, b));
    } else {
      constexpr Id own = Id{1} << 62;
      for (std::size_t d = 0; d < physical_rank; ++d)
        strides.push_back(d + 1 == physical_rank && b.order == ir::Buffer::Order::inner_unit_stride && !b.packed_by_caller
                              ? ir::index(1)
                              : ir::var(own + b.id * 8 + d, b.name + ".stride" + std::to_string(d)));
    }
  }
  std::vector<Expr> physical(const std::vector<Expr>& logical) const {
    if (b.layout.map.empty()) return logical;
    ir::Substitution s;
    for (std::size_t d = 0; d < b.layout.vars.size(); ++d) s.emplace_back(b.layout.vars[d], logical.at(d));
    std::vector<Expr> result;
    for (const Expr& e : b.layout.map) result.push_back(ir::substitute(e, s));
    return result;
  }
  Expr address(const std::vector<Expr>& coordinates) const {
    Expr sum = ir::index(0);
    for (std::size_t d = 0; d < coordinates.size(); ++d)
      sum = ir::add(sum, ir::mul(low.empty() ? coordinates[d] : ir::sub(coordinates[d], low.at(d)), strides[d]));
    return sum;
  }
};

}  // namespace

Expr address_in_tile(const Program& p, const TileSite& tile, std::span<const Expr> position, const Facts& facts) {
  const TileStorage storage(p, tile.buffer, tile.base.size(), facts);
  if (!storage.bounded) return {};
  std::vector<Expr> index = tile.base;
  for (std::size_t t = 0; t < tile.steps.size(); ++t)
    for (std::size_t d = 0; d < index.size(); ++d)
      index[d] = ir::add(index[d], ir::mul(position[t], ir::index(tile.steps[t][d])));
  return simplify(storage.address(storage.physical(index)), facts);
}

LaneRuns lane_runs(const ir::IntrinsicOperand& o, int group, const Expr& lane, const Expr& distance) {
  const FragmentRead read = fragment(o.vars, o.shape, o.map.at(0), o.map.at(1), group);
  if (!read.fragment) throw InternalError("runs of " + o.name + " that do not exist: " + read.why);
  LaneRuns runs;
  runs.run = read.fragment->registers;
  while (runs.lanes < group && element_of(*read.fragment, static_cast<int>(runs.lanes), 0)) ++runs.lanes;
  const Expr own = runs.lanes < group ? ir::mod(lane, ir::index(runs.lanes)) : lane;  // the others repeat those addresses
  FragmentInverse first = inverse(*read.fragment, own, ir::index(0)), at = inverse(*read.fragment, own, distance);
  if (first.index.empty() || at.index.empty()) throw InternalError("runs of " + o.name + " without an inverse: " + at.why);
  runs.first = std::move(first.index);
  runs.at = std::move(at.index);
  return runs;
}

TilePlace place_of_tile(const Program& p, const Stmt& loop, const TileSite& tile) {
  auto path = ir::path_to(p, loop.id);
  path.pop_back();
  const Facts facts = facts_at(p, path);
  const TileStorage storage(p, tile.buffer, tile.base.size(), facts);
  if (!storage.bounded) return {{}, {}};
  const std::vector<Expr>& strides = storage.strides;
  const std::size_t rank = strides.size();
  TilePlace place;
  place.address = simplify(storage.address(storage.physical(tile.base)), facts);
  // The step along a dimension must be the same from every element of the tile: the tile's own position as variables.
  constexpr Id position = Id{1} << 61;
  std::vector<Expr> inside = tile.base;
  Facts within = facts;
  for (std::size_t t = 0; t < tile.steps.size(); ++t) {
    const Expr v = ir::var(position + t, "t" + std::to_string(t));
    within.range(position + t, ir::index(0), ir::sub(tile.extents[t], ir::index(1)));
    for (std::size_t d = 0; d < inside.size(); ++d) inside[d] = ir::add(inside[d], ir::mul(v, ir::index(tile.steps[t][d])));
  }
  const std::vector<Expr> here = storage.physical(inside);
  for (std::size_t t = 0; t < tile.steps.size(); ++t) {
    if (ir::is_int(tile.extents[t], 1)) {
      place.strides.push_back(ir::index(0));  // there is no neighbor
      continue;
    }
    Expr stride = ir::index(0);
    for (std::size_t d = 0; d < rank && !stride.empty(); ++d) {
      // from all but the last one on
      Facts but_last = within;
      but_last.range(position + t, ir::index(0), ir::sub(tile.extents[t], ir::index(2)));
      const Expr next =
          ir::substitute(here[d], {{position + t, ir::add(ir::var(position + t, "t" + std::to_string(t)), ir::index(1))}});
      std::int64_t step = 0;
      if (ir::is_int(simplify(ir::sub(next, here[d]), but_last), &step))
        stride = ir::add(stride, ir::mul(ir::index(step), strides[d]));
      else
        stride = Expr();
    }
    place.strides.push_back(stride.empty() ? stride : simplify(stride, facts));
  }
  return place;
}

bool is_dense(const TileSite& tile, const TilePlace& place, std::size_t dimension) {
  if (ir::is_int(tile.extents.at(dimension), 1)) return true;
  Expr want = ir::index(1);
  for (std::size_t d = dimension + 1; d < tile.extents.size(); ++d) want = ir::mul(want, tile.extents[d]);
  const Expr& stride = place.strides.at(dimension);
  return !stride.empty() && ir::same(simplify(want), simplify(stride));
}

}  // namespace ashlar::analysis
