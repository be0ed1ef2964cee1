// From definitions to programs: what the text of a program shows, which outputs are computed in place, and that nothing
// depends on the order in which C++ objects were made.
#include <doctest/doctest.h>

#include <algorithm>

#include <ashlar/ashlar.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/build_program.h>

#include "tests/support/refused.h"

using namespace ashlar;

namespace {

struct Arguments {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K", {.multiple_of = 16}};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N});
  Tensor C = lang::make_output("C", f32, {M, N});
};

Tensor matmul(const Tensor& A, const Tensor& B) {
  Axis k{"k", A.extent(1)};
  return compute("C", {{"i", A.extent(0)}, {"j", B.extent(1)}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
}

}  // namespace

TEST_CASE("a matrix product is one stage that writes the output") {
  Arguments a;
  lang::bind(a.C, matmul(a.A, a.B));
  const lang::Built b = lang::build_program("matmul", {a.A, a.B, a.C});
  const std::string text = ir::text(b.program);
  CHECK(text.substr(0, text.find("nest")) == R"(program matmul
  symbol M
  symbol K, multiple of 16
  symbol N
  input A: f32[M, K]
  input B: f32[K, N]
  output C: f32[M, N]
  C[i, j] = sum over k in [0, K) of A[i, k] * B[k, j] from 0.0
)");
  const ir::Stmt& nest = b.program.body.at(0);
  CHECK(nest.is<ir::NestStmt>());
  CHECK(nest.get<ir::NestStmt>().roots.size() == 3);
  CHECK(nest.body().at(0).body().at(0).body().at(0).body().at(0).is<ir::BlockStmt>());
  CHECK(b.program.stages.size() == 1);
  const ir::Stage& s = b.program.stages.begin()->second;
  CHECK(s.reducer.kind == ir::ReducerKind::sum);
  CHECK(s.reducer.fused);
  CHECK(b.stage_of.at(a.C.id()) == s.id);
  CHECK(b.buffer_of.at(a.C.id()) == s.buffers.front());
}

namespace {
std::string definitions(const ir::Program& p) {  // the text without the tree
  const std::string text = ir::text(p);
  return text.substr(0, std::min(text.find("\nnest"), text.find("\nalloc")) + 1);
}
ir::Role role_of(const lang::Built& b, const Tensor& t) { return b.program.buffer(b.buffer_of.at(t.id())).role; }
}  // namespace

TEST_CASE("handles find their way into the program") {
  Arguments a;
  Axis k{"k", a.K};
  const Tensor product = compute("product", {a.M, a.N}, [&](Var i, Var j) { return sum(a.A(i, k) * a.B(k, j), k); });
  lang::bind(a.C, compute("C", {a.M, a.N}, [&](Var i, Var j) { return max(product(i, j), 0); }));
  const lang::Built b = lang::build_program("relu", {a.A, a.B, a.C});
  CHECK(b.program.stages.size() == 2);
  const ir::Id stage = b.stage_of.at(product.id());
  CHECK(stage < b.stage_of.at(a.C.id()));
  CHECK(role_of(b, product) == ir::Role::temporary);
  const ir::Id iter = b.iter_of.at({stage, k.node()->id});
  CHECK(b.program.stage(stage).iters.at(2).id == iter);
  CHECK(b.program.stage(stage).iters.at(2).kind == ir::IterKind::reduce);
  CHECK(b.program.symbols.at(b.variable_of.at(a.K.node()->id)).multiple_of == 16);
  CHECK(ir::text(b.in_program(a.K / 16 > 2)) == "K / 16 > 2");
  CHECK_FALSE(refused([&] { b.in_program(a.C(0, 0)); }).empty());
  // at the top: an alloc before the nest of the temporary, none for the output
  REQUIRE(b.program.body.size() == 3);
  CHECK(b.program.body[0].is<ir::AllocStmt>());
  CHECK(ir::is_nest_of(b.program.body[1], stage));
  CHECK(b.program.body[2].is<ir::NestStmt>());
}

TEST_CASE("ids are dense and do not follow the order in which objects were made") {
  const auto build = [](bool swapped) {
    const lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", f32, {N});
    Tensor y = lang::make_output("y", f32, {N});
    Tensor p, q;
    const auto twice = [&] { p = compute("p", {N}, [&](Var i) { return x(i) * 2; }); };
    const auto plus = [&] { q = compute("q", {N}, [&](Var i) { return x(i) + 1; }); };
    if (swapped)
      plus(), twice();
    else
      twice(), plus();
    lang::bind(y, compute("y", {N}, [&](Var i) { return p(i) - q(i); }));
    return lang::build_program("order", {x, y}).program;
  };
  const ir::Program a = build(false), b = build(true);
  CHECK(ir::text(a) == ir::text(b));
  CHECK(a.next_id == b.next_id);
  CHECK(std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), [](const auto& s, const auto& t) {
    return s.first == t.first && ir::hash_of(s.second.values[0]) == ir::hash_of(t.second.values[0]);
  }));
}

