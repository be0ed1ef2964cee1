// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

Device::Device() : state_(std::make_unique<State>()) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

std::uint64_t Device::alloc(std::size_t bytes, std::size_t align) {
  if (align == 0 || (align & (align - 1)) != 0) throw Error("alloc: an alignment of " + std::to_string(align));
  return state_->memory.alloc(bytes, align).base;
}
void Device::adopt(void* memory, std::size_t bytes) { state_->memory.adopt(memory, bytes); }
void Device::free(std::uint64_t address) { state_->memory.free(address); }

void Device::write(std::uint64_t to, const void* from, std::size_t bytes) {
  Allocation* a = state_->memory.find(to, bytes);
  if (a == nullptr) throw Error("write: " + std::to_string(bytes) + " bytes do not lie in an allocation");
  std::memcpy(a->bytes() + (to - a->base), from, bytes);
  std::fill_n(a->written.begin() + static_cast<std::ptrdiff_t>(to - a->base), bytes, u8(1));
}
void Device::read(void* to, std::uint64_t from, std::size_t bytes) const {
  const Allocation* a = state_->memory.find(from, bytes);
  if (a == nullptr) throw Error("read: " + std::to_string(bytes) + " bytes do not lie in an allocation");
  std::memcpy(to, a->bytes() + (from - a->base), bytes);
}
bool Device::written(std::uint64_t address, std::size_t bytes) const {
  const Allocation* a = state_->memory.find(address, bytes);
  if (a == nullptr) throw Error("written: " + std::to_string(bytes) + " bytes do not lie in an allocation");
  const auto first = a->written.begin() + static_cast<std::ptrdiff_t>(address - a->base);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(bytes), [](u8 w) { return w != 0; });
}

Checks& Device::checks() { return state_->checks; }
Coverage& Device::coverage() { return state_->coverage; }

namespace {

// Globals live as long as the device: a module is loaded when it is first launched.
const std::map<std::string, u64>& globals_of(Device::State& s, std::shared_ptr<const Image> image) {
  const auto at = s.globals.find(image.get());
  if (at != s.globals.end()) return at->second.second;
  std::map<std::string, u64> places;
  for (const Global& g : image->globals) {
    const std::size_t bytes = static_cast<std::size_t>(storage_bytes(g.type->element()));
    Allocation& a = s.memory.alloc(bytes * g.elements.size(), std::max<std::size_t>(g.alignment, 16));
    for (std::size_t n = 0; n < g.elements.size(); ++n) {
      const u64 v = g.type->element() == Kind::kTf32 ? g.elements[n] << 13 : g.elements[n];
      for (std::size_t b = 0; b < bytes; ++b) a.bytes()[n * bytes + b] = static_cast<u8>(v >> (8 * b));
    }
    std::fill(a.written.begin(), a.written.end(), u8(1));
    a.read_only = g.constant;
    places[g.name] = a.base;
  }
  const Image* key = image.get();
  return (s.globals[key] = {std::move(image), std::move(places)}).second;
}

}  // namespace

Report Device::run(const Module& module, std::string_view name, const Grid& grid, std::span<const Argument> arguments,
                   std::uint64_t order) {
  const Kernel& kernel = module.kernel(name);
  const Image& image = module.image();
  const auto function =
      std::find_if(image.functions.begin(), image.functions.end(), [&](const Function& f) { return f.name == name; });
  if (arguments.size() != kernel.parameters.size())
    throw Error("kernel " + kernel.name + " takes " + std::to_string(kernel.parameters.size()) + " arguments, and " +
                std::to_string(arguments.size()) + " are given");
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    const Parameter& p = kernel.parameters[n];
    if (p.bytes == 0)
      throw Error("parameter " + std::to_string(n) + " of kernel " + kernel.name + " is " + p.type +
                  ", which no launch can give");
    if (p.bytes != arguments[n].size)
      throw Error("parameter " + std::to_string(n) + " of kernel " + kernel.name + " is " + p.type + ", and " +
                  std::to_string(arguments[n].size) + " bytes are given");
  }
  for (const u32 g : grid)
    if (g == 0) throw Error("a grid without blocks");
  if (static_cast<u64>(grid[0]) * grid[1] > (u64(1) << 31) / grid[2]) throw Error("a grid of more than 2^31 blocks");
  state_->memory.forget();
  Run r{*state_, image, *function, globals_of(*state_, std::shared_ptr<const Image>(module.image_)), grid};
  r.counts.resize(256);
  const auto finish = [&] {
    for (const OpInfo& o : table())
      if (const u64 n = r.counts[static_cast<std::size_t>(o.code)]; n > 0) state_->coverage[o.name] += n;
    for (const u64 a : r.block_memory) state_->memory.free(a);
    r.block_memory.clear();
  };
  try {
    r.all(order, arguments);
  } catch (...) {
    finish();
    throw;
  }
  finish();
  for (const char* around : {"entry", "module"}) ++state_->coverage[around];
  if (!image.globals.empty()) ++state_->coverage["global"];
  return std::move(r.report);
}

}  // namespace ashlar::tileir
