// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What other families use of gpu.h.
#include <ashlar/schedules/gpu.h>

#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules::detail {

inline constexpr int bytes_of_access = 16;  // the widest access of a thread to global memory on CUDA devices

void expect_device(const char* family, const Schedule& s, Where where);

void expect_threads(const char* family, const char* option, const Schedule& s, std::int64_t threads, Where where);

// What was asked for, or, where that is 0, so many threads, or as many as a block of the device has.
int threads_or(int asked, int usual, const Schedule& s);

// Bytes of shared memory that the rows of a block may take: several blocks share a multiprocessor, and reductions over the threads
// of a block exchange their parts there.
std::int64_t most_of_rows(const Schedule& s);

void expect_own_points(const char* family, const char* expected, const ir::Stage& d, Where where);

}  // namespace ashlar::schedules::detail
