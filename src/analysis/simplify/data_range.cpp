// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of data integers, which wrap. An operator has the bounds that it has in mathematics where those lie in its type, for
// then no value wraps; otherwise it may have any value of its type.
//
//   k: u8 from 0 to 9      k + 250 - 250      [0, 255]: the sum wraps
//   k: u8 from 0 to 9      k * 2 + 7          [7, 25]
#include <algorithm>
#include <bit>
#include <optional>

#include <ashlar/ir/numeric.h>

#include "analysis/simplify/engine.h"
#include <ashlar/ir/pairs.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

__extension__ using Wide = __int128;

DataRange data_of_type(Type t) {
  if (!t.is_data_integer()) return {0, 1};
  if (t.is_unsigned()) return {0, (Wide(1) << t.bits) - 1};
  return {-(Wide(1) << (t.bits - 1)), (Wide(1) << (t.bits - 1)) - 1};
}

// An end that is open is that of the 64 bits which an index has. Facts that contradict each other say nothing.
DataRange of_index(Range r) { return r.lo <= r.hi ? DataRange{r.lo, r.hi} : DataRange{INT64_MIN, INT64_MAX}; }

bool inside(const DataRange& r, const DataRange& all) { return r.lo >= all.lo && r.hi <= all.hi; }
DataRange hull(const DataRange& a, const DataRange& b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
DataRange clamped(const DataRange& r, const DataRange& all) {
  return {std::clamp(r.lo, all.lo, all.hi), std::clamp(r.hi, all.lo, all.hi)};
}

Wide floored(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
Wide truncated(Wide a, Wide b) { return a / b; }

// The hull of f at the corners, where f moves one way with each of its operands.
template <class F>
DataRange corners(const DataRange& a, const DataRange& b, F&& f) {
  const Wide v[] = {f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)};
  return {*std::min_element(v, v + 4), *std::max_element(v, v + 4)};
}

std::optional<DataRange> product(const DataRange& a, const DataRange& b) {
  bool fits = true;
  const DataRange r = corners(a, b, [&](Wide x, Wide y) {
    Wide v = 0;
    fits = !__builtin_mul_overflow(x, y, &v) && fits;
    return v;
  });
  return fits ? std::optional(r) : std::nullopt;
}

// Of the parts of a divisor that are below 0, 0 and above it; what is divided by 0 gives 0.
template <class F>
DataRange by_sign(const DataRange& b, F&& f) {
  std::optional<DataRange> r;
  const auto add = [&](const DataRange& part) { r = r ? hull(*r, part) : part; };
  if (b.lo < 0) add(f(DataRange{b.lo, std::min<Wide>(b.hi, -1)}));
  if (b.lo <= 0 && b.hi >= 0) add({0, 0});
  if (b.hi > 0) add(f(DataRange{std::max<Wide>(b.lo, 1), b.hi}));
  return *r;
}

DataRange remainder(const DataRange& a, const DataRange& b) {
  return by_sign(b, [&](const DataRange& d) -> DataRange {
    if (d.hi < 0) return {d.lo + 1, 0};
    if (a.lo >= 0 && a.hi < d.lo) return a;
    if (d.lo == d.hi && floored(a.lo, d.lo) == floored(a.hi, d.lo)) {
      const Wide whole = floored(a.lo, d.lo) * d.lo;
      return {a.lo - whole, a.hi - whole};
    }
    return {0, a.lo >= 0 ? std::min(a.hi, d.hi - 1) : d.hi - 1};
  });
}

DataRange truncated_remainder(const DataRange& a, const DataRange& b) {
  const Wide most = std::max(b.lo < 0 ? -b.lo : b.lo, b.hi < 0 ? -b.hi : b.hi);  // |rest| < most, and not above |a|
  if (most == 0) return {0, 0};
  return {a.lo < 0 ? std::max(a.lo, 1 - most) : 0, a.hi > 0 ? std::min(a.hi, most - 1) : 0};
}

Wide bits_above(Wide v) { return (Wide(1) << std::bit_width(static_cast<std::uint64_t>(v))) - 1; }

}  // namespace

