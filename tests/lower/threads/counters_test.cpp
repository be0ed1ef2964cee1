// What loops of a launch count instead of dividing: the slots of rings, and remainders of a loop's variable by themselves.
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>

#include "tests/lower/check.h"
#include "tests/lower/launched.h"
#include "tests/support/text_parts.h"

using namespace ashlar;
using text_parts::count;

namespace {

// y[i] = the sum over k of x[32 k + i], a tile for each k, in a ring
struct Ring {
  lang::DefinitionScope scope;
  Symbol N{"N", {.multiple_of = 32}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {32});
  Axis k{"k", N / 32};
  Tensor total;
  lang::Built built;
  Schedule s;
  Ring(int stages, const char* target)
      : total(compute("total", {32}, [&](Var i) { return sum(x(k * 32 + i), k); })),
        built((lang::bind(y, total), lang::build_program("ring", {x, y}))),
        s(built, Target::parse(target)) {
    const auto [step, tile] = handmade::tile_of_steps(s, total, x);
    tile.bind(tile.spatial<1>()[0], gpu::threads);
    s[total].pipeline(step, {.stages = stages, .loads = {tile}, .async_copy = true});
  }
};

// y[i, t] = x[i, (t + a) % stages], one after the other for each a; t is a loop of the thread i
struct Remainders {
  lang::DefinitionScope scope;
  Symbol T{"T"};
  Tensor x, y = lang::make_output("y", i32, {4, T});
  lang::Built built;
  Schedule s;
  Remainders(std::int64_t stages, const std::vector<std::int64_t>& ahead)
      : x(lang::make_input("x", i32, {4, stages})),
        built((define(stages, ahead), lang::build_program("remainders", {x, y}))),
        s(built, Target::parse("cuda-sm_80")) {
    s[y].bind(s[y].spatial<2>()[0], gpu::thread_x);
  }
  void define(std::int64_t stages, const std::vector<std::int64_t>& ahead) {
    lang::bind(y, compute("y", {4, T}, [&](Var i, Var t) {
                 Expr all = i32(0);
                 for (const std::int64_t a : ahead) all = all * 10 + x(i, (t + a) % stages);
                 return all;
               }));
  }
};

}  // namespace

TEST_CASE("a ring of any number of stages counts its slots: one selection an iteration") {
  for (const char* target : {"cuda-sm_80", "vulkan"})
    for (int stages = 2; stages <= 7; ++stages) {
      CAPTURE(target);
      CAPTURE(stages);
      Ring r(stages, target);
      const std::string text = ir::text(handmade::launched(r.s));
      const bool counts = stages != 2 && stages != 4;
      CHECK(count(text, "% " + std::to_string(stages)) == (counts ? 0 : 2));
      CHECK(count(text, "select(slot") == (counts ? 1 : 0));
      CHECK(count(text, "slots[0] = ") == (counts ? 2 : 0));
      handmade::same_on_device(r.built.program, r.s, {{{"N", 32 * 17}}, {{"N", 32 * 2}}, {{"N", 32}}, {{"N", 0}}});
    }
}

TEST_CASE("remainders that follow each other are kept once, whichever of a ring's slots are used") {
  struct Case {
    std::int64_t stages;
    std::vector<std::int64_t> ahead;
    std::size_t kept, selections;
  };
  for (const Case& c : {Case{3, {0}, 1, 1}, Case{3, {0, 1, 2}, 1, 2}, Case{5, {0, 1, 3}, 2, 2}, Case{6, {5, 11}, 1, 1},
                        Case{7, {0, 2, 4}, 3, 3}, Case{4, {0, 1}, 0, 0}}) {
    CAPTURE(c.stages);
    CAPTURE(c.ahead.size());
    Remainders r(c.stages, c.ahead);
    const std::string text = ir::text(handmade::launched(r.s));
    CHECK(count(text, "slots[") == 3 * c.kept);  // begun, read, moved
    CHECK(count(text, "select(slot") == c.selections);
    handmade::same_on_device(r.built.program, r.s, {{{"T", 23}}, {{"T", 1}}, {{"T", 0}}});
  }
}
