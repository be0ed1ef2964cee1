// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of constants at addresses that are known become numbers; where all of a constant did, no data is left.
#include "lower/passes.h"

#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>

namespace ashlar::lowering {
namespace {

// Empty outside of the constant: where a guard that is not decided yet keeps the load from being executed.
Expr number(const ir::KBuffer& b, std::int64_t at, Where where) {
  const auto size = static_cast<std::size_t>(b.type.bytes());
  if (at < 0 || (static_cast<std::size_t>(at) + 1) * size > b.data->size()) return {};
  const ir::Value v = ir::read_value(b.type, b.data->data() + static_cast<std::size_t>(at) * size);
  return b.type.is_float() ? ir::float_const(b.type, v.f, where) : ir::int_const(b.type, v.i, where);
}

Expr folded(const ir::Kernel& k, const Expr& e) {
  return ir::transform(e, [&](const Expr& x) -> Expr {
    if (!ir::is(x, Op::load) || x.type().lanes != 1) return x;
    const ir::KBuffer& b = k.buffers.at(x.node()->id);
    std::int64_t at = 0;
    const auto args = ir::args_of(x);
    if (b.storage != ir::Storage::constant || args.size() != 1 || !ir::is_int(args[0], &at)) return x;
    const Expr n = number(b, at, x.node()->where);
    return n.empty() ? x : n;
  });
}

void fold(const ir::Kernel& k, std::vector<KStmt>& list) {
  for (KStmt& s : list) {
    for_each_expr(s, [&](Expr& e) { e = folded(k, e); });
    for (auto* inside : s.bodies()) fold(k, *inside);
  }
}

}  // namespace

void fold_constants(ir::Kernel& kernel) {
  for (const auto& [id, b] : kernel.buffers)
    if (b.storage == ir::Storage::constant) return fold(kernel, kernel.body);
}

}  // namespace ashlar::lowering
