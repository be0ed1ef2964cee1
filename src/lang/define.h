// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What every definition of a stage begins with and ends with, whatever form it has: compute, a reduction, a recurrence.
#include <string>
#include <vector>

#include <ashlar/lang/compute.h>

#include <ashlar/lang/definition.h>

namespace ashlar::lang {

// A stage stores data: an index is kept as i64, which holds it exactly.
Expr stored(const Operand& value, const char* what);

// What a definition may use: its own variables, symbols and scalars.
struct Checker {
  const std::string& name;
  Where where;
  std::vector<Id> allowed;

  void check(const Expr&) const;

 private:
  void check_variable(Id) const;
};

std::vector<Bounds> domain_of(const Extent* extents, std::size_t rank, const std::string& what, Where);
StageDef new_stage(const detail::Site&);  // its name, domain and dimensions
// The tensors of a stage, one a value; before its values are known where they read it.
void add_tensors(StageDef&, const std::vector<Type>& types, Tensor* results);
void add_stage(StageDef, Tensor* results);  // with its tensors, where it has none yet

}  // namespace ashlar::lang
