// The data of the page that -e html writes, against programs that are known, and the page as a file.
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <ashlar/ashlar.h>
#include <ashlar/codegen/launches.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/tile.h>
#include <ashlar/schedule/step.h>
#include <nlohmann/json.hpp>

#include "apps/matmul/product.h"
#include "generator/pipeline.h"
#include "generator/tool.h"
#include "generator/view/view.h"
#include "tests/generator/formulas.h"

namespace {

using namespace ashlar;
using nlohmann::json;
namespace viewer = generator::view;

// In a comment of a source that is shown: </script><!-- and http are text here.
struct Tiled : Generator {
  Symbol M{"M"}, N{"N"}, K{"K"};
  Input A{"A", f32, {M, K}}, B{"B", f32, {K, N}};
  Output C{"C", f32, {M, N}};
  static constexpr int tile_line = __LINE__ + 7;
  void algorithm() override {
    Axis k{"k", K};
    C = compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  }
  void schedule(Schedule& s) override {
    auto [i, j] = s[C].spatial<2>();
    auto [io, jo, ii, ji] = s[C].tile(i, j, 8, 8);
    s[C].vectorize(ji).parallel(io);
  }
};

struct Blur : formulas::Blur {  // rows of `across` in a ring of 4
  void schedule(Schedule& s) override {
    auto [r, c] = s[y].spatial<2>();
    s[across].compute_at(r).store_at(s[y].split(r, Parts{1}).outer);
  }
};

struct Sliding : Blur {
  void schedule(Schedule& s) override {
    auto [r, c] = s[y].spatial<2>();
    auto [ro, ri] = s[y].split(r, 16);
    s[across].compute_at(ri).store_at(ro).slide(ri).fold(0, 4);
  }
};

struct Columns : Generator {  // reordered: columns first
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}};
  Output y{"y", f32, {M, N}};
  void algorithm() override {
    y = compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return x(i, j) + 1; });
  }
  void schedule(Schedule& s) override {
    auto [i, j] = s[y].spatial<2>();
    s[y].reorder(j, i);
  }
};

struct OnDevice : Generator {
  Symbol N{"N"};
  Input x{"x", f32, {N}};
  Output y{"y", f32, {N}};
  void algorithm() override {
    y = compute("y", {{"i", N}}, [&](Var i) { return x(i) * 2; });
  }
  void schedule(Schedule& s) override {
    auto [b, t] = s[y].split(s[y].spatial<1>()[0], 4);
    s[y].bind(b, gpu::block_x).bind(t, gpu::thread_x);
  }
};

struct OnTiles : Generator {
  Symbol M{"M"};
  Input x{"x", f32, {M, 64}};
  Output y{"y", f32, {M}};
  static constexpr int sum_line = __LINE__ + 3;
  void algorithm() override {
    Axis k{"k", 64};
    y = compute("y", {{"i", M}}, [&](Var i) { return sum(x(i, k) * 2, k); });
  }
  void schedule(Schedule& s) override {
    auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 16);
    s[y].bind(io, gpu::block_x).as_tile(ii, s[y].reduction());
  }
};

struct Vast : Generator {
  Input x{"x", f32, {1 << 20, 1 << 20}};
  Output y{"y", f32, {1 << 20, 1 << 20}};
  void algorithm() override {
    y = compute("y", {1 << 20, 1 << 20}, [&](Var i, Var j) { return x(i, j) + 1; });
  }
  void schedule(Schedule&) override {}
};

struct Refused : formulas::RowSums {
  static constexpr int refused_line = __LINE__ + 3;
  void schedule(Schedule& s) override {
    s[y].split(s[y].spatial<1>()[0], 4);
    s[y].parallel(s[y].reduction());
  }
};

struct Shown {
  lang::DefinitionScope definitions;
  generator::Compilation compilation;
  viewer::Options options;
  json data;
};

template <class G>
std::unique_ptr<Shown> shown(const char* name, const char* target = "x86-64-v3", ExplainSizes drawn = {},
                             ExplainSizes sizes = {}) {
  auto all = std::make_unique<Shown>();
  generator::PipelineOptions options;
  options.function = name;
  all->options = {name, name, std::move(sizes), std::move(drawn), nullptr, {}};
  options.refused = [&](const generator::Compilation& c, const Refusal& r) {
    viewer::Options refused = all->options;
    refused.refused = &r;
    all->data = json::parse(viewer::data(c, refused));
  };
  try {
    all->compilation = generator::run_pipeline(
        generator::make_generator([]() -> Generator* { return new G; }, name, Target::parse(target), {}), options);
    generator::lower_kernel(all->compilation, options);
    all->data = json::parse(viewer::data(all->compilation, all->options));
  } catch (const RefusalError&) {
    if (all->data.is_null()) throw;
  }
  return all;
}

