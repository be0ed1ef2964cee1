// Tile kernels as bytecode: their text and their bytes word for word, and what NVIDIA's assembler makes of them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include <ashlar/codegen/tileir.h>
#include <ashlar/ir/refusal.h>

#include "tests/golden.h"
#include "tests/skip.h"
#include "tests/tileir/kernels.h"

using namespace tiles;

namespace {

struct Case {
  const char* name;
  ir::tile::Kernel kernel;
};
ir::tile::Kernel by_eight_warps() {
  ir::tile::Kernel k = product(128, 256, 64);
  k.hints = {{ir::HintKind::worker_warps, 8, ""}};
  return k;
}
// Of chips alone, which version 13.1 of the format has.
ir::tile::Kernel with_hints() {
  using ir::HintKind;
  ir::tile::Kernel k = product(128, 128, 64);
  k.hints = {{HintKind::occupancy, 2, "sm_90"}, {HintKind::occupancy, 1, "sm_100"}, {HintKind::cluster, 2, "sm_100"}};
  for (ir::tile::Stmt& s : k.body) {
    if (auto* store = std::get_if<ir::tile::Store>(&s.node)) store->hints = {{HintKind::tma, 0, "sm_100"}};
    if (auto* loop = std::get_if<ir::tile::For>(&s.node))
      for (ir::tile::Stmt& inside : loop->body)
        if (auto* load = std::get_if<ir::tile::Load>(&inside.node)) load->hints = {{HintKind::latency, 6, "sm_90"}};
  }
  return k;
}
std::vector<Case> cases() {
  return {{"product_by_eight_warps", by_eight_warps()},
          {"scaled", scaled()},
          {"product_with_hints", with_hints()},
          {"counted", counted()},
          {"product_of_tf32", product_of_tf32()},
          {"every_second", every_second()},
          {"below_the_largest", below_the_largest()},
          {"largest_and_sums", largest_and_sums()},
          {"product", product(128, 128, 64)}};
}

// Sixteen bytes a line, in hexadecimal.
std::string dump(const std::string& bytes) {
  std::string s;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned char b = static_cast<unsigned char>(bytes[i]);
    s += "0123456789abcdef"[b >> 4];
    s += "0123456789abcdef"[b & 15];
    s += i % 16 == 15 || i + 1 == bytes.size() ? '\n' : ' ';
  }
  return s;
}

}  // namespace

TEST_CASE("tile kernels print, and become the same bytes every time") {
  for (const Case& c : cases()) {
    ir::tile::verify(c.kernel);
    CHECK(golden(std::string("tileir/golden/") + c.name + ".txt", ir::tile::text(c.kernel)) == "");
    CHECK(golden(std::string("tileir/golden/") + c.name + ".hex", dump(codegen::tileir::bytecode(c.kernel))) == "");
  }
}

TEST_CASE("the assembler takes every kernel for every chip") {
  if (codegen::tileir::assembler().empty()) return skip::because("tiles assembled", "there is no tileiras");
  for (const char* chip : {"sm_80", "sm_90", "sm_100", "sm_120"})
    for (const Case& c : cases()) {
      const std::string what = std::string(c.name) + " for " + chip;
      INFO(what);
      std::string made;
      try {
        made = codegen::tileir::cubin(codegen::tileir::bytecode(c.kernel), chip);
      } catch (const RefusalError& e) {
        FAIL_CHECK(std::string(e.what()));
        continue;
      }
      CHECK(made.substr(1, 3) == "ELF");
    }
}
