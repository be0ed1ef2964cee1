// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// An extent that is chosen when the generator runs: a number, which the code is then made for, or `dynamic`, a Symbol that each
// call gives.
//
//   ExtentParam M{"M"}, N{"N", 1024}, K{"K", {.multiple_of = 16}};        // M=64 N=dynamic K=dynamic%32
//   Input A{"A", f32, {M, K}}, B{"B", f32, {K, N}};                       // A is [64, K]: 64 is folded, K checked at entry
//
// Invariant: it is an Expr of type index, a constant or a Symbol with the Param's name. The facts hold either way: of the
// Symbol they are checked at entry, a number that breaks them is refused as every value of a Param is.
#include <cstdint>

#include <ashlar/generator/param.h>
#include <ashlar/lang/index.h>

namespace ashlar {

class ExtentParam : public Expr {
 public:
  // dynamic, unless something else is asked for
  explicit ExtentParam(const char* name, Symbol::Facts facts = {}, const char* doc = "", Where = Where::current());
  ExtentParam(const char* name, std::int64_t fallback, Symbol::Facts facts = {}, const char* doc = "",
              Where = Where::current());
  ExtentParam(const ExtentParam&) = delete;
  ExtentParam& operator=(const ExtentParam&) = delete;

  std::int64_t number_or(std::int64_t otherwise) const { return number_ < 0 ? otherwise : number_; }

 private:
  std::int64_t number_ = -1;  // negative: dynamic
};

}  // namespace ashlar
