// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction over threads, taken into three: the part of each thread begins as the identity, the loops accumulate into it, and
// after them the parts of all threads are combined and stored.
//
//   for ko                               begin total
//     for ki   thread_x, combined   ->   for ko
//       block total                        for ki    thread_x
//                                            update total
//                                        combine total
//
// Around `begin` and `combine` stand the spatial loops that stand inside the reduction. Where the reduction is in one piece,
// and all of it over threads, `combine` stores the init with the parts; else it adds them to what `init`, an earlier piece, or
// a remainder that accumulates into memory inside the same loops has stored.
#include <algorithm>
#include <set>

#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

bool over_threads(const Stmt& s) { return ir::is_loop(s, ir::LoopKind::bound) && s.get<LoopStmt>().combines; }

bool combines(const Stmt& s) {
  if (s.is<NestStmt>()) return false;
  return over_threads(s) || std::any_of(s.body().begin(), s.body().end(), combines);
}

// Are all blocks of the stage in the statement inside loops over threads?
bool only_combines(const Stmt& s) {
  if (s.is<NestStmt>() || over_threads(s)) return true;
  return !s.is<BlockStmt>() && std::all_of(s.body().begin(), s.body().end(), only_combines);
}

class Parts {
 public:
  explicit Parts(Program& p) : p_(p) {}

  void body(std::vector<Stmt>& list, const Stmt* nest) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      Stmt& s = list[k];
      if (const LoopStmt* loop = s.as<LoopStmt>(); loop && nest && p_.axis(loop->axis).reduce && combines(s))
        k += take(list, k, *nest);
      else if (s.has_body())
        body(s.body(), s.is<NestStmt>() ? &s : nest);
    }
  }

 private:
  struct Piece {
    Stmt* block = nullptr;
    std::vector<const Stmt*> spatial;  // outermost first
  };

  void collect(Stmt& loop, std::vector<const Stmt*>& spatial, std::vector<Piece>& pieces) {
    for (Stmt& s : loop.body()) {
      if (s.is<BlockStmt>()) pieces.push_back({&s, spatial});
      if (NestStmt* nest = s.as<NestStmt>()) body(nest->body, &s);
      LoopStmt* l = s.as<LoopStmt>();
      if (!l) continue;
      const bool is_spatial = !p_.axis(l->axis).reduce;
      if (is_spatial) spatial.push_back(&s);
      collect(s, spatial, pieces);
      if (is_spatial) spatial.pop_back();
    }
  }

  // The outermost reduction loops of a nest: several where it was peeled.
  int reductions(const Stmt& s) const {
    int n = 0;
    for (const Stmt& b : s.body()) {
      const LoopStmt* loop = b.as<LoopStmt>();
      if (!loop) continue;
      n += p_.axis(loop->axis).reduce ? 1 : reductions(b);
    }
    return n;
  }

  // Puts `begin` before the loop and `combine` behind it; returns how many statements were put before and behind.
  std::size_t take(std::vector<Stmt>& list, std::size_t at, const Stmt& nest) {
    const bool alone = reductions(nest) == 1 && only_combines(list[at]);
    std::vector<Piece> pieces;
    std::vector<const Stmt*> spatial;
    collect(list[at], spatial, pieces);
    std::vector<Stmt> before, behind;
    std::set<std::vector<std::pair<Id, int>>> done;
    for (const Piece& piece : pieces) {
      piece.block->get<BlockStmt>().first_stores = false;
      std::vector<std::pair<Id, int>> key;
      for (const Stmt* l : piece.spatial) key.emplace_back(l->get<LoopStmt>().axis, static_cast<int>(l->get<LoopStmt>().part));
      std::sort(key.begin(), key.end());
      if (done.insert(key).second) {
        Stmt begin = copy(*piece.block, ir::Piece::begin), combine = copy(*piece.block, ir::Piece::combine);
        begin.get<BlockStmt>().when.clear();
        combine.get<BlockStmt>().first_stores = alone;
        for (std::size_t k = piece.spatial.size(); k-- > 0;)
          begin = inside(*piece.spatial[k], std::move(begin)), combine = inside(*piece.spatial[k], std::move(combine));
        before.push_back(std::move(begin)), behind.push_back(std::move(combine));
      }
    }
    if (alone)
      for (const Piece& piece : pieces) piece.block->get<BlockStmt>().piece = ir::Piece::update;
    const std::size_t count = before.size() + behind.size();
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::make_move_iterator(behind.begin()),
                std::make_move_iterator(behind.end()));
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(before.begin()),
                std::make_move_iterator(before.end()));
    return count;
  }

  Stmt copy(const Stmt& block, ir::Piece piece) {
    Stmt s = block;
    s.copy_of = block.id;
    s.id = p_.fresh();
    BlockStmt& made = s.get<BlockStmt>();
    made.piece = piece;
    std::erase_if(made.when, [&](const Expr& w) {
      const auto vars = ir::free_vars(w);
      return std::any_of(vars.begin(), vars.end(), [&](Id v) { return p_.axes.count(v) && p_.axis(v).reduce; });
    });
    return s;
  }

  // The block inside a loop like this one. Threads meet in `combine`, lanes do not: a vectorized loop is unrolled there.
  Stmt inside(const Stmt& loop, Stmt block) {
    const LoopStmt& of = loop.get<LoopStmt>();
    LoopStmt made{.axis = of.axis,
                  .kind = of.kind == ir::LoopKind::vectorized ? ir::LoopKind::unrolled : of.kind,
                  .bound_to = of.bound_to,
                  .part = of.part,
                  .from = of.from,
                  .to = of.to,
                  .tight = of.tight};
    made.body.push_back(std::move(block));
    return {p_.fresh(), loop.id, loop.where, std::move(made)};
  }

  Program& p_;
};

}  // namespace

void take_parts(ir::Program& p) { Parts(p).body(p.body, nullptr); }

}  // namespace ashlar::lowering
