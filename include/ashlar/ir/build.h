// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Building and walking expressions, for the compiler itself. Nothing is converted here: the types of operands must already
// agree (the language's operators in lang/expr.h adopt types and refuse). A mistake is an InternalError.
//
//   Expr e = ir::add(ir::mul(x, ir::index(4)), y);    // index arithmetic folds constants and neutral elements at once
//   Expr f = ir::substitute(e, {{x_id, ir::index(3)}});
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ashlar/ir/expr.h>
#include <ashlar/ir/function_ref.h>

namespace ashlar::ir {

const char* intern(std::string_view name);  // lives as long as the process

// Ids that are unique in the process and never reach any output. A proof may put them into expressions of a Program, as a
// second copy of a variable. The Program's own ids count from 1 and never reach this range.
inline constexpr Id first_of_process = Id{1} << 32;
Id fresh_id();

Expr make(Op, Type, std::span<const Expr> args, Where = Where::current());  // any operator node, no folding
Expr int_const(Type, std::int64_t value, Where = Where::current());         // wraps to the type
Expr float_const(Type, double value, Where = Where::current());             // rounds to the type
Expr boolean(bool value);
Expr index(std::int64_t value);
Expr var(Id, std::string_view name, Type = index_type, Where = Where::current());
Expr load(Id buffer, std::string_view buffer_name, Type, std::span<const Expr> indices, Where = Where::current());

// The result has the type of the operands, which must agree. Constants of index and bool type fold, as do x + 0, x * 1, x * 0,
// x / 1, x % 1, min(x, x), true && x, select(true, …).
Expr add(const Expr&, const Expr&);
Expr sub(const Expr&, const Expr&);
Expr mul(const Expr&, const Expr&);
Expr div(const Expr&, const Expr&);
Expr mod(const Expr&, const Expr&);       // floor
Expr ceil_div(const Expr&, const Expr&);  // index only
Expr min(const Expr&, const Expr&);
Expr max(const Expr&, const Expr&);
Expr neg(const Expr&);
Expr eq(const Expr&, const Expr&);
Expr ne(const Expr&, const Expr&);
Expr lt(const Expr&, const Expr&);
Expr le(const Expr&, const Expr&);
Expr gt(const Expr&, const Expr&);
Expr ge(const Expr&, const Expr&);
Expr logic_and(const Expr&, const Expr&);
Expr logic_or(const Expr&, const Expr&);
Expr logic_not(const Expr&);
Expr select(const Expr& condition, const Expr& if_true, const Expr& if_false);
Expr cast(Type, const Expr&);
Expr fma(const Expr& a, const Expr& b, const Expr& c);
Expr unary(Op, const Expr&);
Expr binary(Op, const Expr&, const Expr&);  // any operator by its Op, folding as above
Expr ramp(const Expr& base, const Expr& stride, int lanes);
Expr broadcast(const Expr&, int lanes);

// Reading nodes
inline bool is(const Expr& e, Op op) { return e.node() && e.node()->op == op; }
inline Op op_of(const Expr& e) { return e.node()->op; }
inline std::span<const Expr> args_of(const Expr& e) { return {e.node()->args, e.node()->count}; }
bool is_int(const Expr&, std::int64_t* value = nullptr);  // an int_const of integer, index or bool type
bool is_int(const Expr&, std::int64_t value);
bool same(const Expr&, const Expr&);  // structural equality
std::uint64_t hash_of(const Expr&);
const char* op_name(Op);  // "add", "select", ...; unique
bool is_commutative(Op);
bool is_comparison(Op);

struct ExprHash {
  std::size_t operator()(const Expr& e) const { return static_cast<std::size_t>(hash_of(e)); }
};
struct ExprSame {
  bool operator()(const Expr& a, const Expr& b) const { return same(a, b); }
};

// Walking. Shared nodes are visited once (memoized on pointers).
using Substitution = std::vector<std::pair<Id, Expr>>;
Expr substitute(const Expr&, const Substitution& variables);  // all at once
Expr rebuild(const Expr& e, std::span<const Expr> new_args);  // same op, new operands; folds
Expr transform(const Expr&,
               FunctionRef<Expr(const Expr&)> after_children);  // bottom-up; return the node itself to keep it
void walk(const Expr&, FunctionRef<bool(const Expr&)> enter);   // top-down; false: do not descend
bool uses_var(const Expr&, Id);
const char* name_of_var(Id, std::span<const Expr>);  // its name in these expressions; empty if they do not use it
std::vector<Id> free_vars(const Expr&);              // in order of first appearance
std::size_t node_count(const Expr&);

}  // namespace ashlar::ir
