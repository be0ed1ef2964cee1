// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What handles stand for. Variables, tensors and stages are entries of an arena, found by id: a Tensor is an id, a load node
// holds the id of a tensor, so an Expr keeps nothing alive and nothing can dangle.
//
// Invariants: an entry does not change after it is made, but for the binding of an output. A stage's values are over its own
// variables, symbols and scalars, and load tensors that were defined before it.
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
  Symbol::Facts facts;  // symbols
  Expr begin, end;      // axes, and what scatters run over
};

struct ReducerDef {
  std::string name;
  Where where = {};
  ir::Reducer reducer;  // its placeholders are variables of the language
};

struct Bounds {
  Expr begin, end;
  std::string label;
};  // half open; both Exprs of type index

struct StageDef {
  std::string name;
  Where where = {};
  std::vector<Id> dimensions;  // Vars
  std::vector<Bounds> domain;  // one a dimension; empty: inferred
  bool inferred = false;
  std::vector<Id> axes;  // of the reduction or scatter, outermost first
  std::vector<Expr> conditions;
  std::vector<Expr> values, inits;
  ir::Reducer reducer;
  std::vector<Expr> targets;  // scatters: an index for each dimension
  Expr keep;                  // scatters: empty for one that drops nothing
  std::vector<Id> tensors;    // one a value
  // A recurrence: the dimensions that it runs along, the slowest first, and which of them it runs backwards.
  std::vector<std::size_t> along;
  std::vector<bool> descending;
  ir::Reducer scan;  // of a recurrence that is a scan
};

struct ViewDef {  // a boundary of `source`; rearranged: its elements at other indices
  enum class Kind { repeat, mirror, reflect, wrap, constant, rearranged } kind = Kind::repeat;
  Id source = 0;
  std::vector<bool> extends;  // boundaries: which dimensions
  Expr value;                 // constant
  // rearranged: element vars of the view is element `at` of the source
  std::vector<Id> vars;
  std::vector<Expr> at;
  std::vector<Bounds> shape;  // empty: the source's domain is what its readers need
};

struct TensorDef {
  enum class Kind { input, output, stage, view, constant } kind = Kind::stage;
  Id id = 0;
  std::string name;
  Type type;
  int rank = 0;
  Where where = {};
  std::vector<Bounds> shape;                           // inputs, outputs, constants
  std::shared_ptr<const std::vector<std::byte>> data;  // constants: their elements, row-major
  ArgumentLayout layout;
  Id bound = 0;  // outputs: the tensor bound to it
  Id stage = 0;  // stages
  std::size_t component = 0;
  ViewDef view;
};

Id add(VariableDef);
Id add(ReducerDef);
Id add(StageDef);
Id add(TensorDef);
const VariableDef* find_variable(Id);  // null: not a variable of the language (any more)
const VariableDef& variable(Id, Where);
const StageDef& stage(Id, Where);
const ReducerDef& reducer(Id, Where);  // refused for 0 (an empty Reducer)
TensorDef& tensor(Id, Where);          // refused for 0 (an empty Tensor) and for tensors of an ended scope
const TensorDef& resolve(Id, Where);   // outputs give what they are bound to; refused when they are not

bool is_identifier(const std::string&);                            // of C
void require_symbol(const char* symbol, const char* what, Where);  // of a function in C: an identifier, not the runtime's
std::string shape_text(const std::vector<Bounds>&);
// The domain of one dimension; refused where it is inferred or infinite.
Bounds bounds_of(const TensorDef&, int dim, Where);
// The element at indices of type index, views expanded.
Expr access(Id tensor, const std::vector<Expr>& indices, Where);

}  // namespace ashlar::lang
