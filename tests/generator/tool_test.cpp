// The command line tool, in process: what it writes, what it refuses and with which words and code, and that a refusal writes
// nothing.
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "generator/tool.h"
#include "tests/generator/samples.h"
#include "tests/golden.h"

using ashlar::generator::run_tool;
using ashlar::generator::ToolResult;
namespace fs = std::filesystem;

namespace {

struct Folder {  // a fresh one, removed at the end
  explicit Folder(const std::string& name)
      : path(fs::temp_directory_path() / ("ashlar." + std::to_string(::getpid()) + "." + name)) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& file) const { return (path / file).string(); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(path)) names.push_back(fs::relative(entry.path(), path).string());
    std::sort(names.begin(), names.end());
    return names;
  }
  fs::path path;
};

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

ToolResult tool(std::vector<std::string> arguments) { return run_tool(arguments); }

// What the tool says of `arguments`, all of which it refuses: the code and the message. Nothing may be written.
std::string misused(const std::vector<std::string>& arguments) {
  const ToolResult r = tool(arguments);
  CHECK(r.code == 2);
  return r.err;
}

std::string refusal_of(std::vector<std::string> arguments) {
  Folder folder("refused");
  std::string line = "$ gen";
  for (const std::string& a : arguments) line += " " + a;
  arguments.insert(arguments.end(), {"-o", folder.path.string()});
  const ToolResult r = tool(arguments);
  CHECK(r.out == "");
  CHECK(folder.files().empty());
  return line + "\n" + std::to_string(r.code) + ": " + r.err;
}

}  // namespace

TEST_CASE("--help lists generators, parameters, output kinds and targets") {
  const ToolResult r = tool({"--help"});
  CHECK(r.code == 0);
  CHECK(r.err == "");
  CHECK(golden("generator/help.txt", r.out) == "");
}

TEST_CASE("--list-targets and --version") {
  CHECK(golden("generator/targets.txt", tool({"--list-targets"}).out) == "");
  CHECK(tool({"--version"}).out == "ashlar 0.1.0 (abi 1)\n");
}

