// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ashlar-tune: finds schedules by measuring them, and keeps what it found (docs/tuning.md).
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tune/src/tuner.h"

namespace {

using namespace ashlar::tune;

std::atomic<bool> stop = false;
void ask_to_stop(int) { stop = true; }

std::pair<std::string, std::string> pair_of(const std::string& word, const char* option, const char* form = "NAME=VALUE") {
  const std::size_t equal = word.find('=');
  if (equal == std::string::npos || equal == 0 || equal + 1 == word.size())
    throw std::runtime_error(fmt::format("{}expected {}, found \"{}\"", option, form, word));
  return {word.substr(0, equal), word.substr(equal + 1)};
}

template <class T>
T number_of(const std::string& text, const std::string& option) {
  T n{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(fmt::format("{}: expected a number, found \"{}\"", option, text));
  return n;
}

std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.2f} us", seconds * 1e6) : fmt::format("{:.3f} ms", seconds * 1e3);
}

struct Words {  // of the command line, before they are read
  std::vector<std::string> sizes, ranges, tolerances, parameters, given;
  bool all_parameters = true;
};

void read_words(const Words& words, ToolOptions& tool, TuneOptions& options) {
  for (const std::string& s : words.sizes) {
    const auto [name, value] = pair_of(s, "--size: ", "SYMBOL=N");
    options.problem.sizes[name] = number_of<std::int64_t>(value, "--size " + name);
  }
  for (const std::string& s : words.ranges) {
    const auto [name, value] = pair_of(s, "--range: ", "ARGUMENT=LOW:HIGH");
    const std::size_t colon = value.find(':');
    if (colon == std::string::npos)
      throw std::runtime_error(fmt::format("--range {}: expected LOW:HIGH, found \"{}\"", name, value));
    options.problem.ranges[name] = {number_of<double>(value.substr(0, colon), "--range " + name),
                                    number_of<double>(value.substr(colon + 1), "--range " + name)};
  }
  for (const std::string& s : words.tolerances) {
    const auto [name, value] = pair_of(s, "--tolerance: ", "OUTPUT=X");
    options.problem.tolerances[name] = number_of<double>(value, "--tolerance " + name);
  }
  for (const std::string& s : words.given) tool.parameters.push_back(pair_of(s, ""));
  if (!words.all_parameters) options.parameters = words.parameters;
}

void search(const ToolOptions& tool_options, TuneOptions options, const std::string& path, const std::string& output) {
  const GeneratorTool tool(tool_options);
  Database database(path);
  Tuner tuner(tool, std::move(options), database);
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  tuner.stop = &stop;
  const bool terminal = ::isatty(2) != 0;
  tuner.on_record = [&](const Progress& p, const Record& r) {
    if (r.status != "measured" && r.status != "refused")
      fmt::print(stderr, "{}{}: {}: {}\n", terminal ? "\r\033[K" : "", r.candidate.key(), r.status, r.why);
    if (terminal)
      fmt::print(stderr, "\r\033[K{} measured, {} refused, {} failed; best {:.3f} of {}", p.measured, p.refused, p.failed,
                 p.best_ratio, time_text(p.usual_seconds));
  };
  const Result result = tuner.run();
  if (terminal) fmt::print(stderr, "\r\033[K");
  const Progress& p = result.progress;
  fmt::print("{} measured, {} refused, {} failed{}\n", p.measured, p.refused, p.failed,
             result.ended_early ? "; there are no other candidates" : "");
  fmt::print("usual  {}\n", time_text(p.usual_seconds));
  fmt::print("best   {}  ratio {:.3f} ({:.3f} to {:.3f})  {}\n", time_text(result.best.seconds), result.best.ratio,
             result.best.low, result.best.high, result.best.candidate.key());
  if (output.empty()) return;
  const std::vector<Record> best = database.best();
  const std::string part = output + ".part";
  std::ofstream out(part);
  write_lines(out, best);
  out.close();
  if (!out || std::rename(part.c_str(), output.c_str()) != 0)
    throw std::runtime_error(fmt::format("{}: cannot be written", output));
}

void import(Database& database, const std::vector<std::string>& files) {
  std::vector<Record> all;  // read before anything is written
  for (const std::string& file : files) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error(fmt::format("{}: cannot be read", file));
    for (Record& r : read_lines(in, file)) all.push_back(std::move(r));
  }
  for (const Record& r : all) {
    const std::optional<Record> known = database.find(r.task, r.candidate);
    if (!known || known->status != "measured") database.add(r);
  }
}

