// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/command_line.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ashlar::generator {

const char* const options_help =
    "  -g, --generator NAME    the generator to run; may be left out if there is only one\n"
    "  --prefer NAME           the generator to run if -g is left out and there are several; -f still names the C symbol\n"
    "  -f, --function NAME     the C symbol; default: the generator's name\n"
    "  -o, --output DIR        where files go; default: the current folder\n"
    "  -e, --emit KIND[,KIND]  what to write, or KIND=PATH for one exact file, - for standard output;\n"
    "                          default: object,header\n"
    "  -t, --target TARGET     the same as target=TARGET; default: host. T1,T2,... makes one library for all of them\n"
    "  --targets FILE          adds the processors and features of a JSON file; may be given several times\n"
    "  NAME=VALUE              a parameter of the generator; NAME@TARGET=VALUE: for one of several targets\n"
    "  --choose NAME=VALUE     decides a choice of the schedule (-e choices lists them); NAME@TARGET=VALUE for one target\n"
    "  --choose-if NAME=VALUE  the same, but has no effect if the choice is not made or the value is not a candidate\n"
    "  --random-choices SEED   draws the choices that --choose does not decide; the same ones for the same seed\n"
    "  --tuned FILE            takes parameters and choices that ashlar-tune found (docs/tuning.md)\n"
    "  --line-tables           maps code to the lines of algorithm and schedule, for debuggers and profilers; in C, #line\n"
    "  --profile               has the code record times, calls and bytes of its stages (docs/profiling.md); processors alone\n"
    "  --replay FILE           replays a saved schedule (-e schedule) instead of calling schedule();\n"
    "                          TARGET=FILE replays it for one of several targets; may be given for each\n"
    "  --size SYMBOL=N         the size at which -e explain and html count; may be given for each symbol\n"
    "  --draw SYMBOL=N         a size of the run that -e html draws; by default small sizes are chosen\n"
    "  --diff FILE FILE        prints the differences of two saved schedules, as C++; exit code 4 if there are any\n"
    "  --backward FUNCTION     makes the derivative of what the generator computes, which is FUNCTION in another run\n"
    "  --namespace NAME        the namespace of the operators of -e torch and -e jax, and of the function of -e cpp\n"
    "  --trace                 prints each schedule step and what it changed in the program\n"
    "  --quiet                 omits the notes on stderr about what will be slow or was chosen\n"
    "  --time-passes           prints the CPU milliseconds of each pass\n"
    "  --list                  prints the generators by group, with what each computes\n"
    "  --list-targets          prints the targets and their features\n"
    "  --completion SHELL      prints a completion script for bash, zsh or fish\n"
    "  --man                   prints this help as a man page\n"
    "  --help, --version       -g NAME --help: that generator's parameters, and its arguments for the values given\n";

namespace {

std::size_t distance(std::string_view a, std::string_view b) {  // Levenshtein's
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1])});
      corner = above;
    }
  }
  return row[b.size()];
}

std::vector<std::string> split(const std::string& s, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = s.find(at, begin)) != std::string::npos; begin = end + 1)
    parts.push_back(s.substr(begin, end - begin));
  parts.push_back(s.substr(begin));
  return parts;
}

OutputKind output_kind(const std::string& name) {
  if (const OutputKindInfo* k = find_output_kind(name)) return k->kind;
  std::vector<std::string> valid;
  for (const OutputKindInfo& k : output_kinds()) valid.push_back(k.name);
  throw UsageError(unknown("output kind", name, valid));
}

// KIND or KIND=PATH, with commas between. A comma of a path is one behind which no kind is named: explain=a,b.txt.
void read_outputs(const std::string& text, std::vector<Output>& outputs) {
  bool path = false;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equal = part.find('=');
    const std::string name = part.substr(0, equal);
    if (path && !find_output_kind(name)) {
      outputs.back().path += "," + part;
      continue;
    }
    path = equal != std::string::npos;
    outputs.push_back({output_kind(name), path ? part.substr(equal + 1) : ""});
    if (path && outputs.back().path.empty()) throw UsageError(fmt::format("-e {}: expected a path after the =", part));
  }
}

std::pair<std::string, std::int64_t> read_size(const char* option, const std::string& s) {
  const std::size_t equal = s.find('=');
  std::int64_t n = 0;
  const char* const end = s.data() + s.size();
  const auto number = equal == std::string::npos ? std::from_chars_result{} : std::from_chars(s.data() + equal + 1, end, n);
  if (equal == std::string::npos || equal == 0 || number.ec != std::errc() || number.ptr != end || n < 0)
    throw UsageError(fmt::format("{}: expected SYMBOL=N with a whole number, found \"{}\"", option, s));
  return {s.substr(0, equal), n};
}

// NAME=VALUE, each name once.
void add_pair(std::vector<std::pair<std::string, std::string>>& all, const std::string& word, const char* option) {
  const std::size_t equal = word.find('=');
  if (equal == std::string::npos || equal == 0)
    throw UsageError(fmt::format("{}expected NAME=VALUE, found \"{}\"", option, word));
  std::string name = word.substr(0, equal);
  for (const auto& [other, ignored] : all)
    if (other == name) throw UsageError(fmt::format("{}{} is given twice", option, name));
  all.emplace_back(std::move(name), word.substr(equal + 1));
}

}  // namespace

