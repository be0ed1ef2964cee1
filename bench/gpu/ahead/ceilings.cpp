// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ceilings: what a CUDA device reaches, by kernels that do nothing else; each checks what it computed. Lines of JSON as of
// bench/gpu/check.h, with "rate" and "unit".
//
//   ceilings --probe | --list | --ptx NAME | [--short] NAME ...      --short: little work, for a driver without a device
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <vector>

#include <ashlar/runtime/cuda.h>

#include "bench/gpu/device.h"
#include "bench/gpu/lines.h"

namespace {

using gpu_bench::Device;
using gpu_bench::Line;
using gpu_bench::Memory;

constexpr int kRuns = 10;

struct Functions {  // of the driver, beyond those of gpu_bench::Device
  int (*load)(void**, const void*) = nullptr;
  int (*function)(void**, void*, const char*) = nullptr;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) = nullptr;
  int (*copy)(std::uint64_t, std::uint64_t, std::size_t, void*) = nullptr;
  Functions() {
    const char* wanted = std::getenv("ASHLAR_CUDA_LIBRARY");
    void* library = dlopen(wanted ? wanted : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // Device has opened it
    const auto find = [&](auto& f, const char* name) {
      *reinterpret_cast<void**>(&f) = library ? dlsym(library, name) : nullptr;
      if (f == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
    };
    find(load, "cuModuleLoadData"), find(function, "cuModuleGetFunction"), find(launch, "cuLaunchKernel");
    find(copy, "cuMemcpyDtoDAsync_v2");
  }
};

void require(int code, const char* what) {
  if (code != 0) throw std::runtime_error(std::string(what) + " returned " + std::to_string(code));
}

struct Rate {
  double rate;
  const char* unit;
};

std::string list(const char* prefix, int count) {  // "{%c0, %c1}"
  std::string s = "{";
  for (int n = 0; n < count; ++n) s += (n > 0 ? ", " : "") + std::string(prefix) + std::to_string(n);
  return s + "}";
}

// An entry that repeats `step`, which adds to the registers %c0 to %c<count>, and stores their sum for each thread.
std::string entry(const char* version, const char* chip, int threads, int count, const std::string& begin,
                  const std::string& step) {
  std::string text = std::string(".version ") + version + "\n.target " + chip + "\n.address_size 64\n" +
                     ".visible .entry repeat(.param .u64 out, .param .u32 times)\n.maxntid " + std::to_string(threads) +
                     ", 1, 1\n{\n" + ".reg .f32 %c<" + std::to_string(count) +
                     ">, %f;\n.reg .b32 %r<10>;\n.reg .b64 %d<10>;\n.reg .pred %p, %q;\n";
  for (int n = 0; n < count; ++n) text += "mov.f32 %c" + std::to_string(n) + ", 0f00000000;\n";
  text += "ld.param.u32 %r0, [times];\n" + begin + "LOOP:\n" + step +
          "sub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p, %r0, 0;\n@%p bra LOOP;\nmov.f32 %f, 0f00000000;\n";
  for (int n = 0; n < count; ++n) text += "add.f32 %f, %f, %c" + std::to_string(n) + ";\n";
  return text + "ld.param.u64 %d0, [out];\ncvta.to.global.u64 %d0, %d0;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n" +
         "mad.lo.u32 %r1, %r1, " + std::to_string(threads) + ", %r2;\nmul.wide.u32 %d1, %r1, 4;\nadd.u64 %d0, %d0, %d1;\n" +
         "st.global.f32 [%d0], %f;\nret;\n}\n";
}

struct Repeated {
  std::string ptx;
  unsigned threads, blocks;  // of a block; for each multiprocessor
  double each, work;         // a turn adds `each` to a thread's sum, and is so many operations of a block
};

Rate repeated(const Device& d, const Repeated& r, unsigned times) {
  const Functions cu;
  void *module = nullptr, *f = nullptr;
  require(cu.load(&module, r.ptx.c_str()), "cuModuleLoadData");
  require(cu.function(&f, module, "repeat"), "cuModuleGetFunction");
  int multiprocessors = 0;
  ashlar_error error = {};
  require(ashlar_cuda_multiprocessors(nullptr, &multiprocessors, &error), "ashlar_cuda_multiprocessors");
  const unsigned blocks = static_cast<unsigned>(multiprocessors) * r.blocks;
  std::vector<float> sums(std::size_t{blocks} * r.threads);
  const Memory out(d, sums.size() * sizeof(float));
  void* address = out.pointer();
  void* parameters[] = {&address, &times};
  const double us = d.microseconds(kRuns, [&] {
    require(cu.launch(f, blocks, 1, 1, r.threads, 1, 1, 0, d.stream(), parameters, nullptr), "cuLaunchKernel");
  });
  out.download(sums.data());
  for (const float s : sums)
    if (!(s == static_cast<float>(r.each * times)))
      throw std::runtime_error("a thread's sum is " + std::to_string(s) + ", expected " + std::to_string(r.each * times));
  return {r.work * times * blocks / us * 1e-6, "TFLOP/s"};
}

Rate copies(const Device& d, bool brief) {
  const Functions cu;
  const std::size_t bytes = std::size_t{1} << (brief ? 16 : 28);
  const Memory from(d, bytes), to(d, bytes);
  std::vector<unsigned char> given(bytes), found(bytes);
  for (std::size_t n = 0; n < bytes; ++n) given[n] = static_cast<unsigned char>(n * 2654435761u >> 24);
  from.upload(given.data());
  const auto address = [](const Memory& m) { return reinterpret_cast<std::uint64_t>(m.pointer()); };
  const double us =
      d.microseconds(kRuns, [&] { require(cu.copy(address(to), address(from), bytes, d.stream()), "cuMemcpyDtoDAsync"); });
  to.download(found.data());
  if (found != given) throw std::runtime_error("the copy differs from what was copied");
  return {2.0 * static_cast<double>(bytes) / us * 1e-3, "GB/s"};
}

Repeated multiply_adds() {
  constexpr int chains = 16;
  std::string step;
  for (int n = 0; n < chains; ++n) {
    const std::string c = "%c" + std::to_string(n);
    step += "fma.rn.f32 " + c + ", " + c + ", %f, %f;\n";  // c + 1
  }
  std::string ptx = entry("7.0", "sm_80", 256, chains, "mov.f32 %f, 0f3F800000;\n", step);
  return {std::move(ptx), 256, 8, chains, 2.0 * chains * 256};
}

constexpr unsigned kOnes = 0x3f803f80;  // two of bf16

Repeated mma() {
  constexpr int products = 8;
  std::string step;
  for (int n = 0; n < products; ++n) {
    std::string c = "{";
    for (int k = 0; k < 4; ++k) c += (k > 0 ? ", %c" : "%c") + std::to_string(4 * n + k);
    c += "}";
    step += "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " + c + ", {%r4, %r4, %r4, %r4}, {%r4, %r4}, " + c + ";\n";
  }
  std::string ptx = entry("7.0", "sm_80", 256, 4 * products, "mov.b32 %r4, " + std::to_string(kOnes) + ";\n", step);
  return {std::move(ptx), 256, 2, 16.0 * 4 * products, 8.0 * products * 2 * 16 * 8 * 16};
}

// Descriptors of the layout without a swizzle: core matrices of 128 bytes, one behind another along k, 256 bytes apart along m
// and n. So A has 2 KiB and B 8 KiB behind them.
Repeated wgmma() {
  constexpr int products = 4, sums = 128;
  const std::string begin =
      ".shared .align 128 .b8 tile[10240];\nmov.u32 %r1, tile;\nmov.u32 %r2, %tid.x;\nshl.b32 %r3, %r2, 2;\nadd.u32 %r3, %r1, "
      "%r3;\n"
      "mov.b32 %r4, " +
      std::to_string(kOnes) +
      ";\nmov.u32 %r5, 0;\nFILL:\nst.shared.b32 [%r3], %r4;\nadd.u32 %r3, %r3, 512;\n"
      "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p, %r5, 20;\n@%p bra FILL;\nfence.proxy.async;\nbar.sync 0;\n"
      "and.b32 %r6, %r1, 262143;\nshr.u32 %r6, %r6, 4;\ncvt.u64.u32 %d2, %r6;\nor.b64 %d2, %d2, " +
      std::to_string(std::uint64_t{8} << 16 | std::uint64_t{16} << 32) +
      ";\nadd.u64 %d3, %d2, 128;\nsetp.eq.u32 %q, %r4, %r4;\n";
  std::string step = "wgmma.fence.sync.aligned;\n";
  for (int n = 0; n < products; ++n)
    step += "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " + list("%c", sums) + ", %d2, %d3, %q, 1, 1, 0, 0;\n";
  step += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  std::string ptx = entry("8.0", "sm_90a", 128, sums, begin, step);
  return {std::move(ptx), 128, 2, 16.0 * products * sums, products * 2.0 * 64 * 256 * 16};
}

struct Ceiling {
  const char* name;
  Repeated (*kernel)();  // null: copies
  int capability;        // of the device; 0: any from 8.0 on
};
constexpr Ceiling kCeilings[] = {{"copies in the device's memory", nullptr, 0},
                                 {"multiply-adds of f32", multiply_adds, 0},
                                 {"mma.sync of bf16", mma, 0},
                                 {"wgmma of bf16", wgmma, 90}};

const Ceiling& named(const std::string& name) {
  for (const Ceiling& c : kCeilings)
    if (name == c.name) return c;
  throw std::runtime_error("no ceiling \"" + name + "\": --list names them");
}

int run(const Device& d, const std::string& name, bool brief) {
  const Ceiling& c = named(name);
  Line("begin", name).print();
  Line line("case", name);
  bool failed = false;
  if (c.capability != 0 && c.capability != d.capability()) {
    line.text("result", "refused").text("text", "for compute capability 9.0 alone");
  } else {
    try {
      const Rate r = c.kernel ? repeated(d, c.kernel(), brief ? 3 : 20000) : copies(d, brief);
      line.text("result", "passed").number("rate", r.rate).text("unit", r.unit);
    } catch (const std::exception& e) { line.text("result", "error").text("text", e.what()), failed = true; }
  }
  line.print();
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty()) {
      std::fprintf(stderr, "usage: %s --probe | --list | --ptx NAME | [--short] NAME ...\n", argv[0]);
      return 2;
    }
    if (words[0] == "--list") {
      for (const Ceiling& c : kCeilings) std::printf("%s\n", c.name);
      return 0;
    }
    if (words[0] == "--ptx" && words.size() == 2) {
      const Ceiling& c = named(words[1]);
      if (!c.kernel) throw std::runtime_error(words[1] + " is not a kernel");
      return std::fputs(c.kernel().ptx.c_str(), stdout) < 0;
    }
    std::string why;
    const auto device = Device::open(&why);
    if (device && device->capability() < 80) why = device->name() + " has a compute capability below 8.0";
    if (!why.empty()) {
      std::printf("no GPU can be used: %s\n", why.c_str());
      return 3;
    }
    if (words[0] == "--probe") return std::printf("%s\n", device->name().c_str()) < 0;
    const bool brief = words[0] == "--short";
    int code = 0;
    for (std::size_t n = brief ? 1 : 0; n < words.size(); ++n) code |= run(*device, words[n], brief);
    return code;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}
