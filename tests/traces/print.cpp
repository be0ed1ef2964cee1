// print_traces FILE: writes C++ that schedules each case by the text of its trace.
#define DOCTEST_CONFIG_IMPLEMENT  // headers of the cases hold checks, which nothing runs here
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>

#include <ashlar/schedule/cpp_text.h>

#include "cases.h"

namespace {

std::string call(const ashlar::schedule::CppText& text, const std::string& function) {
  std::string arguments = "s";
  std::size_t count[3] = {};
  for (const auto& p : text.parameters) {
    static constexpr const char* lists[] = {"tensors", "exprs", "intrinsics"};
    const auto kind = static_cast<std::size_t>(p.kind);
    arguments += std::string(", h.") + lists[kind] + "[" + std::to_string(count[kind]++) + "]";
  }
  return std::string("[](ashlar::Schedule& s, const Handles& ") + (text.parameters.empty() ? "" : "h") + ") { " + function +
         "(" + arguments + "); }";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: print_traces FILE\n"), 2;
  std::string functions, table;
  int n = 0;
  try {
    for (const traces::Case& c : traces::cases())
      c.make([&](const ashlar::lang::Built&, const ashlar::Schedule& s) {
        const std::string function = "schedule_" + std::to_string(n++);
        const auto text = ashlar::schedule::cpp_text(s.algorithm(), s.scheduled().trace, s.target(), function);
        functions += "// " + c.name + "\n" + text.text + "\n";
        table += "    {\"" + c.name + "\", " + call(text, function) + "},\n";
      });
  } catch (const std::exception& e) { return std::fprintf(stderr, "print_traces: %s\n", e.what()), 1; }
  std::ofstream out(argv[1], std::ios::binary);
  out << "#include \"tests/traces/cases.h\"\n\n"
      << functions << "namespace traces {\nstd::span<const Printed> printed() {\n  static const Printed table[] = {\n"
      << table << "  };\n  return table;\n}\n}  // namespace traces\n";
  out.close();
  return out ? 0 : (std::fprintf(stderr, "print_traces: %s cannot be written\n", argv[1]), 1);
}
