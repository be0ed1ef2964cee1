// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant bounds and congruences of canonical expressions.
#include <algorithm>
#include <bit>
#include <numeric>

#include <ashlar/ir/numeric.h>

#include "analysis/simplify/engine.h"
#include <ashlar/ir/pairs.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

__extension__ using Wide = __int128;
constexpr Wide limit = Wide(INT64_MAX) - 1;

// Widening only: a lower end may fall, an upper end may rise.
std::int64_t as_lo(Wide v) { return v < -limit ? INT64_MIN : v > limit ? INT64_MAX - 1 : static_cast<std::int64_t>(v); }
std::int64_t as_hi(Wide v) { return v > limit ? INT64_MAX : v < -limit ? INT64_MIN + 1 : static_cast<std::int64_t>(v); }

Range sum(Range a, Range b) {
  Range r;
  if (a.has_lo() && b.has_lo()) r.lo = as_lo(Wide(a.lo) + b.lo);
  if (a.has_hi() && b.has_hi()) r.hi = as_hi(Wide(a.hi) + b.hi);
  return r;
}

Range scale(Range a, std::int64_t c) {
  if (c == 0) return {0, 0};
  Range r;
  if (c > 0) {
    if (a.has_lo()) r.lo = as_lo(Wide(a.lo) * c);
    if (a.has_hi()) r.hi = as_hi(Wide(a.hi) * c);
  } else {
    if (a.has_hi()) r.lo = as_lo(Wide(a.hi) * c);
    if (a.has_lo()) r.hi = as_hi(Wide(a.lo) * c);
  }
  return r;
}

struct End {  // an end of a range in the extended integers
  Wide value;
  int infinite;  // -1, 0, 1
};
End lower(Range r) { return r.has_lo() ? End{r.lo, 0} : End{0, -1}; }
End upper(Range r) { return r.has_hi() ? End{r.hi, 0} : End{0, 1}; }
int sign(End e) { return e.infinite ? e.infinite : e.value < 0 ? -1 : e.value > 0; }
End times(End a, End b) {
  if (sign(a) == 0 || sign(b) == 0) return {0, 0};
  if (a.infinite || b.infinite) return {0, sign(a) * sign(b)};
  return {a.value * b.value, 0};
}
bool less(End a, End b) { return a.infinite != b.infinite ? a.infinite < b.infinite : !a.infinite && a.value < b.value; }

Range times(Range a, Range b) {
  const End corners[] = {times(lower(a), lower(b)), times(lower(a), upper(b)), times(upper(a), lower(b)),
                         times(upper(a), upper(b))};
  End lo = corners[0], hi = corners[0];
  for (End c : corners) {
    if (less(c, lo)) lo = c;
    if (less(hi, c)) hi = c;
  }
  Range r;
  if (!lo.infinite) r.lo = as_lo(lo.value);
  if (!hi.infinite) r.hi = as_hi(hi.value);
  return r;
}

Range quotient(Range a, Range b) {
  Range r;
  if (b.lo > 0 && b.hi >= b.lo) {  // facts that contradict each other leave an empty range
    if (a.has_lo()) r.lo = a.lo >= 0 ? (b.has_hi() ? a.lo / b.hi : 0) : floor_div(a.lo, b.lo);
    if (a.has_hi()) r.hi = a.hi >= 0 ? a.hi / b.lo : (b.has_hi() ? floor_div(a.hi, b.hi) : -1);
  } else if (b.lo == 0) {  // x / 0 = 0, and otherwise between x and 0, or -1
    if (a.has_lo()) r.lo = std::min<std::int64_t>(a.lo, 0);
    if (a.has_hi()) r.hi = std::max<std::int64_t>(a.hi, 0);
  } else if (a.has_lo() && a.has_hi()) {  // |x / y| <= |x|, x / 0 = 0
    const Wide m = std::max(a.lo < 0 ? -Wide(a.lo) : Wide(a.lo), a.hi < 0 ? -Wide(a.hi) : Wide(a.hi));
    r = {as_lo(-m), as_hi(m)};
  }
  return r;
}

