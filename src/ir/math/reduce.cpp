// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// x = n pi/2 + r with |r| <= pi/4 (a little more near the ends), r as a sum of two floats, for x >= 0.
//
// Up to `quick_limit` by a three-part pi/2 and fma (Cody and Waite). Beyond by the bits of 2/pi that matter for the exponent of
// x (M. Payne, R. Hanek: Radian reduction for trigonometric functions, SIGNUM Newsletter 18, 1983): x = m 2^s with an integer
// m, and of 2^s 2/pi only the bits below weight 4 are wanted. They are cut out of the constant, multiplied by m modulo 4 in
// integers of 32 bits, and the fraction goes back to floats.
#include <array>
#include <vector>

#include "ir/math/kit.h"

namespace ashlar::ir::math {
namespace {

// 32 zero bits, then those of 2/pi behind its point: as many as 2^971 (the last place of the largest double) needs, and six
// words.
constexpr std::uint32_t kTwoOverPi[] = {
    0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a,
    0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639,
    0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66,
    0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};

// Unsigned integers of 32 bits, one for each lane of a kit.
class Words {
 public:
  explicit Words(const Kit& k) : type_{Type::Code::unsigned_, 32, k.type.lanes, k.type.scalable} {}

  Expr c(std::int64_t x) const {
    const Expr e = int_const(type_.element(), x);
    return type_.lanes == 1 ? e : broadcast(e, type_.lanes);
  }
  Expr from(const Expr& bits) const { return cast(type_, bits); }
  Expr shl(const Expr& x, const Expr& by) const { return binary(Op::shl, x, by); }
  Expr shr(const Expr& x, const Expr& by) const { return binary(Op::shr, x, by); }
  Expr shl(const Expr& x, int by) const { return shl(x, c(by)); }
  Expr shr(const Expr& x, int by) const { return shr(x, c(by)); }
  Expr both(const Expr& x, const Expr& y) const { return binary(Op::bit_or, x, y); }
  Expr low_bits(const Expr& x, std::int64_t mask) const { return binary(Op::bit_and, x, c(mask)); }
  Expr bit(const Expr& x, int which) const { return ne(low_bits(x, std::int64_t{1} << which), c(0)); }
  // the sum of terms, and added to *carry what it passes on
  Expr sum(std::vector<Expr> terms, Expr* carry) const {
    Expr s = terms.front();
    for (std::size_t k = 1; k < terms.size(); ++k) {
      s = add(s, terms[k]);
      const Expr over = select(lt(s, terms[k]), c(1), c(0));
      *carry = carry->empty() ? over : add(*carry, over);
    }
    return s;
  }
  Type type() const { return type_; }

