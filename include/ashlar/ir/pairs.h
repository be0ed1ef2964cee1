// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Walks over expressions that share parts. An expression of n nodes, each used twice by the next one, has 2^n ways through it;
// so a walk that goes on for long remembers the shared nodes where it was, and a comparison the pairs of nodes.
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

// Can a walk come to the node by two ways? Each way holds a count of it.
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