TEST_CASE("what does not exist is answered with what does, and code 2") {
  std::string text;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"-g", "scael"},
           {},
           {"-g", "scale", "target=x86-64-v5"},
           {"-g", "scale", "target=x86-64+avx9"},
           {"-g", "scale", "-t", "x86-64,x86-64-v3,x86-64"},
           {"-g", "scale", "-t", "x86-64,x86-64-v5"},
           {"-g", "scale", "-t", "x86-64-v4", "-t", "x86-64-v4+avx2"},
           {"-g", "scale", "-t", "armv7,armv7+flush"},
           {"-g", "scale", "-t", "riscv64,riscv64+zfh"},
           {"-g", "scale", "-t", "aarch64,x86-64"},
           {"-g", "scale", "-t", "x86-64-windows,x86-64-v3"},
           {"-g", "scale", "-t", "x86-64-windows,sapphire-rapids-windows"},
           {"-g", "scale", "-t", "aarch64-macos,aarch64-macos+dotprod"},
           {"-g", "scale", "target=vulkan,vulkan+avx2,x86-64"},
           {"-g", "scale", "target=cuda-sm_80+avx2,cuda-sm_90a,cuda-sm_80"},
           {"-g", "scale", "target=vulkan-armv7"},
           {"-g", "scale", "target=aarch64,vulkan-x86-64"},
           {"-g", "scale", "target=aarch64,vulkan", "by@vulkan-x86-64=3"},
           {"-g", "scale", "target=aarch64,vulkan", "by@vulkan=5"},
           {"-g", "scale", "target=x86-64-none,x86-64-v3"},
           {"-g", "scale", "target=x86-64,x86-64-v3", "-e", "program,schedule"},
           {"-g", "scale", "target=x86-64,x86-64-v3", "-e", "schedule_cpp"},
           {"-g", "scale", "target=x86-64,x86-64-v3", "--replay", "no_such_file.json"},
           {"-g", "scale", "target=x86-64,x86-64-v3", "--replay", "zen4=no_such_file.json"},
           {"-g", "scale", "target=x86-64,x86-64-v3", "--replay", "x86-64="},
           {"-g", "scale", "target=x86-64,x86-64-v3", "--replay", "x86-64-linux=a.json", "--replay", "x86-64=b.json"},
           {"-g", "scale", "target=x86-64,x86-64-v3", "--replay", "x86-64=no_such_file.json"},
           {"-g", "scale", "-e", "objct"},
           {"-g", "scale", "-e", "object="},
           {"-g", "scale", "-e", "header,ptx", "-t", "x86-64-v3"},
           {"-g", "scale", "-e", "cubin"},
           {"-g", "scale", "-e", "spirv", "-t", "x86-64,cuda-sm_80"},
           {"-g", "scale", "by=5"},
           {"-g", "scale", "-t", "x86-64,x86-64-v3", "by@zen4=3"},
           {"-g", "scale", "-t", "x86-64,x86-64-v3", "by@x86-64-v3=3", "by@x86-64-v3-linux=4"},
           {"-g", "scale", "-t", "x86-64,x86-64-v3", "by@x86-64-v3=5"},
           {"-g", "scale", "-t", "x86-64", "bye@x86-64=5"},
           {"-g", "scale", "bi=2"},
           {"-g", "scale", "by=2", "by=3"},
           {"-g", "scale", "T=float"},
           {"-g", "scale", "vector=maybe"},
           {"-g", "scale", "bias=much"},
           {"-g", "scale", "mode=tripled"},
           {"-g", "scale", "-e", "explain", "--size", "N"},
           {"-g", "scale", "-e", "explain", "--size", "N=many"},
           {"-g", "scale", "-e", "header", "--size", "N=5"},
           {"-g", "scale", "fast"},
           {"-g", "scale", "--fast"},
           {"-g", "scale", "-f", "my-scale"},
           {"-g", "scale", "-f", "while"},
           {"-g", "scale", "-f", "malloc"},
           {"-g", "scale", "-f", "sqrtf"},
           {"-g", "scale", "-e", "program=a.txt", "-e", "schedule=a.txt"},
           {"-g", "scale", "-e", "program=-,schedule=/dev/stdout"},
           {"-g", "scale", "-e", "explain=e.txt,assembly="},
           {"--prefer", "nobody", "-f", "scale"},
           {"-g", "scale", "target=cuda-sm80"},
           {"-g", "scale", "--replay", "no_such_file.json"},
           {"-g", "scale", "--choose", "rows=2"},
           {"-g", "chosen", "--choose", "rwos=2"},
           {"-g", "chosen", "--choose", "rows"},
           {"-g", "chosen", "--choose", "rows=two"},
           {"-g", "chosen", "--choose", "rows=2", "--choose", "rows=4"},
           {"-g", "chosen", "--choose", "rows=2", "--replay", "samples.h"},
           {"-g", "chosen", "--random-choices", "7", "--replay", "samples.h"},
           {"-g", "chosen", "--random-choices", "many"},
           {"-g", "chosen", "-t", "x86-64,x86-64-v3", "-e", "choices"},
       })
    text += refusal_of(arguments) + "\n";
  CHECK(golden("generator/usage_errors.txt", text) == "");
}

TEST_CASE("-e takes a list of kinds with paths; - is standard output; a comma may be part of a path") {
  Folder folder("emit");
  const std::string explain = folder / "e,1.txt", program = folder / "p.txt";
  const ToolResult r =
      tool({"-g", "scale", "target=x86-64-v3", "-e", "explain=" + explain + ",program=" + program + ",schedule=-"});
  CHECK(r.code == 0);
  CHECK(folder.files() == std::vector<std::string>{"e,1.txt", "p.txt"});
  CHECK(r.out.find("\"vectorize\"") != std::string::npos);
  CHECK(tool({"-g", "scale", "target=x86-64-v3", "-e", "program=-"}).out == read(program));
}

TEST_CASE("of several generators --prefer names the one that is taken where -g names none") {
  const ToolResult r = tool({"--prefer", "scale", "-f", "twice", "target=x86-64-v3", "-e", "program=-,header=-"});
  CHECK(r.code == 2);
  CHECK(r.err == "-e program and -e header would both be -\n");
  const ToolResult one = tool({"--prefer", "scale", "-f", "twice", "target=x86-64-v3", "-e", "header=-"});
  CHECK(one.code == 0);
  CHECK(one.out.find("int twice(") != std::string::npos);
}

