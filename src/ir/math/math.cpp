// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expand_math, and how narrow floats get to the expansions that the table of operators names.
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

#include <ashlar/ir/direct.h>
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
  if (op == Op::approximate_exp2) return Op::exp2;
  for (const auto& [accurate, fast] : kFast)
    if (op == fast) return accurate;
  return op;
}

bool is_expanded_math(Op op, Type t) { return is_function(op) || (op == Op::mod && t.is_float()); }

namespace math {

Expr spelled(const Applied& a, Expr (*f)(const Kit&, std::span<const Expr>)) {
  const Type t = a.args[0].type();
  if (!t.is_float()) refuse(op_name(a.op), "an operand of a floating type", text(t), a.args[0].node()->where);
  if (t.bits > 16) return f(Kit(t), a.args);
  const Type wide{Type::Code::ieee, 32, t.lanes, t.scalable};
  std::array<Expr, 2> widened;
  for (std::size_t k = 0; k < a.args.size(); ++k) widened[k] = cast(wide, a.args[k]);
  return cast(t, f(Kit(wide), std::span(widened).first(a.args.size())));
}

Expr mod(const Applied& a) {
  if (!a.args[0].type().is_float()) return {};
  return spelled(
      a, [](const Kit&, std::span<const Expr> x) { return sub(x[0], ir::mul(unary(Op::floor, div(x[0], x[1])), x[1])); });
}

}  // namespace math

Expr expand_math_call(Op op, std::span<const Expr> args) {
  const Type t = args[0].type();
  if (!t.is_float()) refuse(op_name(op), "an operand of a floating type", text(t), args[0].node()->where);
  Expr e = expanded({op, t, args, args[0].node()->where});
  if (e.empty()) throw InternalError(std::string("no expansion of ") + op_name(op));
  return e;
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
    constexpr std::size_t most = 64;  // on the stack; the longest expansions have more
    std::array<Value, most> few;
    std::vector<Value> many(steps_.size() > most ? steps_.size() : 0);
    Value* registers = many.empty() ? few.data() : many.data();
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const Step& s = steps_[k];
      if (s.operand >= 0) {
        registers[k] = args[static_cast<std::size_t>(s.operand)];
      } else if (s.count == 0) {
        registers[k] = s.constant;
      } else if (s.direct) {
        registers[k].type = s.type;
        if (!s.direct(registers[s.args[0]], registers[s.args[1]], registers[s.args[2]], registers[k])) return {};
      } else {
        Value in[3];
        for (std::size_t a = 0; a < s.count; ++a) in[a] = registers[s.args[a]];
        const auto v = evaluate(s.op, s.type, {in, s.count});
        if (!v) return v;
        registers[k] = *v;
      }
    }
    return registers[steps_.size() - 1];
  }

 private:
  struct Step {
    Op op;
    Type type;
    int operand = -1;
    std::size_t count = 0, args[3] = {};
    Direct direct = nullptr;
    Value constant;
  };

  int add(const Expr& e, std::map<const Node*, int>& seen) {  // the map is only looked up in
    if (const auto at = seen.find(e.node()); at != seen.end()) return at->second;
    Step s;
    s.op = op_of(e);
    s.type = e.type();
    s.count = args_of(e).size();
    if (s.count > 0) s.direct = direct(s.op, s.type, args_of(e)[0].type());
    if (s.op == Op::var)
      s.operand = static_cast<int>(e.node()->id) - 1;
    else if (s.count == 0)
      s.constant = value_of(e);
    for (std::size_t a = 0; a < s.count; ++a) s.args[a] = static_cast<std::size_t>(add(args_of(e)[a], seen));
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
