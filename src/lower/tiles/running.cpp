// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that carry a maximum, and sums that are relative to it, as `rebase` and `roll` make them (block.h). Each iteration has
// a part, with a maximum and sums of its own, and combining it multiplies one of the two. Here the part is relative to the new
// maximum of all, and is added to what is carried:
//
//   top = max of the scores                                 now = max(most, max of the scores)
//   e = exp(scores - top)                                   e = exp(scores - now)
//   part = mma(e, v, 0)                              ->     sums = mma(e, v, sums * exp(most - now))
//   now = max(most, top)                                    most = now
//   sums = sums * exp(most - now) + part * exp(top - now)
//
// Both steps rely on the identity term(now) = term(top) * rescale(top, now), and regroup sums; so does this. Here the identity
// is proved for powers, since a reducer of the user's own may combine parts in the same way without declaring it. Parts that
// add nothing to any point of the block, such as the keys that no query of it sees, are left out: the loop ends before them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/operation.h>

#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

bool reads(const Expr& e, Id buffer) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) { return found |= ir::is(x, Op::load) && x.node()->id == buffer, !found; });
  return found;
}

bool reads(const ir::Stage& s, Id buffer) {
  const auto any = [&](const std::vector<Expr>& list) {
    return std::any_of(list.begin(), list.end(), [&](const Expr& e) { return reads(e, buffer); });
  };
  return any(s.values) || any(s.inits);
}

bool is_element(const Expr& e, Id buffer) {
  if (ir::is(e, Op::cast)) return is_element(ir::args_of(e)[0], buffer);
  return ir::is(e, Op::load) && e.node()->id == buffer;
}

// An element of the buffer, or its product with something else: 0 where the element is.
bool is_multiple(const Expr& e, Id buffer) {
  if (is_element(e, buffer)) return true;
  if (!ir::is(e, Op::mul)) return false;
  const auto args = ir::args_of(e);
  return (is_element(args[0], buffer) && !reads(args[1], buffer)) || (is_element(args[1], buffer) && !reads(args[0], buffer));
}

// The value for some number in place of each thing that is read, `value` in place of `part`, and conditions that hold.
std::optional<ir::Value> sample(const Expr& e, Id part, double value) {
  const Type t = e.type();
  if (t.is_bool() && !reads(e, part) && (ir::has_load(e) || !ir::free_vars(e).empty())) return ir::int_value(bool_, 1);
  if (ir::is(e, Op::int_const) || ir::is(e, Op::float_const)) return ir::value_of(e);
  if (ir::is(e, Op::load) || ir::is(e, Op::var)) {
    if (!t.is_float()) return ir::int_value(t, 1);
    const bool own = ir::is(e, Op::load) && e.node()->id == part;
    return ir::float_value(t, own ? value : static_cast<double>(e.node()->hash % 1024) / 256 - 2);
  }
  std::vector<ir::Value> args;
  for (const Expr& a : ir::args_of(e)) {
    const auto v = sample(a, part, value);
    if (!v) return std::nullopt;
    args.push_back(*v);
  }
  return ir::evaluate(ir::op_of(e), t, args);
}

// rescale(old, now) in the combiner of a sum: select(a0 == b0, a + b, select(a0 < b0, a * r + b, a + b * r)), where r
// is over the smaller and the larger of a0 and b0. Empty if the sum is combined in another way.
Expr rescale_in(const Expr& combine, const Expr& a0, const Expr& b0, const Expr& a, const Expr& b, bool rises, Id old, Id now) {
  if (!ir::is(combine, Op::select) || !ir::is(ir::args_of(combine)[2], Op::select)) return {};
  const Expr& first = ir::args_of(ir::args_of(combine)[2])[1];
  if (!ir::is(first, Op::add) || !ir::is(ir::args_of(first)[0], Op::mul)) return {};
  const Expr r = ir::args_of(ir::args_of(first)[0])[1];
  const Expr made =
      ir::select(ir::eq(a0, b0), ir::add(a, b),
                 ir::select(rises ? ir::lt(a0, b0) : ir::lt(b0, a0), ir::add(ir::mul(a, r), b), ir::add(a, ir::mul(b, r))));
  if (!ir::same(combine, made)) return {};
  const Expr lower = ir::binary(Op::min, a0, b0), higher = ir::binary(Op::max, a0, b0);
  const Expr over = ir::transform(r, [&](const Expr& e) {
    if (ir::same(e, rises ? lower : higher)) return ir::var(old, "old", e.type());
    return ir::same(e, rises ? higher : lower) ? ir::var(now, "now", e.type()) : e;
  });
  return ir::uses_var(over, a0.node()->id) || ir::uses_var(over, b0.node()->id) ? Expr() : over;
}

