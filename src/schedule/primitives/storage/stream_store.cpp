// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stream_store(stage): what the stage stores goes past the caches, without reading the lines that it overwrites. Changes no
// value; for large results that nobody reads soon.
//
//   s[out].vectorize(x, 16).stream_store();
//
// Whole vectors that lie on a boundary of their own size are stored so, others as usual: which one it is, is asked at run time
// wherever the alignment is not known. A kernel's stores are visible to other threads when it returns, as always.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_stream_store(Context& c) {
  const ir::Stage& stage = c.stage(0);
  if (stage.is_reduction())
    c.refuse("a stage that stores each element once (cache_write it, and stream the copy)",
             stage.name + ", a reduction that reads what it stored");
  require_no_recurrence(c, stage, ", which reads what it stored (cache_write it, and stream the copy)");
  for (const Id id : stage.buffers) {
    ir::Buffer& b = c.p.buffers.at(id);
    if (b.role != ir::Role::output) c.refuse("an output, which leaves the kernel", b.name + ", which a stage of it reads");
    b.streamed = true;
  }
}

}  // namespace

extern constexpr Primitive stream_store_primitive{
    .name = "stream_store",
    .spelling = "stream_store",
    .parameters = {takes::stage()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::changed, Gives::nothing},
    .apply = apply_stream_store,
    .cpp = of_stage,
    .draw = Drawing{.often = 1, .draw = [](Draw& d) { return draw_stage(d, "stream_store"); }},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::stream_store(Where w) const { return done(schedule::stream_store_primitive, {Arg::stage(id_)}, w); }

}  // namespace ashlar
