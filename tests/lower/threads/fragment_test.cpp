// Fragments: products by a matrix instruction of the test's own, lowered, run by the device interpreter in race mode.
#include <ashlar/ir/refusal.h>
#include <ashlar/report/explain.h>

#include "tests/lower/launched.h"
#include "tests/support/mma_operators.h"

using namespace ashlar;

namespace {

using mma_operators::Product;

std::size_t calls(const std::vector<ir::KStmt>& list, const ir::Kernel& k, const std::string& name) {
  std::size_t n = 0;
  for (const ir::KStmt& s : list) {
    const auto* call = s.as<ir::KCall>();
    n += call && k.intrinsics.at(call->intrinsic).name == name;
    for (const auto* part : s.bodies()) n += calls(*part, k, name);
  }
  return n;
}

}  // namespace

TEST_CASE("a product by fragments is the algorithm's, ragged sizes included") {
  for (int stages : {1, 2, 3})
    for (Type half : {f16, bf16}) {
      CAPTURE(stages);
      CAPTURE(half.is_float());
      Product op{Target::parse("cuda-sm_80"), {.half = half, .stages = stages}};
      handmade::same_on_device(op.built.program, op.s,
                               {{{"M", 64}, {"N", 64}, {"K", 32}},
                                {{"M", 80}, {"N", 72}, {"K", 48}},
                                {{"M", 16}, {"N", 8}, {"K", 16}},
                                {{"M", 128}, {"N", 16}, {"K", 144}},
                                {{"M", 16}, {"N", 8}, {"K", 0}}});
    }
}

TEST_CASE("lanes that read matrices of 8 x 8 in shared memory load them together, as rows or as columns") {
  Product op{Target::parse("cuda-sm_80"), {.half = f16, .stages = 2}};
  schedule::finish(op.s.scheduled(), op.s.target());
  LowerOptions o = options_for(op.s.target());
  const ir::Kernel together = lower(op.s.scheduled().program, o);
  o.matrix_loads = false;
  const ir::Kernel apart = lower(op.s.scheduled().program, o);
  CHECK(calls(together.body, together, "ldmatrix_x4") > 0);        // A, [i, k]: 16 x 16
  CHECK(calls(together.body, together, "ldmatrix_x2_trans") > 0);  // B, [k, j]: 16 x 8
  CHECK(calls(apart.body, apart, "ldmatrix_x4") + calls(apart.body, apart, "ldmatrix_x2_trans") == 0);
}

TEST_CASE("blocks and steps that lie wholly inside compute without conditions") {
  std::string flat;
  Product op{Target::parse("cuda-sm_80"), {.half = f16, .stages = 2}};
  handmade::launched(op.s, &flat);
  const std::size_t test = flat.find("if block_inside");
  REQUIRE(test != std::string::npos);
  CHECK(flat.find("block_inside = ") < test);
  // up to what runs at the rim
  const std::size_t end = flat.find("\n    else\n", flat.find("call mma"));
  REQUIRE(end != std::string::npos);
  const std::string inside = flat.substr(flat.rfind("if block_inside", end), end - flat.rfind("if block_inside", end));
  CHECK(inside.find("call mma") != std::string::npos);
  CHECK(inside.find("  if ", 2) == std::string::npos);
}

TEST_CASE("a product of fragments has the barriers of its tiles in shared memory, and none between its stores to the result") {
  const auto barriers = [](const mma_operators::Options& o) {
    Product op{Target::parse("cuda-sm_80"), o};
    const ir::Kernel k = handmade::launched(op.s);
    CHECK(handmade::barriers(k, ir::Sync::Kind::warp) == 0);
    return handmade::barriers(k);
  };
  for (bool whole : {false, true})  // false: every pair of registers has its own guard
    for (bool matrices : {false, true})
      for (bool virtual_threads : {false, true}) {
        CAPTURE(whole);
        CAPTURE(matrices);
        CAPTURE(virtual_threads);
        const auto at = [&](int stages) {
          return barriers({.stages = stages, .virtual_threads = virtual_threads, .matrices = matrices, .whole = whole});
        };
        CHECK(at(1) == 2);  // before a tile is read, before it is overwritten
        CHECK(at(2) == 1);  // that of the ring
        CHECK(at(3) == 1);
      }
  CHECK(barriers({.virtual_threads = false, .relu = true}) == 1);
}

TEST_CASE("without virtual threads; an epilogue on the registers") {
  for (bool relu : {false, true}) {
    Product op{Target::parse("cuda-sm_80"), {.virtual_threads = false, .relu = relu}};
    handmade::same_on_device(op.built.program, op.s, {{{"M", 64}, {"N", 64}, {"K", 64}}, {{"M", 80}, {"N", 72}, {"K", 48}}});
  }
}

TEST_CASE("fragments are copied by an instruction too, each lane giving an address") {
  for (int stages : {2, 3})
    for (Type half : {f16, bf16}) {
      Product op{Target::parse("cuda-sm_80"), {.half = half, .stages = stages, .matrices = true}};
      const ir::Kernel k = handmade::launched(op.s);
      // a warp has two virtual ones of 2 x 4 tiles
      CHECK(calls(k.body, k, half == f16 ? "load_a_f16" : "load_a_bf16") == 2 * 2);
      CHECK(calls(k.body, k, half == f16 ? "load_b_f16" : "load_b_bf16") == 2 * 4);
      handmade::same_on_device(
          op.built.program, op.s,
          {{{"M", 64}, {"N", 64}, {"K", 64}}, {{"M", 80}, {"N", 72}, {"K", 48}}, {{"M", 16}, {"N", 8}, {"K", 144}}});
    }
}

TEST_CASE("the text says which element each lane has") {
  Product op{Target::parse("cuda-sm_80"),
             {.stages = 1, .tile_m = 16, .tile_n = 64, .tile_k = 32, .warp_m = 16, .warp_n = 8, .virtual_threads = false}};
  std::string flat;
  const ir::Kernel k = handmade::launched(op.s, &flat);
  handmade::golden("fragment_product", flat);
  CHECK(calls(k.body, k, "mma_f16") == 2 + 1);  // of two steps of k inside, of one at the rim
}

TEST_CASE("the tiles of the products lie in no bank twice") {
  for (bool matrices : {false, true}) {
    Product op{Target::parse("cuda-sm_80"),
               {.stages = 3, .tile_m = 128, .tile_n = 128, .warp_m = 32, .warp_n = 64, .matrices = matrices}};
    const std::string text = explain(op.s);
    CAPTURE(text);
    for (const char* tile : {"A_cache", "B_cache"})
      for (const char* way : {" load ", " store "}) {
        const std::size_t at = text.find(std::string(tile) + way);
        REQUIRE(at != std::string::npos);
        CHECK(text.substr(at, text.find('\n', at) - at).find("shared: bank conflicts 1, ") != std::string::npos);
      }
    // 2 x 8 tiles of two virtual warps in f32, 2 of A and 8 of B for each in packed halves
    CHECK(text.find(std::to_string(2 * 2 * 8 * 4 + 2 * (2 * 4 + 8 * 2)) + " of 255 a thread") != std::string::npos);
  }
}
