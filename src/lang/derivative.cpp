// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of derivatives, and the walk that applies it (reverse accumulation: Griewank and Walther, Evaluating Derivatives,
// chapter 3).
#include "lang/derivative.h"

#include <map>
#include <unordered_map>

#include <ashlar/ir/math.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::lang {
namespace {

using ir::Op;

class PullBack {
 public:
  PullBack(const std::function<bool(ir::Id)>& wanted, const std::string& stage, Where where)
      : wanted_(wanted), stage_(stage), where_(where) {}

  std::vector<Sensitivity> run(const Expr& value, const Expr& seed) {
    if (!reaches(value)) return {};
    adjoint_[value.node()] = seed;
    std::vector<Sensitivity> found;
    for (std::size_t k = order_.size(); k-- > 0;) {  // users stand behind what they use
      const Expr& e = order_[k];
      const auto known = adjoint_.find(e.node());
      if (known == adjoint_.end()) continue;
      const Expr adjoint = known->second;
      if (ir::is(e, Op::load))
        found.push_back({e, adjoint});
      else
        spread(e, adjoint);
    }
    return found;
  }

 private:
  // The operands that the value of a node depends on smoothly.
  static std::vector<std::size_t> smooth(const Expr& e) {
    const auto args = ir::args_of(e);
    switch (ir::op_of(e)) {
      case Op::select:
        return {1, 2};
      case Op::floor:
      case Op::ceil:
      case Op::round:
      case Op::trunc:
        return {};
      default: {
        std::vector<std::size_t> all;
        for (std::size_t k = 0; k < args.size(); ++k)
          if (args[k].type().is_float()) all.push_back(k);
        return all;
      }
    }
  }

  // Does a wanted element reach the value? Lists the nodes through which one does, each after its operands.
  bool reaches(const Expr& e) {
    if (const auto known = reached_.find(e.node()); known != reached_.end()) return known->second;
    bool found = false;
    if (e.type().is_float()) {
      if (ir::is(e, Op::load))
        found = wanted_(e.node()->id);
      else
        for (std::size_t k : smooth(e)) found |= reaches(ir::args_of(e)[k]);
      if (ir::is(e, Op::bitcast)) refuse_bits(e);
    }
    reached_.emplace(e.node(), found);
    if (found) order_.push_back(e);
    return found;
  }

  // The bits of a float are not a smooth function of it.
  void refuse_bits(const Expr& e) const {
    ir::walk(e, [&](const Expr& x) {
      if (ir::is(x, Op::load) && x.type().is_float() && wanted_(x.node()->id)) no_derivative(e);
      return true;
    });
  }

  void give(const Expr& to, const Expr& adjoint) {
    if (!reaches(to)) return;
    Expr& sum = adjoint_[to.node()];
    sum = sum.empty() ? adjoint : ir::add(sum, adjoint);
  }

  [[noreturn]] void no_derivative(const Expr& e) const {
    refuse("gradient", "operators that have a derivative", ir::text(e) + " in " + stage_, where_);
  }

  // The seed is often 1.
  static Expr times(const Expr& adjoint, const Expr& by) {
    return ir::is(adjoint, Op::float_const) && adjoint.node()->f == 1 ? by : ir::mul(adjoint, by);
  }
  static Expr number(const Expr& like, double v) { return ir::float_const(like.type(), v); }
  static Expr square(const Expr& x) { return ir::mul(x, x); }

  void spread(const Expr& e, const Expr& adjoint) {
    const auto a = ir::args_of(e);
    const Expr& x = a[0];
    const auto n = [&](double v) { return number(e, v); };
    const auto scaled = [&](const Expr& by) { give(x, times(adjoint, by)); };
    const Op op = ir::op_of(e), function = ir::accurate_form(op);
    const auto call = [&](Op other) { return ir::unary(op == function ? other : ir::fast_form(other), x); };  // as fast as e
    switch (function) {
      case Op::neg:
        return give(x, ir::neg(adjoint));
      case Op::cast:
      case Op::saturate:
        return give(x, ir::cast(x.type(), adjoint));
      case Op::abs:
        return give(x, ir::select(ir::gt(x, n(0)), adjoint, ir::select(ir::lt(x, n(0)), ir::neg(adjoint), n(0))));
      case Op::sqrt:
        return give(x, ir::div(times(adjoint, n(0.5)), e));
      case Op::rsqrt:
        return scaled(ir::mul(n(-0.5), ir::mul(e, square(e))));
      case Op::cbrt:
        return give(x, ir::div(adjoint, ir::mul(n(3), square(e))));
      case Op::exp:
        return scaled(e);
      case Op::exp2:
        return scaled(ir::mul(e, n(0.693147180559945309417)));
      case Op::expm1:
        return scaled(ir::add(e, n(1)));
      case Op::log:
        return give(x, ir::div(adjoint, x));
      case Op::log2:
        return give(x, ir::div(adjoint, ir::mul(x, n(0.693147180559945309417))));
      case Op::log1p:
        return give(x, ir::div(adjoint, ir::add(x, n(1))));
      case Op::sin:
        return scaled(call(Op::cos));
      case Op::cos:
        return scaled(ir::neg(call(Op::sin)));
      case Op::tan:
        return scaled(ir::add(n(1), square(e)));
      case Op::asin:
        return give(x, ir::div(adjoint, ir::unary(Op::sqrt, ir::sub(n(1), square(x)))));
      case Op::acos:
        return give(x, ir::neg(ir::div(adjoint, ir::unary(Op::sqrt, ir::sub(n(1), square(x))))));
      case Op::atan:
        return give(x, ir::div(adjoint, ir::add(n(1), square(x))));
      case Op::sinh:
        return scaled(call(Op::cosh));
      case Op::cosh:
        return scaled(call(Op::sinh));
      case Op::tanh:
        return scaled(ir::sub(n(1), square(e)));
      case Op::erf:
        return scaled(bell(op, x));
      case Op::erfc:
        return scaled(ir::neg(bell(op, x)));
      case Op::sigmoid:
        return scaled(ir::mul(e, ir::sub(n(1), e)));
      default:
        return spread_many(e, adjoint);
    }
  }

