// Outputs that a call may put where an input lies (alias_inputs): what is read of the input was not written yet.
//
//   y[i] = 2 x[i]                      each point reads its own element, before it stores it
//   y[i] = x[i] + x[i - 1]             refused: x[i - 1] may be y[i - 1], which is stored by then
//   y[i] = 2 x[i];  z[i] = x[i] + 1    refused: z reads x when y is complete
//
// Two things are seen here: what the stage that stores the output reads itself, and what is read behind it. A stage that is
// computed ahead of the output inside of its loops is not looked into.
#include <algorithm>
#include <optional>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>

#include "schedule/legality.h"

namespace ashlar::schedule {
namespace {

// May one tensor be given for both? Extents that are other numbers tell them apart.
bool may_be(const ir::Buffer& y, const ir::Buffer& x) {
  if (x.role != ir::Role::input || x.type != y.type || x.rank != y.rank) return false;
  for (std::size_t d = 0; d < x.extents.size(); ++d) {
    std::int64_t a = 0, b = 0;
    if (ir::is_int(x.extents[d], &a) && ir::is_int(y.extents[d], &b) && a != b) return false;
  }
  return true;
}

[[noreturn]] void reads_late(const ir::Buffer& y, const ir::Buffer& x, const std::string& found, Where where) {
  ashlar::refuse("alias_inputs",
                 y.name + " to store no element of " + x.name + " that is read afterwards, since it may be " + x.name +
                     " (without .alias_inputs it may not)",
                 found, where);
}

// The stage of y reads the element of x that it is about to store, and no other.
void require_own_points(const ir::Stage& stage, const ir::Buffer& y, const ir::Buffer& x) {
  for (const analysis::Read& r : analysis::reads_of(stage)) {
    if (r.load.node()->id != x.id) continue;
    if (stage.is_reduction())
      reads_late(y, x, stage.name + ", a reduction, which stores its element before it has read all terms",
                 r.load.node()->where);
    const auto at = ir::args_of(r.load);
    for (std::size_t d = 0; d < at.size(); ++d)
      if (!ir::is(at[d], ir::Op::var) || at[d].node()->id != stage.iters[d].id)
        reads_late(y, x, stage.name + " reads " + ir::text(r.load), r.load.node()->where);
  }
}

std::optional<Expr> read_of(const ir::Stage& stage, const ir::Buffer& x) {
  for (const analysis::Read& r : analysis::reads_of(stage))
    if (r.load.node()->id == x.id) return r.load;
  return std::nullopt;
}

// Every other block that reads x stands ahead of those that store y.
void require_ahead(const Program& p, const ir::Stage& writer, const ir::Buffer& y, const ir::Buffer& x) {
  bool stored = false;
  ir::walk(p.body, [&](const Stmt& s) {
    if (s.kind != Stmt::Kind::block) return;
    if (s.stage == writer.id) {
      stored = true;
      return;
    }
    if (!stored) return;
    const ir::Stage& reader = p.stage(s.stage);
    if (const auto load = read_of(reader, x))
      reads_late(y, x, reader.name + ", which reads " + ir::text(*load) + " behind it", load->node()->where);
  });
}

}  // namespace

void prove_in_place(const Program& p) {
  for (const auto& [of_y, y] : p.buffers) {
    if (!y.may_alias_inputs || y.stage == 0) continue;
    const ir::Stage& writer = p.stage(y.stage);
    for (const auto& [of_x, x] : p.buffers) {
      if (!may_be(y, x)) continue;
      require_own_points(writer, y, x);
      require_ahead(p, writer, y, x);
    }
  }
}

}  // namespace ashlar::schedule
