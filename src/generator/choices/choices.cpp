// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/choices/choices.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <ashlar/generator/param.h>
#include <ashlar/ir/print.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "generator/command_line.h"

namespace ashlar::generator {

std::vector<Decision> decisions_of(const Params& asked, bool required) {
  std::vector<Decision> decisions;
  for (const auto& [name, text] : asked) {
    Decision& d = decisions.emplace_back(Decision{name, 0, required});
    if (!detail::parse_integer(text, INT64_MIN, std::uint64_t{INT64_MAX}, &d.value))
      throw UsageError(
          fmt::format("{} {}: expected a whole number, found \"{}\"", required ? "--choose" : "--choose-if", name, text));
  }
  return decisions;
}

void require_made(const Schedule& schedule, const std::vector<Decision>& decisions) {
  if (decisions.empty()) return;
  std::vector<std::string> names;
  for (const Chosen& c : schedule.choices()) names.push_back(c.name);
  for (const Decision& d : decisions)
    if (d.required && std::find(names.begin(), names.end(), d.name) == names.end())
      throw UsageError(fmt::format("--choose: {}", unknown("choice", d.name, names)));
}

namespace {

// The names of a program, each with the number of the place where its text has it first.
class Numbers {
 public:
  explicit Numbers(const ir::Program& p) {
    names_.insert(p.name);
    for (const auto& [id, s] : p.symbols) names_.insert(s.name);
    for (const auto& [id, s] : p.scalars) names_.insert(s.name);
    for (const auto& [id, b] : p.buffers) names_.insert(b.name);
    for (const auto& [id, a] : p.axes) names_.insert(a.name);
    for (const auto& [id, s] : p.stages) {
      names_.insert(s.name), names_.insert(s.reducer.name);
      for (const ir::IterVar& v : s.iters) names_.insert(v.name);
    }
  }
  std::string of(const std::string& word) {
    if (!names_.count(word)) return word;
    return fmt::format("%{}", numbers_.try_emplace(word, numbers_.size()).first->second);
  }

 private:
  std::set<std::string> names_;
  std::map<std::string, std::size_t> numbers_;
};

}  // namespace

std::string algorithm_key(const ir::Program& algorithm) {
  Numbers numbers(algorithm);
  std::uint64_t h = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](unsigned char c) { h = (h ^ c) * 0x100000001b3; };
  std::string word;
  for (const char c : ir::text(algorithm) + "\n") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      continue;
    }
    for (const char w : numbers.of(word)) add(static_cast<unsigned char>(w));
    word.clear();
    add(static_cast<unsigned char>(c));
  }
  for (const auto& [id, b] : algorithm.buffers)
    if (b.data)
      for (const std::byte d : *b.data) add(static_cast<unsigned char>(d));
  return fmt::format("{:016x}", h);
}

std::string choices_text(const std::vector<detail::ParamInfo>& params, const ir::Program& algorithm, const Schedule& schedule) {
  using Json = nlohmann::ordered_json;
  Json all{{"algorithm", algorithm_key(algorithm)},
           {"target", schedule.target().text()},
           {"parameters", Json::array()},
           {"choices", Json::array()}};
  for (const detail::ParamInfo& p : params) {
    Json& row =
        all["parameters"].emplace_back(Json{{"name", p.name}, {"type", p.type}, {"value", p.value}, {"usual", p.fallback}});
    if (!p.choices.empty()) row["values"] = p.choices;
    if (!p.range.empty()) row["range"] = p.range;
  }
  for (const Chosen& c : schedule.choices())
    all["choices"].push_back(
        Json{{"name", c.name}, {"value", c.value}, {"usual", c.values[c.usual]}, {"values", c.values}, {"place", c.place}});
  return all.dump(2) + "\n";
}

}  // namespace ashlar::generator
