// Line tables: gdb stops at lines of blur_gen.cpp, says which stage it is in and which step made the loop around; the code is
// the same with and without them, and no folder of this machine is in what is written.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/skip.h"
#include "tests/source_dir.h"
#include "tests/support/shell.h"
#include "tests/support/text_parts.h"

namespace {

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

// "blur_gen.cpp:15", of the line that ends with "// mark: NAME".
std::string marked(const std::string& name) {
  std::ifstream in(source_dir() + "/tests/debugger/blur_gen.cpp");
  std::string text;
  for (int line = 1; std::getline(in, text); ++line)
    if (text.ends_with("// mark: " + name)) return "blur_gen.cpp:" + std::to_string(line);
  throw std::runtime_error("no line is marked " + name);
}

// What gdb says to its commands; empty where there is none that can be used, and the test is skipped.
std::string debugged(const std::string& program, const std::vector<std::string>& commands) {
  const std::string gdb = DEBUGGER;
  if (gdb.empty()) {
    skip::because("what a debugger shows", "gdb was not found");
    return {};
  }
  std::string call = gdb + " -batch -nx";
  for (const std::string& c : commands) call += " -ex '" + c + "'";
  const std::string said = test::shell(call + " " + program);
  if (said.find("ptrace: Operation not permitted") == std::string::npos) return said;
  skip::because("what a debugger shows", "processes may not be traced here");
  return {};
}

using text_parts::has;

// The object or C file that the generator writes.
std::string written(const std::string& kind, const std::string& options, const std::string& target = "x86-64-v3") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("made");
  test::shell(std::string(GENERATOR) + " -t " + target + " -e " + kind + "=" + file + " " + options);
  return contents(file);
}

std::vector<std::string> instructions(const std::string& assembly) {
  std::vector<std::string> all;
  std::istringstream in(assembly);
  bool code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("\t.section\t")) code = line.starts_with("\t.section\t.text");
    if (code && line.size() > 1 && line[0] == '\t' && line[1] != '.') all.push_back(line.substr(0, line.find('#')));
  }
  return all;
}

}  // namespace

TEST_CASE("a breakpoint at a line of the algorithm stops in its stage, whose caller is the loop's line in the schedule") {
  const std::string at = marked("beside");
  const std::string said = debugged(COMPILED, {"break " + at, "info line " + at, "run", "bt"});
  if (said.empty()) return;
  CAPTURE(said);
  const std::string line = at.substr(at.find(':') + 1);
  CHECK(has(said, "Line " + line + " of \"tests/debugger/blur_gen.cpp\" starts at address"));
  CHECK(has(said, "#0  along_x () at tests/debugger/" + at));
  CHECK(has(said, "#1  blur_worker () at tests/debugger/" + marked("columns")));
  CHECK(has(said, " at tests/debugger/" + marked("parallel")));  // the body calls its worker there
  CHECK(has(said, " in main ()"));
}

TEST_CASE("lines of one formula are told apart, and its definition's own is where it is stored") {
  for (const char* mark : {"mean", "along_x"}) {
    const std::string said = debugged(COMPILED, {"break " + marked(mark), "run", "bt"});
    if (said.empty()) return;
    CAPTURE(said);
    CHECK(has(said, "at tests/debugger/" + marked(mark)));
  }
}

TEST_CASE("a breakpoint at a step of the schedule stops at the loop that it made") {
  for (const char* mark : {"parallel", "rows", "columns"}) {
    const std::string said = debugged(COMPILED, {"break " + marked(mark), "run", "bt"});
    if (said.empty()) return;
    CAPTURE(said);
    CHECK(has(said, std::string("#0  blur") +
                        (mark == std::string("parallel") ? "" : "_worker () at tests/debugger/" + marked(mark))));
    CHECK(has(said, "at tests/debugger/" + marked(mark) + "\n"));
  }
}

TEST_CASE("the variables of the loops around are locals, with the values of the element that is computed") {
  const std::string said =
      debugged(COMPILED, {"break " + marked("along_y"), "run", "bt full", "echo LATER", "continue 40", "bt full"});
  if (said.empty()) return;
  CAPTURE(said);
  const std::size_t later = said.find("LATER");
  REQUIRE(later != std::string::npos);
  const std::string first = said.substr(0, later), second = said.substr(later);
  CHECK(has(first, "i0o = 0\n"));
  CHECK(has(first, "i0i = 0\n"));
  CHECK(has(second, "i0o = "));  // later, so no longer the first row of the first strip
  CHECK_FALSE((has(second, "i0o = 0\n") && has(second, "i0i = 0\n")));
}

TEST_CASE("in C the same lines come through the C compiler") {
  for (const char* mark : {"along_x", "columns", "parallel"}) {
    const std::string said = debugged(COMPILED_FROM_C, {"break " + marked(mark), "run", "bt"});
    if (said.empty()) return;
    CAPTURE(said);
    CHECK(has(said, "at tests/debugger/" + marked(mark) + "\n"));
    CHECK(has(said, "blur_body ("));
    CHECK(has(said, "blur.c:"));  // the checks have no line of the user's
  }
}

TEST_CASE("the instructions are the same with and without line tables") {
  for (const std::string target : {"x86-64", "x86-64-v3", "x86-64-v4", "aarch64", "aarch64+sve"}) {
    CAPTURE(target);
    auto plain = instructions(written("assembly", "", target));
    auto mapped = instructions(written("assembly", "--line-tables", target));
    CHECK(plain.size() > 100);
    if (target.starts_with("aarch64"))  // what lies on the stack is stored in another order, in pairs of other slots
      for (auto* list : {&plain, &mapped}) {
        for (std::string& i : *list) i = i.substr(1, i.find('\t', 1) - 1);
        std::sort(list->begin(), list->end());
      }
    const bool same = plain == mapped;
    CHECK(same);
  }
}

