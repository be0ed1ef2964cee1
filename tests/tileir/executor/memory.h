// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Global memory: allocations of the host's memory, and of every byte whether somebody wrote it and who touched it in this
// launch.
#include <map>
#include <memory>
#include <vector>

#include "tests/tileir/executor/executor.h"
#include "tests/tileir/executor/races.h"

namespace ashlar::tileir {

struct Allocation {
  u64 base = 0;
  std::size_t size = 0;
  std::unique_ptr<std::byte[]> owned;
  std::vector<u8> written;
  std::vector<Touched> touched;  // empty: nothing in this launch
  bool read_only = false;
  u8* bytes() const { return reinterpret_cast<u8*>(base); }
};

class Memory {
 public:
  Allocation& alloc(std::size_t bytes, std::size_t align);
  void adopt(void* memory, std::size_t bytes);
  void free(u64 base);
  Allocation* find(u64 address, std::size_t bytes);  // null: it does not lie in one
  const Allocation* find(u64 address, std::size_t bytes) const { return const_cast<Memory*>(this)->find(address, bytes); }
  void forget();  // who touched what

 private:
  std::map<u64, Allocation> all_;
  Allocation* last_ = nullptr;
};

}  // namespace ashlar::tileir