TEST_CASE("--choose decides the choices of schedule(), for all targets or for one; -e choices lists them") {
  const auto run = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"-g", "chosen", "target=x86-64-v3"});
    return tool(more);
  };
  CHECK(golden("generator/choices.json", run({"-e", "choices=-"}).out) == "");
  const ToolResult other = run({"--choose", "rows=2", "--choose", "inside=1", "-e", "choices=-"});
  CHECK(other.err == "");
  CHECK(other.out.find("\"name\": \"rows\",\n      \"value\": 2,") != std::string::npos);
  CHECK(run({"--choose", "rows=2", "--choose", "inside=1", "-e", "program=-"}).out.find("unrolled") != std::string::npos);
  const ToolResult wrong = run({"--choose", "rows=5", "-e", "program=-"});
  CHECK(wrong.code == 1);
  CHECK(wrong.err.find("choose: expected rows to be one of 4, 2, 8, found 5") != std::string::npos);
  CHECK(run({"--choose-if", "rows=2", "--choose-if", "cows=3", "--choose-if", "inside=7", "-e", "choices=-"}).out ==
        run({"--choose", "rows=2", "-e", "choices=-"}).out);
  std::set<std::string> drawn;
  for (int seed = 0; seed < 40; ++seed) drawn.insert(run({"--random-choices", std::to_string(seed), "-e", "choices=-"}).out);
  CHECK(drawn.size() == 6);
  CHECK(run({"--random-choices", "3", "-e", "program=-"}).out == run({"--random-choices", "3", "-e", "program=-"}).out);

  const ToolResult two = tool({"-g", "chosen", "target=x86-64,x86-64-v3", "--choose", "rows@x86-64-v3=8", "-e", "program=-"});
  CHECK(two.err == "");
  CHECK(two.out.find("in 8\n") > two.out.find("---- x86-64-v3"));
  CHECK(two.out.find("in 4\n") > two.out.find("---- x86-64 "));
  CHECK(two.out.find("in 4\n") != std::string::npos);
}

TEST_CASE("a schedule() that is left out is the default one, an empty one plain loops") {
  const ToolResult r = tool({"-g", "left_out", "target=x86-64-v3", "-e", "program=-"});
  CHECK(r.code == 0);
  CHECK(r.out.find("vectorized") != std::string::npos);
  CHECK(r.err ==
        "note: left_out has no schedule(), so the default schedule was taken (-e program shows it; an empty schedule() gives "
        "plain "
        "loops)\n");
  CHECK(tool({"-g", "left_out", "target=x86-64-v3", "-e", "program=-", "--quiet"}).err == "");
  const ToolResult plain = tool({"-g", "plain_loops", "target=x86-64-v3", "-e", "program=-"});
  CHECK(plain.out.find("vectorized") == std::string::npos);
  CHECK(plain.err == "");
}

TEST_CASE("a sum of bytes in bytes says that it wraps, at its line; one that is widened says nothing") {
  const ToolResult r = tool({"-g", "narrow_sums", "target=x86-64-v3", "-e", "program=-"});
  CHECK(r.code == 0);
  CHECK(r.err.find("samples.h:") != std::string::npos);
  CHECK(r.err.find(": bytes sums i8 in i8, which wraps past 127; sum(i32(x), k) does not\n") != std::string::npos);
  CHECK(r.err.find("wide") == std::string::npos);
  CHECK(tool({"-g", "narrow_sums", "target=x86-64-v3", "-e", "program=-", "--quiet"}).err == "");
}

TEST_CASE("a library that emulates multiply-adds on all of its processors says so, with the stage and what helps") {
  const auto said = [](const char* generator, const char* target) {
    return tool({"-g", generator, std::string("target=") + target, "-e", "program=-"}).err;
  };
  const std::string on_baseline = said("plain_loops", "x86-64");
  CHECK(on_baseline.find("note: plain_loops for x86-64: y is computed by fused multiply-adds") == 0);
  CHECK(on_baseline.find("target=x86-64-v3,x86-64") != std::string::npos);
  CHECK(said("plain_loops", "armv7").find("armv7+vfp4 has it") != std::string::npos);
  for (const char* target : {"x86-64-v3", "x86-64-v3,x86-64", "armv7+vfp4", "aarch64"})
    CHECK(said("plain_loops", target) == "");
  CHECK(said("scale", "x86-64") == "");  // a product and a sum, which round apart
}

