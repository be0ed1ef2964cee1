#pragma once
// A scheduled program against its algorithm, over several shapes: the interpreter runs both, and compiled code gives the bits
// of the scheduled one, for this machine, for narrower x86-64, and at the first shapes for AArch64 in an emulator.
//
//   check_scheduled("relu", [](Maker& m) {
//     const Symbol N{"N"};
//     const Tensor y = ops::relu(m.in("x", f32, {N}));
//     m.out(y);
//     return [=](Schedule& s) { schedules::elementwise(s, s[y]); };
//   }, {{{7}}, {{1}}, {{0}}});
//
// `tolerance` is of scheduled values beside those of the algorithm: sums that are regrouped, of values that are not whole.
#include <functional>
#include <string>
#include <vector>

#include <ashlar/schedule/schedule.h>

#include "tests/ops/check.h"

namespace schedules_test {

using namespace ashlar;
using ops_test::Dims;
using ops_test::Maker;

using Steps = std::function<void(Schedule&)>;
struct Beside {
  double relative = 0, absolute = 0;  // of the algorithm's values; 0: its bits
  bool emulated = false;              // on AArch64 too, at the first shapes
  // Shapes of the results, where they are not those of the first input.
  std::function<std::vector<Dims>(const std::vector<Dims>&)> results = {};
  // Instead of this machine and narrower ones; those of other architectures in an emulator, at the first two shapes.
  std::vector<std::string> targets = {};
};

void check_scheduled(const std::string& name, const std::function<Steps(Maker&)>& build,
                     const std::vector<std::vector<Dims>>& runs, const Beside& = {});

// The refusal that a schedule meets, its file without the line: "rows_test.cpp: rows: expected …"; "" if none.
std::string refused_schedule(const std::function<Steps(Maker&)>& build, const Target& = Target::parse("x86-64-v3"));
// The schedule of a program, as text() prints it.
std::string text_of(const std::function<Steps(Maker&)>& build, const Target& = Target::parse("x86-64-v3"));

}  // namespace schedules_test