bool is_number(const Expr& e) { return !ir::has_load(e) && ir::free_vars(e).empty(); }

// Does e change by a constant multiple of what moves? Of a moving value, `none` alone may be replaced by a number.
using Moves = std::function<bool(const Expr&)>;
bool is_linear(const Expr& e, const Moves& moves, const Expr& none) {
  bool any = false;
  ir::walk(e, [&](const Expr& x) { return any |= moves(x), !any; });
  if (!any || moves(e)) return true;
  const auto args = ir::args_of(e);
  const auto linear = [&](const Expr& a) { return is_linear(a, moves, none); };
  switch (ir::op_of(e)) {
    case Op::cast:
      return e.type().is_float() && args[0].type().is_float() && linear(args[0]);
    case Op::neg:
    case Op::add:
    case Op::sub:
      return std::all_of(args.begin(), args.end(), linear);
    case Op::mul:
    case Op::fma:
      return ((is_number(args[0]) && linear(args[1])) || (is_number(args[1]) && linear(args[0]))) &&
             (args.size() == 2 || linear(args[2]));
    case Op::select: {  // of a maximum that no score has reached
      const auto sides = ir::args_of(args[0]);
      return ir::is(args[0], Op::eq) && moves(sides[0]) && ir::same(sides[1], none) && ir::is(args[1], Op::float_const) &&
             ir::same(args[2], sides[0]);
    }
    default:
      return false;
  }
}

// e = factor * b^exponent, where what moves is in the exponent alone.
struct Power {
  Expr exponent;
  double log_base = 0;
};
std::optional<Power> power_of(const Expr& e, const Moves& moves, const Expr& none) {
  const auto moving = [&](const Expr& of) {
    bool any = false;
    ir::walk(of, [&](const Expr& x) { return any |= moves(x), !any; });
    return any;
  };
  const auto args = ir::args_of(e);
  switch (ir::op_of(e)) {
    case Op::exp:
    case Op::fast_exp:
      return is_linear(args[0], moves, none) ? std::optional(Power{args[0], 1}) : std::nullopt;
    case Op::exp2:
    case Op::fast_exp2:
    case Op::approximate_exp2:
      return is_linear(args[0], moves, none) ? std::optional(Power{args[0], std::log(2.0)}) : std::nullopt;
    case Op::cast:
      return args[0].type().is_float() ? power_of(args[0], moves, none) : std::nullopt;
    case Op::mul:
      if (!moving(args[0])) return power_of(args[1], moves, none);
      return moving(args[1]) ? std::nullopt : power_of(args[0], moves, none);
    case Op::select:
      if (moving(args[0]) || !ir::is(args[2], Op::float_const) || args[2].node()->f != 0) return std::nullopt;
      return power_of(args[1], moves, none);
    default:
      return std::nullopt;
  }
}