TEST_CASE("what is illegal is refused at the line that says it, with code 1") {
  std::string text;
  for (const char* name : {"wrong_schedule", "wrong_algorithm", "unbound", "two_symbols"})
    text += refusal_of({"-g", name, "-e", "program", "target=x86-64"}) + "\n";
  CHECK(golden("generator/refusals.txt", text) == "");
}

TEST_CASE("program and schedule as text, under the names asked for") {
  Folder folder("named");
  const ToolResult r =
      tool({"-g", "scale", "-f", "times3", "-o", folder / "new/folder", "-e", "program,schedule,schedule_cpp,explain", "-e",
            "header=" + folder / "other/exact,name.h", "target=x86-64-v3", "by=3"});
  CHECK(r.err == "");
  REQUIRE(r.code == 0);
  CHECK(folder.files() == std::vector<std::string>{"new", "new/folder", "new/folder/times3.explain.txt",
                                                   "new/folder/times3.program", "new/folder/times3.schedule.h",
                                                   "new/folder/times3.schedule.json", "other", "other/exact,name.h"});
  CHECK(golden("generator/scale.program", read(folder / "new/folder/times3.program")) == "");
  CHECK(golden("generator/scale.schedule.h", read(folder / "new/folder/times3.schedule.h")) == "");
  CHECK(golden("generator/scale.schedule.json", read(folder / "new/folder/times3.schedule.json")) == "");
  CHECK(read(folder / "new/folder/times3.explain.txt").find("kernel times3 for x86-64-v3\nat ") == 0);
  CHECK(golden("generator/scale.h.txt", read(folder / "other/exact,name.h")) == "");
}

#ifdef ASHLAR_TEST_LLVM
TEST_CASE("every output has the same bytes in another folder and another run") {
  Folder a("same1"), b("same2");
  const std::vector<std::string> kinds = {"-e", "object,static_library,header,assembly,llvm,program,schedule"};
  for (const char* target : {"x86-64", "x86-64-v3", "x86-64-v4", "x86-64-none"}) {
    for (const Folder* folder : {&a, &b}) {
      std::vector<std::string> arguments = {"-g", "scale", "-o", *folder / target, std::string("target=") + target};
      arguments.insert(arguments.end(), kinds.begin(), kinds.end());
      const ToolResult r = tool(arguments);
      CHECK(r.err == "");
      REQUIRE(r.code == 0);
    }
    for (const char* file :
         {"scale.o", "libscale.a", "scale.h", "scale.s", "scale.ll", "scale.program", "scale.schedule.json"}) {
      const std::string name = std::string(target) + "/" + file, bytes = read(a / name);
      CHECK_MESSAGE(bytes.size() > 50, name);
      CHECK_MESSAGE((bytes == read(b / name)), name);
      CHECK_MESSAGE(bytes.find(a.path.string()) == std::string::npos, name);
    }
  }
  CHECK(read(a / "x86-64/scale.o") != read(a / "x86-64-v3/scale.o"));
  CHECK(read(a / "x86-64-none/scale.h").find("ashlar_tensor *x") ==
        std::string::npos);  // no entries on tensors without a system
}

