#pragma once
// One case from end to end: a program, a schedule, arguments of several shapes; and every way of running it compared.
//
//   run_algorithm   what the program means
//   run(Program)    before any step, and after all of them
//   run(Kernel)     lowered for each target
//   compiled code   for each target that this machine executes, through the C entry, with guard bytes around every tensor
//
// For a GPU the steps bind loops to blocks and threads as well, and the interpreter runs the launches, looking for races. What
// is compiled for Vulkan runs on the device that there is; code for CUDA is made, and run where a device was opened for it.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ashlar/schedule/schedule.h>
#include <ashlar/target/target.h>

#include "tests/in_c/c_compiled.h"

#include "arguments.h"
#include "program.h"

namespace fuzz {

struct Case {  // as drawn, or as edited by shrinking
  Choices program, data;
  std::vector<Choices> steps;
};

struct Failure {
  std::string kind;  // "wrong value: compiled for x86-64-v3": shrinking keeps it
  std::string text;
};

struct Statistics {
  struct Count {
    std::int64_t ran = 0, applied = 0, refused = 0;  // ran: schedules with the step that came to their end
  };
  std::map<std::string, Count> steps;
  struct Judged {  // refusals whose steps were forced (forced.h)
    std::int64_t confirmed = 0, unconfirmed = 0, moot = 0, impossible = 0;
  };
  std::map<std::pair<std::string, std::string>, Judged> judged;                         // by primitive and obligation
  std::map<std::string, std::pair<std::int64_t, std::string>> unconfirmed, impossible;  // by sentence, as refusals
  std::map<std::string, std::pair<std::int64_t, std::string>> refusals;  // by sentence without names -> how often, an example
  std::map<std::string, std::int64_t> programs_refused;
  std::map<std::string, std::int64_t> forms;  // of the language: how many schedules of programs with them ran
  std::int64_t cases = 0, refused_programs = 0, runs = 0, kernels = 0, barriers = 0, warp_barriers = 0, compiled = 0,
               too_large = 0, too_long = 0, without_fma = 0, dividing = 0, unfinished = 0, emitted = 0, emulated = 0,
               on_device = 0, without_arguments = 0;
  std::int64_t statements = 0, replayed = 0;  // of traces as C++; those that no call of the language makes
};

struct Report {
  std::optional<Failure> failure;
  std::string program, trace, json, scheduled;  // texts, for people
  std::vector<bool> applied;                    // of the steps
};

struct Setup {
  std::vector<ashlar::Target> targets;
  std::vector<ashlar::Target> elsewhere;  // that no code runs for here: kernels are interpreted, and objects made
  bool compile = true, force = false;     // force: refusals are checked too
  bool emulate = false;                   // kernels for targets elsewhere run in an emulator
  OnDevice device;                        // runs what is compiled for it
  std::vector<in_c::Compiler> c;          // not empty: kernels for processors go through C, and one of these
  // Of that device: where a constant is 0 it takes 0 * x for 0, 0 + x for x and x / 0 for anything, as llvmpipe does though it
  // says that it keeps signed zeros, infinities and NaN. Then its zeros have no sign, a NaN may be any number, and programs
  // that divide floats are not run there.
  bool loose_zeros = false;
  Statistics* statistics = nullptr;
  bool library = false;  // a third of the programs are operators of the library
  bool windows = false;  // every program is a chain of windows, and most schedules slide them
  // Makes the schedule in the place of random steps; `regroup`: where sums are exact in any order.
  std::function<void(ashlar::Schedule&, bool regroup, Source&)> by_default = {};
};

Kind kind_for(const Setup&);  // of the programs that are drawn

// Draws a case from a seed and checks it; or checks a case as it is.
Report check(std::uint64_t seed, Case& drawn, const Setup&);
Report check(const Case&, const Setup&);

}  // namespace fuzz