Range remainder(Range a, Range b) {
  Range r;
  if (b.lo >= 0) {
    if (b.lo > 0 && a.has_lo() && a.has_hi()) {
      if (b.is_constant() && floor_div(a.lo, b.lo) == floor_div(a.hi, b.lo))
        return {floor_mod(a.lo, b.lo), floor_mod(a.hi, b.lo)};
      if (a.lo >= 0 && a.hi < b.lo) return a;
    }
    r.lo = 0;
    if (b.has_hi()) r.hi = std::max<std::int64_t>(b.hi - 1, 0);
    if (a.lo >= 0 && a.has_hi()) r.hi = std::min(r.hi, a.hi);
    return r;
  }
  if (b.has_lo()) r.lo = std::min<std::int64_t>(b.lo + 1, 0);
  if (b.has_hi()) r.hi = std::max<std::int64_t>(b.hi - 1, 0);
  return r;
}

// The largest number of as many bits as v, v >= 0.
std::int64_t bits_above(std::int64_t v) {
  return static_cast<std::int64_t>((std::uint64_t{1} << std::bit_width(static_cast<std::uint64_t>(v))) - 1);
}

Range of_type(Type t) {
  if (t.is_bool()) return {0, 1};
  if (!t.is_data_integer() || t.lanes != 1 || (t.is_unsigned() && t.bits >= 64))
    return t.is_unsigned() ? Range{0, INT64_MAX} : Range{};
  const std::int64_t lo = ir::lowest_of(t), hi = ir::highest_of(t);
  return {lo, hi};
}

Congruence join(Congruence a, Congruence b) {
  const std::int64_t m = std::gcd(std::gcd(a.modulus, b.modulus), checked_add(a.remainder, -b.remainder));
  return {m, m == 0 ? a.remainder : floor_mod(a.remainder, m)};
}

// How many low bits a congruence knows: those below the power of two in its modulus.
int known_bits(Congruence c) { return c.modulus == 0 ? 62 : std::countr_zero(static_cast<std::uint64_t>(c.modulus)); }

}  // namespace

Range Engine::var_range(const Expr& var) {
  const VarFacts* f = facts_.of(var.node()->id);
  if (!f) return {};
  Range r;
  if (f->min) r.lo = *f->min;
  if (f->max) r.hi = *f->max;
  if (range_depth_ < 8) {
    ++range_depth_;
    if (!r.has_lo() && !f->lo.empty()) r.lo = range(f->lo).lo;
    if (!f->hi.empty()) r.hi = std::min(r.hi, range(f->hi).hi);
    if (!f->lo.empty()) r.lo = std::max(r.lo, range(f->lo).lo);
    --range_depth_;
  }
  if (f->multiple_of > 1) {
    if (r.has_lo()) r.lo = as_lo(-Wide(floor_div(-r.lo, f->multiple_of)) * f->multiple_of);
    if (r.has_hi()) r.hi = floor_div(r.hi, f->multiple_of) * f->multiple_of;
  }
  return r;
}

Range Engine::range(const Linear& l) {
  Range r{l.constant, l.constant};
  for (const Term& t : l.terms) r = sum(r, scale(range(t.atom), t.coef));
  return r;
}

Range Engine::range(const Expr& e) {
  const ir::Node* n = e.node();
  if (n->op == Op::int_const) return {n->i, n->i};
  if (n->op == Op::var && is_scalar_index(e)) {
    if (const auto it = ranges_.find(n); it != ranges_.end()) return it->second;
    const Range r = var_range(e);
    if (range_depth_ == 0) {
      ranges_.emplace(n, r);
      ranged_.push_back(e);
    }
    return r;
  }
  if (!is_scalar_index(e)) return of_type(n->type);
  if (const auto it = ranges_.find(n); it != ranges_.end()) return it->second;
  const bool below = range_depth_ > 0 && ir::is_shared(n);
  auto& of_depth = ranges_below_[static_cast<std::size_t>(range_depth_)];
  if (below)
    if (const auto it = of_depth.find(n); it != of_depth.end()) return it->second;
  const Range r = atom_range(e);
  if (below || range_depth_ == 0) {
    (below ? of_depth : ranges_).emplace(n, r);
    ranged_.push_back(e);
  }
  return r;
}

