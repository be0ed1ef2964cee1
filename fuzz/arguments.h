#pragma once
// Actual arguments for a program: shapes that satisfy its facts, values, strides; and the same memory as C tensors between
// guard bytes.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/runtime/vulkan.h>

#include "each.h"
#include "source.h"

#include "bench/gpu/device.h"
#include "tests/emulated/emulator.h"

namespace fuzz {

struct Values {
  bool exact = false, edges = false;
};  // as in Made

// What a schedule has calls promise: conditions over Symbols, and inputs without two equal elements.
struct Promises {
  std::vector<ashlar::Expr> conditions;
  std::set<ashlar::ir::Id> injective;
};
using Sizes = std::map<std::string, std::int64_t>;
// Values of the Symbols that a promise keeps, and, where the first ones drawn did not, those. Nothing where none were found.
struct Shapes {
  std::optional<Sizes> kept, broken;
};
Shapes draw_sizes(Source&, const ashlar::ir::Program&, const Promises&);

// Outputs are filled with a pattern. Rows are padded, and dimensions swapped, only where the program takes that. Nothing where
// a type has too few values for an input without equal elements.
std::optional<ashlar::interp::Arguments> draw_arguments(Source&, const ashlar::ir::Program&, const Values&, const Sizes&,
                                                        std::string& described, const Promises& = {});

// A device whose memory arguments lie in; at most one of them.
struct OnDevice {
  ashlar_vulkan_queue* vulkan = nullptr;
  const gpu_bench::Device* cuda = nullptr;
  explicit operator bool() const { return vulkan || cuda; }
};

// Arguments in memory of their own, for a C entry: of this process, or of a device; those that the scheduled program takes
// packed, so. Lives as long as the call. Throws std::runtime_error where the device fails.
class Guarded {
 public:
  Guarded(const ashlar::ir::Program&, const ashlar::interp::Arguments&, const Sizes&, const OnDevice& = {});
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  const std::vector<const void*>& pointers() const { return pointers_; }
  // The same for a kernel elsewhere, and what it left there. There are no scalars among them.
  std::vector<emulated::Tensor> tensors() const;
  void put(const std::vector<emulated::Tensor>&);
  // What was written: back into the arrays; "" or the first byte outside an output's elements that changed.
  std::string take(ashlar::interp::Arguments&);

 private:
  struct Free {
    void operator()(ashlar_vulkan_buffer* b) const { ashlar_vulkan_free(b); }
  };
  struct Block {
    std::vector<std::byte> memory, before;
    std::size_t at = 0, size = 0;  // of the tensor's bytes in the memory
    std::unique_ptr<ashlar_vulkan_buffer, Free> on_device;
    std::unique_ptr<gpu_bench::Memory> on_cuda;
    ashlar_tensor tensor = {};
    std::vector<std::int64_t> shape, strides;
    std::uint64_t scalar = 0;
  };
  const ashlar::ir::Program& program_;
  std::vector<Block> blocks_;
  std::vector<const void*> pointers_;
};

}  // namespace fuzz
