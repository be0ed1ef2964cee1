#include "bench/gpu/device.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace gpu_bench {

struct Driver {
#define ASHLAR_GPU_FUNCTIONS(X)                                               \
  X(Init, "cuInit", (unsigned))                                               \
  X(DriverGetVersion, "cuDriverGetVersion", (int*))                           \
  X(DeviceGetCount, "cuDeviceGetCount", (int*))                               \
  X(DeviceGet, "cuDeviceGet", (int*, int))                                    \
  X(DeviceGetName, "cuDeviceGetName", (char*, int, int))                      \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", (int*, int, int))             \
  X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (void**, int))        \
  X(CtxSetCurrent, "cuCtxSetCurrent", (void*))                                \
  X(CtxSynchronize, "cuCtxSynchronize", ())                                   \
  X(StreamCreate, "cuStreamCreate", (void**, unsigned))                       \
  X(EventCreate, "cuEventCreate", (void**, unsigned))                         \
  X(EventRecord, "cuEventRecord", (void*, void*))                             \
  X(EventSynchronize, "cuEventSynchronize", (void*))                          \
  X(EventElapsedTime, "cuEventElapsedTime", (float*, void*, void*))           \
  X(MemAlloc, "cuMemAlloc_v2", (std::uint64_t*, std::size_t))                 \
  X(MemFree, "cuMemFree_v2", (std::uint64_t))                                 \
  X(MemcpyHtoD, "cuMemcpyHtoD_v2", (std::uint64_t, const void*, std::size_t)) \
  X(MemcpyDtoH, "cuMemcpyDtoH_v2", (void*, std::uint64_t, std::size_t))
#define ASHLAR_GPU_DECLARE(name, symbol, parameters) int(*name) parameters = nullptr;
  ASHLAR_GPU_FUNCTIONS(ASHLAR_GPU_DECLARE)
#undef ASHLAR_GPU_DECLARE
};

namespace {

constexpr int kMajor = 75, kMinor = 76, kNonBlocking = 1;

std::string find_functions(Driver& d) {
  const char* wanted = std::getenv("ASHLAR_CUDA_LIBRARY");
  const std::string name = wanted ? wanted : "libcuda.so.1";
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return name + " cannot be opened: no NVIDIA driver is here";
#define ASHLAR_GPU_FIND(function, symbol, parameters)              \
  *reinterpret_cast<void**>(&d.function) = dlsym(library, symbol); \
  if (d.function == nullptr) return "the driver " + name + " has no " + symbol;
  ASHLAR_GPU_FUNCTIONS(ASHLAR_GPU_FIND)
#undef ASHLAR_GPU_FIND
  int devices = 0;
  if (const int r = d.Init(0); r != 0) return "cuInit returned " + std::to_string(r);
  if (const int r = d.DeviceGetCount(&devices); r != 0 || devices == 0) return "the driver sees no device";
  return "";
}

}  // namespace

void Device::require(int result, const char* function) const {
  if (result != 0) throw std::runtime_error(std::string(function) + " returned " + std::to_string(result));
}

std::unique_ptr<Device> Device::open(std::string* why_not) {
  std::unique_ptr<Device> d(new Device);
  d->driver_ = std::make_unique<Driver>();
  *why_not = find_functions(*d->driver_);
  if (!why_not->empty()) return nullptr;
  const Driver& cu = *d->driver_;
  int device = 0, major = 0, minor = 0;
  char name[256] = {};
  void* context = nullptr;
  d->require(cu.DriverGetVersion(&d->version_), "cuDriverGetVersion");
  d->require(cu.DeviceGet(&device, 0), "cuDeviceGet");
  d->require(cu.DeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  d->require(cu.DeviceGetAttribute(&major, kMajor, device), "cuDeviceGetAttribute");
  d->require(cu.DeviceGetAttribute(&minor, kMinor, device), "cuDeviceGetAttribute");
  d->require(cu.DevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  d->require(cu.CtxSetCurrent(context), "cuCtxSetCurrent");
  d->require(cu.StreamCreate(&d->stream_, kNonBlocking), "cuStreamCreate");
  d->require(cu.EventCreate(&d->begin_, 0), "cuEventCreate");
  d->require(cu.EventCreate(&d->end_, 0), "cuEventCreate");
  d->name_ = name;
  d->capability_ = 10 * major + minor;
  return d;
}

Device::~Device() = default;  // the process ends with its context

void Device::synchronize() const { require(driver_->CtxSynchronize(), "cuCtxSynchronize"); }

bool Device::lost() const { return driver_->CtxSynchronize() != 0; }

double Device::microseconds(int runs, const std::function<void()>& f) const {
  std::vector<float> times;
  for (int n = -3; n < runs; ++n) {
    require(driver_->EventRecord(begin_, stream_), "cuEventRecord");
    f();
    require(driver_->EventRecord(end_, stream_), "cuEventRecord");
    require(driver_->EventSynchronize(end_), "cuEventSynchronize");
    float ms = 0;
    require(driver_->EventElapsedTime(&ms, begin_, end_), "cuEventElapsedTime");
    if (n >= 0) times.push_back(ms);
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return 1e3 * static_cast<double>(times[static_cast<std::size_t>(runs / 2)]);
}

Memory::Memory(const Device& d, std::size_t bytes) : device_(d), bytes_(std::max<std::size_t>(bytes, 1)) {
  device_.require(device_.driver_->MemAlloc(&address_, bytes_), "cuMemAlloc");
}
Memory::~Memory() { (void)device_.driver_->MemFree(address_); }  // after a lost device nothing can be given back
void Memory::upload(const void* from) const {
  device_.require(device_.driver_->MemcpyHtoD(address_, from, bytes_), "cuMemcpyHtoD");
}
void Memory::download(void* to) const { device_.require(device_.driver_->MemcpyDtoH(to, address_, bytes_), "cuMemcpyDtoH"); }

void Workspace::lend_to(ashlar_context& c) { c.user = this, c.allocate = allocate, c.release = release; }

void* Workspace::allocate(void* user, std::size_t bytes, std::size_t, std::int32_t, std::int32_t) {
  auto* w = static_cast<Workspace*>(user);
  if (!w->block_ || w->block_->bytes() < bytes) {
    w->block_.reset();  // the driver waits for the work that uses it
    try {
      w->block_ = std::make_unique<Memory>(w->device_, bytes);
    } catch (const std::runtime_error&) { return nullptr; }  // which the runtime reports
  }
  return w->block_->pointer();
}
void Workspace::release(void*, void*, std::int32_t, std::int32_t) {}

}  // namespace gpu_bench
