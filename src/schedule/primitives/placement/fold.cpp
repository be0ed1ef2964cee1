// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fold(stage, dim, n): the storage of that dimension becomes a ring of n, slot v % n.
//
// Legality: CAPACITY, everything that is live at once fits the ring.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_fold(Context& c) {
  const ir::Stage& stage = c.stage(0);
  const std::int64_t dim = c.integer(1), n = c.integer(2);
  if (dim < 0 || dim >= stage.spatial_rank())
    c.refuse("a dimension of " + stage.name + " below " + std::to_string(stage.spatial_rank()), std::to_string(dim));
  if (n < 1) c.refuse("a ring of at least 1", std::to_string(n));
  for (Id id : stage.buffers) {
    ir::Buffer& b = c.p.buffers.at(id);
    if (b.role != ir::Role::temporary) c.refuse("a stage with storage of its own", stage.name + ", an output");
    if (b.layout.map.empty())
      for (int k = 0; k < b.rank; ++k) {
        b.layout.vars.push_back(c.p.fresh());
        b.layout.map.push_back(ir::var(b.layout.vars.back(), "d" + std::to_string(k)));
      }
    // the coordinate that is this dimension and nothing else
    const Id var = b.layout.vars.at(static_cast<std::size_t>(dim));
    Expr* own = nullptr;
    int uses = 0;
    for (Expr& e : b.layout.map) {
      if (ir::is(e, ir::Op::var) && e.node()->id == var) own = &e;
      uses += ir::uses_var(e, var);
    }
    if (!own || uses != 1)
      c.refuse("a dimension that is stored as it is",
               "dimension " + std::to_string(dim) + " of " + b.name + ", which its layout takes apart");
    *own = ir::mod(*own, ir::index(n));
    b.where = c.step.where;
    prove_fold(c, b);
  }
}

bool draw_fold(Draw& d) {
  const Id stage = d.temporary();
  const int rank = d.p.stage(stage).spatial_rank();
  if (rank == 0) return false;
  const Arg dim = Arg::integer(d.pick(static_cast<std::uint32_t>(rank)));
  return d.step("fold", {Arg::stage(stage), dim, Arg::integer(d.factor())});
}

}  // namespace

extern constexpr Primitive fold_primitive{
    .name = "fold",
    .spelling = "fold",
    .parameters = {takes::stage(), takes::number("dim"), takes::number("slots")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_fold,
    .cpp = of_stage,
    .draw = Drawing{.often = 2, .draw = draw_fold},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::fold(int dim, Factor n, Where w) const {
  return done(schedule::fold_primitive, {Arg::stage(id_), Arg::integer(dim), Arg::integer(n.value())}, w);
}

}  // namespace ashlar
