// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split(loop, factor, tail): v = outer * factor + inner.
//
//   for i in M                   for io in (M + 31) / 32
//     block C            ->        for ii in 32
//                                    block C              where io * 32 + ii < M       (Tail::guard)
//
// Tails: guard adds that condition; exact proves that the factor divides the extent; shift moves the last tile back,
// min(io * f, M - f), and computes some iterations twice; pad computes past the extent, over storage nobody misses; peel takes
// the iterations of the outer loop with incomplete tiles apart; cover adds the condition of guard to the stage alone, while
// what is computed inside of the loops is computed for the whole tile.
//
// A prefetch along the loop runs along the inner one afterwards, as many iterations ahead: it asks for the same lines.
#include <ashlar/ir/vscale.h>

#include "schedule/legality/legality.h"
#include "schedule/primitives/loops/split.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

ir::Tail tail_of(const std::string& word) {
  if (word == "guard") return ir::Tail::guard;
  if (word == "predicate") return ir::Tail::predicate;
  if (word == "shift") return ir::Tail::shift;
  if (word == "pad") return ir::Tail::pad;
  if (word == "peel") return ir::Tail::peel;
  if (word == "exact") return ir::Tail::exact;
  if (word == "cover") return ir::Tail::cover;
  throw InternalError("an unknown tail: " + word);
}

// Tiles are run to their padded extent: what is counted there must stay far from 63 bits.
void require_small(const Context& c, std::int64_t n, const char* what) {
  if (n > INT32_MAX) c.refuse(std::string(what) + " of at most " + std::to_string(INT32_MAX), std::to_string(n));
}

// match
Stmt& splittable(Context& c) {
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  require_whole(c, loop);
  int over = 0;
  ir::walk(c.p.body, [&](const Stmt& s) { over += ir::runs_over(s, loop.get<LoopStmt>().axis); });
  if (over != 1) c.refuse("a loop that stands at one place", name_of(c.p, loop) + copied_by(c.p, loop, "split"));
  if (slides_along(c.p.body, loop.id))
    c.refuse("a loop that no stage slides along", name_of(c.p, loop) + " (move the split before the slide)");
  return loop;
}

// rewrite: the loop becomes outer { inner { body } }
void split_loop(Context& c, Stmt& loop, const Expr& factor, std::int64_t parts, ir::Tail tail, bool keep) {
  LoopStmt& node = loop.get<LoopStmt>();
  const Id axis = node.axis;
  const ir::Axis old = c.p.axis(axis);
  ir::Axis outer = old, inner = old;
  outer.became.clear(), inner.became.clear();
  outer.id = c.p.fresh(), inner.id = c.p.fresh();
  outer.name = old.name + "o", inner.name = old.name + "i";
  outer.origin = ir::Axis::Origin::split_outer, inner.origin = ir::Axis::Origin::split_inner;
  for (ir::Axis* a : {&outer, &inner}) {
    a->parent = axis, a->factor = factor, a->parts = parts, a->tail = tail, a->where = c.step.where;
    a->iter = a->outer = a->inner = 0;
  }
  outer.extent = ir::ceil_div(old.extent, factor);
  inner.extent = factor;
  c.p.axes[outer.id] = outer, c.p.axes[inner.id] = inner;
  c.p.axes[axis].became = {outer.id, inner.id};

  const std::string name = name_of(c.p, loop);
  const Id old_id = loop.id;
  Stmt in{0, 0, c.step.where, LoopStmt{.axis = inner.id, .body = std::move(node.body)}};
  replace_axis(in.body(), axis, ir::axis_value(c.p, axis));
  if (!keep) loop.id = c.p.fresh();
  in.id = c.p.fresh();
  move_prefetches(in.body(), old_id, in.id);
  node.axis = outer.id;
  loop.where = c.step.where;
  c.results = {loop.id, in.id};
  node.body.clear();
  node.body.push_back(std::move(in));

  if (tail == ir::Tail::peel) {  // whole tiles, then the rest
    Stmt rest = copy_subtree(c.p, loop);
    node.part = ir::Part::full;
    rest.get<LoopStmt>().part = ir::Part::rest;
    const Spot spot = locate(c.p, loop.id);
    spot.body->insert(spot.body->begin() + static_cast<std::ptrdiff_t>(spot.index) + 1, std::move(rest));
  }
  // remap: with `keep` the handle stays, as that of the outer loop
  if (!keep) c.consume(old_id, name, "was split into", c.results);
}

