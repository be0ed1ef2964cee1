// Steps that sum over the rows of a matrix which no step changes, by default: it is transposed before the first of them.
#include "tests/schedules/by_default.h"

using namespace by_default_test;

namespace {

// The powers of a matrix by a vector, from a vector on, held small.
Tensor powers(const Tensor& A, const Tensor& first, const Expr& steps) {
  const Expr N = first.extent(0), M = A.extent(1);
  const Axis k{"k", M};
  const auto small = [&](const Expr& e) { return min(e, ir::cast(A.type(), Expr(3))); };
  return recur(
      "x", {steps + 1, N}, Along{0}, Lag{1}, [&](Var, Var i) { return first(i); },
      [&](Prior x, Var t, Var i) {
        const Tensor y =
            compute("y", {Range{Expr(1), steps + 1}, N}, [&](Var s, Var j) { return strict_sum(A(j, k) * x(s - 1, k), k); });
        return small(y(t, i));
      });
}

}  // namespace

TEST_CASE("steps by default: a matrix whose rows are summed in order is transposed before the steps") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}};
  for (const char* target : {"x86-64-v4", "x86-64-v3", "neoverse-n1"})
    for (const Type type : {f32, f64, i32}) {
      const Tensor A = input("A", type, {N, N}), first = input("first", type, {N});
      const Scheduled s({A, first}, {powers(A, first, Expr(5))}, {}, target);
      CHECK(s.has("y", "A transposed before the steps"));
      CHECK(s.has("y", "sums of a tile of"));
      CHECK(s.text().find("alloc A_cache: " + ir::text(type) + " in global") < s.text().find("nest x "));
      for (const std::int64_t n : {1, 2, 7, 8, 16, 33, 70}) s.same({{n, n}, {n}, {6, n}});
    }
}

TEST_CASE("steps by default: rows of a matrix are read as they lie where a transposed copy would not pay") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}};
  const auto turned = [](const Tensor& A, const Tensor& first, const Expr& steps, const schedules::DefaultOptions& o = {}) {
    return Scheduled({A, first}, {powers(A, first, steps)}, o).has("y", "transposed before");
  };
  const Tensor A = input("A", f32, {N, N}), first = input("first", f32, {N});
  CHECK(turned(A, first, Expr(4)));
  CHECK_FALSE(turned(A, first, Expr(2)));                    // steps
  CHECK_FALSE(turned(A, first, Expr(9), {.extent = 4096}));  // 64 MB
  CHECK_FALSE(turned(input("A", f32, {4096, 4096}), input("first", f32, {4096}), Expr(9)));
  CHECK(turned(input("A", f32, {256, 256}), input("first", f32, {256}), Expr(9)));
}

TEST_CASE("steps by default: a matrix that a step chooses is not transposed") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}};
  const Tensor A = input("A", f32, {5, N, N}), first = input("first", f32, {N});
  const Axis k{"k", N};
  const Tensor walk = recur(
      "x", {5, N}, Along{0}, Lag{1}, [&](Var, Var i) { return first(i); },
      [&](Prior x, Var t, Var i) {
        const Tensor y =
            compute("y", {Range{Expr(1), Expr(5)}, N}, [&](Var s, Var j) { return strict_sum(A(s, j, k) * x(s - 1, k), k); });
        return min(y(t, i), 3.0f);
      });
  const Scheduled s({A, first}, {walk});
  CHECK_FALSE(s.has("y", "transposed"));
  CHECK(s.has("y", "8 results side by side"));
  for (const std::int64_t n : {1, 9, 33}) s.same({{5, n, n}, {n}, {5, n}});
}
