// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// explain: estimates what a schedule costs on its target, without running it: threads, memory, occupancy, bank conflicts,
// coalescing, bytes and operations (docs/explain.md). The text is the same in every run.
//
//   std::puts(explain(s, {{"M", 4096}, {"N", 4096}}).c_str());
//
//   launch transpose: 16384 blocks (128 x 128 x 1) of 256 threads
//     shared memory     4224 of 166912 bytes a block
//     occupancy         8 blocks a multiprocessor, 64 of 64 warps (100 %), limited by threads
//     x_cache store     shared: bank conflicts 1, 1 wavefront
//     y store           global: 4 sectors, 4 at least
//
// Everything is counted in the lowered kernel, for one thread and one block in the middle, at the given sizes (by default 1024,
// or the nearest value that a Symbol's facts allow). A condition on threads counts by the share of threads for which it holds.
// Arguments are assumed to be dense. Nothing is measured.
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/program.h>
#include <ashlar/schedule/schedule.h>

namespace ashlar {

using ExplainSizes = std::vector<std::pair<std::string, std::int64_t>>;  // the name of a Symbol and its value

// Refused: an incomplete schedule, as in lowering, and a size for a name that is not a Symbol.
std::string explain(const Schedule&, const ExplainSizes& = {}, Where = Where::current());

// The same for a kernel that has already been lowered.
std::string explain(const ir::Kernel&, const Target&, const ExplainSizes& = {}, Where = Where::current());

// The part about processors, which explain(Schedule) appends. For each stage it gives the operations by kind, how many of them
// are in vectors, and how many lanes are in use. For each loop it gives how often the loop runs, how many bytes one run
// touches, and how many bytes all runs move if those stay in a cache. For each cache of the target it gives the outermost loop
// that fits.
//
//   stage C in f32: 1.342e+08 points, 268.4 Moperations (1.342e+08 fma)
//     lanes               ji: 8 of f32 in registers of 8; 100 % of the lanes used, 100 % of the operations in full vectors
//     L1, 32 KiB          holds a run of ki (18.43 kB): 150.9 MB loaded and 67.11 MB stored beyond it, 1.231 operations a byte
std::string explain_stages(const ir::Program& scheduled, const Target&, const ExplainSizes& = {}, Where = Where::current());

}  // namespace ashlar
