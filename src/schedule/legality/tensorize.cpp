// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Obligations of a tensorized loop: it does what the intrinsic means; its tiles lie where and how the intrinsic wants them;
// the target has what the intrinsic needs, and an implementation for its back end.
#include <algorithm>
#include <numeric>

#include <ashlar/analysis/dropped.h>
#include <ashlar/analysis/fragment_sites.h>
#include <ashlar/analysis/scope_call.h>
#include <ashlar/analysis/tensorize.h>
#include <ashlar/ir/emit_text.h>

#include <ashlar/instructions/kept.h>
#include "schedule/legality/legality.h"

namespace ashlar::schedule {

using Operand = ir::IntrinsicOperand;

namespace {

std::string back_end_of(const Target& t) {
  if (!t.is_gpu()) return name_of(Backend::llvm);
  return name_of(t.device().kind == Device::Kind::cuda ? Backend::ptx : Backend::spirv);
}

// On CUDA a call is made by a warp, over fragments: its registers have 32 bits.
void prove_in_warps(const Context& c, const ir::Intrinsic& f) {
  for (const Operand& o : f.operands) {
    if (o.kind != Operand::Kind::tile) continue;
    const std::string at = o.name + " of " + f.name;
    if (o.place != Operand::Place::registers) {
      const bool by_lanes = !o.map.empty() && o.access == Operand::Access::read;
      if (!by_lanes)
        c.refuse("operands in Scope::fragment on " + std::string(c.target.text()) +
                     ", or read in Scope::shared by addresses of its lanes (m.address)",
                 at + " in " + o.scope.name);
      continue;
    }
    if (f.group != c.target.device().warp)
      c.refuse("fragments held by " + std::to_string(c.target.device().warp) + " lanes, a warp of " + c.target.device().name,
               at + ", held by " + std::to_string(f.group));
    std::int64_t bits = o.type.bits;
    for (const std::int64_t n : o.shape) bits *= n;
    if (o.type.bits > 32 || bits / f.group % 32 != 0)
      c.refuse(
          "elements of at most 32 bits that fill registers of 32 bits",
          at + ", with " + std::to_string(bits / f.group / o.type.bits) + " elements of " + ir::text(o.type) + " in each lane");
  }
}

void prove_on_target(const Context& c, const ir::Intrinsic& f) {
  std::string rest = f.needs;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string feature = rest.substr(0, end);
    rest.erase(0, std::min(end + 1, rest.size()));
    if (!c.target.has(feature.c_str()))
      c.refuse("a target with " + feature + ", which " + f.name + " needs", std::string(c.target.text()));
  }
  const std::string back_end = back_end_of(c.target);
  if (back_end == name_of(Backend::ptx)) prove_in_warps(c, f);
  if (f.emit.count(back_end)) return;
  std::vector<std::string> others;
  for (const auto& [name, text] : f.emit) others.push_back(name);
  c.refuse("an implementation of " + f.name + " for " + back_end + ", the back end of " + std::string(c.target.text()) +
               " (m.emit(Backend::" + back_end + ", ...))",
           others.empty() ? "none" : "one for " + list_names(others));
}

// Scope::global stands for memory that any pointer reaches: on CPUs the stack is that too, and, for a text that takes the tile
// by value, registers; for Vulkan registers alone.
bool lies_in(const Context& c, const ir::Buffer& b, const ir::Intrinsic& f, const Operand& o) {
  if (back_end_of(c.target) == name_of(Backend::spirv))
    return b.scope == Scope::registers && o.scope == Scope::global && ir::by_value(f, back_end_of(c.target), o);
  if (b.scope == o.scope) return true;
  if (!(o.scope == Scope::global) || c.target.is_gpu()) return false;
  return b.scope == Scope::stack || (b.scope == Scope::registers && ir::by_value(f, back_end_of(c.target), o));
}

// Behind the address that each lane gives lies its run: neighbors, from a multiple of the run's length on.
void prove_runs(const Context& c, const Stmt& loop, const ir::Intrinsic& f, const Operand& o, const analysis::TileSite& tile) {
  constexpr Id lane_id = Id{1} << 59, distance_id = lane_id + 1;
  const Expr lane = ir::var(lane_id, "lane"), distance = ir::var(distance_id, "distance");
  const analysis::LaneRuns runs = analysis::lane_runs(o, f.group, lane, distance);
  auto path = ir::path_to(c.p, loop.id);
  path.pop_back();
  analysis::Facts facts = analysis::facts_at(c.p, path);
  facts.bound(lane_id, 0, runs.lanes - 1);
  facts.bound(distance_id, 0, runs.run - 1);
  const ir::Buffer& b = c.p.buffer(tile.buffer);
  const std::string at = o.name + " of " + f.name;
  const Expr first = analysis::address_in_tile(c.p, tile, runs.first, facts),
             element = analysis::address_in_tile(c.p, tile, runs.at, facts);
  if (first.empty()) c.refuse(at + " in storage of known size", b.name + ", whose box has no bound");
  if (const Expr behind = analysis::simplify(ir::sub(element, first), facts); !ir::same(behind, distance))
    c.refuse("runs of " + std::to_string(runs.run) + " neighbors behind the addresses of " + at,
             b.name + ", whose elements lie " + ir::text(behind) + " behind them");
  const analysis::Congruence m = analysis::congruence(first, facts);
  if (m.modulus % runs.run != 0 || m.remainder % runs.run != 0)
    c.refuse("addresses of " + at + " at multiples of " + std::to_string(runs.run) + " elements",
             b.name + " at " + ir::text(first));
}

void prove_tile(const Context& c, const Stmt& loop, const ir::Intrinsic& f, const Operand& o, const analysis::TileSite& tile) {
  const ir::Buffer& b = c.p.buffer(tile.buffer);
  const std::string at = o.name + " of " + f.name;
  const std::string back_end = back_end_of(c.target);
  if (!lies_in(c, b, f, o) && b.scope == Scope::registers && o.scope == Scope::global && !c.target.is_gpu())
    c.refuse(
        at + " in memory, since its text for " + back_end + " takes the address ({" + o.name + ".value} would be the elements)",
        b.name + " in " + b.scope.name);
  if (!lies_in(c, b, f, o) && back_end == name_of(Backend::spirv))
    c.refuse(at + " in Scope::registers and taken by value ({" + o.name + ".value}), as Vulkan has it",
             b.name + " in " + b.scope.name);
  if (!lies_in(c, b, f, o))
    c.refuse(at + " in " + o.scope.name, b.name + " in " + b.scope.name + " (cache_read or cache_write puts it there)");
  if (o.scope == Scope::fragment) return;  // fragment_sites.h: when the schedule is complete, and here below
  if (!o.map.empty()) return prove_runs(c, loop, f, o, tile);
  const analysis::TilePlace place = analysis::place_of_tile(c.p, loop, tile);
  if (place.address.empty()) c.refuse(at + " in storage of known size", b.name + ", whose box has no bound");
  const bool value = ir::by_value(f, back_end, o);
  for (std::size_t d = 0; d < tile.extents.size(); ++d) {
    const std::string along = "dimension " + std::to_string(d) + " of " + at;
    if (place.strides[d].empty())
      c.refuse("one distance between neighbors along " + along, b.name + " in a layout that has several (a ring, a swizzle)");
    if (ir::names_stride(f, back_end, o, d) || is_dense(tile, place, d)) continue;
    if (value && ir::is_int(place.strides[d])) continue;
    if (value)
      c.refuse("a constant distance between neighbors along " + along + ", which " + f.name + " takes by value",
               b.name + " with neighbors " + ir::text(place.strides[d]) + " apart");
    c.refuse("a tile without gaps along " + along + " ({" + o.name + ".stride" + std::to_string(d) +
                 "} in its text would take any distance)",
             b.name + " with neighbors " + ir::text(place.strides[d]) + " apart");
  }
  const std::int64_t align = o.scope.limits.align;
  if (align <= 1) return;
  const analysis::Facts facts = analysis::facts_at(c.p, loop.id);
  const auto bytes = analysis::congruence(ir::mul(place.address, ir::index(b.type.bytes())), facts);
  const bool aligned =
      (bytes.modulus % align == 0 && bytes.remainder % align == 0) || (bytes.modulus == 0 && bytes.remainder == 0);
  if (!aligned)
    c.refuse(at + " at a multiple of " + std::to_string(align) + " bytes, as " + o.scope.name + " has it",
             b.name + " at " + ir::text(place.address) + " elements of " + std::to_string(b.type.bytes()) + " bytes");
}

// The text of an intrinsic may write before it has read everything, so no tile that is read may lie where one is written.
void prove_apart(const Context& c, const ir::Intrinsic& f, const analysis::IntrinsicMatch& m) {
  for (std::size_t w = 0; w < f.operands.size(); ++w) {
    if (f.operands[w].kind != Operand::Kind::tile || f.operands[w].access == Operand::Access::read) continue;
    const ir::Buffer& written = c.p.buffer(m.tiles[w].buffer);
    for (std::size_t r = 0; r < f.operands.size(); ++r) {
      if (f.operands[r].kind != Operand::Kind::tile || r == w) continue;
      const ir::Buffer& read = c.p.buffer(m.tiles[r].buffer);
      if (written.may_alias_inputs && read.role == ir::Role::input)
        c.refuse("tiles that do not overlap",
                 written.name + ", which may alias " + read.name + " (cache_write or cache_read one of them)");
    }
  }
}

}  // namespace

