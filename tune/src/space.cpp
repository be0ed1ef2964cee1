// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/src/space.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ashlar::tune {

namespace {

using nlohmann::json;

// "1 to 4096", of integers: the ends, 0 where it is among them, and the powers of two in between.
std::vector<std::string> values_of_range(const std::string& range, const std::string& usual) {
  std::int64_t low = 0, high = 0;
  const std::size_t word = range.find(" to ");
  if (word == std::string::npos) return {};  // of something else, such as an extent that may be a Symbol
  const auto read = [&](const std::string& text, std::int64_t* n) {
    return std::from_chars(text.data(), text.data() + text.size(), *n).ptr == text.data() + text.size();
  };
  if (!read(range.substr(0, word), &low) || !read(range.substr(word + 4), &high)) return {};  // of floats
  std::vector<std::int64_t> numbers{low, high};
  if (low <= 0 && high >= 0) numbers.push_back(0);
  for (int bit = 0; bit < 62; ++bit)
    if (const std::int64_t v = std::int64_t{1} << bit; v >= low && v <= high) numbers.push_back(v);
  if (std::int64_t v = 0; read(usual, &v)) numbers.push_back(v);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::vector<std::string> values;
  for (const std::int64_t v : numbers) values.push_back(std::to_string(v));
  return values;
}

Knob parameter_of(const json& row) {
  Knob k{row.at("name"), true, {}, row.at("value"), row.at("usual")};
  if (row.contains("values"))
    k.values = row.at("values").get<std::vector<std::string>>();
  else if (row.contains("range") && row.at("type") != "f32" && row.at("type") != "f64")
    k.values = values_of_range(row.at("range"), k.usual);
  else if (row.at("type") == "bool")
    k.values = {"false", "true"};
  return k;
}

Knob choice_of(const json& row) {
  Knob k{row.at("name"),
         false,
         {},
         std::to_string(row.at("value").get<std::int64_t>()),
         std::to_string(row.at("usual").get<std::int64_t>())};
  for (const json& v : row.at("values")) k.values.push_back(std::to_string(v.get<std::int64_t>()));
  return k;
}

}  // namespace

std::string Candidate::key() const {
  std::string text;
  for (const auto& [name, value] : parameters) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  for (const auto& [name, value] : choices) text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name, value);
  if (seed) text += fmt::format("{}seed:{}", text.empty() ? "" : " ", *seed);
  return text;
}

Description read_description(const std::string& text) {
  try {
    const json all = json::parse(text);
    Description d{all.at("algorithm"), all.at("target"), {}};
    for (const json& row : all.at("parameters"))
      if (Knob k = parameter_of(row); k.values.size() > 1) d.knobs.push_back(std::move(k));
    for (const json& row : all.at("choices")) d.knobs.push_back(choice_of(row));
    return d;
  } catch (const json::exception& e) { throw std::runtime_error(fmt::format("expected what -e choices writes: {}", e.what())); }
}

Candidate spelled_out(const Description& d, const std::vector<std::string>& tuned) {
  Candidate c;
  for (const Knob& k : d.knobs)
    if (!k.parameter)
      c.choices[k.name] = k.value;
    else if (std::find(tuned.begin(), tuned.end(), k.name) != tuned.end())
      c.parameters[k.name] = k.value;
  return c;
}

}  // namespace ashlar::tune
