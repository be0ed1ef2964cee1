// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// From the tree of nests, loops and blocks to flat statements. One walk in order of execution that carries what is known at
// each place: the facts of the loops around, the variables that have one value only, the storage of every buffer in sight.
//
//   nest C                               for io in [0, +(M + 31) / 32)
//     for io in (M + 31) / 32              for ii in [0, +32)
//       for ii in 32               becomes   if io * 32 + ii < M
//         block C                              C[(io * 32 + ii) * C_stride0] = ...
//
// Loops keep their kinds; conditions stand directly around the block, those that depend on the outermost loops outside.
// Below a vectorized loop every loop is uniform: where its bounds depend on the lane it runs over their hull and the lane's own
// bounds become conditions. A vectorized loop around another one is unrolled: the inner one takes the lanes.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/analysis/fragment_sites.h>
#include <ashlar/analysis/interval.h>
#include <ashlar/ir/refusal.h>

#include "lower/flatten/body.h"
#include "lower/passes.h"

namespace ashlar::lowering {

class Flattener {
 public:
  using Facts = analysis::Facts;
  using Id = ir::Id;
  using Statements = std::vector<ir::KStmt>;
  using Stmt = ir::Stmt;

  // `launches`: statements at the root say which nest they come from.
  Flattener(ir::Program& p, const LowerOptions& options, bool launches);
  ir::Kernel run();

 private:
  struct Around {  // a loop around the current statement
    Id axis = 0;
    ir::LoopKind kind = ir::LoopKind::serial;
  };

  // ---- the walk (flatten.cpp)
  Statements body(const std::vector<Stmt>&);
  Statements statement(const Stmt&);
  void alloc(const Stmt&);
  const Place& place_of(Id buffer);
  const Stmt& nest() const;
  Expr lowered(const Expr& e);                                            // over loops: loads get addresses
  Expr known(const Expr& e) const { return ir::substitute(e, single_); }  // variables of loops that run once by their value
  bool lane_varying(const Expr& e) const { return lane_ != 0 && ir::uses_var(e, lane_); }

  // ---- loops (flatten/loop.cpp)
  Statements loop(const Stmt&);
  Statements many(const Stmt&, const ir::Axis&, const Expr& begin, Expr extent);
  ir::Ring ring_of(const Stmt&);
  analysis::Interval hull(const Expr&, const analysis::VarRange& over) const;

  // ---- reductions over threads (flatten/parts.cpp)
  struct Parts {                // of a nest: each thread's part of every value, and the result for all threads
    std::vector<Id> part, all;  // one a component
    std::string name;
    std::vector<std::pair<Id, std::int64_t>> digits;  // the axes that tell values apart, and their strides
    bool open = true;                                 // more pieces may begin with these
  };
  static const Stmt* begin_of(const Stmt&);
  void begin_parts(const Stmt& chain, const Stmt& block);
  const Parts* parts_here(const Stmt& block);
  Expr place_of_part(const Parts&) const;
  std::vector<Expr> load_parts(const std::vector<Id>& buffers, const Expr& at, Where) const;

  // ---- blocks (flatten/block.cpp)
  struct Conditions {                                   // that must hold for a block to run
    std::vector<std::pair<std::size_t, Expr>> uniform;  // each with the number of loops that decide it, outermost first
    Expr lanes;                                         // of those that differ between lanes; empty: none
    Facts facts;                                        // what is known where all uniform ones hold
  };
  std::optional<Conditions> conditions_at(const std::vector<const Stmt*>& path, bool init,
                                          const ir::Substitution& values) const;
  static Statements guarded(const Conditions&, Body&, Statements, Where);
  std::size_t depth_of(const Expr& condition) const;
  Statements block(const Stmt&);
  Statements stores(const Stmt&, const ir::NestStmt& in, const ir::Stage&, const Parts*, Body&, const Facts&);
  // Stores values[k] where target(k) says; several are all computed before the first is stored.
  struct Target {
    Id kbuffer = 0;
    Expr address;
  };
  Statements store_together(std::vector<Expr> values, const std::string& name, Where, const std::vector<Target>&);
  Statements store_all(const Stmt&, const ir::Stage&, const std::vector<Expr>& index, const std::vector<Expr>& values, Body&);
  bool steps_at_once(const ir::Stage&) const;

  // ---- fragments (flatten/fragment.cpp)
  void find_fragments();
  Statements over_tiles(const Stmt& loop, const analysis::TileDigit&);
  Statements distributed(const Stmt& block, const analysis::Distribution&);
  // Of a block that stands once for each register of a lane: one load by all lanes, where it is such (flatten/matrices.cpp).
  // `held_at`: the block at the element that a lane holds in a register.
  std::optional<ir::KStmt> by_matrices(const std::vector<Statements>& registers, const ir::KFor& lanes,
                                       const std::function<Statements(const Expr& lane, const Expr& reg)>& held_at, Where);

  Statements external(const Stmt& nest);  // flatten/external.cpp
  Statements call(const Stmt&);           // flatten/call.cpp
  bool of_thread(const ir::IntrinsicOperand&, Id buffer) const;
  Statements prefetch(const Stmt&, const ir::PrefetchStmt&);  // flatten/prefetch.cpp
  bool moves(const ir::Node& load, const Stmt& nest, Id axis) const;

  ir::Program& p_;
  const LowerOptions& options_;
  const bool launches_;
  ir::Kernel kernel_;
  Facts facts_;
  std::vector<const Stmt*> path_;
  std::vector<Around> around_;
  ir::Substitution single_;
  std::map<Id, Expr> begins_;     // of axes of loops that leave out their first iterations
  std::vector<Expr> conditions_;  // that loops around have left to their blocks
  Id lane_ = 0;                   // the variable of the vectorized loop around
  Expr lane_begin_;
  std::int64_t lane_count_ = 0;
  std::vector<Place> places_;
  std::vector<std::size_t> last_use_;  // position, a place
  std::map<Id, std::size_t> current_;  // buffer -> place
  std::map<Id, Id> kbuffer_of_;        // alloc -> its buffer
  std::map<Id, Parts> parts_;          // nest -> those of its reduction over threads
  std::vector<Life> lives_;
  std::size_t position_ = 0;
  analysis::FragmentSites sites_;
  std::map<Id, const analysis::TileDigit*> tiles_;  // loops over elements of fragments
  std::map<std::string, Id> matrix_loads_;          // intrinsics, by name
  std::map<Id, Expr> tile_numbers_;                 // of those inside which the current statement stands: the tile
};

}  // namespace ashlar::lowering
