// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prefetch(loop, tensor, distance): asks the memory for what the stage of this loop will read of the tensor `distance`
// iterations later. Changes no value; an address past the end is never read.
//
//   for k in K                   for k in K
//     block C            ->        prefetch B along k, 8 ahead        the line of B[k + 8, ...]
//                                  block C
//
// A later split of the loop leaves what is asked for as it is: the prefetch runs along the inner loop, as many iterations
// ahead. A fuse with the loop around it lets it run along the fused one, so that at the end of a row it asks for the begin of
// the next.
#include <ashlar/analysis/prefetch.h>

#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_prefetch(Context& c) {
  Stmt& loop = c.loop(0);
  const Id tensor = c.buffer(1).id;
  const std::int64_t distance = c.integer(2);
  if (distance < 1) c.refuse("at least 1 iteration ahead", std::to_string(distance));
  if (loop.get<LoopStmt>().kind == ir::LoopKind::vectorized) c.refuse("a loop that is not vectorized", name_of(c.p, loop));
  bool read = false;
  for (const Stmt& s : loop.body()) read |= subtree_reads(c.p, s, tensor);
  if (!read) c.refuse("a tensor that is read inside " + name_of(c.p, loop), c.p.buffer(tensor).name);
  if (!analysis::first_plain_read(c.p, loop, tensor))
    c.refuse("a tensor that is read inside " + name_of(c.p, loop) + " at an address that no table gives",
             c.p.buffer(tensor).name + ", whose indices are known when their tables are read");
  Stmt s{c.p.fresh(), 0, c.step.where, PrefetchStmt{.buffer = tensor, .loop = loop.id, .distance = distance}};
  // after the storage that stands first in the body
  std::size_t at = 0;
  while (at < loop.body().size() && loop.body()[at].is<AllocStmt>()) ++at;
  loop.body().insert(loop.body().begin() + static_cast<std::ptrdiff_t>(at), std::move(s));
}

bool draw_prefetch(Draw& d) {
  const Id stage = d.stage();
  const std::vector<const Stmt*> loops = loops_of(d.p, stage);
  std::vector<Id> read;
  for (const auto& [id, b] : d.p.buffers)
    if (reads_buffer(d.p.stage(stage), id)) read.push_back(id);
  if (loops.empty() || read.empty()) return false;
  return d.step("prefetch", {Arg::loop(d.any(loops)->id), Arg::buffer(d.any(read)), Arg::integer(d.between(1, 3))});
}

}  // namespace

extern constexpr Primitive prefetch_primitive{
    .name = "prefetch",
    .spelling = "prefetch",
    .parameters = {takes::loop(), takes::tensor(), takes::number("distance")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::kept, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_prefetch,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = draw_prefetch},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::prefetch(Loop l, StageRef of, Factor distance, Where w) const {
  const schedule::Primitive& prefetch = schedule::prefetch_primitive;
  const ir::Id buffer = buffer_of(*state_, of, "prefetch", w);
  return done(prefetch, {own(l, prefetch, w), Arg::buffer(buffer), Arg::integer(distance.value())}, w);
}

}  // namespace ashlar
