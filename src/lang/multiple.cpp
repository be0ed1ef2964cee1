// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/lang/multiple.h>

#include <numeric>

#include <ashlar/ir/build.h>

#include <ashlar/lang/definition.h>

namespace ashlar {
namespace {

// The largest number seen to divide e; 0 for 0, which every number divides.
std::int64_t divisor(const Expr& e) {
  std::int64_t v = 0;
  if (ir::is_int(e, &v)) return v == INT64_MIN ? 1 : v < 0 ? -v : v;
  if (ir::is(e, ir::Op::var)) {
    const lang::VariableDef* d = lang::find_variable(e.node()->id);
    return d && d->kind == lang::VariableDef::Kind::symbol ? d->facts.multiple_of : 1;
  }
  if (ir::is(e, ir::Op::add) || ir::is(e, ir::Op::sub)) {
    std::int64_t g = 0;
    for (const Expr& a : ir::args_of(e)) g = std::gcd(g, divisor(a));
    return g;
  }
  if (ir::is(e, ir::Op::mul)) {
    std::int64_t product = 1;
    for (const Expr& a : ir::args_of(e)) {
      const std::int64_t one = divisor(a);
      if (__builtin_mul_overflow(product, one, &product)) return one;
    }
    return product;
  }
  if (ir::is(e, ir::Op::div) && ir::is_int(ir::args_of(e)[1], &v) && v >= 1) {
    const std::int64_t whole = divisor(ir::args_of(e)[0]);
    return whole % v == 0 ? whole / v : 1;
  }
  return 1;
}

}  // namespace

bool is_multiple(const Expr& e, std::int64_t of) { return divisor(e) % of == 0; }

}  // namespace ashlar
