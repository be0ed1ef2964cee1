// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The internals of gpu.h that other families share.
#include <optional>
#include <set>
#include <vector>

#include <ashlar/schedules/gpu.h>

#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules::detail {

inline constexpr int bytes_of_access = 16;  // the widest access of a thread to global memory on CUDA devices

void expect_device(const char* family, const Schedule& s, Where where);

void expect_threads(const char* family, const char* option, const Schedule& s, std::int64_t threads, Where where);

// The number of threads asked for. If that is 0: `usual`, or the limit of a block if that is lower.
int threads_or(int asked, int usual, const Schedule& s);

// How many bytes of shared memory the rows of a block may use. Several blocks share a multiprocessor, and reductions over the
// threads of a block exchange their parts in shared memory as well.
std::int64_t most_of_rows(const Schedule& s);

// A reduction along rows of arguments: neighboring terms are neighbors in memory.
struct VectorTerms {
  std::vector<ir::Id> buffers;  // the arguments that it reads this way
  int lanes = 0;                // elements of the widest argument in an access of 16 bytes
};

// Empty if all arguments are in `elsewhere` (those are copied to shared memory), if rows are short or not a multiple of an
// access, and on devices without such accesses. `own_rows`: only count arguments read at [.., k].
std::optional<VectorTerms> vector_terms(const Schedule& s, const Stage& reduction, int threads,
                                        const std::set<ir::Id>& elsewhere, bool own_rows, Where where);

// for ko, for ki in threads               thread_x, combined over threads
//   neighbors of each buffer             registers; one access, where the rows of a call are aligned
//   for kv in lanes                       unrolled
// Refused if the terms must not be regrouped; steps taken before that stay.
void reduce_vectors(Schedule& s, const Stage& reduction, const VectorTerms& terms, int threads, Where where);

void expect_own_points(const char* family, const char* expected, const ir::Stage& d, Where where);

}  // namespace ashlar::schedules::detail
