// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// C functions that expressions call (Op::call). A scalar function is pure and total: its result depends only on its operands.
// It may be called with any values of its types, even where a select discards the result, or not at all.
//
//   ir::Id f = ir::declare({"tone_curve", {f32}, f32, ...});
//   ir::Expr e = ir::call(f, std::array{x});          // tone_curve(x)
//
// The id depends only on the symbol, so hashes of expressions are the same in every process. Declarations live as long as the
// process.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ashlar/ir/expr.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/runtime/abi.h>

namespace ashlar::ir {

// A function that computes one box of a stage:
//
//   int f(const ashlar_tensor* regions, const int64_t* begin)
//
// `regions` holds the tensors that it reads, in the order of its declaration, then those that it writes; `data` points to the
// first element of a region. `begin` holds the indices of these elements, one region after the other. Returns 0; any other
// value fails the call of the kernel.
//
// The stage has a call for each of its values. Operands 2 n and 2 n + 1 are the loads of the first and the last element that a
// point needs of tensor n, each inside a select if there may be none. So regions are derived as for any stage.
using RegionFunction = int (*)(const ashlar_tensor* regions, const std::int64_t* begin);

struct Function {
  std::string symbol;  // its name for the linker
  std::vector<Type> parameters;
  Type result;
  // The function in this process, and a wrapper that calls it. Null if the declaration gave no address: the function can then
  // be compiled but not run here.
  void (*address)() = nullptr;
  Value (*run)(void (*address)(), const Value* operands) = nullptr;
  Where where = {};
  bool region = false;               // computes boxes, and has no parameters and no result
  RegionFunction compute = nullptr;  // the function in this process, or null
};

// The type of elements in terms of ashlar_tensor. InternalError for a handle.
struct TensorCode {
  std::uint8_t code, bits;
};
TensorCode tensor_code(Type);

// Declares a function. Refused: a symbol that was declared with other types, or as another function.
Id declare(const Function&);
const Function& function(Id);                            // the function of a call; InternalError if it was not declared
const Function* function_of(const std::string& symbol);  // null if it was not declared
Expr call(Id function, std::span<const Expr> operands, Where = Where::current());
Expr call_of_region(Id function, Type, std::span<const Expr> operands, Where = Where::current());
// The function that computes the stage with these values; null for an ordinary stage.
const Function* computed_by(const std::vector<Expr>& values);
// What such a value reads from one tensor: the loads of the first and the last element, and the condition that there are any.
struct Needed {
  Expr first, last, condition;  // condition: empty if it always holds
};
std::vector<Needed> needed_by(const Expr& call);
// Calls the function in this process. InternalError without `run`.
Value run(const Function&, const Value* operands);

}  // namespace ashlar::ir
