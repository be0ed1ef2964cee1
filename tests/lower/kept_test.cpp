// Programs and schedules in which the fuzzer once found a fault, made smaller: each computes what its algorithm says, or is
// refused.
#include <cmath>

#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/analysis/regions.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/report/explain.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/support/refused.h"

using namespace ashlar;

namespace {

interp::Array numbers(Type t, std::vector<std::int64_t> shape) {
  double next = 0;
  return interp::Array::make(t, std::move(shape), [&](std::span<const std::int64_t>) { return ++next; });
}

// The scheduled tree and the lowered kernel give what the algorithm gives.
void check(const Schedule& s, const interp::Arguments& start) {
  const ir::Program& p = s.scheduled().program;
  interp::Arguments expected = start, tree = start, flat = start;
  interp::run_algorithm(p, expected);
  REQUIRE_NOTHROW(interp::run(p, tree));
  ir::Kernel kernel;
  REQUIRE_NOTHROW(kernel = lower(p));
  REQUIRE_NOTHROW(interp::run(kernel, flat));
  CHECK(interp::difference(tree.back().array, expected.back().array) == "");
  CHECK(interp::difference(flat.back().array, expected.back().array) == "");
}

}  // namespace

TEST_CASE("partials of rfactor exist only where the condition of the reduction holds") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const Axis k("k", N);
  lang::bind(y, compute("y", {N}, [&](Var i) { return maximum(x(k), k.where((k + i) % 2 == 0)); }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  s[y].rfactor(s[y].reduction());
  check(s, {numbers(f32, {5}), interp::Array::zeros(f32, {5})});
}

TEST_CASE("a peeled loop over nothing needs nothing") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  lang::bind(y, compute("y", {N}, [&](Var i) { return x(i) * 2; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  s[y].peel(s[y].nest()[0], Peel::first);
  s.cache_read(x, {y}, Scope::global);
  for (std::int64_t n : {0, 1, 4}) check(s, {numbers(f32, {n}), interp::Array::zeros(f32, {n})});
}

TEST_CASE("storage that data indexes is as large as the data's type allows") {
  lang::DefinitionScope scope;
  const Symbol N("N", {.min = 1});
  const Tensor x = lang::make_input("x", u8, {N}), y = lang::make_output("y", i32, {N});
  const Tensor table = compute("table", [&](Var i) { return i32(i) * 3; });
  lang::bind(y, compute("y", {N}, [&](Var i) { return table(x(0)) + table(x(i)); }));
  const Schedule s(lang::build_program("kept", {x, y}), Target());
  check(s, {numbers(u8, {5}), interp::Array::zeros(i32, {5})});
}

TEST_CASE("a ring holds all that is computed, not only what is read") {
  lang::DefinitionScope scope;
  const Symbol N("N", {.min = 1});
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {1});
  const Tensor t = compute("t", {N}, [&](Var i) { return x(i) + 1; });
  lang::bind(y, compute("y", {1}, [&](Var) { return t(0); }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  CHECK(refused([&] { s[t].fold(0, 2); }).find("dimension 0 of t holds N, found 2") != std::string::npos);
  check(s, {numbers(f32, {4}), interp::Array::zeros(f32, {1})});
}

TEST_CASE("what a reduction starts from is computed before its loops") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {4}), y = lang::make_output("y", f32, {4});
  const Axis k("k", 4);
  const Tensor bias = compute("bias", {4}, [&](Var i) { return x(i) + 1; });
  lang::bind(y, compute("y", {4}, [&](Var i) { return sum(x(k), k).from(bias(i)); }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  CHECK(refused([&] {
          s[bias].compute_at(s[y].reduction());
        }).find("expected bias to be computed before the reduction loops of y") != std::string::npos);
  s[bias].compute_at(s[y].spatial<1>()[0]);
  check(s, {numbers(f32, {4}), interp::Array::zeros(f32, {4})});
}

TEST_CASE("a prefetch asks for a line once, whatever reads in it") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N, 24}), y = lang::make_output("y", f32, {N, 24});
  const Tensor t = compute("t", {N, 24}, [&](Var i, Var j) { return x(i, j) + 1; });
  lang::bind(y, compute("y", {N, 24}, [&](Var i, Var j) { return t(i, j) * 2; }));
  const lang::Built built = lang::build_program("lines", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  s[t].compute_root();
  auto [i, j] = s[y].spatial<2>();
  auto [vectors, lane] = s[y].split(j, 4, Tail::exact);
  s[y].unroll(vectors).vectorize(lane).prefetch(i, t, 1);
  const auto asked = [&](int cache_line) {
    LowerOptions options;
    options.cache_line = cache_line;
    const std::string text = ir::text(lower(s.scheduled().program, options));
    int count = 0;
    for (std::size_t at = text.find("prefetch t["); at != std::string::npos; at = text.find("prefetch t[", at + 1)) ++count;
    return count;
  };
  CHECK(asked(16) == 6);  // six vectors of 16 bytes
  CHECK(asked(32) == 3);
  CHECK(asked(64) == 2);
  CHECK(asked(128) == 1);
}

TEST_CASE("a prefetch asks for the same lines when its loop is split; a tensor that is prefetched is not inlined") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {8}), y = lang::make_output("y", f32, {8});
  const Tensor t = compute("t", {8}, [&](Var i) { return x(i) + 1; });
  lang::bind(y, compute("y", {8}, [&](Var i) { return t(i) * 2; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  const Loop i = s[y].spatial<1>()[0];
  s[y].prefetch(i, t, 1);
  CHECK(refused([&] { s[t].inline_(); }).find("expected a stage that nothing prefetches") != std::string::npos);
  CHECK(ir::text(lower(s.scheduled().program)).find("prefetch t[i0 + 1]") != std::string::npos);
  s[y].split(i, 4);
  CHECK(ir::text(lower(s.scheduled().program)).find("prefetch t[i0o * 4 + i0i + 1]") != std::string::npos);
  check(s, {numbers(f32, {8}), interp::Array::zeros(f32, {8})});
}

TEST_CASE("a stage put after its producer does not slide") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {8}), y = lang::make_output("y", f32, {8});
  const Tensor t = compute("t", {8}, [&](Var i) { return x(i) + 1; });
  lang::bind(y, compute("y", {8}, [&](Var i) { return t(i) * 2; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  const Loop i = s[t].spatial<1>()[0];
  s[y].fuse_into(i);
  CHECK(refused([&] { s[y].slide(i); }).find("found y, which was put after its producer by fuse_into") != std::string::npos);
  check(s, {numbers(f32, {8}), interp::Array::zeros(f32, {8})});
}

TEST_CASE("a condition on steps stays one where only one step is possible (fuzz seed 11359)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {3}), y = lang::make_output("y", f32, {4});
  const Axis k("k", 1), l("l", 3);
  lang::bind(y, compute("y", {4}, [&](Var j) { return sum(x(l) * f32(j), AxisList{k, l}.where((k + j) % 2 == 0)); }));
  for (const bool outer : {true, false}) {
    Schedule s(lang::build_program("kept", {x, y}), Target());
    s[y].rfactor(s[y].loop(outer ? k : l));
    check(s, {numbers(f32, {3}), interp::Array::zeros(f32, {4})});
  }
}

TEST_CASE("a condition that no step meets leaves the init (fuzz seed 14722)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {1}), y = lang::make_output("y", f32, {1});
  const Axis k("k", 1);
  lang::bind(y, compute("y", {1}, [&](Var i) { return maximum(x(i), k.where((k + 1) % 2 == 0)); }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  s[y].rfactor(s[y].reduction());
  check(s, {numbers(f32, {1}), interp::Array::zeros(f32, {1})});
}

TEST_CASE("a cache holds the points that its source has, reading or writing (fuzz seeds 14564, 14722)") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const Axis k("k", N), l("l", 3);
  lang::bind(y, compute("y", {N}, [&](Var i) { return minimum(x(k) * f32(l), AxisList{k, l}.where(k <= i)); }));
  for (const bool reading : {true, false}) {
    Schedule s(lang::build_program("kept", {x, y}), Target());
    const Stage partial = s[y].rfactor(s[y].loop(k));
    if (reading)
      s.cache_read(partial, {y}, Scope::global);
    else
      s.cache_write(partial, Scope::global);
    for (std::int64_t n : {0, 1, 4}) check(s, {numbers(f32, {n}), interp::Array::zeros(f32, {n})});
  }
}

TEST_CASE("storage is as large as the symbols say where data could choose more (fuzz seed 75)") {
  lang::DefinitionScope scope;
  const Symbol N("N", {.min = 1});
  const Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  const Tensor t = compute("t", {N}, [&](Var i) { return x(i) * 3; });
  lang::bind(y, compute("y", {N}, [&](Var i) { return t(clamp(x(i), 0, N - 1)); }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  s.cache_read(t, {y}, Scope::global);
  const ir::Program& p = s.scheduled().program;
  const Expr at_5 = ir::substitute(lower(p).workspace_shared, {{p.symbols.begin()->first, ir::index(5)}});
  CHECK(ir::text(analysis::simplify(at_5, {})) == "128");
  check(s, {numbers(i32, {5}), interp::Array::zeros(i32, {5})});
}

TEST_CASE("a nest put after one that was itself put after its producer (fuzz seed 23313)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {4}), y = lang::make_output("y", f32, {4});
  const Tensor t = compute("t", {4}, [&](Var i) { return x(i) + 1; }), u = compute("u", {4}, [&](Var i) { return t(i) * 2; });
  lang::bind(y, compute("y", {4}, [&](Var i) { return u(i) - 3; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  s[y].fuse_into(s[u].spatial<1>()[0]);
  s[u].fuse_into(s[t].spatial<1>()[0]);
  check(s, {numbers(f32, {4}), interp::Array::zeros(f32, {4})});
}

TEST_CASE("the read of an arm that data chooses is proved for every point of a small box (fuzz seed 61672)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {1}), y = lang::make_output("y", f32, {1});
  const Tensor t = compute("t", {1}, [&](Var i) { return x(i) + 1; });
  const Tensor u = compute("u", {1}, [&](Var i) { return select(x(0) > 2, t(i), 0); });
  lang::bind(y, compute("y", {1}, [&](Var i) { return u(i) * 2; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  CHECK(refused([&] {
          s[u].split(s[u].spatial<1>()[0], 2, Tail::pad);
        }).find("found u reads t at i0 in dimension 0, past its end 1") != std::string::npos);
  check(s, {numbers(f32, {1}), interp::Array::zeros(f32, {1})});
}

TEST_CASE("an exact split whose outer loop is padded runs past the extent (fuzz seed 63364)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {30}), y = lang::make_output("y", f32, {15});
  const Tensor t = compute("t", {15}, [&](Var i) { return x(i) + 1; });
  lang::bind(y, compute("y", {15}, [&](Var i) { return t(i) * 2; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  auto [io, ii] = s[t].split(s[t].spatial<1>()[0], 5, Tail::exact);
  s[t].split(io, 2, Tail::pad);
  check(s, {numbers(f32, {30}), interp::Array::zeros(f32, {15})});
}

TEST_CASE("a padded split reads past the box that a step has just made smaller (fuzz seed 757602)") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N, 3});
  const Tensor t = compute("t", [&](Var i, Var) { return x(i) + 1; });
  const Tensor u = compute("u", [&](Var i, Var j) { return t(i, j) * 2; });
  lang::bind(y, compute("y", {N, 3}, [&](Var i, Var j) { return u(i, j) - 1; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  s[u].split(s[u].spatial<2>()[1], 3, Tail::pad);  // of three columns: nothing is past the end
  s[u].compute_at(s[y].spatial<2>()[1]);           // of one: two are
  CHECK_MESSAGE(s.text().find("nest t i0 [0, +N) i1 [0, +5)") != std::string::npos, s.text());
  check(s, {numbers(i32, {4}), interp::Array::zeros(i32, {4, 3})});
}

TEST_CASE("the extent of a reduction follows a fused loop whose box has shrunk (fuzz seed 416114)") {
  lang::DefinitionScope scope;
  const Symbol N("N", {.min = 1});
  const Tensor x = lang::make_input("x", i32, {N + 1, 5}), y = lang::make_output("y", i32, {N});
  const Tensor below = compute("below", {N + 1, 5}, [&](Var i, Var j) {
    Axis k("k", 0, i + 1);
    return sum(x(k, j), k);
  });
  lang::bind(y, compute("y", {N}, [&](Var i) { return below(i, 0) + below(i + 1, 1); }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  auto [i, j] = s[below].spatial<2>();
  s[below].fuse(i, j);
  s[below].compute_at(s[y].spatial<1>()[0]);  // 2 rows, and 2 of the 5 columns
  check(s, {numbers(i32, {8, 5}), interp::Array::zeros(i32, {7})});
}

TEST_CASE("what only the start of a reduction reads is prefetched where the start is (fuzz seed 432817)") {
  lang::DefinitionScope scope;
  const Symbol M("M"), N("N");
  const Tensor x = lang::make_input("x", i32, {M, N}), first = lang::make_input("first", i32, {M}),
               y = lang::make_output("y", i32, {M});
  const Axis k("k", N);
  const Tensor total = compute("total", {M}, [&](Var i) { return sum(x(i, k), k).from(first(i)); });
  lang::bind(y, total);
  Schedule s(lang::build_program("kept", {x, first, y}), Target());
  const Loop i = s[total].spatial<1>()[0];
  CHECK_THROWS_WITH_AS(s[total].prefetch(s[total].reduction(), first, 1),
                       doctest::Contains("expected a read of first inside k"),
                       RefusalError);  // the start stands before the loop
  s[total].decompose_init(i);
  const Stage start = s[total].init();
  start.prefetch(start.nest()[0], first, 2);
  check(s, {numbers(i32, {5, 3}), numbers(i32, {5}), interp::Array::zeros(i32, {5})});
}

TEST_CASE("what NaN is not below chooses an index (fuzz seed 30031076)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {4}), table = lang::make_input("table", f32, {2}),
               y = lang::make_output("y", f32, {4});
  lang::bind(y, compute("y", {4}, [&](Var i) { return table(clamp(select(!(x(i) < 0.0f), u8(1), u8(0)), 0, 1)); }));
  const interp::Array values = interp::Array::make(f32, {4}, [](std::span<const std::int64_t> at) {
    const double all[] = {NAN, -1, 0, 1};
    return all[at[0]];
  });
  check(Schedule(lang::build_program("kept", {x, table, y}), Target()),
        {values, numbers(f32, {2}), interp::Array::zeros(f32, {4})});
}

TEST_CASE("what is computed inside of a loop that is split reads from outside (fuzz seed 97008102)") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const Tensor a = compute("a", [&](Var i) { return x(i) * 2; });
  const Tensor b = compute("b", {{"i", N}}, [&](Var i) { return a(i) + 1; });
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return b(i) * 3; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  const Loop i = s[y].nest()[0];
  s[b].compute_at(i);
  s[y].split(i, Parts{2});
  ir::Program anew = s.scheduled().program;
  analysis::derive_regions(anew);
  CHECK(ir::text(anew) == s.text());
  for (std::int64_t n : {0, 1, 2, 5, 8}) check(s, {numbers(f32, {n}), interp::Array::zeros(f32, {n})});
}

TEST_CASE("sums that distribute makes stand for the points that there are (fuzz seed 300086)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", i16, {2}), y = lang::make_output("y", i16, {2});
  const Axis k("k", 3);
  const Tensor total = compute("total", {2}, [&](Var i) { return sum(x(i), k.where(k <= i)); });
  lang::bind(y, total);
  Schedule s(lang::build_program("kept", {x, y}), Target());
  const Stage partial = s[total].rfactor(s[total].reduction());  // for k <= i alone
  partial.distribute<1>();
  check(s, {numbers(i16, {2}), interp::Array::zeros(i16, {2})});
}

TEST_CASE("bounds of what a contradiction leaves empty (fuzz seed 100248)") {
  analysis::Facts facts;
  const Expr n = ir::var(1, "n"), d = ir::var(2, "d");
  facts.range(2, ir::index(3), ir::index(0));  // no value
  facts.range(1, ir::index(7), ir::index(9));
  CHECK_NOTHROW(analysis::simplify(ir::max(ir::div(n, d), ir::index(2)), facts));
}

TEST_CASE("the figures of a loop that never runs (fuzz seed 301392)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {4}), y = lang::make_output("y", f32, {0});
  const Tensor twice = compute("twice", [&](Var i) { return x(i) * 2; });
  lang::bind(y, compute("y", {0}, [&](Var i) { return twice(i) + 1; }));
  Schedule s(lang::build_program("kept", {x, y}), Target::parse("x86-64-v3"));
  s[twice].store_in(Scope::registers).vectorize(s[twice].spatial<1>()[0]);
  const std::string text = explain_stages(s.scheduled().program, Target::parse("x86-64-v3"), {});
  INFO(text);
  CHECK(text.find("-9223") == std::string::npos);
  CHECK(text.find("inf") == std::string::npos);
}

TEST_CASE("what is filled is computed where nobody reads it, and needs what it reads (fuzz seed 300002125)") {
  lang::DefinitionScope scope;
  const Symbol N("N", {.min = 1});
  const Tensor c = lang::make_input("c", f32, {N}), none = lang::make_output("none", f32, {0}),
               y = lang::make_output("y", f32, {});
  lang::bind(none, compute("none", {{"i", 0}}, [&](Var i) { return c(i) + 1; }));
  lang::bind(y, compute("y", [&] { return c(0) * 2; }));
  Schedule s(lang::build_program("kept", {c, none, y}), Target());
  const Stage filled = s.cache_read(c, {none}, Scope::global, 0);
  s.cache_read(c, {filled}, Scope::global);
  check(s, {numbers(f32, {3}), interp::Array::zeros(f32, {0}), interp::Array::zeros(f32, {})});
}

TEST_CASE("a reduction over nothing stores its init all the same (fuzz seed 502181)") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N, N});
  const Axis none("none", 0);
  const Tensor start = compute("start", {1}, [&](Var) { return sum(x(none), none).from(i32(2)); });
  lang::bind(y, compute("y", {N, N}, [&](Var i, Var j) { return x(i) + x(j) + start(0); }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  auto [i, j] = s[y].spatial<2>();
  s[start].compute_at(j);
  s[y].parallel(j);
  CHECK_THROWS_WITH_AS(s[start].store_at(i), doctest::Contains("expected storage of its own for each iteration of i1 of y"),
                       RefusalError);
  check(s, {numbers(i32, {3}), interp::Array::zeros(i32, {3, 3})});
}

TEST_CASE("components without a dimension start before the reduction's loops, which it has (fuzz seed 101549)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", i32, {2, 3}), y = lang::make_output("y", i32, {2, 3}),
               z = lang::make_output("z", i32, {2, 3});
  const Axis k("k", 3);
  const auto sums = reducer(
      "sums", {i32, i32}, {0, 0}, [](Values<2> a, Values<2> b) { return values(a[0] + b[0], a[1] + b[1]); }, Order::any);
  const auto both = compute("both", {2, 3}, [&](Var i, Var j) { return sums(values(x(i, k), x(i, j)), k); });
  lang::bind(y, compute("y", {2, 3}, [&](Var i, Var j) { return both[0](i, j); }));
  lang::bind(z, compute("z", {2, 3}, [&](Var i, Var j) { return both[1](i, j); }));
  const lang::Built built = lang::build_program("kept", {x, y, z});
  Schedule s(built, Target());
  const Stage partial = s[both[0]].rfactor(s[both[0]].reduction());
  CHECK_THROWS_WITH_AS(partial.drop_dim(0, 1), doctest::Contains("expected a reduction with loops of its own"), RefusalError);
  Schedule whole(built, Target());
  whole[both[0]].drop_dim(0, 1);
  check(whole, {numbers(i32, {2, 3}), interp::Array::zeros(i32, {2, 3}), interp::Array::zeros(i32, {2, 3})});
}

TEST_CASE("a dimension that bounds the steps is not dropped (fuzz seed 101768)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", i32, {2}), y = lang::make_output("y", i32, {2, 3});
  const Tensor below = compute("below", {2, 3}, [&](Var i, Var j) {
    const Axis k("k", 0, j + 1);
    return sum(x(i), k);
  });
  lang::bind(y, compute("y", {2, 3}, [&](Var i, Var j) { return below(i, j) + 1; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  CHECK_THROWS_WITH_AS(s[below].drop_dim(0, 1), doctest::Contains("expected the steps of below to be the same for every i1"),
                       RefusalError);
}

TEST_CASE("what distribute multiplies by 0 alone goes with its readers (fuzz seed 700944)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", i32, {3}), y = lang::make_output("y", i32, {3});
  const Tensor a = compute("a", {3}, [&](Var i) { return x(i) + 1; });
  const Tensor b = compute("b", {3}, [&](Var i) { return a(i) * 2; });
  const Axis k("k", 3);
  const Tensor total = compute("total", {3}, [&](Var i) { return sum(b(k) * 0 + x(i) * x(k), k); });
  lang::bind(y, total);
  Schedule s(lang::build_program("kept", {x, y}), Target());
  s[total].distribute<1>();
  CHECK(s.scheduled().program.stages.size() == 2);  // neither a nor b
  check(s, {numbers(i32, {3}), interp::Array::zeros(i32, {3})});
}

TEST_CASE("a point that a condition decides is saved and read again (fuzz seed 706623)") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  lang::bind(y, compute("y", {N}, [&](Var i) { return x(i) + 1; }));
  const lang::Built built = lang::build_program("kept", {x, y});
  Schedule s(built, Target()), again(built, Target());
  s[y].partition(s[y].nest()[0], max(select(N > 3, N - 2, 1), 0));
  const std::string saved = s.json();
  again.replay(saved);
  CHECK(again.text() == s.text());
  check(s, {numbers(i32, {5}), interp::Array::zeros(i32, {5})});
}

TEST_CASE("a reader of a second value is put where its points are finished, all its reads at one (fuzz seed 399)") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", i32, {3, 3}), y = lang::make_output("y", i32, {3, 3}),
               turned = lang::make_output("turned", i32, {3, 3});
  const auto both = compute("both", {3, 3}, [&](Var i, Var j) { return values(x(i, j) + 1, x(i, j) * 2); });
  lang::bind(turned, compute("turned", {3, 3}, [&](Var i, Var j) { return both[0](i, j) + both[0](j, i); }));
  lang::bind(y, compute("y", {3, 3}, [&](Var i, Var j) { return both[1](i, j); }));
  Schedule s(lang::build_program("kept", {x, turned, y}), Target());
  const Loop i = s[both[0]].spatial<2>()[0];
  CHECK_THROWS_WITH_AS(s[turned].fuse_into(i), doctest::Contains("at one point alone"), RefusalError);
  s[y].fuse_into(i);
  check(s, {numbers(i32, {3, 3}), interp::Array::zeros(i32, {3, 3}), interp::Array::zeros(i32, {3, 3})});
}

TEST_CASE("what stands beside a loop follows it into its parts (fuzz seed 900005709)") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const Tensor a = compute("a", {{"i", N}}, [&](Var i) { return x(i) * 2; });
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return a(i) + 1; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  const Loop i = s[a].nest()[0];
  s[y].fuse_siblings(i);
  s[a].split(i, Parts{1});
  ir::Program anew = s.scheduled().program;
  analysis::derive_regions(anew);
  CHECK(ir::text(anew) == s.text());
  for (std::int64_t n : {0, 1, 4, 7}) check(s, {numbers(f32, {n}), interp::Array::zeros(f32, {n})});
}

TEST_CASE("the last iteration of a tight loop that was peeled is that of its end (fuzz --windows, seed 101387)") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  lang::bind(y, compute("y", {N}, [&](Var i) { return x(i) * 2; }));
  Schedule s(lang::build_program("kept", {x, y}), Target());
  auto [o, i] = s[y].split(s[y].spatial<1>()[0], 4);
  s[y].tighten(i);
  s[y].peel(i, Peel::last);
  for (std::int64_t n : {0, 1, 3, 4, 5, 13, 17}) check(s, {numbers(f32, {n}), interp::Array::zeros(f32, {n})});
}

TEST_CASE("what a tile inside of a vector assumes holds in all lanes (fuzz --windows, seed 310312)") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", f32, {N, 6}), y = lang::make_output("y", f32, {6});
  const Axis k("k", N);
  lang::bind(y, compute("y", {6}, [&](Var j) { return sum(x(k, j), k); }));
  Schedule s(lang::build_program("kept", {x, y}), Target::parse("x86-64-v3"));
  auto [o, i] = s[y].split(s[y].spatial<1>()[0], 4);
  s[y].vectorize(i).unroll_and_jam(o);
  for (std::int64_t n : {0, 1, 3}) check(s, {numbers(f32, {n, 6}), interp::Array::zeros(f32, {6})});
}
