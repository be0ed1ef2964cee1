// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA driver without a device: the functions of libcuda that Ashlar's runtime and bench/gpu call, over the executor of PTX.
// The runtime opens it through ASHLAR_CUDA_LIBRARY. Machine code is refused, so that modules come as PTX. A launch has run when
// its call returns; what it does wrong is printed, and the call returns CUDA_ERROR_LAUNCH_FAILED (an address outside:
// CUDA_ERROR_ILLEGAL_ADDRESS).
//
//   PTX_EXECUTOR_CAPABILITY=100   the compute capability, times ten; else 90
//   PTX_EXECUTOR_KEEP=FILE       the text of the first module whose launch failed, where there is no such file yet
//   PTX_EXECUTOR_PLANT=N/REGEX/TEXT   in each module that has it, the Nth line (from 1) that matches is changed, as
//   std::regex_replace does PTX_EXECUTOR_COVERAGE=FILE    how often each instruction ran, appended when the process ends
//
// Built with ASHLAR_TILE_DRIVER (tests/tileir) it takes bytecode of CUDA Tile IR too, and PTX beside it:
//
//   TILE_EXECUTOR_VERSION=12040   the version of CUDA that it says it has; else 13.5
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <sstream>
#include <string>

#include "tests/ptx/executor/executor.h"
#ifdef ASHLAR_TILE_DRIVER
#include "tests/tileir/driver.h"
#endif

namespace {

using ashlar::ptx::Device;
using ashlar::ptx::Module;

enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kInvalidHandle = 400,
  kNotFound = 500,
  kIllegalAddress = 700,
  kLaunchFailed = 719
};
constexpr int kMaxThreads = 1, kMaxGridX = 5, kMultiprocessors = 16, kMajor = 75, kMinor = 76, kMaxSharedOptIn = 97;

struct Loaded {
  std::optional<Module> module;
#ifdef ASHLAR_TILE_DRIVER
  std::optional<tile_driver::Module> tiles;
#endif
  std::map<std::string, std::unique_ptr<struct Entry>> entries;
};
struct Entry {
  Loaded* loaded;
  std::string name;
};

class Driver {
 public:
  Driver() {
    const char* wanted = std::getenv("PTX_EXECUTOR_CAPABILITY");
    if (wanted != nullptr) capability = std::atoi(wanted);
  }
  ~Driver() {
    const char* file = std::getenv("PTX_EXECUTOR_COVERAGE");
    if (file != nullptr) std::ofstream(file, std::ios::app) << device.coverage().text();
  }
  std::mutex lock;
  Device device;
  int capability = 90;
  void* current = nullptr;
  void* stack[16] = {};
  int depth = 0;
  std::map<Loaded*, std::unique_ptr<Loaded>> modules;
  std::string launched;  // "tiles f, threads f", in order
};
Driver& driver() {
  static Driver d;
  return d;
}
int context, stream, event;  // their addresses are the handles

// The device that owns what a program allocates. The executor of PTX adopts memory that the one of tiles owns.
#ifdef ASHLAR_TILE_DRIVER
auto& memory(Driver&) { return tile_driver::device(); }
#else
auto& memory(Driver& d) { return d.device; }
#endif

// A fault for tests: what is changed is printed.
std::string planted(std::string text) {
  const char* plant = std::getenv("PTX_EXECUTOR_PLANT");
  if (plant == nullptr) return text;
  const std::string all = plant;
  const std::size_t first = all.find('/'), last = all.rfind('/');
  if (first == std::string::npos || first == last) throw ashlar::ptx::Error("PTX_EXECUTOR_PLANT is not N/REGEX/TEXT", 0);
  int number = std::atoi(all.c_str());
  const std::regex pattern(all.substr(first + 1, last - first - 1));
  std::istringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line)) {
    if (number > 0 && std::regex_search(line, pattern) && --number == 0) {
      const std::string changed = std::regex_replace(line, pattern, all.substr(last + 1));
      std::fprintf(stderr, "planted: %s -> %s\n", line.c_str(), changed.c_str());
      line = changed;
    }
    out += line + '\n';
  }
  return out;
}

