// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/elementwise.h>

namespace ashlar::ops {

Tensor neg(const Tensor& x, Where where) {
  return detail::map("neg", x, where, [](const Operand& e) { return -e; });
}
Tensor abs(const Tensor& x, Where where) {
  return detail::map("abs", x, where, [](const Operand& e) { return ashlar::abs(e); });
}
Tensor square(const Tensor& x, Where where) {
  return detail::map("square", x, where, [](const Operand& e) { return e * e; });
}
Tensor reciprocal(const Tensor& x, Where where) {
  return detail::map_float("reciprocal", x, where, [](const Operand& e) { return 1 / e; });
}
Tensor sign(const Tensor& x, Where where) {
  detail::expect_numbers("sign", "x", x, where);
  return detail::map("sign", x, where, [](const Operand& e) {
    const Type t = e.expr().type();
    return select(e > 0, t(1), t.is_unsigned() ? t(0) : select(e < 0, t(-1), e));
  });
}
Tensor logical_not(const Tensor& x, Where where) {
  detail::expect_type("logical_not", "x", x, bool_, where);
  return detail::map("logical_not", x, where, [](const Operand& e) { return !e.expr(); });
}
Tensor bitwise_not(const Tensor& x, Where where) {
  detail::expect_integer("bitwise_not", "x", x, where);
  return detail::map("bitwise_not", x, where, [](const Operand& e) { return ~e; });
}
Tensor cast(const Tensor& x, Type to, Where where) {
  return detail::map("cast", x, where, [&](const Operand& e) { return to(e); });
}
Tensor saturating_cast(const Tensor& x, Type to, Where where) {
  return detail::map("saturating_cast", x, where, [&](const Operand& e) { return saturate(to, e); });
}
Tensor clamp(const Tensor& x, Operand low, Operand high, Where where) {
  return detail::map("clamp", x, where, [&](const Operand& e) { return ashlar::clamp(e, low, high); });
}

Tensor lerp(const Tensor& a, const Tensor& b, Operand weight, Where where) {
  return detail::zip("lerp", a, b, where, [&](const Operand& x, const Operand& y) { return x + weight * (y - x); });
}
Tensor scale(const Tensor& x, Operand by, Where where) {
  return detail::map("scale", x, where, [&](const Operand& e) { return e * by; });
}
Tensor shift(const Tensor& x, Operand by, Where where) {
  return detail::map("shift", x, where, [&](const Operand& e) { return e + by; });
}

Tensor broadcast_to(const Tensor& x, const Shape& to, Where where) {
  detail::expect(to.rank() >= x.rank(where), "broadcast_to",
                 "a shape of at least the rank of x, " + std::to_string(x.rank(where)), "rank " + std::to_string(to.rank()),
                 where);
  for (int d = 0; d < x.rank(where); ++d) {
    const Expr own = x.extent(d, where), wanted = to[DimAt(to.rank() - x.rank(where) + d, where)];
    if (!ir::is_int(own, std::int64_t{1}) && !detail::same_extent(own, wanted))
      refuse("broadcast_to",
             "x whose dimension " + std::to_string(d) + " has the extent " + ir::text(wanted) + " or the number 1",
             ir::text(own), where);
  }
  return compute("broadcast_to", to, [&](Indices i) { return detail::aligned(x, i, where); }, where);
}

}  // namespace ashlar::ops