// Is value(now) = value(old) * rescale(old, now)? Proved of powers whose exponents move by the same multiple of the maximum.
bool rescales(const Expr& value, Id part, const Expr& rescale, Id old, Id now, const Expr& none) {
  const auto of_value = power_of(value, [&](const Expr& e) { return ir::is(e, Op::load) && e.node()->id == part; }, none);
  const auto of_rescale = power_of(
      rescale, [&](const Expr& e) { return ir::is(e, Op::var) && (e.node()->id == old || e.node()->id == now); }, none);
  if (!of_value || !of_rescale) return false;
  const auto at = [&](const Expr& e, double from, double to) {
    const auto number = [&](double v) { return ir::float_const(rescale.type(), v); };
    const auto v = sample(ir::substitute(e, {{old, number(from)}, {now, number(to)}}), 0, 0);
    return v && v->type.is_float() ? v->f : std::nan("");
  };
  const auto by_value = [&](double most) {
    const auto v = sample(of_value->exponent, part, most);
    return v ? v->f * of_value->log_base : std::nan("");
  };
  constexpr double far = 64;
  const auto by_rescale = [&](double from, double to) { return at(of_rescale->exponent, from, to) * of_rescale->log_base; };
  const double slope = (by_value(far) - by_value(-far)) / (2 * far),
               of_now = (by_rescale(0, far) - by_rescale(0, -far)) / (2 * far),
               of_old = (by_rescale(far, 0) - by_rescale(-far, 0)) / (2 * far);
  const bool narrow = of_value->exponent.type().bits < 32 || of_rescale->exponent.type().bits < 32;
  const double most = std::abs(slope) * (narrow ? 1e-2 : 1e-5);
  return slope != 0 && std::abs(of_now - slope) <= most && std::abs(of_old + slope) <= most &&
         std::abs(at(rescale, 0, 0) - 1) <= 1e-6;
}

// Is an element of a part the one at the same point of the stage that combines parts? Then so are their tiles' elements. An
// index may be any formula of what is the same in a tile. `moving`: the variables that are not.
bool is_own_point(const Expr& load, const ir::Stage& all, const std::set<Id>& moving) {
  std::size_t next = 0;
  for (const Expr& i : ir::args_of(load)) {
    if (ir::is(i, Op::var) && moving.count(i.node()->id)) {
      while (next < all.iters.size() && all.iters[next].id != i.node()->id) ++next;
      if (next++ >= all.iters.size()) return false;
      continue;
    }
    const std::vector<Id> vars = ir::free_vars(i);
    if (ir::has_load(i) || std::any_of(vars.begin(), vars.end(), [&](Id v) { return moving.count(v) != 0; })) return false;
  }
  return true;
}

const Stmt* nest_in(const std::vector<Stmt>& body, Id stage) {
  for (const Stmt& s : body)
    if (s.is<NestStmt>() && s.get<NestStmt>().stage == stage) return &s;
  return nullptr;
}

}  // namespace

std::optional<BlockLowering::Running> BlockLowering::running_of(const Stmt& loop) const {
  const Current& c = *nests_.back();
  const ir::Stage& all = *c.stage;
  const ir::Reducer& r = all.reducer;
  if (r.kind != ir::ReducerKind::custom || r.order != ir::Reducer::Order::any || all.values.size() < 2 || !c.terms.empty())
    return std::nullopt;
  Running found{.all = &all, .body = &loop.body(), .old = ir::fresh_id(), .now = ir::fresh_id()};
  std::set<Id> moving;
  for (std::size_t v = 0, dim = 0; v < all.iters.size(); ++v)
    if (all.iters[v].kind != ir::IterKind::reduce && c.at[dim++]) moving.insert(all.iters[v].id);
  std::vector<Expr> left, right;
  for (std::size_t k = 0; k < all.values.size(); ++k) {
    const Expr& e = all.values[k];
    if (!ir::is(e, Op::load) || !is_own_point(e, all, moving) || !nest_in(loop.body(), p_.buffer(e.node()->id).stage))
      return std::nullopt;
    found.parts.push_back(e.node()->id);
    left.push_back(ir::var(r.left[k], "a", e.type())), right.push_back(ir::var(r.right[k], "b", e.type()));
    const ir::Stage& part = p_.stage(p_.buffer(e.node()->id).stage);
    const bool sum = part.reducer.kind == ir::ReducerKind::sum && part.values.size() == 1 &&
                     ir::is(part.inits.front(), Op::float_const) && part.inits.front().node()->f == 0;
    if (k > 0 && !sum) return std::nullopt;
  }
  const ir::Stage& top = p_.stage(p_.buffer(found.parts[0]).stage);
  const bool rises = top.reducer.kind == ir::ReducerKind::maximum;
  if ((!rises && top.reducer.kind != ir::ReducerKind::minimum) || top.values.size() != 1 ||
      !ir::same(top.inits.front(), ir::identity_of(top.reducer.kind, top.values.front().type())))
    return std::nullopt;
  found.extreme = rises ? Op::max : Op::min;
  if (!ir::same(r.combine[0], ir::binary(found.extreme, left[0], right[0]))) return std::nullopt;
  for (std::size_t k = 1; k < left.size(); ++k) {
    const Expr rescale = rescale_in(r.combine[k], left[0], right[0], left[k], right[k], rises, found.old, found.now);
    if (rescale.empty() || (k > 1 && !ir::same(rescale, found.rescale))) return std::nullopt;
    found.rescale = rescale;
  }
  return parts_agree(found) ? std::optional(found) : std::nullopt;
}