template <class F>
int guarded(const char* function, F f) {
  const std::lock_guard<std::mutex> hold(driver().lock);
  try {
    return f(driver());
  } catch (const ashlar::ptx::Fault& e) {
    std::fprintf(stderr, "%s: %s\n", function, e.what());
    return e.kind == ashlar::ptx::FaultKind::kOutOfBounds ? kIllegalAddress : kLaunchFailed;
  } catch (const ashlar::ptx::Error& e) {
    std::fprintf(stderr, "%s: line %d: %s\n", function, e.line, e.what());
    return kInvalidValue;
  }
#ifdef ASHLAR_TILE_DRIVER
  catch (const ashlar::tileir::Fault& e) {
    std::fprintf(stderr, "%s: %s\n", function, e.what());
    return e.kind == ashlar::tileir::FaultKind::kOutOfBounds ? kIllegalAddress : kLaunchFailed;
  } catch (const ashlar::tileir::Error& e) {
    std::fprintf(stderr, "%s: %s\n", function, e.what());
    return kInvalidValue;
  }
#endif
}

}  // namespace

extern "C" {

int cuInit(unsigned flags) { return flags == 0 ? kSuccess : kInvalidValue; }
int cuDriverGetVersion(int* version) {
#ifdef ASHLAR_TILE_DRIVER
  const char* asked = std::getenv("TILE_EXECUTOR_VERSION");
  *version = asked ? std::atoi(asked) : 13050;
#else
  *version = 13000;
#endif
  return kSuccess;
}
int cuGetErrorName(int result, const char** name) {
  switch (result) {
    case kInvalidValue:
      *name = "CUDA_ERROR_INVALID_VALUE";
      return kSuccess;
    case kOutOfMemory:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      return kSuccess;
    case kInvalidContext:
      *name = "CUDA_ERROR_INVALID_CONTEXT";
      return kSuccess;
    case kNoBinaryForGpu:
      *name = "CUDA_ERROR_NO_BINARY_FOR_GPU";
      return kSuccess;
    case kInvalidPtx:
      *name = "CUDA_ERROR_INVALID_PTX";
      return kSuccess;
    case kInvalidHandle:
      *name = "CUDA_ERROR_INVALID_HANDLE";
      return kSuccess;
    case kNotFound:
      *name = "CUDA_ERROR_NOT_FOUND";
      return kSuccess;
    case kIllegalAddress:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      return kSuccess;
    case kLaunchFailed:
      *name = "CUDA_ERROR_LAUNCH_FAILED";
      return kSuccess;
    default:
      return kInvalidValue;
  }
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return kSuccess;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return number == 0 ? kSuccess : kInvalidValue;
}
int cuDeviceGetName(char* name, int room, int) {
  std::snprintf(name, static_cast<std::size_t>(room), "PTX executor");
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case kMaxThreads:
      *value = 1024;
      return kSuccess;
    case kMaxGridX:
      *value = 0x7fffffff;
      return kSuccess;
    case kMaxGridX + 1:
    case kMaxGridX + 2:
      *value = 65535;
      return kSuccess;
    case kMultiprocessors:
      *value = 2;
      return kSuccess;
    case kMajor:
      *value = driver().capability / 10;
      return kSuccess;
    case kMinor:
      *value = driver().capability % 10;
      return kSuccess;
    case kMaxSharedOptIn:
      *value = 227 << 10;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}
int cuDevicePrimaryCtxRetain(void** c, int) {
  *c = &context;
  return kSuccess;
}
int cuCtxGetCurrent(void** c) {
  *c = driver().current;
  return kSuccess;
}
int cuCtxSetCurrent(void* c) {
  driver().current = c;
  return kSuccess;
}
int cuCtxPushCurrent_v2(void* c) {
  Driver& d = driver();
  if (c != &context || d.depth == 16) return kInvalidContext;
  d.stack[d.depth++] = d.current;
  d.current = c;
  return kSuccess;
}
int cuCtxPopCurrent_v2(void** c) {
  Driver& d = driver();
  if (d.depth == 0) return kInvalidContext;
  *c = d.current;
  d.current = d.stack[--d.depth];
  return kSuccess;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return driver().current != nullptr ? kSuccess : kInvalidContext;
}
int cuCtxGetId(void* c, unsigned long long* id) {
  *id = 1;
  return c == &context ? kSuccess : kInvalidContext;
}
int cuCtxSynchronize() { return kSuccess; }
int cuStreamCreate(void** s, unsigned) {
  *s = &stream;
  return kSuccess;
}
int cuStreamGetCtx(void* s, void** c) {
  *c = &context;
  return s == &stream ? kSuccess : kInvalidHandle;
}
int cuStreamSynchronize(void*) { return kSuccess; }
int cuEventCreate(void** e, unsigned) {
  *e = &event;
  return kSuccess;
}
int cuEventRecord(void*, void*) { return kSuccess; }
int cuEventSynchronize(void*) { return kSuccess; }
int cuEventElapsedTime(float* ms, void*, void*) {  // nothing is timed here
  *ms = 0;
  return kSuccess;
}

int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  return guarded("cuMemAlloc", [&](Driver& d) {
    *address = memory(d).alloc(bytes);
#ifdef ASHLAR_TILE_DRIVER
    d.device.adopt(reinterpret_cast<void*>(*address), bytes);
#endif
    return kSuccess;
  });
}
int cuMemFree_v2(std::uint64_t address) {
  return guarded("cuMemFree", [&](Driver& d) {
    d.device.free(address);
#ifdef ASHLAR_TILE_DRIVER
    tile_driver::device().free(address);
#endif
    return kSuccess;
  });
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  return guarded("cuMemcpyHtoD", [&](Driver& d) {
    memory(d).write(to, from, bytes);
    return kSuccess;
  });
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  return guarded("cuMemcpyDtoH", [&](Driver& d) {
    memory(d).read(to, from, bytes);
    return kSuccess;
  });
}

