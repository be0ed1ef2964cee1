// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A float that becomes an integer and is clamped to a narrower one is converted once: the conversion to the narrower type
// clamps as well (docs/ir.md, "Conversions").
//
//   saturate(u8, i32(x))                                      u8(x)
//   u8(max(min(i32(x), 255), 0))                 ->           u8(x)
//
// The bits are the same: both cut toward zero, clamp, and make 0 of NaN, and a clamp to the wider type changes nothing that
// the narrower one lets through.
#include "lower/passes.h"

#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>

namespace ashlar::lowering {
namespace {

// Data integers whose numbers all fit 64 bits with a sign.
bool counts(const Type& t) { return t.is_data_integer() && !t.is_packed() && !(t.is_unsigned() && t.bits >= 64); }

bool holds(const Type& wide, const Type& narrow) {
  return ir::lowest_of(wide.element()) <= ir::lowest_of(narrow.element()) &&
         ir::highest_of(wide.element()) >= ir::highest_of(narrow.element());
}

bool is_number(const Expr& e, std::int64_t v) { return ir::is_int(ir::is(e, Op::broadcast) ? ir::args_of(e)[0] : e, v); }

// Of max(min(x, highest), lowest) of all numbers of a type, in either order: x. Empty for anything else.
Expr clamped(const Expr& e, const Type& to) {
  const std::int64_t low = ir::lowest_of(to.element()), high = ir::highest_of(to.element());
  const auto bound = [&](const Expr& x, Op op, std::int64_t v) -> Expr {
    if (!ir::is(x, op)) return {};
    const auto args = ir::args_of(x);
    return is_number(args[1], v) ? args[0] : is_number(args[0], v) ? args[1] : Expr();
  };
  for (const bool low_first : {false, true}) {
    const Expr inner = bound(e, low_first ? Op::min : Op::max, low_first ? high : low);
    if (!inner.empty())
      if (const Expr x = bound(inner, low_first ? Op::max : Op::min, low_first ? low : high); !x.empty()) return x;
  }
  return {};
}

Expr once(const Expr& e) {
  return ir::transform(e, [](const Expr& x) -> Expr {
    if ((!ir::is(x, Op::saturate) && !ir::is(x, Op::cast)) || !counts(x.type())) return x;
    const Expr wide = ir::is(x, Op::saturate) ? ir::args_of(x)[0] : clamped(ir::args_of(x)[0], x.type());
    if (wide.empty() || !ir::is(wide, Op::cast) || !counts(wide.type()) || !holds(wide.type(), x.type())) return x;
    const Expr& source = ir::args_of(wide)[0];
    return source.type().is_float() ? ir::cast(x.type(), source) : x;
  });
}

void convert_in(std::vector<KStmt>& list) {
  for (KStmt& s : list) {
    if (auto* store = s.as<ir::KStore>()) store->value = once(store->value);
    if (auto* let = s.as<ir::KLet>()) let->value = once(let->value);
    for (auto* inside : s.bodies()) convert_in(*inside);
  }
}

}  // namespace

void convert_once(ir::Kernel& kernel) { convert_in(kernel.body); }

}  // namespace ashlar::lowering
