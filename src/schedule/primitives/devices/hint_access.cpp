// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hint_access(tensor, kind, value, chip): tells the assembler of tiles something about the loads and stores of a tensor in the
// launch that computes the stage, for one chip or for all. Changes no value.
//
//   s[C].hint_access(A, AccessHint::latency, 6)                    loads of A take long: they are made further ahead
//   s[C].hint_access(C, AccessHint::tma, 0, TileChip::sm_90)       no copies of C by the unit that copies tiles
#include "schedule/calls.h"
#include "schedule/legality/legality.h"
#include "schedule/primitives/devices/hint.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_hint_access(Context& c) {
  const ir::Stage& stage = c.stage(0);
  const ir::Buffer& b = c.buffer(1);
  bool met = false;
  for (const Stmt* nest : ir::nests_of(c.p, stage.id))
    met |= subtree_reads(c.p, *nest, b.id) || subtree_writes(c.p, *nest, b.id);
  if (!met) c.refuse("a tensor that the launch of " + stage.name + " loads or stores", b.name);
  if (b.role == ir::Role::constant) c.refuse("a tensor in memory", b.name + ", a constant that the kernel holds");
  add_hint(c, stage, c.word(2) == "tma" ? ir::HintKind::tma : ir::HintKind::latency, b.id, c.integer(3),
           c.count() > 4 ? c.word(4) : "any");
}

bool draw_hint_access(Draw& d) {
  static constexpr const char* words[] = {"latency", "tma"};
  const Id stage = d.stage();
  std::vector<Id> met;
  for (const auto& [id, b] : d.p.buffers)
    if (b.stage == stage || reads_buffer(d.p.stage(stage), id)) met.push_back(id);
  return !met.empty() && d.step("hint_access", {Arg::stage(stage), Arg::buffer(d.any(met)), Arg::text(d.any(words)),
                                                Arg::integer(d.between(0, 10)), Arg::text("any")});
}

}  // namespace

extern constexpr Primitive hint_access_primitive{
    .name = "hint_access",
    .spelling = "hint_access",
    .parameters = {takes::stage(), takes::tensor(), takes::word("kind", "latency tma").as("AccessHint::"),
                   takes::number("value"), takes::word("chip", chips_of_tiles).as("TileChip::").unsaid("any").maybe()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_hint_access,
    .cpp = of_stage,
    .draw = Drawing{.draw = draw_hint_access},  // never by chance: fuzz/tiles.cpp applies it
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::hint_access(StageRef of, AccessHint kind, Factor value, TileChip chip, Where w) const {
  const schedule::Primitive& hint = schedule::hint_access_primitive;
  const ir::Id buffer = buffer_of(*state_, of, "hint_access", w);
  return done(hint,
              {Arg::stage(id_), Arg::buffer(buffer), Arg::text(kind == AccessHint::latency ? "latency" : "tma"),
               Arg::integer(value.value()), Arg::text(schedule::word(chip))},
              w);
}

}  // namespace ashlar