// Who reads the maximum of a part computes a term of its sums alone, and the sums are read by the loop's stage alone.
bool BlockLowering::parts_agree(Running& run) const {
  const auto part_of = [&](const ir::Stage& s) {
    for (std::size_t k = 0; k < run.parts.size(); ++k)
      if (p_.buffer(run.parts[k]).stage == s.id) return static_cast<int>(k);
    return -1;
  };
  for (const auto& [id, s] : p_.stages) {
    if (id == run.all->id) continue;
    for (std::size_t k = 1; k < run.parts.size(); ++k)
      if (reads(s, run.parts[k])) return false;
    if (!reads(s, run.parts[0])) continue;
    if (s.is_reduction() || s.values.size() != 1 || p_.buffer(s.buffers.front()).role != ir::Role::temporary ||
        !nest_in(*run.body, s.id) ||
        !rescales(s.values.front(), run.parts[0], run.rescale, run.old, run.now,
                  ir::identity_of(run.extreme, run.rescale.type())))
      return false;
    run.terms.push_back(&s);
  }
  if (run.terms.size() != 1) return false;
  const Id term = run.terms.front()->buffers.front();
  for (const auto& [id, s] : p_.stages)
    if (reads(s, term) && (part_of(s) < 1 || !is_multiple(s.values.front(), term))) return false;
  return std::all_of(run.parts.begin() + 1, run.parts.end(),
                     [&](Id part) { return reads(p_.stage(p_.buffer(part).stage), term); });
}

// The rescale. Where no score has been reached yet it may have no value, exp(old - now) of two infinities; there the factor
// is 1.
Expr BlockLowering::where_it_moves(const Running& run) {
  const Type t = run.rescale.type();
  const Expr none = ir::identity_of(run.extreme, t);
  const auto at_none = sample(ir::substitute(run.rescale, {{run.old, none}, {run.now, none}}), 0, 0);
  if (at_none && std::isfinite(at_none->f)) return run.rescale;
  const Expr old = ir::var(run.old, "old", t), now = ir::var(run.now, "now", t);
  return ir::select(ir::eq(old, now), ir::float_const(t, 1), run.rescale);
}

// The part's maximum becomes that of all parts so far. Carried sums are multiplied by `factor` from here on.
void BlockLowering::raise(Id buffer) {
  if (!running_ || running_->parts[0] != buffer) return;
  StageTile& part = stages_.at(buffer);
  const std::vector<std::int64_t> own = b_.type(part.value).extents, carried = b_.type(running_->carried[0]).extents;
  if (b_.type(part.value).elements() != b_.type(running_->carried[0]).elements()) return;
  const Id top = b_.reshape(part.value, carried);
  running_->most = b_.apply(running_->extreme, {running_->carried[0], top});
  part.value = b_.reshape(running_->most, own);
  locals_[running_->old] = running_->carried[0], locals_[running_->now] = running_->most;
  done_.clear();
  Dimensions dims;
  for (const std::int64_t n : carried) dims.push_back({0, n, Expr()});
  running_->factor = full(spelled(where_it_moves(*running_)), dims);
  locals_.clear();
  done_.clear();
}

