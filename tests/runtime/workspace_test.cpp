// Workspaces that the default allocator keeps: which block comes back, which one goes, and that no two calls hold one.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <ashlar/runtime/runtime.h>
extern "C" {
#include "runtime/internal.h"
}

namespace {
struct Taken {  // a block of the runtime's allocator, written from end to end
  Taken(std::size_t size, std::size_t align) : block(ashlar_block_take(size, align)), bytes(size) {
    REQUIRE(block != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % align == 0);
    std::memset(block, 0x5a, size);
  }
  ~Taken() { ashlar_block_give(block); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  void* block;
  std::size_t bytes;
};
void* address_of(std::size_t bytes, std::size_t align) { return Taken(bytes, align).block; }
}  // namespace

TEST_CASE("a workspace is kept for the next call that it is large enough for") {
  constexpr std::size_t mib = 1 << 20;
  void* const first = address_of(3 * mib, 64);
  CHECK(address_of(3 * mib, 64) == first);
  CHECK(address_of(2 * mib, 64) == first);
  Taken held(3 * mib, 64);
  CHECK(held.block == first);
  CHECK(address_of(2 * mib, 64) != first);  // in use: another one
  { Taken aligned(mib, 4096); }
  setenv("ASHLAR_WORKSPACE_MB", "4", 1);  // what would be too much goes, the oldest first
  void* const three = address_of(3 * mib, 64);
  void* const two = address_of(3 * mib + 1, 64);
  CHECK(three != first);
  CHECK(address_of(3 * mib + 1, 64) == two);
  setenv("ASHLAR_WORKSPACE_MB", "0", 1);
  { Taken none(mib, 64); }
  unsetenv("ASHLAR_WORKSPACE_MB");
  CHECK(ashlar_block_take(SIZE_MAX - 8, 64) == nullptr);
}

TEST_CASE("threads that take and give workspaces never hold the same one") {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &wrong] {
      for (int n = 0; n < 2000; ++n) {
        const std::size_t bytes = (std::size_t{1} << 16) + static_cast<std::size_t>((n * 7 + t) % 5) * 4096;
        auto* block = static_cast<volatile int*>(ashlar_block_take(bytes, 64));
        block[0] = t;
        block[bytes / sizeof(int) - 1] = n;
        wrong += block[0] != t || block[bytes / sizeof(int) - 1] != n;
        ashlar_block_give(const_cast<int*>(block));
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}
