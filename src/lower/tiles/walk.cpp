// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over the tree of a block (block.h).
//
//   for ko                         sums = 0
//     for ii, ji, ki   tile   ->   sums = for ko carrying sums: sums + what the tile's terms give together
//       block C                    C = sums
#include <algorithm>
#include <utility>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 18;  // of a tile of terms that no mma takes

bool is_tile(const Stmt& s) { return ir::is_loop(s, LoopKind::tile); }

ir::Value zero_of(Type t) { return t.is_float() ? ir::float_value(t, 0) : ir::int_value(t, 0); }

}  // namespace

void BlockLowering::body(const std::vector<Stmt>& list) {
  for (const Stmt& s : list) {
    path_.push_back(&s);
    if (s.is<NestStmt>())
      nest(s);
    else if (s.is<LoopStmt>())
      loop(s);
    else if (s.is<BlockStmt>())
      block(s);
    else if (s.is<ir::PrefetchStmt>())
      refuse("tiles", "no prefetches (the assembler makes copies ahead)", "one", s.where);
    path_.pop_back();
  }
}

// Which loops of the nest are dimensions, and that they are what the tile form can do.
void BlockLowering::describe(Current& c, const Stmt& s) const {
  c.nest = &s.get<NestStmt>();
  c.stage = &p_.stage(c.nest->stage);
  c.where = c.stage->where;
  if (c.stage->is_recurrence()) describe_steps(c);
  c.values = ir::iter_values(p_, *c.nest);
  std::vector<const Stmt*> own;  // the loops from the nest to the block
  const std::vector<Stmt>* list = &c.nest->body;
  for (bool found = false; !found;) {
    const Stmt* next = nullptr;
    for (const Stmt& inside : *list)
      if (inside.is<LoopStmt>() || inside.is<BlockStmt>()) {
        if (next)
          refuse("tiles", "one block of " + c.stage->name, "several (of a peel, a partition or an init apart)", inside.where);
        next = &inside;
      }
    if (!next) throw InternalError("a nest without a block: " + c.stage->name);
    found = next->is<BlockStmt>();
    if (found) c.piece = next->get<BlockStmt>().piece;
    if (!found) own.push_back(next), list = &next->body();
  }
  bool tiles = false, terms = false;
  for (const Stmt* l : own) {
    const ir::Axis& axis = p_.axis(l->get<LoopStmt>().axis);
    if (l->get<LoopStmt>().part != ir::Part::all) refuse("tiles", "whole loops", axis.name + ", a part of one", l->where);
    for (const ir::Axis* a = &axis; a->parent; a = &p_.axis(a->parent))
      if (a->tail == ir::Tail::shift)
        refuse("tiles", "loops that compute each point once",
               axis.name + " of " + c.stage->name + ", whose last part begins earlier (Tail::shift)", l->where);
    if (tiles && !is_tile(*l))
      refuse("as_tile", "loops inside of a dimension that are dimensions too", axis.name + " of " + c.stage->name, l->where);
    if (is_tile(*l) && l->body().size() != 1)
      refuse("as_tile", "nothing but the stage itself inside of a dimension", "another stage (compute it further out)",
             l->where);
    if (terms && !axis.reduce && !is_step(c, axis) && !is_tile(*l) && !c.stage->scatters() &&
        !ir::is_int(known(axis.extent), 1))
      refuse("tiles",
             c.back ? "steps that a block keeps as tiles: no loop over points inside of one over steps, but as a dimension"
                    : "sums that a block keeps as tiles: no loop over points inside of one over terms, but as a dimension",
             axis.name + " of " + c.stage->name, l->where);
    if (is_tile(*l) && !tiles) c.where = l->where;
    tiles = tiles || is_tile(*l);
    terms = terms || ((axis.reduce || is_step(c, axis)) && !is_tile(*l) && !ir::is_loop(*l, LoopKind::bound));
  }
  for (std::size_t v = 0; v < c.nest->roots.size(); ++v) {
    const std::vector<Id> leaves = ir::leaves_of(p_, c.nest->roots[v].axis);
    const bool reduce = c.stage->iters[v].kind == ir::IterKind::reduce;
    int dimensions = 0;
    for (const Stmt* l : own) {
      const LoopStmt& node = l->get<LoopStmt>();
      if (!is_tile(*l) || std::find(leaves.begin(), leaves.end(), node.axis) == leaves.end()) continue;
      if (++dimensions > 1 || ir::roots_of(p_, node.axis).size() > 1)
        refuse("as_tile", "one dimension of a tile for each index variable", p_.axis(node.axis).name + " of " + c.stage->name,
               l->where);
      const ir::LoopRange range = ir::range_of(p_, *l);
      const Expr extent = known(ir::sub(range.end, range.begin));
      if (c.back && v == c.stage->along.front()) c.scanned = c.spatial.size();
      if (!reduce) c.at.emplace_back(c.spatial.size());
      (reduce ? c.terms : c.spatial).push_back({node.axis, node.width, ir::is_int(extent, node.width) ? Expr() : extent});
    }
    if (dimensions == 0 && !reduce) c.at.emplace_back();
  }
}