namespace {

// By a multiple of vscale: the tiles are as long as the machine's vectors.
void split_scalable(Context& c, Stmt& loop, std::int64_t lanes, ir::Tail tail) {
  if (!c.target.has("sve")) c.refuse("a target with scalable vectors (aarch64+sve)", std::string(c.target.text()));
  if (lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16)  // other counts are not vectors of the instructions
    c.refuse("2, 4, 8 or 16 lanes for each unit of the machine's vectors", std::to_string(lanes));
  if (tail != ir::Tail::guard) c.refuse("Tail::guard where lanes are scalable", c.word(2));
  split_loop(c, loop, ir::mul(ir::vscale(), ir::index(lanes)), 0, tail, true);
}

void apply_split(Context& c) {
  Stmt& loop = splittable(c);
  const std::int64_t factor = c.integer(1);
  const ir::Tail tail = tail_of(c.word(2));
  if (factor < 1) c.refuse("a factor of at least 1", std::to_string(factor));
  require_small(c, factor, "a factor");
  if (c.count() > 4 && c.word(4) == "scalable") return split_scalable(c, loop, factor, tail);
  prove_tail(c, loop, ir::index(factor), tail);
  const bool keep = c.count() > 3 && c.word(3) == "keep";
  split_loop(c, loop, ir::index(factor), 0, tail, keep);
}

// A padded split reads past the box of its nest, and what a covering one reads is computed past it.
Traits traits_of_split(const Context& c) {
  return Traits{c.word(2) == "pad" || c.word(2) == "cover" ? Reads::changed : Reads::moved,
                Places::moved,
                Boxes::of_one_nest,
                Layouts::proved,
                Callers::kept,
                Gives::handles};
}

bool draw_split(Draw& d) {
  static constexpr const char* tails[] = {"guard", "peel", "shift", "pad", "exact", "predicate", "cover"};
  const std::vector<const Stmt*> loops = loops_of(d.p, d.stage());
  if (loops.empty()) return false;
  std::vector<Arg> args{Arg::loop(d.any(loops)->id), Arg::integer(d.factor()), Arg::text(d.any(tails))};
  if (d.one_in(8)) args.push_back(Arg::text("keep"));
  return d.step("split", std::move(args));
}

}  // namespace

extern constexpr Primitive split_primitive{
    .name = "split",
    .spelling = "split",
    .parameters = {takes::loop(), takes::number("factor"), takes::tail(), takes::word("handle", "keep").maybe(),
                   takes::word("lanes", "scalable").maybe()},
    .traits = traits_of_split,
    .apply = apply_split,
    .cpp = of_loop,
    .draw = Drawing{.often = 3, .draw = draw_split},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Split Stage::split(Loop l, Factor f, Tail tail, Where w) const {
  const auto& made = apply(schedule::split_primitive,
                           {own(l, schedule::split_primitive, w), Arg::integer(f.value()), Arg::text(schedule::word(tail))}, w);
  return {Loop(made[0], state_), Loop(made[1], state_)};
}
Tiles Stage::tile(Loop i, Loop j, Factor fi, Factor fj, Tail tail, Where w) const {
  detail::Transaction transaction(*state_, "tile");
  const Split a = split(i, fi, tail, w), b = split(j, fj, tail, w);
  const Loop loops[] = {a.outer, b.outer, a.inner, b.inner};
  reorder(loops, w);
  transaction.keep();
  return {a.outer, b.outer, a.inner, b.inner};
}

}  // namespace ashlar
