// Scheduled programs for every processor that an emulator runs here: with and without an operating system, with 32-bit and
// 64-bit addresses, with and without vectors. The same bits as the interpreter's.
#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/emulated/emulator.h"
#include "tests/lower/check.h"
#include "tests/skip.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

constexpr const char* names[] = {"armv7",     "armv7+vfp4", "riscv64", "riscv64+v",     "cortex-m4",
                                 "cortex-m7", "cortex-m55", "wasm32",  "wasm32-simd128"};

// On each target that can be emulated. `make` gives a program and its schedule for the target.
template <class Made>
void on_every_target(const char* what, const std::vector<Sizes>& shapes, std::string_view but = "") {
  for (const char* name : names) {
    if (name == but) continue;
    const Target target = Target::parse(name);
    CAPTURE(name);
    if (const char* why = emulated::missing(target)) {
      skip::because(std::string(what) + " for " + name, why);
      continue;
    }
    Made made(target);
    schedule::finish(made.s.scheduled(), target);
    const ir::Kernel k = lower(made.s.scheduled().program, options_for(target));
    for (const Sizes& shape : shapes) {
      interp::Arguments expected = handmade::arguments_for(made.built.program, shape), found = expected;
      interp::run_algorithm(made.built.program, expected);
      REQUIRE_NOTHROW(emulated::run(k, target, found));
      for (std::size_t n = 0; n < expected.size(); ++n)
        if (made.built.program.arguments[n].kind == ir::ArgumentKind::output)
          CHECK(interp::difference(found[n].array, expected[n].array) == "");
    }
  }
}

struct Product {  // C = A B + bias, f32, in register tiles; a panel of B copied; rows of tiles are a parallel loop
  lang::DefinitionScope scope;
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K"};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  Tensor product = compute("product", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  lang::Built built = (lang::bind(C, product), lang::build_program("product", {A, B, C}));
  Schedule s;
  explicit Product(const Target& t) : s(built, t) {
    const int lanes = std::max(2, t.lanes(f32));
    auto [i, j] = s[C].spatial<2>();
    auto [io, jo, ii, ji] = s[C].tile(i, j, 2, 2 * lanes);
    s[C].parallel(io).vectorize(ji, lanes);
    s.cache_read(B, {C}, Scope::global).compute_at(jo);
  }
};

struct Bytes {  // u8 and i8 to i32, and back: a filter in fixed point
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", u8, {N + 2}), w = lang::make_input("w", i8, {3}), y = lang::make_output("y", u8, {N}),
         z = lang::make_output("z", i16, {N});
  lang::Built built = build();
  Schedule s;
  explicit Bytes(const Target& t) : s(built, t) {
    s[y].vectorize(s[y].spatial<1>()[0], 16);
    s[z].vectorize(s[z].spatial<1>()[0], 8);
  }

 private:
  lang::Built build() {
    Axis k{"k", 3};
    Tensor sums = compute("sums", {{"i", N}}, [&](Var i) { return sum(i32(x(i + k)) * i32(w(k)), k); });
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return saturate(u8, rounding_shr(sums(i), 4)); }));
    lang::bind(
        z, compute("z", {{"i", N}}, [&](Var i) { return saturate(i16, sums(i)) + i16(rounding_halving_add(x(i), x(i + 1))); }));
    return lang::build_program("bytes", {x, w, y, z});
  }
};

struct Halves {  // f16, 64-bit integers, quotients of data, a minimum
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor h = lang::make_input("h", f16, {N}), n = lang::make_input("n", i32, {N}), y = lang::make_output("y", f32, {N}),
         q = lang::make_output("q", i64, {N});
  lang::Built built = build();
  Schedule s;
  explicit Halves(const Target& t) : s(built, t) { s[y].vectorize(s[y].spatial<1>()[0], 4); }

 private:
  lang::Built build() {
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return f32(h(i)) * 0.5f + exp(min(f32(h(i)), 1.0f)); }));
    lang::bind(q, compute("q", {{"i", N}}, [&](Var i) { return i64(n(i)) * i64(n(N - 1 - i)) / 7 % 1000; }));
    return lang::build_program("halves", {h, n, y, q});
  }
};

struct Doubles {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor d = lang::make_input("d", f64, {N}), z = lang::make_output("z", f64, {N});
  lang::Built built = (lang::bind(z, compute("z", {{"i", N}}, [&](Var i) { return sqrt(abs(d(i))) / 3.0 + max(d(i), 0.5); })),
                       lang::build_program("doubles", {d, z}));
  Schedule s;
  explicit Doubles(const Target& t) : s(built, t) {}
};

