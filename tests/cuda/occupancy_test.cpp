// How many blocks a multiprocessor holds, as explain() says it, against NVIDIA's own calculator of the toolkit.
#include <doctest/doctest.h>

#include <ashlar/target/target.h>

#include <cuda_occupancy.h>

#include "report/device_figures.h"

using namespace ashlar;

TEST_CASE("blocks of a multiprocessor are those of cuda_occupancy.h") {
  constexpr int major[] = {8, 9, 10};
  constexpr const char* targets[] = {"cuda-sm_80", "cuda-sm_90a", "cuda-sm_100a"};
  for (int t = 0; t < 3; ++t) {
    const Target target = Target::parse(targets[t]);
    const Device& d = target.device();
    const report::DeviceFigures* f = report::figures_of(d.name);
    REQUIRE(f);
    CAPTURE(targets[t]);
    cudaOccDeviceProp device;
    device.computeMajor = major[t], device.computeMinor = 0;
    device.maxThreadsPerBlock = d.max_threads, device.maxThreadsPerMultiprocessor = d.multiprocessor_threads;
    device.regsPerBlock = device.regsPerMultiprocessor = static_cast<int>(d.registers);
    device.warpSize = d.warp, device.numSms = d.multiprocessors;
    device.sharedMemPerBlock = 48 << 10,
    device.sharedMemPerMultiprocessor = static_cast<std::size_t>(d.multiprocessor_shared_bytes);
    device.sharedMemPerBlockOptin = static_cast<std::size_t>(d.shared_bytes);
    device.reservedSharedMemPerBlock = static_cast<std::size_t>(f->shared_reserved);
    cudaOccDeviceState state;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    int compared = 0, others = 0;
    for (int threads = 32; threads <= 1024; threads += 32)
      for (int registers = 1; registers <= 255; ++registers)
        for (std::int64_t shared :
             {std::int64_t{0}, std::int64_t{4224}, std::int64_t{12288}, std::int64_t{50000}, d.shared_bytes}) {
          cudaOccFuncAttributes function;
          function.maxThreadsPerBlock = d.max_threads, function.numRegs = registers;
          function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          function.maxDynamicSharedSizeBytes = static_cast<std::size_t>(d.shared_bytes);
          function.numBlockBarriers = 1;
          cudaOccResult found = {};
          REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&found, &device, &function, &state, threads,
                                                          static_cast<std::size_t>(shared)) == CUDA_OCC_SUCCESS);
          ++compared;
          others += report::resident_blocks(d, *f, threads, registers, shared).least() != found.activeBlocksPerMultiprocessor;
        }
    CHECK(compared == 32 * 255 * 5);
    CHECK(others == 0);
  }
}