int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void*) {
  return guarded("cuMemcpyDtoDAsync", [&](Driver& d) {
    std::vector<std::byte> all(bytes);
    d.device.read(all.data(), from, bytes);
    d.device.write(to, all.data(), bytes);
    return kSuccess;
  });
}

int cuModuleLoadData(void** module, const void* image) {
  if (std::memcmp(image, "\177ELF", 4) == 0) return kNoBinaryForGpu;
  const int r = guarded("cuModuleLoadData", [&](Driver& d) {
    auto l = std::make_unique<Loaded>();
#ifdef ASHLAR_TILE_DRIVER
    if (tile_driver::is_bytecode(image))
      l->tiles.emplace(image);
    else
#endif
      l->module.emplace(Module::parse(planted(static_cast<const char*>(image))));
    Loaded* key = l.get();
    d.modules[key] = std::move(l);
    *module = key;
    return kSuccess;
  });
  return r == kInvalidValue ? kInvalidPtx : r;
}
int cuModuleUnload(void* module) {
  Driver& d = driver();
  const auto at = d.modules.find(static_cast<Loaded*>(module));
  if (at == d.modules.end()) return kInvalidHandle;
  if (at->second->module) d.device.unload(*at->second->module);
  d.modules.erase(at);
  return kSuccess;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  auto* l = static_cast<Loaded*>(module);
  bool found = false;
  if (l->module)
    for (const auto& k : l->module->kernels()) found = found || k.name == name;
#ifdef ASHLAR_TILE_DRIVER
  found = found || (l->tiles && l->tiles->has(name));
#endif
  if (!found) return kNotFound;
  std::unique_ptr<Entry>& e = l->entries[name];
  if (!e) e = std::make_unique<Entry>(Entry{l, name});
  *function = e.get();
  return kSuccess;
}
int cuFuncGetAttribute(int* value, int attribute, void*) {
  *value = 1024;
  return attribute == 0 ? kSuccess : kInvalidValue;
}
int cuFuncSetAttribute(void*, int attribute, int value) {
  return attribute == 8 && value <= 227 << 10 ? kSuccess : kInvalidValue;
}