  // 2 / sqrt(pi) exp(-x^2), the derivative of erf
  static Expr bell(Op of, const Expr& x) {
    const Op exp = of == Op::fast_erf ? Op::fast_exp : Op::exp;
    return ir::mul(number(x, 1.12837916709551257390), ir::unary(exp, ir::neg(square(x))));
  }

  void spread_many(const Expr& e, const Expr& adjoint) {
    const auto a = ir::args_of(e);
    const Expr &x = a[0], &y = a[a.size() > 1 ? 1 : 0], zero = number(e, 0);
    const Op op = ir::op_of(e), function = ir::accurate_form(op);
    const auto as_fast = [&](Op other) { return op == function ? other : ir::fast_form(other); };
    switch (function) {
      case Op::add:
        return give(x, adjoint), give(y, adjoint);
      case Op::sub:
        return give(x, adjoint), give(y, ir::neg(adjoint));
      case Op::mul:
        return give(x, times(adjoint, y)), give(y, times(adjoint, x));
      case Op::div:
        return give(x, ir::div(adjoint, y)), give(y, ir::neg(ir::div(times(adjoint, e), y)));
      case Op::min:
      case Op::max: {
        const auto share = [&](const Expr& own, const Expr& other) {
          const Expr decides = ir::is(e, Op::min) ? ir::lt(own, other) : ir::gt(own, other);
          return ir::select(decides, adjoint, ir::select(ir::eq(own, other), times(adjoint, number(e, 0.5)), zero));
        };
        return give(x, share(x, y)), give(y, share(y, x));
      }
      case Op::select:
        return give(a[1], ir::select(a[0], adjoint, zero)), give(a[2], ir::select(a[0], zero, adjoint));
      case Op::fma:
        return give(x, times(adjoint, y)), give(y, times(adjoint, x)), give(a[2], adjoint);
      case Op::mod:
        return give(x, adjoint), give(y, ir::neg(times(adjoint, ir::unary(Op::floor, ir::div(x, y)))));
      case Op::pow: {
        const Expr one = number(e, 1);
        give(x, times(adjoint, ir::mul(y, ir::binary(op, x, ir::sub(y, one)))));
        return give(y, times(adjoint, ir::mul(e, ir::unary(as_fast(Op::log), x))));
      }
      case Op::atan2: {  // of y and x, in this order
        const Expr length = ir::add(square(x), square(y));
        give(x, ir::div(times(adjoint, y), length));
        return give(y, ir::neg(ir::div(times(adjoint, x), length)));
      }
      case Op::copysign: {
        const Expr one = number(e, 1);
        const auto sign = [&](const Expr& of) { return ir::binary(Op::copysign, one, of); };
        return give(x, ir::select(ir::eq(sign(x), sign(y)), adjoint, ir::neg(adjoint)));
      }
      default:
        no_derivative(e);
    }
  }

  const std::function<bool(ir::Id)>& wanted_;
  const std::string& stage_;
  Where where_;
  std::unordered_map<const ir::Node*, bool> reached_;
  std::unordered_map<const ir::Node*, Expr> adjoint_;
  std::vector<Expr> order_;
};

}  // namespace

std::vector<Sensitivity> pull_back(const Expr& value, const Expr& seed, const std::function<bool(ir::Id)>& wanted,
                                   const std::string& stage, Where where) {
  return PullBack(wanted, stage, where).run(value, seed);
}

}  // namespace ashlar::lang
