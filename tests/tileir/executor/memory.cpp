// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/tileir/executor/memory.h"

#include <algorithm>

namespace ashlar::tileir {

Allocation& Memory::alloc(std::size_t bytes, std::size_t align) {
  Allocation a;
  a.owned = std::make_unique<std::byte[]>(bytes + align);
  const u64 at = reinterpret_cast<u64>(a.owned.get());
  a.base = (at + align - 1) / align * align, a.size = bytes;
  a.written.assign(bytes, 0);
  last_ = nullptr;
  return all_[a.base] = std::move(a);
}

void Memory::adopt(void* memory, std::size_t bytes) {
  const u64 at = reinterpret_cast<u64>(memory);
  const auto next = all_.lower_bound(at);
  if ((next != all_.end() && next->first < at + bytes) ||
      (next != all_.begin() && std::prev(next)->second.base + std::prev(next)->second.size > at))
    throw Error("adopt: some of that memory is an allocation already");
  Allocation a;
  a.base = at, a.size = bytes;
  a.written.assign(bytes, 1);
  all_[at] = std::move(a);
  last_ = nullptr;
}

void Memory::free(u64 base) {
  last_ = nullptr;
  if (all_.erase(base) == 0) throw Error("free: there is no allocation at that address");
}

Allocation* Memory::find(u64 address, std::size_t bytes) {
  const auto holds = [&](const Allocation& a) {
    return address >= a.base && address - a.base <= a.size && bytes <= a.size - (address - a.base);
  };
  if (last_ != nullptr && holds(*last_)) return last_;
  auto at = all_.upper_bound(address);
  if (at == all_.begin()) return nullptr;
  Allocation& a = (--at)->second;
  return holds(a) ? last_ = &a : nullptr;
}

void Memory::forget() {
  for (auto& [base, a] : all_) a.touched.clear();
}

}  // namespace ashlar::tileir
