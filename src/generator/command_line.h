// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The command line as a value. Reading it knows nothing of the generators; what they decide (is there such a generator, such a
// Param, such a value) is checked afterwards, in select.h.
//
//   gen -g matmul -o out -e object,header target=x86-64-v3 edge=128
#include <optional>
#include <stdexcept>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/outputs.h"

namespace ashlar::generator {

// The command line asks for something that does not exist. The message lists what does; the tool exits with 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CommandLine {
  bool help = false, version = false, list = false, list_targets = false, man = false;
  std::string completion;  // the shell that it is for; empty: not asked
  bool time_passes = false, trace = false, line_tables = false, profile = false, quiet = false, backward = false;
  std::string generator;  // empty: the only one there is
  std::string preferred;  // where `generator` is empty and there are several
  std::string function;   // empty: the generator's name
  std::string ns;         // of the operators that kits register
  std::string of;         // with backward: the function whose derivative it is; empty: the generator's name
  std::string directory = ".";
  std::vector<std::string> target_files;                    // of the user's own processors
  std::vector<std::string> targets;                         // empty: host
  std::vector<Output> outputs;                              // empty: object and header
  std::vector<std::pair<std::string, std::int64_t>> sizes;  // of symbols, for -e explain and html
  std::vector<std::pair<std::string, std::int64_t>> drawn;  // of symbols, for the run that -e html draws
  std::vector<std::string> diff;                            // two files of saved schedules, or none
  std::vector<std::string> replays;                         // files, or TARGET=FILE; none: schedule() is called
  std::vector<std::pair<std::string, std::string>> params;
  std::vector<std::pair<std::string, std::string>> choices;     // NAME=VALUE or NAME@TARGET=VALUE
  std::vector<std::pair<std::string, std::string>> choices_if;  // of choices that may not be made
  std::string tuned;                                            // a file of ashlar-tune; empty: none
  std::optional<std::uint64_t> seed;                            // draws the other choices
};

CommandLine read_command_line(std::span<const std::string> arguments);  // without the program's name; UsageError

std::vector<std::string> nearest(std::string_view found, const std::vector<std::string>& valid);  // what may have been meant
// "unknown WHAT \"found\"; valid: a, b, c", with the nearest valid names asked after where they are near.
std::string unknown(std::string_view what, std::string_view found, const std::vector<std::string>& valid);

extern const char* const options_help;
std::vector<std::string> option_names();      // of options_help: -g, --generator, --prefer, ...
bool takes_value(const std::string& option);  // its next word belongs to it

}  // namespace ashlar::generator
