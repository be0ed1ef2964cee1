// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of integers on bools, where false < true.
#include "ir/expansions/expansions.h"
#include "ir/expansions/term.h"

namespace ashlar::ir::expansion {
namespace {

bool of_bools(const Applied& a) { return a.args[0].type().is_bool(); }
Expr joined(const Applied& a, Op op) { return of_bools(a) ? first(a).with(op, second(a)).e : Expr(); }
Term opposite(const Term& c) { return c.with(Op::logic_not, c.type()); }

}  // namespace

Expr and_of_bools(const Applied& a) { return joined(a, Op::logic_and); }
Expr or_of_bools(const Applied& a) { return joined(a, Op::logic_or); }
Expr xor_of_bools(const Applied& a) { return joined(a, Op::ne); }
Expr not_of_bool(const Applied& a) { return of_bools(a) ? opposite(first(a)).e : Expr(); }
Expr lt_of_bools(const Applied& a) { return of_bools(a) ? both(opposite(first(a)), second(a)).e : Expr(); }
Expr le_of_bools(const Applied& a) { return of_bools(a) ? either(opposite(first(a)), second(a)).e : Expr(); }
Expr gt_of_bools(const Applied& a) { return of_bools(a) ? both(first(a), opposite(second(a))).e : Expr(); }
Expr ge_of_bools(const Applied& a) { return of_bools(a) ? either(first(a), opposite(second(a))).e : Expr(); }

}  // namespace ashlar::ir::expansion
