// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Scalable vectors: `vscale` times as many lanes as are written, n * vscale, where the machine determines vscale. It is one
// number for a whole run, a variable that every program and kernel may use without defining it: 1 to 16, a power of two on all
// existing machines.
//
//   for ji in vscale * 4 vectorized         lanes of <vscale x 4>, one an iteration
#include <cstdint>
#include <optional>

#include <ashlar/ir/build.h>

namespace ashlar::ir {

inline constexpr Id vscale_id = Id{1} << 58;  // out of reach of the ids of programs and of passes
inline constexpr std::int64_t max_vscale = 16;

inline Expr vscale() { return var(vscale_id, "vscale"); }

// n if the extent is n * vscale.
inline std::optional<std::int64_t> scalable_lanes(const Expr& extent) {
  if (is(extent, Op::var) && extent.node()->id == vscale_id) return 1;
  if (!is(extent, Op::mul)) return std::nullopt;
  const auto args = args_of(extent);
  for (const int k : {0, 1}) {
    std::int64_t n = 0;
    if (is_int(args[static_cast<std::size_t>(k)], &n) && scalable_lanes(args[static_cast<std::size_t>(1 - k)]) == 1) return n;
  }
  return std::nullopt;
}

// A vector type with as many lanes.
constexpr Type like(Type element, Type vector) { return {element.code, element.bits, vector.lanes, vector.scalable}; }

}  // namespace ashlar::ir