std::string text_of(const json& data, const json& program) {
  std::string text;
  for (const json& row : program) text += data["lines"][row[0].get<std::size_t>()].get<std::string>() + "\n";
  return text;
}

const json& named(const json& list, const std::string& name) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const json& e) { return e["name"] == name; });
  REQUIRE_MESSAGE(at != list.end(), name);
  return *at;
}

std::vector<std::int64_t> point(const json& stage, std::int64_t flat) {
  const auto extents = stage["extents"].get<std::vector<std::int64_t>>(), low = stage["low"].get<std::vector<std::int64_t>>();
  std::vector<std::int64_t> at(extents.size());
  for (std::size_t d = at.size(); d-- > 0; flat /= extents[d]) at[d] = low[d] + flat % extents[d];
  return at;
}

}  // namespace

TEST_CASE("view: each step has its text, the user's line, and the program after it") {
  const auto s = shown<Tiled>("tiled");
  const json& steps = s->data["steps"];
  REQUIRE(steps.size() == 1 + s->compilation.schedule->scheduled().trace.size());
  CHECK(text_of(s->data, steps[0]["program"]) == ir::text(s->compilation.schedule->algorithm()));
  CHECK(text_of(s->data, steps.back()["program"]) == s->compilation.schedule->text());
  CHECK(steps[1]["text"] == "split(i of C, 8, guard) -> io of C and ii of C");
  CHECK(steps[1]["name"] == "tile");
  CHECK(text_of(s->data, steps[1]["program"]).find("for io in (M + 7) / 8") != std::string::npos);
  CHECK(text_of(s->data, steps[0]["program"]).find("for io in") == std::string::npos);
  for (const json& step : {steps[1], steps[2], steps[3]}) {
    REQUIRE(step["place"].is_array());
    CHECK(step["place"][1] == Tiled::tile_line);
    CHECK(s->data["sources"][step["place"][0].get<std::size_t>()]["name"] == "view_test.cpp");
  }
  // A loop stands at the line of the last step that changed it, parallel; the definition at its own; both are of the stage.
  const json& node = named(s->data["graph"]["nodes"], "C");
  int loops = 0, definitions = 0;
  for (const json& row : steps.back()["program"]) {
    const std::string line = s->data["lines"][row[0].get<std::size_t>()];
    const bool loop = line.find("for io in") != std::string::npos, definition = line.starts_with("  C[i, j] = ");
    loops += loop, definitions += definition;
    if (!loop && !definition) continue;
    CHECK(row[2] == (loop ? Tiled::tile_line + 1 : Tiled::tile_line - 4));
    CHECK(row[3] == node["id"]);
  }
  CHECK(loops == 1);
  CHECK(definitions == 1);
}

TEST_CASE("view: the sources are there, with what would end the page's script") {
  const auto s = shown<Tiled>("tiled");
  REQUIRE(s->data["sources"].size() == 1);
  REQUIRE(s->data["sources"][0].contains("text"));  // found from the folder of the tests upwards
  CHECK(s->data["sources"][0]["text"].get<std::string>().find("</script><!--") != std::string::npos);
  const std::string page = viewer::page(s->compilation, s->options);
  CHECK(page.find("</script><!--") == std::string::npos);
}

TEST_CASE("view: the graph has arguments, stages with their boxes and places, and what reads what") {
  const auto s = shown<Blur>("blur");
  const json& graph = s->data["graph"];
  REQUIRE(graph["nodes"].size() == 3);
  const json &x = named(graph["nodes"], "x"), &across = named(graph["nodes"], "across"), &y = named(graph["nodes"], "y");
  CHECK(x["kind"] == "input");
  CHECK(x["box"] == "[H, W]");
  CHECK(y["output"] == true);
  CHECK(y["box"] == "r in [0, +H - 2)\nc in [0, +W - 2)");
  CHECK(across["output"] == false);
  CHECK(across["at"].get<std::string>().find(" of y") != std::string::npos);
  CHECK(across["memory"] == "global");
  int of_x = 0, of_across = 0;
  for (const json& e : graph["edges"]) {
    of_x += e[0] == x["id"] && e[1] == across["id"];
    of_across += e[0] == across["id"] && e[1] == y["id"];
  }
  CHECK(of_x == 3);
  CHECK(of_across == 3);
  CHECK(graph["edges"].size() == 6);
}

