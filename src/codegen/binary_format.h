// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The narrow float formats, as back ends convert them with integer operations.
#include <cstdint>

#include <ashlar/ir/type.h>

namespace ashlar::codegen {

// A binary format held in an integer: `mantissa` stored bits, exponents biased by `bias`, what overflow turns into.
struct Format {
  int mantissa, bias;
  std::int64_t top;  // infinity, or the NaN of a format without infinities
  std::int64_t nan;
  double largest;
};

inline Format format_of(Type t) {
  switch (t.code) {
    case Type::Code::ieee:
      return {10, 15, 0x7C00, 0x7E00, 65504.0};
    case Type::Code::bfloat:
      return {7, 127, 0x7F80, 0x7FC0, 0x1.FEp127};
    case Type::Code::e4m3:
      return {3, 7, 0x7F, 0x7F, 448.0};
    default:
      return {2, 15, 0x7C, 0x7E, 57344.0};  // e5m2
  }
}

}  // namespace ashlar::codegen
