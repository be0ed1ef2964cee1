// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Memory of the device that cases run on, CUDA's or Vulkan's, by what their descriptors say.
//
//   std::string why;
//   auto place = ahead::Place::open(2, &why);       // 2: CUDA, 7: Vulkan; null, and the reason, without a device
//   auto memory = place->memory(bytes);
//   memory->upload(from);
//   tensor.data = memory->data();
#include <cstddef>
#include <memory>
#include <string>

namespace ahead {

class Block {
 public:
  virtual ~Block() = default;
  virtual void* data() const = 0;  // for ashlar_tensor
  virtual void upload(const void*) const = 0;
  virtual void download(void*) const = 0;
};

class Place {
 public:
  static std::unique_ptr<Place> open(int device_type, std::string* why_not);
  virtual ~Place() = default;
  virtual std::string name() const = 0;
  virtual bool lost() const = 0;  // nothing runs in this process any more
  virtual std::unique_ptr<Block> memory(std::size_t bytes) const = 0;
};

}  // namespace ahead
