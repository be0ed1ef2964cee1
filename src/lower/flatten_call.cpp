#include <ashlar/analysis/inits.h>
#include <ashlar/analysis/tensorize.h>

#include "lower/flatten.h"

namespace ashlar::lower_impl {

using ir::KStmt;

// A tensorized loop: one call of its intrinsic, over the tiles that the loop touches.
//
//   for ai in 16   by npu_gemm       becomes       call npu_gemm A=a[0] by (16, 1), B=b[0] by (16, 1), C=acc[0] by (16, 1),
//   zero=zero
std::vector<KStmt> Flattener::call(const Stmt& s) {
  ++position_;
  const ir::Intrinsic& f = *p_.intrinsics.at(s.intrinsic);
  const analysis::IntrinsicMatch m = analysis::match_intrinsic(p_, s, f);
  if (!m.matches) throw InternalError("a tensorized loop that is not what " + f.name + " means: " + m.found);
  // What must hold for the block to run holds for the whole tile, with its loops at their begin.
  std::vector<const Stmt*> path = path_;
  for (const Stmt* inner = &s; inner->kind != Stmt::Kind::block; path.push_back(inner)) inner = &inner->body.front();
  ir::Substitution begin = single_;
  for (Id axis : m.axes) begin.emplace_back(axis, ir::index(0));
  const std::optional<Conditions> conditions = conditions_at(path, m.block->piece == Stmt::Piece::init, begin);
  if (!conditions) return {};
  const Facts& facts = conditions->facts;
  Body expressions(ir::Substitution{}, facts, Expr(), [this](Id buffer) -> const Place& { return place_of(buffer); });
  auto made = std::make_shared<ir::Call>();
  made->intrinsic = s.intrinsic;
  for (std::size_t k = 0; k < f.operands.size(); ++k) {
    ir::Call::Actual a;
    if (f.operands[k].kind == ir::IntrinsicOperand::Kind::tile) {
      const analysis::TileSite& tile = m.tiles[k];
      a.buffer = place_of(tile.buffer).kbuffer;
      const auto address = [&](std::size_t along) {  // of the first element, or of its neighbour along a dimension
        std::vector<Expr> index;
        for (std::size_t d = 0; d < tile.base.size(); ++d) {
          const std::int64_t step = along < tile.steps.size() ? tile.steps[along][d] : 0;
          index.push_back(expressions.lower(known(ir::add(tile.base[d], ir::index(step)))));
        }
        return expressions.address(tile.buffer, index);
      };
      a.address = address(tile.steps.size());
      const bool memory = f.operands[k].place != ir::IntrinsicOperand::Place::registers;
      for (std::size_t d = 0; d < tile.steps.size() && memory; ++d)
        a.strides.push_back(analysis::simplify(ir::sub(address(d), a.address), facts));
    } else {
      a.address = expressions.lower(known(m.values[k]));
    }
    made->actuals.push_back(std::move(a));
  }
  draft_.kernel.intrinsics.emplace(s.intrinsic, f);
  KStmt k;
  k.kind = KStmt::Kind::call;
  k.where = s.where;
  k.call = std::move(made);
  Statements out;
  out.push_back(std::move(k));
  return guarded(*conditions, expressions, std::move(out), s.where);
}

}  // namespace ashlar::lower_impl
