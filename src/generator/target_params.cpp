#include "generator/target_params.h"

#include <algorithm>

#include <ashlar/ir/refusal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/command_line.h"

namespace ashlar::generator {

namespace {

std::size_t place_of(const std::string& param, const std::string& name, const std::vector<Target>& targets) {
  std::vector<std::string> texts;
  for (const Target& t : targets) texts.emplace_back(t.text());
  std::string text = name;
  try {
    text = Target::parse(name).text();  // x86-64-linux is x86-64
  } catch (const RefusalError&) {}
  const auto found = std::find(texts.begin(), texts.end(), text);
  if (found == texts.end())
    throw UsageError(fmt::format("parameter {}@{}: expected one of the targets {}", param, name, fmt::join(texts, ", ")));
  return static_cast<std::size_t>(found - texts.begin());
}

template <class List>
auto* value_of(List& params, const std::string& name) {
  for (auto& [key, value] : params)
    if (key == name) return &value;
  return static_cast<decltype(&params[0].second)>(nullptr);
}

}  // namespace

std::vector<Params> params_of(const Params& asked, const std::vector<Target>& targets) {
  std::vector<Params> all(targets.size()), own(targets.size());
  for (const auto& [key, value] : asked) {
    const std::size_t at = key.find('@');
    if (at == key.npos) {
      for (Params& p : all) p.emplace_back(key, value);
      continue;
    }
    const std::string name = key.substr(0, at);
    Params& p = own[place_of(name, key.substr(at + 1), targets)];
    if (value_of(p, name)) throw UsageError(fmt::format("{} is given twice", key));
    p.emplace_back(name, value);
  }
  for (std::size_t k = 0; k < targets.size(); ++k)
    for (const auto& [name, value] : own[k]) {
      if (std::string* general = value_of(all[k], name))
        *general = value;
      else
        all[k].emplace_back(name, value);
    }
  return all;
}

Params joined_params(const std::vector<Params>& values, const std::vector<Target>& targets) {
  std::vector<std::string> names;
  for (const Params& params : values)
    for (const auto& [name, value] : params)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  Params joined;
  for (const std::string& name : names) {
    const std::string* first = value_of(values[0], name);
    const bool same = std::all_of(values.begin(), values.end(), [&](const Params& params) {
      const std::string* value = value_of(params, name);
      return first && value && *value == *first;
    });
    if (same) joined.emplace_back(name, *first);
    for (std::size_t k = 0; k < targets.size() && !same; ++k)
      if (const std::string* value = value_of(values[k], name))
        joined.emplace_back(fmt::format("{}@{}", name, targets[k].text()), *value);
  }
  return joined;
}

}  // namespace ashlar::generator
