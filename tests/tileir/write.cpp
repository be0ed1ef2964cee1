// Writes the bytecode of programs that are scheduled for tiles into a folder, a file for each launch:
//
//   tileir_write FOLDER        product.tileirbc, ...
//
// for tests/tileir/sass_test.py, which looks at the machine code that the assembler makes of it.
#define DOCTEST_CONFIG_IMPLEMENT  // the programs' header has checks, which are not run here
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>

#include <ashlar/codegen/tileir.h>
#include <ashlar/ops/attention.h>
#include <ashlar/schedules/tile_attention.h>
#include <ashlar/schedules/tile_matmul.h>

#include "tests/source_dir.h"
#include "tests/tileir/programs.h"

std::string source_dir() { return ASHLAR_SOURCE_DIR; }

namespace {

void write(const std::string& folder, const std::string& name, const ashlar::Schedule& s) {
  for (const ashlar::TileLaunch& l : tiles::lowered(s)) {
    std::ofstream out(folder + "/" + name + ".tileirbc", std::ios::binary);
    out << ashlar::codegen::tileir::bytecode(l.kernel);
    out.close();
    if (!out) throw ashlar::InternalError("cannot write " + name + " into " + folder);
  }
}

// One head after the other of `length` numbers in bf16, both products by tensor cores.
void write_attention(const std::string& folder, const char* chip, std::int64_t length, ashlar::ops::Causal causal,
                     const std::string& name) {
  using namespace ashlar;
  lang::DefinitionScope scope;
  Symbol B{"B"}, H{"H"}, M{"M", {.multiple_of = 64}}, N{"N", {.multiple_of = 64}};
  const Tensor q = lang::make_input("q", bf16, {B, H, M, length}), k = lang::make_input("k", bf16, {B, H, N, length}),
               v = lang::make_input("v", bf16, {B, H, N, length}), y = lang::make_output("y", bf16, {B, H, M, length});
  const ops::Attention result = ops::attention(q, k, v, {.causal = causal, .finite = true, .rounded = true});
  lang::bind(y, result);
  Schedule s(lang::build_program("attention", {q, k, v, y}), Target::parse("cuda-tile-" + std::string(chip)));
  schedules::tile_attention(s, result);
  write(folder, name, s);
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
    write(folder, "product_ragged", tiles::Product(128, 256, 64).s);
    write(folder, "bias_relu", tiles::BiasRelu().s);
    write(folder, "smooth", tiles::Smooth().s);
    write(folder, "softmax", tiles::Softmax(1024, 1024).s);
    write(folder, "softmax_padded", tiles::Softmax(1000, 1024).s);
    for (const char* chip : {"sm_80", "sm_90", "sm_100"})
      for (const int length : {64, 128}) {
        const std::string name = std::to_string(length) + "_" + chip;
        write_attention(folder, chip, length, ashlar::ops::Causal::no, "attention_" + name);
        write_attention(folder, chip, length, ashlar::ops::Causal::first, "causal_" + name);
      }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tileir_write: %s\n", e.what());
    return 1;
  }
  return 0;
}
