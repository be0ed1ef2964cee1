// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a schedule will take of its target, without the device: threads, memory, occupancy, bank conflicts, coalescing, bytes
// and operations. A text for people, the same in every run.
//
//   std::puts(explain(s, {{"M", 4096}, {"N", 4096}}).c_str());
//
//   launch transpose: 16384 blocks (128 x 128 x 1) of 256 threads
//     shared memory     4224 of 166912 bytes a block
//     occupancy         8 blocks a multiprocessor, 64 of 64 warps (100 %), limited by threads
//     x_cache store     shared: bank conflicts 1, 1 wavefront
//     y store           global: 4 sectors, 4 at least
//
// Everything is counted on the lowered kernel at the sizes given (a symbol that has none: 1024, or what its facts allow), in a
// thread and a block in the middle; conditions on threads count by how many hold. Dense arguments are taken for granted.
// Nothing is measured.
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/program.h>
#include <ashlar/schedule/schedule.h>

namespace ashlar {

using ExplainSizes = std::vector<std::pair<std::string, std::int64_t>>;  // a symbol's name, its value

// Refused where the schedule is not complete, as lowering is; or where a size is given for what is no symbol.
std::string explain(const Schedule&, const ExplainSizes& = {}, Where = Where::current());

// Of a kernel that is lowered already.
std::string explain(const ir::Kernel&, const Target&, const ExplainSizes& = {}, Where = Where::current());

// On a processor, of each stage: its operations by kind; which share of them vectors do, and of their lanes; for each loop how
// often it runs, what one run touches, and what all runs move where that stays in a cache; and the outermost loop that each
// cache of the target holds. explain(Schedule) ends with it.
//
//   stage C in f32: 1.342e+08 points, 268.4 Moperations (1.342e+08 fma)
//     lanes               ji: 8 of f32 in registers of 8; 100 % of the lanes used, 100 % of the operations in full vectors
//     L1, 32 KiB          holds a run of ki (18.43 kB): 150.9 MB loaded and 67.11 MB stored beyond it, 1.231 operations a byte
std::string explain_stages(const ir::Program& scheduled, const Target&, const ExplainSizes& = {}, Where = Where::current());

}  // namespace ashlar
