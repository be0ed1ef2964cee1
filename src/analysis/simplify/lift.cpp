// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data integers as indices. A question about an index that is read from data takes the arithmetic apart where no value can
// wrap, one operator at a time, down to what is read:
//
//   index(min(max(k, 0), i64(N) - 1) / 2)      min(max(index(k), 0), N - 1) / 2
//   index(k + 250)      where k is a u8 from 0 to 9: stays, since it wraps
//
// Invariant: what comes out has the same value as what went in, for all values that the facts allow. An index is of 64 bits
// (docs/ir.md), so that to convert one to i64 or u64 and back gives it again; an index keeps the bits of a u64, so that those
// from 2^63 are not numbers, and only what lies below is taken apart.
#include <ashlar/analysis/wraps.h>

#include <algorithm>
#include <array>

#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>

#include "analysis/simplify/engine.h"
#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

bool is_wide(Type t) { return t.is_index() || (t.is_data_integer() && t.bits == 64); }

// The number of the type that is nearest to an index.
Expr within_type(const Expr& x, Type t) {
  if (t.bits == 64) return t.is_unsigned() ? ir::max(x, ir::index(0)) : x;
  return ir::max(ir::min(x, ir::index(ir::highest_of(t))), ir::index(ir::lowest_of(t)));
}

}  // namespace

Expr Engine::index_of(const Expr& data) {
  const Type t = data.node()->type;
  if (t.is_index()) return data;
  if (ir::is(data, Op::int_const)) return ir::index(data.node()->i);
  const auto [it, added] = index_of_.try_emplace(data.node());
  if (added) it->second = t.is_bool() ? ir::select(data, ir::index(1), ir::index(0)) : ir::cast(ir::index_type, data);
  return it->second;
}

// Is the number the same as an index? A u64 from 2^63 is not.
bool Engine::is_index_value(const Expr& data) { return data_range(data).hi <= INT64_MAX; }

Expr Engine::lifted(const Expr& cast) {
  const Expr& e = ir::args_of(cast)[0];
  const ir::Node* n = e.node();
  if (!n->type.is_data_integer() || n->type.lanes != 1) return {};
  const Expr* a = n->args;
  switch (n->op) {
    case Op::int_const:
      return index_of(e);
    case Op::select:
      return ir::select(a[0], index_of(a[1]), index_of(a[2]));
    case Op::cast:
    case Op::bitcast:
      if (is_wide(n->type) && is_wide(a[0].node()->type)) return index_of(a[0]);
      if (!exact_range(e)) return {};
      return is_index_value(a[0]) ? index_of(a[0]) : Expr();
    case Op::in_range:
      return is_index_value(a[1]) && is_index_value(a[2])
                 ? ir::make(Op::in_range, ir::index_type, std::array{index_of(a[0]), index_of(a[1]), index_of(a[2])})
                 : Expr();
    case Op::min:  // with a u64 that may lie beyond all indices: then the other one
      for (const int k : {0, 1})
        if (!is_index_value(a[k]) && is_index_value(a[1 - k])) {
          const Expr x = index_of(a[k]);
          Expr y = index_of(a[1 - k]);
          const DataRange of_x = data_range(a[k]);
          if (of_x.lo > INT64_MAX) return y;
          const Expr least = ir::index(static_cast<std::int64_t>(of_x.lo));
          return ir::select(ir::lt(x, ir::index(0)), y, ir::min(ir::max(x, least), y));
        }
      return lifted_arithmetic(e);
    default:
      return lifted_arithmetic(e);
  }
}

Expr Engine::lifted_arithmetic(const Expr& e) {
  const ir::Node* n = e.node();
  const Expr* a = n->args;
  for (std::uint32_t k = 0; k < n->count; ++k)
    if (!a[k].node()->type.is_data_integer() || !is_index_value(a[k])) return {};
  if (n->count == 0 || !ir::operation(n->op).laws.pure) return {};
  const auto x = [&] { return index_of(a[0]); };
  const auto y = [&] { return index_of(a[1]); };
  const auto is_natural = [&](const Expr& v) { return data_range(v).lo >= 0; };
  switch (n->op) {
    case Op::min:
    case Op::max:
    case Op::mod:  // by 0 it is 0, and of the divisor's sign, in either
      return ir::binary(n->op, x(), y());
    case Op::trunc_rem:
      return is_natural(a[0]) && is_natural(a[1]) ? ir::mod(x(), y()) : Expr();
    case Op::add_sat:
    case Op::sub_sat:
      if (n->type.bits > 32) return {};
      return within_type(ir::binary(n->op == Op::add_sat ? Op::add : Op::sub, x(), y()), n->type);
    case Op::saturate:
      return within_type(x(), n->type);
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::bit_not:
    case Op::shr:
      return lifted_bits(e);
    default:
      break;
  }
  const auto exact = exact_range(e);
  if (!exact || exact->hi > INT64_MAX) return {};
  switch (n->op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
      return ir::binary(n->op, x(), y());
    case Op::neg:
      return ir::neg(x());
    case Op::abs:
      return ir::unary(Op::abs, x());
    case Op::trunc_div:
      return is_natural(a[0]) && is_natural(a[1]) ? ir::div(x(), y()) : Expr();
    case Op::shl:
      return n->args[1].node()->op == Op::int_const && n->args[1].node()->i <= 62
                 ? ir::mul(x(), ir::index(std::int64_t{1} << n->args[1].node()->i))
                 : Expr();
    case Op::halving_add:
      return n->type.bits <= 32 ? ir::div(ir::add(x(), y()), ir::index(2)) : Expr();
    case Op::abs_diff:
      return n->type.bits <= 32 ? ir::unary(Op::abs, ir::sub(x(), y())) : Expr();
    default:
      return {};
  }
}

Expr Engine::lifted_bits(const Expr& e) {
  const ir::Node* n = e.node();
  const Expr x = index_of(n->args[0]);
  if (n->op == Op::bit_not) return n->type.is_signed() ? ir::sub(ir::index(-1), x) : Expr();
  if (n->op == Op::shr) {
    const Expr& by = n->args[1];
    const bool known = ir::is(by, Op::int_const) && by.node()->i >= 0 && by.node()->i < std::min<int>(n->type.bits, 63);
    return known ? ir::div(x, ir::index(std::int64_t{1} << by.node()->i)) : Expr();
  }
  return ir::binary(n->op, x, index_of(n->args[1]));
}

bool Engine::may_wrap(const Expr& e) {
  const ir::Node* n = e.node();
  if (!n->type.is_data_integer() || n->type.lanes != 1) return false;
  switch (n->op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::neg:
    case Op::shl:
      return !exact_range(e);
    case Op::cast:
      return n->args[0].node()->type.is_data_integer() && !exact_range(e);
    default:
      return false;
  }
}

std::string wraps_where(const Expr& index, const Facts& facts) {
  Engine engine(facts);
  Expr part;
  ir::walk(index, [&](const Expr& e) {
    if (part.empty() && engine.may_wrap(e)) part = e;
    return part.empty() && !ir::is(e, Op::load);
  });
  if (part.empty()) return {};
  const Type t = part.type();
  std::string s = ", where " + ir::text(part) + " may wrap in " + ir::text(t);
  if (t.bits < 32 && !ir::is(part, Op::cast)) s += " (convert before: i32(x))";
  return s;
}

}  // namespace ashlar::analysis
