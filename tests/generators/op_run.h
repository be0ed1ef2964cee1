#pragma once
// Operators of generators/ by name, as the command line has them, compiled for this machine and called beside the interpreter.
//
//   Run r = run_op("matmul", {{"K", "8"}, {"epilogue", "relu"}}, {{"M", 3}});      // symbols that are not named get some size
//   r.inputs[0], r.results[0]                                                      // as the interpreter has them
#include <string>
#include <utility>
#include <vector>

#include "tests/generators/op_arguments.h"

namespace op_tests {

using Params = std::vector<std::pair<std::string, std::string>>;

struct Run {
  std::string wrong;  // "" if compiled code gave what the interpreter gives, within a bound where sums may be reassociated
  std::vector<ashlar::interp::Array> inputs, results;
};

// Inputs are floats from -2 to 2 and whole numbers from -3 to 3 (from 0 where unsigned), of a fixed seed.
Run run_op(const std::string& name, const Params& = {}, const Sizes& = {}, bool compiled = true);  // else interpreted alone

std::vector<std::string> op_names();

}  // namespace op_tests
