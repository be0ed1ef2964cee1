// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <charconv>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/operation.h>

#include "ir/print.h"

namespace ashlar::ir {

std::string text(Type t) {
  std::string s;
  switch (t.code) {
    case Type::Code::signed_:
      s = "i" + std::to_string(t.bits);
      break;
    case Type::Code::unsigned_:
      s = "u" + std::to_string(t.bits);
      break;
    case Type::Code::ieee:
      s = "f" + std::to_string(t.bits);
      break;
    case Type::Code::bfloat:
      s = "bf" + std::to_string(t.bits);
      break;
    case Type::Code::boolean:
      s = "bool";
      break;
    case Type::Code::e4m3:
      s = "e4m3";
      break;
    case Type::Code::e5m2:
      s = "e5m2";
      break;
    case Type::Code::handle:
      s = "handle";
      break;
    case Type::Code::index:
      s = "index";
      break;
  }
  if (t.lanes != 1 || t.scalable) s += "x" + std::to_string(t.lanes) + (t.scalable ? "s" : "");
  return s;
}

namespace {

std::string real(double v, Type t) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto r = t.bits == 64 ? std::to_chars(buffer, buffer + sizeof buffer, v)
                              : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v));
  std::string s(buffer, r.ptr);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

// What is left of a negative whole number, or of a product by one, without its minus: a + -2 is shown as a - 2, and
// a + b * -2 as a - b * 2. Empty where there is none. The type's lowest number keeps its own.
Expr without_minus(const Expr& e) {
  if (e.empty() || e.type().lanes != 1 || !(e.type().is_index() || e.type().is_signed())) return {};
  if (is(e, Op::int_const)) {
    const std::int64_t v = e.node()->i;
    return v < 0 && v > lowest_of(e.type()) ? int_const(e.type(), -v) : Expr();
  }
  if (!is(e, Op::mul)) return {};
  const Expr factor = without_minus(args_of(e)[1]);
  if (!is(args_of(e)[1], Op::int_const) || factor.empty()) return {};
  const Expr args[] = {args_of(e)[0], factor};
  return make(Op::mul, e.type(), args);
}

// What stands in several places of an expression is written wherever it stands, as long as that is short. Beyond `longest`
// operators and operands it gets a name where that saves something: values that are used twice by the next ones, over and over,
// are 2^n to write out.
//
//   let t = x[i] + x[i], t_2 = t * t in t_2 * t_2
constexpr std::uint64_t longest = 4096, worth_a_name = 4;

struct Shared {
  std::vector<const Expr*> in_order;                                    // operands before what uses them
  std::unordered_map<const Node*, std::pair<int, std::uint64_t>> uses;  // how many, and how much there is to write
  explicit Shared(const Expr& root) {
    std::vector<std::pair<const Expr*, bool>> pending{{&root, false}};
    while (!pending.empty()) {
      const auto [e, left] = pending.back();
      pending.pop_back();
      if (left) {
        std::uint64_t size = 1;
        for (const Expr& a : args_of(*e))
          size = a.empty() ? size + 1 : std::min(size + uses.at(a.node()).second, std::uint64_t{1} << 40);
        uses.at(e->node()).second = size;
        in_order.push_back(e);
        continue;
      }
      if (++uses[e->node()].first > 1) continue;
      pending.emplace_back(e, true);
      const auto args = args_of(*e);
      for (std::size_t k = args.size(); k-- > 0;)
        if (!args[k].empty()) pending.emplace_back(&args[k], false);
    }
  }
};

struct Writer {
  Namer& names;
  std::string out;
  std::unordered_map<const Node*, std::string> named = {};

  void root(const Expr& e) {
    if (e.empty() || e.node()->count == 0) return write(e, -1);
    const Shared shared(e);
    if (shared.uses.at(e.node()).second <= longest) return write(e, -1);
    const Namer::Scope scope(names);
    Id id = Id{1} << 63;  // no id of a program
    for (const Expr* part : shared.in_order) {
      const auto& [uses, size] = shared.uses.at(part->node());
      if (uses < 2 || size < worth_a_name) continue;
      out += named.empty() ? "let " : ", ";
      const std::string name = names(id++, "t");
      out += name + " = ";
      write(*part, -1);
      named.emplace(part->node(), name);
    }
    if (!named.empty()) out += " in ";
    write(e, -1);
  }

  void list(std::span<const Expr> args) {
    for (std::size_t k = 0; k < args.size(); ++k) {
      if (k) out += ", ";
      write(args[k], -1);
    }
  }
  // `outer`: the level of the operator around; parentheses where this one binds less.
  void write(const Expr& e, int outer) {
    if (e.empty()) {
      out += "?";
      return;
    }
    const Node& n = *e.node();
    const auto args = args_of(e);
    if (!named.empty())
      if (const auto at = named.find(&n); at != named.end()) {
        out += at->second;
        return;
      }
    if (const Operation::Laws& op = operation(n.op).laws; *op.sign) {  // equal strengths associate to the left
      const bool paren = op.binds < outer;
      if (paren) out += "(";
      write(args[0], op.binds);
      const Expr negated = n.op == Op::add || n.op == Op::sub ? without_minus(args[1]) : Expr();
      const char* symbol = negated.empty() ? op.sign : n.op == Op::add ? "-" : "+";
      out += std::string(" ") + symbol + " ";
      write(negated.empty() ? args[1] : negated, op.binds + 1);
      if (paren) out += ")";
      return;
    }
    switch (n.op) {
      case Op::int_const:
        if (n.type.is_bool())
          out += n.i ? "true" : "false";
        else if (n.type == u64)
          out += std::to_string(static_cast<std::uint64_t>(n.i));
        else
          out += std::to_string(n.i);
        if (n.type.is_data_integer()) out += text(n.type.element());
        return;
      case Op::float_const:
        out += real(n.f, n.type);
        if (!(n.type == f32)) out += text(n.type.element());
        return;
      case Op::var:
        out += names(n.id, n.name ? n.name : "");
        return;
      case Op::load:
        out += names(n.id, n.name ? n.name : "") + "[";
        list(args);
        out += "]";
        return;
      case Op::neg:
      case Op::bit_not:
      case Op::logic_not:
        out += n.op == Op::neg ? "-" : n.op == Op::bit_not ? "~" : "!";
        write(args[0], 8);
        return;
      case Op::cast:
        out += text(n.type) + "(";
        list(args);
        out += ")";
        return;
      case Op::saturate:
      case Op::bitcast:
        out += std::string(op_name(n.op)) + "(" + text(n.type) + ", ";
        list(args);
        out += ")";
        return;
      case Op::call:
        out += std::string(n.name) + "(";
        break;
      case Op::broadcast:
        out += "x" + std::to_string(n.type.lanes) + "(";
        break;
      case Op::ramp:
        out += "ramp" + std::to_string(n.type.lanes) + "(";
        break;
      default:
        out += std::string(op_name(n.op)) + "(";
        break;
    }
    list(args);
    out += ")";
  }
};

}  // namespace

std::string text(const Expr& e, Namer& names) {
  Writer w{names, {}};
  w.root(e);
  return w.out;
}

std::string text(const Expr& e) {
  Namer names;
  return text(e, names);
}

}  // namespace ashlar::ir
