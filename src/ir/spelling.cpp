// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/spelling.h>

#include <algorithm>

#include <ashlar/ir/build.h>

namespace ashlar::ir {

Expr Spelling::operator()(const Expr& e) {
  if (args_of(e).empty()) return e;
  if (const auto it = done_.find(e.node()); it != done_.end()) return it->second;
  std::vector<Expr> args;
  for (const Expr& a : args_of(e)) args.push_back((*this)(a));
  const Expr known = rebuild(e, args), spelled = spell(known);
  const Expr result = spelled.empty() ? known : (*this)(spelled);
  alive_.push_back(e);
  done_.emplace(e.node(), result);
  return result;
}

Expr Spelling::spell(const Expr& e) {
  Applied a{op_of(e), e.type(), args_of(e), e.node()->where, {}, subnormals_};
  if (a.args.empty() || keeps_(a)) return {};
  if (values_)
    for (std::size_t k = 0; k < std::min(a.args.size(), a.values.size()); ++k) a.values[k] = values_(a.args[k]);
  return expanded(a);
}

}  // namespace ashlar::ir
