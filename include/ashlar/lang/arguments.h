// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The arguments of a program, and the scope that holds its definitions. The generator's Input, Output and Scalar are built on
// these functions. They can also build a program without a generator:
//
//   lang::DefinitionScope scope;                                    // owns the definitions made in it
//   Symbol N{"N"};
//   Tensor x = lang::make_input("x", f32, {N});
//   Tensor y = lang::make_output("y", f32, {N});
//   lang::bind(y, compute("y", {N}, [&](Var i) { return x(i) * 2; }));
//   ir::Program p = lang::build_program("twice", {x, y}).program;   // lang/build_program.h
#include <initializer_list>
#include <vector>

#include <ashlar/lang/tensor.h>

namespace ashlar::lang {

// The layout that callers must provide. Each call checks it.
struct ArgumentLayout {
  enum class Order { inner_unit_stride, dense, any } order = Order::inner_unit_stride;
  int align = 0;                  // in bytes; 0: the alignment of an element
  bool may_alias_inputs = false;  // for an output: it may be the same memory as an input
};

// Declare an argument: a tensor to read, a tensor to compute, or a number that each call passes by value.
Tensor make_input(const char* name, Type, const std::vector<Extent>&, ArgumentLayout = {}, Where = Where::current());
Tensor make_output(const char* name, Type, const std::vector<Extent>&, ArgumentLayout = {}, Where = Where::current());
Expr make_scalar(const char* name, Type, Where = Where::current());

// Defines the output as `value`. Refused: a second definition, a different type or rank, a domain that differs from the
// declared shape.
void bind(const Tensor& output, const Tensor& value, Where = Where::current());

// Owns the Vars, tensors and stages that are defined during its lifetime. Definitions outside any scope live as long as the
// process. Scopes nest, and each belongs to the thread that created it. Using a Tensor after the end of its scope is refused.
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
