// widen: a copy holds what its readers convert to.
#include "programs.h"

#include <ashlar/ir/print.h>
#include <ashlar/instructions/shuffles.h>

#include "tests/support/refused.h"

namespace ashlar::test {

namespace {

// C = A B, of narrow factors that are converted to `wide`, the first of them by way of `through`.
struct Narrow {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  Tensor A, B, C;
  lang::Built built;
  Schedule s;
  Narrow(Type a, Type b, Type wide, Type through)
      : A(lang::make_input("A", a, {M, K})),
        B(lang::make_input("B", b, {K, N})),
        C(lang::make_output("C", wide, {M, N})),
        built([&] {
          Axis k{"k", K};
          lang::bind(C, compute("C", {{"i", M}, {"j", N}},
                                [&](Var i, Var j) { return sum(wide(through(A(i, k))) * wide(B(k, j)), k); }));
          return lang::build_program("narrow", {A, B, C});
        }()),
        s(built, Target::parse("x86-64-v3")) {}

  void same(std::int64_t m = 5, std::int64_t n = 7, std::int64_t k = 6) {
    const auto bits = [](int at) {
      return [at](auto p) { return static_cast<double>((p[0] * 37 + p[1] * 11 + at) % 256 - 100); };
    };
    interp::Arguments expected{interp::Array::make(A.type(), {m, k}, bits(1)), interp::Array::make(B.type(), {k, n}, bits(2)),
                               interp::Array::zeros(C.type(), {m, n})};
    interp::Arguments found = expected;
    interp::run_algorithm(built.program, expected);
    interp::run(s.scheduled().program, found);
    CHECK(interp::difference(found.back().array, expected.back().array) == "");
  }
};

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("a copy, and a copy of a copy, with a fill and without") {
  for (const auto& [a, b, wide, stored] :
       {std::tuple{u8, i8, i32, i16}, {i8, u8, i32, i32}, {bf16, f16, f32, f32}, {u8, f16, f32, f32}}) {
    Narrow t(a, b, wide, wide);
    Stage rows = t.s.cache_read(t.A, {t.s[t.C]}, Scope::global, 0);
    Stage panel = t.s.cache_read(rows, {t.s[t.C]}, Scope::stack);
    panel.widen(stored);
    t.same();
    rows.widen(stored);
    t.same();
    t.same(0, 1, 1);
    const std::string text = ir::text(t.s.scheduled().program);
    CHECK(says(text, "alloc A_cache: " + ir::text(stored)));
    CHECK(says(text, "alloc A_cache_cache: " + ir::text(stored)));
    Narrow again(a, b, wide, wide);
    again.s.replay(t.s.json());
    CHECK(ir::text(again.s.scheduled().program) == text);
  }
}

TEST_CASE("refused: what the type does not hold, who reads it unconverted, other stages, after tensorize") {
  Narrow t(u8, i8, i32, i32);
  Stage rows = t.s.cache_read(t.A, {t.s[t.C]}, Scope::global), panel = t.s.cache_read(rows, {t.s[t.C]}, Scope::global);
  CHECK(says(refused([&] { panel.widen(i8); }), "expected a type that holds every u8 of A_cache_cache, found i8"));
  CHECK(says(refused([&] { panel.widen(i64); }), "expected readers of A_cache_cache that convert it to i64 or wider"));
  CHECK(says(refused([&] { rows.widen(i16); }), "expected readers of A_cache that convert it to i16 or wider"));
  CHECK(says(refused([&] { t.s[t.C].widen(i64); }), "expected a copy that cache_read made, found C"));
  CHECK(says(refused([&] { panel.widen(bool_); }),
             "expected a type: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32 or f64, found \"bool\""));
  Narrow f(f16, bf16, f32, f32);
  Stage halves = f.s.cache_read(f.A, {f.s[f.C]}, Scope::global);
  CHECK(says(refused([&] { halves.widen(bf16); }), "expected a type that holds every f16 of A_cache, found bf16"));
  Narrow n(i32, i32, i32, i8);  // the reader narrows what it reads
  Stage wide = n.s.cache_read(n.A, {n.s[n.C]}, Scope::global);
  CHECK(says(refused([&] { wide.widen(i64); }), "expected readers of A_cache that convert it to i64 or wider"));
}

TEST_CASE("refused: a copy that an instruction makes, once it does") {
  for (const bool before : {true, false}) {
    Narrow t(u8, i8, i32, i32);
    Stage rows = t.s.cache_read(t.A, {t.s[t.C]}, Scope::global, 0), panel = t.s.cache_read(rows, {t.s[t.C]}, Scope::global);
    if (before) panel.widen(i16), rows.widen(i16);
    auto [fours, at] = panel.split(panel.spatial<2>()[1], 4, Tail::pad);
    auto [place, one] = panel.split(at, 1, Tail::exact);
    panel.tensorize(place, shuffles::move(before ? i16 : u8, 4, 1));
    t.same();
    if (before) continue;
    const std::string expected = "widen: expected loops that were not tensorized yet (move this call before it), found ";
    CHECK(says(refused([&] { panel.widen(i16); }), expected));
    CHECK(says(refused([&] { panel.widen(i16); }), "widen_test.cpp"));
    CHECK(says(refused([&] { rows.widen(i16); }), "expected readers of A_cache that convert it"));
  }
}

}  // namespace ashlar::test