 private:
  Type type_;
};

// `count` words of the bits of 2/pi from `at` on
std::vector<Expr> cut(const Words& w, const Expr& at, int count, int levels) {
  std::vector<Expr> have;
  int needed = count;  // one more than `count` words, and as many as the levels below may skip
  for (int l = 0; l < levels; ++l) needed += 1 << l;
  for (int k = 0; k <= needed; ++k) have.push_back(w.c(k < int(std::size(kTwoOverPi)) ? kTwoOverPi[k] : 0));
  for (int l = levels - 1; l >= 0; --l) {
    const Expr skip = w.bit(at, 5 + l);
    const std::size_t step = std::size_t{1} << l;
    for (std::size_t k = 0; k + step < have.size(); ++k) have[k] = select(skip, have[k + step], have[k]);
    have.resize(have.size() - step);
  }
  const Expr left = w.low_bits(at, 31), right = sub(w.c(31), left);
  std::vector<Expr> found;
  for (int k = 0; k < count; ++k) {
    const auto i = static_cast<std::size_t>(k);
    found.push_back(w.both(w.shl(have[i], left), w.shr(w.shr(have[i + 1], 1), right)));
  }
  return found;
}

// The fraction behind the point of a signed number in words, most significant first, as a sum of two floats; exact except for
// words past the last bits of the second.
Pair to_floats(const Kit& k, const Words& w, const std::vector<Expr>& f) {
  const Type integer{Type::Code::signed_, 32, k.type.lanes, k.type.scalable};
  const auto as_signed = [&](const Expr& x) { return cast(k.type, make(Op::bitcast, integer, {&x, 1})); };
  if (k.wide) {  // 32 bits a piece
    const auto piece = [&](int i, double unit) { return mul(cast(k.type, f[static_cast<std::size_t>(i)]), k.c(unit)); };
    const Pair top = k.fast_sum(mul(as_signed(f[0]), k.c(0x1p-32)), piece(1, 0x1p-64));
    const Pair middle = k.fast_sum(top.lo, piece(2, 0x1p-96));
    const Pair sum = k.fast_sum(top.hi, middle.hi);
    return k.fast_sum(sum.hi, add(sum.lo, add(middle.lo, piece(3, 0x1p-128))));
  }
  // 24 bits a piece
  const Expr first = cast(k.type, binary(Op::shr, make(Op::bitcast, integer, {&f[0], 1}), cast(integer, w.c(8))));
  const Expr second = as_signed(w.both(w.shl(w.low_bits(f[0], 0xff), 16), w.shr(f[1], 16)));
  const Expr third = as_signed(w.both(w.shl(w.low_bits(f[1], 0xffff), 8), w.shr(f[2], 24)));
  const Pair sum = k.fast_sum(mul(first, k.c(0x1p-24)), mul(second, k.c(0x1p-48)));
  return k.fast_sum(sum.hi, k.fma(third, k.c(0x1p-72), sum.lo));
}

}  // namespace

double half_pi_part(const Kit& k, int part) {
  constexpr double single[] = {0x1.921fb6p0, -0x1.777a5cp-25, -0x1.ee59dap-50};
  constexpr double twice[] = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
  return (k.wide ? twice : single)[part];
}

Circle reduce_quickly(const Kit& k, const Expr& x) {
  const Expr t = k.fma(x, k.c(k.wide ? 0x1.45f306dc9c883p-1 : 0x1.45f306p-1), k.c(k.magic()));
  const Expr n = sub(t, k.c(k.magic()));
  const Expr first = k.fma(n, k.c(-half_pi_part(k, 0)), x);  // exact: a multiple of the last place of pi/2, and below 1
  const Pair second = k.product(n, k.c(half_pi_part(k, 1)));
  const Pair r = k.sum(first, neg(second.hi));
  return {{r.hi, k.fma(n, k.c(-half_pi_part(k, 2)), sub(r.lo, second.lo))}, k.bits(t)};
}

Circle reduce_any(const Kit& k, const Expr& x) {
  const Words w(k);
  const Expr bits = k.bits(x);
  const Expr exponent = w.from(binary(Op::shr, bits, k.ci(k.mantissa())));
  // s + 30 with s = exponent - bias - mantissa: where, in the constant with its 32 zeros, the bit of weight 2 stands
  const Expr at = sub(exponent, w.c(k.bias() + k.mantissa() - 30));
  const int count = k.wide ? 6 : 3;
  const std::vector<Expr> d = cut(w, at, count, k.wide ? 5 : 3);
  std::vector<Expr> m;  // the significand in words, least significant first
  if (k.wide) {
    m.push_back(w.from(bits));
    m.push_back(w.both(w.low_bits(w.from(binary(Op::shr, bits, k.ci(32))), 0xfffff), w.c(0x100000)));
  } else {
    m.push_back(w.both(w.low_bits(w.from(bits), 0x7fffff), w.c(0x800000)));
  }
  // m d modulo 2^(32 count), a column at a time, the lowest first
  std::vector<Expr> product(d.size());
  Expr carry;
  for (int column = count - 1; column >= 0; --column) {
    std::vector<Expr> terms;
    if (!carry.empty()) terms.push_back(carry);
    for (int i = 0; i < int(m.size()); ++i) {
      const Expr& part = m[static_cast<std::size_t>(i)];
      if (column + i < count) terms.push_back(mul(part, d[static_cast<std::size_t>(column + i)]));
      if (column + i + 1 < count) terms.push_back(binary(Op::mul_high, part, d[static_cast<std::size_t>(column + i + 1)]));
    }
    carry = {};
    product[static_cast<std::size_t>(column)] = w.sum(terms, &carry);
  }
  // Two bits before the point: they and the first behind it give n, rounded to nearest; the rest is the fraction, signed.
  const Expr n = w.shr(add(product[0], w.c(0x20000000)), 30);
  std::vector<Expr> fraction;
  for (std::size_t i = 0; i + 1 < product.size(); ++i)
    fraction.push_back(w.both(w.shl(product[i], 2), w.shr(product[i + 1], 30)));
  fraction.push_back(w.shl(product.back(), 2));
  const Pair f = to_floats(k, w, fraction);
  const Expr one = k.c(half_pi_part(k, 0));
  const Pair r = k.product(f.hi, one);
  return {{r.hi, add(r.lo, k.fma(f.hi, k.c(half_pi_part(k, 1)), mul(f.lo, one)))}, cast(k.bits_type, n)};
}

}  // namespace ashlar::ir::math
