// Products by an instruction that the test describes, for every chip: assembled without a complaint, as many instructions as
// tiles, accumulators in registers. Each product of a warp is an instruction; no register of its is ever in memory.
#include <doctest/doctest.h>

#include "tests/cuda/assembler.h"
#include "tests/cuda/programs.h"
#include "tests/support/mma_operators.h"
#include "tests/support/text_parts.h"

using namespace ashlar;

namespace {

using text_parts::count;

}  // namespace

TEST_CASE("products by fragments assemble, one instruction a tile") {
  for (const std::string& target : cuda::targets())
    for (Type half : {f16, bf16})
      for (int stages : {1, 2, 3}) {
        CAPTURE(target);
        CAPTURE(stages);
        const Target t = Target::parse(target);
        mma_operators::Product op{t,
                                  {.half = half, .stages = stages, .tile_m = 128, .tile_n = 128, .warp_m = 32, .warp_n = 64}};
        const std::string text = codegen::ptx::translate(cuda::lowered(op.s), t).text;
        CHECK(cuda::complaints(text, t.device().chip) == "");
        // 2 x 8 tiles of a warp, for each of 2 virtual ones, at both steps of k inside and at one of the rim
        CHECK(count(text, "mma.sync.aligned.m16n8k16.row.col.f32.") == 2 * 2 * 8 * (2 + 1));
        CHECK(count(text, half == f16 ? ".f16.f16.f32 {" : ".bf16.bf16.f32 {") == 2 * 2 * 8 * (2 + 1));
        CHECK(count(text, ".local") == 0);
        CHECK((count(text, "cp.async.cg.shared.global") > 0) == (stages == 3));
      }
}

TEST_CASE("a product by ldmatrix, cp.async and mma") {
  for (const std::string& target : cuda::targets()) {
    CAPTURE(target);
    const Target t = Target::parse(target);
    mma_operators::Product op{t, {.stages = 3, .tile_m = 128, .tile_n = 128, .warp_m = 32, .warp_n = 64, .matrices = true}};
    const std::string text = codegen::ptx::translate(cuda::lowered(op.s), t).text;
    CHECK(cuda::complaints(text, t.device().chip) == "");
    CHECK(count(text, "mma.sync") == 2 * 2 * 8);
    CHECK(count(text, "ldmatrix.sync.aligned.m8n8.x4.shared.b16") == 2 * 2);
    CHECK(count(text, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16") == 2 * 8);
    CHECK(count(text, "ld.shared") == 0);
    CHECK(count(text, ".local") == 0);
  }
}

TEST_CASE("of whole tiles nothing is guarded: one loop, its body without a branch") {
  for (const std::string& target : cuda::targets()) {
    CAPTURE(target);
    const Target t = Target::parse(target);
    mma_operators::Product op{t, mma_operators::whole_tiles(bf16)};
    const std::string text = codegen::ptx::translate(cuda::lowered(op.s), t).text;
    CHECK(cuda::complaints(text, t.device().chip) == "");
    CHECK(count(text, "mma.sync") == 4 * 8);
    const std::size_t first = text.find("mma.sync"), last = text.rfind("mma.sync");
    CHECK(text.substr(first, last - first).find("bra") == std::string::npos);
  }
}
