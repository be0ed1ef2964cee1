// Whole programs: written in the language, scheduled, lowered, and run against the algorithm.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "check.h"

#include "tests/support/text_parts.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

LowerOptions options_of(const Target& t) {
  LowerOptions o;
  o.vector_bits = t.vector_bits();
  o.vector_registers = t.vector_registers();
  return o;
}

void check(const lang::Built& built, const Schedule& s, const std::vector<Sizes>& shapes) {
  ir::Kernel k;
  REQUIRE_NOTHROW(k = lower(s.scheduled().program, options_of(s.target())));
  handmade::check_kernel(built.program, k, shapes);
}

// relu(A B + bias), packed on both sides, a tile of accumulators in registers, k in blocks that accumulate through memory.
struct PackedProduct {
  lang::DefinitionScope scope;
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         bias = lang::make_input("bias", f32, {N});
  Tensor C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  Tensor product = compute("product", {M, N}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return max(product(i, j) + bias(j), 0); });
  lang::Built built = make();
  Schedule s{built, Target::parse("x86-64-v4")};

  lang::Built make() {
    lang::bind(C, result);
    return lang::build_program("product", {A, B, bias, C});
  }
  PackedProduct(int rows, int tiles, int vectors, int lanes, int depth) {
    auto [i, j] = s[product].spatial<2>();
    auto [ko, ki] = s[product].split(s[product].reduction(), depth);
    Stage acc = s[product].rfactor(ko);
    auto [io, i1] = s[product].split(i, rows * tiles);
    auto [ir, ii] = s[product].split(i1, rows);
    auto [jr, jj] = s[product].split(j, vectors * lanes);
    s[product].reorder(io, ko, jr, ir, ii, jj);
    acc.compute_at(ir).store_in(Scope::registers);
    Stage panels_a = s.cache_read(A, {acc}, Scope::global, 0);
    Stage panels_b = s.cache_read(B, {acc}, Scope::global, 0);
    auto [ai, aj, ao] = acc.spatial<3>();
    Loop ak = acc.reduction();
    auto [aio, aii] = acc.split(ai, rows, Tail::pad);
    auto [ajo, aj1] = acc.split(aj, vectors * lanes, Tail::pad);
    auto [aju, ajv] = acc.split(aj1, lanes, Tail::exact);
    acc.reorder(aio, ajo, ao, ak, aii, aju, ajv).unroll(aii).unroll(aju).vectorize(ajv);
    panels_a.transform_layout([&](Var m, Var q) { return at(m / rows, q, m % rows); }).compute_at(ko);
    panels_b.transform_layout([&](Var q, Var n) { return at(n / (vectors * lanes), q, n % (vectors * lanes)); }).compute_at(ko);
    auto [ju, jv] = s[product].split(jj, lanes);
    s[product].unroll(ii).unroll(ju).vectorize(jv);
    s[result].fuse_into(ir);
    auto [ri, rj] = s[result].spatial<2>();
    s[result].vectorize(rj, lanes);
    s[product].parallel(io);
  }
};

using text_parts::count;

// The text of the innermost loop over this variable.
std::string loop_text(const std::string& kernel, const std::string& header) {
  const std::size_t at = kernel.find(header);
  if (at == std::string::npos) return {};
  const std::size_t line = kernel.rfind('\n', at) + 1, indent = kernel.find_first_not_of(' ', line) - line;
  std::size_t end = kernel.find('\n', at) + 1;
  while (end < kernel.size() && kernel.find_first_not_of(' ', end) - end > indent) end = kernel.find('\n', end) + 1;
  return kernel.substr(line, end - line);
}

}  // namespace

TEST_CASE("a packed product: the same sums as the algorithm, whatever the edges") {
  PackedProduct p(3, 2, 2, 4, 5);
  check(p.built, p.s,
        {{{"M", 12}, {"N", 16}, {"K", 10}},
         {{"M", 7}, {"N", 9}, {"K", 11}},
         {{"M", 1}, {"N", 1}, {"K", 1}},
         {{"M", 13}, {"N", 8}, {"K", 3}}});
}

TEST_CASE("a packed product: the inner loop is 28 fused steps on registers") {
  PackedProduct p(14, 10, 2, 16, 256);
  std::vector<PassTime> times;
  LowerOptions o = options_of(p.s.target());
  o.times = &times;
  const ir::Kernel k = lower(p.s.scheduled().program, o);
  const std::string inner = loop_text(ir::text(k), "for ki in");
  CAPTURE(inner);
  CHECK(count(inner, "\n") == 29);
  CHECK(count(inner, "= fma(x16(A_cache[") == 28);
  CHECK(count(inner, "where") == 0);
  CHECK(count(inner, " < ") == 0);
  CHECK(count(inner, "if ") == 0);
  CHECK(times.size() == 20);
}