// The sums that a part starts from: the carried ones. Empty if it starts from nothing.
std::vector<Id> BlockLowering::carried_into(const ir::Stage& stage) {
  if (!running_ || !running_->most || stage.buffers.size() != 1) return {};
  const auto at = std::find(running_->parts.begin() + 1, running_->parts.end(), stage.buffers.front());
  if (at == running_->parts.end()) return {};
  const auto k = static_cast<std::size_t>(at - running_->parts.begin());
  const ir::tile::TileType own = b_.type(running_->carried[k]);
  std::vector<std::int64_t> extents;
  std::int64_t elements = 1;
  for (const TileDimension& d : dimensions(0)) extents.push_back(d.width), elements *= d.width;
  if (elements != own.elements()) return {};
  running_->started.insert(k);
  return {b_.reshape(b_.apply(Op::mul, {running_->carried[k], b_.broadcast(running_->factor, own.extents)}), extents)};
}

// The sums after this part, from the values of the stage that combines parts. Empty if they are combined as the reducer says.
std::vector<Id> BlockLowering::after_part(const std::vector<Expr>& parts) {
  if (!running_ || !running_->most || running_->all != now().stage) return {};
  std::vector<Id> next{running_->most};
  for (std::size_t k = 1; k < parts.size(); ++k) {
    const std::vector<std::int64_t> extents = b_.type(running_->carried[k]).extents;
    const Id part = full(tile(spelled(parts[k]), now().spatial), dimensions(k));
    const auto less = [&] { return b_.apply(Op::mul, {running_->carried[k], b_.broadcast(running_->factor, extents)}); };
    next.push_back(running_->started.count(k) ? part : b_.apply(Op::add, {less(), part}));
  }
  return next;
}

// A margin in which elements of tensors, ends(b, i) - j, are replaced by the largest or smallest that the tile reads, as
// variables. Elements of one place are one variable, whichever stage of the block reads them.
std::optional<Expr> BlockLowering::with_limits(const Expr& left, const Dimensions& tile, std::vector<Limit>& limits) {
  bool fits = true;
  const auto replace = [&](const Expr& e) -> Expr {
    Limit limit;
    const Expr load = ir::is(e, Op::cast) ? ir::args_of(e)[0] : e;
    const ir::Buffer& b = memory(load.node()->id);
    fits = fits && b.role == ir::Role::input && load.type().is_data_integer() && !stages_.count(b.id);
    ir::Substitution first;
    for (const TileDimension& d : tile)
      if (ir::uses_var(load, d.axis)) first.emplace_back(d.axis, ir::index(0)), limit.dims.push_back(d);
    for (const Expr& i : ir::args_of(load)) {
      const Expr moved = known(ir::sub(i, ir::substitute(i, first)));
      std::int64_t width = 1;
      for (const TileDimension& d : limit.dims)
        if (ir::is(moved, Op::var) && moved.node()->id == d.axis) width = d.width;
      fits = fits && !ir::has_load(i) && (width > 1 || ir::is_int(moved, std::int64_t{0}));
      limit.width.push_back(width);
    }
    limit.load = known(ir::substitute(load, first)), limit.whole = e;
    const Expr number = ir::var(ir::fresh_id(), "limit");
    limit.number = number.node()->id;
    const std::int64_t far = ir::tile::largest_extent;
    facts_.range(limit.number, ir::index(-far), ir::index(far));
    const Expr now = ir::transform(left, [&](const Expr& x) { return ir::same(x, e) ? number : x; });
    const Expr rise = known(ir::sub(ir::substitute(now, {{limit.number, ir::add(number, ir::index(1))}}), now));
    std::int64_t by = 0;
    fits = fits && ir::is_int(rise, &by) && (by == 1 || by == -1);
    limit.most = by > 0;
    for (const Limit& l : limits)
      if (ir::same(l.load, limit.load) && l.width == limit.width && l.most == limit.most) return ir::var(l.number, "limit");
    limits.push_back(std::move(limit));
    return number;
  };
  const Expr limited = ir::transform(left, [&](const Expr& e) {
    const bool element = ir::is(e, Op::load) || (ir::is(e, Op::cast) && ir::is(ir::args_of(e)[0], Op::load));
    return fits && e.type().is_index() && element ? replace(e) : e;
  });
  if (!fits || ir::has_load(limited)) return std::nullopt;
  return known(limited);
}

