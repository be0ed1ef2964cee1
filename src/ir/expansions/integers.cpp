// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers: shifts by any amount, minima, magnitudes, and counts of bits.
#include <algorithm>

#include "ir/expansions/expansions.h"
#include "ir/expansions/promised.h"
#include "ir/expansions/term.h"

namespace ashlar::ir::expansion {

std::optional<Interval> known_amount(const Applied& a) {
  auto v = a.values[1];
  if (!v) v = promised(a.args[1]);
  if (!v || v->low < 0) return std::nullopt;
  const std::int64_t most = a.type.bits + 1;
  return Interval{std::min(v->low, most), std::min(v->high, most)};
}

// Machines shift by amounts below the width, so an amount that is known to be below it stays as it is. A negative amount is
// read as unsigned: it shifts everything out, as the width and larger amounts do.
Expr shifted(const Applied& a) {
  const Term x = first(a);
  if (!x.type().is_integer()) return {};
  const Type natural = without_sign(x.type());
  const std::int64_t bits = x.type().bits;
  const bool keeps_sign = a.op == Op::shr && !x.type().is_unsigned();
  const auto of_width = [&](const Term& by) { return by.as(natural).within(0, bits); };
  const auto form = promised(a.args[1]), known = known_amount(a);
  if (form && form->low >= 0 && form->high < bits && a.args[1].type().bits == bits) return {};
  if (known && known->low >= bits) return keeps_sign ? (x >> static_cast<int>(bits - 1)).e : x.number(0).e;
  if (known && known->low == known->high) return x.with(a.op, x.number(known->low)).e;
  if (known && known->high < bits) return x.with(a.op, of_width(second(a))).e;
  const Term amount = second(a), given = amount.as(without_sign(amount.type()));
  const Term by = given.type().bits < bits ? given.as(natural) : given;
  if (keeps_sign) return x.with(a.op, of_width(min(by, by.number(bits - 1)))).e;
  const Term all = test(Op::ge, by, by.number(bits));
  return select(all, x.number(0), x.with(a.op, of_width(select(all, by.number(0), by)))).e;
}

Expr least(const Applied& a) {
  const Term x = first(a), y = second(a);
  return select(x < y, x, y).e;
}
Expr greatest(const Applied& a) {
  const Term x = first(a), y = second(a);
  return select(x > y, x, y).e;
}

Expr magnitude(const Applied& a) {
  const Term x = first(a);
  if (!x.type().is_integer()) return {};
  return x.type().is_unsigned() ? x.e : select(x < 0, x.with(Op::neg, x.type()), x).e;
}

namespace {

// By digits of 2, 4 and 8 bits, whose sums a product brings together in the topmost (H. Warren: Hacker's Delight, 5-1).
Term population(const Term& v) {
  const Term pairs = v - ((v >> 1) & 0x55555555);
  const Term fours = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333);
  const Term bytes = (fours + (fours >> 4)) & 0x0F0F0F0F;
  return (bytes * bytes.number(0x01010101)) >> 24;
}

Term count(Op op, const Term& v) { return v.with(op, v.type()); }

// Every bit below the first is set, and all are counted; of those below the last: ~v & (v - 1).
Expr of_word(Op op, const Term& v) {
  if (op == Op::popcount) return population(v).e;
  if (op == Op::ctz) return count(Op::popcount, ~v & (v - 1)).e;
  Term below = v;
  for (const int n : {1, 2, 4, 8, 16}) below = below | (below >> n);
  return (v.number(32) - count(Op::popcount, below)).e;
}

}  // namespace

// By those of words of 32 bits without a sign.
Expr counted_bits(const Applied& a) {
  const Term x = first(a);
  if (!x.type().is_integer()) return {};
  const Type t = x.type(), word = like(u32, t);
  if (t == word) return of_word(a.op, x);
  const Term natural = x.as(without_sign(t));
  if (t.bits == 64) {
    const Term low = natural.as(word), high = (natural >> 32).as(word);
    const Term in_low = count(a.op, low), in_high = count(a.op, high);
    if (a.op == Op::popcount) return (in_low + in_high).as(t).e;
    if (a.op == Op::clz) return select(high == 0, in_low + 32, in_high).as(t).e;
    return select(low == 0, in_high + 32, in_low).as(t).e;
  }
  const Term v = natural.as(word);
  if (t.bits == 32 || a.op == Op::popcount) return count(a.op, v).as(t).e;
  if (a.op == Op::clz) return (count(a.op, v) - (32 - t.bits)).as(t).e;
  return count(a.op, v | v.number(std::int64_t{1} << t.bits)).as(t).e;  // a bit behind the last ends the count
}

}  // namespace ashlar::ir::expansion
