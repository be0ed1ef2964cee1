// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fragments (flatten.h): what a block does with elements that the lanes of a warp hold becomes what each lane does with its
// own.
//
//   for fi in [0, +64)                     for fi_tile in [0, +4) unrolled
//     for fj in [0, +32)            ->       for fj_tile in [0, +4) unrolled
//       C[... + fi, ... + fj] = acc            lane for lane in [0, +32)
//                                                C[... + 16 fi_tile + lane / 4, ...] = acc[16 fi_tile + 4 fj_tile], and the
//                                                next
//                                                ...
//
// The loops over the elements of one tile are left out (analysis/fragment_sites.h says which they are); for each register of
// a lane the block stands once, at the element that the inverse of who-holds-what gives for (lane, register). Loads from shared
// memory may be fewer (flatten/matrices.cpp).
#include <ashlar/analysis/cascade.h>
#include <ashlar/ir/refusal.h>

#include "lower/flatten/flatten.h"
#include "lower/nodes.h"

namespace ashlar::lowering {

namespace {

// What two registers in a row do, as one statement on vectors of two: the same, at addresses that are the same or neighbors.
//
//   a[0] = x[2 i]                     for e in [0, +2) vectorized
//   a[1] = x[2 i + 1]        ->         a[e] = x[2 i + e]
class Pair {
 public:
  Pair(const analysis::Facts& facts, ir::Id var) : facts_(facts), var_(var), e_(ir::var(var, "pair")) {}

  std::optional<KStmt> of(const KStmt& a, const KStmt& b) {
    const auto *branch_a = a.as<ir::KIf>(), *branch_b = b.as<ir::KIf>();
    if (branch_a && branch_b) {
      if (!branch_a->otherwise.empty() || !branch_b->otherwise.empty() || branch_a->body.size() != 1 ||
          branch_b->body.size() != 1 || !alike(branch_a->condition, branch_b->condition))
        return std::nullopt;
      std::optional<KStmt> inner = of(branch_a->body.front(), branch_b->body.front());
      if (!inner) return std::nullopt;
      std::vector<KStmt> body;
      body.push_back(std::move(*inner));
      return if_stmt(branch_a->condition, std::move(body), a.where);
    }
    const auto *first = a.as<KStore>(), *second = b.as<KStore>();
    if (!first || !second || first->buffer != second->buffer || !first->mask.empty() || !second->mask.empty())
      return std::nullopt;
    const Expr address = index(first->address, second->address, false), value = both(first->value, second->value);
    if (address.empty() || value.empty()) return std::nullopt;
    KFor loop{var_, "pair", ir::index(0), ir::index(2), LoopKind::vectorized};
    loop.body.push_back(store_stmt(first->buffer, address, value, a.where));
    return for_stmt(std::move(loop), a.where);
  }

 private:
  // Conditions that hold together or not at all.
  bool alike(const Expr& a, const Expr& b) const {
    if (ir::same(a, b)) return true;
    const auto implies = [&](const Expr& p, const Expr& q) {
      const Expr both[] = {p, ir::logic_not(q)};
      return analysis::no_solution(both, facts_).answer == analysis::Answer::proved;
    };
    return !has_load(a) && !has_load(b) && implies(a, b) && implies(b, a);
  }
  Expr index(const Expr& a, const Expr& b, bool equal) const {
    if (equal && ir::same(a, b)) return a;
    if (!ir::is_int(analysis::simplify(ir::sub(b, a), facts_), 1)) return {};
    return ir::add(a, e_);
  }
  Expr both(const Expr& a, const Expr& b) const {
    if (ir::same(a, b)) return a;
    const auto x = ir::args_of(a), y = ir::args_of(b);
    if (ir::op_of(a) != ir::op_of(b) || !(a.type() == b.type()) || x.size() != y.size() || x.empty()) return {};
    std::vector<Expr> args;
    const bool load = ir::is(a, ir::Op::load);
    if (load && a.node()->id != b.node()->id) return {};
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (load && k > 0 && !alike(x[k], y[k])) return {};
      args.push_back(load ? (k > 0 ? x[k] : index(x[k], y[k], true)) : both(x[k], y[k]));
      if (args.back().empty()) return {};
    }
    return ir::rebuild(a, args);
  }

  const analysis::Facts& facts_;
  ir::Id var_;
  Expr e_;
};

// Stores of one group write different elements in different threads.
void mark(KStmt& s, ir::Id group) {
  if (auto* store = s.as<KStore>()) store->group = group;
  for (auto* inside : s.bodies())
    for (KStmt& k : *inside) mark(k, group);
}

}  // namespace

void Flattener::find_fragments() {
  std::optional<analysis::FragmentProblem> problem;
  sites_ = analysis::fragment_sites(p_, problem);
  if (problem) refuse(problem->primitive, problem->expected, problem->found, problem->where);
  for (const auto& [block, distribution] : sites_.distributed)
    for (const analysis::TileDigit& d : distribution.digits) tiles_[d.loop] = &d;
}

