// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// How large a Symbol may be in a call. Where addresses have 32 bits no memory has more elements than they count, so an extent
// of more is refused at entry, and code may count in 32 bits. What is left out at the upper end is for tiles that are rounded
// up.
#include <algorithm>
#include <cstdint>

#include <ashlar/ir/program.h>

namespace ashlar::codegen {

inline constexpr std::int64_t most_in_32_bits = (std::int64_t{1} << 31) - (std::int64_t{1} << 16);

inline std::int64_t most_of(const ir::Symbol& s, std::size_t pointer_bytes) {
  return pointer_bytes == 4 ? std::min(s.max, most_in_32_bits) : s.max;
}

}  // namespace ashlar::codegen
