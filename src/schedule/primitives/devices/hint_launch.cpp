// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hint_launch(kind, value, chip): tells the assembler of tiles something about the launch that computes the stage, for one chip
// or for all. Changes no value.
//
//   s[C].hint_launch(LaunchHint::occupancy, 2)                        two blocks on a multiprocessor at once
//   s[C].hint_launch(LaunchHint::cluster, 2, TileChip::sm_100)        blocks in pairs
#include "schedule/primitives/devices/hint.h"

#include "schedule/calls.h"
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

constexpr const char* kinds = "occupancy cluster worker_warps";

ir::HintKind kind_of(const std::string& word) {
  if (word == "occupancy") return ir::HintKind::occupancy;
  return word == "cluster" ? ir::HintKind::cluster : ir::HintKind::worker_warps;
}

void apply_hint_launch(Context& c) {
  add_hint(c, c.stage(0), kind_of(c.word(1)), 0, c.integer(2), c.count() > 3 ? c.word(3) : "any");
}

bool draw_hint_launch(Draw& d) {
  static constexpr const char* words[] = {"occupancy", "cluster", "worker_warps"};
  static constexpr const char* chips[] = {"any", "sm_80", "sm_90", "sm_100"};
  return d.step("hint_launch",
                {Arg::stage(d.stage()), Arg::text(d.any(words)), Arg::integer(d.factor()), Arg::text(d.any(chips))});
}

}  // namespace

void add_hint(Context& c, const ir::Stage& stage, ir::HintKind kind, Id buffer, std::int64_t value, const std::string& chip) {
  // match
  if (!c.target.has_tiles()) c.refuse("a target with tiles, such as cuda-tile-sm_90", std::string(c.target.text()));
  for (const Stmt* nest : ir::nests_of(c.p, stage.id))
    if (ir::path_to(c.p, nest->id).size() > 1)
      c.refuse("a stage with a launch of its own (that of the stage it is computed in takes the hint)",
               stage.name + ", which is computed inside of another one");
  // prove: what a chip takes; the hint for all chips holds for the target's, or for every chip of a portable target
  ir::TileHint added{{kind, value, chip == "any" ? "" : chip}, stage.id, buffer, c.step.where};
  ir::Hint on_target = added.hint;
  if (on_target.chip.empty()) on_target.chip = c.target.device().chip;
  std::string of = on_target.chip.empty() ? "" : " on " + on_target.chip;
  if (on_target.chip.empty()) on_target.chip = "sm_80", of = " for all chips, sm_80 among them (name those that it is for)";
  for (const ir::Hint& h : {added.hint, on_target})
    if (const std::string expected = ir::hint_expected(h); !expected.empty())
      c.refuse(expected, std::string(ir::hint_name(kind)) + " " + std::to_string(value) + of);
  // rewrite
  std::erase_if(c.p.hints, [&](const ir::TileHint& h) {
    return h.stage == added.stage && h.buffer == added.buffer && h.hint.kind == kind && h.hint.chip == added.hint.chip;
  });
  c.p.hints.push_back(added);
}

extern constexpr Primitive hint_launch_primitive{
    .name = "hint_launch",
    .spelling = "hint_launch",
    .parameters = {takes::stage(), takes::word("kind", kinds).as("LaunchHint::"), takes::number("value"),
                   takes::word("chip", chips_of_tiles).as("TileChip::").unsaid("any").maybe()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_hint_launch,
    .cpp = of_stage,
    .draw = Drawing{.draw = draw_hint_launch},  // never by chance: fuzz/tiles.cpp applies it
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::hint_launch(LaunchHint kind, Factor value, TileChip chip, Where w) const {
  static constexpr const char* words[] = {"occupancy", "cluster", "worker_warps"};
  return done(
      schedule::hint_launch_primitive,
      {Arg::stage(id_), Arg::text(words[static_cast<int>(kind)]), Arg::integer(value.value()), Arg::text(schedule::word(chip))},
      w);
}

}  // namespace ashlar
