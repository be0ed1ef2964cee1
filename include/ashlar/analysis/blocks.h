// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Blocks and their context: the path to each, the ranges of its iteration variables, and the facts that hold there.
#include <map>

#include <ashlar/analysis/regions.h>

namespace ashlar::analysis {

using Path = std::vector<const ir::Stmt*>;

// Every block and every nest of the tree with its path, found in one walk. With a stage: only the blocks of the stage.
struct TreeIndex {
  std::vector<Path> blocks, nests;
  explicit TreeIndex(const ir::Program&, ir::Id stage = 0);
  // The blocks of stages that read a buffer, as positions in `blocks`.
  const std::vector<std::size_t>& readers(ir::Id buffer) const;

 private:
  void visit(const std::vector<ir::Stmt>& body, Path& path);
  const ir::Program& p_;
  ir::Id stage_;
  mutable std::map<ir::Id, std::vector<std::size_t>> readers_;  // made when first asked for
  mutable bool asked_ = false;
};

const ir::Stmt* nest_on(const Path&);  // the innermost nest
ir::Id parent_of(const Path&);         // the statement whose body contains the last one of the path; 0 at the top
bool under(const Path&, ir::Id ancestor);

// The interval of each iteration variable of the block at the end of `path` while all loops below `outer` run; over the
// variables of the loops down to `outer`.
std::vector<VarRange> iter_intervals(const ir::Program&, const Path&, ir::Id outer, const Facts&);

// Facts of the arguments and of the loops on the path down to and including `outer`.
Facts facts_down_to(const ir::Program&, const Path&, ir::Id outer);

// Widens one dimension of a box; the first interval is the box.
void widen(std::vector<Interval>& box, std::size_t d, const Interval& by, bool first, const Facts&);

}  // namespace ashlar::analysis
