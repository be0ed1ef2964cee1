// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/view/listings.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace ashlar::generator::view {

namespace {

template <class F>
void each_line(std::string_view text, F&& f) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    f(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  return s;
}

std::optional<int> number(std::string_view s) {
  int n = 0;
  const auto r = std::from_chars(s.data(), s.data() + s.size(), n);
  return r.ec == std::errc() ? std::optional(n) : std::nullopt;
}

// The number behind `key` in a line: number_after("… line: 17, …", "line: ").
std::optional<int> number_after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? std::nullopt : number(line.substr(at + key.size()));
}

// ---- LLVM IR: "…, !dbg !17" and "!17 = !DILocation(line: 5, scope: !12, inlinedAt: !15)"
class Locations {
 public:
  explicit Locations(std::string_view text) {
    each_line(text, [&](std::string_view line) {
      if (!line.starts_with('!')) return;
      const auto id = number(line.substr(1));
      if (id && line.find("= !DILocation(") != std::string_view::npos) lines_[*id] = number_after(line, "line: ").value_or(0);
    });
  }
  // The metadata of an instruction, or of the definition of a function (which has no place).
  int of(std::string_view line) const {
    const auto id = number_after(line, "!dbg !");
    const auto at = id ? lines_.find(*id) : lines_.end();
    return at == lines_.end() ? -1 : at->second - 1;
  }

 private:
  std::map<int, int> lines_;
};

}  // namespace

Listing llvm_listing(std::string_view text) {
  Listing pane;
  const Locations locations(text);
  bool empty = true;
  each_line(text, [&](std::string_view line) {
    if (line.starts_with('!') || line.starts_with("attributes #") || trimmed(line).starts_with("#dbg_")) return;
    const int of = locations.of(line);
    if (const std::size_t dbg = line.find(", !dbg !"); dbg != std::string_view::npos) {
      const std::size_t end = std::min(line.find_first_of(", ", dbg + 8), line.size());
      std::string without(line.substr(0, dbg));
      if (end < line.size()) without += line.substr(end);
      pane.add(without, of);
    } else if (!line.empty() || !empty) {
      std::string without(line);
      if (const std::size_t at = without.find(" !dbg !"); at != std::string::npos)
        without.erase(at, without.find(' ', at + 7) - at);  // of a function
      pane.add(without, -1);
    }
    empty = line.empty();
  });
  while (!pane.lines.empty() && pane.lines.back().empty()) pane.lines.pop_back(), pane.of.pop_back();
  return pane;
}

namespace {

// ---- assembly and PTX: ".loc 1 17 0" says where the lines behind it come from
bool is_noise(std::string_view line) {
  for (const char* start : {".loc", ".cfi_", ".file", ".ident", ".Ltmp", "$L__tmp", ".Lfunc", "$L__func", ".addrsig", ".size"})
    if (line.starts_with(start)) return true;
  return false;
}

}  // namespace

Listing assembly_listing(std::string_view text) {
  Listing pane;
  int of = -1;
  bool tables = false;  // in a section of the tables themselves
  each_line(text, [&](std::string_view line) {
    const std::string_view what = trimmed(line);
    if (what.starts_with(".section")) tables = what.find(".debug") != std::string_view::npos;
    if (what == ".text" || what.starts_with(".text")) tables = false;
    if (tables || what.empty()) return;
    if (what.starts_with(".loc")) {
      const std::string_view rest = trimmed(what.substr(4));
      const std::size_t space = rest.find_first_of(" \t");
      of = space == std::string_view::npos ? -1 : number(trimmed(rest.substr(space))).value_or(0) - 1;
      return;
    }
    if (is_noise(what)) return;
    const bool label =
        what.find(':') != std::string_view::npos && what.front() != '\t' && line.front() != '\t' && line.front() != ' ';
    const bool directive = what.starts_with('.') && !label;
    if (label && !what.starts_with(".L") && !what.starts_with("$L")) of = -1;  // another function
    pane.add(line, label || directive ? -1 : of);
  });
  return pane;
}

// ---- C: "#line 17 "kernel_lines.cpp"" in front of what it is about
Listing c_listing(std::string_view text, std::string_view file) {
  Listing pane;
  int of = -1;
  each_line(text, [&](std::string_view line) {
    if (line.starts_with("#line ")) {
      const auto n = number(line.substr(6));
      of = n && line.find(file) != std::string_view::npos ? *n - 1 : -1;
      return;
    }
    pane.add(line, of);
  });
  return pane;
}

// ---- SPIR-V: "OpLine %3 17 0" says where the instructions behind it come from, to the end of their block
Listing spirv_listing(std::string_view text) {
  Listing pane;
  int of = -1;
  each_line(text, [&](std::string_view line) {
    const std::string_view what = trimmed(line);
    if (what.starts_with("OpLine ")) {
      const std::string_view rest = what.substr(7);
      const std::size_t space = rest.find(' ');
      of = space == std::string_view::npos ? -1 : number(rest.substr(space + 1)).value_or(0) - 1;
      return;
    }
    if (what.starts_with("OpNoLine")) of = -1;
    if (what.starts_with("OpNoLine") || what.find("= OpString ") != std::string_view::npos) return;
    const bool begins = what.find("= OpLabel") != std::string_view::npos || what.starts_with("OpFunctionEnd");
    if (begins) of = -1;
    pane.add(line, begins ? -1 : of);
  });
  return pane;
}

}  // namespace ashlar::generator::view
