// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowered kernel and what back ends make of it, each line with the line of the kernel that it came from.
//
// The back ends write tables of lines. Here they are asked for tables that refer to the text of the kernel: a copy of it has,
// in the place of the user's lines, the lines of its own text.
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include <ashlar/codegen/c.h>
#include <ashlar/ir/placed_text.h>
#include <ashlar/ir/refusal.h>

#ifdef ASHLAR_HAS_LLVM
#include <ashlar/codegen/cache.h>
#endif

#include "generator/view/parts.h"
#include "generator/view/spirv_text.h"

namespace ashlar::generator::view {

namespace {

struct Pane {
  std::vector<std::string> lines;
  std::vector<int> of;  // line of the kernel, from 0; -1: none
  void add(std::string_view line, int kernel_line) { lines.emplace_back(line), of.push_back(kernel_line); }
};

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

Pane llvm(std::string_view text) {
  Pane pane;
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

// ---- assembly and PTX: ".loc 1 17 0" says where the lines behind it come from
bool is_noise(std::string_view line) {
  for (const char* start : {".loc", ".cfi_", ".file", ".ident", ".Ltmp", "$L__tmp", ".Lfunc", "$L__func", ".addrsig", ".size"})
    if (line.starts_with(start)) return true;
  return false;
}

Pane assembly(std::string_view text) {
  Pane pane;
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
Pane c_text(std::string_view text) {
  Pane pane;
  int of = -1;
  each_line(text, [&](std::string_view line) {
    if (line.starts_with("#line ")) {
      const auto n = number(line.substr(6));
      of = n && line.find(kernel_lines_file) != std::string_view::npos ? *n - 1 : -1;
      return;
    }
    pane.add(line, of);
  });
  return pane;
}

json shown(const char* name, const char* title, Pane pane) {
  return {{"name", name}, {"title", title}, {"lines", std::move(pane.lines)}, {"of", std::move(pane.of)}};
}

// The kernel with the lines of its own text as places. What the arguments have is the first line, so that no file of the user's
// is one of the kernel's.
ir::Kernel placed(const ir::Kernel& kernel) {
  ir::Kernel k = kernel;
  ir::place_at_lines(k, kernel_lines());
  for (auto& [id, b] : k.argument_buffers) b.where = kernel_lines()[0];
  return k;
}

#ifdef ASHLAR_HAS_LLVM
bool is_kind(const Target& t, Device::Kind kind) { return t.is_gpu() && t.device().kind == kind; }

void add_llvm(const ir::Kernel& k, const Target& target, json& panes) {
  const codegen::Variant variant{&k, target};
  std::vector<codegen::Output> kinds = {codegen::Output::llvm, codegen::Output::assembly};
  if (is_kind(target, Device::Kind::cuda)) kinds.push_back(codegen::Output::ptx);
  if (is_kind(target, Device::Kind::vulkan)) kinds.push_back(codegen::Output::spirv);
  const std::vector<std::string> texts = codegen::emit_cached({&variant, 1}, kinds, nullptr, {.line_tables = true});
  if (is_kind(target, Device::Kind::cuda)) panes.push_back(shown("ptx", "PTX", assembly(texts[2])));
  if (is_kind(target, Device::Kind::vulkan)) {
    Pane pane;
    const std::string text = spirv_text(texts[2]);
    each_line(text, [&](std::string_view line) { pane.add(line, -1); });
    panes.push_back(shown("spirv", "SPIR-V (no lines in it)", std::move(pane)));
  }
  panes.push_back(shown("llvm", target.is_gpu() ? "LLVM IR of the host" : "LLVM IR", llvm(texts[0])));
  panes.push_back(shown("assembly", target.is_gpu() ? "assembly of the host" : "assembly", assembly(texts[1])));
}
#endif

// C is for processors alone, and refuses what it has no text for; that is said in its pane.
void add_c(const ir::Kernel& k, const Target& target, json& panes) {
  if (target.is_gpu()) return;
  Pane pane;
  try {
    pane = c_text(codegen::c::source(k, target, {.header = k.name + ".h", .line_tables = true, .file = {}}));
  } catch (const RefusalError& e) { pane.add(std::string("not written: ") + e.what(), -1); }
  panes.push_back(shown("c", "C", std::move(pane)));
}

}  // namespace

json code(const Compilation& c, Sources& sources) {
  json panes = json::array();
  json places = json::array();
  Pane kernel;
  for (const ir::PlacedLine& l : ir::placed_text(c.kernel)) {
    kernel.add(l.text, static_cast<int>(kernel.lines.size()));
    places.push_back(sources.place(l.where));
  }
  json first = shown("kernel", "lowered kernel", std::move(kernel));
  first["places"] = std::move(places);
  panes.push_back(std::move(first));
  const Target& target = c.schedule->target();
  const ir::Kernel k = placed(c.kernel);
#ifdef ASHLAR_HAS_LLVM
  add_llvm(k, target, panes);
#endif
  add_c(k, target, panes);
  return panes;
}

}  // namespace ashlar::generator::view
