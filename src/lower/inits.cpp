// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/inits.h"

#include <algorithm>
#include <set>

#include <ashlar/analysis/regions.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::lowering {
namespace {

// One reduction block below an outermost reduction loop: which spatial loops stand between the two.
struct Piece {
  Stmt* block = nullptr;
  std::vector<const Stmt*> spatial;  // outermost first
  bool starts = true;                // not in a later part of a peeled reduction
};

bool holds_first(ir::Part part) {
  return part == ir::Part::all || part == ir::Part::first || part == ir::Part::but_last || part == ir::Part::full ||
         part == ir::Part::below;
}

// The condition that a point has no step of the reduction at all, over symbols and the loops around; false if that never
// happens.
Expr reduction_is_empty(const Program& p, const Stmt& nest, const Facts& facts) {
  Expr empty = ir::boolean(false);
  for (const ir::Root& r : nest.get<NestStmt>().roots) {
    if (!p.axis(r.axis).reduce) continue;
    if (analysis::can_prove(ir::ge(r.extent, ir::index(1)), facts)) continue;
    empty = ir::logic_or(empty, analysis::simplify(ir::le(r.extent, ir::index(0)), facts));
  }
  return empty;
}

class Inits {
 public:
  explicit Inits(Program& p) : p_(p), facts_(analysis::facts_of_arguments(p)) {}

  void body(std::vector<Stmt>& list, const Stmt* nest) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      Stmt& s = list[k];
      if (NestStmt* n = s.as<NestStmt>()) {
        body(n->body, &s);
      } else if (s.is<BlockStmt>()) {
        if (!pending(s)) continue;
        k += insert(list, k, *nest, {{&list[k], {}, true}});
      } else if (starts_itself(s)) {
        continue;
      } else if (LoopStmt* loop = s.as<LoopStmt>()) {
        if (!p_.axis(loop->axis).reduce || !nest) {
          body(loop->body, nest);
          continue;
        }
        std::vector<Piece> pieces;
        std::vector<const Stmt*> spatial;
        collect(s, *nest, spatial, holds_first(loop->part), pieces);
        nested(s);
        k += insert(list, k, *nest, pieces);
      }
    }
  }

 private:
  // A tensorized loop whose intrinsic starts its sums from 0: the call does what the init does.
  bool starts_itself(const Stmt& s) const {
    const LoopStmt* loop = s.as<LoopStmt>();
    if (!loop || loop->kind != ir::LoopKind::tensorized) return false;
    const ir::Intrinsic& f = *p_.intrinsics.at(loop->intrinsic);
    return !f.reduce.empty() && !f.accumulates;
  }

  bool pending(const Stmt& s) const {
    const BlockStmt* block = s.as<BlockStmt>();
    return block && block->piece == ir::Piece::whole && p_.stage(block->stage).is_reduction();
  }

  // The blocks of this nest below a reduction loop; other nests in it are taken by `nested`.
  void collect(Stmt& loop, const Stmt& nest, std::vector<const Stmt*>& spatial, bool starts, std::vector<Piece>& pieces) {
    for (Stmt& s : loop.body()) {
      if (LoopStmt* l = s.as<LoopStmt>()) {
        const bool is_spatial = !p_.axis(l->axis).reduce;
        if (is_spatial) spatial.push_back(&s);
        collect(s, nest, spatial, starts && (is_spatial || holds_first(l->part)), pieces);
        if (is_spatial) spatial.pop_back();
      } else if (pending(s) && ir::is_block_of(s, nest.get<NestStmt>().stage)) {
        pieces.push_back({&s, spatial, starts});
      }
    }
  }

  void nested(Stmt& loop) {
    for (Stmt& s : loop.body()) {
      if (NestStmt* nest = s.as<NestStmt>())
        body(nest->body, &s);
      else if (s.is<LoopStmt>())
        nested(s);
    }
  }

  // Puts the inits of the pieces before list[at]; returns how many statements were put in.
  std::size_t insert(std::vector<Stmt>& list, std::size_t at, const Stmt& nest, const std::vector<Piece>& pieces) {
    std::vector<Stmt> inits;
    std::set<std::vector<std::pair<Id, int>>> done;
    for (const Piece& piece : pieces) {
      piece.block->get<BlockStmt>().piece = ir::Piece::update;
      std::vector<std::pair<Id, int>> key;
      for (const Stmt* l : piece.spatial) key.emplace_back(l->get<LoopStmt>().axis, static_cast<int>(l->get<LoopStmt>().part));
      std::sort(key.begin(), key.end());
      if (!piece.starts || !done.insert(key).second) continue;
      Stmt init = *piece.block;
      BlockStmt& init_block = init.get<BlockStmt>();
      init.copy_of = init.id;
      init.id = p_.fresh();
      init_block.piece = ir::Piece::init;
      init_block.when = spatial_conditions(*piece.block);
      const bool only_if_empty = init_block.first_stores;
      if (only_if_empty) {
        const Expr empty = reduction_is_empty(p_, nest, facts_);
        if (ir::is_int(empty, std::int64_t{0})) continue;
        init_block.first_stores = false;
        init_block.when.push_back(empty);
      }
      for (std::size_t k = piece.spatial.size(); k-- > 0;) {
        Stmt loop = header(*piece.spatial[k]);
        if (only_if_empty) {  // rare: small code, not fast code
          loop.get<LoopStmt>().kind = ir::LoopKind::serial;
          loop.get<LoopStmt>().bound_to = {};
        }
        loop.body().push_back(std::move(init));
        init = std::move(loop);
      }
      inits.push_back(std::move(init));
    }
    const std::size_t count = inits.size();
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(inits.begin()),
                std::make_move_iterator(inits.end()));
    return count;
  }

  Stmt header(const Stmt& loop) {
    const LoopStmt& of = loop.get<LoopStmt>();
    const ir::LoopKind kind = of.kind == ir::LoopKind::tensorized ? ir::LoopKind::serial : of.kind;  // the call is not an init
    return {p_.fresh(), loop.id, loop.where,
            LoopStmt{.axis = of.axis, .kind = kind, .bound_to = of.bound_to, .part = of.part, .from = of.from, .to = of.to}};
  }

  std::vector<Expr> spatial_conditions(const Stmt& block) const {
    std::vector<Expr> kept;
    for (const Expr& w : block.get<BlockStmt>().when) {
      bool uses_reduce = false;
      for (Id v : ir::free_vars(w)) uses_reduce |= p_.axes.count(v) && p_.axis(v).reduce;
      if (!uses_reduce) kept.push_back(w);
    }
    return kept;
  }

  Program& p_;
  Facts facts_;
};

}  // namespace

Program materialize_inits(const Program& program) {
  Program p = program;
  Inits(p).body(p.body, nullptr);
  return p;
}

}  // namespace ashlar::lowering
