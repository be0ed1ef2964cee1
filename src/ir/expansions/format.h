// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The float formats, as conversions by integer operations need them.
#include <cstdint>

#include <ashlar/ir/type.h>

namespace ashlar::ir {

// A binary format held in an integer: `mantissa` stored bits, exponents biased by `bias`, what overflow turns into.
struct Format {
  int mantissa, bias;
  std::int64_t top;  // infinity, or the NaN of a format without infinities
  std::int64_t nan;
};

constexpr Format format_of(Type t) {  // of narrow ones
  switch (t.code) {
    case Type::Code::ieee:
      return {10, 15, 0x7C00, 0x7E00};
    case Type::Code::bfloat:
      return {7, 127, 0x7F80, 0x7FC0};
    case Type::Code::e4m3:
      return {3, 7, 0x7F, 0x7F};
    default:
      return {2, 15, 0x7C, 0x7E};  // e5m2
  }
}

constexpr double largest_of(Type t) {  // finite
  switch (t.code) {
    case Type::Code::bfloat:
      return 0x1.FEp127;
    case Type::Code::e4m3:
      return 448;
    case Type::Code::e5m2:
      return 57344;
    default:
      return t.bits == 64 ? 0x1.FFFFFFFFFFFFFp1023 : t.bits == 32 ? 0x1.FFFFFEp127 : 65504;
  }
}

}  // namespace ashlar::ir
