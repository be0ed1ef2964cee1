// Fragments (flatten.h): what a block does with elements that the lanes of a warp hold becomes what each lane does with its own.
//
//   for fi in [0, +64)                     for fi_tile in [0, +4) unrolled
//     for fj in [0, +32)            ->       for fj_tile in [0, +4) unrolled
//       C[... + fi, ... + fj] = acc            lane for lane in [0, +32)
//                                                C[... + 16 fi_tile + lane / 4, ...] = acc[16 fi_tile + 4 fj_tile]
//                                                C[...                       + 1   ] = acc[16 fi_tile + 4 fj_tile + 1]
//                                                ...
//
// The loops over the elements of one tile are left out (analysis/fragment_sites.h says which they are); for each register of
// a lane the block stands once, at the element that the inverse of who-holds-what gives for (lane, register).
#include <ashlar/ir/refusal.h>

#include "lower/flatten.h"

namespace ashlar::lower_impl {

using ir::KStmt;
using ir::LoopKind;

void Flattener::find_fragments() {
  std::optional<analysis::FragmentProblem> problem;
  sites_ = analysis::fragment_sites(p_, problem);
  if (problem) refuse(problem->primitive, problem->expected, problem->found, problem->where);
  for (const auto& [block, distribution] : sites_.distributed)
    for (const analysis::TileDigit& d : distribution.digits) tiles_[d.loop] = &d;
}

// A loop over elements of fragments: what is left of it is a loop over tiles, or nothing.
std::vector<KStmt> Flattener::over_tiles(const Stmt& s, const analysis::TileDigit& digit) {
  tile_numbers_[s.id] = ir::index(0);
  if (digit.modulus != 0) return body(s.body);
  const Expr whole = analysis::simplify(known(ir::extent_of(p_, s)), facts_);
  const Expr count = analysis::simplify(ir::div(whole, ir::index(digit.whole)), facts_);
  if (ir::is_int(count, 1)) return body(s.body);
  const Facts outside = facts_;
  const auto conditions_outside = conditions_.size();
  KStmt k;
  k.kind = KStmt::Kind::for_;
  k.where = s.where;
  k.var = p_.fresh();
  k.name = p_.axis(s.axis).name + "_tile";
  k.begin = ir::index(0);
  k.extent = count;
  k.loop_kind = LoopKind::unrolled;
  const Expr number = ir::var(k.var, k.name);
  std::int64_t tiles = 0;
  if (!ir::is_int(count, &tiles)) {
    const auto most = analysis::constant_max(count, facts_);
    if (!most) throw InternalError("tiles of " + p_.axis(s.axis).name + " without a constant number");
    tiles = *most;
    k.extent = ir::index(tiles);
    conditions_.push_back(ir::lt(number, count));
  }
  facts_.range(k.var, ir::index(0), ir::index(tiles - 1));
  tile_numbers_[s.id] = number;
  around_.push_back({k.var, k.loop_kind});
  if (tiles > 0) k.body = body(s.body);
  around_.pop_back();
  facts_ = outside;
  conditions_.resize(conditions_outside);
  Statements out;
  if (!k.body.empty()) out.push_back(std::move(k));
  return out;
}

std::vector<KStmt> Flattener::distributed(const Stmt& s, const analysis::Distribution& d) {
  const analysis::Fragment& tile = sites_.held.at(d.buffer).tile;
  const Facts outside = facts_;
  KStmt lanes;
  lanes.kind = KStmt::Kind::for_;
  lanes.where = s.where;
  lanes.var = p_.fresh();
  lanes.name = "lane";
  lanes.begin = ir::index(0);
  lanes.extent = ir::index(tile.threads);
  lanes.loop_kind = LoopKind::bound;
  lanes.bound_to = gpu::lane;
  const Expr lane = ir::var(lanes.var, lanes.name);
  facts_.range(lanes.var, ir::index(0), ir::index(tile.threads - 1));
  around_.push_back({lanes.var, lanes.loop_kind});
  const auto registers_at = [&](ir::Id buffer) -> FragmentPlace& { return *places_[current_.at(buffer)].fragment; };
  for (const auto& [buffer, registers] : d.registers) registers_at(buffer).lane = lanes.var;
  const std::size_t single_outside = single_.size();
  for (int r = 0; r < tile.registers; ++r) {
    const analysis::FragmentInverse at = analysis::inverse(tile, lane, ir::index(r));
    if (at.index.empty()) throw InternalError("a fragment without an inverse: " + at.why);
    for (const analysis::TileDigit& digit : d.digits) {
      Expr o = ir::div(at.index[digit.dim], ir::index(digit.divisor));
      if (digit.modulus != 0)
        o = ir::mod(o, ir::index(digit.modulus));
      else
        o = ir::add(ir::mul(tile_numbers_.at(digit.loop), ir::index(digit.whole)), o);
      single_.emplace_back(digit.axis, analysis::simplify(o, facts_));
    }
    for (const auto& [buffer, registers] : d.registers) registers_at(buffer).reg = registers[static_cast<std::size_t>(r)];
    for (KStmt& k : block(s)) lanes.body.push_back(std::move(k));
    single_.resize(single_outside);
  }
  for (const auto& [buffer, registers] : d.registers) registers_at(buffer).lane = 0, registers_at(buffer).reg = 0;
  around_.pop_back();
  facts_ = outside;
  Statements out;
  if (!lanes.body.empty()) out.push_back(std::move(lanes));
  return out;
}

}  // namespace ashlar::lower_impl
