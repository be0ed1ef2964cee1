// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of integers that are converted from floats: lut(i32(clamp(x, 0, 255))). Every operator here rounds a function that
// moves one way with each operand, so its extremes are its values at the corners, computed as the program computes them.
//
//   x: f32 data      clamp(x, 0, 1)                    [0, 1], or NaN
//                    i32(clamp(x, 0, 1) * 255 + 0.5)   [0, 255]: NaN becomes 0
//                    i32(clamp(x, 3, 7))               [0, 7]
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <ashlar/ir/numeric.h>

#include "analysis/simplify/engine.h"
#include "analysis/nodes.h"

namespace ashlar::analysis {

using ir::Value;

namespace {

__extension__ using Wide = __int128;

struct FloatRange {  // inclusive, of values that are not NaN; infinities stand for "none"
  double lo = -INFINITY, hi = INFINITY;
  bool nan = true;  // may also be NaN
};

// The hull of `op` at the corners. Where one of them is NaN (inf - inf), nothing is known; between corners that are infinite
// may be one (0 * inf).
FloatRange corners(Op op, Type t, const Type* types, const FloatRange* of, int count) {
  FloatRange r{INFINITY, -INFINITY, false};
  for (int k = 0; k < (1 << count); ++k) {
    std::array<Value, 2> at{};
    for (int a = 0; a < count; ++a) {
      at[static_cast<std::size_t>(a)].type = types[a];
      at[static_cast<std::size_t>(a)].f = (k >> a & 1) != 0 ? of[a].hi : of[a].lo;
    }
    const std::span<const Value> args(at.data(), static_cast<std::size_t>(count));
    const auto v = op == Op::cast ? std::optional(ir::convert(t, at[0])) : ir::evaluate(op, t, args);
    if (!v || std::isnan(v->f)) return {};
    r.lo = std::min(r.lo, v->f), r.hi = std::max(r.hi, v->f);
  }
  for (int a = 0; a < count; ++a) r.nan = r.nan || of[a].nan || std::isinf(of[a].lo) || std::isinf(of[a].hi);
  return r;
}

}  // namespace

// The integers that a float may become. `rounded`: to the nearest one (saturate); otherwise toward zero (cast).
DataRange Engine::converted_range(const Expr& value, const DataRange& all, bool rounded) {
  int nodes = 64;  // an expression whose operands are shared is not walked again and again
  const auto visit = [&](auto&& self, const Expr& e) -> FloatRange {
    const ir::Node* n = e.node();
    const Type t = n->type;
    if (t.lanes != 1 || --nodes < 0 || t == e4m3) return {};  // e4m3 has no infinity
    if (n->op == Op::float_const) return std::isnan(n->f) ? FloatRange{} : FloatRange{n->f, n->f, false};
    const auto args = ir::args_of(e);
    switch (n->op) {
      case Op::min:
      case Op::max: {
        if (!t.is_float()) return {};
        const FloatRange a = self(self, args[0]), b = self(self, args[1]);
        const bool least = n->op == Op::min;
        return {least ? std::min(a.lo, b.lo) : std::max(a.lo, b.lo), least ? std::min(a.hi, b.hi) : std::max(a.hi, b.hi),
                a.nan || b.nan};
      }
      case Op::select: {
        const FloatRange a = self(self, args[1]), b = self(self, args[2]);
        return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), a.nan || b.nan};
      }
      case Op::abs: {
        const FloatRange a = self(self, args[0]);
        return {a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, std::max(-a.lo, a.hi), a.nan};
      }
      case Op::cast: {
        const Type from = args[0].type();
        if (!t.is_float()) return {};
        if (from.is_bool()) return {0, 1, false};
        if (from.is_float()) {
          const FloatRange a = self(self, args[0]);
          return corners(n->op, t, &from, &a, 1);
        }
        const DataRange r = data_range(args[0]);  // of an integer or index; rounding moves one way
        Value lo, hi;
        lo.type = hi.type = from;
        lo.i = static_cast<std::int64_t>(r.lo), hi.i = static_cast<std::int64_t>(r.hi);  // of u64 the bits
        return {ir::convert(t, lo).f, ir::convert(t, hi).f, false};
      }
      case Op::neg:
      case Op::floor:
      case Op::ceil:
      case Op::round:
      case Op::trunc: {
        const FloatRange a = self(self, args[0]);
        return corners(n->op, t, &t, &a, 1);
      }
      case Op::add:
      case Op::sub:
      case Op::mul: {
        const FloatRange of[] = {self(self, args[0]), self(self, args[1])};
        const Type types[] = {t, t};
        return corners(n->op, t, types, of, 2);
      }
      default:
        return {};
    }
  };
  const FloatRange r = visit(visit, value);
  const auto whole = [&](double v) {  // within 2^70, so that 128 bits hold it
    v = std::clamp(rounded ? std::nearbyint(v) : std::trunc(v), -0x1p70, 0x1p70);
    return std::clamp(static_cast<Wide>(v), all.lo, all.hi);
  };
  DataRange converted{whole(r.lo), whole(r.hi)};
  if (r.nan) converted = {std::min<Wide>(converted.lo, 0), std::max<Wide>(converted.hi, 0)};
  return converted;
}

}  // namespace ashlar::analysis
