// Scheduled programs compiled for AArch64 and emulated: the same bits as the interpreter's.
#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/report/explain.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/emulated/emulator.h"
#include "tests/lower/check.h"
#include "tests/skip.h"
#include "tests/support/recurrence_schedules.h"
#include "tests/support/variant_operators.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

const Target target = Target::parse("aarch64");

bool emulates() {
  const char* why = emulated::missing(target);
  if (why) skip::because("kernels for aarch64, emulated", why);
  return !why;
}

// What the kernel computes in the emulator is what the algorithm says.
void check(const ir::Program& algorithm, const Schedule& s, const std::vector<Sizes>& shapes) {
  schedule::finish(s.scheduled(), s.target());
  const ir::Kernel k = lower(s.scheduled().program, options_for(s.target()));
  for (const Sizes& shape : shapes) {
    std::string at;
    for (const auto& [name, n] : shape) at += name + " = " + std::to_string(n) + " ";
    CAPTURE(at);
    interp::Arguments expected = handmade::arguments_for(algorithm, shape), found = expected;
    interp::run_algorithm(algorithm, expected);
    REQUIRE_NOTHROW(emulated::run(k, s.target(), found));
    for (std::size_t n = 0; n < expected.size(); ++n)
      if (algorithm.arguments[n].kind == ir::ArgumentKind::output)
        CHECK(interp::difference(found[n].array, expected[n].array) == "");
  }
}

struct Product {  // C = A B + bias, f32, in register tiles of 4 x 3 vectors; the rows of tiles are spread over threads
  lang::DefinitionScope scope;
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K"};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         bias = lang::make_input("bias", f32, {N}), C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  Tensor product = compute("product", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  lang::Built built = (lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return product(i, j) + bias(j); })),
                       lang::build_program("product", {A, B, bias, C}));
  Schedule s{built, target};
  Product() {
    const int lanes = s.target().lanes(f32);
    auto [i, j] = s[C].spatial<2>();
    auto [io, jo, ii, ji] = s[C].tile(i, j, 4, 3 * lanes);
    s[C].parallel(io).vectorize(ji, lanes);
    s[product].compute_at(jo).store_in(Scope::stack);
    auto [pi, pj] = s[product].spatial<2>();
    auto [ko, ki] = s[product].split(s[product].reduction(), 4);
    s[product].reorder(ko, ki, pi, pj).vectorize(pj, lanes).unroll(ki);
  }
};

struct Mean {  // of u8, rounded; the halves of sums by halving adds
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", u8, {N + 1}), w = lang::make_input("w", f16, {N}), y = lang::make_output("y", u8, {N}),
         z = lang::make_output("z", f16, {N});
  lang::Built built = build();
  Schedule s{built, target};

 private:
  lang::Built build() {
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return rounding_halving_add(x(i), x(i + 1)); }));
    lang::bind(z, compute("z", {{"i", N}}, [&](Var i) { return exp(w(i)) * 0.5 + f16(x(i)); }));
    return lang::build_program("mean", {x, w, y, z});
  }
};

struct Functions {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), w = lang::make_input("w", f64, {N}), y = lang::make_output("y", f32, {N}),
         z = lang::make_output("z", f64, {N});
  lang::Built built = build();
  Schedule s{built, target};

 private:
  static Expr all_of(const Expr& v) {
    const Expr a = abs(v) + 0.1;
    return exp(v) + log(a) + sin(v * 1e30) + cos(v) + tan(v) + tanh(v) + sigmoid(v) + erf(v) + rsqrt(a) + pow(a, v) +
           atan2(v, a) + cbrt(v) + fast(exp(v) + log(a) + sin(v) + tanh(v) + sigmoid(v) + erf(v) + rsqrt(a) + pow(a, v));
  }
  lang::Built build() {
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return all_of(x(i) * 0.37); }));
    lang::bind(z, compute("z", {{"i", N}}, [&](Var i) { return all_of(w(i) * 0.37); }));
    return lang::build_program("functions", {x, w, y, z});
  }
};

}  // namespace

TEST_CASE("math functions") {
  if (!emulates()) return;
  Functions o;
  o.s[o.y].vectorize(o.s[o.y].spatial<1>()[0], 4);
  o.s[o.z].vectorize(o.s[o.z].spatial<1>()[0], 2);
  check(o.built.program, o.s, {{{"N", 37}}});
}

TEST_CASE("a product in register tiles, on several threads") {
  if (!emulates()) return;
  const Product o;
  check(o.built.program, o.s,
        {{{"M", 8}, {"N", 24}, {"K", 16}}, {{"M", 5}, {"N", 13}, {"K", 7}}, {{"M", 1}, {"N", 1}, {"K", 0}}});
}

TEST_CASE("variants chosen at entry") {
  if (!emulates()) return;
  const variant_operators::ByTiles o(target);
  check(o.built.program, o.s, {{{"N", 5}}, {{"N", 16}}, {{"N", 29}}, {{"N", 0}}});
}

TEST_CASE("bytes and halves") {
  if (!emulates()) return;
  Mean o;
  for (const Tensor& t : {o.y, o.z}) o.s[t].vectorize(o.s[t].nest()[0], o.s.target().lanes(u8));
  check(o.built.program, o.s, {{{"N", 40}}, {{"N", 3}}});
}