void BlockLowering::nest(const Stmt& s) {
  Current c;
  describe(c, s);
  if (c.stage->scatters() && !nests_.empty())
    refuse("tiles", "a scatter in a launch of its own (compute_root)", c.stage->name + ", inside of another stage", c.where);
  if (!c.nest->slides.empty() || c.nest->sibling || c.nest->after)
    refuse("tiles", "stages that are computed for a block alone", c.stage->name + ", which slides, or stands beside another",
           s.where);
  nests_.push_back(&c);
  body(c.nest->body);
  nests_.pop_back();
}

void BlockLowering::loop(const Stmt& s) {
  const LoopStmt& l = s.get<LoopStmt>();
  const ir::LoopRange range = ir::range_of(p_, s);
  const Expr extent = known(ir::sub(range.end, range.begin));
  if (l.kind == LoopKind::tile)  // beyond the points too
    facts_.range(l.axis, ir::index(0), ir::index(l.width - 1));
  else
    facts_.range(l.axis, known(range.begin), known(ir::sub(range.end, ir::index(1))));
  const std::string name = p_.axis(l.axis).name + " of " + now().stage->name;
  switch (l.kind) {
    case LoopKind::bound:
      bind(s);
      return body(s.body());
    case LoopKind::tile:
      return body(s.body());
    case LoopKind::serial:
    case LoopKind::unrolled:
      if (!ir::is_int(extent, 1) && !one_of_block(p_.axis(l.axis), extent)) return serial(s, range);
      if (!ir::is_int(extent, 1) && nests_.size() == 1) present_.push_back(extent);
      single_.emplace_back(l.axis, known(range.begin));
      body(s.body());
      return;
    default:
      refuse("tiles", "loops over blocks, serial ones, and dimensions of tiles", name + ", of another kind", s.where);
  }
}

// Does the loop run for one point, at most, that the block is for? Of a loop over blocks that several became, it is not known
// that each has one; but each does.
//
//   for b in max(min(B - f / I / H, 1), 0)      f, over blocks, is b, h and io
bool BlockLowering::one_of_block(const ir::Axis& axis, const Expr& extent) const {
  if (axis.reduce || analysis::constant_max(extent, facts_) != 1) return false;
  const std::vector<Id> vars = ir::free_vars(extent);
  const bool of_block = std::any_of(vars.begin(), vars.end(), [&](Id v) { return blocks_.count(v); });
  const std::vector<Id>& buffers =
      nests_.back()->stage->buffers;  // of a value nothing is stored: without a point nobody reads it
  const bool value = nests_.size() > 1 && std::all_of(buffers.begin(), buffers.end(),
                                                      [&](Id b) { return p_.buffer(b).role == ir::Role::temporary; });
  return (of_block || value) &&
         std::all_of(vars.begin(), vars.end(), [&](Id v) { return p_.symbols.count(v) || blocks_.count(v); });
}

