// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no machine has directly is spelled out: arithmetic on floats narrower than 32 bits computes in f32 and rounds once to
// its type after every operator, and math functions become polynomials (ir/math.h), so that every target agrees bit for bit.
//
//   a + b            in f16     becomes   f16(f32(a) + f32(b))
//   exp(x)           in f32     becomes   the operators of its expansion
//
// Moving bits (loads, stores, selects, bitcasts) and conversions stay in the narrow type.
#include "lower/passes.h"

#include <unordered_map>

#include <ashlar/ir/build.h>
#include <ashlar/ir/math.h>

namespace ashlar::lower_impl {
namespace {

using ir::KStmt;
using ir::Op;

bool is_narrow(Type t) { return t.is_float() && t.bits < 32; }

class Spelled {
 public:
  Expr visit(const Expr& e) {
    if (auto it = done_.find(e.node()); it != done_.end()) return it->second;
    const auto args = ir::args_of(e);
    Expr result = e;
    if (!args.empty()) {
      std::vector<Expr> fresh;
      for (const Expr& a : args) fresh.push_back(visit(a));
      result = spell(ir::rebuild(e, fresh), fresh);
    }
    keep_.push_back(e);
    done_.emplace(e.node(), result);
    return result;
  }

 private:
  Expr spell(const Expr& e, std::vector<Expr>& args) {
    switch (ir::op_of(e)) {
      case Op::int_const:
      case Op::float_const:
      case Op::var:
      case Op::load:
      case Op::cast:
      case Op::saturate:
      case Op::bitcast:
      case Op::select:
      case Op::ramp:
      case Op::broadcast:
        return e;
      case Op::in_range:
        return args[0];
      default:
        break;
    }
    const bool narrow = is_narrow(args[0].type());
    const bool function = ir::is_expanded_math(ir::op_of(e), args[0].type().element());
    if (!narrow && !function) return e;
    for (Expr& a : args)
      if (is_narrow(a.type())) a = ir::cast(f32, a);
    if (function) return ir::cast(e.type().element(), ir::expand_math_call(ir::op_of(e), args));
    const Type wide = e.type().is_float() ? f32.with_lanes(e.type().lanes) : e.type();
    const Expr computed = ir::make(ir::op_of(e), wide, args, e.node()->where);
    return e.type().is_float() ? ir::cast(e.type().element(), computed) : computed;
  }

  std::unordered_map<const ir::Node*, Expr> done_;
  std::vector<Expr> keep_;  // keeps the keys alive
};

void visit(std::vector<KStmt>& list) {
  for (KStmt& s : list) {
    Spelled spelled;
    for_each_expr(s, [&](Expr& e) { e = spelled.visit(e); });
    visit(s.body);
    visit(s.otherwise);
  }
}

}  // namespace

void expand_functions(Draft& draft) { visit(draft.kernel.body); }

}  // namespace ashlar::lower_impl
