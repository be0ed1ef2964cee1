// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formulas as operations on tiles (block.h).
//
//   x[io*128 + ii, j] * w[ii]     over (ii: 128, j: 64)     f32 128x64 times f32 128x1, repeated along j
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

// Operators that the tile form has; the others are spelled by these.
bool tile_keeps(const ir::Applied& a) {
  if (a.op == Op::cast) return a.type != e4m3 && a.type != e5m2;
  const Type operand = a.args[a.op == Op::select ? 1 : 0].type();
  return operand.is_index() || a.op == Op::in_range || ir::tile::has_operator(a.op, operand);
}

bool is_literal(const Expr& e) { return ir::is(e, Op::int_const) || ir::is(e, Op::float_const); }

// x / 2^n as x * 2^-n, which has the same bits: division takes many instructions. Conversions of numbers are numbers.
Expr cheaper(const Expr& e) {
  const auto args = ir::args_of(e);
  if (ir::is(e, Op::cast) && is_literal(args[0]) && e.type().is_float()) {
    const ir::Value operand[] = {ir::value_of(args[0])};
    const auto v = ir::evaluate(Op::cast, e.type(), operand);
    return v ? ir::float_const(e.type(), v->f) : e;
  }
  if (!ir::is(e, Op::div) || (e.type() != f32 && e.type() != f64) || !ir::is(args[1], Op::float_const)) return e;
  constexpr int most = 126;  // the reciprocal is a normal number too
  int exponent = 0;
  const double by = ir::value_of(args[1]).f, fraction = std::frexp(by, &exponent);
  if (std::abs(fraction) != 0.5 || std::abs(exponent - 1) > most) return e;
  return ir::mul(args[0], ir::float_const(e.type(), 1 / by));
}

}  // namespace

Expr BlockLowering::known(const Expr& e) const { return analysis::simplify(ir::substitute(e, single_), facts_); }

Expr BlockLowering::spelled(const Expr& e) {
  ir::Spelling all(tile_keeps);
  const Expr result = ir::transform(all(e), cheaper);
  alive_.push_back(result);
  return result;
}

Id BlockLowering::full(Id value, const Dimensions& dims) {
  std::vector<std::int64_t> extents;
  for (const TileDimension& d : dims) extents.push_back(d.width);
  return b_.broadcast(value, extents);
}
Id BlockLowering::full(const Expr& e, const Dimensions& dims) { return full(tile(e, dims), dims); }

Id BlockLowering::tile(const Expr& e, const Dimensions& dims) {
  if (const auto it = done_.find(e.node()); it != done_.end()) return it->second;
  if (e.type().is_packed()) refuse("tiles", "elements of at least a byte", "a value of " + ir::text(e.type()), e.node()->where);
  Id result = 0;
  switch (ir::op_of(e)) {
    case Op::int_const:
    case Op::float_const: {
      ir::Value v = ir::value_of(e);
      if (v.type.is_index()) v = ir::int_value(index_, v.i);
      result = b_.constant(v, ones(dims.size()));
      break;
    }
    case Op::var:
      result = variable(e, dims);
      break;
    case Op::load:
      result = load(e, dims);
      break;
    case Op::in_range:
    case Op::rare:
      result = tile(ir::args_of(e)[0], dims);
      break;
    case Op::call:
      refuse("tiles", "a formula of operators", std::string("a call of ") + e.node()->name, e.node()->where);
    default:
      result = index_ == i64 && ir::is_comparison(ir::op_of(e)) && ir::args_of(e)[0].type().is_index() && fits(e, false)
                   ? in_32_bits(e, dims)
                   : operation(e, dims);
  }
  done_.emplace(e.node(), result);
  alive_.push_back(e);
  return result;
}

Id BlockLowering::variable(const Expr& e, const Dimensions& dims) {
  const Id id = e.node()->id;
  if (const auto it = locals_.find(id); it != locals_.end()) return it->second;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].axis != id) continue;
    std::vector<std::int64_t> extents = ones(dims.size());
    extents[d] = dims[d].width;
    return b_.reshape(b_.iota(index_, dims[d].width), extents);
  }
  if (p_.scalars.count(id)) {
    if (!scalars_.count(id)) {
      const ir::ScalarArg& s = p_.scalars.at(id);
      scalars_[id] = b_.parameter(s.name, {.type = s.type, .divisor = 1, .not_negative = false});
      parameters_.push_back(scalars_.at(id));
      launch_.parameters.push_back({e, 0, 0});
    }
    return b_.reshape(scalars_.at(id), ones(dims.size()));
  }
  if (const Expr single = known(e); !ir::is(single, Op::var) || single.node()->id != id) return tile(single, dims);
  return b_.reshape(b_.cast(index_, scalar(e)), ones(dims.size()));
}

// The amount of a shift, in the type of the shifted value. An amount that does not fit that type also exceeds its bits.
Id BlockLowering::amount(Id value, Type shifted) {
  const ir::tile::TileType own = b_.type(value);
  if (own.element == shifted) return value;
  if (own.element.bits > shifted.bits) {
    const Type natural{Type::Code::unsigned_, own.element.bits};
    value = b_.apply(Op::min, {b_.cast(natural, value), b_.integer(natural, shifted.bits, own.extents)});
  }
  return b_.cast(shifted, value);
}

Id BlockLowering::in_32_bits(const Expr& comparison, const Dimensions& dims) {
  std::map<const ir::Node*, Id> around;
  std::swap(around, done_);
  index_ = i32;
  const Id value = operation(comparison, dims);
  index_ = i64;
  std::swap(around, done_);
  return value;
}