TEST_CASE("a library for several targets has the same bytes in another folder, and in whatever order they are given") {
  Folder a("several1"), b("several2");
  const char* kinds = "object,static_library,header,assembly,llvm,program,explain";
  const ToolResult r = tool({"-g", "scale", "-o", a.path.string(), "-e", kinds, "-t", "x86-64-v4,x86-64-v3,x86-64"});
  CHECK(r.err == "");
  REQUIRE(r.code == 0);
  REQUIRE(
      tool({"-g", "scale", "-o", b.path.string(), "-e", kinds, "-t", "x86-64", "-t", "x86-64-v4", "target=x86-64-v3"}).code ==
      0);
  for (const std::string file :
       {"scale.o", "libscale.a", "scale.h", "scale.s", "scale.ll", "scale.program", "scale.explain.txt"}) {
    CHECK_MESSAGE(read(a / file).size() > 50, file);
    CHECK_MESSAGE((read(a / file) == read(b / file)), file);
    CHECK_MESSAGE(read(a / file).find(a.path.string()) == std::string::npos, file);
  }
  const std::string program = read(a / "scale.program"), header = read(a / "scale.h");
  CHECK(program.find("---- x86-64-v4 ----\nprogram scale") == 0);
  CHECK(program.find("\n---- x86-64-v3 ----\n") < program.find("\n---- x86-64 ----\n"));
  CHECK(header.find("targets x86-64-v4 x86-64-v3 x86-64.\n") != std::string::npos);
  CHECK(header.find("among processors the first of the targets runs") != std::string::npos);
  CHECK(header.find("the memory decides") == std::string::npos);

  // except for what it says of targets, the header is that of one
  REQUIRE(tool({"-g", "scale", "-o", b / "one", "-e", "header", "-t", "x86-64-v4"}).code == 0);
  std::string one = read(b / "one/scale.h");
  const auto code_of = [](const std::string& text) { return text.substr(text.find("#ifndef ASHLAR_GENERATED_SCALE_H")); };
  CHECK(code_of(one) == code_of(header));
}

TEST_CASE("a Param with a value of its own for one of the targets") {
  Folder folder("params");
  const ToolResult r = tool({"-g", "scale", "-o", folder.path.string(), "-e", "header,program", "by@x86-64-v3-linux=4", "-t",
                             "x86-64,zen4,x86-64-v3", "by=3", "vector@zen4=false"});
  CHECK(r.err == "");
  REQUIRE(r.code == 0);
  const std::string program = read(folder / "scale.program"), header = read(folder / "scale.h");
  const std::size_t v3 = program.find("---- x86-64-v3 ----"), plain = program.find("---- x86-64 ----");
  REQUIRE(v3 < plain);
  const std::string of_zen4 = program.substr(0, v3), of_v3 = program.substr(v3, plain - v3), of_plain = program.substr(plain);
  for (const auto* part : {&of_zen4, &of_plain}) CHECK_MESSAGE(part->find("* 3") != std::string::npos, *part);
  CHECK_MESSAGE(of_v3.find("* 4") != std::string::npos, of_v3);
  CHECK_MESSAGE(of_zen4.find("vectorized") == std::string::npos, of_zen4);
  for (const auto* part : {&of_v3, &of_plain}) CHECK_MESSAGE(part->find("vectorized") != std::string::npos, *part);
  CHECK_MESSAGE(header.find(" by@zen4=3 by@x86-64-v3=4 by@x86-64=3 ") != std::string::npos, header.substr(0, 400));
  CHECK(header.find(" vector@zen4=false vector@x86-64-v3=true vector@x86-64=true") != std::string::npos);
  CHECK(header.find(" bias=0.1 ") != std::string::npos);  // the same for all
}

TEST_CASE("targets whose interfaces differ are no library") {
  Folder folder("interfaces");
  const ToolResult r = tool({"-g", "panels", "-o", folder.path.string(), "-t", "x86-64,x86-64-v3"});
  CHECK(r.code == 1);
  CHECK(folder.files().empty());
  CHECK_MESSAGE(r.err.find("the same interface for every target; for x86-64-v3:") != std::string::npos, r.err);
  CHECK_MESSAGE(r.err.find(" *   b: packed by the caller at [d1 / 4, d0, d1 % 4]") != std::string::npos, r.err);
  CHECK_MESSAGE(r.err.find("for x86-64:\n *   b: innermost stride 1") != std::string::npos, r.err);
  CHECK(tool({"-g", "panels", "-o", folder.path.string(), "-t", "x86-64-v4,x86-64-v3"}).code == 0);
}

TEST_CASE("--trace and --time-passes of several targets name each") {
  Folder folder("trace2");
  const ToolResult r = tool({"-g", "scale", "-o", folder.path.string(), "--trace", "--time-passes", "-t", "x86-64,x86-64-v3"});
  REQUIRE(r.code == 0);
  CHECK(r.out.find("---- x86-64-v3 ----\n") == 0);
  CHECK(r.out.find("\n---- x86-64 ----\n") != std::string::npos);
  CHECK(r.out.find("\nx86-64-v3: lower: vectorize ") != std::string::npos);
}

