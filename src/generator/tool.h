// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The command line tool as a function, so that tests can call it without a process.
//
//   ToolResult r = run_tool({"-g", "blur", "-o", "out", "target=x86-64-v3"});   r.code, r.out, r.err
//
// Codes: 0 done; 1 refused (an illegal schedule, a wrong algorithm, a file that cannot be written), at the user's line; 2 the
// command line names something that does not exist, with what does; 3 a bug of the compiler; 4 schedules that
// --diff compares differ. Nothing is written but with 0.
#include <span>
#include <string>
#include <vector>

namespace ashlar::generator {

struct CommandLine;

struct ToolResult {
  int code = 0;
  std::string out, err;  // for stdout and stderr
};

ToolResult run_tool(std::span<const std::string> arguments, const std::string& program = "GENERATOR");
std::string help_text();
std::string man_text(const std::string& program);
struct Example {
  std::string arguments, what;
};
std::vector<Example> examples();                 // of calls, with one of the generators that there are
std::string list_text();                         // of the generators
std::string generator_text(const CommandLine&);  // parameters and arguments of the one that is asked for; UsageError
std::string targets_text();

}  // namespace ashlar::generator
