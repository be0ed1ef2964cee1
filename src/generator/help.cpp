// --help and --list-targets: written from the same tables that the tool checks against.
#include <algorithm>

#include <ashlar/schedule/target.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/command_line.h"
#include "generator/select.h"
#include "generator/tool.h"

namespace ashlar::generator {

namespace {

std::string params_text(const detail::Registration& r) {
  try {
    lang::DefinitionScope definitions;
    const MadeGenerator made = make_generator(r.make, r.name, Target::parse("x86-64"), {});
    std::size_t name_width = 0, type_width = 0;
    for (const detail::ParamInfo& p : made.record->params) {
      name_width = std::max(name_width, p.name.size() + 1 + p.fallback.size());
      type_width = std::max(type_width, p.type.size());
    }
    std::string text;
    for (const detail::ParamInfo& p : made.record->params) {
      std::string line = fmt::format("      {:<{}}  {:<{}}", p.name + "=" + p.fallback, name_width, p.type, type_width);
      if (!p.choices.empty()) line += fmt::format("  one of {}", fmt::join(p.choices, ", "));
      if (!p.range.empty()) line += fmt::format("  {}", p.range);
      if (!p.doc.empty()) line += fmt::format("{} {}", p.choices.empty() && p.range.empty() ? " " : ";", p.doc);
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text.empty() ? "      no parameters\n" : text;
  } catch (const std::exception& e) {  // a generator that cannot be made is listed with the reason
    return fmt::format("      cannot be made: {}\n", e.what());
  }
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

std::string targets_text() {
  std::string text = "targets: BASE[-OS][(+|-)FEATURE]...\n";
  text += wrapped(Target::names(), 2);
  text += "systems: linux (the default), none\nfeatures:\n";
  text += wrapped(Target::features(Architecture::x86_64), 2);
  return text + "features of aarch64:\n" + wrapped(Target::features(Architecture::aarch64), 2);
}

std::string help_text() {
  std::string text = "usage: GENERATOR -g NAME [-o DIR] [-e KIND,...] [target=TARGET,...] [PARAMETER=VALUE]...\n\n";
  text += options_help;
  text += "\ngenerators and their parameters:\n";
  const auto all = registered();
  if (all.empty()) text += "  none\n";
  for (const detail::Registration* r : all) text += fmt::format("  {}\n{}", r->name, params_text(*r));
  text += "\noutput kinds:\n";
  for (const OutputKindInfo& k : output_kinds())
    text += fmt::format("  {:<15} {:<24} {}\n", k.name, fmt::format("{}FUNCTION{}", k.prefix, k.suffix), k.doc);
  return text + "\n" + targets_text();
}

}  // namespace ashlar::generator