void BlockLowering::serial(const Stmt& s, const ir::LoopRange& range) {
  const LoopStmt& l = s.get<LoopStmt>();
  Current& c = now();
  const bool steps = is_step(c, p_.axis(l.axis)), terms = p_.axis(l.axis).reduce && !c.stage->scatters();
  std::vector<Id>& carried_here = steps ? c.previous : c.sums;
  const bool first = (terms || steps) && carried_here.empty();
  b_.at(s.where);
  if (first) steps ? start_steps() : start_sums();
  if (first && terms && in_two_loops(s)) return;
  const std::optional<Running> run = first && terms && !running_ ? running_of(s) : std::nullopt;
  Expr from = known(range.begin), to = known(range.end);
  if (terms) leave_out_rest(l.axis, from, to);
  std::vector<Stretch> list{{from, to}};
  std::vector<Choice> choices;
  if (run) {
    const ir::Stage &top = p_.stage(p_.buffer(run->parts[0]).stage), &term = *run->terms.front();
    std::vector<Limit> limits;
    choices = {choice_of(*run, top, top.inits.front(), limits),
               choice_of(*run, term, ir::float_const(term.values[0].type(), 0), limits)};
    leave_out(*run, choices, limits, l.axis, from, to);
    list = stretches(choices, l.axis, from, to);
  }
  const std::map<Id, StageTile> outside = stages_;  // values computed inside do not exist after the loop
  const bool carries = terms || steps;
  for (const Stretch& stretch : list) {
    const Id begin = scalar(stretch.begin), end = scalar(stretch.end);
    const std::vector<Id> starts = carries ? carried_here : std::vector<Id>{};
    const std::vector<Id> results = iterations(begin, end, starts, [&](Id var, const std::vector<Id>& carried) {
      scalars_[l.axis] = var;
      if (carries) carried_here = carried;
      if (run) {
        running_ = run, running_->carried = carried;
        running_->formulas = formulas_in(stretch, choices, *run, l.axis);
      }
      body(s.body());
      if (run) running_.reset();
      return carries ? carried_here : std::vector<Id>{};
    });
    scalars_.erase(l.axis);
    stages_ = outside;
    if (carries) carried_here = results;
  }
  if (!carries || !first) return;
  if (terms) finish(carried_here);
  carried_here.clear();
}

// A loop with step 1. Tiles that are loaded inside are no values behind it.
std::vector<Id> BlockLowering::iterations(Id begin, Id end, const std::vector<Id>& carried,
                                          const std::function<std::vector<Id>(Id, const std::vector<Id>&)>& each) {
  const std::size_t around = loaded_.size();
  const Id step = b_.integer(i32, 1);
  std::vector<Id> results = b_.loop(
      begin, end, step, carried, [&](ir::tile::Builder&, Id var, const std::vector<Id>& values) { return each(var, values); });
  loaded_.resize(around);
  return results;
}

const Expr& BlockLowering::formula(std::size_t component) const {
  const ir::Stage& stage = *nests_.back()->stage;
  if (running_)
    if (const auto it = running_->formulas.find(stage.id); it != running_->formulas.end()) return it->second;
  return stage.values[component];
}

void BlockLowering::start_sums() {
  Current& c = now();
  done_.clear();
  // Loops over points inside of one over terms have one iteration (describe). The starting values are of it too.
  const Path path = to_block();
  for (std::size_t k = path_.size(); k < path.size(); ++k)
    if (const LoopStmt* l = path[k]->as<LoopStmt>(); l && l->kind != LoopKind::tile && !p_.axis(l->axis).reduce)
      single_.emplace_back(l->axis, known(ir::range_of(p_, *path[k]).begin));
  if (c.piece == ir::Piece::update) {  // what is combined into memory
    for (std::size_t k = 0; k < c.stage->values.size(); ++k) {
      std::vector<std::int64_t> extents;
      for (const TileDimension& d : dimensions(k)) extents.push_back(d.width);
      c.sums.push_back(b_.constant(identity(k), extents));
    }
    return;
  }
  if (std::vector<Id> carried = carried_into(*c.stage); !carried.empty()) {
    c.sums = std::move(carried);
    return;
  }
  const std::vector<Expr>& inits = c.stage->inits;
  const bool loads = std::any_of(inits.begin(), inits.end(), [](const Expr& e) { return ir::has_load(e); });
  std::vector<Expr> points = loads ? of_points() : std::vector<Expr>{};
  const std::vector<Expr> some_point = apart(points, c.spatial);
  std::vector<Id> none;
  for (std::size_t k = 0; k < inits.size() && !some_point.empty(); ++k) none.push_back(zero(inits[k].type(), dimensions(k)));
  c.sums = where(some_point, none, [&] {
    std::vector<Id> starts;
    for (std::size_t k = 0; k < inits.size(); ++k)
      starts.push_back(full(spelled(ir::substitute(inits[k], c.values)), dimensions(k)));
    return starts;
  });
  done_.clear();
}

