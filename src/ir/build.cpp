// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/build.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>

#include <ashlar/ir/function.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include <ashlar/ir/pairs.h>

#include "ir/node_memory.h"

namespace ashlar::ir {
namespace {

constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 33);
}

std::uint64_t type_bits(Type t) {
  return static_cast<std::uint64_t>(t.code) | static_cast<std::uint64_t>(t.bits) << 8 |
         static_cast<std::uint64_t>(t.lanes) << 16 | static_cast<std::uint64_t>(t.scalable) << 32;
}

Node* allocate(Op op, Type type, std::span<const Expr> args, Where where) {
  static_assert(alignof(Node) >= alignof(Expr) && sizeof(Node) % alignof(Expr) == 0);
  for (const Expr& a : args)
    if (a.empty()) throw InternalError(std::string("empty operand of ") + op_name(op));
  Node* node = new (take_node_memory(static_cast<std::uint32_t>(args.size()))) Node{};
  node->refs = 1;
  node->op = op;
  node->type = type;
  node->count = static_cast<std::uint32_t>(args.size());
  node->where = where;
  Expr* slots = reinterpret_cast<Expr*>(node + 1);
  std::uint64_t h = mix(static_cast<std::uint64_t>(op) + 1, type_bits(type));
  for (std::size_t k = 0; k < args.size(); ++k) {
    new (slots + k) Expr(args[k]);
    h = mix(h, args[k].node()->hash);
  }
  node->args = slots;
  node->hash = h;
  return node;
}

std::int64_t wrap(Type type, std::int64_t v) {
  if (type.is_bool()) return v != 0;
  if (type.is_index() || type.bits >= 64) return v;
  const int drop = 64 - type.bits;
  const std::uint64_t up = static_cast<std::uint64_t>(v) << drop;
  return type.is_signed() ? static_cast<std::int64_t>(up) >> drop : static_cast<std::int64_t>(up >> drop);
}

double round_float(Type type, double v) {
  if (!type.is_float()) throw InternalError("float constant of a type that is not a float");
  return round_to(type, v);
}

void check_types(Op op, const Expr& a, const Expr& b) {
  if (a.empty() || b.empty()) throw InternalError(std::string("empty operand of ") + op_name(op));
  if (!(a.type() == b.type())) throw InternalError(std::string("operands of ") + op_name(op) + " differ in type");
}

Expr compare(Op op, const Expr& a, const Expr& b) {
  std::int64_t x = 0, y = 0;
  if (a.type().is_index() && is_int(a, &x) && is_int(b, &y)) {
    switch (op) {
      case Op::eq:
        return boolean(x == y);
      case Op::ne:
        return boolean(x != y);
      case Op::lt:
        return boolean(x < y);
      case Op::le:
        return boolean(x <= y);
      case Op::gt:
        return boolean(x > y);
      default:
        return boolean(x >= y);
    }
  }
  const std::array<Expr, 2> args{a, b};
  return make(op, Type{Type::Code::boolean, 1, a.type().lanes, a.type().scalable}, args, a.node()->where);
}

// Constants and neutral elements of index arithmetic; an empty Expr where nothing folds.
Expr fold_index(Op op, const Expr& a, const Expr& b) {
  std::int64_t x = 0, y = 0, r = 0;
  const bool cx = is_int(a, &x), cy = is_int(b, &y);
  switch (op) {
    case Op::add:
      if (cx && cy && !__builtin_add_overflow(x, y, &r)) return index(r);
      if (cx && x == 0) return b;
      if (cy && y == 0) return a;
      break;
    case Op::sub:
      if (cx && cy && !__builtin_sub_overflow(x, y, &r)) return index(r);
      if (cy && y == 0) return a;
      if (same(a, b)) return index(0);
      break;
    case Op::mul:
      if (cx && cy && !__builtin_mul_overflow(x, y, &r)) return index(r);
      if ((cx && x == 0) || (cy && y == 0)) return index(0);
      if (cx && x == 1) return b;
      if (cy && y == 1) return a;
      break;
    case Op::div:
      if (cx && cy && y != 0) return index(floor_div(x, y));
      if (cy && y == 1) return a;
      break;
    case Op::mod:
      if (cx && cy && y != 0) return index(x - floor_div(x, y) * y);
      if (cy && y == 1) return index(0);
      break;
    case Op::min:
      if (cx && cy) return index(std::min(x, y));
      if (same(a, b)) return a;
      break;
    case Op::max:
      if (cx && cy) return index(std::max(x, y));
      if (same(a, b)) return a;
      break;
    case Op::bit_and:
      if (cx && cy) return index(x & y);
      if ((cx && x == 0) || (cy && y == 0)) return index(0);
      break;
    case Op::bit_or:
      if (cx && cy) return index(x | y);
      if (cx && x == 0) return b;
      if (cy && y == 0) return a;
      break;
    case Op::bit_xor:
      if (cx && cy) return index(x ^ y);
      if (cx && x == 0) return b;
      if (cy && y == 0) return a;
      if (same(a, b)) return index(0);
      break;
    default:
      break;
  }
  return {};
}

}  // namespace

