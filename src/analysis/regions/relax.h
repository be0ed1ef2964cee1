// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What is computed for a block of a launch as a whole, into memory that its threads share, is computed for all of its threads:
// the box of such a nest inside loops over threads, virtual ones included, is the hull over those loops.
//
//   for ti        thread_x       A_shared of the block holds [bi*32, +32), whichever thread looks,
//     nest A_shared              not the one row bi*32 + ti that thread ti reads
#include <vector>

#include <ashlar/analysis/interval.h>
#include <ashlar/ir/program.h>

namespace ashlar::analysis {

// `path`: the statements around the nest, outermost first. Returns the interval unchanged where the stage is not shared.
Interval over_threads(const ir::Program&, const std::vector<const ir::Stmt*>& path, const ir::Stage&, Interval, const Facts&);

}  // namespace ashlar::analysis