TEST_CASE("view: a line of the code has the line of the kernel that it came from") {
  const auto s = shown<Tiled>("tiled");
  const json& code = s->data["code"];
  const json& kernel = code[0];
  std::string text;
  for (const json& line : kernel["lines"]) text += line.get<std::string>() + "\n";
  CHECK(text == ir::text(s->compilation.kernel));
  REQUIRE(kernel["places"].size() == kernel["lines"].size());
  // The line of the innermost store with an fma, which the assembly has as an instruction of AVX2.
  int products = -1;
  for (std::size_t k = 0; k < kernel["lines"].size(); ++k)
    if (const std::string line = kernel["lines"][k]; products < 0 && line.find("= fma(x8(") != std::string::npos)
      products = static_cast<int>(k);
  REQUIRE(products > 0);
  const auto comes_from = [&](const char* pane, const char* what) {
    const json& p = named(code, pane);
    REQUIRE(p["lines"].size() == p["of"].size());
    int found = 0;
    for (std::size_t k = 0; k < p["lines"].size(); ++k) {
      CHECK(p["of"][k] >= -1);
      CHECK(p["of"][k] < static_cast<int>(kernel["lines"].size()));
      found += p["of"][k] == products && p["lines"][k].get<std::string>().find(what) != std::string::npos;
    }
    return found;
  };
  CHECK(comes_from("c", "fma") + comes_from("c", "C[") > 0);
#ifdef ASHLAR_TEST_LLVM
  CHECK(comes_from("llvm", "@llvm.fma.v8f32") > 0);
  CHECK(comes_from("assembly", "vfmadd") > 0);
  for (const json& line : named(code, "assembly")["lines"]) {
    CHECK(line.get<std::string>().find(".loc") == std::string::npos);
    CHECK(line.get<std::string>().find(".debug") == std::string::npos);
  }
  for (const json& line : named(code, "llvm")["lines"]) CHECK(line.get<std::string>().find("!dbg") == std::string::npos);
#endif
}

#ifdef ASHLAR_TEST_VULKAN
TEST_CASE("view: a line of SPIR-V has the line of the kernel that it came from") {
  const auto s = shown<OnDevice>("device", "vulkan");
  const json &kernel = named(s->data["code"], "kernel"), &spirv = named(s->data["code"], "spirv");
  CHECK(spirv["title"] == "SPIR-V");
  REQUIRE(spirv["lines"].size() == spirv["of"].size());
  int products = 0, stores = 0;
  for (std::size_t k = 0; k < spirv["lines"].size(); ++k) {
    const std::string line = spirv["lines"][k];
    CHECK(line.find("OpLine") == std::string::npos);
    CHECK(line.find("OpString") == std::string::npos);
    const bool product = line.find("OpFMul") != std::string::npos, store = line.find("OpStore") != std::string::npos;
    if (!product && !store) continue;
    products += product, stores += store;
    REQUIRE(spirv["of"][k] >= 0);
    CHECK(kernel["lines"][spirv["of"][k].get<std::size_t>()].get<std::string>().find("y[") != std::string::npos);
  }
  CHECK(products >= 1);
  CHECK(stores >= 1);
}
#endif

TEST_CASE("view: a line of a tile kernel has the user's line") {
  const auto s = shown<OnTiles>("on_tiles", "cuda-tile-sm_80");
  const json& kernel = named(s->data["code"], "kernel");
  std::string text;
  for (const json& line : kernel["lines"]) text += line.get<std::string>() + "\n";
  std::string expected;
  for (const ir::KStmt* launch : codegen::launches_of(s->compilation.kernel))
    expected += (expected.empty() ? "" : "\n") + ir::tile::text(*launch->get<ir::KLaunch>().tile);
  CHECK(text == expected);
  REQUIRE(kernel["places"].size() == kernel["lines"].size());
  REQUIRE(kernel["of"].size() == kernel["lines"].size());
  int reductions = 0;
  for (std::size_t k = 0; k < kernel["lines"].size(); ++k) {
    CHECK(kernel["of"][k] == (kernel["places"][k].is_null() ? -1 : static_cast<int>(k)));
    if (kernel["lines"][k].get<std::string>().find("= reduce ") == std::string::npos) continue;
    ++reductions;
    REQUIRE(kernel["places"][k].is_array());
    CHECK(kernel["places"][k][1] == OnTiles::sum_line);
  }
  CHECK(reductions >= 1);
}

