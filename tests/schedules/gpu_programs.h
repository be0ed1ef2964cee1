#pragma once
// Programs with the schedules of the families for devices: what the interpreter of launches, a Vulkan device and the assembler
// of CUDA are given.
//
//   for (const DeviceProgram& p : device_programs()) {
//     const DeviceRuns r = runs_of(p, Target::parse("vulkan"));       // r.kernel, and arguments for it before and after
//   }
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/schedule/schedule.h>

namespace schedules_test {

using namespace ashlar;
using Dims = std::vector<std::int64_t>;

class DeviceMaker {  // the arguments of a program while it is written
 public:
  // Of whole numbers from `low` to `high`, or of multiples of 1/64 between them.
  Tensor in(const char* name, Type, const std::vector<Extent>&, int low = -2, int high = 2, bool whole = false);
  Tensor whole(const char* name, Type type, const std::vector<Extent>& extents, int low, int high) {
    return in(name, type, extents, low, high, true);
  }
  Tensor special(const char* name, Type type, const std::vector<Extent>& extents) {
    const Tensor t = in(name, type, extents);
    inputs.back().special = true;
    return t;
  }
  void out(const Tensor& t) { results.push_back(t); }

  struct Input {
    Tensor tensor;
    Type type;
    int low, high;
    bool whole;
    bool special = false;  // some elements are infinite or NaN
  };
  std::vector<Input> inputs;
  std::vector<Tensor> results;
};

struct DeviceProgram {
  std::string name;
  std::function<std::function<void(Schedule&)>(DeviceMaker&)> build;
  std::vector<std::vector<Dims>> shapes;  // of the inputs, call by call
  // Of the results; empty: each as the first input.
  std::function<std::vector<Dims>(const std::vector<Dims>&)> results = {};
  double tolerance = 0;  // of what is computed beside the algorithm, relative and absolute; 0: its bits
};
const std::vector<DeviceProgram>& device_programs();
void tensor_programs(std::vector<DeviceProgram>&);  // those of gpu_tensor_programs.cpp

struct DeviceRuns {
  ir::Kernel kernel;
  std::vector<interp::Arguments> given, meant;  // call by call; meant: as the algorithm leaves them
};
DeviceRuns runs_of(const DeviceProgram&, const Target&);

}  // namespace schedules_test
