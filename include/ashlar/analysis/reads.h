// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Reads of stages: the buffers, the indices, and the hull of an index over ranges of variables.
#include <algorithm>

#include <ashlar/analysis/regions.h>

namespace ashlar::analysis {

class Buffers {  // ids in ascending order; computed once for a definition, and shared
 public:
  explicit Buffers(std::shared_ptr<const std::vector<ir::Id>> all) : all_(std::move(all)) {}
  auto begin() const { return all_->begin(); }
  auto end() const { return all_->end(); }
  std::size_t count(ir::Id id) const { return std::binary_search(begin(), end(), id) ? 1 : 0; }

 private:
  std::shared_ptr<const std::vector<ir::Id>> all_;
};
Buffers buffers_read(const ir::Stage&);

// An expression with every part that is read from data, or chosen by data, replaced by a variable over its possible values,
// because nothing more is known when storage is laid out. The variables are put before those in `ranges`.
Expr without_data(const Expr&, std::vector<VarRange>& ranges, const Facts&);

// The same, except that table elements that do not change with the variables in `ranges` stay as they are, if they are inside
// the table.
Expr with_held_tables(const ir::Program&, const Expr&, std::vector<VarRange>& ranges, const Facts&);

// The hull of an index over the ranges of the listed variables, before any data is known: a part of the index that is read from
// data, or chosen by data, may have any value in its range. An end without a bound is empty.
Interval index_interval(const Expr& index, std::vector<VarRange> ranges, const Facts&);

// Whether two programs have the same stages, buffers, symbols and assumptions, with identical nodes.
bool same_definition(const ir::Stage&, const ir::Stage&);
bool same_definition(const ir::Buffer&, const ir::Buffer&);
bool same_arguments(const ir::Program&, const ir::Program&);  // including symbols, scalars and assumptions
bool same_definitions(const ir::Program&, const ir::Program&);

}  // namespace ashlar::analysis