TEST_CASE("view: the run has each point that the interpreter computes, lanes of a vector at one moment") {
  const auto s = shown<Tiled>("tiled", "x86-64-v3", {{"M", 16}, {"N", 16}, {"K", 4}});
  const json& run = s->data["run"];
  REQUIRE(run["whole"] == true);
  CHECK(run["sizes"] == json::parse(R"([["M", 16], ["K", 4], ["N", 16]])"));
  const json& events = run["events"];
  REQUIRE(events["stage"].size() == 16 * 16 * 4);
  for (const char* name : {"point", "frame", "counts", "worker"}) CHECK(events[name].size() == events["stage"].size());
  CHECK(run["frames"] == 16 * 16 * 4 / 8);
  CHECK(!events.contains("thread"));
  const json& stage = named(run["stages"], "C");
  for (int lane = 0; lane < 8; ++lane) {  // k runs inside of ji: of the first moment the first of k, in all lanes
    CHECK(events["frame"][lane] == 0);
    CHECK(point(stage, events["point"][lane]) == std::vector<std::int64_t>{0, lane, 0});
  }
  CHECK(events["worker"].front() == 0);
  CHECK(events["worker"].back() == 1);
  // Two reads and a write of each, and what is read is what the formula says.
  const auto buffers = static_cast<std::int64_t>(run["buffers"].size());
  REQUIRE(events["reads"].size() == 2 * events["stage"].size());
  REQUIRE(events["writes"].size() == events["stage"].size());
  const auto of = [&](const json& access) {
    return run["buffers"][static_cast<std::size_t>(access.get<std::int64_t>() % buffers)];
  };
  CHECK(of(events["reads"][0])["name"] == "A");
  CHECK(of(events["reads"][1])["name"] == "B");
  CHECK(of(events["writes"][0])["name"] == "C");
  const std::int64_t last = events["reads"].back();
  CHECK(point(of(events["reads"].back()), last / buffers) == std::vector<std::int64_t>{3, 15});
}

TEST_CASE("view: the order of the moments is that of the loops") {
  const auto s = shown<Columns>("columns", "x86-64", {{"M", 3}, {"N", 2}});
  const json& run = s->data["run"];
  std::vector<std::vector<std::int64_t>> order;
  for (const json& p : run["events"]["point"]) order.push_back(point(run["stages"][0], p));
  CHECK(order == std::vector<std::vector<std::int64_t>>{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}});
  CHECK(run["frames"] == 6);
  CHECK(run["lives"].empty());
}

TEST_CASE("view: threads of a block share moments, blocks do not") {
  const auto s = shown<OnDevice>("device", "cuda-sm_80", {{"N", 12}});
  const json& run = s->data["run"];
  CHECK(run["frames"] == 3);
  CHECK(run["events"]["frame"] == json::parse("[0,0,0,0,1,1,1,1,2,2,2,2]"));
  CHECK(run["events"]["thread"] == json::parse("[0,1,2,3,0,1,2,3,0,1,2,3]"));
  CHECK(run["events"]["block"] == json::parse("[0,0,0,0,1,1,1,1,2,2,2,2]"));
  const json& launch = s->data["figures"]["launches"][0];
  CHECK(launch["threads"] == 4);
  CHECK(launch["limits"].size() == 4);
  const json& read = launch["accesses"][0];
  CHECK(read["buffer"] == "x");
  CHECK(read["bytes"] == json::parse("[0, 4, 8, 12]"));
#ifdef ASHLAR_TEST_LLVM
  const json& ptx = named(s->data["code"], "ptx");
  int linked = 0;
  for (std::size_t k = 0; k < ptx["lines"].size(); ++k)
    linked += ptx["lines"][k].get<std::string>().find("st.global") != std::string::npos && ptx["of"][k] > 0;
  CHECK(linked > 0);
#endif
}

TEST_CASE("view: what is too large to run says so") {
  const auto s = shown<Vast>("vast");
  CHECK(s->data["run"] == json{{"why", "x has more than 4194304 elements, too many to draw"}});
  CHECK(s->data["steps"].size() == 1);
}

TEST_CASE("view: a ring is drawn with its places, and lives as long as its loop runs") {
  const auto s = shown<Sliding>("sliding", "x86-64", {{"H", 10}, {"W", 6}});
  const json& run = s->data["run"];
  REQUIRE(run["whole"] == true);
  const json& across = named(run["buffers"], "across");
  CHECK(across["temporary"] == true);
  CHECK(across["ring"] == true);
  CHECK(across["extents"] == json::parse("[4, 4]"));
  REQUIRE(run["lives"].size() == 1);
  CHECK(run["lives"][0][1] == 0);
  CHECK(run["lives"][0][2] == run["frames"]);
  CHECK(run["lives"][0][3] == 4 * 4 * 4);
  // Ten rows of 4 points, each once; and 8 x 4 points of y.
  CHECK(run["events"]["stage"].size() == 10 * 4 + 8 * 4);
}

