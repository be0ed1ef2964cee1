// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/threads/thread_axes.h"

#include <ashlar/ir/refusal.h>

namespace ashlar::lowering {
namespace {

enum Which : std::size_t { x, y, z, lane, warp };

std::size_t which(ThreadAxis a) {
  if (a == gpu::lane) return lane;
  if (a == gpu::warp) return warp;
  if (a.level == gpu::thread_x.level) return a.dim;
  throw InternalError("a loop over blocks inside threads");
}

}  // namespace

ThreadAxes::Place& ThreadAxes::at(ThreadAxis a) { return places[which(a)]; }
const ThreadAxes::Place& ThreadAxes::at(ThreadAxis a) const { return places[which(a)]; }

void ThreadAxes::name(ir::Launch& launch) {
  if (places[lane].extent > 1 || places[warp].extent > 1) places[lane].extent = launch.warp;
  launch.threads = 1;
  for (const Place& a : places) launch.threads *= a.extent;
  if (launch.threads % launch.warp != 0) launch.warp = 1;  // no loop over lanes, and nothing may count on whole warps
  thread = ir::var(launch.thread, "thread");
  std::int64_t below = 1;
  for (Place& a : places) {
    a.number = ir::index(0);
    a.below = below;
    if (a.extent > 1) {
      a.number = below == 1 ? thread : ir::div(thread, ir::index(below));
      if (below * a.extent < launch.threads) a.number = ir::mod(a.number, ir::index(a.extent));
    }
    below *= a.extent;
  }
}

}  // namespace ashlar::lowering
