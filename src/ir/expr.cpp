#include <ashlar/ir/expr.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

namespace ashlar {
namespace {

void retain(const ir::Node* node) {
  if (node) std::atomic_ref<std::uint32_t>(node->refs).fetch_add(1, std::memory_order_relaxed);
}

bool drop(const ir::Node* node) {  // true: that was the last count
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
    std::free(const_cast<ir::Node*>(node));
    if (!next && !pending.empty()) {
      next = pending.back();
      pending.pop_back();
    }
    node = next;
  }
}

}  // namespace

Expr::Expr(const Expr& other) : node_(other.node_) { retain(node_); }
Expr& Expr::operator=(const Expr& other) {
  retain(other.node_);
  const ir::Node* old = node_;
  node_ = other.node_;
  release(old);
  return *this;
}
Expr& Expr::operator=(Expr&& other) noexcept {
  if (this != &other) {
    release(node_);
    node_ = other.node_;
    other.node_ = nullptr;
  }
  return *this;
}
Expr::~Expr() { release(node_); }

Type Expr::type() const {
  if (!node_) refuse("expression", "a value", "an empty Expr", Where::current());
  return node_->type;
}

Expr Expr::integer(Type type, std::int64_t value, Where where) { return ir::int_const(type, value, where); }
Expr Expr::real(Type type, double value, Where where) { return ir::float_const(type, value, where); }

namespace ir {

const char* intern(std::string_view name) {
  static std::set<std::string, std::less<>> table;
  auto it = table.find(name);
  if (it == table.end()) it = table.emplace(name).first;
  return it->c_str();
}

Id fresh_id() {
  static std::atomic<Id> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ir
}  // namespace ashlar
