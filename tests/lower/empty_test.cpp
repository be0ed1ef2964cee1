// Calls in which a part of the program is empty, because a Symbol is 0, while another is not: what is computed for readers
// without a point reads nothing, and what is needed is there all the same. Cases that the fuzzer found name their seed.
#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/lower/launched.h"

using namespace ashlar;

namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

// The scheduled tree and the lowered kernel give what the algorithm gives, for arguments of these shapes; neither reads or
// writes outside of anything (the interpreters report it).
void check(const Schedule& s, const Shapes& shapes) {
  const ir::Program& p = s.scheduled().program;
  CAPTURE(s.text());
  interp::Arguments expected;
  double next = 0;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const Type type = p.buffer(p.arguments[k].id).type;
    expected.emplace_back(p.arguments[k].kind == ir::ArgumentKind::output
                              ? interp::Array::zeros(type, shapes[k])
                              : interp::Array::make(type, shapes[k], [&](std::span<const std::int64_t>) { return ++next; }));
  }
  interp::Arguments tree = expected, flat = expected;
  interp::run_algorithm(p, expected);
  REQUIRE_NOTHROW(interp::run(p, tree));
  REQUIRE_NOTHROW(interp::run(lower(p), flat));
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    CHECK(interp::difference(tree[k].array, expected[k].array) == "");
    CHECK(interp::difference(flat[k].array, expected[k].array) == "");
  }
}

}  // namespace

TEST_CASE("a reader without a point does not widen a cache past its source (fuzz seed 2248)") {
  lang::DefinitionScope scope;
  const Symbol N("N", {.min = 1});
  const Tensor c = lang::make_input("c", f32, {N}), y = lang::make_output("y", f32, {N - 1}),
               z = lang::make_output("z", f32, {N});
  const Tensor t = compute("t", {N - 1}, [&](Var i) { return c(i) + 1; });
  lang::bind(y, compute("y", {N - 1}, [&](Var i) { return c(i) * 2; }));
  lang::bind(z, compute("z", {N}, [&](Var i) { return boundary::constant(t, 0)(i + 2); }));
  Schedule s(lang::build_program("kept", {c, y, z}), Target());
  s[t].compute_at(s[z].spatial<1>()[0]);
  s.cache_read(c, {y, t}, Scope::global);
  s[z].peel(s[z].spatial<1>()[0], Peel::first);
  for (std::int64_t n : {1, 2, 3, 4, 9}) check(s, {{n}, {n - 1}, {n}});
}

TEST_CASE("a window is not computed for readers without a point, while another output has some") {
  lang::DefinitionScope scope;
  const Symbol N("N"), M("M");
  const Tensor x = lang::make_input("x", f32, {N}), w = lang::make_input("w", f32, {M});
  const Tensor y = lang::make_output("y", f32, {N}), z = lang::make_output("z", f32, {M});
  const Tensor t = compute("t", [&](Var i) { return x(clamp(i, 0, N - 1)) + 1; });  // over [-1, N]: two points where N is 0
  lang::bind(y, compute("y", {N}, [&](Var i) { return t(i - 1) + t(i + 1); }));
  lang::bind(z, compute("z", {M}, [&](Var i) { return w(i) * 2; }));
  const Schedule s(lang::build_program("kept", {x, w, y, z}), Target());
  CHECK(s.text().find("nest t i0 [-1, +select(N > 0, N + 2, 0))") != std::string::npos);
  for (std::int64_t n : {0, 1, 5})
    for (std::int64_t m : {0, 1, 5}) check(s, {{n}, {m}, {n}, {m}});
}

TEST_CASE("an input that is empty is not cached, while another output has points") {
  lang::DefinitionScope scope;
  const Symbol N("N", {.max = 1}), M("M");
  const Tensor x = lang::make_input("x", f32, {N}), w = lang::make_input("w", f32, {M});
  const Tensor y = lang::make_output("y", f32, {N, 4}), z = lang::make_output("z", f32, {M});
  lang::bind(y, compute("y", {N, 4}, [&](Var i, Var j) { return x(0) + x(i) + f32(j); }));
  lang::bind(z, compute("z", {M}, [&](Var i) { return w(i) * 2; }));
  Schedule s(lang::build_program("kept", {x, w, y, z}), Target());
  s.cache_read(x, {y}, Scope::global);
  for (std::int64_t n : {0, 1})
    for (std::int64_t m : {0, 3}) check(s, {{n}, {m}, {n, 4}, {m}});
}