void prove_tensorized(Context& c, const Stmt& loop, const ir::Intrinsic& f) {
  std::string name = name_of(c.p, loop);
  if (loop.get<LoopStmt>().kind == ir::LoopKind::tensorized)  // this step is a later one
    name += ", which was tensorized at " + location(loop.where) + " (move this call before it)";
  for (const Stmt* s : ir::path_to(c.p, loop.id)) {
    const LoopStmt* l = s->as<LoopStmt>();
    if (!l || s->id == loop.id) continue;
    if (l->kind == ir::LoopKind::vectorized || l->kind == ir::LoopKind::tensorized)
      c.refuse("a tensorized loop outside of vectorized and tensorized ones",
               name_of(c.p, loop) + " inside " + name_of(c.p, *s) + ", " + word(l->kind));
  }
  const analysis::IntrinsicMatch m = analysis::match_intrinsic(c.p, loop, f);
  if (!m.matches) c.refuse(m.expected, m.found + ", in " + name);
  if (const ir::Stage& stage = c.p.stage(m.block->get<BlockStmt>().stage); analysis::drops(c.p, stage))
    c.refuse("a stage that stores each of its elements (without drop_dim)", stage.name + ", which lacks dimensions");
  prove_on_target(c, f);
  prove_apart(c, f, m);
  for (std::size_t k = 0; k < f.operands.size(); ++k)
    if (f.operands[k].kind == Operand::Kind::tile) prove_tile(c, loop, f, f.operands[k], m.tiles[k]);
}

