// ./dev bench --programs: programs scheduled by default beside plain loops.
//
//   ashlar_programs --filter 'signal' --json programs.json
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdlib>
#include <regex>

#include "bench/programs/compile.h"
#include "bench/programs/count.h"
#include "bench/programs/table.h"

int main(int argc, char** argv) {
  using namespace bench::programs;
  CLI::App app{"Times what schedule_by_default makes of programs beside unscheduled code and plain loops of gcc and clang."};
  std::string json, filter = ".";
  Options options;
  bool list = false;
  app.add_option("--json", json, "write the table to this file");
  app.add_option("--filter", filter, "only programs in whose \"AREA NAME\" this regular expression is found")
      ->check([](const std::string& text) {
        try {
          std::regex parsed(text);
          return std::string();
        } catch (const std::regex_error& e) { return "\"" + text + "\" is not a regular expression: " + e.what(); }
      });
  app.add_option("--seconds", options.seconds, "that the rounds of a program take")->check(CLI::Range(0.0, 600.0));
  app.add_option("--threads", options.threads, "time the default schedule on this many threads too")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--choices", options.text, "print what the scheduler says of its choices");
  app.add_flag("--kernel", options.kernel, "print the scheduled program, its kernel and its assembly, too");
  app.add_flag("--list", list, "name the programs and measure nothing");
  std::string counted;
  app.add_option("--count", counted,
                 "print the instructions of a call instead of times; calls: execute it, for another tool that counts")
      ->check(CLI::IsMember({"perf", "calls"}));
  bool compiled = false;
  app.add_flag("--compile", compiled, "print the CPU seconds that it takes to compile instead, scheduled by default");
  const CLI::Option* chosen = app.add_option("--target", options.target,
                                             "what to compile for: this processor, or x86-64-v3 with --count and --compile "
                                             "(build with -DASHLAR_PROGRAMS_MARCH=x86-64-v3 "
                                             "for loops that have no more either)");
  CLI11_PARSE(app, argc, argv);
  if (!*chosen && (compiled || !counted.empty())) options.target = "x86-64-v3";
  if (counted.empty()) setenv("ASHLAR_CACHE", "off", 1);  // the time to compile is measured

  try {
    const std::regex wanted(filter);
    std::vector<Result> all;
    if (!list && counted.empty() && !compiled) fmt::print("{}\n", processor()), print_heading();
    for (const Entry& e : entries()) {
      const std::string name = std::string(e.area) + " " + e.name;
      if (!std::regex_search(name, wanted)) continue;
      if (list) {
        fmt::print("{}\n", name);
        continue;
      }
      if (compiled) {
        const CompileSeconds t = compile_seconds(e, options.target);
        fmt::print("{:<32} {:8.3f} = schedule {:.3f} + lower {:.3f} + code {:.3f} + LLVM {:.3f}\n", name, t.all(), t.schedule,
                   t.lower, t.code, t.llvm);
        continue;
      }
      if (!counted.empty()) {
        const auto count = instructions(e, options.target, counted == "perf" ? Counting::perf : Counting::other);
        fmt::print("{}\t{}\n", name, count.value_or(0));
        continue;
      }
      Result r = measured(e, options);
      if (r.missed() && r.failed.empty()) {  // a miss counts when it repeats
        print_row(r, false);
        r = measured(e, options);
      }
      print_row(r, true);
      all.push_back(std::move(r));
    }
    if (list || compiled || !counted.empty()) return 0;
    print_outcome(all);
    if (!json.empty()) save(json, all);
    for (const Result& r : all)
      if (!r.failed.empty()) return 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "ashlar_programs: {}\n", e.what());
    return 1;
  }
  return 0;
}
