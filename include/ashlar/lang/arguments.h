// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The arguments of a program and the scope its definitions live in: what the generator's Input, Output and Scalar stand on,
// and how a program is made without a generator.
//
//   lang::DefinitionScope scope;                                    // forgets everything defined here when it ends
//   Symbol N{"N"};
//   Tensor x = lang::make_input("x", f32, {N});
//   Tensor y = lang::make_output("y", f32, {N});
//   lang::bind(y, compute("y", {N}, [&](Var i) { return x(i) * 2; }));
//   ir::Program p = lang::build_program("twice", {x, y}).program;   // lang/build_program.h
#include <initializer_list>
#include <vector>

#include <ashlar/lang/tensor.h>

namespace ashlar::lang {

// What the caller promises of a tensor; checked at entry.
struct ArgumentLayout {
  enum class Order { inner_unit_stride, dense, any } order = Order::inner_unit_stride;
  int align = 0;                  // bytes; 0: the element's own
  bool may_alias_inputs = false;  // outputs
};

Tensor make_input(const char* name, Type, const std::vector<Extent>&, ArgumentLayout = {}, Where = Where::current());
Tensor make_output(const char* name, Type, const std::vector<Extent>&, ArgumentLayout = {}, Where = Where::current());
Expr make_scalar(const char* name, Type, Where = Where::current());  // an argument by value

// Says what an output is. Refused: twice, another type or rank, a domain that is not the declared shape.
void bind(const Tensor& output, const Tensor& value, Where = Where::current());

// Variables, tensors and stages defined while a scope is alive belong to it and are forgotten with it; without one they live
// as long as the process. Scopes nest, and belong to the thread that made them. Using a Tensor of an ended scope is refused.
class DefinitionScope {
 public:
  DefinitionScope();
  ~DefinitionScope();
  DefinitionScope(const DefinitionScope&) = delete;
  DefinitionScope& operator=(const DefinitionScope&) = delete;

 private:
  void* arena_;
};

}  // namespace ashlar::lang