struct Places {  // indices that 32 bits hold, and that they do not; floor division, places that data choose
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}}, M{"M", {.min = 1, .max = 100000}};
  Tensor x = lang::make_input("x", i32, {N, M}), t = lang::make_input("t", i64, {M}), y = lang::make_output("y", i64, {N, M}),
         z = lang::make_output("z", i32, {12, 8}), w = lang::make_output("w", i32, {M});
  lang::Built built = build();
  Schedule s;
  explicit Places(const Target& target) : s(built, target) {
    auto [i, j] = s[y].spatial<2>();
    s[y].tile(i, j, 3, 4);
    s[z].vectorize(s[z].spatial<2>()[1], 4);
    s[w].vectorize(s[w].spatial<1>()[0], 4);
  }

 private:
  lang::Built build() {
    lang::bind(y, compute("y", {N, M}, [&](Var i, Var j) {
                 const Expr far = (i - 7) * 3000000000 + j;  // beyond 32 bits, and below 0
                 return i64(far / 1000) + i64(far % 97) + i64(min(far, i * 5)) + select(far > j * 2000000000, i64(1), i64(2));
               }));
    lang::bind(z, compute("z", {12, 8}, [&](Var i, Var j) {
                 const Expr down = (i * 8 - 41) / 5 + (j - 6) % 3 + (i * 7 - 20) / N + (j - 9) % M;
                 return i32(down) * 1000 + x(clamp(down, 0, N - 1), max(min((j * 7 - 20) / 2, M - 1), 0));
               }));
    lang::bind(w, compute("w", {M}, [&](Var j) {
                 return x(clamp(t(j), 0, N - 1), clamp(t(j) * 4294967296 + j, 0, M - 1)) +
                        x(clamp(t(j) / 4294967296, 0, N - 1), M - 1 - j);
               }));
    return lang::build_program("places", {x, t, y, z, w});
  }
};

std::string assembly(const Tensor& C, const lang::Built& built, const char* target, bool fused) {
  const Target t = Target::parse(target);
  Schedule s(built, t);
  auto [i, j] = s[C].spatial<2>();
  if (fused)
    s[C].fuse(i, j);
  else
    s[C].split(j, 5);
  return codegen::emit(lower(s.scheduled().program, options_for(t)), t, codegen::Output::assembly);
}

// Additions with a carry in the function that computes.
int carries(const std::string& text) {
  const std::size_t begin = text.find("product.body:"), end = text.find(".fnend", begin);
  REQUIRE(begin != text.npos);
  int count = 0;
  for (const char* word : {"adc", "sbc"})
    for (std::size_t at = begin; (at = text.find(word, at + 1)) < end;) ++count;
  return count;
}

}  // namespace

TEST_CASE("loops and addresses of 32 bits where they fit") {
  for (const bool bounded : {true, false}) {
    CAPTURE(bounded);
    lang::DefinitionScope scope;
    Symbol M{"M", {.max = bounded ? 1 << 12 : INT64_MAX}}, N{"N", {.max = bounded ? 1 << 12 : INT64_MAX}};
    Tensor A = lang::make_input("A", i32, {M, 24}), B = lang::make_input("B", i32, {24, N}),
           C = lang::make_output("C", i32, {M, N});
    Axis k{"k", 24};
    lang::bind(C, compute("C", {M, N}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); }));
    const lang::Built built = lang::build_program("product", {A, B, C});
    for (const char* target : {"cortex-m4", "armv7"}) {
      CAPTURE(target);
      CHECK(carries(assembly(C, built, target, false)) == 0);
      const int of_a_product = carries(assembly(C, built, target, true));
      CHECK((of_a_product == 0) == bounded);  // M N is beyond 32 bits where nothing is said of M and N
    }
  }
}
TEST_CASE("an extent that 32 bits do not count is refused") {
  struct Row {
    lang::DefinitionScope scope;
    Symbol M{"M"}, N{"N"};
    Tensor x = lang::make_input("x", i32, {M, N}), y = lang::make_output("y", i32, {M, N});
    lang::Built built =
        (lang::bind(y, compute("y", {M, N}, [&](Var i, Var j) { return x(i, j) + 1; })), lang::build_program("row", {x, y}));
  } row;
  const auto said = [&](std::int64_t rows) -> std::string {
    const Target target = Target::parse("cortex-m4");
    Schedule s(row.built, target);
    std::vector<emulated::Tensor> tensors(2, {i32, {rows, 0}, {}});
    try {
      emulated::run(lower(s.scheduled().program, options_for(target)), target, tensors);
    } catch (const std::runtime_error& e) { return e.what(); }
    return "";
  };
  if (const char* why = emulated::missing(Target::parse("cortex-m4"))) return skip::because("extents of cortex-m4", why);
  CHECK(said((std::int64_t{1} << 31) - (1 << 16)) == "");
  CHECK(said((std::int64_t{1} << 31) - (1 << 16) + 1) == "the kernel returned -14");
  CHECK(said(std::int64_t{1} << 40) == "the kernel returned -14");
}
TEST_CASE("indices within 32 bits and beyond") {
  on_every_target<Places>("indices", {{{"N", 9}, {"M", 13}}, {{"N", 1}, {"M", 1}}});
}
TEST_CASE("a product in tiles") {
  on_every_target<Product>("a product", {{{"M", 5}, {"N", 19}, {"K", 7}}, {{"M", 4}, {"N", 16}, {"K", 9}}});
}
TEST_CASE("bytes in fixed point") { on_every_target<Bytes>("bytes", {{{"N", 37}}, {{"N", 0}}}); }
TEST_CASE("doubles, refused where no instruction computes them") {
  on_every_target<Doubles>("doubles", {{{"N", 21}}}, "cortex-m4");
  const Target small = Target::parse("cortex-m4");
  Doubles made(small);
  std::string said;
  try {
    codegen::emit(lower(made.s.scheduled().program, options_for(small)), small, codegen::Output::object);
  } catch (const RefusalError& e) { said = e.what(); }
  CHECK(said.find("expected a target with a unit for doubles, found arithmetic on f64 for cortex-m4") != said.npos);
}
TEST_CASE("halves and 64-bit integers") { on_every_target<Halves>("halves", {{{"N", 21}}}); }