BlockLowering::Dimensions BlockLowering::dimensions(std::size_t component) const {
  const Current& c = *nests_.back();
  Dimensions dims = c.spatial;
  for (const int d : p_.buffer(c.stage->buffers[component]).layout.dropped)
    if (const auto at = c.at[static_cast<std::size_t>(d)]) dims[*at] = {0, 1, Expr()};
  return dims;
}

// One term for each point, after those before: as it is defined.
void BlockLowering::add_one_term(const std::vector<Expr>& values, const std::vector<Expr>& conditions) {
  Current& c = now();
  std::vector<Expr> so_far;
  std::vector<Id> next = after_part(values);
  const bool combines = next.empty();
  for (std::size_t k = 0; combines && k < values.size(); ++k) {
    so_far.push_back(ir::var(ir::fresh_id(), "sum", values[k].type()));
    locals_[so_far[k].node()->id] = c.sums[k];
  }
  if (combines)
    for (const Expr& e : ir::combine(c.stage->reducer, so_far, values))
      next.push_back(full(tile(spelled(with_common_sums(e)), c.spatial), dimensions(next.size())));
  locals_.clear();
  const Id inside = conditions.empty() ? Id{0} : mask(conditions, c.spatial);
  for (std::size_t k = 0; k < next.size(); ++k)
    c.sums[k] = inside ? b_.apply(Op::select, {full(inside, dimensions(k)), next[k], c.sums[k]}) : next[k];
  done_.clear();
}

BlockLowering::Id BlockLowering::zero(Type type, const Dimensions& dims) {
  std::vector<std::int64_t> extents;
  for (const TileDimension& d : dims) extents.push_back(d.width);
  return b_.constant(zero_of(type), extents);
}

// Adds the terms at the dimensions of the tile to the sums, except those where the conditions do not hold.
void BlockLowering::add_terms(const std::vector<Expr>& conditions) {
  Current& c = now();
  const ir::Stage& stage = *c.stage;
  std::vector<Expr> values;
  for (std::size_t k = 0; k < stage.values.size(); ++k) values.push_back(ir::substitute(formula(k), c.values));
  if (values.size() == 1 && multiply(values[0], conditions)) return;
  Dimensions dims = c.spatial;
  dims.insert(dims.end(), c.terms.begin(), c.terms.end());
  std::int64_t elements = 1;
  for (const TileDimension& d : dims) elements *= d.width;
  if (elements > most_elements)
    refuse("as_tile", "at most " + std::to_string(most_elements) + " terms of " + stage.name + " in a tile",
           std::to_string(elements) + (ir::is(values[0], Op::mul) ? ", of products that no mma multiplies" : ""), c.where);
  if (c.terms.empty()) return add_one_term(values, conditions);
  std::vector<Id> terms;
  std::vector<ir::Value> none_of;
  for (std::size_t k = 0; k < values.size(); ++k) {
    terms.push_back(full(spelled(values[k]), dims));
    none_of.push_back(identity(k));
  }
  done_.clear();
  if (!conditions.empty()) {
    const Id inside = full(mask(conditions, dims), dims);
    for (std::size_t k = 0; k < terms.size(); ++k) {
      const Id none = b_.constant(none_of[k], b_.type(terms[k]).extents);
      terms[k] = b_.apply(Op::select, {inside, terms[k], none});
    }
  }
  for (std::size_t d = dims.size(); d-- > c.spatial.size();)
    terms = b_.reduce(terms, static_cast<int>(d), none_of,
                      [&](ir::tile::Builder&, const std::vector<Id>& so_far, const std::vector<Id>& next) {
                        return combined(so_far, next, {});
                      });
  c.sums = combined(c.sums, terms, c.spatial);
}