TEST_CASE("view: figures are those of explain, at the sizes that are asked for") {
  const auto s = shown<Tiled>("tiled", "x86-64-v3", {}, {{"M", 64}, {"N", 64}, {"K", 100}});
  const json& f = s->data["figures"];
  CHECK(f["operations"] == json::parse(R"([{"kind": "f32", "count": 819200.0, "rate": 0.0}])"));
  CHECK(f["arguments"] == (64 * 100 * 2 + 64 * 64) * 4);
  CHECK(named(f["stages"], "C")["caches"].size() == 3);
  CHECK(f["text"].get<std::string>().find("stage C in f32") != std::string::npos);
}

TEST_CASE("view: a refusal has its steps so far and the two iterations") {
  const auto s = shown<Refused>("refused", "x86-64");
  const json& r = s->data["refusal"];
  CHECK(r["place"][1] == Refused::refused_line);
  CHECK(r["iterations"] == json::parse(R"([{"k": 0}, {"k": 1}])"));
  CHECK(r["shared"] == "y[i0]");
  CHECK(s->data["steps"].size() == 2);
  CHECK(!s->data.contains("code"));
  CHECK(s->data["run"].contains("events"));
}

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

generator::ToolResult tool(std::vector<std::string> arguments) { return generator::run_tool(arguments); }

}  // namespace

TEST_CASE("view: the page of the matrix product stands by itself, and is small") {
  const auto s = shown<product::MatmulBias>("matmul_bias", "x86-64-v4");
  const std::string page = viewer::page(s->compilation, s->options);
  CHECK(page.size() < 2'000'000);
  CHECK(page.size() > 100'000);
  for (const char* mark : {"{{title}}", "{{data}}"}) CHECK(page.find(mark) == std::string::npos);
  CHECK(page.find("/*style*/") == std::string::npos);
  CHECK(page.find("/*script*/") == std::string::npos);
  const std::string own = page.substr(0, page.find("<script type=\"application/json\"")) +
                          page.substr(page.find("<script>", page.find("application/json")));
  for (const char* from_elsewhere : {"http:", "https:", "src=", "@import", "url(h", "fetch(", "XMLHttpRequest", "import("})
    CHECK_MESSAGE(own.find(from_elsewhere) == std::string::npos, from_elsewhere);
  CHECK(viewer::page(s->compilation, s->options) == page);
}

TEST_CASE("view: the tool writes the page, also of a refused schedule, and asks for what fits") {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("ashlar." + std::to_string(::getpid()) + ".view")).string();
  std::filesystem::remove_all(folder);
  generator::ToolResult r = tool({"-g", "scale", "-o", folder, "-e", "html", "target=x86-64", "--draw", "N=5"});
  CHECK(r.err == "");
  CHECK(r.code == 0);
  CHECK(read(folder + "/scale.html").find("\"sizes\":[[\"N\",5]]") != std::string::npos);
  r = tool({"-g", "wrong_schedule", "-o", folder, "-e", "html,program", "target=x86-64"});
  CHECK(r.code == 1);
  CHECK(r.err.find("wrong_schedule.html shows the refusal\n") != std::string::npos);
  CHECK(r.err.find("conflict: iterations k = 0 and k = 1 both update y[i0]") != std::string::npos);
  CHECK(read(folder + "/wrong_schedule.html").find("\"refusal\":{") != std::string::npos);
  CHECK(!std::filesystem::exists(folder + "/wrong_schedule.program"));
  CHECK(tool({"-g", "scale", "-e", "html=-", "target=x86-64,x86-64-v3"}).err ==
        "-e html: expected one target, found x86-64, x86-64-v3: run the generator once for each\n");
  CHECK(tool({"-g", "scale", "-e", "program=-", "target=x86-64", "--draw", "N=5"}).err ==
        "--draw: expected -e html, which draws a run of it\n");
  r = tool({"-g", "scale", "-e", "html=-", "target=x86-64", "--draw", "Q=5"});
  CHECK(r.code == 1);
  CHECK(r.err.find("--draw: expected a Symbol of scale, found Q") != std::string::npos);
  r = tool({"-g", "scale", "-e", "html=-", "target=x86-64", "--draw", "N=x"});
  CHECK(r.code == 2);
  CHECK(r.err == "--draw: expected SYMBOL=N with a whole number, found \"N=x\"\n");
  std::filesystem::remove_all(folder);
}