TEST_CASE("registers that do not suffice are refused at the line that asked for them") {
  PackedProduct p(16, 2, 2, 16, 64);
  try {
    lower(p.s.scheduled().program, options_of(p.s.target()));
    FAIL("accepted");
  } catch (const RefusalError& e) {
    CHECK(e.refusal.found == "32 alive at once");
    CHECK(e.refusal.expected == "values of product_rf in at most 30 of 32 vector registers");
  }
}

namespace {

// 3x3 binomial blur with repeated borders, rows computed once in a ring.
struct SlidingBlur {
  lang::DefinitionScope scope;
  Symbol H{"H"}, W{"W"};
  Tensor in = lang::make_input("in", u8, {H, W}), out = lang::make_output("out", u8, {H, W});
  Tensor wide = boundary::repeat(in);
  Tensor across =
      compute("across", [&](Var y, Var x) { return u16(wide(y, x - 1)) + u16(wide(y, x)) * 2 + u16(wide(y, x + 1)); });
  Tensor down =
      compute("down", [&](Var y, Var x) { return u8((across(y - 1, x) + across(y, x) * 2 + across(y + 1, x) + 8) >> 4); });
  lang::Built built = make();
  Schedule s{built, Target::parse("x86-64-v3")};
  lang::Built make() {
    lang::bind(out, down);
    return lang::build_program("blur", {in, out});
  }
};

}  // namespace

TEST_CASE("a sliding window over rows, folded into a ring") {
  SlidingBlur b;
  auto [y, x] = b.s[b.down].spatial<2>();
  auto [strip, row] = b.s[b.down].split(y, 4, Tail::guard);
  b.s[b.down].parallel(strip).vectorize(x, 8);
  b.s[b.across].store_at(strip).compute_at(row).slide(row).fold(0, 4);
  auto [ay, ax] = b.s[b.across].spatial<2>();
  b.s[b.across].vectorize(ax, 8);
  check(b.built, b.s, {{{"H", 8}, {"W", 16}}, {{"H", 9}, {"W", 19}}, {{"H", 2}, {"W", 3}}, {{"H", 1}, {"W", 1}}});
}

TEST_CASE("tails that shift: the last strip and the last vector overlap") {
  SlidingBlur b;
  auto [y, x] = b.s[b.down].spatial<2>();
  auto [xo, xi] = b.s[b.down].split(x, 8);
  b.s[b.down].vectorize(xi);
  b.s[b.across].compute_at(y);
  check(b.built, b.s, {{{"H", 5}, {"W", 16}}, {{"H", 4}, {"W", 11}}});
}

TEST_CASE("softmax: maxima and sums taken apart over lanes") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N});
  Axis k{"k", N};
  Tensor peak = compute("peak", {M}, [&](Var i) { return maximum(x(i, k), k); });
  Tensor weight = compute("weight", {M, N}, [&](Var i, Var j) { return exp(x(i, j) - peak(i)); });
  Tensor total = compute("total", {M}, [&](Var i) { return sum(weight(i, k), k); });
  lang::bind(y, compute("softmax", {M, N}, [&](Var i, Var j) { return weight(i, j) / total(i); }));
  const lang::Built built = lang::build_program("softmax", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  auto [i, j] = s[y].spatial<2>();
  s[y].parallel(i).vectorize(j, 8);
  for (const Tensor& t : {total, weight, peak}) s[t].compute_at(i);
  auto [outer, lane] = s[peak].split(s[peak].reduction(), 8);
  Stage partial = s[peak].rfactor(lane);
  partial.vectorize(partial.spatial<2>()[1]);
  check(built, s, {{{"M", 3}, {"N", 16}}, {{"M", 2}, {"N", 13}}, {{"M", 2}, {"N", 3}}, {{"M", 0}, {"N", 1}}});
}

