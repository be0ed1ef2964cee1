// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a library for several targets has for one of them alone. Params: NAME=VALUE holds for all, NAME@TARGET=VALUE for one,
// where it counts for more, wherever it stands. Saved schedules: --replay TARGET=FILE; the others are made by schedule().
//
//   gen -t x86-64-v3,zen4 tile=32 tile@zen4=64        tile is 32 for x86-64-v3 and 64 for zen4
#include <string>
#include <utility>
#include <vector>

#include <ashlar/target/target.h>

namespace ashlar::generator {

using Params = std::vector<std::pair<std::string, std::string>>;

// For each target, in order, the values that were given for its generator. UsageError: a target that is not in the list, or two
// values for one Param of one target.
std::vector<Params> params_of(const Params& asked, const std::vector<Target>&, const char* what = "parameter");

// The inverse: values of every Param for each target, as briefly as possible. A value that all targets share is given once.
Params joined_params(const std::vector<Params>& values, const std::vector<Target>&);

// For each target, in their order, the file that --replay names for it; empty where none does. Of a single target the file may
// stand alone. UsageError: a file for no target, two for one.
std::vector<std::string> replays_of(const std::vector<std::string>& given, const std::vector<Target>&);

}  // namespace ashlar::generator
