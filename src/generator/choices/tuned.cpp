// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/choices/tuned.h"

#include <cmath>
#include <sstream>

#include <ashlar/ir/refusal.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "generator/command_line.h"

namespace ashlar::generator {

namespace {

using nlohmann::json;

// How far two problems lie apart: the sum over all symbols of what factor lies between their sizes, in octaves.
double distance(const json& record, const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
  double sum = 0;
  for (const auto& [name, n] : sizes)
    if (record.contains(name))
      sum += std::fabs(std::log2(static_cast<double>(n) + 1) - std::log2(record.at(name).get<double>() + 1));
  return sum;
}

double volume(const json& record) {
  double product = 1;
  for (const auto& [name, n] : record.items()) product *= n.get<double>();
  return product;
}

bool is_for(const std::string& name, const Target& target) {
  try {
    return Target::parse(name).text() == target.text();
  } catch (const RefusalError&) { return false; }  // of an Ashlar that knows other targets
}

Tuned taken(const json& record) {
  Tuned t;
  for (const auto& [name, value] : record.at("parameters").items()) t.parameters.emplace_back(name, value.get<std::string>());
  for (const auto& [name, value] : record.at("given").items()) t.parameters.emplace_back(name, value.get<std::string>());
  for (const auto& [name, value] : record.at("choices").items()) {
    Decision& d = t.decisions.emplace_back(Decision{name, 0, false});
    if (!detail::parse_integer(value.get<std::string>(), INT64_MIN, std::uint64_t{INT64_MAX}, &d.value))
      throw std::invalid_argument(fmt::format("the choice {} is \"{}\"", name, value.get<std::string>()));
  }
  t.ratio = record.at("ratio"), t.machine = record.at("machine");
  for (const auto& [name, n] : record.at("sizes").items())
    t.sizes += fmt::format("{}{}={}", t.sizes.empty() ? "" : ", ", name, n.get<std::int64_t>());
  return t;
}

}  // namespace

std::optional<Tuned> find_tuned(const std::string& text, const std::string& file, const std::string& algorithm,
                                const Target& target, const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
  std::optional<Tuned> best;
  double least = 0, ratio = 0;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    try {
      const json record = json::parse(line);
      const bool ours = record.at("algorithm") == algorithm && is_for(record.at("target"), target);
      if (record.at("status") != "measured" || !ours) continue;
      for (const auto& [name, n] : sizes)
        if (!record.at("sizes").contains(name))
          throw std::invalid_argument(
              fmt::format("--size {}: the record has sizes of other Symbols, {}", name, record.at("sizes").dump()));
      const double away = sizes.empty() ? -volume(record.at("sizes")) : distance(record.at("sizes"), sizes);
      Tuned t = taken(record);
      if (best && (away > least || (away == least && t.ratio >= ratio))) continue;
      least = away, ratio = t.ratio, best = std::move(t);
    } catch (const std::exception& e) {
      throw UsageError(fmt::format("--tuned {}:{}: expected a record of ashlar-tune: {}", file, number, e.what()));
    }
  }
  return best;
}

}  // namespace ashlar::generator