std::vector<std::string> nearest(std::string_view found, const std::vector<std::string>& valid) {
  std::size_t least = std::min<std::size_t>(2, found.size() / 2);
  for (const std::string& v : valid) least = std::min(least, distance(found, v));
  std::vector<std::string> near;
  for (const std::string& v : valid)
    if (distance(found, v) == least) near.push_back(v);
  return near;
}

std::string unknown(std::string_view what, std::string_view found, const std::vector<std::string>& valid) {
  if (valid.empty()) return fmt::format("unknown {} \"{}\"; there are none", what, found);
  const std::vector<std::string> near = nearest(found, valid);
  return fmt::format("unknown {} \"{}\"{}; valid: {}", what, found,
                     near.empty() ? "" : fmt::format(", did you mean \"{}\"?", fmt::join(near, "\" or \"")),
                     fmt::join(valid, ", "));
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  std::string word;
  bool name = false;  // in the left column, before what the option does
  for (const char* c = options_help; *c != '\0'; ++c) {
    const bool begins = c == options_help || c[-1] == '\n';
    if (begins) name = std::string_view(c).starts_with("  -");
    if (*c != ' ' && *c != ',' && *c != '\n') {
      word += *c;
      continue;
    }
    if (name && word.starts_with("-")) names.push_back(word);
    if (name && !word.empty() && !word.starts_with("-")) name = false;
    if (*c == ' ' && c[1] == ' ' && !word.empty()) name = false;
    word.clear();
  }
  return names;
}

bool takes_value(const std::string& option) {
  static const std::vector<std::string> without = {
      "--line-tables", "--profile", "--trace",   "--quiet", "--time-passes", "--list", "--list-targets",
      "--man",         "--help",    "--version", "-h"};
  const std::vector<std::string> all = option_names();
  return std::find(all.begin(), all.end(), option) != all.end() &&
         std::find(without.begin(), without.end(), option) == without.end();
}

CommandLine read_command_line(std::span<const std::string> arguments) {
  CommandLine c;
  std::vector<std::string> emit, target, size, draw, choose, choose_if, rest;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.add_option("-g,--generator", c.generator);
  app.add_option("--prefer", c.preferred);
  app.add_option("-f,--function", c.function);
  app.add_option("-o,--output", c.directory);
  app.add_option("-e,--emit", emit)->allow_extra_args(false);
  app.add_option("-t,--target", target)->allow_extra_args(false);
  app.add_option("--targets", c.target_files)->allow_extra_args(false);
  app.add_option("--replay", c.replays)->allow_extra_args(false);
  app.add_option("--choose", choose)->allow_extra_args(false);
  app.add_option("--choose-if", choose_if)->allow_extra_args(false);
  app.add_option("--random-choices", c.seed);
  app.add_option("--tuned", c.tuned);
  app.add_option("--size", size)->allow_extra_args(false);
  app.add_option("--draw", draw)->allow_extra_args(false);
  app.add_option("--diff", c.diff)->expected(2);
  app.add_option("--backward", c.of);
  app.add_option("--namespace", c.ns);
  app.add_flag("--line-tables", c.line_tables);
  app.add_flag("--profile", c.profile);
  app.add_flag("--trace", c.trace);
  app.add_flag("--time-passes", c.time_passes);
  app.add_flag("--quiet", c.quiet);
  app.add_flag("--list", c.list);
  app.add_flag("--list-targets", c.list_targets);
  app.add_flag("-h,--help", c.help);
  app.add_flag("--version", c.version);
  app.add_flag("--man", c.man);
  app.add_option("--completion", c.completion);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
    app.parse(reversed);
    rest = app.remaining();
  } catch (const CLI::ParseError& e) { throw UsageError(fmt::format("{}; --help lists the options", e.what())); }
  c.backward = !c.of.empty();
  for (const std::string& e : emit) read_outputs(e, c.outputs);
  for (std::string& t : target)
    for (std::string& name : split(t, ',')) c.targets.push_back(std::move(name));
  for (const std::string& s : size) c.sizes.push_back(read_size("--size", s));
  for (const std::string& s : draw) c.drawn.push_back(read_size("--draw", s));
  for (const std::string& s : choose) add_pair(c.choices, s, "--choose: ");
  for (const std::string& s : choose_if) add_pair(c.choices_if, s, "--choose-if: ");
  for (const std::string& word : rest) {
    if (word.starts_with("-")) {
      const std::vector<std::string> near = word.starts_with("--") ? nearest(word, option_names()) : std::vector<std::string>{};
      throw UsageError(fmt::format("unknown option \"{}\"{}; valid:\n{}", word,
                                   near.empty() ? "" : fmt::format(", did you mean \"{}\"?", fmt::join(near, "\" or \"")),
                                   std::string_view(options_help, std::strlen(options_help) - 1)));
    }
    if (word.starts_with("target=")) {
      for (std::string& t : split(word.substr(word.find('=') + 1), ',')) c.targets.push_back(std::move(t));
      continue;
    }
    add_pair(c.params, word, "");
  }
  return c;
}

}  // namespace ashlar::generator
