// Stages that functions in C compute, scheduled and lowered: how often they are called, with which regions, and what is
// refused.
#include <doctest/doctest.h>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/report/explain.h>

#include "launched.h"
#include "tests/support/external_operators.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

// The scheduled program and its kernel compute what the algorithm says; how often the function was called for each.
template <class O>
std::pair<int, int> same(const O& o, const Sizes& at) {
  const ir::Kernel k = handmade::launched(o.s);
  const std::string text = ir::text(k);
  CAPTURE(text);
  interp::Arguments expected = handmade::arguments_for(o.built.program, at), scheduled = expected, found = expected;
  interp::run_algorithm(o.built.program, expected);
  external::calls = 0;
  REQUIRE_NOTHROW(interp::run(o.s.scheduled().program, scheduled));
  const int tree = external::calls;
  REQUIRE_NOTHROW(interp::run(k, found));
  for (std::size_t n = 0; n < expected.size(); ++n) {
    CHECK(interp::difference(scheduled[n].array, expected[n].array) == "");
    CHECK(interp::difference(found[n].array, expected[n].array) == "");
  }
  return {tree, external::calls - tree};
}

std::string refusal(Schedule& s, const std::function<void()>& steps) {
  const auto r = s.attempt([&] { steps(); });
  return r ? r->primitive + ": expected " + r->expected + ", found " + r->found : "";
}
void says(const std::string& text, const char* what) {
  CAPTURE(text);
  CHECK(text.find(what) != std::string::npos);
}

}  // namespace

TEST_CASE("a function computes a stage at once") {
  external::Product o;
  for (const Sizes& at : {Sizes{{"M", 5}, {"N", 6}, {"K", 7}}, {{"M", 1}, {"N", 1}, {"K", 1}}, {{"M", 3}, {"N", 4}, {"K", 0}}})
    CHECK(same(o, at) == std::pair(1, 1));
  CHECK(same(o, {{"M", 0}, {"N", 4}, {"K", 2}}) == std::pair(0, 0));
  says(explain(o.s, {{"M", 5}, {"N", 6}, {"K", 7}}),
       "stage C: computed by ashlars_test_gemm, a box at a time; what it does is not known here");
  const std::string text = ir::text(handmade::launched(o.s));
  says(text,
       "call ashlars_test_gemm reads twice[0] at (0, 0) of (M, K) by (K, 1), reads B[0] at (0, 0) of (K, N) by (B_stride0, 1), "
       "writes C[0] at (0, 0) of (M, N) by (N, 1)");
}

TEST_CASE("the part that is read there") {
  {
    external::Product o;
    auto [i, j] = o.s[o.out].spatial<2>();
    auto [io, ii] = o.s[o.out].split(i, 2);
    o.s[o.C].compute_at(io);
    o.s[o.twice].compute_at(io);
    o.s[o.out].parallel(io);
    CHECK(same(o, {{"M", 5}, {"N", 3}, {"K", 4}}) == std::pair(3, 3));
  }
  {
    external::Product o;  // a tile, and caches of what is read
    auto [i, j] = o.s[o.out].spatial<2>();
    auto [io, jo, ii, ji] = o.s[o.out].tile(i, j, 2, 3);
    o.s[o.C].compute_at(jo);
    Stage copy = o.s.cache_read(o.B, {o.C}, Scope::global);
    copy.compute_at(jo);
    o.s[o.out].vectorize(ji);
    CHECK(same(o, {{"M", 5}, {"N", 7}, {"K", 4}}) == std::pair(9, 9));
    CHECK(same(o, {{"M", 4}, {"N", 6}, {"K", 0}}) == std::pair(4, 4));
  }
  {
    external::Three o;
    CHECK(same(o, {{"N", 9}}) == std::pair(1, 1));
    CHECK(same(o, {{"N", 1}}) == std::pair(1, 1));
  }
}

TEST_CASE("a function that fails, and one that is not here") {
  external::Tells o;
  external::fail_at = 3;
  interp::Arguments args = handmade::arguments_for(o.built.program, {{"N", 5}});
  const auto error = [&](auto&& run) {
    interp::Arguments own = args;
    try {
      run(own);
    } catch (const interp::RunError& e) { return std::string(e.what()); }
    return std::string();
  };
  const ir::Kernel k = handmade::launched(o.s);
  says(error([&](interp::Arguments& a) { interp::run_algorithm(o.built.program, a); }), "ashlars_test_tells returned 42");
  says(error([&](interp::Arguments& a) { interp::run(o.s.scheduled().program, a); }), "ashlars_test_tells returned 42");
  says(error([&](interp::Arguments& a) { interp::run(k, a); }), "ashlars_test_tells returned 42");
  external::fail_at = -1;
  CHECK(same(o, {{"N", 5}}) == std::pair(1, 1));

  const lang::DefinitionScope scope;
  const Tensor y = lang::make_output("y", f32, {4});
  lang::bind(y, c_stage("z", f32, {4}, region_function("ashlars_test_elsewhere"), [](Var) { return Needs{}; }));
  const ir::Program p = lang::build_program("elsewhere", {y}).program;
  args = handmade::arguments_for(p, {});
  says(error([&](interp::Arguments& a) { interp::run_algorithm(p, a); }), "declared by its symbol alone");
}

