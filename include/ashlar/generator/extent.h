// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// ExtentParam: an extent that is chosen when the generator runs: either a number, which becomes a constant, or a Symbol
// (`dynamic`).
//
//   ExtentParam M{"M"}, N{"N", 1024}, K{"K", {.multiple_of = 16}};        // M=64 N=dynamic K=dynamic%32
//   Input A{"A", f32, {M, K}}, B{"B", f32, {K, N}};                       // A is [64, K]: 64 is constant, each call gives K
//
// An ExtentParam is an Expr of type index: a constant, or a Symbol with the Param's name. Its facts hold in both cases. A
// number that violates a fact is refused as a value of the Param; the facts of a Symbol are checked by each call.
#include <cstdint>

#include <ashlar/generator/param.h>
#include <ashlar/lang/index.h>

namespace ashlar {

class ExtentParam : public Expr {
 public:
  // Dynamic by default, or `fallback`.
  explicit ExtentParam(const char* name, Symbol::Facts facts = {}, const char* doc = "", Where = Where::current());
  ExtentParam(const char* name, std::int64_t fallback, Symbol::Facts facts = {}, const char* doc = "",
              Where = Where::current());
  ExtentParam(const ExtentParam&) = delete;
  ExtentParam& operator=(const ExtentParam&) = delete;

  // The number, or `otherwise` if it is dynamic.
  std::int64_t number_or(std::int64_t otherwise) const { return number_ < 0 ? otherwise : number_; }

 private:
  std::int64_t number_ = -1;  // negative: dynamic
};

}  // namespace ashlar