// The help as a man page: the text of each command as it is printed.
std::string man_text(const CLI::App& app) {
  std::string page = ".TH ASHLAR-TUNE 1\n.SH NAME\nashlar\\-tune \\- finds schedules by measuring them\n.SH DESCRIPTION\n.nf\n";
  std::string help = app.help();
  for (const CLI::App* command : app.get_subcommands({})) help += "\n" + command->help("ashlar-tune");
  bool begins = true;
  for (const char c : help) {
    if (begins && (c == '.' || c == '\'')) page += "\\&";
    page += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    begins = c == '\n';
  }
  return page + ".fi\n";
}

int run(int argc, char** argv) {
  CLI::App app{"Finds schedules by measuring them, and keeps what it found.", "ashlar-tune"};
  app.require_subcommand(0, 1);
  bool man = false, version = false;
  app.add_flag("--man", man, "prints this help as a man page");
  app.add_flag("--version", version, "prints the version");
  ToolOptions tool;
  TuneOptions options;
  Words words;
  std::string database = "tuned.db", output;
  std::vector<std::string> files;
  bool all = false;

  CLI::App* find = app.add_subcommand("search", "tries candidates of a generator's schedule");
  find->add_option("GENERATOR", tool.executable, "the executable of the generator")->required();
  find->add_option("PARAMETERS", words.given, "NAME=VALUE: parameters that stay as they are");
  find->add_option("-g,--generator", tool.generator, "the generator, if the executable holds several");
  find->add_option("-t,--target", tool.target, "the target")->capture_default_str();
  find->add_option("--size", words.sizes, "SYMBOL=N: the size to tune for; of every symbol")->allow_extra_args(false);
  find->add_option("--range", words.ranges, "ARGUMENT=LOW:HIGH: what its random data lies in")->allow_extra_args(false);
  find->add_option("--tolerance", words.tolerances,
                   "OUTPUT=X: how far results of floats may lie apart, of the largest magnitude")
      ->allow_extra_args(false);
  auto* tuned = find->add_option("--parameters", words.parameters,
                                 "the parameters to tune; by default all that change the schedule alone")
                    ->delimiter(',')
                    ->allow_extra_args(false);
  find->add_option("--link", tool.link, "an object file that the kernel's C functions are in")->allow_extra_args(false);
  find->add_option("--searcher", options.searcher, fmt::format("{}", fmt::join(searcher_names(), ", ")))->capture_default_str();
  find->add_option("--trials", options.trials, "candidates that are timed")->capture_default_str();
  find->add_option("--seconds", options.seconds, "no candidate is begun after them");
  find->add_option("--seed", options.seed, "of the searcher")->capture_default_str();
  find->add_option("--data-seed", options.problem.seed, "of the data")->capture_default_str();
  find->add_option("--jobs", options.jobs, "generators that run at once")->capture_default_str()->check(CLI::Range(1, 1024));
  find->add_option("--threads", options.measure.threads, "of the kernel")->capture_default_str()->check(CLI::Range(1, 1024));
  find->add_flag("--cold", options.measure.cold, "the caches hold other data before each call");
  find->add_option("--limit", options.measure.limit, "seconds after which a candidate is ended")->capture_default_str();
  find->add_option("--build-limit", tool.seconds, "seconds after which a generator is ended")->capture_default_str();
  find->add_option("--megabytes", options.measure.megabytes, "that a candidate may have beyond its tensors")
      ->capture_default_str();
  find->add_option("-d,--database", database, "the file that keeps what was tried")->capture_default_str();
  find->add_option("-o,--output", output, "writes the best candidate of each task of the database, as JSON lines");

  CLI::App* write = app.add_subcommand("export", "prints the best candidate of each task, as JSON lines");
  write->add_option("-d,--database", database)->capture_default_str();
  write->add_flag("--all", all, "all that was tried");

  CLI::App* read = app.add_subcommand("import", "adds JSON lines of other databases");
  read->add_option("-d,--database", database)->capture_default_str();
  read->add_option("FILES", files, "what export has written")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return app.exit(e) == 0 ? 0 : 2; }
  if (man || version || app.get_subcommands().empty()) {
    fmt::print("{}", man ? man_text(app) : version ? "ashlar-tune " ASHLAR_VERSION "\n" : app.help());
    return man || version ? 0 : 2;
  }
  words.all_parameters = tuned->count() == 0;
  if (find->parsed()) {
    read_words(words, tool, options);
    search(tool, options, database, output);
  } else if (write->parsed()) {
    if (!std::filesystem::exists(database)) throw std::runtime_error(fmt::format("{}: there is no such file", database));
    const Database from(database);
    write_lines(std::cout, all ? from.all() : from.best());
  } else {
    Database into(database);
    import(into, files);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0) throw std::runtime_error("standard output cannot be written");
    return code;
  } catch (const std::exception& e) {
    fmt::print(stderr, "ashlar-tune: {}\n", e.what());
    return 1;
  }
}
