// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/expr.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

#include "ir/node_memory.h"

namespace ashlar {
namespace {

// A process that has never started a second thread counts without atomic operations.
#if __has_include(<sys/single_threaded.h>)
bool alone() { return __libc_single_threaded != 0; }
#else
bool alone() { return false; }
#endif

void retain(const ir::Node* node) {
  if (!node) return;
  if (alone())
    ++node->refs;
  else
    std::atomic_ref<std::uint32_t>(node->refs).fetch_add(1, std::memory_order_relaxed);
}

bool drop(const ir::Node* node) {  // true: that was the last count
  if (alone()) return --node->refs == 0;
  return std::atomic_ref<std::uint32_t>(node->refs).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// Iterative, so that expressions of any depth can be dropped; the list is only needed where several operands end at once.
void release(const ir::Node* node) {
  if (!node || !drop(node)) return;
  std::vector<const ir::Node*> pending;
  while (node) {
    const ir::Node* next = nullptr;
    for (std::uint32_t k = 0; k < node->count; ++k) {
      const ir::Node* child = node->args[k].node();
      if (!drop(child)) continue;
      if (next) pending.push_back(next);
      next = child;
    }
    ir::give_node_memory(node);
    if (!next && !pending.empty()) {
      next = pending.back();
      pending.pop_back();
    }
    node = next;
  }
}

}  // namespace

Expr::Expr(const Expr& other) : node_(other.node_) { retain(node_); }
Expr& Expr::operator=(const Expr& other) & {
  retain(other.node_);
  const ir::Node* old = node_;
  node_ = other.node_;
  release(old);
  return *this;
}
Expr& Expr::operator=(Expr&& other) & noexcept {
  if (this != &other) {
    release(node_);
    node_ = other.node_;
    other.node_ = nullptr;
  }
  return *this;
}
void Expr::drop() const { release(node_); }

Type Expr::type() const {
  if (!node_) refuse("expression", "a value", "an empty Expr", Where::current());
  return node_->type;
}

Expr Expr::integer(Type type, std::int64_t value, Where where) { return ir::int_const(type, value, where); }
Expr Expr::real(Type type, double value, Where where) { return ir::float_const(type, value, where); }

namespace ir {

const char* intern(std::string_view name) {
  static std::set<std::string, std::less<>> table;
  static std::mutex guard;
  std::unique_lock lock(guard, std::defer_lock);
  if (!alone()) lock.lock();
  auto it = table.find(name);
  if (it == table.end()) it = table.emplace(name).first;
  return it->c_str();
}

Id fresh_id() {
  static std::atomic<Id> next{first_of_process};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ir
}  // namespace ashlar
