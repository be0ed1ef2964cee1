// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Hints to the assembler of tiles (docs/tiles.md, "Hints"). A hint changes no value. It holds for one chip, or for every chip
// that has none of its own.
#include <cstdint>
#include <string>
#include <string_view>

#include <ashlar/ir/expr.h>

namespace ashlar::ir {

enum class HintKind {
  occupancy,     // of a launch: how many of its blocks run on a multiprocessor at once
  cluster,       // of a launch: how many blocks cooperate
  worker_warps,  // of a launch: how many warps of a block compute
  latency,       // of loads and stores: how long one takes, from 1 to 10; long ones are made further ahead
  tma,           // of loads and stores: whether the hardware unit for copies of tiles may make them, 0 or 1
};

struct Hint {
  HintKind kind = HintKind::occupancy;
  std::int64_t value = 0;
  std::string chip;  // "sm_90"; empty: every chip
  friend bool operator==(const Hint&, const Hint&) = default;
};

std::string_view hint_name(HintKind);
inline bool of_launch(HintKind k) { return k <= HintKind::worker_warps; }
// "a power of two from 1 to 16 as cluster": what was expected instead of a value that the chip does not
// take. Empty if it takes the value.
std::string hint_expected(const Hint&);
std::string text(const Hint&);  // "occupancy 2 for sm_90"

// A hint in a schedule: about the launch that computes `stage`, or about the elements of a buffer that this launch loads or
// stores.
struct TileHint {
  Hint hint;
  Id stage = 0;
  Id buffer = 0;  // latency, tma
  Where where = {};
};

}  // namespace ashlar::ir
