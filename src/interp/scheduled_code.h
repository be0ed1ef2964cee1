// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a scheduled program is compiled to before it runs: its tree with a Tape for each expression, and the places of buffers.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/analysis/tensorize.h>
#include <ashlar/interp/interpreter.h>

#include "interp/described.h"
#include "interp/external.h"
#include "interp/reduce.h"
#include "interp/scatter.h"
#include "interp/storage.h"

namespace ashlar::interp::scheduled {

// A condition of execution, and whether it is a guard (skips) or a promise of the schedule (reported when broken).
struct Guard {
  Tape condition;
  bool promise = false;
};

// What one block of the tree needs at every execution.
struct BlockCode {
  const ir::Stage* stage = nullptr;
  std::vector<std::pair<int, Tape>> iters;    // slot of each iteration variable, its value over axis variables
  std::vector<Guard> guards, spatial_guards;  // the latter: of an initialization, where reduce axes have no value
  struct Reduce {
    int slot;
    Tape begin, extent;
  };
  std::vector<Reduce> reduces;  // the reduce variables, with the nest's range of each
  bool in_reduce_loop = false;
  std::optional<ScatterCode> scatter;  // of steps of a scatter
};

// A tensorized loop, run by the meaning of its intrinsic.
struct CallCode {
  std::unique_ptr<Described> f;
  struct Tile {
    int place = -1;
    std::vector<Tape> base;
  };
  std::vector<Tile> tiles;   // by operand; those that are not tiles: empty
  std::vector<Tape> values;  // by operand
  analysis::IntrinsicMatch match;
  std::vector<int> loops;  // slots of the loops that the call stands for: at their begin where its block's guards are asked
  int block = -1;
};

struct Code {
  const ir::Stmt* stmt = nullptr;
  std::vector<Code> body;
  Tape begin, end;                          // loop
  int slot = -1;                            // loop: of its axis
  bool reduce = false;                      // loop: over a reduce axis
  std::vector<const Code*> inits;           // loop: blocks whose points are initialized before it starts
  int block = -1;                           // block: index into blocks_
  int call = -1;                            // tensorized loop: index into calls_
  std::vector<Tape> box_begin, box_extent;  // nest of a stage that a function computes
  std::vector<Tape> logical_begin, logical_extent, physical_begin, physical_extent;  // alloc
};

struct StageCode {
  std::vector<int> spatial, all;   // slots
  std::vector<std::string> names;  // of all
  std::vector<Tape> inits;
  std::optional<Tape> fill;
  Combiner combiner;
  std::optional<ExternalStage> external;
  std::int64_t evaluations = 0;
};

struct Place {  // a buffer while the program runs
  const ir::Buffer* info = nullptr;
  Array* array = nullptr;         // arguments
  std::vector<bool> written;      // outputs
  Storage* storage = nullptr;     // temporaries that are alive
  Concurrency::Elements touched;  // outputs, where conflicts are looked for
  bool rings = false;             // different points share elements of it
  std::vector<int> layout_vars;
  std::vector<Tape> layout;
  std::vector<Tape> domain_begin, domain_end;  // temporaries with a declared domain: what a fill value surrounds
};

// Points that differ in dropped dimensions alone are one.
inline std::uint64_t tag(const Place& place, std::span<const std::int64_t> at) {
  const std::vector<int>& dropped = place.info->layout.dropped;
  if (dropped.empty()) return tag_of(at);
  std::vector<std::int64_t> kept(at.begin(), at.end());
  for (int d : dropped) kept[static_cast<std::size_t>(d)] = 0;
  return tag_of(kept);
}

// Is a dimension of it a ring (v % n alone holds v), or not stored? Then different points share elements, one after another.
inline bool rings(const ir::Layout& l) {
  return std::any_of(l.vars.begin(), l.vars.end(), [&](ir::Id v) {
    const auto uses = std::count_if(l.map.begin(), l.map.end(), [&](const Expr& e) { return ir::uses_var(e, v); });
    return uses == 0 ||
           (uses == 1 && std::any_of(l.map.begin(), l.map.end(), [&](const Expr& e) {
              return ir::is(e, ir::Op::mod) && ir::is(ir::args_of(e)[0], ir::Op::var) && ir::args_of(e)[0].node()->id == v;
            }));
  });
}

// Peeled parts of a reduction initialize once: in the part that holds the first iteration of every reduce loop.
inline bool starts(ir::Part part) {
  return part == ir::Part::all || part == ir::Part::first || part == ir::Part::but_last || part == ir::Part::full ||
         part == ir::Part::below;
}

inline bool empty_domain(BlockCode& b) {
  return std::any_of(b.reduces.begin(), b.reduces.end(), [](BlockCode::Reduce& r) { return r.extent.run_index() <= 0; });
}

inline bool at_first_step(BlockCode& b, const Slots& slots) {
  return std::all_of(b.reduces.begin(), b.reduces.end(),
                     [&](BlockCode::Reduce& r) { return slots.value(r.slot).i == r.begin.run_index(); });
}

inline bool contains(const Code& c, const Code& block) {
  return std::any_of(c.body.begin(), c.body.end(),
                     [&](const Code& inner) { return &inner == &block || contains(inner, block); });
}

// Gives each outermost reduction loop the blocks to initialize: those of its nest's own stage below, but those of later parts.
void attach_inits(const ir::Program&, std::vector<Code>& body);

// Has a loop here no iteration, in any call? So it may be in the variant of a schedule for calls without elements; a call that
// stands for such loops means no tile.
inline bool never_runs(const ir::Program& p, const ir::Stmt& s) {
  if (const ir::LoopStmt* loop = s.as<ir::LoopStmt>(); loop && ir::is_int(p.axis(loop->axis).extent, std::int64_t{0}))
    return true;
  return std::any_of(s.body().begin(), s.body().end(), [&](const ir::Stmt& b) { return never_runs(p, b); });
}

// An output of which every element was written: RunError otherwise.
void require_written(const Place& output);

}  // namespace ashlar::interp::scheduled
