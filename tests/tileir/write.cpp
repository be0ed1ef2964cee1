// Writes the bytecode of programs that are scheduled for tiles into a folder, a file for each program, which has one launch:
//
//   tileir_write FOLDER        product.tileirbc, ...
//
// for tests/tileir/sass_test.py, which looks at the machine code that the assembler makes of it.
#define DOCTEST_CONFIG_IMPLEMENT  // the programs' header has checks, which are not run here
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>

#include <ashlar/codegen/tileir.h>
#include <ashlar/ops/attention_keys.h>
#include <ashlar/ops/norm.h>
#include <ashlar/schedules/by_default.h>
#include <ashlar/schedules/tile_attention.h>
#include <ashlar/schedules/tile_matmul.h>
#include <ashlar/schedules/tile_rows.h>

#include "tests/source_dir.h"
#include "tests/tileir/programs.h"

std::string source_dir() { return ASHLAR_SOURCE_DIR; }

namespace {

// The first launch, of as many as there are.
void write(const std::string& folder, const std::string& name, const ashlar::Schedule& s, std::size_t all = 1,
           const std::string& chip = {}) {
  const std::vector<ashlar::TileLaunch> launches = tiles::lowered(s, {.aligned = true, .chip = chip});
  if (launches.size() != all) throw ashlar::InternalError(name + " has " + std::to_string(launches.size()) + " launches");
  std::ofstream out(folder + "/" + name + ".tileirbc", std::ios::binary);
  out << ashlar::codegen::tileir::bytecode(launches[0].kernel);
  out.close();
  if (!out) throw ashlar::InternalError("cannot write " + name + " into " + folder);
}

// One head after the other of `length` numbers in bf16, both products by tensor cores.
void write_attention(const std::string& folder, const char* chip, std::int64_t length, const std::string& kind) {
  using namespace ashlar;
  lang::DefinitionScope scope;
  Symbol B{"B"}, H{"H"}, M{"M", {.multiple_of = 64}}, N{"N", {.multiple_of = 64}};
  const Tensor q = lang::make_input("q", bf16, {B, H, M, length}), k = lang::make_input("k", bf16, {B, H, N, length}),
               v = lang::make_input("v", bf16, {B, H, N, length}), y = lang::make_output("y", bf16, {B, H, M, length});
  const ops::Attention result = ops::attention(q, k, v,
                                               {.causal = kind == "causal" ? ops::Causal::first : ops::Causal::no,
                                                .finite = true,
                                                .rounded = true,
                                                .approximate = kind != "exact"});
  lang::bind(y, result);
  Schedule s(lang::build_program("attention", {q, k, v, y}), Target::parse("cuda-tile-" + std::string(chip)));
  schedules::tile_attention(s, result);
  write(folder, kind + "_" + std::to_string(length) + "_" + chip, s);
}

// One query of each of 8 heads that share keys; each block has 512 keys.
void write_decode(const std::string& folder, const char* chip, std::int64_t length) {
  using namespace ashlar;
  lang::DefinitionScope scope;
  Symbol B{"B"}, H{"H"}, N{"N", {.multiple_of = 64}};
  const Tensor q = lang::make_input("q", bf16, {B, H * 8, 1, length}), k = lang::make_input("k", bf16, {B, H, N, length}),
               v = lang::make_input("v", bf16, {B, H, N, length}), y = lang::make_output("y", bf16, {B, H * 8, 1, length});
  const ops::Attention result = ops::attention(q, k, v, {.groups = 8, .rounded = true, .approximate = true});
  lang::bind(y, result);
  Schedule s(lang::build_program("decode", {q, k, v, y}), Target::parse("cuda-tile-" + std::string(chip)));
  schedules::tile_attention(s, result, {.part_keys = 512});
  write(folder, "decode_" + std::to_string(length) + "_" + chip, s, 2);
}

// Keys that data name: sequences of several lengths, or pages of 64 rows and a query of each of 8 heads.
void write_named(const std::string& folder, const char* chip, bool pages) {
  using namespace ashlar;
  lang::DefinitionScope scope;
  Symbol B{"B"}, H{"H"}, M{"M", {.multiple_of = 64}}, N{"N", {.multiple_of = 64}}, P{"P"}, C{"C", {.min = 1}};
  const Expr rows = pages ? Expr(1) : Expr(M), heads = pages ? Expr(8 * H) : Expr(H), keys = pages ? Expr(64) : Expr(N);
  const Expr of = pages ? Expr(C) : Expr(B);
  const Tensor q = lang::make_input("q", bf16, {B, heads, rows, 128}), k = lang::make_input("k", bf16, {of, H, keys, 128}),
               v = lang::make_input("v", bf16, {of, H, keys, 128}), lengths = lang::make_input("lengths", i32, {B}),
               table = lang::make_input("table", i32, {B, P}), y = lang::make_output("y", bf16, {B, heads, rows, 128});
  const ops::AttentionOptions o{.groups = pages ? 8 : 1, .finite = true, .rounded = true, .approximate = true};
  const Tensor K = pages ? ops::paged(k, table) : k, V = pages ? ops::paged(v, table) : v;
  const ops::Attention result = ops::attention(q, K, V, o, ops::SeenKeys{.ends = lengths});
  lang::bind(y, result);
  std::vector<lang::ArgumentRef> arguments{q, k, v, lengths, y};
  if (pages) arguments = {q, k, v, lengths, table, y};
  Schedule s(lang::build_program("named", arguments), Target::parse("cuda-tile-" + std::string(chip)));
  schedules::tile_attention(s, result, {.keys = pages ? 64 : 0, .part_keys = pages ? 512 : 0});
  write(folder, (pages ? "paged_128_" : "lengths_128_") + std::string(chip), s, pages ? 2 : 1);
}

// A product of 64 x 256 results and 8192 terms.
void write_parts(const std::string& folder) {
  using namespace ashlar;
  lang::DefinitionScope scope;
  const Tensor A = lang::make_input("A", bf16, {64, 8192}), B = lang::make_input("B", bf16, {8192, 256}),
               C = lang::make_output("C", f32, {64, 256});
  const Axis k{"k", 8192};
  const Tensor sums = compute("sums", {64, 256}, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k); });
  lang::bind(C, sums);
  Schedule s(lang::build_program("parts", {A, B, C}), Target::parse("cuda-tile-sm_90"));
  schedules::tile_matmul(s, s[sums]);
  write(folder, "part_of_k", s, 2);
}