TEST_CASE("what an output is computed in") {
  const lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N}), z = lang::make_output("z", f32, {N});

  SUBCASE("an inferred domain becomes the declared shape") {
    const Tensor t = compute("t", [&](Var i) { return x(i) + 1; });
    lang::bind(y, t);
    const lang::Built b = lang::build_program("p", {x, y});
    CHECK(role_of(b, t) == ir::Role::output);
    CHECK(b.program.stages.size() == 1);
    CHECK(ir::text(b.program.stages.begin()->second.iters[0].end) == "N");
  }
  SUBCASE("one tensor in two outputs is copied for the second") {
    const Tensor t = compute("t", {N}, [&](Var i) { return x(i) + 1; });
    lang::bind(y, t);
    lang::bind(z, t);
    const lang::Built b = lang::build_program("p", {x, y, z});
    CHECK(definitions(b.program).find("  y[i0] = x[i0] + 1.0\n  z[i0] = y[i0]\n") != std::string::npos);
    CHECK(b.stage_of.at(t.id()) == b.stage_of.at(y.id()));
    CHECK(b.stage_of.at(t.id()) != b.stage_of.at(z.id()));
  }
  SUBCASE("an input is copied, a boundary of it too") {
    lang::bind(y, x);
    lang::bind(z, boundary::wrap(x));
    const lang::Built b = lang::build_program("p", {x, y, z});
    CHECK(definitions(b.program).find("  y[i0] = x[i0]\n  z[i0] = x[i0 % N]\n") != std::string::npos);
  }
  SUBCASE("a stated domain with other readers stays in the output") {
    const Tensor t = compute("t", {N}, [&](Var i) { return x(i) + 1; });
    lang::bind(y, t);
    lang::bind(z, compute("z", {N}, [&](Var i) { return t(N - 1 - i); }));
    const lang::Built b = lang::build_program("p", {x, y, z});
    CHECK(role_of(b, t) == ir::Role::output);
    CHECK(b.program.stages.size() == 2);
  }
  SUBCASE("an inferred domain with other readers is its own, and is copied") {
    const Tensor wide = boundary::repeat(x);
    const Tensor t = compute("t", [&](Var i) { return wide(i) + 1; });
    lang::bind(y, t);
    lang::bind(z, compute("z", {N}, [&](Var i) { return t(i - 1) + t(i + 1); }));
    const lang::Built b = lang::build_program("p", {x, y, z});
    CHECK(role_of(b, t) == ir::Role::temporary);
    CHECK(b.program.stage(b.stage_of.at(t.id())).iters[0].end.empty());
    CHECK(b.program.stages.size() == 3);
  }
  SUBCASE("an output may be read once it is defined") {
    CHECK(refusal([&] { y(0); }).expected == "an output that was defined before it is used: y = compute(...)");
    lang::bind(y, compute("y", {N}, [&](Var i) { return x(i) + 1; }));
    lang::bind(z, compute("z", {N}, [&](Var i) { return y(i) * 2; }));
    CHECK(definitions(lang::build_program("p", {x, y, z}).program).find("z[i0] = y[i0] * 2.0") != std::string::npos);
  }
  SUBCASE("values that are not computed for an output are temporaries") {
    const auto [a, b] = compute("pair", {N}, [&](Var i) { return values(x(i), x(i) * 2); });
    lang::bind(y, b);
    const lang::Built built = lang::build_program("p", {x, y});
    CHECK(role_of(built, a) == ir::Role::temporary);
    CHECK(role_of(built, b) == ir::Role::output);
    CHECK(built.program.stages.size() == 1);
  }
}

