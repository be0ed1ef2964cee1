#pragma once
// A CUDA device for measurements: opened at run time as the runtime does, with memory, a stream and events.
//
//   std::string why;  auto device = gpu_bench::Device::open(&why);      // null, and why, where none can be used
//   gpu_bench::Memory x(*device, bytes);  x.upload(data);
//   device->microseconds(20, [&] { … launches on device->stream() … });      // the median of 20 runs
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <ashlar/runtime/runtime.h>

namespace gpu_bench {

struct Driver;

class Device {
 public:
  static std::unique_ptr<Device> open(std::string* why_not);
  ~Device();

  const std::string& name() const { return name_; }
  int capability() const { return capability_; }   // 90 of 9.0
  int driver_version() const { return version_; }  // 12040 of CUDA 12.4
  void* stream() const { return stream_; }
  void synchronize() const;
  bool lost() const;  // a kernel failed, and with it the context: nothing will run in this process any more
  // Of one run, from events of the device around it; after three that are not counted.
  double microseconds(int runs, const std::function<void()>&) const;

 private:
  friend class Memory;
  Device() = default;
  void require(int result, const char* function) const;  // throws std::runtime_error
  std::unique_ptr<Driver> driver_;
  std::string name_;
  int capability_ = 0, version_ = 0;
  void *stream_ = nullptr, *begin_ = nullptr, *end_ = nullptr;
};

class Memory {
 public:
  Memory(const Device&, std::size_t bytes);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();
  void* pointer() const { return reinterpret_cast<void*>(address_); }
  void upload(const void* from) const;
  void download(void* to) const;
  std::size_t bytes() const { return bytes_; }

 private:
  const Device& device_;
  std::size_t bytes_;
  std::uint64_t address_ = 0;
};

// Workspaces of calls on the device's stream, which run one after another: they share a block, which grows.
class Workspace {
 public:
  explicit Workspace(const Device& d) : device_(d) {}
  void lend_to(ashlar_context&);  // as its allocator; lives as long as its calls

 private:
  static void* allocate(void* user, std::size_t bytes, std::size_t align, std::int32_t device_type, std::int32_t device);
  static void release(void* user, void* block, std::int32_t device_type, std::int32_t device);
  const Device& device_;
  std::unique_ptr<Memory> block_;
};

}  // namespace gpu_bench