// A loop over elements of fragments becomes a loop over tiles, or vanishes.
std::vector<KStmt> Flattener::over_tiles(const Stmt& s, const analysis::TileDigit& digit) {
  const ir::LoopStmt& loop = s.get<ir::LoopStmt>();
  tile_numbers_[s.id] = ir::index(0);
  if (digit.modulus != 0) return body(s.body());
  const Expr whole = analysis::simplify(known(ir::extent_of(p_, loop)), facts_);
  const Expr count = analysis::simplify(ir::div(whole, ir::index(digit.whole)), facts_);
  if (ir::is_int(count, 1)) return body(s.body());
  const Facts outside = facts_;
  const auto conditions_outside = conditions_.size();
  const Id tile = p_.fresh();
  KFor k{tile, p_.axis(loop.axis).name + "_tile", ir::index(0), lowered(count), LoopKind::unrolled};
  const Expr number = ir::var(k.var, k.name);
  std::int64_t tiles = 0;
  if (!ir::is_int(count, &tiles)) {
    const auto most = analysis::constant_max(count, facts_);
    if (!most) throw InternalError("tiles of " + p_.axis(loop.axis).name + " without a constant number");
    tiles = *most;
    k.extent = ir::index(tiles);
    conditions_.push_back(ir::lt(number, count));
  }
  facts_.range(k.var, ir::index(0), ir::index(tiles - 1));
  tile_numbers_[s.id] = number;
  around_.push_back({k.var, k.kind});
  if (tiles > 0) k.body = body(s.body());
  around_.pop_back();
  facts_ = outside;
  conditions_.resize(conditions_outside);
  Statements out;
  if (!k.body.empty()) out.push_back(for_stmt(std::move(k), s.where));
  return out;
}

std::vector<KStmt> Flattener::distributed(const Stmt& s, const analysis::Distribution& d) {
  const analysis::Fragment& tile = sites_.held.at(d.buffer).tile;
  const Facts outside = facts_;
  KFor lanes{p_.fresh(), "lane", ir::index(0), ir::index(tile.threads), LoopKind::bound, {}, gpu::lane};
  const Expr lane = ir::var(lanes.var, lanes.name);
  facts_.range(lanes.var, ir::index(0), ir::index(tile.threads - 1));
  around_.push_back({lanes.var, lanes.kind});
  const auto registers_at = [&](ir::Id buffer) -> FragmentPlace& { return *places_[current_.at(buffer)].fragment; };
  for (const auto& [buffer, registers] : d.registers) registers_at(buffer).lane = lanes.var;
  const std::size_t single_outside = single_.size();
  std::vector<Statements> each;  // register
  const auto held_at = [&](const Expr& thread, const Expr& reg) {
    const analysis::FragmentInverse at = analysis::inverse(tile, thread, reg);
    if (at.index.empty()) throw InternalError("a fragment without an inverse: " + at.why);
    for (const analysis::TileDigit& digit : d.digits) {
      Expr o = ir::div(at.index[digit.dim], ir::index(digit.divisor));
      if (digit.modulus != 0)
        o = ir::mod(o, ir::index(digit.modulus));
      else
        o = ir::add(ir::mul(tile_numbers_.at(digit.loop), ir::index(digit.whole)), o);
      single_.emplace_back(digit.axis, analysis::simplify(o, facts_));
    }
    Statements made = block(s);
    single_.resize(single_outside);
    return made;
  };
  for (int r = 0; r < tile.registers; ++r) {
    for (const auto& [buffer, registers] : d.registers) registers_at(buffer).reg = registers[static_cast<std::size_t>(r)];
    each.push_back(held_at(lane, ir::index(r)));
  }
  if (auto load = by_matrices(each, lanes, held_at, s.where)) {
    lanes.body.push_back(std::move(*load));
    each.clear();
  }
  const Id of_pair = p_.fresh();
  for (std::size_t r = 0; r < each.size(); ++r) {
    std::optional<KStmt> pair;
    if (r + 1 < each.size() && each[r].size() == 1 && each[r + 1].size() == 1)
      pair = Pair(facts_, of_pair).of(each[r].front(), each[r + 1].front());
    if (pair) {
      lanes.body.push_back(std::move(*pair));
      ++r;
    } else {
      for (KStmt& k : each[r]) lanes.body.push_back(std::move(k));
    }
  }
  for (KStmt& k : lanes.body) mark(k, lanes.var);
  for (const auto& [buffer, registers] : d.registers) registers_at(buffer).lane = 0, registers_at(buffer).reg = 0;
  around_.pop_back();
  facts_ = outside;
  Statements out;
  if (!lanes.body.empty()) out.push_back(for_stmt(std::move(lanes), s.where));
  return out;
}

}  // namespace ashlar::lowering
