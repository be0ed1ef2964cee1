// ashlar_gpu: the kernels for CUDA on the device at hand. 0: all is well; 1: results differ or something failed; 3: no device
// can be used, with the reason; 4: a kernel failed and took the context along, so that the cases after it did not run.
//
// One process runs the cases that it is given; supervise.py starts one for a few, ends it where it hangs, and goes on behind.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/gpu/ahead/compile.h"
#include "bench/gpu/check.h"
#include "bench/gpu/kernels.h"

namespace {

int usage() {
  std::fprintf(
      stderr,
      "usage: ashlar_gpu --probe\n"
      "       ashlar_gpu --list TARGET                 the names of all cases\n"
      "       ashlar_gpu --check [CASE ...]            against the interpreter, a line of JSON each\n"
      "       ashlar_gpu --interpret TARGET [CASE ...] the same without a device: made, compiled, interpreted\n"
      "       ashlar_gpu --ptx FOLDER TARGET [CASE ...]\n"
      "       ashlar_gpu --ahead FOLDER TARGET I/N [CASE ...]   part I of N, from 0, compiled for a machine without LLVM\n"
      "       ashlar_gpu --ahead-kernels FOLDER TARGET NAME ...         kernels of kernels.h, likewise\n"
      "       ashlar_gpu --times\n");
  return 2;
}

int without_device(const std::vector<std::string>& words) {
  using namespace gpu_bench;
  const auto rest = [&](std::size_t from) {
    return std::vector<std::string>(words.begin() + static_cast<std::ptrdiff_t>(from), words.end());
  };
  if (words[0] == "--list" && words.size() == 2) {
    for (const Case& c : cases(words[1])) std::printf("%s\n", c.name.c_str());
    return 0;
  }
  if (words[0] == "--interpret" && words.size() >= 2)
    return check(nullptr, words[1], chosen(cases(words[1]), rest(2))) == Checked::well ? 0 : 1;
  if (words[0] == "--ptx" && words.size() >= 3) {
    write_ptx(words[1], words[2], chosen(cases(words[2]), rest(3)));
    return 0;
  }
  if (words[0] == "--ahead" && words.size() >= 4) {
    std::size_t part = 0, parts = 0;
    if (std::sscanf(words[3].c_str(), "%zu/%zu", &part, &parts) != 2 || part >= parts) return usage();
    compile_ahead(words[1], words[2], chosen(cases(words[2]), rest(4)), part, parts);
    return 0;
  }
  if (words[0] == "--ahead-kernels" && words.size() >= 4) {
    compile_kernels_ahead(words[1], words[2], rest(3));
    return 0;
  }
  return usage();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string command = words.empty() ? "" : words[0];
  const bool here = command == "--check" || ((command == "--probe" || command == "--times") && words.size() == 1);
  try {
    if (!here) return words.empty() ? usage() : without_device(words);
    std::string why;
    const auto device = gpu_bench::Device::open(&why);
    if (device && gpu_bench::target_for(*device).empty())
      why = device->name() + " has compute capability " + std::to_string(device->capability()) +
            " (times ten), expected 80 at least";
    if (!why.empty()) {
      std::printf("no GPU can be used: %s\n", why.c_str());
      return 3;
    }
    const std::string target = gpu_bench::target_for(*device);
    if (command == "--times") return gpu_bench::times(*device);
    if (command == "--check") {
      using gpu_bench::Checked;
      const Checked c =
          check(device.get(), target, gpu_bench::chosen(gpu_bench::cases(target), {words.begin() + 1, words.end()}));
      return c == Checked::well ? 0 : c == Checked::bad ? 1 : 4;
    }
    std::printf("%s, %s\n", device->name().c_str(), target.c_str());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ashlar_gpu: %s\n", e.what());
    return 1;
  }
}