TEST_CASE("an arm that is not taken may lie where nothing was written (fuzz seed 50007035)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  const Tensor a = lang::make_input("a", f32, {N, N}), y = lang::make_output("y", f32, {N, N}),
               z = lang::make_output("z", f32, {1});
  const Tensor b = compute("b", {N, N}, [&](Var i, Var) { return a(i, i) + boundary::repeat(a)(i - 2, i - 2); });
  const Tensor c = compute("c", {1}, [&](Var) { return f32(-3.0f); });
  lang::bind(y, b);
  lang::bind(z, c);
  const lang::Built built = lang::build_program("filled", {a, y, z});
  Schedule s(built, Target::parse("x86-64-v2"));
  const Stage filled = s.cache_read(a, {b}, Scope::global, 0.0f);
  s.cache_read(a, {filled}, Scope::global);
  handmade::check_kernel(built.program, lower(s.scheduled().program, options_of(s.target())), {{{"N", 0}}, {{"N", 3}}});
}

TEST_CASE("a condition over the points of a sum keeps its terms away, and not its start") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N, 3}), y = lang::make_output("y", i32, {N});
  Axis k{"k", 3};
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return sum(x(i, k), k.where(i % 2 == 0)); }));
  const lang::Built program = lang::build_program("halves", {x, y});
  const std::vector<handmade::Sizes> shapes{{{"N", 0}}, {{"N", 1}}, {{"N", 5}}};
  Schedule plain(program, Target::parse("x86-64"));
  handmade::check_kernel(program.program, lower(plain.scheduled().program, {}), shapes);
  Schedule apart(program, Target::parse("x86-64"));
  apart[y].rfactor(apart[y].reduction());
  handmade::check_kernel(program.program, lower(apart.scheduled().program, {}), shapes);
  Schedule cached(program, Target::parse("x86-64"));
  Stage sums = cached.cache_write(y, Scope::global);
  sums.decompose_init(sums.reduction());
  handmade::check_kernel(program.program, lower(cached.scheduled().program, {}), shapes);
}

TEST_CASE("the room of a packed argument follows from what is declared, for every schedule (seed 1204)") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1, .max = 9}};
  Tensor x = lang::make_input("x", i32, {N, 3}), y = lang::make_output("y", i32, {N, 3});
  lang::bind(y, compute("y", {{"i", N}, {"j", 3}}, [&](Var i, Var j) { return x(N - 1 - i, j) * 2; }));
  const lang::Built program = lang::build_program("panels", {x, y});
  Schedule s(program, Target::parse("x86-64"));
  s.pack_argument(x, [](Var i, Var j) { return at(i / 4, j, i % 4); }, Pack::by_caller);
  s.assume(N != 5);
  Schedule& few = s.specialize(N <= 2);
  few[y].reverse(few[y].spatial<2>()[0]);
  handmade::check_kernel(program.program, lower(s.scheduled().program, {}),
                         {{{"N", 1}}, {{"N", 2}}, {{"N", 3}}, {{"N", 4}}, {{"N", 9}}});
}

TEST_CASE("the first steps of a recurrence whose lanes the machine counts (fuzz seed 5000907)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, N}), y = lang::make_output("y", f32, {N, N});
  lang::bind(y, recur(
                    "y", {N, N}, Along{0}, Lag{1}, [&](Var i, Var j) { return x(i, j); },
                    [&](Prior before, Var i, Var j) { return min(x(i, j), before(i - 1, j)) + 1.f; }));
  const lang::Built built = lang::build_program("first", {x, y});
  Schedule s(built, Target::parse("aarch64+sve"));
  const auto dims = s[y].nest();
  s[y].vectorize(dims[1], Scalable{4});
  handmade::check_kernel(s.scheduled().program, lower(s.scheduled().program, options_for(s.target())),
                         {{{"N", 5}}, {{"N", 1}}, {{"N", 13}}});
}

TEST_CASE("a value that is one for all lanes inside, and one for each at the end (fuzz seed 946003264)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, N}), b = lang::make_input("b", f32, {});
  Tensor y = lang::make_output("y", i32, {N, N}), z = lang::make_output("z", f32, {N, N});
  const auto both =
      compute("both", {N, N}, [&](Var i, Var) { return values(i32(boundary::constant(x, 0.f)(i - 2, i - 2)), b()); });
  lang::bind(y, both[0]), lang::bind(z, both[1]);
  const lang::Built built = lang::build_program("lanes", {x, b, y, z});
  Schedule s(built, Target::parse("aarch64+sve"));
  auto [i, j] = s[both[0]].spatial<2>();
  const Loop w = s[both[0]].skew(i, j, 1);
  s[both[0]].tighten(w).vectorize(w, Scalable{4});
  handmade::check_kernel(s.scheduled().program, lower(s.scheduled().program, options_for(s.target())),
                         {{{"N", 5}}, {{"N", 1}}, {{"N", 13}}});
}
