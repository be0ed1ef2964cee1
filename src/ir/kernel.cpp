// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/kernel.h>

#include <ashlar/ir/refusal.h>

namespace ashlar::ir {

const BufferFacts& KBuffer::facts() const {
  static const BufferFacts none;
  return lowering ? *lowering : none;
}

void KStmt::wrong_kind() { throw InternalError("a statement of another kind than was asked for"); }

namespace {

template <class Body, class Node>
Bodies<Body> bodies_of(Node& node) {
  const auto lists = [](auto& n) -> Bodies<Body> {
    if constexpr (requires { n.otherwise; })
      return {{&n.body, &n.otherwise}, 2};
    else if constexpr (requires { n.body; })
      return {{&n.body, nullptr}, 1};
    else
      return {};
  };
  return std::visit(lists, node);
}

}  // namespace

Bodies<KBody> KStmt::bodies() { return bodies_of<KBody>(node); }
Bodies<const KBody> KStmt::bodies() const { return bodies_of<const KBody>(node); }

const KFor* as_loop(const KStmt& s, LoopKind kind) {
  const KFor* loop = s.as<KFor>();
  return loop && loop->kind == kind ? loop : nullptr;
}
KFor* as_loop(KStmt& s, LoopKind kind) {
  KFor* loop = s.as<KFor>();
  return loop && loop->kind == kind ? loop : nullptr;
}

}  // namespace ashlar::ir
