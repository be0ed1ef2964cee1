// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A generator's executable, as the tuner uses it: what it says of itself, and a shared library of a candidate.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tune/src/space.h"

namespace ashlar::tune {

struct ToolOptions {
  std::string executable;  // of the generator
  std::string generator;   // -g; empty: the only one there is
  std::string target = "host";
  std::vector<std::pair<std::string, std::string>> parameters;  // that are not tuned
  std::vector<std::string> link;                                // objects that its C functions are in
  double seconds = 60;                                          // a generator that takes longer is ended
};

struct Built {
  bool refused = false;           // by the prover: there is no such schedule
  std::string why;                // it was not built; empty: it was
  Description made;               // the choices that were made
  std::filesystem::path library;  // a shared library with the function `ashlar_candidate`
  double cpu_seconds = 0;
};

class GeneratorTool {
 public:
  explicit GeneratorTool(ToolOptions options) : options_(std::move(options)) {}
  const ToolOptions& options() const { return options_; }

  // std::runtime_error: the generator fails, with what it printed.
  Description describe(const Candidate&) const;
  // Builds into `folder`, which must exist.
  Built build(const Candidate&, const std::filesystem::path& folder) const;
  // The same program without a schedule, which results are compared with.
  Built build_reference(const std::filesystem::path& folder) const;

  // The parameters that may be tuned: those of which another value leaves the algorithm what it is.
  std::vector<std::string> parameters_of_schedule() const;

 private:
  std::vector<std::string> command(const Candidate&) const;
  Built link(Built, const std::filesystem::path& folder, const std::filesystem::path& object) const;
  ToolOptions options_;
};

}  // namespace ashlar::tune
