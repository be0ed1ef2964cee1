// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/files.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <ashlar/codegen/c.h>
#include <ashlar/codegen/launches.h>
#include <ashlar/codegen/tileir.h>
#include <ashlar/ir/tile.h>
#include <fmt/format.h>

#ifdef ASHLAR_HAS_LLVM
#include <ashlar/codegen/cache.h>
#endif

#include "generator/kits/cpp.h"
#include "generator/kits/jax.h"
#include "generator/kits/onnxruntime.h"
#include "generator/kits/python.h"
#include "generator/kits/rust.h"
#include "generator/kits/torch.h"

namespace ashlar::generator {

namespace fs = std::filesystem;

namespace {

#ifdef ASHLAR_HAS_LLVM
const codegen::Output* code_kind(OutputKind kind) {
  static constexpr codegen::Output object = codegen::Output::object, library = codegen::Output::static_library,
                                   assembly = codegen::Output::assembly, llvm = codegen::Output::llvm,
                                   spirv = codegen::Output::spirv, ptx = codegen::Output::ptx, cubin = codegen::Output::cubin;
  switch (kind) {
    case OutputKind::object:
      return &object;
    case OutputKind::static_library:
      return &library;
    case OutputKind::assembly:
      return &assembly;
    case OutputKind::llvm:
      return &llvm;
    case OutputKind::spirv:
      return &spirv;
    case OutputKind::ptx:
      return &ptx;
    case OutputKind::cubin:
      return &cubin;
    default:
      return nullptr;
  }
}
#endif

// A text for each target, under its name where there are several.
std::string joined(const Parts& p, std::string Part::* text) {
  if (p.parts.size() == 1) return p.parts[0].*text;
  std::string all;
  for (const Part& part : p.parts)
    all += fmt::format("{}---- {} ----\n{}", all.empty() ? "" : "\n", part.target.text(), part.*text);
  return all;
}

bool has_header(const std::vector<Output>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(), [](const Output& o) { return o.kind == OutputKind::header; });
}

// As other files include it: the one that is written beside them, else what it is called by default.
std::string header_name(const Parts& p, const std::vector<Output>& outputs) {
  std::string name = p.kernels[0].name + ".h";
  for (const Output& o : outputs)
    if (o.kind == OutputKind::header) name = fs::path(o.path).filename().string();
  return name;
}

// Beside a header that is written too, the C includes it; alone it declares what the header would.
std::string c_text(const Parts& p, const std::vector<Output>& outputs, const Output& own, bool line_tables) {
  codegen::c::Options options;
  if (has_header(outputs)) options.header = header_name(p, outputs);
  options.line_tables = line_tables;
  options.file = fs::path(own.path).filename().string();
  return codegen::c::source(p.kernels[0], p.parts[0].target, options);
}

// What there is of the one target with tiles.
void add_tiles(FileSet& files, const Parts& p, const Output& o, Where where) {
  for (std::size_t k = 0; k < p.parts.size(); ++k) {
    if (!p.parts[k].target.has_tiles()) continue;
    std::vector<ir::tile::Kernel> tiles;
    for (const ir::KStmt* s : codegen::launches_of(p.kernels[k])) tiles.push_back(*s->get<ir::KLaunch>().tile);
    if (o.kind == OutputKind::tileir) files.add(o.path, codegen::tileir::bytecode(tiles));
    if (o.kind == OutputKind::cubin) {
      const Target& target = p.parts[k].target;
      const char* chip = target.device().chip;
      if (*chip == '\0')
        refuse("cubin", "a target that names a chip, such as cuda-tile-sm_90", std::string(target.text()), where);
      files.add(o.path, codegen::tileir::cubin(codegen::tileir::bytecode(tiles), chip, where));
    }
    if (o.kind == OutputKind::tileir_text) {
      std::string text;
      for (const ir::tile::Kernel& one : tiles) text += (text.empty() ? "" : "\n") + ir::tile::text(one);
      files.add(o.path, std::move(text));
    }
  }
}

std::optional<std::string> kit_text(const Parts& p, OutputKind kind, const std::string& header) {
  const ir::Kernel& k = p.kernels[0];
  switch (kind) {
    case OutputKind::torch:
      return torch_c_text(k, p.facts, p.kit, header);
    case OutputKind::torch_python:
      return torch_python_text(k, p.facts, p.kit);
    case OutputKind::jax:
      return jax_c_text(k, p.facts, p.kit, header);
    case OutputKind::jax_python:
      return jax_python_text(k, p.facts, p.kit);
    case OutputKind::onnxruntime:
      return onnxruntime_c_text(k, p.facts, header);
    case OutputKind::python:
      return python_c_text(k, p.facts, header);
    case OutputKind::python_stub:
      return python_stub_text(k);
    case OutputKind::rust:
      return rust_text(k, p.facts);
    case OutputKind::cpp:
      return cpp_text(k, p.facts, p.kit.ns, header);
    default:
      return std::nullopt;
  }
}

}  // namespace

