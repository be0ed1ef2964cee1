// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/codegen/affine.h>

#include <ashlar/ir/build.h>

namespace ashlar::codegen {

using ir::Op;

std::optional<Affine> affine(const Expr& e) {
  const auto args = ir::args_of(e);
  std::int64_t c = 0;
  if (ir::is_int(e, &c)) return Affine{c, {}};
  if (ir::is(e, Op::var)) return Affine{0, {{e.node()->id, 1}}};
  if (ir::is(e, Op::add) || ir::is(e, Op::sub)) {
    auto x = affine(args[0]);
    const auto y = affine(args[1]);
    if (!x || !y) return std::nullopt;
    const std::int64_t sign = ir::is(e, Op::add) ? 1 : -1;
    x->constant += sign * y->constant;
    for (const auto& [id, k] : y->terms) x->terms[id] += sign * k;
    std::erase_if(x->terms, [](const auto& t) { return t.second == 0; });
    return x;
  }
  if (ir::is(e, Op::mul)) {
    const bool left = ir::is_int(args[0], &c);
    if (!left && !ir::is_int(args[1], &c)) return std::nullopt;
    auto x = affine(args[left ? 1 : 0]);
    if (!x) return std::nullopt;
    if (c == 0) return Affine{};
    x->constant *= c;
    for (auto& [id, k] : x->terms) k *= c;
    return x;
  }
  return std::nullopt;
}

}  // namespace ashlar::codegen
