// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/generator/param.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "generator/frame.h"

namespace ashlar::detail {

namespace {

struct NamedType {
  const char* name;
  Type type;
};
constexpr NamedType types[] = {{"bool", bool_}, {"i8", i8},   {"i16", i16}, {"i32", i32},   {"i64", i64},   {"u8", u8},
                               {"u16", u16},    {"u32", u32}, {"u64", u64}, {"f16", f16},   {"bf16", bf16}, {"f32", f32},
                               {"f64", f64},    {"i4", i4},   {"u4", u4},   {"e4m3", e4m3}, {"e5m2", e5m2}};

}  // namespace

bool parse_integer(std::string_view s, std::int64_t low, std::uint64_t high, std::int64_t* bits) {
  const char* end = s.data() + s.size();
  if (!s.empty() && s[0] == '-') {
    std::int64_t v = 0;
    const auto [stop, error] = std::from_chars(s.data(), end, v);
    if (error != std::errc() || stop != end || v < low) return false;
    *bits = v;
    return true;
  }
  std::uint64_t v = 0;
  const auto [stop, error] = std::from_chars(s.data(), end, v);
  if (error != std::errc() || stop != end || v > high) return false;
  *bits = static_cast<std::int64_t>(v);
  return true;
}

bool parse_real(std::string_view s, double* v) {
  const char* end = s.data() + s.size();
  const auto [stop, error] = std::from_chars(s.data(), end, *v);
  return error == std::errc() && stop == end;
}

bool parse_type(std::string_view s, Type* t) {
  for (const NamedType& n : types)
    if (s == n.name) {
      *t = n.type;
      return true;
    }
  return false;
}

std::string integer_text(std::int64_t v) { return std::to_string(v); }
std::string unsigned_text(std::uint64_t v) { return std::to_string(v); }
std::string real_text(float v) { return fmt::format("{}", v); }
std::string real_text(double v) { return fmt::format("{}", v); }

std::string type_text(Type t) {
  for (const NamedType& n : types)
    if (t == n.type) return n.name;
  return "?";
}

std::string type_names() {
  std::string names;
  for (const NamedType& n : types) names += (names.empty() ? "" : ", ") + std::string(n.name);
  return names;
}

ParamEntry::ParamEntry(ParamInfo info) {
  generator::GeneratorRecord* record = generator::under_construction();
  if (!record) return;
  for (const ParamInfo& other : record->params)
    if (other.name == info.name) record->mistakes.push_back(fmt::format("two Params are named \"{}\"", info.name));
  if (info.name == "target") record->mistakes.push_back("a Param is named \"target\", which chooses the target");
  if (info.name.empty() || info.name.find_first_of("=@ \t\n") != std::string::npos || info.name[0] == '-')
    record->mistakes.push_back(
        fmt::format("\"{}\" cannot be the name of a Param: it could not be written as name=value", info.name));
  const auto& choices = info.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), info.fallback) == choices.end())
    record->mistakes.push_back(fmt::format("Param \"{}\": the default {} is not among its choices {}", info.name, info.fallback,
                                           fmt::join(choices, ", ")));
  if (!info.in_range)
    record->mistakes.push_back(
        fmt::format("Param \"{}\": the default {} is not in its range, {}", info.name, info.fallback, info.range));
  registered_ = true;
  place_ = record->params.size();
  for (const auto& [key, value] : record->asked)
    if (key == info.name) asked_ = &value;
  info.value = info.fallback;
  record->params.push_back(std::move(info));
}

void ParamEntry::accept(std::string text) {
  if (registered_) generator::under_construction()->params[place_].value = std::move(text);
}

void ParamEntry::reject(std::string_view wanted) {
  generator::under_construction()->rejected.push_back({place_, *asked_, std::string(wanted)});
}

}  // namespace ashlar::detail
