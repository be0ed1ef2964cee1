// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The thresholds and costs of the default scheduler, except for the properties of the target (registers, lanes, caches). A
// namespace has the name of the file, the step of the scheduler, that uses it. The cost of an operation is in the table of
// operations (src/ir/operation.cpp): 1 for an addition, 6 for a division, 16 for a function.
#include <cstddef>
#include <cstdint>

namespace ashlar::schedules::costs {

// ---- used by several steps -------------------------------------------------------------------------------------------------

constexpr double worth_parallel = 5e4;            // the fewest operations of a loop on the thread pool
constexpr double reduction_worth_parallel = 2e5;  // the same for a reduction, whose parts must be added afterwards
constexpr std::size_t most_nodes = 1500;          // expression nodes in unrolled code, or inlined into one stage
constexpr double cheap_term = 8;                  // operations of a term below which memory traffic decides

// ---- plan.cpp: groups of stages, their loops -------------------------------------------------------------------------------

namespace plan {
constexpr std::int64_t strip_rows = 32,
                       least_strips = 8;  // rows that stages are computed for at once; how many strips at least
constexpr std::int64_t chunk_elements = 1024, stencil_elements = 512, parallel_elements = 16384;  // of a piece of a row
constexpr std::int64_t few_values = 16, block_of_lines = 32, rows_of_window = 8;
constexpr double many_pieces = 512;  // eight for each of 64 threads: the busiest has at most an eighth more than the mean
constexpr std::int64_t most_of_quotient = 16;  // points along x that share x / n
constexpr double costly_term = 12;             // operations of a term for which gathering rows into lanes pays off
constexpr double costly_merge = 12;            // operations of a reducer for which rows are merged side by side
constexpr std::int64_t merges_side_by_side = 4;
}  // namespace plan

// ---- classify.cpp, families.cpp: which family a stage is of ----------------------------------------------------------------

namespace classify {
constexpr double few_terms = 8;
constexpr std::int64_t few_apart = 4;  // the largest distance of lanes, in elements, at which loads are shuffled
constexpr double many_results = 32;    // results that read the same terms, each with its own element
}  // namespace classify
namespace families {
constexpr double most_rows = 5, most_cost = 32;  // of a separable window, whose rows are shared in registers
}

// ---- products.cpp, tiles.cpp, leader.cpp: products and tiles of registers --------------------------------------------------

namespace products {
constexpr double small_product = 64.0 * 64 * 64;  // multiplications below which packing does not pay off
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
constexpr std::int64_t most_terms = 64;                                // unrolled terms of one result
constexpr std::int64_t least_side_by_side = 4, most_side_by_side = 8;  // interleaved rows with serial sums
}  // namespace inside

// ---- few.cpp, few_points.cpp, points.cpp, pixels.cpp, phases.cpp: short dimensions -----------------------------------------

namespace few {
constexpr std::int64_t most_of_one = 4, most_results = 8, most_statements = 32;
constexpr std::int64_t most_iterations = 8;  // of a loop that is unrolled because it cannot be vectorized
}  // namespace few
namespace few_points {
constexpr std::int64_t most_points = 16;
constexpr std::size_t most_nodes_together = 3000;  // expression nodes of unrolled points
constexpr double worth_sharing = 6;                // operations: a division
}  // namespace few_points
namespace points {
constexpr std::int64_t few_terms = 32, widest_turned = 64;
}
namespace pixels {
constexpr std::int64_t widest_stride = 4;    // of shuffled loads
constexpr std::int64_t most_points = 32;     // in a vector: rows end within one, and have few of them
constexpr std::int64_t longest_row = 8;      // elements, at a constant stride (lower/flatten/strides.cpp)
constexpr double dear_choice = 8;            // operations of values that are selected by their position in a point
constexpr double dear_arms = 2;              // operations in the arms of such a select
constexpr std::int64_t vectors_of_sums = 4;  // of a tile
// Elements that one copy shuffles. LLVM takes seconds for more, and minutes for some: 192 bytes with AVX2.
constexpr std::int64_t widest_shuffle = 96, widest_shuffle_of_powers = 128, widest_shuffle_of_avx512 = 320;
}  // namespace pixels
namespace phases {
constexpr std::int64_t most_phases = 8;
constexpr double least_windows = 4;  // windows that contain an element
}  // namespace phases

// ---- inlining.cpp ----------------------------------------------------------------------------------------------------------

namespace inlining {
constexpr double memory_cost = 8;     // of storing and loading an element, in additions
constexpr double small_table = 1024;  // elements
}  // namespace inlining

// ---- steps*.cpp, following.cpp: recurrences --------------------------------------------------------------------------------

namespace steps {
constexpr int rows_of_lanes = 4;
constexpr std::int64_t results_together = 8;  // sums in flight: latency times throughput of an addition
constexpr std::int64_t most_rows_beside = 4;  // rows of a short dimension that share loads along the columns
constexpr double worth_storing_apart = 12;    // operations of an element for which lanes pay off although stores are scalar
constexpr int few_lanes = 8;                  // of terms, compared with the cost of adding the lanes
constexpr std::int64_t vectors_of_block = 2;  // steps_ahead.cpp
constexpr std::int64_t rows_together = 4;     // steps_rows.cpp
constexpr double most_of_step = 192;          // operations of a row; vector operations where it is vectorized
constexpr std::int64_t worth_turning = 4;     // steps_turned.cpp: rows of steps, including the initial one
constexpr std::int64_t most_back = 8;         // following.cpp: steps
}  // namespace steps

// ---- alone.cpp: scatters and recurrences without a family ------------------------------------------------------------------

namespace alone {
constexpr double an_update = 8;          // the cost of an update at any index, in operations
constexpr std::int64_t parts = 16;       // of the steps of a scatter, each with its own result
constexpr std::int64_t most_steps = 16;  // unrolled steps of a scatter
constexpr std::int64_t rows_of_front = 4, rows_of_tile = 32, columns_of_tile = 512;  // of a table
constexpr std::int64_t most_behind = 8;   // columns by which a row is behind the one above; both ends are computed apart
constexpr double short_step = 64;         // operations of an element up to which the overhead of a vector loop matters
constexpr double side_by_side_cost = 64;  // operations of an element above which a single row keeps the processor busy
}  // namespace alone

// ---- device.cpp, device_families.cpp: GPUs ---------------------------------------------------------------------------------

namespace device {
constexpr int threads = 256;          // of a block
constexpr int rows_a_block = 64;      // rows of a recurrence, each with many steps, in a block
constexpr double small_tile = 32;     // rows or columns of a product below which tiles share little
constexpr double few_channels = 8;    // channels of a convolution that one thread computes
constexpr double few_terms = 32;      // terms that one thread sums
constexpr double many_terms = 32768;  // terms of a result that several blocks sum
constexpr double few_results = 256;
constexpr std::int64_t many_parts = 256;     // parts of the terms of one result, each summed by a block
constexpr double few_steps = 512;            // steps of a scan that one thread runs serially
constexpr double few_a_step = 16;            // points of a step of a recurrence that do not keep a block busy
constexpr std::int64_t small_block = 64;     // rows and columns of a block's results if there are few in all
constexpr std::int64_t terms_of_part = 512;  // terms of a part, whose sum is stored and loaded again
constexpr std::int64_t most_parts = 128;     // parts of a result
constexpr double steps_an_element = 16;      // steps of a scatter for each element from which on blocks get their own results
}  // namespace device

}  // namespace ashlar::schedules::costs