// ---- leaves and plain nodes --------------------------------------------------------------------------------------------

Expr make(Op op, Type type, std::span<const Expr> args, Where where) { return Expr::adopt(allocate(op, type, args, where)); }

Expr int_const(Type type, std::int64_t value, Where where) {
  Node* n = allocate(Op::int_const, type, {}, where);
  n->i = wrap(type, value);
  n->hash = mix(n->hash, static_cast<std::uint64_t>(n->i));
  return Expr::adopt(n);
}

Expr float_const(Type type, double value, Where where) {
  Node* n = allocate(Op::float_const, type, {}, where);
  n->f = round_float(type, value);
  n->hash = mix(n->hash, std::bit_cast<std::uint64_t>(n->f));
  return Expr::adopt(n);
}

Expr boolean(bool value) { return int_const(bool_, value); }
Expr index(std::int64_t value) { return int_const(index_type, value); }

Expr var(Id id, std::string_view name, Type type, Where where) {
  Node* n = allocate(Op::var, type, {}, where);
  n->id = id;
  n->name = intern(name);
  n->hash = mix(n->hash, id);
  return Expr::adopt(n);
}

Expr load(Id buffer, std::string_view buffer_name, Type type, std::span<const Expr> indices, Where where) {
  Node* n = allocate(Op::load, type, indices, where);
  n->id = buffer;
  n->name = intern(buffer_name);
  n->hash = mix(n->hash, buffer);
  return Expr::adopt(n);
}

Expr call(Id id, std::span<const Expr> operands, Where where) {
  const Function& f = function(id);
  Type type = f.result;
  for (const Expr& e : operands)
    if (e.type().lanes > 1) type = type.with_lanes(e.type().lanes);
  return call_of_region(id, type, operands, where);
}

Expr call_of_region(Id id, Type type, std::span<const Expr> operands, Where where) {
  const Function& f = function(id);
  Node* n = allocate(Op::call, type, operands, where);
  n->id = id;
  n->name = intern(f.symbol);
  n->hash = mix(n->hash, id);
  return Expr::adopt(n);
}

bool is_int(const Expr& e, std::int64_t* value) {
  if (!is(e, Op::int_const)) return false;
  if (value) *value = e.node()->i;
  return true;
}
bool is_int(const Expr& e, std::int64_t value) { return is(e, Op::int_const) && e.node()->i == value; }

std::uint64_t hash_of(const Expr& e) { return e.node() ? e.node()->hash : 0; }

namespace {
bool same_but_for_operands(const Node* x, const Node* y) {
  if (!x || !y || x->hash != y->hash || x->op != y->op || !(x->type == y->type) || x->count != y->count) return false;
  if (x->op == Op::float_const && std::bit_cast<std::uint64_t>(x->f) != std::bit_cast<std::uint64_t>(y->f)) return false;
  return (x->op != Op::int_const && x->op != Op::var && x->op != Op::load && x->op != Op::call) || x->i == y->i;
}

bool same_operands(const Node* x, const Node* y, Pairs& met) {
  for (std::uint32_t k = 0; k < x->count; ++k) {
    const Node *p = x->args[k].node(), *q = y->args[k].node();
    if (p == q) continue;
    if (!same_but_for_operands(p, q)) return false;
    if (p->count != 0 && !met.again(p, q) && !same_operands(p, q, met)) return false;
  }
  return true;
}
}  // namespace

bool same(const Expr& a, const Expr& b) {
  const Node *x = a.node(), *y = b.node();
  if (x == y) return true;
  if (!same_but_for_operands(x, y)) return false;
  if (x->count == 0) return true;
  Pairs met;
  return same_operands(x, y, met);
}

// ---- operators ---------------------------------------------------------------------------------------------------------

