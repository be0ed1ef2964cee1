// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Exact integers of 128 bits, for results of integers of 64 bits.
#include <ashlar/ir/numeric.h>

namespace ashlar::ir {

__extension__ typedef __int128 Wide;

inline Wide wide(const Value& v) {
  return v.type.is_unsigned() ? static_cast<Wide>(static_cast<std::uint64_t>(v.i)) : static_cast<Wide>(v.i);
}

// The nearest number of the type.
inline Value clamped(Type to, Wide x) {
  const Wide low = to.is_unsigned() ? 0 : static_cast<Wide>(lowest_of(to));
  const Wide high =
      to.is_unsigned() ? static_cast<Wide>(static_cast<std::uint64_t>(highest_of(to))) : static_cast<Wide>(highest_of(to));
  return int_value(to, static_cast<std::int64_t>(static_cast<std::uint64_t>(x < low ? low : x > high ? high : x)));
}

}  // namespace ashlar::ir