DataRange Engine::data_range(const Expr& e) {
  const ir::Node* n = e.node();
  if (n->type.is_index()) return of_index(range(e));
  auto& known = data_ranges_[static_cast<std::size_t>(range_depth_)];
  if (const auto it = known.find(n); it != known.end()) return it->second;
  const DataRange r = within_conditions(e, data_range_of(e));
  known.emplace(n, r);
  ranged_.push_back(e);
  return r;
}

// What is assumed of the very value: index(e) < 8, as the arms of a select know it.
DataRange Engine::within_conditions(const Expr& e, DataRange r) {
  if (r.hi > INT64_MAX) return r;  // an index keeps the bits of a u64
  for (const Expr& c : facts_.conditions()) {
    if (!ir::is_comparison(ir::op_of(c))) continue;
    const auto args = ir::args_of(c);
    std::int64_t v = 0;
    if (!is_scalar_index(args[0]) || !ir::is(args[0], Op::cast) || !ir::is_int(args[1], &v)) continue;
    if (!ir::same(ir::args_of(args[0])[0], e)) continue;
    DataRange s = r;
    switch (ir::op_of(c)) {
      case Op::lt:
        s.hi = std::min<Wide>(s.hi, Wide(v) - 1);
        break;
      case Op::le:
        s.hi = std::min<Wide>(s.hi, v);
        break;
      case Op::gt:
        s.lo = std::max<Wide>(s.lo, Wide(v) + 1);
        break;
      case Op::ge:
        s.lo = std::max<Wide>(s.lo, v);
        break;
      case Op::eq:
        s = {std::max<Wide>(s.lo, v), std::min<Wide>(s.hi, v)};
        break;
      default:
        break;
    }
    if (s.lo <= s.hi) r = s;  // conditions that contradict each other say nothing
  }
  return r;
}

DataRange Engine::data_range_of(const Expr& e) {
  const ir::Node* n = e.node();
  const Type t = n->type;
  const DataRange all = data_of_type(t);
  if (!t.is_data_integer() || t.lanes != 1) return all;
  const Expr* a = n->args;
  const auto of = [&](int k) { return data_range(a[k]); };
  switch (n->op) {
    case Op::int_const: {
      const Wide v = t.is_unsigned() && t.bits == 64 ? Wide(static_cast<std::uint64_t>(n->i)) : Wide(n->i);
      return {v, v};
    }
    case Op::min:
      return {std::min(of(0).lo, of(1).lo), std::min(of(0).hi, of(1).hi)};
    case Op::max:
      return {std::max(of(0).lo, of(1).lo), std::max(of(0).hi, of(1).hi)};
    case Op::select:
      return hull(of(1), of(2));
    case Op::in_range: {
      const DataRange x = of(0), r{std::max(x.lo, of(1).lo), std::min(x.hi, of(2).hi - 1)};
      return r.lo <= r.hi ? r : x;
    }
    case Op::add_sat:
      return clamped({of(0).lo + of(1).lo, of(0).hi + of(1).hi}, all);
    case Op::sub_sat:
      return clamped({of(0).lo - of(1).hi, of(0).hi - of(1).lo}, all);
    case Op::saturate: {
      const Type from = a[0].node()->type;
      if (from.is_float()) return converted_range(a[0], all, true);
      return from.is_index() || from.is_data_integer() ? clamped(of(0), all) : all;
    }
    case Op::cast:
      if (a[0].node()->type.is_float()) return converted_range(a[0], all, false);
      return exact_range(e).value_or(all);
    case Op::popcount:
    case Op::clz:
    case Op::ctz:
      return {0, t.bits};
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::bit_not:
    case Op::shr:
      return bits_range(e, all);
    default:
      return exact_range(e).value_or(all);
  }
}

