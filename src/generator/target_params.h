#pragma once
// The Params of a library for several targets: NAME=VALUE holds for all of them, NAME@TARGET=VALUE for one, where it counts for
// more, wherever it stands.
//
//   gen -t x86-64-v3,zen4 tile=32 tile@zen4=64        tile is 32 for x86-64-v3 and 64 for zen4
#include <string>
#include <utility>
#include <vector>

#include <ashlar/schedule/target.h>

namespace ashlar::generator {

using Params = std::vector<std::pair<std::string, std::string>>;

// For each target, in their order, what is asked of its generator. UsageError: a target that is not among them, two values for
// one Param of one target.
std::vector<Params> params_of(const Params& asked, const std::vector<Target>&);

// The other way round: values of every Param for each target, as few as say it. What is the same for all stands once.
Params joined_params(const std::vector<Params>& values, const std::vector<Target>&);

}  // namespace ashlar::generator