TEST_CASE("what a stage of a function refuses") {
  external::Product o;
  const auto loops = o.s[o.C].spatial<2>();
  says(refusal(o.s, [&] { o.s[o.C].split(loops[0], 4); }),
       "split: expected a loop of a stage that formulas compute, found i0 of C, which ashlars_test_gemm computes");
  says(refusal(o.s, [&] { o.s[o.twice].compute_at(loops[0]); }),
       "compute_at: expected a loop of a stage that formulas compute");
  says(refusal(o.s, [&] { o.s[o.C].inline_(); }), "inline_: expected a stage that formulas compute, found C");
  says(refusal(o.s, [&] { o.s[o.twice].inline_(); }),
       "inline_: expected a stage that formulas alone read (compute_at places it), found twice");
  says(refusal(o.s, [&] { o.s[o.twice].transform_layout([](Var i, Var k) { return at(k, i); }); }),
       "expected memory of the host, in rows, for twice, which ashlars_test_gemm gets the address of, found a layout of its "
       "own");
  says(refusal(o.s,
               [&] {
                 auto [i, j] = o.s[o.out].spatial<2>();
                 auto [jo, ji] = o.s[o.out].split(j, 4);
                 o.s[o.out].vectorize(ji);
                 o.s[o.C].compute_at(ji);
               }),
       "vectorize");
  external::Product device("cuda-sm_80");
  try {
    schedule::finish(device.s.scheduled(), device.s.target());
    CHECK(false);
  } catch (const RefusalError& e) {
    says(e.what(), "expected a target without a device, for C, which ashlars_test_gemm computes on the host");
  }
}

TEST_CASE("what its definition refuses") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), four = lang::make_input("four", i4, {N});
  const auto f = region_function("ashlars_test_tells", external::ashlars_test_tells);
  const auto refused = [&](const std::function<void()>& make) {
    try {
      make();
    } catch (const RefusalError& e) { return std::string(e.what()); }
    return std::string();
  };
  says(refused([&] { c_stage("z", f32, {N}, f, [&](Var i) { return needs(x, i, i); }); }),
       "z: expected a range for each of the 1 dimensions of x, found 2");
  says(refused([&] { c_stage("z", f32, {N}, f, [&](Var i) { return needs(boundary::repeat(x), i); }); }),
       "expected needs of tensors that lie in memory, found a view of x");
  says(refused([&] { c_stage("z", f32, {N}, f, [&](Var i) { return needs(four, i); }); }), "elements of whole bytes");
  says(refused([&] { c_stage("z", f32, {N}, f, [&](Var i) { return needs(x, i64(x(i))); }); }),
       "regions that follow from the indices alone");
  says(refused([&] { c_stage("z", f32, {N}, f, [&](Var) { return needs(x, Range{Expr(2), Expr(2)}); }); }),
       "expected regions that are not always empty, found that of x");
  says(refused([&] { region_function("f(x)"); }), "region_function: expected a symbol that is a C identifier");
  says(refused([&] { c_function<float(float)>("ashlars_test_tells"); }), "a function that computes regions");
  // a region outside of the tensor is refused when the program is scheduled
  const Tensor y = lang::make_output("y", f32, {N});
  lang::bind(y, c_stage("z", f32, {N}, f, [&](Var i) { return needs(x, Range{i, i + 2}); }));
  says(refused([&] { Schedule s(lang::build_program("outside", {x, y}), Target::parse("x86-64-v3")); }), "x");
}

TEST_CASE("where a loop begins at an element of a table, so does the part that is computed for it (fuzz seed 98001023)") {
  struct {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor first = lang::make_input("first", u8, {N}), A = lang::make_input("A", f32, {16, 4}),
           B = lang::make_input("B", f32, {4, 3}), out = lang::make_output("out", f32, {N});
    Tensor C = c_stage("C", f32, {16, 3}, region_function("ashlars_test_gemm", external::ashlars_test_gemm), [&](Var i, Var j) {
      return Needs{needs(A, i, Range{Expr(0), Expr(4)}), needs(B, Range{Expr(0), Expr(4)}, j)};
    });
    Tensor sums = compute("sums", {{"i", N}}, [&](Var i) {
      Axis l{"l", clamp(first(i), 0, 16), 16};
      return sum(C(l, 1), l);
    });
    lang::Built built = (lang::bind(out, sums), lang::build_program("rows", {first, A, B, out}));
    Schedule s{built, Target()};
  } o;
  const Loop i = o.s[o.out].nest()[0];
  o.s[o.C].compute_at(i);
  same(o, {{"N", 5}});
}
