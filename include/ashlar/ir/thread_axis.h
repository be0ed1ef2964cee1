// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Thread axes: the parts of a launch to which a loop can be bound.
//
//   block_x, block_y, block_z      the blocks of a grid
//   cluster_x                      the blocks of a cluster
//   thread_x, thread_y, thread_z   the threads of a block; x runs fastest
//   warp, lane                     the same threads, as warps of lanes
//   threads                        all threads of the block, flattened, however many the rest of the schedule makes: for
//                                  cooperative copies. A longer loop runs in strides of that number
//
// A launch has one shape, so it uses either thread axes or warp and lane.
#include <cstdint>

namespace ashlar {

struct ThreadAxis {
  std::uint8_t level = 0, dim = 0;
  friend constexpr bool operator==(ThreadAxis, ThreadAxis) = default;
};

namespace gpu {
inline constexpr ThreadAxis block_x{0, 0}, block_y{0, 1}, block_z{0, 2};
inline constexpr ThreadAxis thread_x{1, 0}, thread_y{1, 1}, thread_z{1, 2};
inline constexpr ThreadAxis warp{2, 0}, lane{3, 0}, cluster_x{4, 0}, threads{5, 0};

// For a vectorized loop: each call tests whether the rows that it accesses begin at multiples of a vector (Stage::vectorize).
struct AnyAlignment {};
inline constexpr AnyAlignment any_alignment{};
}  // namespace gpu

namespace ir {

// Whether the axis counts blocks of the grid. Otherwise it counts threads of a block.
constexpr bool is_block(ThreadAxis a) { return a.level == 0 || a.level == 4; }
const char* text(ThreadAxis);  // "thread_x"
bool parse(const char* text, ThreadAxis&);

}  // namespace ir
}  // namespace ashlar
