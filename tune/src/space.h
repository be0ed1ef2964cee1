// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The space that is searched: parameters of a generator that do not change what it computes, and the choices of its schedule.
// Which choices there are is found by running the schedule, since later ones may depend on earlier ones.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ashlar::tune {

struct Knob {
  std::string name;
  bool parameter = false;           // else a choice
  std::vector<std::string> values;  // the candidates
  std::string value, usual;
};

struct Candidate {
  std::map<std::string, std::string> parameters, choices;
  // Draws the choices that are not in it; without one, they have their usual values.
  std::optional<std::uint64_t> seed = {};
  // The same for candidates that say the same: "block=64 edge:32".
  std::string key() const;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// What a generator says of itself for a candidate (-e choices).
struct Description {
  std::string algorithm;    // a hash of what it computes
  std::string target;       // "x86-64-v3", also where `host` was asked for
  std::vector<Knob> knobs;  // parameters with more than one candidate, then choices in the order in which they are made
};

// std::runtime_error: the text is not what `-e choices` writes.
Description read_description(const std::string& json);

// The candidate that says all of it: each tuned parameter and each choice with its value.
Candidate spelled_out(const Description&, const std::vector<std::string>& tuned_parameters);

}  // namespace ashlar::tune
