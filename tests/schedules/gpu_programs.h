#pragma once
// Programs with the schedules of the families for devices: what the interpreter of launches, a Vulkan device and the assembler
// of CUDA are given.
//
//   for (const DeviceProgram& p : device_programs()) {
//     const DeviceRuns r = runs_of(p, Target::parse("vulkan"));       // r.kernel, and arguments for it before and after
//   }
#include <functional>
#include <string>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/schedule/schedule.h>

#include "tests/ops/check.h"

namespace schedules_test {

using namespace ashlar;
using ops_test::Dims;
using ops_test::Maker;

struct DeviceProgram {
  std::string name;
  std::function<std::function<void(Schedule&)>(Maker&)> build;
  std::vector<std::vector<Dims>> shapes;  // of the inputs, call by call
  // Of the results; empty: each as the first input.
  std::function<std::vector<Dims>(const std::vector<Dims>&)> results = {};
  double tolerance = 0;  // of what is computed beside the algorithm, relative and absolute; 0: its bits
};
const std::vector<DeviceProgram>& device_programs();

struct DeviceRuns {
  ir::Kernel kernel;
  std::vector<interp::Arguments> given, meant;  // call by call; meant: as the algorithm leaves them
};
DeviceRuns runs_of(const DeviceProgram&, const Target&);

}  // namespace schedules_test