TEST_CASE("without -e: object and header") {
  Folder folder("default");
  REQUIRE(tool({"-g", "scale", "-o", folder.path.string()}).code == 0);
  CHECK(folder.files() == std::vector<std::string>{"scale.h", "scale.o"});
}
#endif

TEST_CASE("a saved schedule replays to the same program") {
  Folder folder("replay");
  REQUIRE(tool({"-g", "scale", "-o", folder / "a", "-e", "program,schedule"}).code == 0);
  const ToolResult r = tool({"-g", "scale", "-o", folder / "b", "-e", "program,schedule", "vector=false", "--replay",
                             folder / "a/scale.schedule.json"});
  CHECK(r.err == "");
  REQUIRE(r.code == 0);
  CHECK(read(folder / "a/scale.program") == read(folder / "b/scale.program"));
  CHECK(read(folder / "a/scale.schedule.json") == read(folder / "b/scale.schedule.json"));
}

TEST_CASE("of several targets, one may have a saved schedule") {
  Folder folder("replays");
  REQUIRE(tool({"-g", "scale", "-o", folder / "a", "-e", "schedule", "vector=false", "-t", "x86-64-v3"}).code == 0);
  const ToolResult r = tool({"-g", "scale", "-o", folder / "b", "-e", "program", "-t", "x86-64,x86-64-v3", "--replay",
                             "x86-64-v3=" + folder / "a/scale.schedule.json"});
  CHECK(r.err == "");
  REQUIRE(r.code == 0);
  const std::string text = read(folder / "b/scale.program");
  const std::size_t plain = text.find("---- x86-64 ----"), vectors = text.find("vectorized");
  CHECK(text.find("---- x86-64-v3 ----") == 0);
  CHECK(plain != std::string::npos);
  CHECK(vectors != std::string::npos);
  CHECK(vectors > plain);  // by schedule(), the other by its steps, of which there are none
  const ToolResult one = tool({"-g", "scale", "-o", folder / "c", "-e", "program", "-t", "x86-64", "--replay",
                               "x86-64=" + folder / "a/scale.schedule.json"});
  CHECK(one.code == 0);
  CHECK(read(folder / "c/scale.program").find("vectorized") == std::string::npos);
}

TEST_CASE("-e explain counts at the sizes that are given") {
  Folder folder("sizes");
  const ToolResult r =
      tool({"-g", "scale", "-o", folder.path.string(), "-e", "explain", "target=x86-64-v3", "--size", "N=100"});
  REQUIRE(r.code == 0);
  const std::string text = read(folder / "scale.explain.txt");
  CHECK(text.find("kernel scale for x86-64-v3\nat N = 100\n") == 0);
  CHECK(text.find("\nstage y in ") != std::string::npos);
  CHECK(text.find(": 100 points, ") != std::string::npos);
  CHECK(text.find("96.2 % of the lanes used, 96 % of the operations in full vectors") != std::string::npos);
  const ToolResult unknown = tool({"-g", "scale", "-o", folder.path.string(), "-e", "explain", "--size", "Q=100"});
  CHECK(unknown.code == 1);
  CHECK_MESSAGE(unknown.err.find(": explain: expected sizes of symbols of scale, found Q") != std::string::npos, unknown.err);
}

TEST_CASE("--diff of two saved schedules") {
  Folder folder("diff");
  REQUIRE(tool({"-g", "scale", "-o", folder / "a", "-e", "schedule"}).code == 0);
  REQUIRE(tool({"-g", "scale", "-o", folder / "b", "-e", "schedule", "vector=false"}).code == 0);
  const std::string a = folder / "a/scale.schedule.json", b = folder / "b/scale.schedule.json";
  const ToolResult differ = tool({"-g", "scale", "--diff", a, b});
  CHECK(differ.code == 4);
  CHECK(differ.err == "");
  CHECK(differ.out == "- s[y].vectorize(i0, 8);\n");
  const ToolResult same = tool({"-g", "scale", "--diff", a, a});
  CHECK(same.code == 0);
  CHECK(same.out == "");
  std::ofstream(folder / "bad.json") << "[{\"primitive\": \"melt\", \"args\": []}]";
  const ToolResult bad = tool({"-g", "scale", "--diff", a, folder / "bad.json"});
  CHECK(bad.code == 1);
  CHECK(bad.err.find("--diff " + (folder / "bad.json") + ": ") != std::string::npos);
  CHECK(tool({"-g", "scale", "--diff", a, folder / "none.json"}).err.find("the file cannot be read") != std::string::npos);
  CHECK(misused({"-g", "scale", "--diff", a}) == "--diff: At least 2 required but received 1; --help lists the options\n");
  CHECK(misused({"-g", "scale", "-e", "header", "--diff", a, b}) ==
        "--diff writes no files: expected no -e and no --replay beside it\n");
  CHECK(misused({"-g", "scale", "target=x86-64,vulkan", "--diff", a, b}) ==
        "--diff: expected one target, found x86-64, vulkan\n");
}

