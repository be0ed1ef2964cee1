// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The definitions behind handles. Variables, tensors and stages are entries of an arena, found by id. A Tensor is an id, and a
// load node holds the id of a tensor, so an Expr owns nothing and no handle can dangle.
//
// Invariants: an entry does not change after its creation, except that an output is bound once. The values of a stage use its
// own variables, Symbols and Scalars, and load tensors that were defined before it.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/lang/arguments.h>
#include <ashlar/lang/reduce.h>

namespace ashlar::lang {

using ir::Id;

struct VariableDef {
  enum class Kind { dimension, symbol, axis, scalar, placeholder } kind = Kind::dimension;
  std::string name;
  Where where = {};
  Type type = ir::index_type;
  Symbol::Facts facts;  // of Symbols
  Expr begin, end;      // of axes, and of the ranges that a scatter runs over
};

struct ReducerDef {
  std::string name;
  Where where = {};
  ir::Reducer reducer;  // its placeholders are variables of the language
};

struct Bounds {
  Expr begin, end;
  std::string label;
};  // [begin, end); both Exprs have the type index

struct StageDef {
  std::string name;
  Where where = {};
  std::vector<Id> dimensions;  // Vars
  std::vector<Bounds> domain;  // one for each dimension; empty if inferred
  bool inferred = false;
  std::vector<Id> axes;  // of the reduction or scatter, outermost first
  std::vector<Expr> conditions;
  std::vector<Expr> values, inits;
  ir::Reducer reducer;
  std::vector<Expr> targets;  // of a scatter: an index for each dimension
  Expr keep;                  // of a scatter: empty if it keeps every update
  std::vector<Id> tensors;    // one for each value
  // Recurrences: the dimensions to run along, slowest first, and which of them run backwards.
  std::vector<std::size_t> along;
  std::vector<bool> descending;
  ir::Reducer scan;  // recurrences that are scans: the reducer
};

struct ViewDef {  // a boundary of `source`, or (rearranged) its elements at other indices
  enum class Kind { repeat, mirror, reflect, wrap, constant, rearranged } kind = Kind::repeat;
  Id source = 0;
  std::vector<bool> extends;  // of a boundary: which dimensions it extends
  Expr value;                 // of boundary::constant
  // rearranged: the view's element at `vars` is the source's element at `at`.
  std::vector<Id> vars;
  std::vector<Expr> at;
  std::vector<Bounds> shape;  // empty if the domain of the source is inferred
};

struct TensorDef {
  enum class Kind { input, output, stage, view, constant } kind = Kind::stage;
  Id id = 0;
  std::string name;
  Type type;
  int rank = 0;
  Where where = {};
  std::vector<Bounds> shape;                           // of inputs, outputs and constants
  std::shared_ptr<const std::vector<std::byte>> data;  // of constants: the elements, row-major
  ArgumentLayout layout;
  Id bound = 0;  // of an output: the tensor that is bound to it
  Id stage = 0;  // of a stage's result
  std::size_t component = 0;
  ViewDef view;
};

Id add(VariableDef);
Id add(ReducerDef);
Id add(StageDef);
Id add(TensorDef);
const VariableDef* find_variable(Id);  // null if no variable of the language has this id, or its scope has ended
const VariableDef& variable(Id, Where);
const StageDef& stage(Id, Where);
const ReducerDef& reducer(Id, Where);  // refused for 0, an empty Reducer
TensorDef& tensor(Id, Where);          // refused for 0, an empty Tensor, and for tensors of an ended scope
const TensorDef& resolve(Id, Where);   // of an output, the tensor bound to it; refused if there is none

bool is_identifier(const std::string&);                            // a C identifier
void require_symbol(const char* symbol, const char* what, Where);  // of a C function: a C identifier, not the runtime's
std::string shape_text(const std::vector<Bounds>&);
// The bounds of one dimension. Refused if they are inferred or infinite.
Bounds bounds_of(const TensorDef&, int dim, Where);
// The element at the given indices, which have the type index. Views are expanded.
Expr access(Id tensor, const std::vector<Expr>& indices, Where);

}  // namespace ashlar::lang
