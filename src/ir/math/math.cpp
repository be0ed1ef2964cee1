// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expand_math: which function becomes which expansion, and how narrow floats get there.
#include <ashlar/ir/math.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "ir/math/kit.h"
#include "ir/math/value.h"

namespace ashlar::ir {
namespace {

constexpr std::pair<Op, Op> kFast[] = {{Op::rsqrt, Op::fast_rsqrt}, {Op::exp, Op::fast_exp}, {Op::exp2, Op::fast_exp2},
                                       {Op::expm1, Op::fast_expm1}, {Op::log, Op::fast_log}, {Op::log2, Op::fast_log2},
                                       {Op::sin, Op::fast_sin},     {Op::cos, Op::fast_cos}, {Op::tan, Op::fast_tan},
                                       {Op::tanh, Op::fast_tanh},   {Op::erf, Op::fast_erf}, {Op::sigmoid, Op::fast_sigmoid},
                                       {Op::pow, Op::fast_pow}};

}  // namespace

Op fast_form(Op op) {
  for (const auto& [accurate, fast] : kFast)
    if (op == accurate) return fast;
  return op;
}

Op accurate_form(Op op) {
  for (const auto& [accurate, fast] : kFast)
    if (op == fast) return accurate;
  return op;
}

bool is_expanded_math(Op op, Type t) {
  switch (accurate_form(op)) {
    case Op::rsqrt:
    case Op::cbrt:
    case Op::exp:
    case Op::exp2:
    case Op::expm1:
    case Op::log:
    case Op::log2:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::erf:
    case Op::erfc:
    case Op::sigmoid:
    case Op::pow:
    case Op::atan2:
      return true;
    case Op::mod:
      return t.is_float();
    default:
      return false;
  }
}

namespace {

Expr expand_in(const math::Kit& k, Op op, std::span<const Expr> args) {
  const Expr& x = args[0];
  switch (op) {
    case Op::rsqrt:
      return math::rsqrt(k, x);
    case Op::cbrt:
      return math::cbrt(k, x);
    case Op::exp:
      return math::exp(k, x);
    case Op::exp2:
      return math::exp2(k, x);
    case Op::expm1:
      return math::expm1(k, x);
    case Op::log:
      return math::log(k, x);
    case Op::log2:
      return math::log2(k, x);
    case Op::log1p:
      return math::log1p(k, x);
    case Op::sin:
      return math::sin(k, x);
    case Op::cos:
      return math::cos(k, x);
    case Op::tan:
      return math::tan(k, x);
    case Op::asin:
      return math::asin(k, x);
    case Op::acos:
      return math::acos(k, x);
    case Op::atan:
      return math::atan(k, x);
    case Op::sinh:
      return math::sinh(k, x);
    case Op::cosh:
      return math::cosh(k, x);
    case Op::tanh:
      return math::tanh(k, x);
    case Op::erf:
      return math::erf(k, x);
    case Op::erfc:
      return math::erfc(k, x);
    case Op::sigmoid:
      return math::sigmoid(k, x);
    case Op::fast_rsqrt:
      return math::fast_rsqrt(k, x);
    case Op::fast_exp:
      return math::fast_exp(k, x);
    case Op::fast_exp2:
      return math::fast_exp2(k, x);
    case Op::fast_expm1:
      return math::fast_expm1(k, x);
    case Op::fast_log:
      return math::fast_log(k, x);
    case Op::fast_log2:
      return math::fast_log2(k, x);
    case Op::fast_sin:
      return math::fast_sin(k, x);
    case Op::fast_cos:
      return math::fast_cos(k, x);
    case Op::fast_tan:
      return math::fast_tan(k, x);
    case Op::fast_tanh:
      return math::fast_tanh(k, x);
    case Op::fast_erf:
      return math::fast_erf(k, x);
    case Op::fast_sigmoid:
      return math::fast_sigmoid(k, x);
    case Op::atan2:
      return math::atan2(k, x, args[1]);
    case Op::pow:
      return math::pow(k, x, args[1]);
    case Op::fast_pow:
      return math::fast_pow(k, x, args[1]);
    case Op::mod:
      return sub(x, mul(unary(Op::floor, div(x, args[1])), args[1]));
    default:
      throw InternalError(std::string("no expansion of ") + op_name(op));
  }
}

}  // namespace

Expr expand_math_call(Op op, std::span<const Expr> args) {
  const Type t = args[0].type();
  if (!t.is_float()) refuse(op_name(op), "an operand of a floating type", text(t), args[0].node()->where);
  if (t.bits > 16) return expand_in(math::Kit(t), op, args);
  const Type wide{Type::Code::ieee, 32, t.lanes, t.scalable};
  std::array<Expr, 2> widened;
  for (std::size_t k = 0; k < args.size(); ++k) widened[k] = cast(wide, args[k]);
  return cast(t, expand_in(math::Kit(wide), op, std::span(widened).first(args.size())));
}

Expr expand_math(const Expr& e) {
  return transform(e, [](const Expr& x) {
    const auto args = args_of(x);
    return !args.empty() && is_expanded_math(op_of(x), args[0].type()) ? expand_math_call(op_of(x), args) : x;
  });
}

// ---- on values -----------------------------------------------------------------------------------------------------------

namespace {

// An expansion as straight-line code over registers: the operands, then one register a node, children first.
class Straight {
 public:
  Straight(Op op, Type t, std::size_t count) {
    std::array<Expr, 2> operands;
    for (std::size_t k = 0; k < count; ++k) operands[k] = var(k + 1, k == 0 ? "x" : "y", t);
    std::map<const Node*, int> seen;
    add(expand_math_call(op, std::span(operands).first(count)), seen);
  }

