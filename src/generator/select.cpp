// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/select.h"

#include <algorithm>

#include <ashlar/ir/refusal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/command_line.h"

namespace ashlar {

namespace {
const detail::Registration* last_registered = nullptr;  // constant-initialized, so ready before any Registration
}

detail::Registration::Registration(const char* n, Generator* (*m)(), Where w, const char* g, const char* d)
    : name(n), make(m), where(w), group(g), doc(d), next(last_registered) {
  last_registered = this;
}

namespace generator {

std::vector<const detail::Registration*> registered() {
  std::vector<const detail::Registration*> all;
  for (const detail::Registration* r = last_registered; r; r = r->next) all.push_back(r);
  std::sort(all.begin(), all.end(), [](const detail::Registration* a, const detail::Registration* b) {
    const int order = std::string_view(a->name).compare(b->name);
    return order != 0 ? order < 0 : location(a->where) < location(b->where);
  });
  for (std::size_t i = 1; i < all.size(); ++i)
    if (std::string_view(all[i - 1]->name) == all[i]->name)
      refuse("ASHLAR_GENERATOR", "each generator to have a name of its own",
             fmt::format("\"{}\" at {} as well", all[i]->name, location(all[i - 1]->where)), all[i]->where);
  return all;
}

const detail::Registration& find_generator(const std::string& asked, const std::string& preferred) {
  const auto all = registered();
  std::vector<std::string> names;
  for (const detail::Registration* r : all) names.push_back(r->name);
  if (names.empty())
    throw UsageError("there are no generators in this program; ASHLAR_GENERATOR(Class, \"name\") registers one");
  const std::string& name = asked.empty() && all.size() > 1 ? preferred : asked;
  if (name.empty()) {
    if (all.size() == 1) return *all[0];
    throw UsageError(fmt::format("expected -g NAME; generators: {}", fmt::join(names, ", ")));
  }
  for (const detail::Registration* r : all)
    if (name == r->name) return *r;
  throw UsageError(unknown("generator", name, names));
}

namespace {

void check_params(const GeneratorRecord& record, Where where) {
  if (!record.mistakes.empty())
    refuse(fmt::format("generator \"{}\"", record.name), "Params that can be told apart and set", record.mistakes.front(),
           where);
  std::vector<std::string> names;
  for (const detail::ParamInfo& p : record.params) names.push_back(p.name);
  for (const auto& [key, value] : record.asked)
    if (std::find(names.begin(), names.end(), key) == names.end())
      throw UsageError(fmt::format("generator \"{}\": {}", record.name, unknown("parameter", key, names)));
  for (const RejectedParam& r : record.rejected) {
    const detail::ParamInfo& p = record.params[r.param];
    throw UsageError(fmt::format("parameter {}={}: expected {}", p.name, r.asked,
                                 !r.expected.empty()  ? r.expected
                                 : !p.choices.empty() ? fmt::format("one of {}", fmt::join(p.choices, ", "))
                                 : !p.range.empty()   ? p.range
                                 : r.wanted == "bool" ? "true or false"
                                 : r.wanted == "type" ? detail::type_names()
                                                      : fmt::format("a value of type {}", r.wanted)));
  }
}

}  // namespace

MadeGenerator make_generator(Generator* (*make)(), const std::string& name, const Target& target,
                             const std::vector<std::pair<std::string, std::string>>& params, Where where) {
  MadeGenerator made;
  made.record = std::make_unique<GeneratorRecord>();
  made.record->name = name;
  made.record->target = target;
  made.record->asked = params;
  try {
    Construction here(*made.record);
    made.generator.reset(make());
  } catch (const RefusalError&) {
    if (!made.record->rejected.empty()) check_params(*made.record, where);  // the value that was refused comes first
    throw;
  }
  check_params(*made.record, where);
  return made;
}

}  // namespace generator

}  // namespace ashlar