TEST_CASE("what outputs and arguments refuse") {
  const lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const Tensor fine = compute("fine", {N}, [&](Var i) { return x(i); });
  CHECK(refusal([&] { lang::build_program("p", {x, y}); }).found == "the output y without one");
  CHECK(refusal([&] { lang::bind(y, compute("t", {N}, [&](Var i) { return f64(x(i)); })); }).expected ==
        "values of type f32, as declared (convert by name: f32(x))");
  CHECK(refusal([&] { lang::bind(y, compute("t", {N, N}, [&](Var i, Var) { return x(i); })); }).expected ==
        "1 dimensions, as declared");
  const Refusal shape = refusal([&] { lang::bind(y, compute("t", {N + 1}, [&](Var i) { return x(i); })); });
  CHECK(shape.expected == "the declared shape [N]");
  CHECK(shape.found == "t[N + 1]");
  CHECK(shape.where.line() == __LINE__ - 3);
  CHECK(refused([&] {
          lang::bind(lang::make_output("z", f32, {N + 1}), compute("t", {1 + N}, [&](Var) { return 0.f; }));
        }).empty());
  lang::bind(y, fine);
  CHECK(refusal([&] { lang::bind(y, fine); }).expected == "one definition of each output");
  CHECK(refused([&] { lang::build_program("p", {x, y}); }).empty());
  CHECK(refusal([&] { lang::build_program("p", {y}); }).found == "the input x, which is not an argument");
  const Tensor again = lang::make_input("x", f32, {N});
  const Refusal twice = refusal([&] { lang::build_program("p", {x, again, y}); });
  CHECK(twice.found == "two called x");
  CHECK(twice.where.line() == __LINE__ - 3);
  CHECK(refusal([&] { lang::build_program("p", {x, y, lang::make_scalar("a b", f32)}); }).found == "\"a b\"");
  const Refusal reserved = refusal([&] { lang::build_program("p", {x, y, lang::make_scalar("ashlar_index0", f32)}); });
  CHECK(reserved.expected == "argument names that do not begin with ashlar_, as names of generated headers do");
  CHECK(reserved.found == "ashlar_index0");
  CHECK(refusal([&] { lang::build_program("p", {lang::make_input("u", f32, {Symbol{"ashlar_packed"}}), x, y}); }).found ==
        "ashlar_packed");
  const Tensor z = lang::make_output("z", f32, {N});
  lang::bind(z, compute("z", {N}, [&](Var i) { return x(i) * f32(M); }));
  CHECK(refusal([&] { lang::build_program("p", {x, z}); }).found == "the symbol M, which is in no shape");
  const Tensor w = lang::make_output("w", f32, {N});
  const Expr gain = lang::make_scalar("gain", f32);
  lang::bind(w, compute("w", {N}, [&](Var i) { return x(i) * gain; }));
  CHECK(refusal([&] { lang::build_program("p", {x, w}); }).found == "the scalar gain, which is not an argument");
  CHECK(refusal([&] { lang::make_input("v", f32, {Range{Expr(1), N}}); }).expected ==
        "extents of an argument, which begin at 0");
  CHECK(refusal([&] { lang::make_output("v", u4, {N}); }).found == "u4");
}

TEST_CASE("a chain of a thousand stages") {
  const lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Tensor t = x;
  for (int k = 0; k < 1000; ++k) t = compute("t", {N}, [&](Var i) { return t(i) + k; });
  lang::bind(y, t);
  const ir::Program p = lang::build_program("chain", {x, y}).program;
  CHECK(p.stages.size() == 1000);
  ir::Id before = 0;
  for (const auto& [id, s] : p.stages) {
    const ir::Id reads = p.buffer(ir::args_of(s.values[0])[0].node()->id).stage;
    CHECK(reads == before);
    before = id;
  }
}
