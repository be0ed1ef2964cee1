// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values that an index takes while its variables run, as multiples of a step between two ends, and how many there are.
#include <algorithm>
#include <bit>
#include <numeric>

#include <ashlar/ir/build.h>

#include "report/stage_figures.h"

namespace ashlar::report {

using ir::Op;

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// No more than lie between the ends.
Values ends(std::int64_t low, std::int64_t high, std::int64_t step, double count) {
  if (high < low) return {low, low, 0, 0};
  if (low == high) return {low, low, 0, std::min(count, 1.0)};
  step = std::max<std::int64_t>(1, step);
  return {low, high, step, std::min(count, static_cast<double>((high - low) / step + 1))};
}

Values product(const Values& a, std::int64_t by) {
  const std::int64_t x = a.low * by, y = a.high * by;
  return ends(std::min(x, y), std::max(x, y), a.step * std::abs(by), a.count);
}

std::optional<Values> binary(Op op, const Values& a, const Values& b) {
  const double both = a.count * b.count;
  switch (op) {
    case Op::add:
      return ends(a.low + b.low, a.high + b.high, std::gcd(a.step, b.step), both);
    case Op::sub:
      return ends(a.low - b.high, a.high - b.low, std::gcd(a.step, b.step), both);
    case Op::mul: {
      if (b.single()) return product(a, b.low);
      if (a.single()) return product(b, a.low);
      const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
      return ends(low, high, 1, both);
    }
    case Op::div: {
      if (!b.single() || b.low <= 0) return std::nullopt;
      return ends(floor_div(a.low, b.low), floor_div(a.high, b.low), a.step % b.low == 0 ? a.step / b.low : 1, a.count);
    }
    case Op::mod: {
      if (!b.single() || b.low <= 0) return std::nullopt;
      const std::int64_t block = floor_div(a.low, b.low) * b.low;
      if (a.high < block + b.low) return ends(a.low - block, a.high - block, a.step, a.count);
      return ends(0, b.low - 1, std::gcd(a.step, b.low), a.count);
    }
    case Op::min:
      if (a.high <= b.low) return a;
      if (b.high <= a.low) return b;
      return ends(std::min(a.low, b.low), std::min(a.high, b.high), b.single() && b.low >= a.high ? a.step : 1,
                  a.count + b.count);
    case Op::max:
      if (a.low >= b.high) return a;
      if (b.low >= a.high) return b;
      return ends(std::max(a.low, b.low), std::max(a.high, b.high), 1, a.count + b.count);
    case Op::bit_and:
      if (b.single() && b.low >= 0 && a.low >= 0) return ends(0, b.low, 1, a.count);
      return std::nullopt;
    case Op::bit_or:
    case Op::bit_xor: {
      if (a.low < 0 || b.low < 0) return std::nullopt;
      const auto top = std::bit_ceil(static_cast<std::uint64_t>(std::max(a.high, b.high)) + 1);
      if (a.single() && b.single()) return Values::one(op == Op::bit_or ? a.low | b.low : a.low ^ b.low);
      return ends(0, static_cast<std::int64_t>(top) - 1, 1, both);
    }
    default:
      return std::nullopt;
  }
}

// Does the condition hold for all values, or for none?
std::optional<bool> decided(const Expr& c, const Known& known) {
  if (ir::is(c, Op::int_const)) return c.node()->i != 0;
  const auto args = ir::args_of(c);
  if (ir::is(c, Op::logic_not)) {
    const auto a = decided(args[0], known);
    return a ? std::optional(!*a) : std::nullopt;
  }
  if (args.size() != 2) return std::nullopt;
  if (ir::is(c, Op::logic_and) || ir::is(c, Op::logic_or)) {
    const bool ends = ir::is(c, Op::logic_or);  // the value that decides alone
    const auto a = decided(args[0], known), b = decided(args[1], known);
    if ((a && *a == ends) || (b && *b == ends)) return ends;
    return a && b ? std::optional(!ends) : std::nullopt;
  }
  const auto a = values_of(args[0], known), b = values_of(args[1], known);
  if (!a || !b) return std::nullopt;
  const bool less = a->high<b->low, at_most = a->high <= b->low, more = a->low> b->high, at_least = a->low >= b->high;
  const bool same = a->single() && b->single() && a->low == b->low, apart = less || more;
  switch (ir::op_of(c)) {
    case Op::lt:
      return less ? std::optional(true) : at_least ? std::optional(false) : std::nullopt;
    case Op::le:
      return at_most ? std::optional(true) : more ? std::optional(false) : std::nullopt;
    case Op::gt:
      return more ? std::optional(true) : at_most ? std::optional(false) : std::nullopt;
    case Op::ge:
      return at_least ? std::optional(true) : less ? std::optional(false) : std::nullopt;
    case Op::eq:
      return same ? std::optional(true) : apart ? std::optional(false) : std::nullopt;
    case Op::ne:
      return same ? std::optional(false) : apart ? std::optional(true) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

Values Values::range(std::int64_t low, std::int64_t high) {
  return ends(low, high, 1, static_cast<double>(high) - static_cast<double>(low) + 1);
}

std::optional<Values> values_of(const Expr& e, const Known& known) {
  std::int64_t n = 0;
  if (ir::is_int(e, &n)) return Values::one(n);
  if (ir::is(e, Op::var)) {
    const auto it = known.find(e.node()->id);
    return it == known.end() ? std::nullopt : std::optional(it->second);
  }
  const auto args = ir::args_of(e);
  if (ir::is(e, Op::cast) || ir::is(e, Op::in_range)) return values_of(args[0], known);
  if (ir::is(e, Op::select)) {
    if (const auto holds = decided(args[0], known)) return values_of(args[*holds ? 1 : 2], known);
    const auto a = values_of(args[1], known), b = values_of(args[2], known);
    if (!a || !b) return std::nullopt;
    return ends(std::min(a->low, b->low), std::max(a->high, b->high), 1, a->count + b->count);
  }
  if (args.size() != 2) return std::nullopt;
  const auto a = values_of(args[0], known), b = values_of(args[1], known);
  if (!a || !b) return std::nullopt;
  return binary(ir::op_of(e), *a, *b);
}

}  // namespace ashlar::report