Expr binary(Op op, const Expr& a, const Expr& b) {
  check_types(op, a, b);
  if (is_comparison(op)) return compare(op, a, b);
  const Type t = a.type();
  if (t.is_index() && t.lanes == 1)
    if (Expr folded = fold_index(op, a, b); !folded.empty()) return folded;
  if (t.is_bool() && t.lanes == 1 && (op == Op::logic_and || op == Op::logic_or)) {
    const bool neutral = op == Op::logic_and;
    std::int64_t x = 0;
    if (is_int(a, &x)) return (x != 0) == neutral ? b : a;
    if (is_int(b, &x)) return (x != 0) == neutral ? a : b;
    if (same(a, b)) return a;
  }
  const std::array<Expr, 2> args{a, b};
  return make(op, t, args, a.node()->where);
}

Expr unary(Op op, const Expr& a) {
  if (a.empty()) throw InternalError(std::string("empty operand of ") + op_name(op));
  std::int64_t x = 0;
  if (op == Op::neg && a.type().is_index() && is_int(a, &x)) return index(-x);
  if (op == Op::abs && a.type().is_index() && is_int(a, &x)) return index(x < 0 ? -x : x);
  if (op == Op::logic_not && a.type().lanes == 1 && is_int(a, &x)) return boolean(x == 0);
  if (op == Op::logic_not && is(a, Op::logic_not)) return args_of(a)[0];
  Type result = a.type();
  if (op == Op::isnan || op == Op::isinf) result = Type{Type::Code::boolean, 1, result.lanes, result.scalable};
  return make(op, result, std::span(&a, 1), a.node()->where);
}

Expr add(const Expr& a, const Expr& b) { return binary(Op::add, a, b); }
Expr sub(const Expr& a, const Expr& b) { return binary(Op::sub, a, b); }
Expr mul(const Expr& a, const Expr& b) { return binary(Op::mul, a, b); }
Expr div(const Expr& a, const Expr& b) { return binary(Op::div, a, b); }
Expr mod(const Expr& a, const Expr& b) { return binary(Op::mod, a, b); }
Expr ceil_div(const Expr& a, const Expr& b) { return div(add(a, sub(b, index(1))), b); }
Expr min(const Expr& a, const Expr& b) { return binary(Op::min, a, b); }
Expr max(const Expr& a, const Expr& b) { return binary(Op::max, a, b); }
Expr neg(const Expr& a) { return unary(Op::neg, a); }
Expr eq(const Expr& a, const Expr& b) { return binary(Op::eq, a, b); }
Expr ne(const Expr& a, const Expr& b) { return binary(Op::ne, a, b); }
Expr lt(const Expr& a, const Expr& b) { return binary(Op::lt, a, b); }
Expr le(const Expr& a, const Expr& b) { return binary(Op::le, a, b); }
Expr gt(const Expr& a, const Expr& b) { return binary(Op::gt, a, b); }
Expr ge(const Expr& a, const Expr& b) { return binary(Op::ge, a, b); }
Expr logic_and(const Expr& a, const Expr& b) { return binary(Op::logic_and, a, b); }
Expr logic_or(const Expr& a, const Expr& b) { return binary(Op::logic_or, a, b); }
Expr logic_not(const Expr& a) { return unary(Op::logic_not, a); }

Expr select(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  check_types(Op::select, if_true, if_false);
  std::int64_t c = 0;
  if (is_int(condition, &c)) return c ? if_true : if_false;
  const std::array<Expr, 3> args{condition, if_true, if_false};
  return make(Op::select, if_true.type(), args, condition.node()->where);
}

Expr cast(Type type, const Expr& e) {
  type.lanes = e.type().lanes;
  type.scalable = e.type().scalable;
  if (e.type() == type) return e;
  std::int64_t v = 0;
  if (type.is_index() && type.lanes == 1 && e.type().bits < 64 && is_int(e, &v)) return index(v);
  return make(Op::cast, type, std::span(&e, 1), e.node()->where);
}

Expr fma(const Expr& a, const Expr& b, const Expr& c) {
  check_types(Op::fma, a, b);
  check_types(Op::fma, a, c);
  const std::array<Expr, 3> args{a, b, c};
  return make(Op::fma, a.type(), args, a.node()->where);
}

Expr ramp(const Expr& base, const Expr& stride, int lanes) {
  check_types(Op::ramp, base, stride);
  const std::array<Expr, 2> args{base, stride};
  return make(Op::ramp, base.type().with_lanes(lanes), args, base.node()->where);
}

Expr broadcast(const Expr& e, int lanes) {
  if (lanes == 1) return e;
  return make(Op::broadcast, e.type().with_lanes(lanes), std::span(&e, 1), e.node()->where);
}

}  // namespace ashlar::ir
