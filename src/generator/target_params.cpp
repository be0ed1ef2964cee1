// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/target_params.h"

#include <algorithm>

#include <ashlar/ir/refusal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/command_line.h"

namespace ashlar::generator {

namespace {

std::vector<std::string> texts_of(const std::vector<Target>& targets) {
  std::vector<std::string> texts;
  for (const Target& t : targets) texts.emplace_back(t.text());
  return texts;
}

// Of the target that the name stands for (x86-64-linux is x86-64; a GPU's base is enough); the number of targets where it is
// none of them.
std::size_t place_of(const std::string& name, const std::vector<Target>& targets) {
  std::size_t k = 0;
  try {
    const Target target = Target::parse(name);
    const auto is = [&](const Target& t) { return t.text() == target.text() || (t.is_gpu() && t.base() == name); };
    while (k < targets.size() && !is(targets[k])) ++k;
  } catch (const RefusalError&) { return targets.size(); }
  return k;
}

template <class List>
auto* value_of(List& params, const std::string& name) {
  for (auto& [key, value] : params)
    if (key == name) return &value;
  return static_cast<decltype(&params[0].second)>(nullptr);
}

}  // namespace

std::vector<Params> params_of(const Params& asked, const std::vector<Target>& targets, const char* what) {
  std::vector<Params> all(targets.size()), own(targets.size());
  for (const auto& [key, value] : asked) {
    const std::size_t at = key.find('@');
    if (at == key.npos) {
      for (Params& p : all) p.emplace_back(key, value);
      continue;
    }
    const std::string name = key.substr(0, at);
    const std::size_t place = place_of(key.substr(at + 1), targets);
    if (place == targets.size())
      throw UsageError(fmt::format("{} {}: expected one of the targets {}", what, key, fmt::join(texts_of(targets), ", ")));
    Params& p = own[place];
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

std::vector<std::string> replays_of(const std::vector<std::string>& given, const std::vector<Target>& targets) {
  std::vector<std::string> files(targets.size());
  for (const std::string& g : given) {
    const std::size_t equal = g.find('=');
    std::size_t place = equal == g.npos ? targets.size() : place_of(g.substr(0, equal), targets);
    std::string file = place < targets.size() ? g.substr(equal + 1) : g;
    if (place == targets.size() && targets.size() > 1)
      throw UsageError(
          fmt::format("--replay {}: expected TARGET=FILE with one of the targets {}", g, fmt::join(texts_of(targets), ", ")));
    if (place == targets.size()) place = 0;
    if (file.empty()) throw UsageError(fmt::format("--replay {}: expected a file", g));
    if (!files[place].empty()) throw UsageError(fmt::format("--replay is given twice for {}", targets[place].text()));
    files[place] = std::move(file);
  }
  return files;
}

}  // namespace ashlar::generator
