#pragma once
// What runs the program of an operator beside the interpreter: code compiled for this machine, for another processor in an
// emulator, for a Vulkan device, as C by the compilers that are here; or the launches for a CUDA device, interpreted.
//
//   ASHLAR_OPS_ON=vulkan,riscv64,c build/bin/test_ops      every program, on those that are named
//   ASHLAR_OPS_BY_DEFAULT=1 ...                            scheduled by schedule_by_default; =exact: without regrouping
//
// Without ASHLAR_OPS_ON: this machine, and for the programs that are marked those of `everywhere` (runners.cpp). Devices have
// every program scheduled by default. What is not here is skipped by name; if it was asked for, the exit code says so too
// (tests/skip.h).
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace ops_test {

using namespace ashlar;

class Runner {
 public:
  virtual ~Runner() = default;
  virtual void call(interp::Arguments&) const = 0;  // outputs change. Throws: what was said

  std::string name;
  // Where sums were regrouped: what code computes is what the interpreter makes of this, not of the algorithm.
  std::function<void(interp::Arguments&)> regrouped;
};

// `marked`: the program is one of the few that run everywhere. `refused_on_devices`: part of what devices say of it; they have
// no runner then. std::runtime_error where they take it.
std::vector<std::unique_ptr<Runner>> runners_for(const std::string& program, const lang::Built&, bool marked,
                                                 const char* refused_on_devices);

}  // namespace ops_test
