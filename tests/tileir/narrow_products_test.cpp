// Products of 8-bit floats and of bytes by schedules::tile_matmul: the bytecode against the interpreter, and assembled for the
// chips where there is an assembler.
#include <ashlar/codegen/tileir.h>
#include <ashlar/ops.h>
#include <ashlar/schedules/by_default.h>
#include <ashlar/schedules/tile_matmul.h>

#include "tests/skip.h"
#include "tests/tileir/lowered.h"

using namespace tiles;

namespace {

// C[i, j] = sum over k of A[i, k] B[k, j], or B[j, k] where it is transposed, and a scale for each column
struct Narrow {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  Axis k{"k", K};
  Tensor A, B, scale, C, product, result;
  lang::Built built;
  Schedule s;
  Narrow(Type a, Type b, bool transposed, const char* target)
      : A(lang::make_input("A", a, {M, K})),
        B(transposed ? lang::make_input("B", b, {N, K}) : lang::make_input("B", b, {K, N})),
        scale(lang::make_input("scale", f32, {N})),
        C(lang::make_output("C", f32, {M, N})),
        product(compute("product", {M, N},
                        [&](Var i, Var j) {
                          const Type to = a.is_float() ? f32 : i32;
                          const Expr right = transposed ? B(j, k) : B(k, j);
                          return ashlar::sum(ir::cast(to, A(i, k)) * ir::cast(to, right), k);
                        })),
        result(compute("result", {M, N}, [&](Var i, Var j) { return f32(product(i, j)) * scale(j); })),
        built((lang::bind(C, result), lang::build_program("narrow", {A, B, scale, C}))),
        s(built, Target::parse(target)) {}
};

struct Pair {
  Type a, b;
};
const std::vector<Pair> pairs{{e4m3, e4m3}, {e5m2, e5m2}, {i8, i8}, {u8, i8}, {u8, u8}};

}  // namespace

TEST_CASE("products of 8-bit floats and of bytes by tile_matmul: one launch, one mma, ragged extents too") {
  for (const auto& [a, b] : pairs)
    for (const bool transposed : {false, true}) {
      CAPTURE(ir::text(a));
      CAPTURE(ir::text(b));
      CAPTURE(transposed);
      Narrow op(a, b, transposed, "cuda-tile-sm_90");
      schedules::tile_matmul(op.s, op.s[op.product], op.s[op.result], {.rows = 16, .columns = 32, .terms = 32});
      const std::vector<TileLaunch> launches = lowered(op.s);
      REQUIRE(launches.size() == 1);
      CHECK(ir::tile::text(launches[0].kernel).find(" = mma ") != std::string::npos);
      // Products of these are exact in f32, and so are sums of the test's small numbers.
      same(op.built, op.s,
           {{{"M", 16}, {"N", 32}, {"K", 64}},
            {{"M", 19}, {"N", 37}, {"K", 45}},
            {{"M", 1}, {"N", 1}, {"K", 1}},
            {{"M", 2}, {"N", 3}, {"K", 0}}});
    }
}

TEST_CASE("8-bit floats are refused for sm_80, which lacks them; bytes are not") {
  for (const auto& [a, b] : pairs) {
    Narrow op(a, b, false, "cuda-tile-sm_80");
    schedules::tile_matmul(op.s, op.s[op.product], op.s[op.result]);
    const std::string said = refusal([&] { lowered(op.s); });  // the schedule's target says it too
    const std::string expected =
        "tiles: expected elements of a type that sm_80 has, found A of " + ir::text(a) + ", which chips have from sm_89 on";
    CHECK_MESSAGE((a.is_float() ? said.find(expected) != std::string::npos : said.empty()), said);
    Narrow later(a, b, false, "cuda-tile-sm_90");
    schedules::tile_matmul(later.s, later.s[later.product], later.s[later.result]);
    CHECK(refusal([&] { lowered(later.s); }).empty());
    CHECK(refusal([&] { lowered(later.s, {.chip = "sm_90"}); }).empty());
    CHECK((refusal([&] { lowered(later.s, {.chip = "sm_80"}); }).find(expected) != std::string::npos) == a.is_float());
  }
}

TEST_CASE("the assembler takes products of 8-bit floats and of bytes") {
  if (codegen::tileir::assembler().empty()) return skip::because("8-bit products assembled", "there is no tileiras");
  const auto assembled = [](const Pair& types, const char* chip) {
    Narrow op(types.a, types.b, false, "cuda-tile-sm_90");
    schedules::tile_matmul(op.s, op.s[op.product], op.s[op.result], {.rows = 64, .columns = 64, .terms = 64});
    return codegen::tileir::cubin(codegen::tileir::bytecode(lowered(op.s)[0].kernel), chip);
  };
  for (const Pair& types : pairs) CHECK_FALSE(assembled(types, "sm_90").empty());
  CHECK_FALSE(assembled({i8, i8}, "sm_80").empty());
  CHECK(refusal([&] { assembled({e4m3, e4m3}, "sm_80"); }).find("unsupported type") != std::string::npos);
}
