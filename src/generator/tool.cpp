// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/tool.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/library.h>
#include <ashlar/generator/generator.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/report/explain.h>
#include <ashlar/schedule/diff.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/choices/choices.h"
#include "generator/command_line.h"
#include "generator/complete.h"
#include "generator/files.h"
#include "generator/header.h"
#include "generator/notes.h"
#include "generator/pipeline.h"
#include "generator/target_params.h"
#include "generator/trace_text.h"
#include "generator/choices/tuned.h"
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

// Runs a generator with what was tuned for it. Where nothing fits, its usual schedule is taken, and a note says why.
Compilation run_tuned(const std::function<MadeGenerator(const Params&)>& make, const Params& asked, PipelineOptions options,
                      const CommandLine& c, const std::string& records, std::string& notes) {
  MadeGenerator usual = make(asked);
  const Target target = usual.record->target;
  const std::string key = algorithm_key(algorithm_of(std::move(usual), options));
  const auto note = [&](const std::string& text) {
    notes += fmt::format("note: {} for {}: {}\n", options.function, target.text(), text);
  };
  const std::optional<Tuned> tuned = find_tuned(records, c.tuned, key, target, c.sizes);
  if (!tuned) {
    note(fmt::format("{} has no schedule for it, so the usual one was taken", c.tuned));
    return run_pipeline(make(asked), options);
  }
  const auto has = [](const auto& all, const std::string& name) {
    return std::any_of(all.begin(), all.end(), [&](const auto& p) { return p.first == name; });
  };
  Params params = asked;
  for (const auto& p : tuned->parameters)
    if (!has(asked, p.first)) params.push_back(p);
  PipelineOptions with = options;
  with.decisions = tuned->decisions;  // what --choose says comes later, and counts
  with.decisions.insert(with.decisions.end(), options.decisions.begin(), options.decisions.end());
  with.refused = {};
  try {
    Compilation compilation = run_pipeline(make(params), with);
    std::string lost;
    for (const Decision& d : tuned->decisions) {
      const std::vector<Chosen> made = compilation.schedule->choices();
      const auto choice = std::find_if(made.begin(), made.end(), [&](const Chosen& m) { return m.name == d.name; });
      const bool decided =
          std::any_of(options.decisions.begin(), options.decisions.end(), [&](const Decision& o) { return o.name == d.name; });
      if (!decided && (choice == made.end() || choice->value != d.value))
        lost += fmt::format("{}{}={}", lost.empty() ? "" : ", ", d.name, d.value);
    }
    if (!lost.empty()) {
      note(fmt::format("{} decides what the schedule no longer chooses ({})", c.tuned, lost));
      return compilation;
    }
    note(fmt::format("tuned {}{}on {}: {:.2f} of the usual schedule's time", tuned->sizes.empty() ? "" : "for ",
                     tuned->sizes.empty() ? "" : tuned->sizes + " ", tuned->machine, tuned->ratio));
    return compilation;
  } catch (const RefusalError& e) {
    note(fmt::format("{} has a schedule that is refused, so the usual one was taken: {}", c.tuned, e.what()));
  } catch (const UsageError& e) {
    note(fmt::format("{} has a schedule that does not fit any longer, so the usual one was taken: {}", c.tuned, e.what()));
  }
  return run_pipeline(make(asked), options);
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
  const std::vector<Params> asked_choices = params_of(c.choices, targets, "--choose"),
                            choices_if = params_of(c.choices_if, targets, "--choose-if");
  const std::vector<std::string> replay_files = replays_of(c.replays, targets);
  std::vector<std::string> replays;
  for (const std::string& file : replay_files) replays.push_back(file.empty() ? "" : read_file(file));
  const std::string tuned = c.tuned.empty() ? "" : read_file(c.tuned, "--tuned");
  std::string tuned_notes;
  std::vector<PassTime> times;
  TraceText trace;
  if (c.trace)
    options.observe = [&](const std::string& step, const std::string& program) { result.out += trace.add(step, program); };

  const auto asked = [&](OutputKind kind) {
    return std::any_of(outputs.begin(), outputs.end(), [&](const Output& o) { return o.kind == kind; });
  };
  if (!c.sizes.empty() && !asked(OutputKind::explain) && !asked(OutputKind::html) && c.tuned.empty())
    throw UsageError("--size: expected -e explain or -e html, which count at it, or --tuned");
  if (!c.drawn.empty() && !asked(OutputKind::html)) throw UsageError("--draw: expected -e html, which draws a run of it");
  view::Options page{r.name, options.function, c.sizes, c.drawn, nullptr, r.where};
  if (asked(OutputKind::html) || asked(OutputKind::choices))
    options.refused = [&](const Compilation& until, const Refusal& refusal) {
      page.refused = &refusal;
      write_refused(until, page, outputs, result);
    };
  require_namespace(c, outputs);
  require_profile(c, outputs, targets);
  options.backward = c.backward, options.profile = c.profile;
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
    const char* const beside = !c.choices.empty()                        ? "--choose"
                               : !c.choices_if.empty()                   ? "--choose-if"
                               : c.seed                                  ? "--random-choices"
                               : !c.tuned.empty() && targets.size() == 1 ? "--tuned"
                                                                         : nullptr;
    if (beside && !options.replay.empty())
      throw UsageError(fmt::format("{}: expected no --replay beside it, which repeats what was chosen", beside));
    lang::DefinitionScope definitions;
    const auto make = [&](const Params& params) { return make_generator(r.make, r.name, target, params, r.where); };
    MadeGenerator made = make(asked_params[k]);
    require_back_end(targets, outputs);
    Compilation compilation = traced(trace, result, [&] {
      return tuned.empty() || !replays[k].empty() ? run_pipeline(std::move(made), options)
                                                  : run_tuned(make, asked_params[k], options, c, tuned, tuned_notes);
    });
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
    result.err += tuned_notes;
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