// The conditions under which a position of a dimension is a point: it lies before each bound of a minimum.
void BlockLowering::add_ends(const Dimensions& dims, std::vector<Expr>& conditions) const {
  for (const TileDimension& d : dims) {
    std::vector<Expr> bounds;
    if (!d.end.empty()) bounds.push_back(d.end);
    while (!bounds.empty()) {
      const Expr bound = bounds.back();
      bounds.pop_back();
      if (ir::is(bound, Op::min)) {
        bounds.insert(bounds.end(), {ir::args_of(bound)[1], ir::args_of(bound)[0]});
        continue;
      }
      const Expr c = known(ir::lt(ir::axis_var(p_, d.axis), bound));
      if (!ir::is_int(c, 1)) conditions.push_back(c);
    }
  }
}

// The conditions that are the same for all positions of the dimensions, and, of the others, that they hold at the first
// position where they hold at any: a tile that has no point lies outside of the grids of views, so nothing is loaded and stored
// there.
std::vector<Expr> BlockLowering::apart(std::vector<Expr>& conditions, const Dimensions& dims) const {
  std::vector<Expr> uniform, others;
  ir::Substitution first;
  for (const TileDimension& d : dims)
    if (d.axis) first.emplace_back(d.axis, ir::index(0));
  const auto add = [&](const Expr& e) {
    const bool known_too = std::any_of(uniform.begin(), uniform.end(), [&](const Expr& u) { return ir::same(u, e); });
    if (!known_too && !ir::is_int(e, 1) && !analysis::can_prove(e, facts_)) uniform.push_back(e);
  };
  for (const Expr& e : conditions) {
    const bool varies = std::any_of(first.begin(), first.end(), [&](const auto& d) { return ir::uses_var(e, d.first); });
    if (!varies && !ir::has_load(e)) {
      add(e);
      continue;
    }
    others.push_back(e);
    const Expr left = margin(e);
    if (left.empty() || !left.type().is_index() || ir::has_load(left)) continue;
    const Expr at_first = known(ir::substitute(left, first));
    if (analysis::can_prove(ir::ge(at_first, left), facts_)) add(known(ir::gt(at_first, ir::index(0))));
  }
  conditions = std::move(others);
  return uniform;
}

// What is computed where the conditions hold: a loop of one iteration or none.
std::vector<Id> BlockLowering::where(const std::vector<Expr>& conditions, const std::vector<Id>& otherwise,
                                     const std::function<std::vector<Id>()>& computed) {
  if (conditions.empty()) return computed();
  Id all = 0;
  for (const Expr& e : conditions) all = all ? b_.apply(Op::logic_and, {all, scalar(e)}) : scalar(e);
  const Id none = b_.integer(i32, 0), one = b_.integer(i32, 1);
  done_.clear();
  std::vector<Id> results = iterations(none, b_.apply(Op::select, {all, one, none}), otherwise,
                                       [&](Id, const std::vector<Id>&) { return computed(); });
  done_.clear();
  return results;
}

// The path to the block of the stage: with a loop over terms, the walk may be in front of it or behind it.
BlockLowering::Path BlockLowering::to_block() const {
  Path path = path_;
  while (!path.back()->is<BlockStmt>()) {
    const Stmt* next = nullptr;
    for (const Stmt& inside : path.back()->body())
      if (inside.is<LoopStmt>() || inside.is<BlockStmt>()) next = &inside;
    path.push_back(next);
  }
  return path;
}

// Do the loads of the stage stay inside of their tensors even if the block has no point of it? Then it needs no condition.
bool BlockLowering::loads_inside() const {
  const Current& c = *nests_.back();
  analysis::Facts facts = facts_;
  for (const Dimensions* dims : {&c.spatial, &c.terms})
    for (const TileDimension& d : *dims)
      if (d.axis) facts.range(d.axis, ir::index(0), d.end.empty() ? ir::index(d.width - 1) : ir::sub(d.end, ir::index(1)));
  bool inside = true;
  const auto look = [&](const Expr& e) {
    ir::walk(e, [&](const Expr& x) {
      if (!ir::is(x, Op::load) || stages_.count(x.node()->id)) return inside;
      const auto index = ir::args_of(x);
      const std::vector<Expr>& extents = p_.buffer(x.node()->id).extents;
      inside = inside && index.size() == extents.size();
      for (std::size_t d = 0; inside && d < extents.size(); ++d) {
        const Expr at = known(ir::substitute(index[d], c.values));
        inside = !ir::has_load(at) && analysis::can_prove(ir::ge(at, ir::index(0)), facts) &&
                 analysis::can_prove(ir::lt(at, extents[d]), facts);
      }
      return inside;
    });
  };
  for (const Expr& e : c.stage->values) look(e);
  for (const Expr& e : c.stage->inits) look(e);
  return inside;
}

