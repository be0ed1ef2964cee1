// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Functions in C that expressions call: Op::call. A scalar function is pure and total: its result depends on its operands
// alone, and it may be called with any values of its types, or not at all; where a choice does not take its result, it may be
// called all the same.
//
//   ir::Id f = ir::declare({"tone_curve", {f32}, f32, ...});
//   ir::Expr e = ir::call(f, std::array{x});          // tone_curve(x)
//
// The id follows from the symbol alone, so that hashes of expressions are the same in every process. Declarations live as long
// as the process.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ashlar/ir/expr.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/runtime/abi.h>

namespace ashlar::ir {

// A function that computes a box of a stage at once:
//
//   int f(const ashlar_tensor* regions, const int64_t* begin)
//
// regions: of what it reads, in the order of its declaration, then of what it writes; `data` is the first element of a region.
// begin: the indices of those elements, one region behind the other. 0: done; anything else fails the call of the kernel.
// A stage that it computes has a call for each value; operands 2 n and 2 n + 1 hold the loads of the first and the last element
// that a point needs of tensor n (each inside of a select where there may be none), so that regions follow as those of any
// stage.
using RegionFunction = int (*)(const ashlar_tensor* regions, const std::int64_t* begin);

struct Function {
  std::string symbol;  // as the linker knows it
  std::vector<Type> parameters;
  Type result;
  // The same function in this process, and what calls it: null where the declaration had none, so that it can be compiled for
  // but not run here.
  void (*address)() = nullptr;
  Value (*run)(void (*address)(), const Value* operands) = nullptr;
  Where where = {};
  bool region = false;               // computes boxes; no parameters, no result
  RegionFunction compute = nullptr;  // the same function in this process, if it is there
};

// How an ashlar_tensor names an element type; InternalError for a handle.
struct TensorCode {
  std::uint8_t code, bits;
};
TensorCode tensor_code(Type);

// Refused: a symbol that was declared with other types, or as another function.
Id declare(const Function&);
const Function& function(Id);                            // of a call; InternalError where nobody declared it
const Function* function_of(const std::string& symbol);  // null: nobody declared it
Expr call(Id function, std::span<const Expr> operands, Where = Where::current());
Expr call_of_region(Id function, Type, std::span<const Expr> operands, Where = Where::current());
// The function that computes a stage whose values these are; null for an ordinary one.
const Function* computed_by(const std::vector<Expr>& values);
// What a value of such a stage reads of one tensor: the loads of the first and the last element, and when there are any.
struct Needed {
  Expr first, last, condition;  // condition: empty where there always are
};
std::vector<Needed> needed_by(const Expr& call);
// InternalError without `run`.
Value run(const Function&, const Value* operands);

}  // namespace ashlar::ir
