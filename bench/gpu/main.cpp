// ashlar_gpu: the kernels for CUDA on the device at hand. 0: all is well; 1: results differ or something failed; 3: no device
// can be used, with the reason.
#include <cstdio>
#include <exception>
#include <string>

#include "bench/gpu/kernels.h"

int main(int argc, char** argv) {
  const std::string command = argc == 2 ? argv[1] : "";
  if (command != "--probe" && command != "--check" && command != "--times") {
    std::fprintf(stderr, "usage: ashlar_gpu --probe | --check | --times\n");
    return 2;
  }
  try {
    std::string why;
    const auto device = gpu_bench::Device::open(&why);
    if (device && gpu_bench::target_for(*device).empty())
      why = device->name() + " has compute capability " + std::to_string(device->capability()) +
            " (times ten), expected 80 at least";
    if (!why.empty()) {
      std::printf("no GPU can be used: %s\n", why.c_str());
      return 3;
    }
    if (command == "--check") return gpu_bench::check(*device) == 0 ? 0 : 1;
    if (command == "--times") return gpu_bench::times(*device);
    std::printf("%s, %s\n", device->name().c_str(), gpu_bench::target_for(*device).c_str());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ashlar_gpu: %s\n", e.what());
    return 1;
  }
}