std::optional<DataRange> Engine::exact_range(const Expr& e) {
  const ir::Node* n = e.node();
  const DataRange all = data_of_type(n->type);
  const Expr* a = n->args;
  const auto of = [&](int k) { return data_range(a[k]); };
  const auto exact = [&](const DataRange& r) { return inside(r, all) ? std::optional(r) : std::nullopt; };
  switch (n->op) {
    case Op::add:
      return exact({of(0).lo + of(1).lo, of(0).hi + of(1).hi});
    case Op::sub:
      return exact({of(0).lo - of(1).hi, of(0).hi - of(1).lo});
    case Op::neg:
      return exact({-of(0).hi, -of(0).lo});
    case Op::mul: {
      const auto r = product(of(0), of(1));
      return r ? exact(*r) : std::nullopt;
    }
    case Op::shl: {
      const DataRange by = of(1);
      if (by.lo < 0 || by.hi >= n->type.bits) return std::nullopt;
      const auto r = product(of(0), {Wide(1) << static_cast<int>(by.lo), Wide(1) << static_cast<int>(by.hi)});
      return r ? exact(*r) : std::nullopt;
    }
    case Op::abs: {
      const DataRange x = of(0);
      return exact({x.lo > 0 ? x.lo : x.hi < 0 ? -x.hi : 0, std::max(-x.lo, x.hi)});
    }
    case Op::div:
      return exact(by_sign(of(1), [&](const DataRange& d) { return corners(of(0), d, floored); }));
    case Op::trunc_div:
      return exact(by_sign(of(1), [&](const DataRange& d) { return corners(of(0), d, truncated); }));
    case Op::mod:
      return exact(remainder(of(0), of(1)));
    case Op::trunc_rem:
      return exact(truncated_remainder(of(0), of(1)));
    case Op::halving_add:
      return exact({floored(of(0).lo + of(1).lo, 2), floored(of(0).hi + of(1).hi, 2)});
    case Op::rounding_halving_add:
      return exact({floored(of(0).lo + of(1).lo + 1, 2), floored(of(0).hi + of(1).hi + 1, 2)});
    case Op::halving_sub:
      return exact({floored(of(0).lo - of(1).hi, 2), floored(of(0).hi - of(1).lo, 2)});
    case Op::abs_diff: {
      const Wide lo = of(0).lo - of(1).hi, hi = of(0).hi - of(1).lo;
      return exact({lo > 0 ? lo : hi < 0 ? -hi : 0, std::max(-lo, hi)});
    }
    case Op::cast:
    case Op::bitcast: {
      const Type from = a[0].node()->type;
      if (from.is_bool() && n->op == Op::cast) return exact({0, 1});
      return from.is_index() || from.is_data_integer() ? exact(of(0)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

DataRange Engine::bits_range(const Expr& e, const DataRange& all) {
  const ir::Node* n = e.node();
  const DataRange x = data_range(n->args[0]);
  if (n->op == Op::bit_not)
    return n->type.is_unsigned() ? DataRange{all.hi - x.hi, all.hi - x.lo} : DataRange{-1 - x.hi, -1 - x.lo};
  const DataRange y = data_range(n->args[1]);
  const int bits = n->type.bits;
  switch (n->op) {
    case Op::bit_and:  // of one that is not negative: not above it
      if (x.lo < 0 && y.lo < 0) return all;
      return {0, std::min(x.lo < 0 ? y.hi : x.hi, y.lo < 0 ? x.hi : y.hi)};
    case Op::bit_or:
    case Op::bit_xor:  // no bit above the highest of either
      if (x.lo < 0 || y.lo < 0) return all;
      return {n->op == Op::bit_or ? std::max(x.lo, y.lo) : 0, bits_above(std::max(x.hi, y.hi))};
    default: {  // shr: by an amount out of range 0, or -1 of what is negative
      if (y.lo < 0 || y.hi >= bits) return {std::min<Wide>(x.lo, 0), x.hi < 0 ? -1 : x.hi};
      return corners(x, y, [](Wide v, Wide s) { return v >> static_cast<int>(s); });
    }
  }
}

}  // namespace ashlar::analysis