TEST_CASE("line tables are written when asked for, the same bytes each time, with no folder of this machine in them") {
  const std::string object = written("object", "--line-tables");
  CHECK(has(object, "tests/debugger/blur_gen.cpp"));
  CHECK_FALSE(has(object, source_dir()));
  CHECK_FALSE(has(object, "../"));
  CHECK(object == written("object", "--line-tables"));
  const std::string plain = written("object", "");
  CHECK_FALSE(has(plain, "blur_gen.cpp"));
  CHECK(plain.size() < object.size());
  const std::string c = written("c", "--line-tables");
  CHECK(has(c, "#line " + marked("beside").substr(13)) == false);  // a statement of C is the definition's
  CHECK(has(c, "#line " + marked("along_x").substr(13) + " \"tests/debugger/blur_gen.cpp\"\n"));
  CHECK_FALSE(has(c, source_dir()));
  CHECK_FALSE(has(written("c", ""), "#line"));
  // several targets: each variant has its own
  CHECK(has(written("object", "--line-tables -t x86-64-v4 -t x86-64"), "tests/debugger/blur_gen.cpp"));
}

TEST_CASE("what a replayed schedule makes has the lines of the algorithm alone") {
  const test::TemporaryFolder folder;
  const std::string saved = folder.file("saved.json");
  test::shell(std::string(GENERATOR) + " -t x86-64-v3 -e schedule=" + saved);
  const std::string c = written("c", "--line-tables --replay " + saved);
  std::istringstream in(c);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("#line") && !has(line, "\"made\"")) lines.push_back(line);
  CHECK(lines.size() > 4);
  for (const std::string& line : lines) {
    CAPTURE(line);
    const bool algorithm = has(line, "tests/debugger/blur_gen.cpp");
    CHECK(algorithm);
    CHECK(std::stoi(line.substr(6)) < std::stoi(marked("rows").substr(13)));
  }
}

// A line that no directive is meant for has its own number in the file.
TEST_CASE("directives lead back to the file itself, at the right line") {
  const std::string c = written("c", "--line-tables");
  std::istringstream in(c);
  std::string line;
  int number = 0, back = 0;
  while (std::getline(in, line)) {
    ++number;
    if (!line.starts_with("#line") || !line.ends_with(" \"made\"")) continue;
    ++back;
    CHECK(std::stoi(line.substr(6)) == number + 1);
  }
  CHECK(back > 0);
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("made.c")) << c;
  const std::string said = test::shell(std::string(C_COMPILER) +
                                       " -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -g -O1 -I" INCLUDE " -c -o " +
                                       folder.file("made.o") + " " + folder.file("made.c"));
  CHECK(said == "");
}

namespace {

// The block of docs/profiling.md that is marked so, line by line.
std::vector<std::string> shown(const std::string& mark) {
  std::istringstream in(contents(source_dir() + "/docs/profiling.md"));
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (inside && line == "```") return lines;
    if (inside) lines.push_back(line);
    if (line == "```" + mark) inside = true;
  }
  throw std::runtime_error("docs/profiling.md has no block that is marked " + mark);
}

// Addresses differ from build to build.
std::string without_addresses(const std::string& text) {
  std::string to;
  for (std::size_t k = 0; k < text.size(); ++k) {
    to += text[k];
    if (text[k] != 'x' || k == 0 || text[k - 1] != '0') continue;
    while (k + 1 < text.size() && std::isxdigit(static_cast<unsigned char>(text[k + 1]))) ++k;
  }
  return to;
}

}  // namespace

TEST_CASE("gdb says what docs/profiling.md shows") {
  std::vector<std::string> commands, expected;
  for (std::string line : shown("gdb")) {
    if (line.starts_with("$ ")) continue;
    if (!line.starts_with("(gdb) ")) {
      expected.push_back(line);
      continue;
    }
    if (const std::size_t at = line.find("~/ashlar"); at != std::string::npos) line.replace(at, 8, source_dir());
    commands.push_back(line.substr(6));
  }
  CHECK(commands.size() == 6);
  CHECK(expected.size() == 9);
  const std::string said = without_addresses(debugged(COMPILED, commands));
  if (said.empty()) return;
  CAPTURE(said);
  std::size_t at = 0;
  for (const std::string& line : expected) {
    const std::size_t found = said.find("\n" + without_addresses(line) + "\n", at);
    const bool there = found != std::string::npos || said.starts_with(without_addresses(line) + "\n");
    CHECK_MESSAGE(there, line);
    if (found != std::string::npos) at = found;
  }
}

TEST_CASE("perf finds the lines that docs/profiling.md shows") {
  const std::string perf = PERF;
  if (perf.empty()) return skip::because("what perf shows", "perf was not found");
  const test::TemporaryFolder folder;
  const std::string data = folder.file("perf.data");
  std::string said;
  try {
    test::shell(perf + " record -q -e cpu-clock -o " + data + " '" RECORDED "' repeat 400");
    said = test::shell(perf + " report -i " + data + " --stdio --sort sym,srcline");
  } catch (const std::exception& e) {
    return skip::because("what perf shows", "perf does not record here: " + std::string(e.what()).substr(0, 200));
  }
  CAPTURE(said);
  int lines = 0;
  for (const std::string& line : shown("perf")) {
    const std::size_t at = line.find("profile_gen.cpp:");
    if (at == std::string::npos) continue;
    CHECK_MESSAGE(has(said, line.substr(at)), line);
    ++lines;
  }
  CHECK(lines == 4);
}