// Computes the limits of a margin in front of the loop.
void BlockLowering::compute_limits(const Expr& left, std::vector<Limit>& limits) {
  for (const Limit& l : limits) {
    if (!ir::uses_var(left, l.number) || scalars_.count(l.number)) continue;
    done_.clear();
    const bool around = std::exchange(defined_, true);
    const Expr far = ir::index(ir::tile::largest_extent);
    std::vector<Id> value{full(spelled(ir::binary(Op::min, ir::binary(Op::max, l.whole, ir::neg(far)), far)), l.dims)};
    defined_ = around;
    done_.clear();
    const ir::Value none = ir::int_value(i64, l.most ? INT64_MIN : INT64_MAX);
    for (std::size_t d = l.dims.size(); d-- > 0;)
      value = b_.reduce(value, static_cast<int>(d), {none},
                        [&](ir::tile::Builder& b, const std::vector<Id>& so_far, const std::vector<Id>& next) {
                          return std::vector<Id>{b.apply(l.most ? Op::max : Op::min, {so_far[0], next[0]})};
                        });
    scalars_[l.number] = b_.cast(i32, b_.reshape(value[0], {}));
  }
}

// The margin of a condition at the positions of the nest's tiles where it is largest, or smallest. Empty: it is not known.
Expr BlockLowering::margin_at(const Stmt& nest, const Expr& condition, bool largest, std::vector<Limit>& limits) {
  Expr left = margin(condition);
  if (left.empty() || !left.type().is_index() || (ir::has_load(left) && !largest)) return {};
  for (const auto& [id, scalar] : p_.scalars)  // whose sums with others may leave the 32 bits of a loop's number
    if (ir::uses_var(left, id) && (scalar.type.bits > 32 || (scalar.type.bits == 32 && scalar.type.is_unsigned()))) return {};
  std::vector<std::pair<Id, std::int64_t>> dims;
  ir::Substitution single;
  bool plain = true;
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (!s.is<LoopStmt>()) return;
    const LoopStmt& l = s.get<LoopStmt>();
    const ir::LoopRange range = ir::range_of(p_, s);
    if (l.kind == LoopKind::tile) {
      dims.emplace_back(l.axis, l.width);
      facts_.range(l.axis, ir::index(0), ir::index(l.width - 1));
    } else {
      plain = plain && ir::is_int(known(ir::sub(range.end, range.begin)), 1);
      single.emplace_back(l.axis, known(range.begin));
    }
  });
  if (!plain) return {};
  left = known(ir::substitute(ir::substitute(left, ir::iter_values(p_, nest.get<NestStmt>())), single));
  if (ir::has_load(left)) {
    Dimensions tile;
    for (const auto& [axis, width] : dims) tile.push_back({axis, width, Expr()});
    left = with_limits(left, tile, limits).value_or(Expr());
    if (left.empty()) return {};
  }
  for (const auto& [axis, width] : dims) {
    const Expr first = known(ir::substitute(left, {{axis, ir::index(0)}})),
               last = known(ir::substitute(left, {{axis, ir::index(width - 1)}}));
    const auto holds = [&](const Expr& at) {
      return analysis::can_prove(largest ? ir::ge(at, left) : ir::le(at, left), facts_);
    };
    left = holds(last) ? last : holds(first) ? first : Expr();
    if (left.empty()) break;
  }
  return left;
}

BlockLowering::Choice BlockLowering::choice_of(const Running& run, const ir::Stage& stage, const Expr& none,
                                               std::vector<Limit>& limits) {
  Choice c{&stage, stage.values.front(), none, {}, {}, {}};
  if (!ir::is(c.value, Op::select) || !ir::same(ir::args_of(c.value)[2], none)) return c;
  const auto args = ir::args_of(stage.values.front());
  add_conjuncts(args[0], c.conditions);
  c.value = args[1];
  const Stmt& nest = *nest_in(*run.body, stage.id);
  for (const Expr& e : c.conditions) {
    c.least.push_back(margin_at(nest, e, false, limits));
    c.most.push_back(margin_at(nest, e, true, limits));
  }
  return c;
}

