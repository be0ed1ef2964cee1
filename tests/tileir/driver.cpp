// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/tileir/driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace tile_driver {

namespace tileir = ashlar::tileir;

namespace {

// A module says where it ends: sections, each with its length, and a zero.
std::span<const std::byte> whole(const void* image) {
  const auto* bytes = static_cast<const std::byte*>(image);
  std::size_t at = 12;  // behind the magic word and the version
  const auto number = [&] {
    std::uint64_t n = 0;
    for (int shift = 0;; shift += 7) {
      const auto b = std::to_integer<std::uint64_t>(bytes[at++]);
      n |= (b & 0x7F) << shift;
      if (b < 0x80) return n;
    }
  };
  for (;;) {
    const auto id = std::to_integer<unsigned>(bytes[at++]);
    if (id == 0) return {bytes, at};
    const std::uint64_t length = number();
    if (id & 0x80) {
      const std::uint64_t alignment = number();
      at = (at + alignment - 1) / alignment * alignment;
    }
    at += length;
  }
}

}  // namespace

bool is_bytecode(const void* image) { return std::memcmp(image, "\177TileIR", 8) == 0; }

tileir::Device& device() {
  static tileir::Device d;
  return d;
}

Module::Module(const void* image) : code(tileir::Module::read(whole(image))) {}

bool Module::has(const std::string& entry) const {
  const auto& all = code.kernels();
  return std::any_of(all.begin(), all.end(), [&](const tileir::Kernel& k) { return k.name == entry; });
}

void Module::launch(const std::string& entry, const tileir::Grid& grid, void** parameters) const {
  std::vector<tileir::Argument> arguments;
  for (const tileir::Parameter& p : code.kernel(entry).parameters) {
    tileir::Argument a;
    a.size = p.bytes;
    std::memcpy(a.bytes.data(), parameters[arguments.size()], p.bytes);
    arguments.push_back(a);
  }
  device().run(code, entry, grid, arguments, 7);  // blocks in an order of their own
}

}  // namespace tile_driver
