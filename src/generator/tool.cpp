#include "generator/tool.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/generator/generator.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lower/explain.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#ifdef ASHLAR_HAS_LLVM
#include <ashlar/codegen/emit.h>
#endif

#include "generator/command_line.h"
#include "generator/header.h"
#include "generator/pipeline.h"

namespace ashlar::generator {

namespace fs = std::filesystem;

namespace {

Target one_target(const CommandLine& c) {
  if (c.targets.empty()) return Target::host();
  if (c.targets.size() > 1)
    throw UsageError(
        fmt::format("expected one target, found {}: a library holds code for one target; run the generator once for each",
                    fmt::join(c.targets, ", ")));
  try {
    return Target::parse(c.targets[0]);
  } catch (const RefusalError& e) {
    throw UsageError(fmt::format("target {}: expected {}, found {}; targets: {}", c.targets[0], e.refusal.expected,
                                 e.refusal.found, fmt::join(Target::names(), ", ")));
  }
}

std::string memory_of(const Target& t) {
  if (!t.is_gpu()) return "in host memory";
  return t.device().kind == Device::Kind::vulkan ? "in the memory of a Vulkan device" : "in the memory of a CUDA device";
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in || !text) throw UsageError(fmt::format("--replay {}: the file cannot be read", path));
  return text.str();
}

std::vector<Output> planned_outputs(const CommandLine& c, const std::string& function) {
  std::vector<Output> outputs = c.outputs;
  if (outputs.empty()) outputs = {{OutputKind::object, {}}, {OutputKind::header, {}}};
  for (Output& o : outputs) {
    if (o.path.empty()) o.path = fmt::format("{}/{}{}{}", c.directory, info(o.kind).prefix, function, info(o.kind).suffix);
  }
  for (std::size_t a = 0; a < outputs.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (fs::path(outputs[a].path).lexically_normal() == fs::path(outputs[b].path).lexically_normal())
        throw UsageError(fmt::format("-e {} and -e {} would both be {}", info(outputs[b].kind).name, info(outputs[a].kind).name,
                                     outputs[a].path));
  return outputs;
}

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

FileSet make_files(const Compilation& c, const std::vector<Output>& outputs, [[maybe_unused]] std::vector<PassTime>* times) {
  FileSet files;
#ifdef ASHLAR_HAS_LLVM
  std::vector<codegen::Output> kinds;
  std::vector<std::string> paths;
  for (const Output& o : outputs)
    if (const codegen::Output* k = code_kind(o.kind)) kinds.push_back(*k), paths.push_back(o.path);
  if (!kinds.empty()) {
    codegen::Seconds seconds;
    std::vector<std::string> code = codegen::emit(c.kernel, c.made.record->target, kinds, &seconds);
    for (std::size_t i = 0; i < code.size(); ++i) files.add(paths[i], std::move(code[i]));
    if (times) times->push_back({"code", seconds.build * 1e3}), times->push_back({"llvm", seconds.llvm * 1e3});
  }
#endif
  const GeneratorRecord& record = *c.made.record;
  for (const Output& o : outputs) {
    if (o.kind == OutputKind::program) files.add(o.path, c.schedule->text());
    if (o.kind == OutputKind::schedule) files.add(o.path, c.schedule->json());
    if (o.kind == OutputKind::explain) files.add(o.path, explain(c.kernel, c.made.record->target));
    if (o.kind == OutputKind::header) {
      HeaderFacts facts{
          record.name, {}, {std::string(record.target.text())}, record.target.os() != "none", memory_of(record.target)};
      for (const detail::ParamInfo& p : record.params) facts.params.emplace_back(p.name, p.value);
      files.add(o.path, header_text(c.kernel, facts));
    }
  }
  return files;
}

std::string times_text(const std::vector<PassTime>& times) {
  std::string text = fmt::format("{:<24} {:>10}\n", "pass", "CPU ms");
  double total = 0;
  for (const PassTime& t : times) text += fmt::format("{:<24} {:>10.3f}\n", t.pass, t.cpu_ms), total += t.cpu_ms;
  return text + fmt::format("{:<24} {:>10.3f}\n", "total", total);
}

void require_back_end([[maybe_unused]] const std::vector<Output>& outputs) {
#ifndef ASHLAR_HAS_LLVM
  for (const Output& o : outputs)
    if (o.kind == OutputKind::object || o.kind == OutputKind::static_library || o.kind == OutputKind::assembly ||
        o.kind == OutputKind::llvm || o.kind == OutputKind::spirv || o.kind == OutputKind::ptx || o.kind == OutputKind::cubin)
      throw UsageError(fmt::format("-e {}: this ashlar was built without LLVM; valid: header, program, schedule, explain",
                                   info(o.kind).name));
#endif
}

void generate(const CommandLine& c, ToolResult& result) {
  const detail::Registration& r = find_generator(c.generator);
  const Target target = one_target(c);
  PipelineOptions options;
  options.function = c.function.empty() ? r.name : c.function;
  if (codegen::c_identifier(options.function) != options.function)
    throw UsageError(fmt::format("\"{}\" cannot be the name of a C function; -f NAME gives another", options.function));
  const std::vector<Output> outputs = planned_outputs(c, options.function);
  if (!c.replay.empty()) options.replay = read_file(c.replay);
  std::vector<PassTime> times;
  if (c.time_passes) options.times = &times;
  if (c.trace)
    options.observe = [&](const std::string& step, const std::string& program) {
      result.out += fmt::format("{}\n{}\n", step, program);
    };

  lang::DefinitionScope definitions;
  MadeGenerator made = make_generator(r.make, r.name, target, c.params, r.where);
  require_back_end(outputs);
  Compilation compilation = run_pipeline(std::move(made), options);
  lower_kernel(compilation, options);
  FileSet files = make_files(compilation, outputs, options.times);
  {
    PassTimer timer(options.times, "files");
    files.commit();
  }
  if (c.time_passes) result.out += times_text(times);
}

}  // namespace

ToolResult run_tool(std::span<const std::string> arguments) {
  ToolResult result;
  auto failed = [&](int code, const char* text) {
    result.code = code;
    result.err += fmt::format("{}\n", text);
  };
  try {
    const CommandLine c = read_command_line(arguments);
    if (c.help)
      result.out = help_text();
    else if (c.version)
      result.out = fmt::format("ashlar {} (abi 1)\n", ASHLAR_VERSION);
    else if (c.list_targets)
      result.out = targets_text();
    else
      generate(c, result);
  } catch (const UsageError& e) { failed(2, e.what()); } catch (const RefusalError& e) {
    failed(1, e.what());
  } catch (const FileError& e) { failed(1, e.what()); } catch (const std::exception& e) {
    failed(3, e.what());
  }
  return result;
}

}  // namespace ashlar::generator

int ashlar::generator_main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
  const generator::ToolResult r = generator::run_tool(arguments);
  std::fputs(r.out.c_str(), stdout);
  std::fputs(r.err.c_str(), stderr);
  return r.code;
}
