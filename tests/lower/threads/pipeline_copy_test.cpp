// Asynchronous copies of a pipeline: vectors of neighbors become one copy of 4, 8 or 16 bytes where addresses are known to be
// multiples of that, and are refused, at the pipeline's line, where they are not.
#include <ashlar/ir/refusal.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>

#include "tests/lower/check.h"
#include "tests/lower/launched.h"

using namespace ashlar;

namespace {

// y[i] = the sum over k of x[64 k + i] x[64 k + 32 + i]: a tile of 64 halves for each k
struct Halves {
  lang::DefinitionScope scope;
  Symbol N{"N", {.multiple_of = 64}};
  Tensor x, y = lang::make_output("y", f32, {32});
  Axis k{"k", N / 64};
  Tensor total;
  lang::Built built;
  Schedule s;
  explicit Halves(int align, int lanes)
      : x(lang::make_input("x", f16, {N}, {.align = align})),
        total(compute("total", {32}, [&](Var i) { return sum(f32(x(k * 64 + i)) * f32(x(k * 64 + 32 + i)), k); })),
        built((lang::bind(y, total), lang::build_program("halves", {x, y}))),
        s(built, Target::parse("cuda-sm_80")) {
    const auto [step, tile] = handmade::tile_of_steps(s, total, x);
    auto [co, ci] = tile.split(tile.spatial<1>()[0], lanes, Tail::exact);
    tile.vectorize(ci).bind(co, gpu::threads);
    s[total].pipeline(step, {.stages = 3, .loads = {tile}, .async_copy = true});
  }
};

}  // namespace

TEST_CASE("vectors of halves are copied 4, 8 and 16 bytes at a time") {
  for (int lanes : {2, 4, 8}) {
    CAPTURE(lanes);
    Halves h(16, lanes);
    std::string text;
    handmade::launched(h.s, &text);
    CHECK(text.find("copy_async_" + std::to_string(2 * lanes)) != std::string::npos);
    handmade::same_on_device(h.built.program, h.s, {{{"N", 64 * 7}}, {{"N", 64}}, {{"N", 0}}});
  }
}

TEST_CASE("what may be no multiple of a copy is refused at the pipeline's line") {
  Halves h(2, 8);
  try {
    handmade::launched(h.s);
    FAIL("accepted");
  } catch (const RefusalError& e) {
    CHECK(e.refusal.text().find("pipeline_copy_test.cpp:31: pipeline: expected copies of 4, 8 or 16 bytes") == 0);
    CHECK(e.refusal.found == "x, aligned to 2 bytes");
  }
}
