// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/choices.h"

#include <algorithm>

#include <ashlar/generator/param.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "generator/command_line.h"

namespace ashlar::generator {

std::vector<Decision> decisions_of(const Params& asked) {
  std::vector<Decision> decisions;
  for (const auto& [name, text] : asked) {
    Decision& d = decisions.emplace_back(Decision{name, 0});
    if (!detail::parse_integer(text, INT64_MIN, std::uint64_t{INT64_MAX}, &d.value))
      throw UsageError(fmt::format("--choose {}: expected a whole number, found \"{}\"", name, text));
  }
  return decisions;
}

void require_made(const Schedule& schedule, const std::vector<Decision>& decisions) {
  if (decisions.empty()) return;
  std::vector<std::string> names;
  for (const Choice& c : schedule.choices()) names.push_back(c.name);
  for (const Decision& d : decisions)
    if (std::find(names.begin(), names.end(), d.name) == names.end())
      throw UsageError(fmt::format("--choose: {}", unknown("choice", d.name, names)));
}

std::string choices_text(const std::vector<detail::ParamInfo>& params, const Schedule& schedule) {
  using Json = nlohmann::ordered_json;
  Json all{{"parameters", Json::array()}, {"choices", Json::array()}};
  for (const detail::ParamInfo& p : params) {
    Json& row =
        all["parameters"].emplace_back(Json{{"name", p.name}, {"type", p.type}, {"value", p.value}, {"usual", p.fallback}});
    if (!p.choices.empty()) row["values"] = p.choices;
    if (!p.range.empty()) row["range"] = p.range;
  }
  for (const Choice& c : schedule.choices())
    all["choices"].push_back(
        Json{{"name", c.name}, {"value", c.value}, {"usual", c.values[c.usual]}, {"values", c.values}, {"place", c.place}});
  return all.dump(2) + "\n";
}

}  // namespace ashlar::generator
