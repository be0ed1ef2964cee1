// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/src/generator_tool.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "tune/src/process.h"

namespace ashlar::tune {

namespace {

constexpr const char* function = "ashlar_candidate";

// What a program said that failed, in one line.
std::string said(const Ran& ran, double seconds) {
  if (ran.timed_out) return fmt::format("did not end within {} s", seconds);
  if (ran.signal != 0) return fmt::format("was ended by signal {}", ran.signal);
  std::string text = ran.err.substr(0, ran.err.find_last_not_of('\n') + 1);
  return text.empty() ? fmt::format("ended with code {}", ran.code) : text;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::vector<std::string> GeneratorTool::command(const Candidate& candidate) const {
  std::vector<std::string> words{options_.executable, "-f", function, "-t", options_.target, "--quiet"};
  if (!options_.generator.empty()) words.insert(words.begin() + 1, {"-g", options_.generator});
  for (const auto& [name, value] : options_.parameters) words.push_back(fmt::format("{}={}", name, value));
  for (const auto& [name, value] : candidate.parameters) words.push_back(fmt::format("{}={}", name, value));
  for (const auto& [name, value] : candidate.choices) words.push_back(fmt::format("--choose-if={}={}", name, value));
  if (candidate.seed) words.push_back(fmt::format("--random-choices={}", *candidate.seed));
  return words;
}

Description GeneratorTool::describe(const Candidate& candidate) const {
  std::vector<std::string> words = command(candidate);
  words.insert(words.end(), {"-e", "choices=-"});
  const Ran ran = run_process(words, options_.seconds);
  if (ran.code != 0) throw std::runtime_error(fmt::format("{}: {}", options_.executable, said(ran, options_.seconds)));
  return read_description(ran.out);
}

Built GeneratorTool::link(Built built, const std::filesystem::path& folder, const std::filesystem::path& object) const {
  const std::filesystem::path library = folder / "candidate.so";
  std::vector<std::string> words{"ld", "-shared", "--wrap=ashlar_abi1_call", "-o", library.string(), object.string()};
  words.insert(words.end(), options_.link.begin(), options_.link.end());
  const Ran ran = run_process(words, options_.seconds);
  built.cpu_seconds += ran.cpu_seconds;
  if (ran.code != 0)
    built.why = fmt::format("ld: {}", said(ran, options_.seconds));
  else
    built.library = library;
  return built;
}

Built GeneratorTool::build(const Candidate& candidate, const std::filesystem::path& folder) const {
  const std::filesystem::path object = folder / "candidate.o", choices = folder / "choices.json";
  std::vector<std::string> words = command(candidate);
  words.insert(words.end(), {"-e", "object=" + object.string(), "-e", "choices=" + choices.string()});
  const Ran ran = run_process(words, options_.seconds);
  Built built;
  built.cpu_seconds = ran.cpu_seconds;
  if (ran.code != 0) {
    built.refused = ran.code == 1 || ran.code == 2;
    built.why = said(ran, options_.seconds);
    if (built.refused && std::filesystem::exists(choices)) built.made = read_description(read_file(choices));
    return built;
  }
  built.made = read_description(read_file(choices));
  return link(std::move(built), folder, object);
}

Built GeneratorTool::build_reference(const std::filesystem::path& folder) const {
  const std::filesystem::path object = folder / "candidate.o", steps = folder / "no_steps.json";
  std::ofstream(steps) << "[]\n";
  std::vector<std::string> words = command({});
  words.insert(words.end(), {"-e", "object=" + object.string(), "--replay", steps.string()});
  const Ran ran = run_process(words, options_.seconds);
  Built built;
  if (ran.code != 0) {
    built.why = said(ran, options_.seconds);
    return built;
  }
  return link(std::move(built), folder, object);
}

std::vector<std::string> GeneratorTool::parameters_of_schedule() const {
  const Description usual = describe({});
  std::vector<std::string> names;
  for (const Knob& k : usual.knobs) {
    if (!k.parameter) continue;
    if (std::any_of(options_.parameters.begin(), options_.parameters.end(), [&](const auto& p) { return p.first == k.name; }))
      continue;
    // Another value may be refused for its own reasons; the first one that is taken decides.
    for (const std::string& value : k.values) {
      if (value == k.value) continue;
      Candidate other;
      other.parameters[k.name] = value;
      std::vector<std::string> words = command(other);
      words.insert(words.end(), {"-e", "choices=-"});
      const Ran ran = run_process(words, options_.seconds);
      if (ran.code != 0) continue;
      if (read_description(ran.out).algorithm == usual.algorithm) names.push_back(k.name);
      break;
    }
  }
  return names;
}

}  // namespace ashlar::tune
