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

// Iterative, so that expressions of any depth can be dropped.
void release(const ir::Node* node) {
  if (!node || std::atomic_ref<std::uint32_t>(node->refs).fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::vector<const ir::Node*> pending{node};
  while (!pending.empty()) {
    const ir::Node* n = pending.back();
    pending.pop_back();
    for (std::uint32_t k = 0; k < n->count; ++k) {
      const ir::Node* child = n->args[k].node();
      if (std::atomic_ref<std::uint32_t>(child->refs).fetch_sub(1, std::memory_order_acq_rel) == 1) pending.push_back(child);
    }
    std::free(const_cast<ir::Node*>(n));
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
