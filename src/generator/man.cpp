// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --man: the help as a man page, from the same tables.
#include <cctype>
#include <cstring>
#include <sstream>

#include <ashlar/target/target.h>
#include <fmt/format.h>

#include "generator/command_line.h"
#include "generator/select.h"
#include "generator/tool.h"

namespace ashlar::generator {

namespace {

// Text as roff: hyphens that are typed, no line that begins a request, no backslash that begins an escape.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string entry(std::string_view name, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(text));
}

// The lines of options_help: a name from column 2, what it does from column 26, perhaps on further lines.
std::string options_section() {
  std::string text, name, what;
  std::istringstream lines(options_help);
  const auto done = [&] {
    if (!name.empty()) text += entry(name, what);
  };
  for (std::string line; std::getline(lines, line);) {
    const std::size_t column = std::min<std::size_t>(26, line.size());
    std::string left = line.substr(0, column);
    left.erase(left.find_last_not_of(' ') + 1);
    if (left.empty()) {
      what += " " + line.substr(column);
      continue;
    }
    done();
    name = left.substr(left.find_first_not_of(' ')), what = line.substr(column);
  }
  done();
  return text;
}

}  // namespace

std::string man_text(const std::string& program) {
  std::string upper = program;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string t = fmt::format(
      ".TH {} 1 \"\" \"Ashlar {}\" \"User Commands\"\n.SH NAME\n{} \\- makes kernels of tensor operators\n.SH SYNOPSIS\n.B {}\n"
      "\\-g NAME [\\-o DIR] [\\-e KIND,...] [target=TARGET,...] [PARAMETER=VALUE]...\n.SH DESCRIPTION\n"
      "Runs one of its generators, which describe tensor operators and their schedules in the language of Ashlar, and writes "
      "the\n"
      "kernel that it makes: an object file and a C header, or other kinds of output. All files of a run are written, or "
      "none.\n",
      roff(upper), ASHLAR_VERSION, roff(program), roff(program));
  t += ".SH OPTIONS\n" + options_section() + ".SH GENERATORS\n";
  for (const detail::Registration* r : registered()) t += entry(r->name, *r->doc ? r->doc : "\\-");
  t += ".SH OUTPUT KINDS\n";
  for (const OutputKindInfo& k : output_kinds())
    if (back_end_missing(k.kind).empty()) t += entry(fmt::format("{} ({}FUNCTION{})", k.name, k.prefix, k.suffix), k.doc);
  t += ".SH TARGETS\nBASE[\\-SYSTEM][(+|\\-)FEATURE]...; \\-\\-list\\-targets says what each has:\n";
  for (const std::string& name : Target::names()) t += roff(name) + "\n";
  t += ".SH EXAMPLES\n";
  for (const Example& e : examples()) t += entry(fmt::format("{} {}", program, e.arguments), e.what);
  return t + ".SH EXIT STATUS\n" + entry("0", "done") +
         entry("1", "refused, at the user's line: an illegal schedule, a wrong algorithm, a file that cannot be written") +
         entry("2", "the command line names something that does not exist") + entry("3", "a bug of the compiler") +
         entry("4", "schedules that --diff compares differ");
}

}  // namespace ashlar::generator
