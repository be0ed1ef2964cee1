// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/inits.h"
#include <ashlar/analysis/tensorize.h>

#include "lower/flatten/flatten.h"
#include "lower/nodes.h"

namespace ashlar::lowering {

// A tile in the registers of one thread of a device, which the text takes by value.
bool Flattener::of_thread(const ir::IntrinsicOperand& o, Id buffer) const {
  return launches_ && o.map.empty() && p_.buffer(buffer).scope == Scope::registers;
}

namespace {

// The operand with its elements at these distances: of the only thread of its group.
ir::IntrinsicOperand in_registers(ir::Program& p, ir::IntrinsicOperand o, const std::vector<Expr>& strides) {
  o.place = ir::IntrinsicOperand::Place::registers;
  o.vars.clear();
  Expr at = ir::index(0);
  for (std::size_t d = 0; d < strides.size(); ++d) {
    o.vars.push_back(p.fresh());
    at = ir::add(at, ir::mul(ir::var(o.vars.back(), "i" + std::to_string(d)), strides[d]));
  }
  o.map = {ir::index(0), at};
  return o;
}

}  // namespace

// A tensorized loop: one call of its intrinsic, over the tiles that the loop touches.
//
//   for ai in 16   by npu_gemm       becomes       call npu_gemm A=a[0] by (16, 1), B=b[0] by (16, 1), C=acc[0] by (16, 1),
//   zero=zero
std::vector<KStmt> Flattener::call(const Stmt& s) {
  ++position_;
  const ir::Intrinsic& f = *p_.intrinsics.at(s.get<ir::LoopStmt>().intrinsic);
  const analysis::IntrinsicMatch m = analysis::match_intrinsic(p_, s, f);
  if (!m.matches) throw InternalError("a tensorized loop that is not what " + f.name + " means: " + m.found);
  // What must hold for the block to run holds for the whole tile, with its loops at their begin.
  std::vector<const Stmt*> path = path_;
  for (const Stmt* inner = &s; !inner->is<ir::BlockStmt>(); path.push_back(inner)) inner = &inner->body().front();
  ir::Substitution begin = single_;
  for (Id axis : m.axes) begin.emplace_back(axis, ir::index(0));
  const std::optional<Conditions> conditions =
      conditions_at(path, m.block->get<ir::BlockStmt>().piece == ir::Piece::init, begin);
  if (!conditions) return {};
  Facts facts = conditions->facts;
  // Where lanes give addresses of their own, the call stands inside a loop over them, which they reach together.
  ir::KFor lanes{p_.fresh(), "lane", ir::index(0), ir::index(f.group), ir::LoopKind::bound, {}, gpu::lane};
  const Expr lane = ir::var(lanes.var, "lane");
  facts.range(lanes.var, ir::index(0), ir::index(f.group - 1));
  bool by_lanes = false;
  Body expressions(ir::Substitution{}, facts, Expr(), [this](Id buffer) -> const Place& { return place_of(buffer); });
  ir::Intrinsic by_layout = f;  // whose tiles in a thread's registers are laid out as in this call
  bool placed = false;
  ir::KCall made;
  made.intrinsic = s.get<ir::LoopStmt>().intrinsic;
  for (std::size_t k = 0; k < f.operands.size(); ++k) {
    ir::Call::Actual a;
    if (f.operands[k].kind == ir::IntrinsicOperand::Kind::tile) {
      const analysis::TileSite& tile = m.tiles[k];
      a.buffer = place_of(tile.buffer).kbuffer;
      const auto address = [&](const std::vector<Expr>& position) {  // of the element there
        std::vector<Expr> index;
        for (std::size_t d = 0; d < tile.base.size(); ++d) {
          Expr at = tile.base[d];
          for (std::size_t t = 0; t < tile.steps.size(); ++t)
            at = ir::add(at, ir::mul(position[t], ir::index(tile.steps[t][d])));
          index.push_back(known(at));
        }
        return expressions.address(tile.buffer, index);
      };
      const bool own = of_thread(f.operands[k], tile.buffer);
      const bool memory = own || f.operands[k].place != ir::IntrinsicOperand::Place::registers;
      const std::vector<Expr> origin(tile.steps.size(), ir::index(0));
      if (memory && !f.operands[k].map.empty()) {
        by_lanes = true;
        a.address = address(analysis::lane_runs(f.operands[k], f.group, lane, ir::index(0)).first);
      } else {
        a.address = address(origin);
        for (std::size_t d = 0; d < tile.steps.size() && memory; ++d) {
          std::vector<Expr> next = origin;
          next[d] = ir::index(1);
          a.strides.push_back(analysis::simplify(ir::sub(address(next), a.address), facts));
        }
        if (own) {
          by_layout.operands[k] = in_registers(p_, f.operands[k], a.strides);
          a.strides.clear();
          placed = true;
        }
      }
    } else {
      a.address = expressions.lower(known(m.values[k]));
    }
    made.actuals.push_back(std::move(a));
  }
  if (placed) made.intrinsic = by_layout.id = p_.fresh();
  kernel_.intrinsics.emplace(made.intrinsic, by_layout);
  Statements out;
  out.push_back({s.where, std::move(made)});
  if (by_lanes) {
    lanes.body = std::exchange(out, {});
    out.push_back(for_stmt(std::move(lanes), s.where));
  }
  return guarded(*conditions, expressions, std::move(out), s.where);
}

}  // namespace ashlar::lowering