// The conditions of the stage's points, without those of its terms. A loop that stands for one point may be empty.
std::vector<Expr> BlockLowering::of_points() const {
  std::vector<Expr> conditions;
  for (const Stmt* s : loads_inside() ? Path() : to_block()) {
    const LoopStmt* l = s->as<LoopStmt>();
    if (!l || std::none_of(single_.begin(), single_.end(), [&](const auto& one) { return one.first == l->axis; })) continue;
    const ir::LoopRange range = ir::range_of(p_, *s);
    const Expr extent = known(ir::sub(range.end, range.begin));
    if (std::none_of(present_.begin(), present_.end(), [&](const Expr& e) { return ir::same(e, extent); }))
      conditions.push_back(known(ir::gt(extent, ir::index(0))));
  }
  std::erase_if(conditions, [](const Expr& e) { return ir::is_int(e, 1); });
  for (const Expr& e : analysis::conditions_of(p_, to_block(), true))
    if (const Expr condition = known(e); !ir::is_int(condition, 1)) conditions.push_back(condition);
  add_ends(nests_.back()->spatial, conditions);
  return conditions;
}

void BlockLowering::block(const Stmt& s) {
  Current& c = now();
  const BlockStmt& own = s.get<BlockStmt>();
  const bool apart_from_init = c.stage->scatters() || c.stage->atomic;
  if ((own.piece != ir::Piece::whole && !apart_from_init) || own.stores != ir::Stores::all)
    refuse("tiles", "stages that are computed in one piece", c.stage->name + ", whose init or components stand apart", s.where);
  b_.at(c.stage->where);
  done_.clear();
  if (c.stage->scatters() && own.piece == ir::Piece::update) return scatter_terms();
  const bool around = std::exchange(
      defined_, std::any_of(c.stage->buffers.begin(), c.stage->buffers.end(), [&](Id b) { return indices_.count(b) != 0; }));
  std::vector<Expr> points = of_points();
  const std::vector<Expr> some_point = apart(points, c.spatial);
  if (c.stage->is_recurrence()) {
    step(points, some_point);
    defined_ = around;
    return;
  }
  if (!c.stage->is_reduction() || own.piece == ir::Piece::init) {
    const std::vector<Expr>& inits = c.stage->inits;
    const bool init = own.piece == ir::Piece::init;
    const std::size_t count = init ? inits.size() : c.stage->values.size();
    std::vector<Id> none;
    for (std::size_t k = 0; k < count && !some_point.empty(); ++k)
      none.push_back(zero((init ? inits : c.stage->values)[k].type(), c.spatial));
    const std::vector<Id> values = where(some_point, none, [&] {
      std::vector<Id> computed;
      for (std::size_t k = 0; k < count; ++k)
        computed.push_back(full(spelled(ir::substitute(init ? inits[k] : formula(k), c.values)), c.spatial));
      return computed;
    });
    done_.clear();
    defined_ = around;
    return finish(values);
  }
  const bool first = c.sums.empty();
  if (first) start_sums();
  const std::vector<Expr> of_init = analysis::conditions_of(p_, path_, true);
  std::vector<Expr> of_terms;
  for (const Expr& e : analysis::conditions_of(p_, path_))
    if (std::none_of(of_init.begin(), of_init.end(), [&](const Expr& i) { return ir::same(i, e); }))
      of_terms.push_back(known(e));
  add_ends(c.terms, of_terms);
  std::erase_if(of_terms, [](const Expr& e) { return ir::is_int(e, 1); });
  Dimensions dims = c.spatial;
  dims.insert(dims.end(), c.terms.begin(), c.terms.end());
  std::vector<Expr> some_term;
  if (ragged_)
    of_terms = {ir::lt(ragged_->term, ragged_->first ? ragged_->whole : ragged_->end)};
  else
    some_term = apart(of_terms, dims);
  some_term.insert(some_term.end(), some_point.begin(), some_point.end());
  c.sums = where(some_term, c.sums, [&] {
    add_terms(of_terms);
    return c.sums;
  });
  defined_ = around;
  if (!first) return;
  finish(c.sums);
  c.sums.clear();
}

