// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Who accessed a byte last, and when. Time counts instructions of warps; a warp knows of each other until when what that did
// comes before what it does itself, from the barriers and mbarriers that both passed. An access that the other does not know of
// is a race.
#include <vector>

#include "tests/ptx/executor/types.h"

namespace ashlar::ptx {

constexpr u16 kByCopy = 0x8000;  // of write_warp: a bulk copy that the warp issued

struct Races {  // of the shared memory of a block
  std::vector<u32> write_time;
  std::vector<u16> write_thread;            // its low bits; the uppermost: an atomic operation
  std::vector<u16> write_warp;              // of the cluster
  std::vector<std::vector<u32>> read_time;  // by warp of the cluster
  std::vector<std::vector<u8>> read_lane;   // 255: several
  void fit(std::size_t bytes, std::size_t warps);
  void forget();
};

struct GlobalRaces {  // of an allocation, between blocks of a launch
  std::vector<u32> write_launch, write_block, read_launch, read_block;
};

}  // namespace ashlar::ptx