FileSet make_files(const Parts& p, const std::vector<Output>& outputs, bool line_tables, [[maybe_unused]] bool profile,
                   [[maybe_unused]] std::vector<PassTime>* times, Where where) {
  FileSet files;
  const auto of_tiles = [&](OutputKind kind) {  // written without LLVM
    const bool any = std::any_of(p.parts.begin(), p.parts.end(), [](const Part& part) { return part.target.has_tiles(); });
    return any && (kind == OutputKind::cubin || kind == OutputKind::tileir || kind == OutputKind::tileir_text);
  };
#ifdef ASHLAR_HAS_LLVM
  std::vector<codegen::Output> kinds;
  std::vector<std::string> paths;
  for (const Output& o : outputs)
    if (const codegen::Output* k = of_tiles(o.kind) ? nullptr : code_kind(o.kind)) kinds.push_back(*k), paths.push_back(o.path);
  if (!kinds.empty()) {
    codegen::Seconds seconds;
    std::vector<codegen::Variant> variants;
    for (std::size_t k = 0; k < p.parts.size(); ++k) variants.push_back({&p.kernels[k], p.parts[k].target});
    codegen::CacheUse use;
    std::vector<std::string> code =
        codegen::emit_cached(variants, kinds, &seconds, {.line_tables = line_tables, .profile = profile}, &use);
    for (std::size_t i = 0; i < code.size(); ++i) files.add(paths[i], std::move(code[i]));
    if (times && use.kind == codegen::CacheUse::Kind::hit)
      times->push_back({"code (cached)", 0});
    else if (times)
      times->push_back({"code", seconds.build * 1e3}), times->push_back({"llvm", seconds.llvm * 1e3});
  }
#endif
  for (const Output& o : outputs) {
    if (of_tiles(o.kind)) add_tiles(files, p, o, where);
    if (o.kind == OutputKind::program) files.add(o.path, joined(p, &Part::program));
    if (o.kind == OutputKind::schedule) files.add(o.path, joined(p, &Part::schedule));
    if (o.kind == OutputKind::schedule_cpp) files.add(o.path, joined(p, &Part::schedule_cpp));
    if (o.kind == OutputKind::choices) files.add(o.path, joined(p, &Part::choices));
    if (o.kind == OutputKind::c) files.add(o.path, c_text(p, outputs, o, line_tables));
    if (o.kind == OutputKind::explain) files.add(o.path, joined(p, &Part::explanation));
    if (o.kind == OutputKind::html) files.add(o.path, joined(p, &Part::page));
    if (o.kind == OutputKind::header) files.add(o.path, header_text(p.kernels, p.facts));
    if (std::optional<std::string> text = kit_text(p, o.kind, header_name(p, outputs))) files.add(o.path, std::move(*text));
  }
  return files;
}

}  // namespace ashlar::generator
