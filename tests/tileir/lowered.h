#pragma once
// Schedules for tiles, lowered and run block by block against the algorithm: by the interpreter of the tile form, and as
// bytecode by the executor of the tests.
#include <doctest/doctest.h>

#include <string>

#include <ashlar/ir/refusal.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/tiles.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/lower/check.h"
#include "tests/tileir/calls.h"

namespace tiles {

using namespace ashlar;
using handmade::Sizes;

inline std::vector<TileLaunch> lowered(const Schedule& s, const TileOptions& options = {}) {
  schedule::finish(s.scheduled(), s.target());
  return lower_to_tiles(s.scheduled().program, options);
}

inline Schedule scheduled(const lang::Built& built) { return Schedule(built, Target::parse("cuda-tile-sm_90")); }

// What blocks store is what the algorithm says: to the bit without bounds.
inline void same(const lang::Built& built, const Schedule& s, const std::vector<Sizes>& shapes, double relative = 0,
                 double absolute = 0) {
  const std::vector<TileLaunch> launches = lowered(s, {.aligned = false});
  for (const Sizes& shape : shapes) {
    std::string at;
    for (const auto& [name, n] : shape) at += name + " = " + std::to_string(n) + " ";
    CAPTURE(at);
    const interp::Arguments given = handmade::arguments_for(built.program, shape);
    interp::Arguments expected = given;
    interp::run_algorithm(built.program, expected);
    for (const bool executed : {false, true}) {
      CAPTURE(executed);
      interp::Arguments found = given;
      REQUIRE_NOTHROW(executed ? execute(s.scheduled().program, launches, found, 7)
                               : run(s.scheduled().program, launches, found));
      for (std::size_t n = 0; n < expected.size(); ++n)
        CHECK((relative || absolute ? interp::difference(found[n].array, expected[n].array, relative, absolute)
                                    : interp::difference(found[n].array, expected[n].array)) == "");
    }
  }
}

// The refusal of a schedule or of its lowering.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const RefusalError& e) { return e.what(); }
  return "";
}

}  // namespace tiles
