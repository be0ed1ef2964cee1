// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the default scheduler weighs: every threshold and cost that it decides by, beside what it reads off the target
// (registers, lanes, caches). Each belongs to the step of the scheduler whose namespace it is in, a file of that name. What
// an operation counts stands in the table of operations (src/ir/operation.cpp): an addition 1, a division 6, a function 16.
#include <cstddef>
#include <cstdint>

namespace ashlar::schedules::costs {

// ---- what several steps ask ------------------------------------------------------------------------------------------------

constexpr double worth_parallel = 5e4;            // operations that a loop has at least to go to the pool
constexpr double reduction_worth_parallel = 2e5;  // of a reduction, whose parts are added up behind it
constexpr std::size_t most_nodes = 1500;          // of expressions in what is unrolled, or inlined into one stage
constexpr double cheap_term = 8;                  // operations, below which moving data decides

// ---- plan.cpp: groups of stages, their loops -------------------------------------------------------------------------------

namespace plan {
constexpr std::int64_t strip_rows = 32,
                       least_strips = 8;  // rows that stages are computed for at once; how many strips at least
constexpr std::int64_t chunk_elements = 1024, stencil_elements = 512, parallel_elements = 16384;  // of a piece of a row
constexpr std::int64_t few_values = 16, block_of_lines = 32, rows_of_window = 8;
constexpr double many_pieces = 512;  // eight for each of 64 threads: the busiest has an eighth more than the mean at most
constexpr std::int64_t most_of_quotient = 16;  // points along x that share x / n
constexpr double costly_term = 12;             // operations of a term whose rows are worth lanes; a gathered element is a few
constexpr double costly_merge = 12;            // operations of a reducer that rows go through side by side
constexpr std::int64_t merges_side_by_side = 4;
}  // namespace plan

// ---- classify.cpp, families.cpp: which family a stage is of ----------------------------------------------------------------

namespace classify {
constexpr double few_terms = 8;
constexpr std::int64_t few_apart = 4;  // elements that a vector's lanes lie apart, so that loads are shuffled
constexpr double many_results = 32;    // that look at the same terms, each with an element of its own
}  // namespace classify
namespace families {
constexpr double most_rows = 5, most_cost = 32;  // of a separable window, whose rows are shared in registers
}

// ---- products.cpp, tiles.cpp, leader.cpp: products and tiles of registers --------------------------------------------------

namespace products {
constexpr double small_product = 64.0 * 64 * 64;  // multiplications, below which nothing is worth packing
constexpr double few_rows = 8;
}  // namespace products
namespace tiles {
constexpr std::int64_t most_unrolled = 64;                   // statements
constexpr std::int64_t least_lanes = 8;                      // of a half vector
constexpr std::int64_t usual_vectors = 4, most_vectors = 6;  // of the columns of a tile
}  // namespace tiles

// ---- reductions.cpp, inside.cpp: sums --------------------------------------------------------------------------------------

namespace reductions {
constexpr std::int64_t piece_terms = 65536;
constexpr std::size_t many_stages = 16, crowd = 64;  // beyond these a reduction takes fewer steps
constexpr int last_lanes = 4;
}  // namespace reductions
namespace inside {
constexpr std::int64_t most_terms = 64;                                // of one result, each a statement
constexpr std::int64_t least_side_by_side = 4, most_side_by_side = 8;  // rows, each one term after the other
}  // namespace inside

// ---- few.cpp, few_points.cpp, points.cpp, pixels.cpp, phases.cpp: short dimensions -----------------------------------------

namespace few {
constexpr std::int64_t most_of_one = 4, most_results = 8, most_statements = 32;
constexpr std::int64_t most_iterations = 8;  // of a loop that is unrolled for want of lanes
}  // namespace few
namespace few_points {
constexpr std::int64_t most_points = 16;
constexpr std::size_t most_nodes_together = 3000;  // of what unrolled points compute
constexpr double worth_sharing = 6;                // operations: a division
}  // namespace few_points
namespace points {
constexpr std::int64_t few_terms = 32, widest_turned = 64;
}
namespace pixels {
constexpr std::int64_t widest_stride = 4;    // of loads that are shuffled
constexpr std::int64_t most_points = 32;     // in a vector: rows end within one, and have few of them
constexpr std::int64_t longest_row = 8;      // whose elements lie a number apart (lower/flatten/strides.cpp)
constexpr double dear_choice = 8;            // operations of values that are chosen by their place in a point
constexpr double dear_arms = 2;              // operations in the arms of choices by the value
constexpr std::int64_t vectors_of_sums = 4;  // of a tile
}  // namespace pixels
namespace phases {
constexpr std::int64_t most_phases = 8;
constexpr double least_windows = 4;  // that an element is in
}  // namespace phases

// ---- inlining.cpp ----------------------------------------------------------------------------------------------------------

namespace inlining {
constexpr double memory_cost = 8;     // of an element that is stored and loaded, in additions
constexpr double small_table = 1024;  // elements
}  // namespace inlining

// ---- steps*.cpp, following.cpp: recurrences --------------------------------------------------------------------------------

namespace steps {
constexpr int rows_of_lanes = 4;
constexpr std::int64_t results_together = 8;  // sums under way: what a sum waits for, times those that start in a cycle
constexpr std::int64_t most_rows_beside = 4;  // of a short dimension, that share what is read along the columns
constexpr double worth_storing_apart = 12;    // operations of an element that is computed in a lane and stored by itself
constexpr int few_lanes = 8;                  // of terms, beside what adding them up costs
constexpr std::int64_t vectors_of_block = 2;  // steps_ahead.cpp
constexpr std::int64_t rows_together = 4;     // steps_rows.cpp
constexpr double most_of_step = 192;          // operations of a row, on vectors where there are lanes
constexpr std::int64_t worth_turning = 4;     // steps_turned.cpp: rows of the steps, one of them where they start
constexpr std::int64_t most_back = 8;         // following.cpp: steps
}  // namespace steps

// ---- alone.cpp: scatters and recurrences that no family takes --------------------------------------------------------------

namespace alone {
constexpr double an_update = 8;          // operations that changing an element anywhere costs
constexpr std::int64_t parts = 16;       // of the steps of a scatter, each with a result of its own
constexpr std::int64_t most_steps = 16;  // of a scatter, one after the other without a loop
constexpr std::int64_t rows_of_front = 4, rows_of_tile = 32, columns_of_tile = 512;  // of a table
constexpr std::int64_t most_behind = 8;   // columns of a row behind the one above: what stands at both ends is computed alone
constexpr double short_step = 64;         // operations of an element, beside which those of a loop over vectors count
constexpr double side_by_side_cost = 64;  // operations of an element, above which a row by itself fills the processor
}  // namespace alone

// ---- device.cpp, device_families.cpp: GPUs ---------------------------------------------------------------------------------

namespace device {
constexpr int threads = 256;          // of a block
constexpr int rows_a_block = 64;      // of a recurrence: each has many steps
constexpr double small_tile = 32;     // rows or columns of a product, below which a tile has little to share
constexpr double few_channels = 8;    // of a convolution, which a thread has
constexpr double few_terms = 32;      // are summed by one thread
constexpr double many_terms = 32768;  // of one result
constexpr double few_results = 256;
constexpr double few_steps = 512;        // of a scan, which one thread takes one after the other
constexpr double few_a_step = 16;        // points of a step of a recurrence, for which a block would have too little to do
constexpr double steps_an_element = 16;  // of a scatter, from which on blocks have results of their own
}  // namespace device

}  // namespace ashlar::schedules::costs
