// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions: one case an operator. Operators of C where they mean the same, helpers elsewhere (helpers.h).
#include <ashlar/ir/function.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/vscale.h>

#include "codegen/c/function.h"

namespace ashlar::codegen::c {

using ir::Op;

std::string wrapped(const Text& t, int level) { return t.level < level ? "(" + t.s + ")" : t.s; }

namespace {

constexpr std::size_t kShort = 30, kLong = 90;  // characters: what is repeated rather than named; what is named in any case

bool is_leaf(const Expr& e) { return ir::args_of(e).empty(); }
bool computes_in_c(Type t) { return t.is_float() || (t.is_unsigned() && t.bits >= 32); }
Type lane_of(const Expr& e) { return e.type().element(); }
std::string sign_of(Op op) { return std::string(" ") + ir::operation(op).laws.sign + " "; }
std::string call_text(const std::string& f, std::initializer_list<std::string> args) {
  std::string list;
  for (const std::string& a : args) list += (list.empty() ? "" : ", ") + a;
  return f + "(" + list + ")";
}

}  // namespace

// ---- roots, names of what is shared ------------------------------------------------------------------------------------
void Function::count(const Expr& e) {
  if (e.empty() || ++uses_[e] > 1) return;
  for (const Expr& a : ir::args_of(e)) count(a);
}

void Function::prepare(std::initializer_list<const Expr*> roots) {
  uses_.clear();
  named_.clear();
  wild_.clear();
  for (const Expr* e : roots) count(*e);
}

std::string Function::value(const Expr& e) { return root(e).s; }
std::string Function::operand(const Expr& e) { return wrapped(root(e), kPrimary); }

Text Function::root(const Expr& e) {
  if (e.empty()) throw InternalError("codegen: kernel " + file.name + " lacks an expression");
  if (const auto it = named_.find(e); it != named_.end()) return it->second;
  const bool shared = uses_[e] > 1;
  return shared ? emit(e) : node(e);
}

Text Function::emit(const Expr& e) {
  if (const auto it = named_.find(e); it != named_.end()) return it->second;
  Text t = node(e);
  if (is_leaf(e)) return t;
  const bool outside = !lane_.empty() && e.type().lanes == 1 && !e.type().scalable;  // of a loop over lanes
  const bool works = t.s.find('(') != std::string::npos || t.s.find('[') != std::string::npos;
  const Op op = ir::op_of(e);
  if (op == Op::broadcast || op == Op::rare || op == Op::in_range) return t;
  if (t.s.size() > kLong || (uses_[e] > 1 && (works || t.s.size() > kShort)) || (outside && (works || t.s.size() > kShort)))
    return named(e, t);
  return t;
}

Text Function::named(const Expr& e, const Text& t) {
  const std::string name = is_helper ? "t" + std::to_string(named_.size() + 1) : file.unique("t");
  const std::string made = "const " + value_type(e.type()) + " " + name + " = " + t.s + ";";
  if (!lane_.empty() && e.type().lanes > 1)
    inner_ += place_ + std::string(static_cast<std::size_t>(2 * (depth_ + 1)), ' ') + made + "\n";
  else
    line(made);
  return named_[e] = Text{name};
}

// An index that may be anything: computed from data. It wraps; all others stay inside of 63 bits, which entry made sure of.
bool Function::is_wild(const Expr& e) {
  const auto args = ir::args_of(e);
  switch (ir::op_of(e)) {
    case Op::int_const:
      return false;
    case Op::var: {
      const auto it = vars_.find(e.node()->id);
      return it != vars_.end() && it->second.wild;
    }
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::neg:
    case Op::min:
    case Op::max:
    case Op::div:
    case Op::mod:
    case Op::ramp:
    case Op::broadcast:
    case Op::in_range:
    case Op::select: {
      if (const auto it = wild_.find(e.node()); it != wild_.end()) return it->second;
      bool any = false;
      for (std::size_t n = ir::is(e, Op::select) ? 1 : 0; n < args.size(); ++n) any = any || is_wild(args[n]);
      return wild_[e.node()] = any;
    }
    default:
      return true;
  }
}

// ---- leaves ------------------------------------------------------------------------------------------------------------
Text Function::constant(const ir::Node& n) const {
  const Type t = n.type.element();
  if (n.op == Op::float_const) {
    if (ir::is_narrow(t))
      return {"(" + value_type(t) + ")" + std::to_string(ir::to_bits(ir::float_value(t, n.f))) + "u", kPrefix};
    file.helpers.math();
    std::string s = real_text(n.f, t.bits);
    const int level = s[0] == '-' || s[0] == '(' ? kPrefix : kPrimary;
    return {std::move(s), level};
  }
  if (t.is_bool()) return {n.i ? "true" : "false"};
  if (t.is_unsigned()) {
    const auto v = static_cast<std::uint64_t>(n.i);
    if (v <= UINT32_MAX) return {std::to_string(v) + "u", kPrimary, true};
    return {"UINT64_C(" + std::to_string(v) + ")"};
  }
  if (n.i == INT64_MIN) return {"INT64_MIN"};
  if (n.i == INT32_MIN) return {"INT32_MIN", kPrimary, true};
  if (n.i > INT32_MAX || n.i < INT32_MIN) return {"INT64_C(" + std::to_string(n.i) + ")"};
  return {std::to_string(n.i), n.i < 0 ? kPrefix : kPrimary, true};
}

std::string Function::element(ir::Id buffer, const std::string& index) { return base_of(buffer) + "[" + index + "]"; }

Text Function::load(const Expr& e) {
  const auto it = k.buffers.find(e.node()->id);
  if (it == k.buffers.end()) throw InternalError("codegen: kernel " + file.name + " accesses an unknown buffer");
  const ir::KBuffer& buffer = it->second;
  const auto args = ir::args_of(e);
  const Type t = lane_of(e);
  const std::string index = emit(args[0]).s;
  Text read;
  if (is_packed(buffer))
    read = {call_text(file.helpers.load_packed(t), {base_of(buffer.id), index})};
  else if (has_other_types(k, buffer))
    read = {call_text(file.helpers.load(t), {"&" + element(buffer.id, index)})};
  else
    read = {element(buffer.id, index)};
  if (t.is_bool()) read = {read.s + " != 0", kCompare};
  if (args.size() < 2) return read;
  const Text mask = emit(args[1]);
  if (mask.s == "true") return read;
  const std::string zero = t.is_float() && t.bits >= 32 ? real_text(0, t.bits)
                           : t.is_bool()                ? "false"
                           : t.is_unsigned()            ? "0u"
                                                        : "0";
  const std::string chosen = wrapped(mask, kCompare) + " ? " + wrapped(read, kCompare) + " : " + zero;
  if (!t.is_float() && !t.is_bool() && t.bits < 32) return {"(" + value_type(t) + ")(" + chosen + ")", kPrefix};
  if (ir::is_narrow(t)) return {"(" + value_type(t) + ")(" + wrapped(mask, kCompare) + " ? " + read.s + " : 0u)", kPrefix};
  return {chosen, kChoice};
}

Text Function::ramp(const Expr& e) {
  const auto args = ir::args_of(e);
  const Type t = lane_of(e);
  if (e.type().lanes == 1) return emit(args[0]);
  std::int64_t stride = 0;
  const bool known = ir::is_int(args[1], &stride);
  Text base = emit(args[0]);
  if (!t.is_index() || is_wild(e)) {
    const std::string lane = t.is_index() ? lane_ : "(" + value_type(t) + ")" + lane_;
    const std::string steps = known && stride == 1 ? lane : call_text(file.helpers.binary(Op::mul, t), {lane, emit(args[1]).s});
    return {call_text(file.helpers.binary(Op::add, t), {base.s, steps})};
  }
  Text steps{lane_};
  if (known && stride == 0) return base;
  if (known && stride == -1) return {wrapped(base, kSum) + " - " + lane_, kSum};
  if (!known || stride != 1) steps = {lane_ + " * " + wrapped(emit(args[1]), kPrefix), kProduct};
  if (base.s == "0") return steps;
  return {wrapped(base, kSum) + " + " + steps.s, kSum};
}

// ---- operators ---------------------------------------------------------------------------------------------------------
Text Function::node(const Expr& e) {
  const ir::Node& n = *e.node();
  if (n.type.scalable || (n.op == Op::var && n.id == ir::vscale_id))
    throw InternalError("codegen: a scalable vector in C");  // refused before
  const auto args = ir::args_of(e);
  const Type t = lane_of(e);
  switch (n.op) {
    case Op::int_const:
    case Op::float_const:
      return constant(n);
    case Op::var: {
      const auto it = vars_.find(n.id);
      if (it == vars_.end()) throw InternalError("codegen: kernel " + file.name + " uses a variable outside its scope");
      return it->second.is_array ? Text{it->second.text.s + "[" + lane_ + "]"} : it->second.text;
    }
    case Op::load:
      return load(e);
    case Op::rare:
    case Op::in_range:
    case Op::broadcast:
      return emit(args[0]);
    case Op::ramp:
      return ramp(e);
    case Op::cast: {
      Text x = emit(args[0]);
      if (t == lane_of(args[0])) return x;
      if (ir::is_narrow(t) || ir::is_narrow(lane_of(args[0]))) return {call_text(spelled(n.op, t, {lane_of(args[0])}), {x.s})};
      return {converted(file.helpers, t, lane_of(args[0]), x.s), t.is_bool() ? kPrimary : kPrefix};
    }
    case Op::saturate: {
      const Text x = emit(args[0]);
      return {call_text(spelled(n.op, t, {lane_of(args[0])}), {x.s})};
    }
    case Op::bitcast: {
      const Type from = lane_of(args[0]);
      Text x = emit(args[0]);
      if (t == from) return x;
      if (t.is_bool()) return {wrapped(x, kSum) + " != 0", kCompare};
      const bool to_real = t.is_float() && t.bits >= 32, from_real = from.is_float() && from.bits >= 32;
      std::string bits = from_real ? call_text(file.helpers.bits_of(from), {x.s}) : x.s;
      if (to_real && from_real) return x;
      if (to_real) return {call_text(file.helpers.from_bits(t), {(t.bits == 64 ? "(uint64_t)(" : "(uint32_t)(") + bits + ")"})};
      return {"(" + value_type(t) + ")(" + bits + ")", kPrefix};
    }
    case Op::select:
      return choice(e);
    case Op::call:
      return call(e);
    case Op::fma: {
      const std::string x = emit(args[0]).s, y = emit(args[1]).s, z = emit(args[2]).s;
      file.helpers.math();
      return {call_text(t.bits == 64 ? "fma" : "fmaf", {x, y, z})};
    }
    case Op::shl:
    case Op::shr:
      return shift(e);
    case Op::rounding_shr:
      return {call_text(spelled(n.op, t, {t, u64}), {emit(args[0]).s, amount(args[1])})};
    default:
      if (ir::is_comparison(n.op)) return comparison(e);
      break;
  }
  if (n.count == 1) return unary(e);
  if (n.count == 2) return binary(e);
  throw InternalError(std::string("codegen: ") + ir::op_name(n.op) + " is not an operator of the lowered form");
}

// The amount of a shift, read as unsigned.
std::string Function::amount(const Expr& e) {
  const Type t = lane_of(e);
  const Text x = emit(e);
  if (x.literal && x.level == kPrimary) return x.s;
  if (t.is_unsigned() && t.bits == 64) return x.s;
  const std::string bits = "(uint" + std::to_string(t.is_index() ? 64 : t.bits) + "_t)";
  return "(uint64_t)" + (t.is_unsigned() || t.bits == 64 ? "" : bits) + wrapped(x, kPrimary);
}

// By less than the width with an operator, which C promotes for, and which of numbers with a sign is defined to the right
// alone.
Text Function::shift(const Expr& e) {
  const Op op = ir::op_of(e);
  const auto args = ir::args_of(e);
  const Type t = lane_of(e);
  const Expr other = ir::expanded(e);
  if (ir::is(other, op)) return node(other);
  const Text x = emit(args[0]);
  if (!other.empty()) return {call_text(spelled(op, t, {t, u64}), {x.s, amount(args[1])})};
  const std::string wide = t.is_index() || t.bits == 64 ? "(uint64_t)" : "(uint32_t)";
  return {"(" + value_type(t) + ")(" + (op == Op::shl ? wide : "") + wrapped(x, kPrimary) + sign_of(op) +
              wrapped(emit(args[1]), kPrimary) + ")",
          kPrefix};
}

Text Function::choice(const Expr& e) {
  const auto args = ir::args_of(e);
  const Type t = lane_of(e);
  const Text condition = emit(args[0]);
  Text x = emit(args[1]), y = emit(args[2]);
  if (x.literal && y.literal && (t.is_index() || t.bits == 64)) x = {"(" + value_type(t) + ")" + wrapped(x, kPrefix), kPrefix};
  const std::string chosen = wrapped(condition, kCompare) + " ? " + wrapped(x, kOr) + " : " + wrapped(y, kOr);
  const bool small = (!t.is_float() && !t.is_bool() && t.bits < 32) || ir::is_narrow(t);
  if (small) return {"(" + value_type(t) + ")(" + chosen + ")", kPrefix};
  return {chosen, kChoice};
}

Text Function::comparison(const Expr& e) {
  const auto args = ir::args_of(e);
  const Type t = lane_of(args[0]);
  const Op op = ir::op_of(e);
  const std::string sign = sign_of(op);
  Text x = emit(args[0]), y = emit(args[1]);
  if (t.is_bool()) x = {"(int)" + wrapped(x, kPrimary), kPrefix}, y = {"(int)" + wrapped(y, kPrimary), kPrefix};
  return {wrapped(x, kSum) + sign + wrapped(y, kSum), kCompare};
}

Text Function::call(const Expr& e) {
  const ir::Function& f = ir::function(e.node()->id);
  std::string list, types;
  for (const Expr& a : ir::args_of(e)) list += (list.empty() ? "" : ", ") + emit(a).s;
  for (const Type t : f.parameters) types += (types.empty() ? "" : ", ") + value_type(t);
  file.declare(f.symbol, "extern " + value_type(f.result) + " " + f.symbol + "(" + (types.empty() ? "void" : types) + ");");
  return {f.symbol + "(" + list + ")"};
}

// ---- one operand -------------------------------------------------------------------------------------------------------
Text Function::real_unary(Op op, Type t, const Text& x) {
  const char* const s = t.bits == 32 ? "f" : "";
  const auto math = [&](const char* f) {
    file.helpers.math();
    return Text{std::string(f) + s + "(" + x.s + ")"};
  };
  switch (op) {
    case Op::neg: {
      const std::string inside = wrapped(x, kPrefix);
      return {"-" + (inside[0] == '-' ? "(" + inside + ")" : inside), kPrefix};
    }
    case Op::abs:
      return math("fabs");
    case Op::sqrt:
      return math("sqrt");
    case Op::floor:
      return math("floor");
    case Op::ceil:
      return math("ceil");
    case Op::round:
      return math("nearbyint");
    case Op::trunc:
      return math("trunc");
    default:
      throw InternalError(std::string("codegen: ") + ir::op_name(op) + " was not expanded");
  }
}

Text Function::unary(const Expr& e) {
  const Op op = ir::op_of(e);
  const Expr& of = ir::args_of(e)[0];
  const Type t = lane_of(of);
  Text x = emit(of);
  if (op == Op::isnan || op == Op::isinf) {
    file.helpers.math();
    return {std::string(op == Op::isnan ? "isnan" : "isinf") + "(" + x.s + ") != 0", kCompare};
  }
  if (t.is_float()) return real_unary(op, t, x);
  switch (op) {
    case Op::logic_not:
      return {"!" + wrapped(x, kPrimary), kPrefix};
    case Op::bit_not:
      return {"(" + value_type(t) + ")~" + wrapped(x, kPrimary), kPrefix};
    case Op::abs:
      if (t.is_unsigned()) return x;
      break;
    case Op::neg:
      if (t.is_index() && !is_wild(of) && !x.literal) return {"-" + wrapped(x, kPrimary), kPrefix};
      break;
    default:
      break;
  }
  return {call_text(op == Op::neg ? file.helpers.negative(t) : spelled(op, t, {t}), {x.s})};
}

// ---- two operands ------------------------------------------------------------------------------------------------------
// What C computes in the operands' own type.
Text Function::infix(Op op, int level, const Text& x, const Text& y, Type t) {
  Text left = x;
  if (x.literal && y.literal && (t.is_index() || t.bits == 64))
    left = {"(" + value_type(t) + ")" + wrapped(x, kPrefix), kPrefix};
  return {wrapped(left, level) + sign_of(op) + wrapped(y, level + 1), level};
}

Text Function::real_binary(Op op, Type t, const Text& x, const Text& y) {
  switch (op) {
    case Op::add:
    case Op::sub:
      return infix(op, kSum, x, y, t);
    case Op::mul:
    case Op::div:
      return infix(op, kProduct, x, y, t);
    case Op::min:
    case Op::max:
      return {call_text(spelled(op, t, {t, t}), {x.s, y.s})};
    case Op::copysign:
      file.helpers.math();
      return {call_text(t.bits == 32 ? "copysignf" : "copysign", {x.s, y.s})};
    default:
      throw InternalError(std::string("codegen: ") + ir::op_name(op) + " was not expanded");
  }
}

Text Function::binary(const Expr& e) {
  const Op op = ir::op_of(e);
  const auto args = ir::args_of(e);
  const Type t = lane_of(args[0]);
  const Text x = emit(args[0]), y = emit(args[1]);
  if (t.is_float()) return real_binary(op, t, x, y);
  const auto joined = [&](const std::string& sign, int level) {  // chains need no parentheses: && and || are associative
    return Text{wrapped(x, x.level == level ? level : kCompare) + sign + wrapped(y, kCompare), level};
  };
  if (op == Op::logic_and || op == Op::logic_or) return joined(sign_of(op), op == Op::logic_and ? kAnd : kOr);
  const bool in_c = computes_in_c(t) || (t.is_index() && !is_wild(e));
  switch (op) {
    case Op::add:
    case Op::sub:
      if (in_c) return infix(op, kSum, x, y, t);
      break;
    case Op::mul:
      if (in_c) return infix(op, kProduct, x, y, t);
      break;
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor: {
      const std::string sign = sign_of(op);
      const std::string bits = wrapped(x, kPrefix) + sign + wrapped(y, kPrefix);
      if (!t.is_index() && t.bits < 32) return {"(" + value_type(t) + ")(" + bits + ")", kPrefix};
      if (x.literal && y.literal) return {"(" + value_type(t) + ")(" + bits + ")", kPrefix};
      return {bits, kBits};
    }
    default:
      break;
  }
  if (op == Op::add || op == Op::sub || op == Op::mul) return {call_text(file.helpers.binary(op, t), {x.s, y.s})};
  if ((op == Op::trunc_div || op == Op::trunc_rem) && ir::expanded(e).empty())
    return {
        "(" + value_type(t) + ")(" + wrapped(x, kPrefix) + (op == Op::trunc_div ? " / " : " % ") + wrapped(y, kPrefix) + ")",
        kPrefix};
  return {call_text(spelled(op, lane_of(e), {t, t}), {x.s, y.s})};
}

// ---- entries -----------------------------------------------------------------------------------------------------------
std::string Function::checked(const Expr& e) {
  const Op op = ir::op_of(e);
  const auto args = ir::args_of(e);
  if (is_leaf(e)) return node(e).s;
  if (e.type().is_index() && (op == Op::add || op == Op::sub || op == Op::mul))
    return call_text(file.helpers.checked(op), {checked(args[0]), checked(args[1]), "&overflow"});
  if (e.type().is_index() && (op == Op::div || op == Op::mod || op == Op::min || op == Op::max))
    return call_text(spelled(op, ir::index_type, {ir::index_type, ir::index_type}), {checked(args[0]), checked(args[1])});
  if (op == Op::select && e.type().is_index())  // as a function, so that both arms are checked
    return call_text(file.helpers.named("choose"), {checked(args[0]), checked(args[1]), checked(args[2])});
  if (op == Op::logic_not) return "!" + checked(args[0]);
  if (op == Op::logic_and || op == Op::logic_or)
    return call_text(file.helpers.named(op == Op::logic_and ? "both" : "either"), {checked(args[0]), checked(args[1])});
  if (ir::is_comparison(op) && args[0].type().is_index()) {
    const std::string sign = sign_of(op);
    return "(" + checked(args[0]) + sign + checked(args[1]) + ")";
  }
  prepare({&e});
  return wrapped(root(e), kPrimary);
}

}  // namespace ashlar::codegen::c
