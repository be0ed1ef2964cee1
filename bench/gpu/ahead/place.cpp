// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/ahead/place.h"

#include <stdexcept>

#include <ashlar/runtime/vulkan.h>

#include "bench/gpu/device.h"

namespace ahead {

namespace {

class CudaBlock : public Block {
 public:
  CudaBlock(const gpu_bench::Device& d, std::size_t bytes) : memory_(d, bytes) {}
  void* data() const override { return memory_.pointer(); }
  void upload(const void* from) const override { memory_.upload(from); }
  void download(void* to) const override { memory_.download(to); }

 private:
  gpu_bench::Memory memory_;
};

class Cuda : public Place {
 public:
  explicit Cuda(std::unique_ptr<gpu_bench::Device> d) : device_(std::move(d)) {}
  std::string name() const override {
    const int c = device_->capability();
    return device_->name() + " (compute capability " + std::to_string(c / 10) + "." + std::to_string(c % 10) +
           ", driver for CUDA " + std::to_string(device_->driver_version() / 1000) + "." +
           std::to_string(device_->driver_version() % 1000 / 10) + ")";
  }
  bool lost() const override { return device_->lost(); }
  std::unique_ptr<Block> memory(std::size_t bytes) const override { return std::make_unique<CudaBlock>(*device_, bytes); }

 private:
  std::unique_ptr<gpu_bench::Device> device_;
};

std::string sentence(const ashlar_error& e) {
  std::string text(ashlar_error_text(&e, nullptr, 0), '\0');
  ashlar_error_text(&e, text.data(), text.size() + 1);
  return text;
}

void require(int code, const ashlar_error& e) {
  if (code != ASHLAR_OK) throw std::runtime_error(sentence(e));
}

class VulkanBlock : public Block {
 public:
  VulkanBlock(ashlar_vulkan_queue* q, std::size_t bytes) {
    ashlar_error e = {};
    require(ashlar_vulkan_alloc(q, bytes, &buffer_, &e), e);
  }
  VulkanBlock(const VulkanBlock&) = delete;
  VulkanBlock& operator=(const VulkanBlock&) = delete;
  ~VulkanBlock() override { ashlar_vulkan_free(buffer_); }
  void* data() const override { return buffer_; }
  void upload(const void* from) const override {
    ashlar_error e = {};
    require(ashlar_vulkan_upload(buffer_, 0, from, buffer_->bytes, &e), e);
  }
  void download(void* to) const override {
    ashlar_error e = {};
    require(ashlar_vulkan_download(buffer_, 0, to, buffer_->bytes, &e), e);
  }

 private:
  ashlar_vulkan_buffer* buffer_ = nullptr;
};

class Vulkan : public Place {
 public:
  explicit Vulkan(ashlar_vulkan_queue* q) : queue_(q) {}
  std::string name() const override { return ashlar_vulkan_device_name(queue_); }
  bool lost() const override {
    ashlar_error e = {};
    return ashlar_vulkan_wait(queue_, &e) != ASHLAR_OK;
  }
  std::unique_ptr<Block> memory(std::size_t bytes) const override { return std::make_unique<VulkanBlock>(queue_, bytes); }

 private:
  ashlar_vulkan_queue* queue_;  // until the process ends
};

}  // namespace

std::unique_ptr<Place> Place::open(int device_type, std::string* why_not) {
  if (device_type == 2) {
    auto device = gpu_bench::Device::open(why_not);
    return device ? std::make_unique<Cuda>(std::move(device)) : nullptr;
  }
  ashlar_vulkan_queue* queue = nullptr;
  ashlar_error e = {};
  if (ashlar_vulkan_open(nullptr, &queue, &e) == ASHLAR_OK) return std::make_unique<Vulkan>(queue);
  *why_not = sentence(e);
  return nullptr;
}

}  // namespace ahead
