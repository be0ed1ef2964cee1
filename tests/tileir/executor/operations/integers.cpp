// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers: they wrap around; what an attribute or the specification excludes makes the element undefined.
#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

namespace {

__extension__ using Wide = __int128;

constexpr const char* kDivision = "a division by zero, or of the least number by -1";
constexpr const char* kShift = "a shift by as many bits as there are, or more";
constexpr const char* kOverflow = "an overflow in spite of its attribute";

// Whether the exact result overflows in a way that the attribute (1: not signed, 2: not unsigned, 3: neither) excludes.
bool excluded(u64 overflow, Wide as_signed, Wide as_unsigned, int bits) {
  const Wide one = 1;
  if ((overflow & 1) != 0 && (as_signed < -(one << (bits - 1)) || as_signed >= one << (bits - 1))) return true;
  return (overflow & 2) != 0 && (as_unsigned < 0 || as_unsigned >= one << bits);
}

Wide divided(Wide a, Wide b, u64 rounding) {  // 1: to zero, 2: down, 3: up
  const Wide q = a / b, rest = a % b;
  if (rest == 0) return q;
  const bool negative = (rest < 0) != (b < 0);
  if (rounding == 2 && negative) return q - 1;
  if (rounding == 3 && !negative) return q + 1;
  return q;
}

struct Lane {
  u64 a, b;
  int bits;
  u64 attribute;  // overflow or signedness
  u64 rounding;
  const char* why = nullptr;  // set: the result is undefined

  Wide sa() const { return signed_of(a, bits); }
  Wide sb() const { return signed_of(b, bits); }
  Wide ua() const { return a; }
  Wide ub() const { return b; }
  Wide va() const { return attribute != 0 ? sa() : ua(); }
  Wide vb() const { return attribute != 0 ? sb() : ub(); }

  Wide checked(Wide as_signed, Wide as_unsigned) {
    if (attribute != 0 && excluded(attribute, as_signed, as_unsigned, bits)) why = kOverflow;
    return as_unsigned;
  }
  Wide division(bool rest) {
    if (b == 0 || (attribute != 0 && sb() == -1 && sa() == -(Wide(1) << (bits - 1)))) {
      why = kDivision;
      return 0;
    }
    return rest ? va() % vb() : divided(va(), vb(), rounding);
  }
  Wide shift(bool left) {
    if (b >= static_cast<u64>(bits)) {
      why = kShift;
      return 0;
    }
    const int n = static_cast<int>(b);
    if (left) return checked(sa() * (Wide(1) << n), ua() * (Wide(1) << n));
    return va() >> n;
  }
};

Wide result(Code code, Lane& l) {
  switch (code) {
    case Code::kAddI:
      return l.checked(l.sa() + l.sb(), l.ua() + l.ub());
    case Code::kSubI:
      return l.checked(l.sa() - l.sb(), l.ua() - l.ub());
    case Code::kMulI: {
      // Of 64 bits the unsigned product needs 128 bits without a sign: what is above 64 bits is all that is asked.
      __extension__ using Unsigned = unsigned __int128;
      const Unsigned p = static_cast<Unsigned>(l.a) * l.b;
      const Wide low = static_cast<Wide>(static_cast<u64>(p)), high = static_cast<Wide>(static_cast<u64>(p >> 64));
      l.checked(l.sa() * l.sb(), high != 0 ? Wide(1) << 64 : low);
      return low;
    }
    case Code::kMulhiI: {
      __extension__ using Unsigned = unsigned __int128;
      return static_cast<Wide>(static_cast<Unsigned>(l.a) * l.b >> l.bits);
    }
    case Code::kDivI:
      return l.division(false);
    case Code::kRemI:
      return l.division(true);
    case Code::kMaxI:
      return l.va() > l.vb() ? l.va() : l.vb();
    case Code::kMinI:
      return l.va() < l.vb() ? l.va() : l.vb();
    case Code::kAndI:
      return l.ua() & l.ub();
    case Code::kOrI:
      return l.ua() | l.ub();
    case Code::kXorI:
      return l.ua() ^ l.ub();
    case Code::kShlI:
      return l.shift(true);
    case Code::kShrI:
      return l.shift(false);
    case Code::kAbsI:
      return l.sa() < 0 ? -l.sa() : l.sa();
    default:  // negi
      if ((l.attribute & 1) != 0 && l.sa() == -(Wide(1) << (l.bits - 1))) l.why = kOverflow;
      return -l.sa();
  }
}

}  // namespace

void integers(Run& r, const Op& op) {
  const Tile &x = r.tile(op, 0), &y = op.operands.size() > 1 ? r.tile(op, 1) : x;
  const int bits = bits_of(x.type->element());
  const int overflow = op.info->attribute("overflow"), sign = op.info->attribute("signedness"),
            rounding = op.info->attribute("rounding");
  const u64 attribute = overflow >= 0 ? op.number(overflow) : sign >= 0 ? op.number(sign) : 0;
  const u64 round = rounding >= 0 ? op.number(rounding) : 1;
  const Code code = op.info->code;
  lanes(r, op, {&x, &y}, [&](Tile& out, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      Lane l{x.at(k), y.at(k), bits, attribute, round, nullptr};
      out.bits[k] = static_cast<u64>(result(code, l)) & mask_of(bits);
      if (l.why != nullptr && !out.is_vague(k)) out.make_vague(k, l.why, &op);
    }
  });
}

void compare_integers(Run& r, const Op& op) {
  const Tile &x = r.tile(op, 0), &y = r.tile(op, 1);
  const int bits = bits_of(x.type->element());
  const u64 predicate = op.number(0);
  const bool is_signed = op.number(1) != 0;
  lanes(r, op, {&x, &y}, [&](Tile& out, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      const u64 a = x.at(k), b = y.at(k);
      const bool less = is_signed ? signed_of(a, bits) < signed_of(b, bits) : a < b;
      const bool holds[] = {a == b, a != b, less, less || a == b, !less && a != b, !less};
      out.bits[k] = holds[predicate] ? 1 : 0;
    }
  });
}

}  // namespace ashlar::tileir