TEST_CASE("where neither of two forms has anything to compute, none is chosen (fuzz seed 402802 for cuda-sm_80)") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {4, 0}), y = lang::make_output("y", f32, {4, 0});
  Tensor twice = compute("twice", {4, 0}, [&](Var i, Var j) { return x(i, j) * 2; });
  lang::bind(y, twice);
  Schedule s(lang::build_program("nothing", {x, y}), Target::parse("cuda-sm_80"));
  auto [i, j] = s[twice].spatial<2>();
  const Stage tile = s.cache_read(x, {twice}, Scope::shared).compute_at(j);
  s[twice].bind(i, gpu::block_x);
  s[twice].pipeline(j, {.stages = 2, .loads = {tile}, .async_copy = true, .any_alignment = true});
  CHECK(handmade::launched(s).body.empty());
}

TEST_CASE("what a reduction starts from is there where it has no terms") {
  lang::DefinitionScope scope;
  const Symbol K("K");
  const Tensor x = lang::make_input("x", f32, {K}), b = lang::make_input("b", f32, {K + 4});
  const Tensor y = lang::make_output("y", f32, {max(K, 3)});
  const Tensor bias = compute("bias", [&](Var i) { return b(i) + 1; });
  const Axis k("k", K);
  lang::bind(y, compute("y", {max(K, 3)}, [&](Var i) { return sum(x(k) * f32(i), k).from(bias(i)); }));
  const Schedule s(lang::build_program("kept", {x, b, y}), Target());
  for (std::int64_t n : {0, 1, 3, 5}) check(s, {{n}, {n + 4}, {std::max<std::int64_t>(n, 3)}});
}

TEST_CASE("storage of a reduction holds its starts where it has no terms") {
  lang::DefinitionScope scope;
  const Symbol K("K");
  const Tensor x = lang::make_input("x", f32, {K}), y = lang::make_output("y", f32, {max(K, 3)});
  const Axis k("k", K);
  const Tensor t = compute("t", {max(K, 3)}, [&](Var i) { return sum(x(k) * f32(i), k).from(f32(i)); });
  lang::bind(y, compute("y", {max(K, 3)}, [&](Var i) { return t(i) + 1; }));
  const Schedule s(lang::build_program("kept", {x, y}), Target());
  for (std::int64_t n : {0, 1, 3, 5}) check(s, {{n}, {std::max<std::int64_t>(n, 3)}});
}

TEST_CASE("the start of a reduction may not rely on its terms") {
  lang::DefinitionScope scope;
  const Symbol N("N"), K("K");
  const Tensor x = lang::make_input("x", f32, {K}), y = lang::make_output("y", f32, {N});
  const Axis k("k", K);
  lang::bind(y, compute("y", {N}, [&](Var) { return sum(x(k), k).from(x(K - 1)); }));  // K may be 0, and N not
  CHECK_THROWS_WITH_AS(Schedule(lang::build_program("kept", {x, y}), Target()), doctest::Contains("K - 1"), RefusalError);
}

TEST_CASE("a cache with a fill value has a value everywhere, and keeps its box") {
  lang::DefinitionScope scope;
  const Symbol N("N"), M("M");
  const Tensor x = lang::make_input("x", f32, {N}), w = lang::make_input("w", f32, {M});
  const Tensor y = lang::make_output("y", f32, {N}), z = lang::make_output("z", f32, {M});
  const Axis k("k", 3);
  lang::bind(y, compute("y", {N}, [&](Var i) { return sum(boundary::constant(x, 0)(i + k), k); }));
  lang::bind(z, compute("z", {M}, [&](Var i) { return w(i) * 2; }));
  Schedule s(lang::build_program("kept", {x, w, y, z}), Target());
  const Stage held = s.cache_read(x, {y}, Scope::global, 0.0f);
  held.split(held.spatial<1>()[0], 4, Tail::pad);
  CHECK(s.text().find("select(N") == std::string::npos);
  for (std::int64_t n : {0, 1, 5})
    for (std::int64_t m : {0, 3}) check(s, {{n}, {m}, {n}, {m}});
}

