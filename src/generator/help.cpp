// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --help and --list-targets: written from the same tables that the tool checks against.
#include <algorithm>
#include <cstring>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/target/target.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/command_line.h"
#include "generator/select.h"
#include "generator/target_params.h"
#include "generator/tool.h"
#include <ashlar/lang/definition.h>

namespace ashlar::generator {

namespace {

std::string params_text(const std::vector<detail::ParamInfo>& params) {
  std::size_t name_width = 0, type_width = 0;
  for (const detail::ParamInfo& p : params) {
    name_width = std::max(name_width, p.name.size() + 1 + p.fallback.size());
    type_width = std::max(type_width, p.type.size());
  }
  std::string text;
  for (const detail::ParamInfo& p : params) {
    std::string line = fmt::format("      {:<{}}  {:<{}}", p.name + "=" + p.fallback, name_width, p.type, type_width);
    if (!p.choices.empty()) line += fmt::format("  one of {}", fmt::join(p.choices, ", "));
    if (!p.range.empty()) line += fmt::format("  {}", p.range);
    if (!p.doc.empty()) line += fmt::format("{} {}", p.choices.empty() && p.range.empty() ? " " : ";", p.doc);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text.empty() ? "      no parameters\n" : text;
}

std::string params_text(const detail::Registration& r) {
  try {
    lang::DefinitionScope definitions;
    return params_text(make_generator(r.make, r.name, Target::parse("x86-64"), {}).record->params);
  } catch (const std::exception& e) {  // a generator that cannot be made is listed with the reason
    return fmt::format("      cannot be made: {}\n", e.what());
  }
}

// A line an argument, in the order of the C interface.
std::string arguments_text(const std::vector<lang::ArgumentRef>& arguments) {
  std::size_t width = 0;
  for (const lang::ArgumentRef& a : arguments)
    width = std::max<std::size_t>(width, a.tensor.empty() ? ir::text(a.scalar).size() : std::strlen(a.tensor.name()));
  std::string text;
  for (const lang::ArgumentRef& a : arguments) {
    if (a.tensor.empty()) {
      text += fmt::format("      {:<{}}  scalar  {}\n", ir::text(a.scalar), width, ir::text(a.scalar.type()));
      continue;
    }
    const lang::TensorDef& t = lang::tensor(a.tensor.id(), Where{});
    std::vector<std::string> extents;
    for (const lang::Bounds& b : t.shape) extents.push_back(ir::text(b.end));
    text +=
        fmt::format("      {:<{}}  {:<6}  {}[{}]\n", t.name, width, t.kind == lang::TensorDef::Kind::input ? "input" : "output",
                    ir::text(t.type), fmt::join(extents, ", "));
  }
  return text.empty() ? "      no arguments\n" : text;
}

std::string wrapped(const std::vector<std::string>& words, std::size_t indent) {
  std::string text, line(indent, ' ');
  for (const std::string& w : words) {
    if (line.size() > indent && line.size() + w.size() > 110) text += line + "\n", line.assign(indent, ' ');
    line += (line.size() > indent ? " " : "") + w;
  }
  return text + line + "\n";
}

}  // namespace

namespace {

std::string bytes_text(std::int64_t bytes) {
  return bytes % (1 << 20) == 0 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

}  // namespace

std::string targets_text() {
  std::string text = "targets: BASE[-SYSTEM][(+|-)FEATURE]..., GPU[-BASE][-SYSTEM][(+|-)FEATURE]...\n";
  std::vector<Architecture> architectures;
  for (const std::string& name : Target::names()) {
    const Target t = Target::parse(name);
    if (std::find(architectures.begin(), architectures.end(), t.architecture()) == architectures.end())
      architectures.push_back(t.architecture());
    if (t.is_gpu()) {
      text += fmt::format("  {:<16} a GPU, launched by x86-64, or by what follows: {}-aarch64\n", name, name);
      continue;
    }
    if (t.is_host()) {
      text += fmt::format("  {:<16} x86-64 with what this machine has\n", name);
      continue;
    }
    const std::string vectors =
        t.vector_bits() ? fmt::format("{} vectors of {} bits", t.vector_registers(), t.vector_bits()) : "no vectors";
    std::vector<std::string> caches;
    for (int level = 1; level <= 3 && t.cache_bytes(level) > 0; ++level) caches.push_back(bytes_text(t.cache_bytes(level)));
    text +=
        fmt::format("  {:<16} {:<13} {:<23} caches {:<22} for {}\n", name, t.cpu(), vectors,
                    caches.empty() ? "none" : fmt::format("{}", fmt::join(caches, " ")), fmt::join(Target::systems(name), " "));
    if (!t.instructions().empty()) text += wrapped(t.instructions(), 19);
    if (t.flushes_subnormals()) text += "                   vectors of floats take subnormal numbers for zero\n";
  }
  text += "a system that is not named is the first of those that a target is for; none: no operating system\n";
  for (const Architecture a : architectures)
    text += fmt::format("features of {}:\n{}", name_of(a), wrapped(Target::features(a), 2));
  return text + "features of devices for vulkan:\n" + wrapped(Target::vulkan_features(), 2);
}

namespace {

std::string short_targets_text() {
  return "targets, BASE[-SYSTEM][(+|-)FEATURE]... (--list-targets says what each has):\n" + wrapped(Target::names(), 2) +
         "features of x86-64:\n" + wrapped(Target::features(Architecture::x86_64), 2) + "features of devices for vulkan:\n" +
         wrapped(Target::vulkan_features(), 2);
}

}  // namespace

constexpr std::size_t most_in_full = 24;  // generators whose parameters --help prints; of more, what they are

std::string list_text() {
  std::vector<const detail::Registration*> all = registered();
  std::stable_sort(all.begin(), all.end(), [](const detail::Registration* a, const detail::Registration* b) {
    return std::string_view(a->group) < std::string_view(b->group);
  });
  std::size_t width = 0;
  for (const detail::Registration* r : all) width = std::max(width, std::strlen(r->name));
  std::string text;
  const char* group = "";
  for (const detail::Registration* r : all) {
    if (std::strcmp(group, r->group) != 0) text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", group = r->group);
    std::string line = fmt::format("  {:<{}}  {}", r->name, width, r->doc);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string generator_text(const CommandLine& c) {
  const detail::Registration& r = find_generator(c.generator, c.preferred);
  if (c.targets.size() > 1) throw UsageError("-g NAME --help: expected one target at most");
  const Target target = Target::parse(c.targets.empty() ? "x86-64" : c.targets[0]);
  lang::DefinitionScope definitions;
  const MadeGenerator made = make_generator(r.make, r.name, target, params_of(c.params, {target})[0], r.where);
  std::string text = r.name;
  if (*r.doc) text += fmt::format(": {}", r.doc);
  return text + fmt::format("\n   parameters:\n{}   arguments{}:\n{}", params_text(made.record->params),
                            c.params.empty() ? "" : " for these values", arguments_text(made.record->arguments));
}

std::vector<Example> examples() {
  std::string name = "NAME", param = "PARAMETER=VALUE";
  for (const detail::Registration* r : registered()) {
    std::vector<detail::ParamInfo> params;
    try {
      lang::DefinitionScope definitions;
      params = make_generator(r->make, r->name, Target::parse("x86-64"), {}).record->params;
    } catch (const std::exception&) { continue; }  // --help says why
    name = r->name;
    if (params.empty()) continue;
    param = params[0].name + "=" + params[0].fallback;
    break;
  }
  return {{fmt::format("-g {} -o out", name), "an object and its header for this machine"},
          {fmt::format("-g {} -o out -t x86-64-v4,x86-64-v3", name), "one library; each processor runs the best code for it"},
          {fmt::format("-g {} {} -e program=-,assembly=-", name, param), "the loops, and their code, to look at"},
          {fmt::format("-g {} --help {}", name, param), "the parameters of one generator, and its arguments for this value"}};
}

std::string help_text() {
  std::string text = "usage: GENERATOR -g NAME [-o DIR] [-e KIND,...] [target=TARGET,...] [PARAMETER=VALUE]...\n\n";
  text += options_help;
  const auto all = registered();
  if (all.size() > most_in_full) {
    text += "\ngenerators (-g NAME --help prints parameters):\n";
    text += list_text();
  } else {
    text += "\ngenerators and their parameters:\n";
    if (all.empty()) text += "  none\n";
    for (const detail::Registration* r : all) text += fmt::format("  {}\n{}", r->name, params_text(*r));
  }
  text += "\noutput kinds:\n";
  for (const OutputKindInfo& k : output_kinds())
    if (back_end_missing(k.kind).empty())
      text += fmt::format("  {:<15} {:<24} {}\n", k.name, fmt::format("{}FUNCTION{}", k.prefix, k.suffix), k.doc);
  for (const std::string& without : missing_back_ends()) text += fmt::format("  (this ashlar was built without {})\n", without);
  text += "\nexamples:\n";
  for (const Example& e : examples()) text += fmt::format("  GENERATOR {:<50} {}\n", e.arguments, e.what);
  return text + "\n" + short_targets_text();
}

}  // namespace ashlar::generator
