#pragma once
// What the machine can do at most, measured: the floors that kernels are compared with.
#include <string>

namespace bench {

// f32 fused multiply-adds on the widest vectors, on `threads` threads at once, GFLOP/s: all operands in registers, for 2 ms; or
// with a load for every second one, for 40 ms, as a matrix product runs. Some processors lower their frequency for the latter.
double fma_peak(int threads, bool loads);
std::string fma_kind();  // "512-bit vectors"

// Of arrays far larger than a core's own caches, GB/s, counting what the program reads and writes (not what the hardware reads
// in order to write).
double copy_bandwidth(int threads);   // b = a; memcpy, which may write past the caches
double triad_bandwidth(int threads);  // a = b + s * c; ordinary stores

}  // namespace bench
