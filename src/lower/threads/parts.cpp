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

namespace ashlar::lower_impl {
namespace {

using ir::Id;
using ir::Program;
using ir::Stmt;

bool over_threads(const Stmt& s) { return s.kind == Stmt::Kind::loop && s.combines && s.loop_kind == ir::LoopKind::bound; }

bool combines(const Stmt& s) {
  if (s.kind == Stmt::Kind::nest) return false;
  return over_threads(s) || std::any_of(s.body.begin(), s.body.end(), combines);
}

// Are all blocks of the stage in the statement inside loops over threads?
bool only_combines(const Stmt& s) {
  if (s.kind == Stmt::Kind::nest || over_threads(s)) return true;
  return s.kind != Stmt::Kind::block && std::all_of(s.body.begin(), s.body.end(), only_combines);
}

class Parts {
 public:
  explicit Parts(Program& p) : p_(p) {}

  void body(std::vector<Stmt>& list, const Stmt* nest) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      Stmt& s = list[k];
      const Stmt* own = s.kind == Stmt::Kind::nest ? &s : nest;
      const bool reduces = s.kind == Stmt::Kind::loop && p_.axis(s.axis).reduce && combines(s);
      if (s.kind == Stmt::Kind::loop && nest && reduces)
        k += take(list, k, *nest);
      else
        body(s.body, own);
    }
  }

 private:
  struct Piece {
    Stmt* block = nullptr;
    std::vector<const Stmt*> spatial;  // outermost first
  };

  void collect(Stmt& loop, std::vector<const Stmt*>& spatial, std::vector<Piece>& pieces) {
    for (Stmt& s : loop.body) {
      if (s.kind == Stmt::Kind::block) pieces.push_back({&s, spatial});
      if (s.kind == Stmt::Kind::nest) body(s.body, &s);
      if (s.kind != Stmt::Kind::loop) continue;
      const bool is_spatial = !p_.axis(s.axis).reduce;
      if (is_spatial) spatial.push_back(&s);
      collect(s, spatial, pieces);
      if (is_spatial) spatial.pop_back();
    }
  }

  // The outermost reduction loops of a nest: several where it was peeled.
  int reductions(const Stmt& s) const {
    int n = 0;
    for (const Stmt& b : s.body) {
      if (b.kind != Stmt::Kind::loop) continue;
      n += p_.axis(b.axis).reduce ? 1 : reductions(b);
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
      piece.block->first_stores = false;
      std::vector<std::pair<Id, int>> key;
      for (const Stmt* l : piece.spatial) key.emplace_back(l->axis, static_cast<int>(l->part));
      std::sort(key.begin(), key.end());
      if (done.insert(key).second) {
        Stmt begin = copy(*piece.block, Stmt::Piece::begin), combine = copy(*piece.block, Stmt::Piece::combine);
        begin.when.clear();
        combine.first_stores = alone;
        for (std::size_t k = piece.spatial.size(); k-- > 0;)
          begin = inside(*piece.spatial[k], std::move(begin)), combine = inside(*piece.spatial[k], std::move(combine));
        before.push_back(std::move(begin)), behind.push_back(std::move(combine));
      }
    }
    if (alone)
      for (const Piece& piece : pieces) piece.block->piece = Stmt::Piece::update;
    const std::size_t count = before.size() + behind.size();
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::make_move_iterator(behind.begin()),
                std::make_move_iterator(behind.end()));
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(before.begin()),
                std::make_move_iterator(before.end()));
    return count;
  }

  Stmt copy(const Stmt& block, Stmt::Piece piece) {
    Stmt s = block;
    s.copy_of = block.id;
    s.id = p_.fresh();
    s.piece = piece;
    std::erase_if(s.when, [&](const Expr& w) {
      const auto vars = ir::free_vars(w);
      return std::any_of(vars.begin(), vars.end(), [&](Id v) { return p_.axes.count(v) && p_.axis(v).reduce; });
    });
    return s;
  }

  // The block inside a loop like this one. Threads meet in `combine`, lanes do not: a vectorized loop is unrolled there.
  Stmt inside(const Stmt& loop, Stmt block) {
    Stmt s;
    s.kind = Stmt::Kind::loop;
    s.id = p_.fresh();
    s.copy_of = loop.id;
    s.where = loop.where;
    s.axis = loop.axis;
    s.loop_kind = loop.loop_kind == ir::LoopKind::vectorized ? ir::LoopKind::unrolled : loop.loop_kind;
    s.bound_to = loop.bound_to;
    s.part = loop.part;
    s.from = loop.from, s.to = loop.to;
    s.tight = loop.tight;
    s.body.push_back(std::move(block));
    return s;
  }

  Program& p_;
};

}  // namespace

void take_parts(ir::Program& p) { Parts(p).body(p.body, nullptr); }

}  // namespace ashlar::lower_impl
