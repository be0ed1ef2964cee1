#pragma once
// What all definitions of stages share.
#include <string>
#include <vector>

#include <ashlar/lang/compute.h>

#include "lang/definition.h"

namespace ashlar::lang {

// A stage stores data: an index is kept as i64, which holds it exactly.
Expr stored(const Operand& value, const char* what);

// What a definition may use: its own variables, symbols and scalars.
struct Checker {
  const std::string& name;
  Where where;
  std::vector<Id> allowed;

  void check(const Expr& e) const;
  void check_variable(Id id) const;
};

std::vector<Bounds> domain_of(const Extent* extents, std::size_t rank, const std::string& what, Where where);
// The stage's tensors, one a value.
void add_stage(StageDef s, Tensor* results);

}  // namespace ashlar::lang
