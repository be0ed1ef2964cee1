// The tool for targets with tiles: what it writes of a generator's program, and what there is not.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include <ashlar/ashlar.h>

#include "generator/tool.h"

namespace {

using namespace ashlar;
using generator::run_tool;
using generator::ToolResult;

class TileProduct : public Generator {
 public:
  Symbol M{"M"}, N{"N"}, K{"K"};
  Input A{"A", bf16, {M, K}}, B{"B", bf16, {K, N}};
  Output C{"C", f32, {M, N}};
  void algorithm() override {
    Axis k{"k", K};
    C = compute("C", {M, N}, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k); });
  }
  void schedule(Schedule& s) override {
    auto [i, j] = s[C].spatial<2>();
    auto [io, jo, ii, ji] = s[C].tile(i, j, 64, 64);
    auto [ko, ki] = s[C].split(s[C].reduction(), 32);
    s[C].reorder(io, jo, ko, ii, ji, ki).bind(io, gpu::block_x).bind(jo, gpu::block_y).as_tile(ii, ji, ki);
  }
};
ASHLAR_GENERATOR(TileProduct, "tile_product");

class TileBytes : public Generator {
 public:
  Symbol N{"N"};
  Input x{"x", e4m3, {N}};
  Output y{"y", f32, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return f32(x(i)); });
  }
  void schedule(Schedule& s) override {
    auto [o, i] = s[y].split(s[y].spatial<1>()[0], 64);
    s[y].bind(o, gpu::block_x).as_tile(i);
  }
};
ASHLAR_GENERATOR(TileBytes, "tile_bytes");

ToolResult tool(const char* outputs, const char* target, const char* generator = "tile_product") {
  const std::vector<std::string> arguments = {"-g", generator, "-e", std::string(outputs) + "=-", "-t", target};
  return run_tool(arguments);
}

}  // namespace

TEST_CASE("bytecode and the tile form as text, of a target with tiles") {
  const ToolResult text = tool("tileir_text", "cuda-tile");
  CHECK(text.err == "");
  CHECK(text.out.substr(0, 20) == "kernel tile_product(");
  CHECK(text.out.find("mma") != std::string::npos);
  const ToolResult code = tool("tileir", "cuda-tile-sm_100");
  CHECK(code.err == "");
  CHECK(code.out.substr(0, 8) == std::string("\x7FTileIR\0", 8));
}

TEST_CASE("the page of a program with tiles has its tile kernels, and a run") {
  const ToolResult page = tool("html", "cuda-tile");
  CHECK(page.err == "");
  REQUIRE(page.code == 0);
  CHECK(page.out.find("\"title\":\"tile kernels\"") != std::string::npos);
  CHECK(page.out.find("\"kernel tile_product(") != std::string::npos);
  CHECK(page.out.find("\"frames\":") != std::string::npos);
  CHECK(page.out.find("\"figures\":") == std::string::npos);
}

TEST_CASE("objects, headers and explanations, launched by several processors") {
  for (const char* target : {"cuda-tile", "cuda-tile-sm_90-aarch64"}) {
    CAPTURE(std::string(target));
    const ToolResult object = tool("object", target);
    CHECK(object.err == "");
    CHECK(object.out.substr(1, 3) == "ELF");
    CHECK(object.out[18] == (std::string(target).ends_with("aarch64") ? '\xB7' : '\x3E'));  // the machine
    CHECK(object.out.find(std::string("\x7FTileIR\0", 8)) != std::string::npos);
    CHECK(tool("header", target).out.find("int tile_product_prepare(") != std::string::npos);
  }
  const std::string text = tool("explain", "cuda-tile-sm_90").out;
  CHECK(text.find("launch tile_product: ") != std::string::npos);
  CHECK(text.find(" of tiles\n") != std::string::npos);
  CHECK(tool("ptx", "cuda-tile").err.find("-e ptx: expected a target that is a CUDA device") == 0);
}

TEST_CASE("what there is not of tiles, and of other targets") {
  CHECK(tool("ptx", "cuda-tile-sm_90").err.find("-e ptx: expected a target that is a CUDA device (cuda-sm_80, ") == 0);
  CHECK(tool("spirv", "cuda-tile-sm_90").err == "-e spirv: expected a target that is vulkan, found cuda-tile-sm_90\n");
  CHECK(tool("c", "cuda-tile").err == "-e c: expected a processor (the host of tiles is an object), found cuda-tile\n");
  CHECK(tool("tileir", "cuda-tile,cuda-tile-sm_90").err ==
        "-e tileir: expected one target with tiles, found cuda-tile, cuda-tile-sm_90\n");
  CHECK(tool("cubin", "cuda-tile-sm_90,cuda-sm_90").err ==
        "-e cubin: expected one target that is a CUDA device, found cuda-tile-sm_90, cuda-sm_90\n");
  CHECK(tool("tileir", "x86-64").err == "-e tileir: expected a target with tiles, such as cuda-tile-sm_90, found x86-64\n");
  CHECK(tool("cubin", "cuda-tile")
            .err.find("cubin: expected a target that names a chip, such as cuda-tile-sm_90, found cuda-tile") !=
        std::string::npos);
}

TEST_CASE("8-bit floats for a chip that lacks them") {
  const ToolResult none = tool("tileir", "cuda-tile-sm_80", "tile_bytes");
  CHECK(none.err.find("tiles: expected elements of a type that sm_80 has, found x of e4m3, which chips have from sm_89 on") !=
        std::string::npos);
  CHECK(none.code != 0);
  for (const char* target : {"cuda-tile", "cuda-tile-sm_90"}) CHECK(tool("tileir", target, "tile_bytes").err == "");
}
