// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowered kernel and what back ends make of it, each line with the line of the kernel that it came from.
//
// The back ends write tables of lines. Here they are asked for tables that refer to the text of the kernel: a copy of it has,
// in the place of the user's lines, the lines of its own text.
#include <ashlar/codegen/c.h>
#include <ashlar/codegen/launches.h>
#include <ashlar/ir/placed_text.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/tile.h>

#ifdef ASHLAR_HAS_LLVM
#include <ashlar/codegen/cache.h>
#endif

#include "generator/view/listings.h"
#include "generator/view/parts.h"
#include "generator/view/spirv_text.h"

namespace ashlar::generator::view {

namespace {

json shown(const char* name, const char* title, Listing pane) {
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
  if (is_kind(target, Device::Kind::cuda)) panes.push_back(shown("ptx", "PTX", assembly_listing(texts[2])));
  if (is_kind(target, Device::Kind::vulkan)) panes.push_back(shown("spirv", "SPIR-V", spirv_listing(spirv_text(texts[2]))));
  panes.push_back(shown("llvm", target.is_gpu() ? "LLVM IR of the host" : "LLVM IR", llvm_listing(texts[0])));
  panes.push_back(shown("assembly", target.is_gpu() ? "assembly of the host" : "assembly", assembly_listing(texts[1])));
}
#endif

// C is for processors alone, and refuses what it has no text for; that is said in its pane.
void add_c(const ir::Kernel& k, const Target& target, json& panes) {
  if (target.is_gpu()) return;
  Listing pane;
  try {
    pane =
        c_listing(codegen::c::source(k, target, {.header = k.name + ".h", .line_tables = true, .file = {}}), kernel_lines_file);
  } catch (const RefusalError& e) { pane.add(std::string("not written: ") + e.what(), -1); }
  panes.push_back(shown("c", "C", std::move(pane)));
}

}  // namespace

namespace {

// Of a target with tiles: the tile kernels as text, whose lines stand for lines of the user's.
json tiles(const Compilation& c, Sources& sources) {
  Listing text;
  json places = json::array();
  for (const ir::KStmt* launch : codegen::launches_of(c.kernel)) {
    if (!text.lines.empty()) text.add("", -1), places.push_back(nullptr);
    for (const ir::PlacedLine& l : ir::placed_text(*launch->get<ir::KLaunch>().tile)) {
      places.push_back(sources.place(l.where));
      text.add(l.text, places.back().is_null() ? -1 : static_cast<int>(text.lines.size()));
    }
  }
  json pane = shown("kernel", "tile kernels", std::move(text));
  pane["places"] = std::move(places);
  return json::array({std::move(pane)});
}

}  // namespace

json code(const Compilation& c, Sources& sources) {
  if (c.schedule->target().has_tiles()) return tiles(c, sources);
  json panes = json::array();
  json places = json::array();
  Listing kernel;
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
