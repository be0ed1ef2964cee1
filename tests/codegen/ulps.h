#pragma once
// What the two halves of ashlar_ulps share: a function compiled to run over an array.
#include <vector>

#include <ashlar/codegen/jit.h>

#include "tests/codegen/kernels.h"
#include "tests/support/math_bounds.h"

namespace ulps_tool {

// out[i] = op(x[i]) for n elements, in vectors
inline ashlar::codegen::Compiled compiled(ashlar::ir::Op op, ashlar::Type t, const ashlar::Target& target, std::int64_t n) {
  using namespace ashlar;
  kernels::Maker m("ulps");
  const ir::Id in = m.tensor("x", t, {ir::index(n)}), out = m.tensor("y", t, {ir::index(n)}, true);
  const int lanes = target.lanes(t.bits < 32 ? f32 : t);
  const Expr i = ir::var(m.fresh(), "i"), first = ir::mul(i, ir::index(lanes));
  const Expr at = lanes == 1 ? first : ir::ramp(first, ir::index(1), lanes);
  const Expr x = m.load(in, at);
  m.k.body = {kernels::loop(i, ir::index(n / lanes), {kernels::store(out, at, ir::expand_math_call(op, std::span(&x, 1)))})};
  return codegen::compile(m.k, target);
}

void print_times(const std::vector<math_bounds::Function>&, const std::vector<ashlar::Type>&);

}  // namespace ulps_tool
