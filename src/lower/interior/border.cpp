// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A vector that reaches a few points over a border is moved inside, where some of its points are computed twice.
//
//   for xo in [0, +(W + 15) / 16)                       for xo in [0, +(W + 15) / 16)
//     if inside                                           if inside
//       out[ramp] = in[ramp + 1]                            out[ramp] = in[ramp + 1]
//     else                                        ->      else if 0 <= W - 17
//       out[ramp] = in[min(ramp + 1, W - 1)]                let at = min(xo * 16, W - 17)
//         where ramp < W                                    out[at + ..] = in[at + .. + 1]
//                                                           the points of the tile that are left, one by one
//                                                         else
//                                                           the tile as it was
//
// Invariant: a point that is computed twice gets the same value both times, because nothing that it reads has changed. Only the
// tile itself stores to what it reads in the loop around it, and only to a recurrence, whose points have one value each and
// whose ring keeps the steps that are read. Stores that combine with the element, and outputs that may be an input, are left
// alone.
#include "lower/interior/border.h"

#include <algorithm>
#include <set>

#include <ashlar/analysis/simplify.h>

#include "lower/passes.h"

namespace ashlar::lowering {

namespace {

constexpr std::int64_t widest_border = 8;  // points

// Stores, lets and branches around them, and no other statement.
bool is_plain(const std::vector<KStmt>& list) {
  return std::all_of(list.begin(), list.end(), [](const KStmt& s) {
    const auto* store = s.as<KStore>();
    const auto lists = s.bodies();
    return (s.is<KLet>() || s.is<ir::KIf>() || (store && !store->atomic)) &&
           std::all_of(lists.begin(), lists.end(), [](const auto* inside) { return is_plain(*inside); });
  });
}

template <class F>
void for_each_store(const std::vector<KStmt>& list, F&& f) {
  for (const KStmt& s : list) {
    if (const auto* store = s.as<KStore>()) f(*store);
    for (const auto* inside : s.bodies()) for_each_store(*inside, f);
  }
}
bool is_opaque(const std::vector<KStmt>& list) {
  return std::any_of(list.begin(), list.end(), [](const KStmt& s) {
    const auto lists = s.bodies();
    return s.is<ir::KCall>() || s.is<ir::KLaunch>() ||
           std::any_of(lists.begin(), lists.end(), [](const auto* inside) { return is_opaque(*inside); });
  });
}
template <class F>
void for_each_load(const std::vector<KStmt>& list, F&& f) {
  for (const KStmt& s : list) {
    for_each_expr(s, [&](const Expr& root) {
      ir::walk(root, [&](const Expr& e) {
        if (ir::is(e, Op::load)) f(e);
        return true;
      });
    });
    for (const auto* inside : s.bodies()) for_each_load(*inside, f);
  }
}

// The tile reads an input, and an output of the loop may lie where it does.
bool overwrites_an_input(const KFor& tile, const std::map<Id, int>& stored, const ir::Kernel& kernel) {
  const auto argument = [&](Id b) {
    const auto at = kernel.argument_buffers.find(b);
    return at == kernel.argument_buffers.end() ? nullptr : &at->second;
  };
  if (std::none_of(stored.begin(), stored.end(),
                   [&](const auto& s) { return argument(s.first) && argument(s.first)->may_alias_inputs; }))
    return false;
  bool reads = false;
  for_each_load(tile.body, [&](const Expr& e) {
    const ir::Buffer* b = argument(e.node()->id);
    reads = reads || (b && b->role == ir::Role::input);
  });
  return reads;
}

// A point may be computed twice in the loop.
bool repeats(const KFor& tile, const KFor& loop, const Border& border) {
  if (is_opaque(loop.body)) return false;
  std::set<Id> own;
  std::map<Id, int> stores;  // in the loop
  std::vector<Expr> places;
  bool memory = true;
  const auto in_registers = [&](Id b) {
    const auto at = border.kernel.buffers.find(b);
    return at != border.kernel.buffers.end() && at->second.storage == ir::Storage::registers;
  };
  for_each_store(tile.body, [&](const KStore& s) {
    own.insert(s.buffer), --stores[s.buffer], places.push_back(s.address);
    memory = memory && !in_registers(s.buffer);
  });
  for_each_store(loop.body, [&](const KStore& s) { ++stores[s.buffer]; });
  if (overwrites_an_input(tile, stores, border.kernel)) return false;
  // What the tile stores, nothing else in the loop changes.
  if (std::any_of(own.begin(), own.end(), [&](Id b) { return stores.at(b) > 0; })) return false;
  for_each_load(tile.body, [&](const Expr& e) {
    const Id b = e.node()->id;
    memory = memory && !in_registers(b);
    if (!own.count(b)) {
      memory = memory && !stores.count(b);
    } else {
      memory =
          memory && border.kernel.buffers.at(b).facts().recurrent &&
          std::none_of(places.begin(), places.end(), [&](const Expr& place) { return ir::same(place, ir::args_of(e)[0]); });
    }
  });
  return memory;
}

// Every point is stored at a place of its own, and not in a ring along the tile, where one that lies ahead would take the place
// of one behind.
bool stores_evenly(const KFor& tile) {
  const Expr lane = ir::var(tile.var, tile.name);
  bool evenly = true;
  for_each_store(tile.body, [&](const KStore& s) {
    const Expr next = ir::substitute(s.address, {{tile.var, ir::add(lane, ir::index(1))}});
    std::int64_t apart = 0;
    evenly = evenly && ir::is_int(analysis::simplify(ir::sub(next, s.address)), &apart) && apart != 0;
  });
  return evenly;
}

std::vector<KStmt> at_point(const std::vector<KStmt>& list, const ir::Substitution& point, const Facts& facts) {
  std::vector<KStmt> out = list;
  for (KStmt& s : out) {
    for_each_expr(s, [&](Expr& e) {
      const Expr put = ir::transform(ir::substitute(e, point), [&](const Expr& x) {
        if (!ir::is(x, Op::load)) return x;
        std::vector<Expr> args(ir::args_of(x).begin(), ir::args_of(x).end());
        if (args[0].type().is_index()) args[0] = analysis::simplify(args[0], facts);
        return ir::load(x.node()->id, x.node()->name, x.type(), args, x.node()->where);
      });
      e = put.type().is_index() || put.type().is_bool() ? analysis::simplify(put, facts) : put;
    });
    for (auto* inside : s.bodies()) *inside = at_point(*inside, point, facts);
  }
  return out;
}

bool uses(const std::vector<KStmt>& list, Id v) {
  return std::any_of(list.begin(), list.end(), [&](const KStmt& s) {
    bool found = false;
    for_each_expr(s, [&](const Expr& e) { found = found || ir::uses_var(e, v); });
    for (const auto* inside : s.bodies()) found = found || uses(*inside, v);
    return found;
  });
}

// A variable of a `let` in the loop around the tile, which may have another value where the vector is moved to.
bool reads_a_let(const KFor& tile, const KFor& loop) {
  std::vector<Id> own, all;
  const auto gather = [](const auto& self, const std::vector<KStmt>& list, std::vector<Id>& lets) -> void {
    for (const KStmt& s : list) {
      if (const auto* let = s.as<KLet>()) lets.push_back(let->var);
      for (const auto* inside : s.bodies()) self(self, *inside, lets);
    }
  };
  gather(gather, tile.body, own), gather(gather, loop.body, all);
  return std::any_of(all.begin(), all.end(),
                     [&](Id v) { return std::find(own.begin(), own.end(), v) == own.end() && uses(tile.body, v); });
}

KFor loop_over(const KFor& like, const Expr& begin, const Expr& end, ir::LoopKind kind, std::vector<KStmt> body) {
  return {like.var, like.name, begin, ir::sub(end, begin), kind, std::move(body)};
}

// The points of the tile before the vector at `moved`, and those behind it, with one text.
KStmt sides_of(const KFor& tile, Where where, const Expr& first, const Expr& moved, std::int64_t lanes, Id variable) {
  const Expr side = ir::var(variable, "side");
  const auto in_tile = [&](const Expr& point) {
    return ir::max(ir::min(ir::sub(point, first), ir::index(lanes)), ir::index(0));
  };
  const Expr from = ir::mul(side, in_tile(ir::add(moved, ir::index(lanes)))),
             to = ir::add(ir::mul(ir::sub(ir::index(1), side), in_tile(moved)), ir::mul(side, ir::index(lanes)));
  KFor sides{variable, "side", ir::index(0), ir::index(2)};
  sides.body.push_back(for_stmt(loop_over(tile, from, to, ir::LoopKind::serial, tile.body), where));
  return for_stmt(std::move(sides), where);
}

}  // namespace

std::optional<Moved> moved_inside(const KStmt& statement, const std::vector<Expr>& slacks, const std::vector<KStmt>& inside,
                                  bool tail, const Facts& facts, const Border& border) {
  const KFor& tile = statement.get<KFor>();
  std::int64_t lanes = 0, begin = 0;
  if (tile.kind != ir::LoopKind::vectorized || !ir::is_int(tile.extent, &lanes) || lanes < 2 ||
      !ir::is_int(tile.begin, &begin) || begin != 0 || !is_plain(tile.body))
    return {};
  const KFor* loop = nullptr;
  std::vector<Expr> conditions;
  for (std::size_t k = border.around.size(); k-- > 0 && !loop;) {
    loop = border.around[k].loop;
    if (!loop) conditions.push_back(border.around[k].condition);
  }
  if (!loop || loop->kind != ir::LoopKind::serial) return {};
  const Id u = loop->var;
  if (std::any_of(conditions.begin(), conditions.end(), [&](const Expr& c) { return !c.empty() && ir::uses_var(c, u); }))
    return {};
  if (reads_a_let(tile, *loop) || !repeats(tile, *loop, border)) return {};

  // The tile's first point, and where it may lie: in the tiles of the loop, from that of its first to that of its last.
  const Expr tiles = ir::var(u, loop->name), first = ir::mul(tiles, ir::index(lanes));
  const Expr begins = ir::mul(loop->begin, ir::index(lanes)),
             ends = ir::mul(ir::sub(ir::add(loop->begin, loop->extent), ir::index(1)), ir::index(lanes));
  Expr lowest = begins, highest = ends;
  for (const Expr& slack : slacks) {
    std::int64_t step = 0;
    if (!ir::uses_var(slack, u)) return {};
    const Expr next = ir::substitute(slack, {{u, ir::add(tiles, ir::index(1))}});
    if (!ir::is_int(analysis::simplify(ir::sub(next, slack)), &step) || step == 0 || step % lanes != 0) return {};
    const Expr at_zero = ir::substitute(slack, {{u, ir::index(0)}});
    const std::int64_t by = step / lanes;  // slack = at_zero + by * first
    if (by > 0)
      lowest = ir::max(lowest, ir::ceil_div(ir::sub(ir::index(0), at_zero), ir::index(by)));
    else
      highest = ir::min(highest, ir::div(at_zero, ir::index(-by)));
  }
  lowest = analysis::simplify(lowest, facts), highest = analysis::simplify(highest, facts);
  if (ir::uses_var(lowest, u) || ir::uses_var(highest, u) || has_load(lowest) || has_load(highest)) return {};
  // Few points are left at either end: where the last tile has one point or more.
  if (!analysis::can_prove(ir::le(lowest, ir::add(begins, ir::index(widest_border))), facts) ||
      !analysis::can_prove(ir::gt(ir::add(highest, ir::index(lanes + widest_border)), ends), facts))
    return {};
  if (!stores_evenly(tile)) return {};

  const Id at = border.kernel.fresh();
  const Expr moved = ir::var(at, "at"), lane = ir::var(tile.var, tile.name);
  std::vector<KStmt> vector = at_point(inside, {{tile.var, ir::sub(ir::add(moved, lane), first)}}, facts);
  if (uses(vector, u)) return {};
  Moved result;
  result.fits = analysis::simplify(ir::le(lowest, highest), facts);
  std::vector<KStmt> list;
  list.push_back(
      for_stmt(loop_over(tile, ir::index(0), ir::index(lanes), ir::LoopKind::vectorized, std::move(vector)), statement.where));
  if (!tail) list.push_back(sides_of(tile, statement.where, first, moved, lanes, border.kernel.fresh()));
  result.body.push_back(let_stmt(at, "at", ir::min(ir::max(lowest, first), highest), std::move(list), statement.where));
  return result;
}

}  // namespace ashlar::lowering
