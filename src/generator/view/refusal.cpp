// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A refusal. Its conflict is a sentence; the iterations in it are read from that:
//
//   iterations i = 0, k = 0 and i = 0, k = 1 both update C[0, 0]      {i: 0, k: 0}, {i: 0, k: 1}; they meet in C[0, 0]
#include <cctype>
#include <charconv>
#include <string_view>

#include "generator/view/parts.h"

namespace ashlar::generator::view {

namespace {

struct Value {
  std::string name;
  std::int64_t value = 0;
  std::size_t end = 0;  // in the text, behind it
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// All "name = number" of a text, in order.
std::vector<Value> values(std::string_view text) {
  std::vector<Value> all;
  for (std::size_t at = 0; (at = text.find(" = ", at)) != std::string_view::npos; at += 3) {
    std::size_t begin = at;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    std::int64_t n = 0;
    const char* const from = text.data() + at + 3;
    const auto number = std::from_chars(from, text.data() + text.size(), n);
    if (number.ec != std::errc() || begin == at || std::isdigit(static_cast<unsigned char>(text[begin]))) continue;
    all.push_back({std::string(text.substr(begin, at - begin)), n, static_cast<std::size_t>(number.ptr - text.data())});
  }
  return all;
}

// Where they meet: what stands behind the verb, up to a condition.
std::string meeting(std::string_view rest) {
  for (const char* verb : {"both update ", "both write ", "both map to ", "both read ", "would both start ", "reads "})
    if (const std::size_t at = rest.find(verb); at != std::string_view::npos) {
      std::string_view what = rest.substr(at + std::string_view(verb).size());
      for (const char* end : {", where ", ": ", " where ", " ("}) what = what.substr(0, what.find(end));
      return std::string(what);
    }
  return {};
}

}  // namespace

json refusal(const Refusal& r, Sources& sources) {
  json out = {{"primitive", r.primitive}, {"expected", r.expected}, {"found", r.found},
              {"conflict", r.conflict},   {"text", r.text()},       {"place", sources.place(r.where)}};
  const std::string_view text = std::string_view(r.conflict).substr(0, r.conflict.find(", where "));
  json both = json::array({json::object(), json::object()});
  std::size_t end = 0;
  int of = 0;
  for (const Value& v : values(text)) {
    if (of == 0 && both[0].contains(v.name)) of = 1;
    if (both[of].contains(v.name)) break;
    both[of][v.name] = v.value, end = v.end;
  }
  if (!both[1].empty() && both[0] != both[1]) {
    for (const auto& [name, n] : both[0].items())
      if (!both[1].contains(name)) both[1][name] = n;
    out["iterations"] = std::move(both);
    out["shared"] = meeting(text.substr(end));
  }
  return out;
}

}  // namespace ashlar::generator::view
