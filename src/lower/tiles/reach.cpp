// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which indices are right in 32 bits (block.h). Sums, differences and products are right modulo 2^32; a quotient, a minimum or
// a comparison asks for its operands themselves. They fit if they are at most one number that the host has checked, or a loop's
// number that one bounds, and small ones:
//
//   io*128 + ii < M        io*128 <= M - 1, ii < 128: fits
//   i*H / O                may be any number: 64 bits
//   k < 4*N                64 bits in a mask; as a loop's end a parameter, which the host computes and checks
#include <algorithm>

#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

constexpr std::int64_t small_number = std::int64_t{1} << 20;                              // a constant, or what a loop adds
constexpr std::int64_t most_checked = ir::tile::largest_extent;                           // what the host checks
constexpr std::int64_t most_of_sums = (std::int64_t{1} << 24) - (std::int64_t{1} << 21);  // of small numbers

bool is_of_symbols(const ir::Program& p, const Expr& e) {
  const std::vector<ir::Id> vars = ir::free_vars(e);
  return !vars.empty() && !ir::has_load(e) &&
         std::all_of(vars.begin(), vars.end(), [&](ir::Id v) { return p.symbols.count(v) != 0; });
}

}  // namespace

// What the host computes of Symbols, and checks, because it may leave 32 bits.
bool BlockLowering::of_host(const Expr& e) const {
  if (!e.type().is_index() || !is_of_symbols(p_, e)) return false;
  if (ir::is(e, Op::mul)) return true;
  if (!ir::is(e, Op::add) && !ir::is(e, Op::sub)) return false;
  const auto args = ir::args_of(e);
  if (ir::is_int(args[0]) || ir::is_int(args[1])) return false;
  return ir::is(e, Op::add) || !ir::is(args[0], Op::var) || !ir::is(args[1], Op::var);
}

// How far the expression reaches: how many large numbers are added and subtracted, and the sum of the small ones. Empty: not
// known.
std::optional<BlockLowering::Reach> BlockLowering::reach(const Expr& e, bool host) const {
  std::int64_t n = 0;
  if (!e.type().is_index()) return std::nullopt;
  if (ir::is_int(e, &n)) return n > small_number || n < -small_number ? std::optional<Reach>() : Reach{0, 0, std::max(n, -n)};
  const auto low = analysis::constant_min(e, facts_), high = analysis::constant_max(e, facts_);
  const auto args = ir::args_of(e);
  switch (ir::op_of(e)) {
    case Op::var:
      if (low && high && *low >= -small_number && *high <= small_number) return Reach{0, 0, std::max(*high, -*low)};
      return low && *low >= -small_number ? std::optional(Reach{1, 0, small_number}) : std::nullopt;
    case Op::add:
    case Op::sub: {
      const auto a = reach(args[0], host), b = reach(args[1], host);
      if (host && of_host(e)) return Reach{1, 1, 0};
      if (!a || !b) return std::nullopt;
      const bool minus = ir::is(e, Op::sub);
      return Reach{a->up + (minus ? b->down : b->up), a->down + (minus ? b->up : b->down), a->small + b->small};
    }
    case Op::mul: {
      if (host && of_host(e)) return Reach{1, 1, 0};
      if (low && high && *low >= -small_number && *high <= small_number) return Reach{0, 0, std::max(*high, -*low)};
      const bool first = ir::is_int(args[0], &n);
      if (!first && !ir::is_int(args[1], &n)) return std::nullopt;
      const Expr positive = n < 0 ? ir::mul(args[first ? 1 : 0], ir::index(-n)) : e;
      if (n > small_number || n < -small_number || !reach(args[first ? 1 : 0], host) || !bounded(positive)) return std::nullopt;
      return n < 0 ? Reach{0, 1, small_number} : Reach{1, 0, small_number};
    }
    case Op::in_range:
      return reach(args[0], host);
    default:
      break;
  }
  if (!host) return std::nullopt;
  for (const Expr& a : args)
    if (a.type().is_index() && !fits(a, true)) return std::nullopt;
  if (ir::is(e, Op::mod) && ir::is_int(args[1], &n) && n > 0 && n <= small_number) return Reach{0, 0, n};
  return ir::is(e, Op::div) || ir::is(e, Op::mod) || ir::is(e, Op::min) || ir::is(e, Op::max)
             ? std::optional(Reach{1, 1, most_of_sums / 4})
             : std::nullopt;
}

// Not negative but by a small number, and at most a small number more than what the host checks: a Symbol, or an extent of an
// output. A remainder is at most its divisor.
bool BlockLowering::bounded(const Expr& e) const {
  const auto low = analysis::constant_min(e, facts_), high = analysis::constant_max(e, facts_);
  if (!low || *low < -small_number) return false;
  if (high && *high <= most_checked) return true;
  if (ir::is(e, Op::mul))
    for (const int k : {0, 1})
      if (const Expr &of = ir::args_of(e)[k], &by = ir::args_of(e)[1 - k]; ir::is(of, Op::mod) && ir::is_int(by))
        return bounded(known(ir::mul(ir::args_of(of)[1], by)));
  const auto below = [&](const Expr& checked) {
    return analysis::can_prove(ir::le(e, ir::add(checked, ir::index(small_number))), facts_);
  };
  for (const auto& [id, s] : p_.symbols)
    if (below(ir::var(id, s.name))) return true;
  return std::any_of(p_.arguments.begin(), p_.arguments.end(), [&](const ir::Argument& a) {
    if (a.kind != ir::ArgumentKind::output) return false;
    const std::vector<Expr>& extents = p_.buffer(a.id).extents;
    return std::any_of(extents.begin(), extents.end(), below);
  });
}

bool BlockLowering::fits(const Expr& e, bool host) const {
  if (ir::has_load(e)) return false;  // data may have more bits before a clamp bounds it
  if (ir::is_comparison(ir::op_of(e))) {
    const auto sides = ir::args_of(e);
    return fits(sides[0], host) && fits(sides[1], host);
  }
  const std::optional<Reach> all = reach(e, host);
  return all && all->up <= 1 && all->down <= 1 && all->small <= most_of_sums;
}

}  // namespace ashlar::lowering
