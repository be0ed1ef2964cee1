// Definitions: what they mean, run through the interpreter, and what is refused when they are made.
#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/ir/print.h>

#include "tests/support/refused.h"
#include "tests/lang/run.h"

using namespace ashlar;
using V = std::vector<double>;

namespace {

struct Fixture {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor A = lang::make_input("A", i32, {M, N});  // 1 2 3 / 4 5 6 when run
  V over_rows(const Tensor& t, Type type = i32) { return out(t, type, 2); }
  V out(const Tensor& t, Type type, std::int64_t n) {
    const Tensor y = lang::make_output("y", type, {M});
    lang::bind(y, t);
    return run({A, y}, {counting(i32, {2, 3}), interp::Array::zeros(type, {n})});
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "reductions over an axis, from an initial value, and over conditions") {
  Axis k{"k", N};
  const auto row = [&](const char* name, auto reduce) { return compute(name, {M}, [&](Var i) { return reduce(i); }); };
  CHECK(over_rows(row("sum", [&](Var i) { return sum(A(i, k), k); })) == V{6, 15});
  CHECK(over_rows(row("strict", [&](Var i) { return strict_sum(A(i, k), k); })) == V{6, 15});
  CHECK(over_rows(row("product", [&](Var i) { return product(A(i, k), k); })) == V{6, 120});
  CHECK(over_rows(row("minimum", [&](Var i) { return minimum(A(i, k), k); })) == V{1, 4});
  CHECK(over_rows(row("maximum", [&](Var i) { return maximum(A(i, k), k); })) == V{3, 6});
  CHECK(over_rows(row("from", [&](Var i) { return sum(A(i, k), k).from(A(i, 0) * 100); })) == V{106, 415});
  CHECK(over_rows(row("where", [&](Var i) { return sum(A(i, k), k.where(k >= i && k != 2)); })) == V{3, 5});
  Axis r{"r", M};
  CHECK(over_rows(row("two axes", [&](Var i) { return sum(A(r, k) * (i + 1), {r, k}); }), i64) == V{21, 42});
}

TEST_CASE_FIXTURE(Fixture, "an axis may be bounded by a Var, and by numbers on both sides") {
  const Tensor triangle = compute("triangle", {M}, [&](Var i) {
    Axis k{"k", i + 1};
    return sum(A(i, k), k);
  });
  CHECK(over_rows(triangle) == V{1, 9});
  Axis d{"d", -1, 2};
  CHECK(over_rows(compute("window", {M}, [&](Var i) { return sum(A(i, d + 1), d); })) == V{6, 15});
}

TEST_CASE_FIXTURE(Fixture, "rank 0, several values, any rank, indices of any integer type") {
  Axis r{"r", M}, k{"k", N};
  const Tensor total = compute("total", [&] { return sum(A(r, k), {r, k}); });
  CHECK(total.rank() == 0);
  CHECK(over_rows(compute("share", {M}, [&](Var i) { return total() - A(i, 0); })) == V{20, 17});
  const auto [low, high] = compute("both", {M}, [&](Var i) { return values(A(i, 0), A(i, 2)); });
  CHECK(over_rows(compute("width", {M}, [&](Var i) { return high(i) - low(i); })) == V{2, 2});
  const Tensor doubled = compute("doubled", A.shape(), [&](Indices i) { return A(i) * 2; });
  CHECK(over_rows(compute("sums", A.shape().drop(1), [&](Indices i) { return sum(doubled(i.with(1, k)), k); })) == V{12, 30});
  CHECK(over_rows(compute("gathered", {M}, [&](Var i) { return A(u8(1), i64(A(i, 0) % 2)); })) == V{5, 4});
  CHECK(over_rows(compute("iota", {M}, [&](Var i) { return i * 5; }), i64) == V{0, 5});  // an index is stored as i64
}

TEST_CASE_FIXTURE(Fixture, "scalars travel by value") {
  const Expr gain = lang::make_scalar("gain", f32);
  const Tensor y = lang::make_output("y", f32, {M});
  lang::bind(y, compute("y", {M}, [&](Var i) { return f32(A(i, 0)) * gain; }));
  CHECK(run({A, gain, y}, {counting(i32, {2, 3}), ir::float_value(f32, 0.5), interp::Array::zeros(f32, {2})}) == V{0.5, 2});
}

TEST_CASE_FIXTURE(Fixture, "an inferred domain is what the readers need") {
  const Tensor wide = boundary::repeat(A);
  const Tensor across = compute("across", [&](Var y, Var x) { return wide(y, x - 1) + wide(y, x) + wide(y, x + 1); });
  CHECK(over_rows(compute("down", {M}, [&](Var y) { return across(y - 1, 0) + across(y, 0) + across(y + 1, 0); })) ==
        V{21, 30});
}

TEST_CASE_FIXTURE(Fixture, "what definitions refuse") {
  Axis k{"k", N};
  const int line = __LINE__ + 1;
  const Refusal rank = refusal([&] { A(k); });
  CHECK(rank.text() == "define_test.cpp:" + std::to_string(line) + ": A: expected 2 indices, found 1");
  CHECK(refusal([&] { A(0.5, k); }).expected == "an integer");
  CHECK(refusal([&] { A(f32(k), k); }).found == "f32");
  CHECK(refusal([&] { A(k == 0, k); }).found == "bool");
  CHECK(refusal([&] { compute("y", {M}, [&](Var i) { return A(i, k); }); }).expected ==
        "axes only inside the reduction over them: sum(..., k)");
  CHECK(refusal([&] { compute("y", {M}, [&](Var i) { return sum(A(i, k), {k, k}); }); }).found == "k twice");
  CHECK(refusal([&] { compute("y", {M}, [&](Var i) { return sum(A(i, k), k).from(A(i, k)); }); }).found ==
        "the axis k outside of a reduction over it");
  CHECK(refusal([&] { compute("y", {M}, [&](Var) { return Expr(); }); }).found == "an empty Expr");
  CHECK(refusal([&] { compute("y", {-1}, [&](Var i) { return A(i, 0); }); }).expected == "extents that are not negative");
  CHECK(refusal([&] { Axis("d", 2, -2); }).found == "2 to -2");
  CHECK(refusal([&] { compute("y", {M}, [&](Var i) { return sum(A(i, k) > 0, k); }); }).found == "bool");
  CHECK(refusal([&] { sum(A(0, k), k.where(A(0, k))); }).expected == "a bool: a comparison, or x != 0");
  CHECK(refusal([&] { sum(A(0, k), k.where(A(0, k) > 0)); }).found == "A[0, k] > 0i32");
  CHECK(refusal([&] { compute("y", {M}, [&](Var i) { return sum(A(i, k), k).from(0.5); }); }).found == "the number 0.5");
  CHECK(refusal([] { Symbol("S", {.min = 4, .max = 2}); }).found == "min 4, max 2, multiple_of 1");
  CHECK(refusal([] { Tensor()(0); }).found == "an empty Tensor");
  Expr stolen;
  compute("first", {M}, [&](Var i) { return stolen = A(i, 0); });
  CHECK(refusal([&] { compute("second", {M}, [&](Var) { return stolen; }); }).expected == "the Vars of its own lambda");
  CHECK(refusal([&] { scan("s", {M}, Along{1}, Combine::add, [&](Var i) { return A(i, 0); }); }).found == "1");
  CHECK(refusal([&] { scan("s", {M}, Along{0}, Combine::add, [&](Var i) { return A(i, 0) > 0; }); }).found == "bool");
}

TEST_CASE("a tensor of a scope that ended is refused") {
  Tensor t;
  {
    const lang::DefinitionScope scope;
    t = lang::make_input("t", f32, {4});
    CHECK(t.rank() == 1);
  }
  CHECK(refusal([&] { t(0); }).found == "one whose definitions were forgotten (its DefinitionScope ended)");
}