Range Engine::atom_range(const Expr& e) {
  const ir::Node* n = e.node();
  const Expr* a = n->args;
  switch (n->op) {
    case Op::add:
      return sum(range(a[0]), range(a[1]));
    case Op::sub:
      return sum(range(a[0]), scale(range(a[1]), -1));
    case Op::neg:
      return scale(range(a[0]), -1);
    case Op::mul: {
      if (ir::same(a[0], a[1])) {
        Range r = times(range(a[0]), range(a[1]));
        r.lo = std::max<std::int64_t>(r.lo, 0);
        return r;
      }
      return times(range(a[0]), range(a[1]));
    }
    case Op::div:
      return quotient(range(a[0]), range(a[1]));
    case Op::mod:
      return remainder(range(a[0]), range(a[1]));
    case Op::min: {
      const Range x = range(a[0]), y = range(a[1]);
      return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
    }
    case Op::max: {
      const Range x = range(a[0]), y = range(a[1]);
      return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    }
    case Op::select: {
      const Range x = range(a[1]), y = range(a[2]);
      return {std::min(x.lo, y.lo), std::max(x.hi, y.hi)};
    }
    case Op::abs: {
      const Range x = range(a[0]);
      Range r{0, INT64_MAX};
      if (x.has_lo() && x.has_hi()) r.hi = as_hi(std::max(-Wide(x.lo), Wide(x.hi)));
      if (x.lo > 0) r.lo = x.lo;
      return r;
    }
    case Op::bit_and: {  // of one that is not negative: not above it
      const Range x = range(a[0]), y = range(a[1]);
      if (x.lo >= 0 && y.lo >= 0) return {0, std::min(x.hi, y.hi)};
      return x.lo >= 0 ? Range{0, x.hi} : y.lo >= 0 ? Range{0, y.hi} : Range{};
    }
    case Op::bit_or:
    case Op::bit_xor: {  // no bit above the highest of either
      const Range x = range(a[0]), y = range(a[1]);
      if (x.lo < 0 || y.lo < 0) return {};
      Range r{n->op == Op::bit_or ? std::max(x.lo, y.lo) : 0, INT64_MAX};
      if (x.has_hi() && y.has_hi()) r.hi = bits_above(std::max(x.hi, y.hi));
      return r;
    }
    case Op::in_range: {
      Range r = range(a[0]);
      const Range lo = range(a[1]), hi = range(a[2]);
      r.lo = std::max(r.lo, lo.lo);
      if (hi.has_hi()) r.hi = std::min(r.hi, hi.hi - 1);
      return r;
    }
    case Op::cast: {
      const Type from = a[0].node()->type;
      if (from.is_index()) return range(a[0]);
      if (!from.is_data_integer() && !from.is_float()) return of_type(from);
      const DataRange r = from.is_float() ? converted_range(a[0], {INT64_MIN, INT64_MAX}, false) : data_range(a[0]);
      if (r.hi > INT64_MAX) return {};  // an index keeps the bits of a u64
      return {static_cast<std::int64_t>(r.lo), static_cast<std::int64_t>(r.hi)};
    }
    default:
      return {};
  }
}

// ---- congruences -------------------------------------------------------------------------------------------------------

Congruence Engine::var_congruence(const Expr& var) {
  const VarFacts* f = facts_.of(var.node()->id);
  if (!f) return {1, 0};
  if (f->min && f->max && *f->min == *f->max) return {0, *f->min};
  return {f->multiple_of, 0};
}