TEST_CASE("copies hold what is read of a tensor, and not what a condition keeps from being read") {
  lang::DefinitionScope scope;
  const Symbol T("T");
  const Tensor x = lang::make_input("x", f32, {T}), y = lang::make_output("y", f32, {T});
  const Tensor twice = compute("twice", {{"t", T}}, [&](Var t) { return x(t) * 2; });
  const Tensor d = compute(
      "d", {{"t", T}}, [&](Var t) { return twice(t) - select(t >= 4, twice(t - 4), 0) + select(t < T - 3, x(t + 3), x(t)); });
  lang::bind(y, d);
  const lang::Built built = lang::build_program("comb", {x, y});
  const auto same = [](const Schedule& s) {
    for (const std::int64_t n : {0, 1, 3, 4, 5, 8, 21}) check(s, {{n}, {n}});
  };
  Schedule whole(built, Target::parse("x86-64-v3"));
  whole.cache_read(twice, {d}, Scope::global);
  whole.cache_read(x, {d}, Scope::global);
  CHECK(whole.text().find("nest twice_cache t [0, +T)") != std::string::npos);
  same(whole);
  Schedule tiles(built, Target::parse("x86-64-v3"));
  auto [to, ti] = tiles[d].split(tiles[d].spatial<1>()[0], 8);
  const Stage first = tiles.cache_read(twice, {d}, Scope::stack), second = tiles.cache_read(first, {d}, Scope::stack);
  second.compute_at(to), first.compute_at(to);
  tiles.cache_read(x, {d}, Scope::stack).compute_at(to);
  tiles[d].vectorize(ti);
  same(tiles);
  // what pads reads past the condition, which is refused
  Schedule padded(built, Target::parse("x86-64-v3"));
  const Stage copy = padded.cache_write(d, Scope::global);
  padded.cache_read(twice, {copy}, Scope::global);
  const auto refused = padded.attempt([&] { copy.split(copy.spatial<1>()[0], 8, Tail::pad); });
  REQUIRE(refused);
  CHECK(refused->text().find("expected reads of ") != std::string::npos);
}

TEST_CASE("a boundary reads the one element that there is, and neighbors inside") {
  using Extended = Tensor (*)(const Tensor&, Where);
  for (const auto& [name, extended] : {std::pair<const char*, Extended>{"reflected", boundary::reflect},
                                       {"mirrored", boundary::mirror},
                                       {"wrapped", boundary::wrap},
                                       {"repeated", boundary::repeat}}) {
    CAPTURE(name);
    lang::DefinitionScope scope;
    const Symbol N("N");
    const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
    const Tensor wide = extended(x, Where::current());
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return wide(i - 5) * 100 + wide(i + 7); }));
    Schedule s(lang::build_program(name, {x, y}), Target::parse("x86-64-v3"));
    s[y].vectorize(s[y].spatial<1>()[0], 4);
    for (const std::int64_t n : {0, 1, 2, 3, 9, 13, 16, 17, 30}) check(s, {{n}, {n}});
    const std::string text = ir::text(lower(s.scheduled().program, {.vector_bits = 128}));
    CAPTURE(text);
    CHECK(text.find("= x[ramp4(") != std::string::npos);
    CHECK(text.find("* x4(100.0) + x[ramp4(") != std::string::npos);
  }
}

TEST_CASE("a quotient by an extent is not negative, whatever the extent") {
  lang::DefinitionScope scope;
  const Symbol K("K", {.min = 1}), N("N"), T("T");
  const Tensor x = lang::make_input("x", f32, {K}), z = lang::make_input("z", f32, {N}), y = lang::make_output("y", f32, {T});
  lang::bind(y, compute("y", {{"i", T}}, [&](Var i) { return x(min(i / N, K - 1)) + select(i < N, z(i), 0); }));
  Schedule s(lang::build_program("flat", {x, z, y}), Target::parse("x86-64-v3"));
  s[y].vectorize(s[y].spatial<1>()[0], 4);
  for (const std::int64_t n : {0, 1, 3}) check(s, {{2}, {n}, {7}});
}
