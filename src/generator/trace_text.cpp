// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace ashlar::generator {
namespace {

// A definition or declaration (a line of the program's head), or a nest with all its lines.
using Section = std::string_view;

std::vector<Section> sections(std::string_view program) {
  std::vector<Section> all;
  bool head = false;  // inside of the head, whose lines are indented but stand by themselves
  while (!program.empty()) {
    const std::size_t end = std::min(program.find('\n'), program.size() - 1) + 1;
    const std::string_view line = program.substr(0, end);
    const bool indented = line.starts_with(' ');
    if (!indented) head = line.starts_with("program");
    if (indented && !head && !all.empty())
      all.back() = Section(all.back().data(), all.back().size() + line.size());
    else
      all.push_back(line);
    program.remove_prefix(end);
  }
  return all;
}

// What a section is of: "y" in "  y[i0] = x[i0] * 2.0", "nest y i0" in "nest y i0 [0, +N)".
std::string_view name_of(Section s) { return s.substr(0, s.find_first_of("[=:\n")); }

}  // namespace

std::string TraceText::add(const std::string& step, const std::string& program) {
  std::string text = step + "\n";
  const std::vector<Section> now = sections(program);
  if (last_.empty()) {
    text += program;
  } else {
    const std::vector<Section> before = sections(last_);
    const auto in = [](const std::vector<Section>& all, auto&& same) { return std::any_of(all.begin(), all.end(), same); };
    for (const Section s : before)
      if (!in(now, [&](Section other) { return name_of(other) == name_of(s); }))
        text += fmt::format("gone: {}\n", s.substr(s.find_first_not_of(' '), s.find('\n') - s.find_first_not_of(' ')));
    for (const Section s : now)
      if (!in(before, [&](Section other) { return other == s; })) text += s;
    parts_ = true;
  }
  last_ = program;
  return text + "\n";
}

}  // namespace ashlar::generator