// A margin as start - step * (the loop's number): start, and step, which is not 0.
std::optional<std::pair<Expr, std::int64_t>> BlockLowering::falling(const Expr& left, Id axis) const {
  if (left.empty()) return std::nullopt;
  const Expr next = ir::substitute(left, {{axis, ir::add(ir::axis_var(p_, axis), ir::index(1))}});
  std::int64_t step = 0;
  if (!ir::is_int(known(ir::sub(left, next)), &step) || step == 0) return std::nullopt;
  return std::pair(known(ir::substitute(left, {{axis, ir::index(0)}})), step);
}

namespace {
// start - step * i > 0 for all i below `end` where step > 0, from `begin` on where it is not.
void narrow(const Expr& start, std::int64_t step, Expr& begin, Expr& end) {
  if (step > 0)
    end = ir::binary(Op::min, end, ir::div(ir::add(start, ir::index(step - 1)), ir::index(step)));
  else
    begin = ir::binary(Op::max, begin, ir::add(ir::div(ir::neg(start), ir::index(-step)), ir::index(1)));
}

// What a power is multiplied by, or is a power of, apart from the maximum: the largest parts of it that read something else.
void add_scores(const Expr& e, Id maximum, std::vector<Expr>& all) {
  if (!ir::has_load(e)) return;
  if (reads(e, maximum) || !e.type().is_float()) {
    for (const Expr& a : ir::args_of(e)) add_scores(a, maximum, all);
  } else if (std::none_of(all.begin(), all.end(), [&](const Expr& x) { return ir::same(x, e); })) {
    all.push_back(e);
  }
}

// power(x, maximum) as power(select(condition, x, none), maximum), if power(none, ..) is 0: then the maximum's choice and the
// power's are one. (A maximum that is a NaN comes from a score that is seen, whose power is a NaN in the same sums.)
Expr with_choice_inside(const Expr& power, const Expr& condition, Id maximum, const Expr& none) {
  std::vector<Expr> scores;
  add_scores(power, maximum, scores);
  if (scores.size() != 1 || scores[0].type() != none.type()) return {};
  const auto replaced = [&](const Expr& by) {
    return ir::transform(power, [&](const Expr& e) { return ir::same(e, scores[0]) ? by : e; });
  };
  if (!power_of(power, [&](const Expr& e) { return ir::same(e, scores[0]); }, none)) return {};
  const Expr of_none = replaced(none);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double most : {-infinity, -1e30, -1., 0., 1., 1e30, infinity}) {
    const auto v = sample(of_none, maximum, most);
    if (!v || !v->type.is_float() || v->f != 0 || std::signbit(v->f)) return {};
  }
  return replaced(ir::select(condition, scores[0], none));
}

Expr all_of(const std::vector<Expr>& conditions) {
  Expr all = conditions.front();
  for (std::size_t k = 1; k < conditions.size(); ++k) all = ir::logic_and(all, conditions[k]);
  return all;
}

}  // namespace

// The loop without iterations at its ends whose part is the reducer's identity at all points.
void BlockLowering::leave_out(const Running& run, const std::vector<Choice>& choices, std::vector<Limit>& limits, Id axis,
                              Expr& begin, Expr& end) {
  const auto part = [&](std::size_t k) -> const ir::Stage& { return p_.stage(p_.buffer(run.parts[k]).stage); };
  const auto of_domain = [&](const ir::Stage& stage) {
    std::vector<Expr> margins;
    for (const Expr& condition : stage.domain)
      margins.push_back(margin_at(*nest_in(*run.body, stage.id), condition, true, limits));
    return margins;
  };
  const auto has = [](const std::vector<Expr>& list, const Expr& e) {
    return std::any_of(list.begin(), list.end(), [&](const Expr& x) { return !x.empty() && ir::same(x, e); });
  };
  std::vector<Expr> of_top = choices[0].most;
  for (const Expr& left : of_domain(part(0))) of_top.push_back(left);
  const std::vector<Expr>& of_term = choices[1].most;
  std::vector<std::vector<Expr>> of_sums;
  for (std::size_t k = 1; k < run.parts.size(); ++k) of_sums.push_back(of_domain(part(k)));
  for (const Expr& left : of_top) {
    if (left.empty()) continue;
    const bool of_all = std::all_of(of_sums.begin(), of_sums.end(), [&](const auto& list) { return has(list, left); });
    if (!has(of_term, left) && !of_all) continue;
    const bool of_data =
        std::any_of(limits.begin(), limits.end(), [&](const Limit& l) { return ir::uses_var(left, l.number); });
    const bool moves = std::any_of(limits.begin(), limits.end(), [&](const Limit& l) {
      return ir::uses_var(left, l.number) && ir::uses_var(l.load, axis);  // other elements in each iteration
    });
    if (moves) continue;
    if (of_data) compute_limits(left, limits);
    only_where(left, axis, begin, end, of_data ? 4 : 1);  // the quotient of any data by 4 has 32 bits
  }
}