Congruence Engine::congruence(const Linear& l) {
  Congruence r{0, l.constant};
  for (const Term& t : l.terms) {
    const Congruence a = congruence(t.atom);
    const std::int64_t m = checked_mul(a.modulus, t.coef);
    r.modulus = std::gcd(r.modulus, m);
    r.remainder = checked_add(r.remainder, checked_mul(a.remainder, t.coef));
  }
  if (r.modulus != 0) r.remainder = floor_mod(r.remainder, r.modulus);
  return r.modulus == 1 ? congruence_of_remainders(l) : r;
}

// x % c is x, except for a multiple of c: t % 2 - (t + 1) % 2 is odd.
Congruence Engine::congruence_of_remainders(const Linear& l) {
  Linear whole;
  whole.constant = l.constant;
  std::int64_t modulus = 0, remainders = 0;
  for (const Term& t : l.terms) {
    std::int64_t c = 0;
    if (ir::is(t.atom, Op::mod) && ir::is_int(t.atom.node()->args[1], &c) && c > 0) {
      add_scaled(whole, read(t.atom.node()->args[0]), t.coef);
      modulus = std::gcd(modulus, checked_mul(c, t.coef));
      ++remainders;
    } else {
      add_scaled(whole, Linear{{t}, 0}, 1);
    }
  }
  if (remainders < 2) return {};
  const Congruence all = congruence(whole);
  modulus = std::gcd(modulus, all.modulus);
  return {modulus, modulus == 0 ? all.remainder : floor_mod(all.remainder, modulus)};
}

Congruence Engine::congruence(const Expr& e) {
  const ir::Node* n = e.node();
  if (n->count == 0 || !ir::is_shared(n)) return congruence_of(e);
  if (const auto it = congruences_.find(n); it != congruences_.end()) return it->second;
  const Congruence c = congruence_of(e);
  congruences_.emplace(n, c);
  ranged_.push_back(e);
  return c;
}

Congruence Engine::congruence_of(const Expr& e) {
  const ir::Node* n = e.node();
  const Expr* a = n->args;
  switch (n->op) {
    case Op::int_const:
      return {0, n->i};
    case Op::var:
      return is_scalar_index(e) ? var_congruence(e) : Congruence{};
    case Op::add:
    case Op::sub:
    case Op::neg:
      return congruence(read(e));
    case Op::mul: {
      const Congruence x = congruence(a[0]), y = congruence(a[1]);
      const std::int64_t m = std::gcd(std::gcd(checked_mul(x.modulus, y.modulus), checked_mul(x.modulus, y.remainder)),
                                      checked_mul(y.modulus, x.remainder));
      const std::int64_t r = checked_mul(x.remainder, y.remainder);
      return {m, m == 0 ? r : floor_mod(r, m)};
    }
    case Op::div: {
      std::int64_t c = 0;
      if (!ir::is_int(a[1], &c) || c <= 0) return {};
      const Congruence x = congruence(a[0]);
      if (x.modulus % c != 0) return {};
      return {x.modulus / c, floor_div(x.remainder, c)};
    }
    case Op::mod: {
      std::int64_t c = 0;
      if (!ir::is_int(a[1], &c) || c <= 0) return {};
      const Congruence x = congruence(a[0]);
      if (x.modulus % c == 0) return {0, floor_mod(x.remainder, c)};
      const std::int64_t m = std::gcd(x.modulus, c);
      return {m, floor_mod(x.remainder, m)};
    }
    case Op::min:
    case Op::max:
      return join(congruence(a[0]), congruence(a[1]));
    case Op::select:
      return join(congruence(a[1]), congruence(a[2]));
    case Op::in_range:
      return congruence(a[0]);
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor: {  // bit by bit, so the bits known of both are known of the result
      const Congruence x = congruence(a[0]), y = congruence(a[1]);
      const std::int64_t m = std::int64_t{1} << std::min(known_bits(x), known_bits(y));
      const std::int64_t r = n->op == Op::bit_and  ? x.remainder & y.remainder
                             : n->op == Op::bit_or ? x.remainder | y.remainder
                                                   : x.remainder ^ y.remainder;
      return {m, floor_mod(r, m)};
    }
    default:
      return {};
  }
}

}  // namespace ashlar::analysis
