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
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tileir_write: %s\n", e.what());
    return 1;
  }
  return 0;
}
