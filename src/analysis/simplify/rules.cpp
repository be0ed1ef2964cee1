// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "analysis/simplify/rules.h"

#include <array>
#include <string>
#include <vector>

#include "analysis/nodes.h"

namespace ashlar::analysis {
namespace {

// Patterns are written as they are read; nothing folds, for the nodes are made plainly.
Expr plain(Op op, Type t, const Expr& a, const Expr& b) {
  const std::array<Expr, 2> args{a, b};
  return ir::make(op, t, args);
}
Expr operator+(const Expr& a, const Expr& b) { return plain(Op::add, ir::index_type, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return plain(Op::sub, ir::index_type, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return plain(Op::mul, ir::index_type, a, b); }
Expr operator/(const Expr& a, const Expr& b) { return plain(Op::div, ir::index_type, a, b); }
Expr operator%(const Expr& a, const Expr& b) { return plain(Op::mod, ir::index_type, a, b); }
Expr operator-(const Expr& a) { return ir::make(Op::neg, ir::index_type, std::span(&a, 1)); }
Expr operator^(const Expr& a, const Expr& b) { return plain(Op::bit_xor, ir::index_type, a, b); }
Expr operator|(const Expr& a, const Expr& b) { return plain(Op::bit_or, ir::index_type, a, b); }
Expr operator&(const Expr& a, const Expr& b) { return plain(Op::bit_and, ir::index_type, a, b); }
Expr min(const Expr& a, const Expr& b) { return plain(Op::min, ir::index_type, a, b); }
Expr max(const Expr& a, const Expr& b) { return plain(Op::max, ir::index_type, a, b); }
Expr operator<(const Expr& a, const Expr& b) { return plain(Op::lt, bool_, a, b); }
Expr operator<=(const Expr& a, const Expr& b) { return plain(Op::le, bool_, a, b); }
Expr operator==(const Expr& a, const Expr& b) { return plain(Op::eq, bool_, a, b); }
Expr operator!=(const Expr& a, const Expr& b) { return plain(Op::ne, bool_, a, b); }
Expr operator&&(const Expr& a, const Expr& b) { return plain(Op::logic_and, bool_, a, b); }
Expr operator||(const Expr& a, const Expr& b) { return plain(Op::logic_or, bool_, a, b); }
Expr operator!(const Expr& a) { return ir::make(Op::logic_not, bool_, std::span(&a, 1)); }
Expr select(const Expr& c, const Expr& a, const Expr& b) {
  const std::array<Expr, 3> args{c, a, b};
  return ir::make(Op::select, a.type(), args);
}

struct Table {
  std::vector<Rule> rules;
  std::array<std::vector<const Rule*>, static_cast<std::size_t>(Op::broadcast) + 1> by_root;
};

std::vector<Rule> make_rules() {
  const auto wild = [](int k, const char* name, Type t = ir::index_type) {
    return ir::var(first_pattern_id + static_cast<ir::Id>(k), name, t);
  };
  const Expr x = wild(px, "x"), y = wild(py, "y"), z = wild(pz, "z"), c = wild(pc, "c"), d = wild(pd, "d"), e = wild(pe, "e"),
             g = wild(pg, "g"), k = wild(pk, "k"), p = wild(pp, "p", bool_), q = wild(pq, "q", bool_);
  const Expr zero = ir::index(0), one = ir::index(1), yes = ir::boolean(true), no = ir::boolean(false), always;
  const auto power_of_two = [&](const Expr& v) { return zero < v && (v & (v - one)) == zero; };
  using S = Suggest;
  // clang-format off
  return {
      // name            the algebra                                        pattern, replacement, condition
      // ---- floor division ----
      {"div.zero",       "x/0 is 0 by definition",                          x / zero, zero, always},
      {"div.of_zero",    "0/y = 0 (and 0/0 is 0)",                          zero / y, zero, always},
      {"div.negative",   "x/c = (-x)/(-c): the quotient is the same number", x / c, (-x) / (-c), c < zero},
      {"div.inside",     "kc <= x < kc + c is what floor(x/c) = k means",   x / c, k, zero < c && k * c <= x && x < k * c + c, S::quotient},
      {"div.small",      "0 <= x < y gives floor(x/y) = 0",                 x / y, zero, zero <= x && x < y},
      {"div.split",      "(xy + z)/y = x + z/y: floor lets whole steps through", (x * y + z) / y, x + z / y, y != zero},
      {"div.content",    "(gx + d)/c = (x + d/g)/(c/g): floor(floor(a/g)/h) = floor(a/(gh))",
                         (x * g + d) / c, (x + d / g) / (c / g), zero < c && one < g && c % g == zero, S::content},
      {"div.carry",      "0 <= y < g: y carries nothing into the multiples of g", (x * g + y) / c, x / (c / g),
                         zero < c && one < g && c % g == zero && zero <= y && y < g, S::carry},
      {"div.congruent",  "g | x and g | c: only whole multiples of g in d can carry",
                         (x + d) / c, (x + d / g * g) / c, zero < c && one < g && c % g == zero && d % g != zero && x % g == zero, S::congruent},
      {"div.nested",     "(x/c + e)/d = ((x + ec)/c)/d = (x + ec)/(cd), e often 0", (x / c + e) / d, (x + e * c) / (c * d), zero < c && zero < d},
      {"div.of_mod",     "d | c: the digit of x above d, within c",         (x % c) / d, (x / d) % (c / d), zero < c && zero < d && c % d == zero},
      {"div.of_min",     "x -> x/c never falls for c > 0",                  min(x, y) / c, min(x / c, y / c), zero < c},
      {"div.of_max",     "x -> x/c never falls for c > 0",                  max(x, y) / c, max(x / c, y / c), zero < c},
      {"div.of_select",  "a function of the arm taken",                     select(p, x, y) / c, select(p, x / c, y / c), c != zero},
      // ---- floor modulo ----
      {"mod.zero",       "x%0 is 0 by definition",                          x % zero, zero, always},
      {"mod.of_zero",    "0%y = 0",                                         zero % y, zero, always},
      {"mod.negative",   "x%c = x - c(x/c), and x/c = (-x)/(-c)",           x % c, -((-x) % (-c)), c < zero},
      {"mod.known",      "x = k modulo c, said by the facts",               x % c, k, zero < c && x % c == k, S::remainder},
      {"mod.inside",     "kc <= x < kc + c gives x%c = x - kc",             x % c, x - k * c, zero < c && k * c <= x && x < k * c + c, S::quotient},
      {"mod.small",      "0 <= x < y gives x%y = x",                        x % y, x, zero <= x && x < y},
      {"mod.split",      "(xy + z)%y = z%y: multiples of y vanish",         (x * y + z) % y, z % y, y != zero},
      {"mod.content",    "(gx + d) % (gh) = g((x + d/g) % h) + d%g",
                         (x * g + d) % c, ((x + d / g) % (c / g)) * g + d % g, zero < c && one < g && c % g == zero, S::content},
      {"mod.carry",      "0 <= y < g: (gx + y) % (gh) = g(x % h) + y",      (x * g + y) % c, (x % (c / g)) * g + y,
                         zero < c && one < g && c % g == zero && zero <= y && y < g, S::carry},
      {"mod.nested",     "d | ce: e(x%c) = ex - ec(x/c), and d divides ec", ((x % c) * e + y) % d, (x * e + y) % d,
                         zero < c && zero < d && (c * e) % d == zero},
      {"mod.coefficient", "ex = (e%c)x modulo c",                           (x * e + y) % c, (x * (e % c) + y) % c, zero < c && (c <= e || e <= -c)},
      // ---- bits: division and modulo by a power of two take a number apart into its upper and its lower bits ----
      {"div.of_xor",     "a shift moves the bits of both",                  (x ^ y) / c, (x / c) ^ (y / c), power_of_two(c)},
      {"mod.of_xor",     "a mask keeps the low bits of both",               (x ^ y) % c, (x % c) ^ (y % c), power_of_two(c)},
      {"xor.twice",      "y ^ y = 0",                                       (x ^ y) ^ y, x, always},
      {"xor.twice2",     "x ^ x = 0",                                       (x ^ y) ^ x, y, always},
      {"xor.high",       "y has no bits from g = 2^n up: those of x stay",  x ^ y, x / g * g + (x % g ^ y),
                         power_of_two(g) && zero <= y && y < g, S::above},
      {"xor.low",        "y has no bits below g = 2^n: those of x stay",    x ^ y, (x / g ^ y / g) * g + x % g,
                         one < g && power_of_two(g) && y % g == zero, S::below},
      {"and.mask",       "c is all ones below c + 1 = 2^n",                 x & c, x % (c + one), zero <= c && power_of_two(c + one)},
      {"and.high",       "c is zeros below -c = 2^n, then ones",            x & c, x - x % (zero - c), c < zero && power_of_two(zero - c)},
      {"or.disjoint",    "no bit of x lies below g = 2^n, none of y above", x | y, x + y,
                         power_of_two(g) && zero <= y && y < g && x % g == zero, S::above},
      // ---- terms and pairs of terms of a sum ----
      {"mul.quotient",   "x = k modulo c: c(x/c) = x - k exactly",          (x / c) * d, (x - k) * (d / c),
                         zero < c && d % c == zero && x % c == k, S::remainder},
      {"add.div_mod",    "x = c(x/c) + y%c for y = x modulo c: x, or what mod.coefficient makes of it", (x / c) * d + (y % c) * e, x * e,
                         zero < c && d == c * e && (x - y) % c == zero, S::remainder},
      {"add.div_mod_symbol", "the same for a symbolic c",                   (x / c) * c * e + (x % c) * e, x * e, zero < c, S::none, true},
      {"add.min_max",    "one of the two is x, the other y",                min(x, y) * c + max(x, y) * c, (x + y) * c, always},
      {"add.remainder",  "x - c(x/c) = x%c",                                x * e + (x / c) * d, (x % c) * e, zero < c && d == -(c * e), S::none, true},
      // ---- minimum and maximum: carried out on the differences of arms ----
      {"min.decided",    "the smaller of the two",                          min(x, y), x, x <= y, S::none, true},
      {"min.absorbs",    "z <= y: y never decides",                         min(min(x, y), z), min(x, z), z <= y, S::none, true},
      {"min.absorbs2",   "z <= x: x never decides",                         min(min(x, y), z), min(y, z), z <= x, S::none, true},
      {"min.common",     "adding z keeps the order",                        min(x + z, y + z), min(x, y) + z, always, S::none, true},
      {"min.content",    "scaling by g > 0 keeps the order",                min(x * g, y * g), min(x, y) * g, zero < g, S::none, true},
      {"max.decided",    "the larger of the two",                           max(x, y), x, y <= x, S::none, true},
      {"max.absorbs",    "y <= z: y never decides",                         max(max(x, y), z), max(x, z), y <= z, S::none, true},
      {"max.absorbs2",   "x <= z: x never decides",                         max(max(x, y), z), max(y, z), x <= z, S::none, true},
      {"max.common",     "adding z keeps the order",                        max(x + z, y + z), max(x, y) + z, always, S::none, true},
      {"max.content",    "scaling by g > 0 keeps the order",                max(x * g, y * g), max(x, y) * g, zero < g, S::none, true},
      // ---- choices ----
      {"select.same",    "both arms are x",                                 select(p, x, x), x, always, S::none, true},
      {"select.not",     "the arms change places",                          select(!p, x, y), select(p, y, x), always},
      {"select.min",     "the smaller of the two",                          select(x <= y, x, y), min(x, y), always},
      {"select.min_lt",  "the smaller of the two",                          select(x < y, x, y), min(x, y), always},
      {"select.max",     "the larger of the two",                           select(x <= y, y, x), max(x, y), always},
      {"select.max_lt",  "the larger of the two",                           select(x < y, y, x), max(x, y), always},
      {"select.equal",   "where both are the same, either",                 select(x == y, x, y), y, always},
      {"select.equal2",  "where both are the same, either",                 select(x == y, y, x), x, always},
      {"select.bool",    "p is its own value",                              select(p, yes, no), p, always},
      {"select.inner",   "p holds in the first arm",                        select(p, select(p, x, y), z), select(p, x, z), always},
      {"select.inner2",  "p fails in the second arm",                       select(p, x, select(p, y, z)), select(p, x, z), always},
      // ---- conditions ----
      {"and.false",      "nothing follows from false",                      p && no, no, always, S::none, true},
      {"and.true",       "true is neutral",                                 p && yes, p, always, S::none, true},
      {"and.same",       "p and p is p",                                    p && p, p, always, S::none, true},
      {"and.again",      "p and p is p",                                    (p && q) && p, p && q, always},
      {"and.again2",     "q and q is q",                                    (p && q) && q, p && q, always},
      {"and.not",        "p and not p cannot be",                           p && !p, no, always},
      {"or.true",        "true decides",                                    p || yes, yes, always, S::none, true},
      {"or.false",       "false is neutral",                                p || no, p, always, S::none, true},
      {"or.same",        "p or p is p",                                     p || p, p, always, S::none, true},
      {"or.not",         "one of the two holds",                            p || !p, yes, always},
      {"not.not",        "twice denied",                                    !!p, p, always, S::none, true},
      {"not.lt",         "the order is total",                              !(x < y), y <= x, always},
      {"not.le",         "the order is total",                              !(x <= y), y < x, always},
      {"not.eq",         "by definition",                                   !(x == y), x != y, always},
      {"not.ne",         "by definition",                                   !(x != y), x == y, always},
      // ---- comparisons: carried out on the slack y - x ----
      {"lt.step",        "integers: x < y is x <= y - 1",                   x < y, x <= y - one, always, S::none, true},
      {"le.cancel",      "adding z keeps the order",                        x + z <= y + z, x <= y, always, S::none, true},
      {"le.content",     "gx <= d is x <= floor(d/g) for g > 0",            x * g <= d, x <= d / g, zero < g, S::none, true},
      {"le.min",         "below the smaller is below both",                 z <= min(x, y), z <= x && z <= y, always, S::none, true},
      {"le.max",         "above the larger is above both",                  max(x, y) <= z, x <= z && y <= z, always, S::none, true},
      {"eq.content",     "g divides gx, so it must divide d",               x * g == d, no, one < g && d % g != zero, S::none, true},
  };
  // clang-format on
}

const Table& table() {
  static const Table instance = [] {
    Table t;
    t.rules = make_rules();
    for (const Rule& r : t.rules)
      if (!r.carried_out_by_form) t.by_root[static_cast<std::size_t>(ir::op_of(r.pattern))].push_back(&r);
    return t;
  }();
  return instance;
}

}  // namespace

thread_local constinit AppliedRules* AppliedRules::innermost = nullptr;

std::span<const Rule> all_rules() { return table().rules; }
std::span<const Rule* const> rules_of(ir::Op root) { return table().by_root[static_cast<std::size_t>(root)]; }

}  // namespace ashlar::analysis
