// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Walks over expressions with shared parts. If each of n nodes is used twice by the next one, there are 2^n paths through the
// expression. So a long walk remembers the shared nodes that it has visited, and a comparison the pairs of nodes.
//
//   Pairs met;
//   bool equal(x, y) { … if (met.again(x, y)) return true; … operands … }      stops at the first difference: a pair that was
//                                                                              met, and is met again, was equal
#include <atomic>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include <ashlar/ir/expr.h>

namespace ashlar::ir {

// Whether a walk can reach the node on two paths. Each path holds a reference to it.
inline bool is_shared(const Node* n) { return std::atomic_ref<std::uint32_t>(n->refs).load(std::memory_order_relaxed) > 1; }

class Pairs {
 public:
  bool again(const Node* x, const Node* y) {
    if (++steps_ < few || !is_shared(x) || !is_shared(y)) return false;
    return !met_.emplace(x, y).second;
  }
  bool again(const Node* x) { return again(x, x); }

 private:
  static constexpr int few = 64;
  struct Hash {
    std::size_t operator()(const std::pair<const Node*, const Node*>& p) const {
      return static_cast<std::size_t>(p.first->hash * 0x9e3779b97f4a7c15ull) ^ reinterpret_cast<std::uintptr_t>(p.second) / 16;
    }
  };
  int steps_ = 0;
  std::unordered_set<std::pair<const Node*, const Node*>, Hash> met_;
};

}  // namespace ashlar::ir
