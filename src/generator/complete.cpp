// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/complete.h"

#include <algorithm>
#include <exception>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/lang/definition.h>
#include <ashlar/target/target.h>
#include <fmt/format.h>

#include "generator/command_line.h"
#include "generator/select.h"

namespace ashlar::generator {

namespace {

using Words = std::vector<std::string>;

Words generator_names() {
  Words names;
  for (const detail::Registration* r : registered()) names.emplace_back(r->name);
  return names;
}

Words kind_names() {
  Words names;
  for (const OutputKindInfo& k : output_kinds())
    if (back_end_missing(k.kind).empty()) names.emplace_back(k.name);
  return names;
}

// Of the generator that the words name, or of the only one; none where it cannot be made.
std::vector<detail::ParamInfo> params_of_words(std::span<const std::string> words) {
  std::string name;
  for (std::size_t k = 0; k + 1 < words.size(); ++k)
    if (words[k] == "-g" || words[k] == "--generator") name = words[k + 1];
  try {
    const detail::Registration& r = find_generator(name);
    lang::DefinitionScope definitions;
    return make_generator(r.make, r.name, Target::parse("x86-64"), {}).record->params;
  } catch (const std::exception&) { return {}; }
}

// The candidates behind a prefix; of a list with commas, those that it does not have yet.
Words matching(const Words& candidates, const std::string& prefix, const std::string& word, bool list) {
  const std::size_t comma = list ? word.rfind(',') : std::string::npos;
  const std::string before = comma == std::string::npos ? "" : word.substr(0, comma + 1), part = word.substr(before.size());
  Words found;
  for (const std::string& c : candidates)
    if (c.starts_with(part) && ("," + before).find("," + c + ",") == std::string::npos) found.push_back(prefix + before + c);
  return found;
}

Words values_of(const detail::ParamInfo& p) {
  if (!p.choices.empty()) return p.choices;
  return p.type == "bool" ? Words{"true", "false"} : Words{p.fallback};
}

}  // namespace

Words complete(std::span<const std::string> words) {
  const std::string word = words.empty() ? "" : words.back();
  const std::string option = words.size() < 2 ? "" : words[words.size() - 2];
  if (option == "-g" || option == "--generator" || option == "--prefer") return matching(generator_names(), "", word, false);
  if (option == "-e" || option == "--emit") return matching(kind_names(), "", word, true);
  if (option == "-t" || option == "--target") return matching(Target::names(), "", word, true);
  if (option == "--completion") return matching({"bash", "zsh", "fish"}, "", word, false);
  const Words options = option_names();
  if (takes_value(option)) return {};
  if (word.starts_with("-")) return matching(options, "", word, false);
  const std::size_t equal = word.find('=');
  const std::vector<detail::ParamInfo> params = params_of_words(words);
  if (equal != std::string::npos) {
    const std::string name = word.substr(0, equal), value = word.substr(equal + 1);
    if (name == "target") return matching(Target::names(), "target=", value, true);
    for (const detail::ParamInfo& p : params)
      if (p.name == name) return matching(values_of(p), name + "=", value, false);
    return {};
  }
  Words names{"target="};
  for (const detail::ParamInfo& p : params) names.push_back(p.name + "=");
  return matching(names, "", word, false);
}

std::string completion_script(const std::string& shell, const std::string& program) {
  std::string function = codegen::c_identifier(program);
  for (char& c : function)
    if (c == '-' || c == '.') c = '_';
  function = "_ashlar_complete_" + function;
  if (shell == "bash")
    return fmt::format(
        "# Completion of {0} in bash.\n"
        "{1}() {{\n"
        "  local line=${{COMP_LINE:0:COMP_POINT}} word\n"
        "  local -a words\n"
        "  read -ra words <<<\"$line\"\n"
        "  [[ $line == *[[:space:]] ]] && words+=(\"\")\n"
        "  word=${{words[-1]}}\n"
        "  mapfile -t COMPREPLY < <(\"${{words[0]}}\" --complete \"${{words[@]:1}}\" 2>/dev/null)\n"
        "  if [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then  # bash takes what is behind the = for a word\n"
        "    COMPREPLY=(\"${{COMPREPLY[@]#\"${{word%\"${{word##*=}}\"}}\"}}\")\n"
        "  fi\n"
        "  [[ ${{#COMPREPLY[@]}} == 1 && ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2>/dev/null\n"
        "  return 0\n"
        "}}\n"
        "complete -o default -F {1} {0}\n",
        program, function);
  if (shell == "zsh")
    return fmt::format(
        "#compdef {0}\n"
        "# Completion of {0} in zsh.\n"
        "{1}() {{\n"
        "  local -a found\n"
        "  found=(${{(f)\"$(\"${{words[1]}}\" --complete \"${{(@)words[2,CURRENT]}}\" 2>/dev/null)\"}})\n"
        "  if (( ${{#found}} )); then\n"
        "    compadd -Q -- ${{found:#*=}}\n"
        "    compadd -Q -S '' -- ${{(M)found:#*=}}\n"
        "  else\n"
        "    _files\n"
        "  fi\n"
        "}}\n"
        "if [[ $funcstack[1] == _{0} ]]; then {1} \"$@\"; else compdef {1} {0}; fi\n",
        program, function);
  if (shell == "fish")
    return fmt::format(
        "# Completion of {0} in fish.\n"
        "complete -c {0} -a '(set -l words (commandline -opc); $words[1] --complete $words[2..-1] (commandline -ct) "
        "2>/dev/null)'\n",
        program);
  throw UsageError(unknown("shell", shell, {"bash", "zsh", "fish"}));
}

}  // namespace ashlar::generator
