// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/tool.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/c.h>
#include <ashlar/codegen/launches.h>
#include <ashlar/codegen/library.h>
#include <ashlar/codegen/tileir.h>
#include <ashlar/generator/generator.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/tile.h>
#include <ashlar/report/explain.h>
#include <ashlar/schedule/diff.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#ifdef ASHLAR_HAS_LLVM
#include <ashlar/codegen/cache.h>
#endif

#include "generator/choices.h"
#include "generator/command_line.h"
#include "generator/complete.h"
#include "generator/header.h"
#include "generator/kits/cpp.h"
#include "generator/kits/jax.h"
#include "generator/kits/onnxruntime.h"
#include "generator/kits/python.h"
#include "generator/kits/rust.h"
#include "generator/kits/torch.h"
#include "generator/notes.h"
#include "generator/pipeline.h"
#include "generator/target_params.h"
#include "generator/trace_text.h"
#include "generator/view/view.h"

namespace ashlar::generator {

namespace fs = std::filesystem;

namespace {

void add_targets(const std::string& path) {
  try {
    Target::add_file(path);
  } catch (const RefusalError& e) {
    throw UsageError(fmt::format("--targets: expected {}, found {}", e.refusal.expected, e.refusal.found));
  }
}

std::vector<Target> targets_of(const CommandLine& c) {
  if (c.targets.empty()) return {Target::host()};
  std::vector<Target> targets;
  const std::vector<std::string> bases = Target::names();
  for (const std::string& name : c.targets) {
    if (std::none_of(bases.begin(), bases.end(), [&](const std::string& b) { return name.starts_with(b); }))
      throw UsageError(unknown("target", name, bases));
    try {
      targets.push_back(Target::parse(name));
    } catch (const RefusalError& e) {
      if (!nearest(name, bases).empty()) throw UsageError(unknown("target", name, bases));
      throw UsageError(fmt::format("target {}: expected {}, found {}", name, e.refusal.expected, e.refusal.found));
    }
    for (std::size_t k = 0; k + 1 < targets.size(); ++k)
      if (targets[k].text() == targets.back().text())
        throw UsageError(fmt::format("target {} is given twice", targets[k].text()));
  }
  try {
    return codegen::library_targets(std::move(targets));
  } catch (const RefusalError& e) {
    throw UsageError(
        fmt::format("targets {}: expected {}, found {}", fmt::join(c.targets, ", "), e.refusal.expected, e.refusal.found));
  }
}

// What is made for one target alone.
void require_one_target(const CommandLine& c, const std::vector<Target>& targets, const std::vector<Output>& outputs) {
  if (targets.size() < 2) return;
  std::vector<std::string> wrong;
  for (const Output& o : outputs)
    if (o.kind == OutputKind::schedule || o.kind == OutputKind::schedule_cpp || o.kind == OutputKind::c ||
        o.kind == OutputKind::html || o.kind == OutputKind::choices)
      wrong.emplace_back(fmt::format("-e {}", info(o.kind).name));
  if (!wrong.empty())
    throw UsageError(fmt::format("{}: expected one target, found {}: run the generator once for each", wrong[0],
                                 fmt::join(c.targets, ", ")));
}

std::string read_file(const std::string& path, const char* option = "--replay") {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) throw UsageError(fmt::format("{} {}: the file cannot be read", option, path));
  if (text.empty()) throw UsageError(fmt::format("{} {}: the file is empty", option, path));
  return text;
}

std::vector<Output> planned_outputs(const CommandLine& c, const std::string& function) {
  std::vector<Output> outputs = c.outputs;
  if (outputs.empty()) outputs = {{OutputKind::object, {}}, {OutputKind::header, {}}};
  for (Output& o : outputs) {
    if (o.path.empty()) o.path = fmt::format("{}/{}{}{}", c.directory, info(o.kind).prefix, function, info(o.kind).suffix);
    if (is_standard_output(o.path)) o.path = standard_output;
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

// What one target contributes. Kernels outlive the generator that described them.
struct Part {
  Target target;
  std::string program, schedule, schedule_cpp, choices, explanation, page;
};

struct Parts {
  std::vector<Part> parts;
  std::vector<ir::Kernel> kernels;  // in the same order
  std::vector<Params> params;       // every Param with its value, so too
  HeaderFacts facts;
  KitFacts kit;
};

void describe(const Target& target, HeaderFacts& facts) {
  const bool vulkan = target.is_gpu() && target.device().kind == Device::Kind::vulkan;
  facts.targets.emplace_back(target.text());
  facts.processors += target.is_gpu() ? 0 : 1;
  facts.hosted = target.os() != "none";
  facts.vulkan = facts.vulkan || vulkan;
  facts.cuda = facts.cuda || (target.is_gpu() && !vulkan);
  facts.host_memory = facts.host_memory || !target.is_gpu();
}

// Code for several targets is called through one header.
void require_one_interface(const Parts& p, Where where) {
  const std::string first = interface_text(p.kernels[0]);
  for (std::size_t k = 1; k < p.kernels.size(); ++k) {
    const std::string other = interface_text(p.kernels[k]);
    if (other == first) continue;
    std::istringstream a(first), b(other);
    std::string here, there;
    while (std::getline(a, here) && std::getline(b, there) && here == there) {}
    refuse("targets", fmt::format("the same interface for every target; for {}:\n{}", p.parts[0].target.text(), here),
           fmt::format("for {}:\n{}", p.parts[k].target.text(), there), where);
  }
}

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

std::string times_text(const std::vector<PassTime>& times) {
  std::string text = fmt::format("{:<24} {:>10}\n", "pass", "CPU ms");
  double total = 0;
  for (const PassTime& t : times) text += fmt::format("{:<24} {:>10.3f}\n", t.pass, t.cpu_ms), total += t.cpu_ms;
  return text + fmt::format("{:<24} {:>10.3f}\n", "total", total);
}

void require_back_end(const std::vector<Target>& targets, const std::vector<Output>& outputs) {
  std::vector<std::string> valid;
  for (const OutputKindInfo& k : output_kinds())
    if (back_end_missing(k.kind).empty()) valid.push_back(k.name);
  const bool shaders = std::any_of(targets.begin(), targets.end(),
                                   [](const Target& t) { return t.is_gpu() && t.device().kind == Device::Kind::vulkan; });
  for (const Output& o : outputs) {
    // code of a kernel for vulkan is its shaders
    const bool code =
        back_end_missing(OutputKind::object).empty() && (o.kind == OutputKind::object || o.kind == OutputKind::static_library ||
                                                         o.kind == OutputKind::assembly || o.kind == OutputKind::llvm);
    if (const std::string missing = back_end_missing(shaders && code ? OutputKind::spirv : o.kind); !missing.empty())
      throw UsageError(fmt::format("-e {}{}: this ashlar was built without {}; valid: {}", info(o.kind).name,
                                   shaders && code ? " for vulkan" : "", missing, fmt::join(valid, ", ")));
  }
}

std::vector<std::string> cuda_devices() {
  std::vector<std::string> names;
  for (const Device& d : Target::devices())
    if (d.kind == Device::Kind::cuda) names.emplace_back(d.name);
  return names;
}

// What only some targets have is asked of one that has it.
void require_kinds(const CommandLine& c, const std::vector<Target>& targets, const std::vector<Output>& outputs) {
  const auto count = [&](Device::Kind kind) {
    return std::count_if(targets.begin(), targets.end(),
                         [&](const Target& t) { return t.is_gpu() && t.device().kind == kind; });
  };
  const auto tiles = count(Device::Kind::tile), threads = count(Device::Kind::cuda), vulkan = count(Device::Kind::vulkan);
  const auto found = [&] {
    return fmt::format("{}", fmt::join(c.targets.empty() ? std::vector<std::string>{"host"} : c.targets, ", "));
  };
  for (const Output& o : outputs) {
    const auto refused = [&](const std::string& expected) {
      throw UsageError(fmt::format("-e {}: expected {}, found {}", info(o.kind).name, expected, found()));
    };
    const bool of_tiles = o.kind == OutputKind::tileir || o.kind == OutputKind::tileir_text,
               cubin = o.kind == OutputKind::cubin;
    if (of_tiles && tiles == 0) refused("a target with tiles, such as cuda-tile-sm_90");
    if (of_tiles && tiles > 1) refused("one target with tiles");
    if (cubin && tiles > 0 && tiles + threads > 1) refused("one target that is a CUDA device");
    if ((o.kind == OutputKind::ptx && threads == 0) || (cubin && tiles + threads == 0))
      refused(fmt::format("a target that is a CUDA device ({})", fmt::join(cuda_devices(), ", ")));
    if (o.kind == OutputKind::spirv && vulkan == 0) refused("a target that is vulkan");
    if (o.kind == OutputKind::c && tiles > 0) refused("a processor (the host of tiles is an object)");
  }
}

// Functions whose place a kernel's would take in a program: what starts it, what generated code and the runtime call, and what
// <math.h> and <stdlib.h> declare, which compilers know without it.
bool is_taken(std::string_view name) {
  static constexpr std::string_view taken[] = {
      "abort",    "abs",     "aligned_alloc", "calloc",  "close",     "div",     "dlclose",  "dlopen", "dlsym",
      "exit",     "fclose",  "fopen",         "free",    "getenv",    "ioctl",   "isfinite", "isinf",  "isnan",
      "isnormal", "labs",    "ldiv",          "longjmp", "main",      "malloc",  "memchr",   "memcmp", "memcpy",
      "memmove",  "memset",  "mmap",          "munmap",  "open",      "printf",  "qsort",    "rand",   "random",
      "read",     "realloc", "setjmp",        "signbit", "snprintf",  "sprintf", "strchr",   "strcmp", "strcpy",
      "strlen",   "strncmp", "strstr",        "strtol",  "vsnprintf", "write"};
  static constexpr std::string_view math[] = {
      // with f behind it too
      "acos",   "acosh",  "asin",      "asinh",     "atan",  "atan2",     "atanh",  "cbrt",   "ceil",  "copysign",
      "cos",    "cosh",   "erf",       "erfc",      "exp",   "exp10",     "exp2",   "expm1",  "fabs",  "fdim",
      "floor",  "fma",    "fmax",      "fmin",      "fmod",  "frexp",     "gamma",  "hypot",  "ilogb", "ldexp",
      "lgamma", "llrint", "llround",   "log",       "log10", "log1p",     "log2",   "logb",   "lrint", "lround",
      "modf",   "nan",    "nearbyint", "nextafter", "pow",   "remainder", "remquo", "rint",   "round", "scalbln",
      "scalbn", "sin",    "sincos",    "sinh",      "sqrt",  "tan",       "tanh",   "tgamma", "trunc"};
  const auto among = [](const auto& names, std::string_view n) {
    return std::find(std::begin(names), std::end(names), n) != std::end(names);
  };
  return among(taken, name) || among(math, name) || (name.ends_with('f') && among(math, name.substr(0, name.size() - 1)));
}

// A refusal speaks of the program as the steps before it left it, so that is printed whole.
template <class F>
auto traced(const TraceText& trace, ToolResult& result, F&& run) {
  try {
    return run();
  } catch (const RefusalError&) {
    result.out += trace.whole();
    throw;
  }
}

// Code of processors records itself, and C does not.
void require_profile(const CommandLine& c, const std::vector<Output>& outputs, const std::vector<Target>& targets) {
  if (!c.profile) return;
  for (const Output& o : outputs)
    if (o.kind == OutputKind::c) throw UsageError("--profile: expected code that LLVM makes, found -e c");
  for (const Target& t : targets)
    if (t.is_gpu() || t.os() == "none")
      throw UsageError(fmt::format("--profile: expected processors with an operating system, found {}", t.text()));
}

void require_namespace(const CommandLine& c, const std::vector<Output>& outputs) {
  for (const Output& o : outputs) {
    static constexpr OutputKind named[] = {OutputKind::torch, OutputKind::torch_python, OutputKind::jax, OutputKind::jax_python,
                                           OutputKind::cpp};
    if (std::find(std::begin(named), std::end(named), o.kind) == std::end(named)) continue;
    if (c.ns.empty() || codegen::c_identifier(c.ns) != c.ns)
      throw UsageError(fmt::format("-e {}: expected --namespace NAME, an identifier, found \"{}\"", info(o.kind).name, c.ns));
  }
}

// Two kinds of files are written of a schedule that is refused: the page, which shows why, and the choices until then.
void write_refused(const Compilation& c, const view::Options& options, const std::vector<Output>& outputs, ToolResult& result) {
  FileSet files;
  for (const Output& o : outputs) {
    if (o.kind == OutputKind::choices) files.add(o.path, choices_text(c.made.record->params, c.algorithm, *c.schedule));
    if (o.kind == OutputKind::html) {
      files.add(o.path, view::page(c, options));
      result.err += o.path == standard_output ? "" : fmt::format("{} shows the refusal\n", o.path);
    }
  }
  files.commit();
  result.out += files.for_standard_output();
}

void generate(const CommandLine& c, ToolResult& result) {
  const detail::Registration& r = find_generator(c.generator, c.preferred);
  const std::vector<Target> targets = targets_of(c);
  PipelineOptions options;
  options.function = c.function.empty() ? r.name : c.function;
  if (codegen::c_identifier(options.function) != options.function)
    throw UsageError(fmt::format("\"{}\" cannot be the name of a C function; -f NAME gives another", options.function));
  if (is_taken(options.function))
    throw UsageError(
        fmt::format("\"{}\" is a function of the C library; -f NAME (in CMake FUNCTION NAME) gives another", options.function));
  const std::vector<Output> outputs = planned_outputs(c, options.function);
  require_one_target(c, targets, outputs);
  require_kinds(c, targets, outputs);
  const std::vector<Params> asked_params = params_of(c.params, targets);
  const std::vector<Params> asked_choices = params_of(c.choices, targets), choices_if = params_of(c.choices_if, targets);
  const std::vector<std::string> replay_files = replays_of(c.replays, targets);
  std::vector<std::string> replays;
  for (const std::string& file : replay_files) replays.push_back(file.empty() ? "" : read_file(file));
  std::vector<PassTime> times;
  TraceText trace;
  if (c.trace)
    options.observe = [&](const std::string& step, const std::string& program) { result.out += trace.add(step, program); };

  const auto asked = [&](OutputKind kind) {
    return std::any_of(outputs.begin(), outputs.end(), [&](const Output& o) { return o.kind == kind; });
  };
  if (!c.sizes.empty() && !asked(OutputKind::explain) && !asked(OutputKind::html))
    throw UsageError("--size: expected -e explain or -e html, which count at it");
  if (!c.drawn.empty() && !asked(OutputKind::html)) throw UsageError("--draw: expected -e html, which draws a run of it");
  view::Options page{r.name, options.function, c.sizes, c.drawn, nullptr, r.where};
  if (asked(OutputKind::html) || asked(OutputKind::choices))
    options.refused = [&](const Compilation& until, const Refusal& refusal) {
      page.refused = &refusal;
      write_refused(until, page, outputs, result);
    };
  require_namespace(c, outputs);
  require_profile(c, outputs, targets);
  options.backward = c.backward;
  Parts p;
  bool by_default = false;
  std::string sums;  // the same of every target
  p.facts.generator = r.name, p.facts.host_memory = false;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const Target& target = targets[k];
    if (c.trace && targets.size() > 1) result.out += fmt::format("---- {} ----\n", target.text());
    trace = TraceText();
    std::vector<PassTime> passes;
    if (c.time_passes) options.times = &passes;
    options.replay = replays[k], options.replay_file = replay_files[k];
    options.decisions = decisions_of(asked_choices[k], true);
    for (const Decision& d : decisions_of(choices_if[k], false)) options.decisions.push_back(d);
    options.seed = c.seed;
    if ((!options.decisions.empty() || c.seed) && !options.replay.empty())
      throw UsageError(fmt::format("{}: expected no --replay beside it, which repeats what was chosen",
                                   c.seed ? "--random-choices" : "--choose"));
    lang::DefinitionScope definitions;
    MadeGenerator made = make_generator(r.make, r.name, target, asked_params[k], r.where);
    require_back_end(targets, outputs);
    Compilation compilation = traced(trace, result, [&] { return run_pipeline(std::move(made), options); });
    lower_kernel(compilation, options);
    if (k == 0) sums = narrow_sum_note(compilation.algorithm);
    Part& part = p.parts.emplace_back();
    part.target = target;
    if (asked(OutputKind::html)) part.page = view::page(compilation, page);
    if (asked(OutputKind::program)) part.program = compilation.schedule->text();
    if (asked(OutputKind::schedule)) part.schedule = compilation.schedule->json();
    if (asked(OutputKind::schedule_cpp)) part.schedule_cpp = compilation.schedule->to_cpp(options.function + "_schedule");
    if (asked(OutputKind::choices))
      part.choices = choices_text(compilation.made.record->params, compilation.algorithm, *compilation.schedule);
    if (asked(OutputKind::explain))
      part.explanation = target.is_gpu() ? explain(compilation.kernel, target, c.sizes, r.where)
                                         : explain(*compilation.schedule, c.sizes, r.where);
    describe(target, p.facts);
    p.kit = {c.ns, c.of, compilation.kept, compilation.weights};
    Params& params = p.params.emplace_back();
    by_default = by_default || compilation.made.record->by_default;
    for (const detail::ParamInfo& param : compilation.made.record->params) params.emplace_back(param.name, param.value);
    p.kernels.push_back(std::move(compilation.kernel));
    for (PassTime& t : passes)
      times.push_back({targets.size() > 1 ? fmt::format("{}: {}", target.text(), t.pass) : t.pass, t.cpu_ms});
  }
  if (c.time_passes) options.times = &times;
  require_one_interface(p, r.where);
  p.facts.params = joined_params(p.params, targets);
  FileSet files = make_files(p, outputs, c.line_tables, c.profile, options.times, r.where);
  {
    PassTimer timer(options.times, "files");
    files.commit();
    result.out += files.for_standard_output();
  }
  if (!c.quiet) {
    if (by_default) result.err += default_schedule_note(r.name);
    result.err += sums;
    const bool code = std::any_of(outputs.begin(), outputs.end(), [](const Output& o) { return o.kind != OutputKind::c; });
    if (code) result.err += fma_note(options.function, p.kernels, targets);
  }
  if (c.time_passes) result.out += times_text(times);
}

// Both schedules are replayed on the algorithm, which has the names.
void compare(const CommandLine& c, ToolResult& result) {
  const detail::Registration& r = find_generator(c.generator, c.preferred);
  const std::vector<Target> targets = targets_of(c);
  if (targets.size() != 1) throw UsageError(fmt::format("--diff: expected one target, found {}", fmt::join(c.targets, ", ")));
  if (!c.outputs.empty() || !c.replays.empty())
    throw UsageError("--diff writes no files: expected no -e and no --replay beside it");
  lang::DefinitionScope definitions;
  std::vector<Compilation> both;
  for (const std::string& file : c.diff) {
    PipelineOptions options;
    options.function = r.name;
    options.replay = read_file(file, "--diff"), options.replay_file = file, options.replay_option = "--diff";
    both.push_back(run_pipeline(make_generator(r.make, r.name, targets[0], params_of(c.params, targets)[0], r.where), options));
  }
  const ScheduleDiff d = diff(*both[0].schedule, *both[1].schedule);
  result.out += d.text;
  if (!d.equal) result.code = 4;
}

}  // namespace

ToolResult run_tool(std::span<const std::string> arguments, const std::string& program) {
  ToolResult result;
  auto failed = [&](int code, const char* text) {
    result.code = code;
    result.err += fmt::format("{}\n", text);
  };
  try {
    if (!arguments.empty() && arguments[0] == "--complete") {
      for (const std::string& word : complete(arguments.subspan(1))) result.out += word + "\n";
      return result;
    }
    const CommandLine c = read_command_line(arguments);
    for (const std::string& path : c.target_files) add_targets(path);
    if (c.help)
      result.out = c.generator.empty() ? help_text() : generator_text(c);
    else if (c.man)
      result.out = man_text(program);
    else if (!c.completion.empty())
      result.out = completion_script(c.completion, program);
    else if (c.list)
      result.out = list_text();
    else if (c.version)
      result.out = fmt::format("ashlar {} (abi 1)\n", ASHLAR_VERSION);
    else if (c.list_targets)
      result.out = targets_text();
    else if (!c.diff.empty())
      compare(c, result);
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
  const std::string program = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  const generator::ToolResult r = generator::run_tool(arguments, program);
  std::fputs(r.err.c_str(), stderr);
  const bool whole = std::fwrite(r.out.data(), 1, r.out.size(), stdout) == r.out.size();
  if (std::fflush(stdout) == 0 && whole) return r.code;
  std::fprintf(stderr, "cannot write standard output: %s\n", std::strerror(errno));
  return r.code == 0 ? 1 : r.code;
}
