// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What other families use of gpu.h.
#include <optional>
#include <set>
#include <vector>

#include <ashlar/schedules/gpu.h>

#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules::detail {

inline constexpr int bytes_of_access = 16;  // the widest access of a thread to global memory on CUDA devices

void expect_device(const char* family, const Schedule& s, Where where);

void expect_threads(const char* family, const char* option, const Schedule& s, std::int64_t threads, Where where);

// What was asked for, or, where that is 0, so many threads, or as many as a block of the device has.
int threads_or(int asked, int usual, const Schedule& s);

// Bytes of shared memory that the rows of a block may take: several blocks share a multiprocessor, and reductions over the
// threads of a block exchange their parts there.
std::int64_t most_of_rows(const Schedule& s);

// A reduction along rows of arguments, whose neighbouring terms are neighbours in memory.
struct VectorTerms {
  std::vector<ir::Id> buffers;  // that it reads so
  int lanes = 0;                // neighbours that an access of 16 bytes has of the widest of them
};

// Empty if there are none but those `elsewhere`, which are copied, if rows are short or no multiple of an access, and on
// devices without such accesses. `own_rows`: of those alone that it reads at [.., k].
std::optional<VectorTerms> vector_terms(const Schedule& s, const Stage& reduction, int threads,
                                        const std::set<ir::Id>& elsewhere, bool own_rows, Where where);

// for ko, for ki in threads               thread_x, combined over threads
//   neighbours of each buffer             registers; one access, where the rows of a call are aligned
//   for kv in lanes                       unrolled
// Refused, with the steps that came before in place, where terms may not be regrouped.
void reduce_vectors(Schedule& s, const Stage& reduction, const VectorTerms& terms, int threads, Where where);

void expect_own_points(const char* family, const char* expected, const ir::Stage& d, Where where);

}  // namespace ashlar::schedules::detail
