// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A dimension in the form of the descriptor (runtime/desc.h): constant + sum of coefficient * symbol, or a value to compute.
#include <cstdint>
#include <map>
#include <optional>

#include <ashlar/ir/expr.h>

namespace ashlar::codegen {

struct Affine {
  std::int64_t constant = 0;
  std::map<ir::Id, std::int64_t> terms;
};

std::optional<Affine> affine(const Expr&);  // nothing: it is to be computed

}  // namespace ashlar::codegen