TEST_CASE("the instructions of AArch64") {
  const Product o;
  const ir::Kernel k = lower(o.s.scheduled().program, options_for(o.s.target()));
  const std::string text = codegen::emit(k, target, codegen::Output::assembly);
  CHECK(text.find("fmla\tv") != std::string::npos);
  CHECK(text.find("%zmm") == std::string::npos);
  const std::string object = codegen::emit(k, target, codegen::Output::object);
  REQUIRE(object.size() > 64);
  CHECK(object.substr(0, 4) ==
        "\x7f"
        "ELF");
  CHECK(static_cast<unsigned char>(object[18]) == 183);  // EM_AARCH64
}

namespace {

// For vectors of 128, 256, 512 and 2048 bits.
void check_lengths(const ir::Program& algorithm, const Schedule& s, const std::vector<Sizes>& shapes) {
  schedule::finish(s.scheduled(), s.target());
  const ir::Kernel k = lower(s.scheduled().program, options_for(s.target()));
  CAPTURE(ir::text(k));
  for (const Sizes& shape : shapes)
    for (const int bytes : {16, 32, 64, 256}) {
      CAPTURE(bytes);
      interp::Arguments expected = handmade::arguments_for(algorithm, shape), flat = expected, found = expected;
      interp::run_algorithm(algorithm, expected);
      interp::Options options;
      options.vscale = bytes / 16;
      REQUIRE_NOTHROW(interp::run(k, flat, options));
      const bool emulates = !emulated::missing(s.target());
      if (emulates) REQUIRE_NOTHROW(emulated::run(k, s.target(), found, bytes));
      for (std::size_t n = 0; n < expected.size(); ++n) {
        if (algorithm.arguments[n].kind != ir::ArgumentKind::output) continue;
        CHECK(interp::difference(flat[n].array, expected[n].array) == "");
        if (emulates) CHECK(interp::difference(found[n].array, expected[n].array) == "");
      }
    }
}

const Target sve = Target::parse("aarch64+sve");

}  // namespace

TEST_CASE("vectors as long as the machine has them") {
  (void)emulates();  // without an emulator the interpreter alone
  {
    lang::DefinitionScope scope;
    Symbol M{"M"}, N{"N"};
    Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N});
    lang::bind(y, compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return exp(x(i, j) * 0.25f) + x(i, N - 1 - j); }));
    Schedule s(lang::build_program("mirrored", {x, y}), sve);
    auto [i, j] = s[y].spatial<2>();
    s[y].vectorize(j, Scalable{4}).parallel(i);
    check_lengths(s.algorithm(), s, {{{"M", 3}, {"N", 37}}, {{"M", 1}, {"N", 1}}, {{"M", 2}, {"N", 256}}});
    const std::string told = explain(s, {{"M", 10}, {"N", 1000}});
    CAPTURE(told);
    CHECK(told.find("stage y in f32: 1e+04 points") != std::string::npos);
    CHECK(told.find("4 of f32 in registers of 4") != std::string::npos);
    const std::string text = codegen::emit(lower(s.scheduled().program, options_for(sve)), sve, codegen::Output::assembly);
    CHECK(text.find("whilelo") != std::string::npos);
    CHECK(text.find("cntw") != std::string::npos);
    CHECK(text.find("z0.s") != std::string::npos);
  }
  {  // a product: rows of B in vectors; narrow types, choices, division, strided and gathered elements
    lang::DefinitionScope scope;
    Symbol M{"M"}, N{"N"}, K{"K"};
    Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
           u = lang::make_input("u", u8, {N * 3 + 3}), h = lang::make_input("h", f16, {N}),
           C = lang::make_output("C", f32, {M, N}), v = lang::make_output("v", i16, {N}), w = lang::make_output("w", f16, {N});
    Axis k{"k", K};
    lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); }));
    lang::bind(v, compute("v", {{"j", N}}, [&](Var j) {
                 const Expr e = i16(u(j * 3 + 1)) - i16(u(j));
                 return select(e > 2, e / 3, saturate(i16, i32(e) * 20000) % 7) + i16(u(clamp(u(j), 0, N - 1)));
               }));
    lang::bind(w, compute("w", {{"j", N}}, [&](Var j) { return max(h(j), f16(1.5)) * 0.5; }));
    Schedule s(lang::build_program("mixed", {A, B, u, h, C, v, w}), sve);
    auto [i, j] = s[C].spatial<2>();
    s[C].reorder(s[C].reduction(), j).vectorize(j, Scalable{4});
    s[v].vectorize(s[v].nest()[0], Scalable{8});
    s[w].vectorize(s[w].nest()[0], Scalable{8});
    (void)i;
    check_lengths(s.algorithm(), s, {{{"M", 2}, {"N", 19}, {"K", 5}}, {{"M", 1}, {"N", 70}, {"K", 0}}});
  }
}

TEST_CASE("scalable vectors in a variant") {
  variant_operators::Differences o(sve);
  Schedule& small = o.s.specialize(o.N < 20);
  small[o.y].vectorize(o.loop(o.y, small), Scalable{4});
  o.s[o.t].vectorize(o.loop(o.t, o.s), Scalable{4});
  check_lengths(o.built.program, o.s, {{{"N", 19}}, {{"N", 40}}});
}