void finish_fragments(Context& c) {
  std::optional<analysis::FragmentProblem> problem;
  const analysis::FragmentSites sites = analysis::fragment_sites(c.p, problem);
  if (problem) ashlar::refuse(problem->primitive, problem->expected, problem->found, problem->where);
  for (const auto& [id, held] : sites.held)
    ir::walk(c.p.body, [&](const Stmt& s) {
      const AllocStmt* alloc = s.as<AllocStmt>();
      if (!alloc || alloc->buffer != id) return;
      const ir::Buffer& b = c.p.buffer(id);
      const std::vector<std::int64_t> counts = analysis::tile_counts(c.p, s, held.tile);
      if (counts.empty())
        ashlar::refuse(analysis::scope_call(c.p, b),
                       "a constant size for " + b.name + " in Scope::fragment (place it inside a tile of constant extent)",
                       "an extent without bound", b.where);
      std::int64_t words = held.tile.registers * b.type.bits;
      for (const std::int64_t n : counts) words *= std::min<std::int64_t>(n, 1 << 16);
      words = (words + 31) / 32;
      if (words > c.target.device().max_registers)
        ashlar::refuse(analysis::scope_call(c.p, b),
                       "at most " + std::to_string(c.target.device().max_registers) + " registers of a lane for " + b.name,
                       std::to_string(words), b.where);
    });
}

}  // namespace ashlar::schedule
