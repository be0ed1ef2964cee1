// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What each stage of a scheduled program costs a processor, counted before it is lowered, at given sizes: points, operations,
// lanes, and for each loop what one run of it touches and how often it runs.
//
//   for (const StageFigures& f : stage_figures(program, target, symbols)) f.points, f.loops[0].loaded ...
//
// The footprint of a loop is the box of what its iterations read and write of each buffer, the loops around it standing in
// their middle iteration: for each dimension the distinct values of the index. Boxes of several reads of a buffer are joined.
// Bytes are counted in whole cache lines: a run of neighbors that is shorter than a line costs one. Where a footprint fits
// into a cache, footprint times runs is what passes between that cache and what lies beyond it (the model of Wolf and Lam: A
// data locality optimizing algorithm, PLDI 1991, for whole loops); nothing else is taken to stay in it from one run to the
// next.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ashlar/ir/program.h>
#include <ashlar/target/target.h>

namespace ashlar::report {

constexpr double line_bytes = 64;  // of every cache

// The values that an index takes: of each a multiple of `step` above `low`, at most `count` of them.
struct Values {
  std::int64_t low = 0, high = 0, step = 0;
  double count = 1;
  bool single() const { return low == high; }
  static Values one(std::int64_t n) { return {n, n, 0, 1}; }
  static Values range(std::int64_t low, std::int64_t high);  // all of them; high < low: none
};
using Known = std::map<ir::Id, Values>;  // of variables
// Nothing where a variable is not known, or data decides.
std::optional<Values> values_of(const Expr&, const Known&);

struct BufferFigures {  // of one run of a loop
  ir::Id buffer = 0;
  double elements = 0, bytes = 0;  // distinct; bytes in whole lines
  bool loaded = false, stored = false;
  bool inside = false;   // its storage begins and ends inside of the loop
  bool guessed = false;  // data decides which elements
};

struct LoopFigures {
  std::string name;  // "io"; of the whole nest: empty
  ir::LoopKind kind = ir::LoopKind::serial;
  double trips = 1;  // of one run
  double runs = 1;   // of all loops around it, those of other stages too
  std::vector<BufferFigures> buffers;
  double footprint() const;  // bytes at once
  double loaded() const;     // bytes that all runs fetch from beyond a cache that holds the footprint
  double stored() const;
};

struct VectorFigures {
  std::string loop;
  std::int64_t lanes = 1;
  double used = 1;  // of all lanes, those that compute a point of the domain
  double full = 1;  // of all operations, those in vectors whose lanes are all used
};

struct StageFigures {
  ir::Id stage = 0;
  std::string name, inside;  // inside: the loop of another stage where it is computed, "io of C"; empty: at the root
  Type type;
  double points = 0;                            // computed in all, those computed again too
  double distinct = 0;                          // points of the box that they cover
  bool at_most = false;                         // conditions of its domain may leave some out
  bool data_decides = false;                    // how often some loop runs: counted as once
  double fma = 0, add = 0, mul = 0, other = 0;  // of all points; an fma is one of these and two operations
  double operations() const { return 2 * fma + add + mul + other; }
  std::vector<LoopFigures> loops;  // [0]: the whole nest; then the loops, outermost first
  std::vector<VectorFigures> vectors;
  // Results that unrolled and vectorized loops inside of the innermost other loop compute at once, in vector registers.
  double at_once = 1;
  std::int64_t vector_registers = 0;  // that hold its values; 0: they are in memory
};

// Of the stages in the order of definition. `symbols`: their values.
std::vector<StageFigures> stage_figures(const ir::Program&, const Target&, const std::map<ir::Id, std::int64_t>& symbols);

// The variant that a call of these sizes takes; null: the program itself.
const ir::Variant* variant_at(const ir::Program&, const std::map<ir::Id, std::int64_t>& symbols);

}  // namespace ashlar::report