int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void*, void** parameters, void** extra) {
  if (extra != nullptr) return kInvalidValue;
  return guarded("cuLaunchKernel", [&](Driver& d) {
    const Entry& e = *static_cast<const Entry*>(function);
    d.launched += (d.launched.empty() ? "" : ", ") + std::string(e.loaded->module ? "threads " : "tiles ") + e.name;
#ifdef ASHLAR_TILE_DRIVER
    if (e.loaded->tiles) {
      if (bx != 1 || by != 1 || bz != 1 || shared != 0) return kInvalidValue;
      e.loaded->tiles->launch(e.name, {gx, gy, gz}, parameters);
      return kSuccess;
    }
#endif
    const ashlar::ptx::Kernel& k = e.loaded->module->kernel(e.name);
    std::vector<std::byte> bytes(k.parameter_bytes);
    for (std::size_t n = 0; n < k.parameters.size(); ++n)
      std::memcpy(bytes.data() + k.parameters[n].offset, parameters[n], k.parameters[n].bytes);
    ashlar::ptx::Grid g;
    g.grid = {gx, gy, gz}, g.block = {bx, by, bz}, g.dynamic_shared = shared;
    try {
      const ashlar::ptx::Report r = d.device.launch(*e.loaded->module, e.name, g, bytes);
      if (!r.printed.empty()) std::fputs(r.printed.c_str(), stdout);
    } catch (const ashlar::ptx::Fault&) {
      if (const char* keep = std::getenv("PTX_EXECUTOR_KEEP"); keep != nullptr && !std::ifstream(keep))
        std::ofstream(keep) << e.loaded->module->text();
      throw;
    }
    return kSuccess;
  });
}

int cuTensorMapEncodeTiled(std::uint64_t* map, int type, std::uint32_t rank, void* address, const std::uint64_t* extents,
                           const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* element_strides,
                           int interleave, int swizzle, int, int outside) {
  static constexpr std::uint32_t bytes_of[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};  // CUtensorMapDataType
  if (rank < 1 || rank > 5 || type < 0 || type > 12 || interleave != 0 || outside != 0 || swizzle < 0 || swizzle > 3)
    return kInvalidValue;
  if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0) return kInvalidValue;
  ashlar::ptx::TensorMap m;
  m.address = reinterpret_cast<std::uint64_t>(address), m.element_bytes = bytes_of[type], m.rank = rank;
  m.swizzle = swizzle == 0 ? 0 : 16u << swizzle;
  m.strides[0] = m.element_bytes;
  for (std::uint32_t n = 0; n < rank; ++n) {
    m.extents[n] = extents[n], m.box[n] = box[n], m.element_strides[n] = element_strides[n];
    if (extents[n] == 0 || box[n] == 0 || box[n] > 256) return kInvalidValue;
    if (n + 1 < rank) m.strides[n + 1] = strides[n];
    if (n + 1 < rank && strides[n] % 16 != 0) return kInvalidValue;  // 0: every box has the same
  }
  if (m.box[0] * m.element_bytes % 16 != 0 || (m.swizzle != 0 && m.box[0] * m.element_bytes > m.swizzle)) return kInvalidValue;
  const auto bits = encode(m);
  std::memcpy(map, bits.data(), 128);
  return kSuccess;
}

// For tests: what was launched since they asked last.
const char* ashlar_driver_launched() {
  static std::string told;
  told = std::move(driver().launched);
  driver().launched.clear();
  return told.c_str();
}

}  // extern "C"
