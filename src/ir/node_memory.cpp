// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/node_memory.h"

#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASHLAR_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ASHLAR_ADDRESS_SANITIZER
#endif

namespace ashlar::ir {

namespace {

#ifdef ASHLAR_ADDRESS_SANITIZER
constexpr std::uint32_t sizes_kept = 0;
#else
constexpr std::uint32_t sizes_kept = 4;  // nodes of 0 to 3 operands
#endif
constexpr std::uint32_t most_kept = 8192;  // of each size: 0.8 MB

struct Block {
  Block* next;
};

// Expressions in static storage are dropped after the objects of the thread: what says so has no destructor.
thread_local bool ended = false;

struct Kept {
  Block* first[sizes_kept + 1] = {};
  std::uint32_t count[sizes_kept + 1] = {};
  ~Kept() {
    ended = true;
    for (Block* b : first)
      while (b) {
        Block* next = b->next;
        std::free(b);
        b = next;
      }
  }
};
thread_local Kept kept;

}  // namespace

void* take_node_memory(std::uint32_t operands) {
  if (operands < sizes_kept && !ended) {
    if (Block* b = kept.first[operands]) {
      kept.first[operands] = b->next;
      --kept.count[operands];
      return b;
    }
  }
  void* block = std::malloc(sizeof(Node) + operands * sizeof(Expr));
  if (!block) throw std::bad_alloc();
  return block;
}

void give_node_memory(const Node* node) {
  const std::uint32_t operands = node->count;
  void* block = const_cast<Node*>(node);
  if (operands < sizes_kept && !ended && kept.count[operands] < most_kept) {
    kept.first[operands] = new (block) Block{kept.first[operands]};
    ++kept.count[operands];
  } else {
    std::free(block);
  }
}

}  // namespace ashlar::ir