// On rows of 1024 floats
void write_rows(const std::string& folder) {
  using namespace ashlar;
  for (const bool norm : {false, true}) {
    lang::DefinitionScope scope;
    Symbol R{"R"};
    const Tensor x = lang::make_input("x", f32, {R, 1024}), weight = lang::make_input("weight", f32, {1024}),
                 bias = lang::make_input("bias", f32, {1024}), y = lang::make_output("y", f32, {R, 1024});
    const Target target = Target::parse("cuda-tile-sm_90");
    if (norm) {
      const ops::Normalized r = ops::layer_norm(x, weight, bias);
      lang::bind(y, r);
      Schedule s(lang::build_program("rows", {x, weight, bias, y}), target);
      schedules::tile_rows(s, {s[r.sum], s[r.mean], s[r.deviations], s[r.inverse], s[r.result]});
      write(folder, "row_layer_norm", s);
    } else {
      lang::bind(y, ops::softmax(x));
      Schedule s(lang::build_program("rows", {x, y}), target);
      schedule_by_default(s);
      write(folder, "row_softmax", s);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: tileir_write FOLDER\n");
    return 2;
  }
  try {
    const std::string folder = arguments[1];
    write(folder, "product", tiles::Product(128, 256, 64, 16).s);
    write(folder, "bias_relu", tiles::BiasRelu().s);
    write(folder, "smooth", tiles::Smooth().s);
    write(folder, "softmax", tiles::Softmax(1024, 1024).s);
    write(folder, "softmax_padded", tiles::Softmax(1000, 1024).s);
    for (const std::string chip : {"sm_80", "sm_90", "sm_100"})
      write(folder, "product_ragged_" + chip, tiles::Product(128, 256, 64).s, 1, chip);
    for (const char* chip : {"sm_80", "sm_90", "sm_100"})
      for (const int length : {64, 128}) {
        for (const char* kind : {"attention", "causal"}) write_attention(folder, chip, length, kind);
        if (length == 64) write_attention(folder, chip, length, "exact");
      }
    for (const char* chip : {"sm_80", "sm_90", "sm_100", "sm_120"})
      for (const int length : {64, 128}) write_decode(folder, chip, length);
    for (const char* chip : {"sm_80", "sm_90", "sm_100"})
      for (const bool pages : {false, true}) write_named(folder, chip, pages);
    write_parts(folder);
    write_rows(folder);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tileir_write: %s\n", e.what());
    return 1;
  }
  return 0;
}