Id BlockLowering::operation(const Expr& e, const Dimensions& dims) {
  const Op op = ir::op_of(e);
  std::vector<Id> args;
  std::vector<std::int64_t> extents = ones(dims.size());
  for (std::size_t i = 0; i < ir::args_of(e).size(); ++i) {
    const bool arm = op == Op::select && i > 0, around = chosen_;
    chosen_ = chosen_ || arm;
    args.push_back(tile(ir::args_of(e)[i], dims));
    chosen_ = around;
    for (std::size_t d = 0; d < dims.size(); ++d) extents[d] = std::max(extents[d], b_.type(args.back()).extents[d]);
  }
  for (Id& a : args) a = b_.broadcast(a, extents);
  const Type to = e.type().is_index() ? index_ : e.type(), from = b_.type(args[op == Op::select ? 1 : 0]).element;
  if (op == Op::cast || op == Op::bitcast) return b_.cast(to, args[0], op);
  if (op == Op::shl || op == Op::shr) args[1] = amount(args[1], from);
  if (!ir::tile::has_operator(op, from))
    refuse("tiles", "operators that tiles have", std::string(ir::op_name(op)) + " of " + ir::text(from), e.node()->where);
  return b_.apply(op, std::move(args));
}

// Bounds and numbers of tiles fit in 32 bits, as extents do, which the entry checks.
Id BlockLowering::scalar(const Expr& e) {
  std::int64_t n = 0;
  if (ir::is_int(e, &n)) {
    if (n > INT32_MAX || n < INT32_MIN) refuse("tiles", "loops and numbers of tiles of 32 bits", ir::text(e), e.node()->where);
    return b_.integer(e.type().is_bool() ? bool_ : i32, n);
  }
  if (ir::is(e, Op::var)) {
    const Id id = e.node()->id;
    if (const auto it = scalars_.find(id); it != scalars_.end()) return it->second;
    if (p_.symbols.count(id)) return parameter(p_.symbols.at(id).name, e);
    for (const auto& [axis, value] : single_)
      if (axis == id) return scalar(value);
    throw InternalError("a variable that no loop of the block has: " + ir::text(e));
  }
  if (ir::is(e, Op::load)) refuse("tiles", "an index that is known when the block begins", ir::text(e), e.node()->where);
  if (ir::is(e, Op::in_range)) return scalar(ir::args_of(e)[0]);
  if (of_host(e)) return parameter("size" + std::to_string(launch_.parameters.size()), e);
  const Op op = ir::op_of(e);
  if (op == Op::cast && !ir::has_load(e)) return scalar_by_64(e);  // a number of a loop as a condition: bool_(i)
  if (ir::is_comparison(op) || op == Op::div || op == Op::mod || op == Op::min || op == Op::max)
    for (const Expr& a : ir::args_of(e))
      if (a.type().is_index() && !ir::has_load(a) && !fits(a, true)) return scalar_by_64(e);
  std::vector<Id> args;
  for (const Expr& a : ir::args_of(e)) args.push_back(a.type().is_bool() || a.type().is_index() ? scalar(a) : Id{0});
  for (const Id a : args)
    if (!a) refuse("tiles", "an index over loops and symbols", ir::text(e), e.node()->where);
  return b_.apply(op, std::move(args));
}

// Where the result fits, but not what it is computed of; or that is of another type.
Id BlockLowering::scalar_by_64(const Expr& e) {
  std::map<const ir::Node*, Id> around;
  std::swap(around, done_);
  const Type index = std::exchange(index_, i64);
  const Id value = tile(spelled(e), {});
  index_ = index;
  std::swap(around, done_);
  return e.type().is_bool() ? value : b_.cast(i32, value);
}

Id BlockLowering::mask(const std::vector<Expr>& conditions, const Dimensions& dims) {
  Id all = 0;
  for (const Expr& c : conditions) {
    done_.clear();
    index_ = fits(c, false) ? i32 : i64;
    const Id one = tile(spelled(c), dims);
    std::vector<std::int64_t> extents = ones(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d)
      extents[d] = std::max(b_.type(one).extents[d], all ? b_.type(all).extents[d] : 1);
    const Id before = all ? b_.broadcast(all, extents) : 0, more = b_.broadcast(one, extents);
    all = all ? b_.apply(Op::logic_and, {before, more}) : more;
  }
  done_.clear();
  index_ = i64;
  return all ? all : b_.integer(bool_, 1, ones(dims.size()));
}

// One step of the stage's reducer, of values over the dimensions.
std::vector<Id> BlockLowering::combined(const std::vector<Id>& so_far, const std::vector<Id>& next, const Dimensions& dims) {
  const ir::Stage& stage = *now().stage;
  std::vector<Expr> left, right;
  for (std::size_t c = 0; c < so_far.size(); ++c) {
    left.push_back(ir::var(ir::fresh_id(), "left", stage.values[c].type()));
    right.push_back(ir::var(ir::fresh_id(), "right", stage.values[c].type()));
    locals_[left.back().node()->id] = so_far[c];
    locals_[right.back().node()->id] = next[c];
  }
  done_.clear();
  std::vector<Id> result;
  for (const Expr& e : ir::combine(stage.is_recurrence() ? stage.scan : stage.reducer, left, right))
    result.push_back(tile(spelled(e), dims));
  done_.clear();
  locals_.clear();
  return result;
}

}  // namespace ashlar::lowering
