// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bit>
#include <cmath>

#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

namespace {

constexpr const char* kTruncation = "a truncation that loses bits in spite of its attribute";
constexpr const char* kRange = "a float that the integer does not hold";

// Magnitude and sign to f64, with the last bit set where it is not exact: any shorter format rounds it correctly then.
double to_odd(u64 magnitude, bool negative) {
  const int spare = 64 - std::countl_zero(magnitude) - 53;
  double v = 0;
  if (spare <= 0) {
    v = static_cast<double>(magnitude);
  } else {
    const u64 rest = magnitude & mask_of(spare);
    v = std::ldexp(static_cast<double>(magnitude >> spare | (rest != 0 ? 1 : 0)), spare);
  }
  return negative ? -v : v;
}

u64 from_integer(u64 bits, int width, bool is_signed, Kind to, Rounding rounding) {
  const i64 s = signed_of(bits, width);
  const bool negative = is_signed && s < 0;
  const HostRounding mode(rounding);
  if (to == Kind::kF64) return rounded(is_signed ? static_cast<double>(s) : static_cast<double>(bits), to, rounding);
  return rounded(to_odd(negative ? ~static_cast<u64>(s) + 1 : bits, negative), to, rounding);
}

// Toward zero; what is too large becomes the nearest there is.
u64 to_integer(double v, int width, bool is_signed, bool& out_of_range) {
  out_of_range = false;
  if (std::isnan(v)) return 0;
  const double t = std::trunc(v);
  const double least = is_signed ? -std::ldexp(1.0, width - 1) : 0.0, above = std::ldexp(1.0, is_signed ? width - 1 : width);
  if (t < least || t >= above) {
    out_of_range = true;
    const u64 most = mask_of(is_signed ? width - 1 : width);
    return t < 0 ? (is_signed ? u64(1) << (width - 1) : 0) : most;
  }
  return (t < 0 ? static_cast<u64>(static_cast<i64>(t)) : static_cast<u64>(t)) & mask_of(width);
}

// What tileiras makes of ftof to formats of 8 bits (F2FP.SATFINITE): what is too large, infinity too, is the largest number.
double within(double v, Kind to) {
  const double most = to == Kind::kE4m3 ? 448 : to == Kind::kE5m2 ? 57344 : to == Kind::kE8m0 ? 0x1p127 : v;
  return std::fabs(v) > std::fabs(most) ? std::copysign(most, v) : v;
}

bool loses(u64 v, u64 overflow, int from, int to) {
  const u64 cut = v & mask_of(to);
  if ((overflow & 1) != 0 && signed_of(cut, to) != signed_of(v, from)) return true;
  return (overflow & 2) != 0 && cut != v;
}

}  // namespace

void convert(Run& r, const Op& op) {
  const Tile& x = r.tile(op, 0);
  const Kind from = x.type->element(), to = op.results[0]->element();
  const int from_bits = bits_of(from), to_bits = bits_of(to);
  const Code code = op.info->code;
  // Since 13.4 a flag says that ftoi saturates; before that it always did. Infinity was undefined from the start.
  const bool may_saturate = r.image.version.minor < 4 || op.flag(0);
  lanes(r, op, {&x}, [&](Tile& out, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      const u64 v = x.at(k);
      switch (code) {
        case Code::kExtI:
          out.bits[k] = op.number(0) != 0 ? static_cast<u64>(signed_of(v, from_bits)) & mask_of(to_bits) : v;
          break;
        case Code::kTruncI:
          out.bits[k] = v & mask_of(to_bits);
          if (loses(v, op.number(0), from_bits, to_bits) && !out.is_vague(k)) out.make_vague(k, kTruncation, &op);
          break;
        case Code::kIToF:
          out.bits[k] = from_integer(v, from_bits, op.number(0) != 0, to, static_cast<Rounding>(op.number(1)));
          break;
        case Code::kFToF: {
          const Rounding rounding = static_cast<Rounding>(op.number(0));
          const HostRounding mode(rounding);
          out.bits[k] = rounded(within(number_of(v, from), to), to, rounding);
          break;
        }
        case Code::kFToI: {
          bool outside = false;
          const double d = number_of(v, from);
          out.bits[k] = to_integer(d, to_bits, op.number(0) != 0, outside);
          if (((outside && !may_saturate) || (std::isinf(d) && !op.flag(0))) && !out.is_vague(k))
            out.make_vague(k, kRange, &op);
          break;
        }
        default:
          out.bits[k] = v;
          break;  // bitcast and pointers
      }
    }
  });
}

}  // namespace ashlar::tileir
