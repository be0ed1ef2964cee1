// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The choices of schedules on the command line.
//
//   gen -g matmul --choose edge=32 -e choices=-
#include <string>
#include <vector>

#include <ashlar/generator/param.h>
#include <ashlar/ir/program.h>
#include <ashlar/schedule/schedule.h>

#include "generator/target_params.h"

namespace ashlar::generator {

// What --choose (required) or --choose-if decides for one target. UsageError: a value that is not a whole number.
std::vector<Decision> decisions_of(const Params&, bool required);

// UsageError: a decision about a choice that the schedule did not make. The message lists those that it made.
void require_made(const Schedule&, const std::vector<Decision>&);

// A hash of what a program computes: renaming its tensors, indices and symbols does not change it.
std::string algorithm_key(const ir::Program& algorithm);

// What a tuner reads: the parameters with their types and values, and the choices that the schedule made.
//
//   {"algorithm": "5f0d8be1e2ab0c44", "target": "x86-64-v3",
//    "parameters": [{"name": "by", "type": "i32", "value": "2", "usual": "2", "values": ["2", "3"]}, ... or "range": "1 to 64"
//    "choices": [{"name": "edge", "value": 32, "usual": 64, "values": [64, 32, 128], "place": "matmul.cpp:31"}]}
std::string choices_text(const std::vector<detail::ParamInfo>&, const ir::Program& algorithm, const Schedule&);

}  // namespace ashlar::generator