// Of a component that lacks dimensions: the conditions of the first point along these, which has what all of them have, but for
// those that hold anyway. One tile has all points along each.
std::vector<Expr> BlockLowering::without_dropped(std::size_t component, const std::vector<Expr>& conditions,
                                                 const std::vector<Expr>& some_point) const {
  const Current& c = *nests_.back();
  const ir::Buffer& b = p_.buffer(c.stage->buffers[component]);
  ir::Substitution first;
  for (const int d : b.layout.dropped) {
    const auto dim = static_cast<std::size_t>(d);
    const Expr at = known(ir::substitute(ir::stored_at(*c.stage, c.piece)[dim], c.values));
    const Id axis = c.at[dim] ? c.spatial[*c.at[dim]].axis : 0;
    if (axis ? !(ir::is(at, Op::var) && at.node()->id == axis) : !ir::is_int(known(c.nest->roots[dim].extent), 1))
      refuse("tiles", "a dimension of " + b.name + " that it is stored without (drop_dim) as one tile",
             c.stage->iters[dim].name + " of " + c.stage->name + " in several", c.where);
    if (axis) first.emplace_back(axis, ir::index(0));
  }
  std::vector<Expr> left;
  for (const Expr& e : conditions) {
    const Expr at_first = known(ir::substitute(e, first)), rest = margin(at_first);
    const Expr positive = rest.empty() ? at_first : known(ir::gt(rest, ir::index(0)));
    const bool holds = std::any_of(some_point.begin(), some_point.end(), [&](const Expr& u) { return ir::same(u, positive); });
    if (!holds && !ir::is_int(at_first, 1)) left.push_back(at_first);
  }
  return left;
}

// Stores what the stage's points are, and keeps them for stages that read them in the block.
void BlockLowering::finish(const std::vector<Id>& values) {
  const Current& c = now();
  std::vector<Expr> conditions = of_points(), index;
  const std::vector<Expr> some_point = apart(conditions, c.spatial);
  for (const Expr& i : ir::stored_at(*c.stage, c.piece)) index.push_back(known(ir::substitute(i, c.values)));

  StageTile kept;
  bool whole = true;
  for (std::size_t d = 0; d < c.at.size(); ++d) {
    const Id axis = c.at[d] ? c.spatial[*c.at[d]].axis : 0;
    kept.begin.push_back(known(c.nest->roots[d].begin));
    kept.width.push_back(c.at[d] ? c.spatial[*c.at[d]].width : 1);
    const Expr position = analysis::simplify(ir::sub(index[d], kept.begin[d]), facts_);
    const bool first = ir::is_int(position, std::int64_t{0}), single = kept.width.back() == 1;
    whole = whole && ((single && first) || (axis && ir::is(position, Op::var) && position.node()->id == axis));
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    const ir::Buffer& b = p_.buffer(c.stage->buffers[k]);
    const ir::Buffer& m = memory(b.id);
    const bool stored = m.role == ir::Role::output;
    if (!b.layout.map.empty() && (stored ? !m.layout.map.empty() : b.layout.dropped.empty()))
      refuse("tiles", "stages without a layout of their own", b.name, b.where);
    if (stored)
      where(some_point, {}, [&] {
        if (c.piece == ir::Piece::update)
          update(m, in_memory(b.id, index), values[k], conditions, c.spatial);
        else
          store(m, in_memory(b.id, index), values[k], without_dropped(k, conditions, some_point), dimensions(k));
        return std::vector<Id>{};
      });
    StageTile own = kept;
    own.value = values[k];
    for (const int d : b.layout.dropped)
      own.begin[static_cast<std::size_t>(d)] = {}, own.width[static_cast<std::size_t>(d)] = 1;
    if (!whole || c.piece != ir::Piece::whole) continue;
    stages_[b.id] = own;
    raise(b.id);
  }
}

}  // namespace ashlar::lowering