  std::optional<Value> run(std::span<const Value> args) const {
    std::vector<Value> registers(steps_.size());
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const Step& s = steps_[k];
      if (s.operand >= 0) {
        registers[k] = args[static_cast<std::size_t>(s.operand)];
      } else if (s.count == 0) {
        registers[k] = s.constant;
      } else {
        Value in[3];
        for (int a = 0; a < s.count; ++a) in[a] = registers[static_cast<std::size_t>(s.args[a])];
        const auto v = evaluate(s.op, s.type, {in, static_cast<std::size_t>(s.count)});
        if (!v) return v;
        registers[k] = *v;
      }
    }
    return registers.back();
  }

 private:
  struct Step {
    Op op;
    Type type;
    int operand = -1, count = 0, args[3] = {};
    Value constant;
  };

  int add(const Expr& e, std::map<const Node*, int>& seen) {  // the map is only looked up in
    if (const auto at = seen.find(e.node()); at != seen.end()) return at->second;
    Step s;
    s.op = op_of(e);
    s.type = e.type();
    s.count = static_cast<int>(args_of(e).size());
    if (s.op == Op::var)
      s.operand = static_cast<int>(e.node()->id) - 1;
    else if (s.count == 0)
      s.constant = value_of(e);
    for (int a = 0; a < s.count; ++a) s.args[a] = add(args_of(e)[static_cast<std::size_t>(a)], seen);
    steps_.push_back(s);
    seen.emplace(e.node(), static_cast<int>(steps_.size()) - 1);
    return static_cast<int>(steps_.size()) - 1;
  }

  std::vector<Step> steps_;
};

}  // namespace

std::optional<Value> evaluate_math(Op op, Type t, std::span<const Value> args) {
  static std::mutex lock;
  static std::map<std::tuple<Op, Type::Code, int>, std::unique_ptr<Straight>> known;
  const Straight* code = nullptr;
  {
    const std::lock_guard<std::mutex> hold(lock);
    auto& slot = known[{op, t.code, t.bits}];
    if (!slot) slot = std::make_unique<Straight>(op, t, args.size());
    code = slot.get();
  }
  return code->run(args);
}

}  // namespace ashlar::ir