TEST_CASE("a file that is no schedule is refused") {
  Folder folder("noschedule");
  std::ofstream(folder / "bad.json") << "[{\"primitive\": \"melt\", \"args\": []}]";
  const ToolResult r = tool({"-g", "scale", "-o", folder / "out", "-e", "program", "--replay", folder / "bad.json"});
  CHECK(r.code == 1);
  CHECK(r.err.find("--replay " + (folder / "bad.json") + ": ") != std::string::npos);
  CHECK_MESSAGE(r.err.find(", found \"melt\"") != std::string::npos, r.err);
  CHECK(r.err.find("pipeline.cpp") == std::string::npos);
  CHECK(!fs::exists(folder / "out"));
  const auto told = [&](const std::string& text) {
    std::ofstream(folder / "bad.json") << text;
    const ToolResult bad = tool({"-g", "scale", "-o", folder / "out", "-e", "program", "--replay", folder / "bad.json"});
    CHECK(bad.code != 0);
    CHECK(!fs::exists(folder / "out"));
    return bad.err;
  };
  CHECK(told("").find("the file is empty") != std::string::npos);
  CHECK(told("{}").find("expected an array of steps, found \"{}\"") != std::string::npos);
  CHECK(told(std::string(200'000, '[')).find("nested at most 256 deep") != std::string::npos);
}

TEST_CASE("--trace prints each step and what it changed; after a refusal the program") {
  Folder folder("trace");
  const ToolResult r = tool({"-g", "scale", "-o", folder.path.string(), "-e", "program", "--trace", "target=x86-64"});
  CHECK(golden("generator/trace.txt", r.out) == "");
  const ToolResult refused = tool({"-g", "wrong_schedule", "-o", folder.path.string(), "-e", "program", "--trace"});
  CHECK(refused.code == 1);
  CHECK_MESSAGE(refused.err.find(": parallel: expected a loop whose iterations are independent (rfactor makes one of partial "
                                 "results), found k of y") != std::string::npos,
                refused.err);
}

TEST_CASE("--time-passes names every pass") {
  Folder folder("times");
  const ToolResult r = tool({"-g", "scale", "-o", folder.path.string(), "-e", "program", "--time-passes"});
  for (const char* pass : {"algorithm", "schedule", "lower: flatten", "lower: vectorize", "files", "total"})
    CHECK_MESSAGE(r.out.find(pass) != std::string::npos, pass);
}

TEST_CASE("a file that cannot be written leaves nothing behind") {
  Folder folder("blocked");
  fs::create_directories(folder / "scale.h");  // where a file should be
  const ToolResult r = tool({"-g", "scale", "-o", folder.path.string(), "-e", "program,header"});
  CHECK(r.code == 1);
  CHECK(r.err.find("it is a folder") != std::string::npos);
  CHECK(folder.files() == std::vector<std::string>{"scale.h"});
}

// The last test: what a file adds stays for the process.
TEST_CASE("--targets FILE adds processors, which --list-targets then lists") {
  const Folder folder("targets");
  const std::string file = folder / "board.json";
  std::ofstream(file) << R"({"targets": [{"name": "test-board", "is": "cortex-m4", "caches": [8192, 0, 0]}]})";
  const ToolResult listed = tool({"--targets", file, "--list-targets"});
  CHECK(listed.code == 0);
  CHECK(listed.out.find("test-board       cortex-m4     no vectors              caches 8 KiB                  for none") !=
        std::string::npos);
  const ToolResult wrong = tool({"--targets", folder / "none.json", "--list-targets"});
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("--targets: expected a file of targets that can be read, found `") == 0);
}