// Only the iterations in which `left` is positive, if it changes by the same number with each, of at least `least`.
void BlockLowering::only_where(const Expr& left, Id axis, Expr& begin, Expr& end, std::int64_t least) const {
  const auto f = falling(left, axis);
  if (!f || (f->second < least && -f->second < least)) return;
  narrow(f->first, f->second, begin, end);
  begin = known(begin), end = known(end);
}

// The loop's iterations in which some score is left out before, behind and apart from those in which none is.
std::vector<BlockLowering::Stretch> BlockLowering::stretches(const std::vector<Choice>& choices, Id axis, const Expr& begin,
                                                             const Expr& end) const {
  Expr first = begin, behind = end;
  bool before = false, after = false;
  for (const Choice& c : choices)
    for (const Expr& left : c.least)
      if (const auto f = falling(left, axis)) {
        narrow(f->first, f->second, first, behind);
        (f->second > 0 ? after : before) = true;
      }
  if (!before && !after) return {{begin, end, false}};
  std::vector<Stretch> list;
  const Expr from = before ? known(ir::binary(Op::min, first, end)) : begin;
  const Expr to = after ? known(ir::binary(Op::max, from, ir::binary(Op::min, behind, end))) : end;
  if (before) list.push_back({begin, from, false});
  list.push_back({from, to, true});
  if (after) list.push_back({to, end, false});
  return list;
}

// The formulas of the maximum and of the terms, for these iterations.
std::map<Id, Expr> BlockLowering::formulas_in(const Stretch& stretch, const std::vector<Choice>& choices, const Running& run,
                                              Id axis) const {
  std::map<Id, Expr> all;
  for (const Choice& c : choices) {
    std::vector<Expr> left;
    for (std::size_t k = 0; k < c.conditions.size(); ++k)
      if (!stretch.whole || !falling(c.least[k], axis)) left.push_back(c.conditions[k]);
    if (c.conditions.empty()) continue;
    Expr formula = c.value;
    if (!left.empty()) {
      const bool term = &c == &choices[1];
      formula = term ? with_choice_inside(c.value, all_of(left), run.parts[0], choices[0].none) : Expr();
      if (formula.empty()) formula = ir::select(all_of(left), c.value, c.none);
    }
    all[c.stage->id] = formula;
  }
  return all;
}

// Ends a loop over terms where no position of the tiles inside has terms any more: the rest of a part, where parts do not
// divide the terms.
void BlockLowering::leave_out_rest(Id axis, Expr& begin, Expr& end) {
  for (const Expr& e : analysis::conditions_of(p_, to_block())) {
    const Expr condition = known(e), left = margin(condition);
    if (left.empty() || !left.type().is_index() || ir::has_load(left) || !ir::uses_var(left, axis)) continue;
    const std::vector<Id> vars = ir::free_vars(left);
    if (std::all_of(vars.begin(), vars.end(),
                    [&](Id v) { return v == axis || p_.symbols.count(v) || (scalars_.count(v) && !p_.scalars.count(v)); }))
      only_where(left, axis, begin, end);
  }
  facts_.range(axis, begin, known(ir::sub(end, ir::index(1))));
}

}  // namespace ashlar::lowering
