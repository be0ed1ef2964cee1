// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bind(loop, axis): the iterations are the blocks of a grid or the threads of a block (gpu::block_x, gpu::thread_x, ...).
//
// Legality: DISJOINT, as for parallel; blocks stand outside of threads, and nothing but blocks outside of a block. What the
// launch needs as a whole (one shape, the device's limits) is checked when the schedule is complete, at the line of this call.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_bind(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  LoopStmt& l = loop.get<LoopStmt>();
  ThreadAxis axis;
  if (!ir::parse(c.word(1).c_str(), axis)) throw InternalError("an unknown axis of a launch: " + c.word(1));
  require_serial(c, loop, true);  // threads of a reduction may be these
  if (!c.target.is_gpu())
    c.refuse("a target with blocks and threads, such as vulkan (parallel spreads over the cores of a processor)",
             std::string(c.target.text()));
  if (c.target.has_tiles() && !ir::is_block(axis))
    c.refuse("an axis of the grid (blocks of " + std::string(c.target.text()) + " compute tiles: as_tile)",
             "gpu::" + c.word(1));
  if (axis == gpu::cluster_x) c.refuse("an axis of the grid or of a block (no launch has clusters yet)", "gpu::cluster_x");
  // rewrite; handles stay
  l.kind = ir::LoopKind::bound;
  l.bound_to = axis;
  loop.where = c.step.where;
  // prove
  prove_bound(c, loop);
}

bool has_bound(const Stmt& nest) {
  bool any = false;
  ir::walk(nest.body(), [&](const Stmt& s) { any |= ir::is_loop(s, ir::LoopKind::bound); });
  return any;
}

// Has a loop over warps or lanes, or one over another view of the threads (`flat` = false)?
bool has_view(const Stmt& nest, bool flat) {
  bool any = false;
  ir::walk(nest.body(), [&](const Stmt& s) {
    const LoopStmt* loop = s.as<LoopStmt>();
    if (!loop || loop->kind != ir::LoopKind::bound || ir::is_block(loop->bound_to)) return;
    any |= flat ? loop->bound_to == gpu::lane || loop->bound_to == gpu::warp : loop->bound_to.level == gpu::thread_x.level;
  });
  return any;
}

// The outermost loop over blocks; then loops over threads, in one view of them.
bool draw_bind(Draw& d) {
  static constexpr const char* blocks[] = {"block_x", "block_y"};
  static constexpr const char* threads[] = {"thread_x", "thread_x", "thread_x", "thread_y",
                                            "threads",  "threads",  "lane",     "warp"};
  static constexpr const char* lanes[] = {"lane", "lane", "lane", "lane", "warp", "warp", "warp", "threads"};
  const auto launch = draw_root(d);
  if (!launch || launch->loops.empty()) return false;
  const auto bind = [&](const Stmt* l, const char* axis) { return d.step("bind", {Arg::loop(l->id), Arg::text(axis)}); };
  const Stmt& root = launch->root;
  if (!has_bound(root) && !d.one_in(4)) return bind(launch->loops.front(), d.any(blocks));
  const Stmt* loop = launch->loop_where(d, [&](const Stmt& l) {
    const LoopStmt& l_loop = l.get<LoopStmt>();
    const bool apart = l_loop.combines || !d.p.axis(l_loop.axis).reduce || stage_around(d.p, l.id).atomic;
    return l_loop.kind == ir::LoopKind::serial && is_constant(d.p, l) && apart;
  });
  if (!loop || d.one_in(8)) loop = d.any(launch->loops);
  if (d.one_in(8)) return bind(loop, d.any(blocks));
  const bool flat = d.warp > 1 && (has_view(root, true) || (!has_view(root, false) && d.one_in(2)));
  return bind(loop, flat ? d.any(lanes) : d.any(threads));
}

}  // namespace

extern constexpr Primitive bind_primitive{
    .name = "bind",
    .spelling = "bind",
    .parameters =
        {takes::loop(),
         takes::word("axis", "block_x block_y block_z cluster_x thread_x thread_y thread_z warp lane threads").as("gpu::")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_bind,
    .cpp = of_loop,
    .draw = Drawing{.in_launches = 5, .draw = draw_bind},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::bind(Loop l, ThreadAxis a, Where w) const {
  return done(schedule::bind_primitive, {own(l, schedule::bind_primitive, w), Arg::text(ir::text(a))}, w);
}

}  // namespace ashlar
