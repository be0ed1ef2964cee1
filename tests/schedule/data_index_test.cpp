// Indices that are computed from data: what is proved, what is refused and with which words.
#include "tests/schedule/programs.h"

namespace ashlar::test {
namespace {

using At = std::function<Expr(const Expr& k, const Symbol& N)>;

// y(i) = lut(at(k(i))) of a table of `size` elements: the refusal, or nothing where it is accepted and computes what it should.
std::string gathered(Type t, std::int64_t size, const At& at, bool symbolic = false) {
  const lang::DefinitionScope scope;
  Symbol N{"N"}, M{"M"};
  const Tensor k = lang::make_input("k", t, {M}), y = lang::make_output("y", i32, {M});
  const Tensor lut = symbolic ? lang::make_input("lut", i32, {N}) : lang::make_input("lut", i32, {size});
  lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return lut(at(k(i), N)); }));
  try {
    const lang::Built built = lang::build_program("p", {k, lut, y});
    const Schedule s(built, Target::parse("x86-64-v3"));
    means_the_same(built.program, s, {{23}, {size}, {23}});
  } catch (const RefusalError& e) { return e.refusal.text(); }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE(text);
  return false;
}

}  // namespace

TEST_CASE("arithmetic after a bound is proved, in every type") {
  for (const Type t : {u8, i8, i16, u16, i32, u32, i64, u64}) {
    CAPTURE(t.bits);
    CAPTURE(t.is_unsigned());
    CHECK(gathered(t, 7, [](const Expr& x, const Symbol&) { return clamp(x, 0, 5) + 1; }) == "");
    CHECK(gathered(t, 6, [](const Expr& x, const Symbol&) { return 5 - clamp(x, 0, 5); }) == "");
    CHECK(gathered(t, 6, [](const Expr& x, const Symbol&) { return clamp(x, 0, 5) / 2 * 2; }) == "");
    CHECK(gathered(t, 13, [](const Expr& x, const Symbol&) { return in_range(x, 0, 12) + clamp(x, 0, 1); }) == "");
    CHECK(gathered(t, 15, [](const Expr& x, const Symbol&) { return max(x, 0) % 5 * 3 + 2; }) == "");
    CHECK(gathered(t, 8, [](const Expr& x, const Symbol&) { return i64(clamp(x, 0, 6)) + 1; }) == "");
    CHECK(gathered(t, 8, [](const Expr& x, const Symbol&) { return u8(clamp(x, 0, 6)) + 1; }) == "");
    CHECK(gathered(t, 4, [](const Expr& x, const Symbol&) { return min(max(x, 3), 9) - 3; }) != "");
    CHECK(gathered(t, 7, [](const Expr& x, const Symbol&) { return min(max(x, 3), 9) - 3; }) == "");
  }
}

TEST_CASE("bounds of a Symbol, written as data") {
  const auto last = [](Type t) { return [t](const Expr& x, const Symbol& N) { return clamp(t(x), 0, t(N) - 1); }; };
  const std::string maybe_empty = gathered(i32, 9, last(i64), true);
  CHECK(has(maybe_empty, "past its end N"));  // N of 0 has no element that could be read
  const auto guarded = [&](Type t) { return [t](const Expr& x, const Symbol& N) { return clamp(t(x), 0, max(t(N), 1) - 1); }; };
  CHECK(has(gathered(i32, 9, guarded(i64), true), "past its end N"));
  const lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}}, M{"M"};
  const Tensor k = lang::make_input("k", i32, {M}), lut = lang::make_input("lut", i32, {N}),
               y = lang::make_output("y", i32, {M});
  lang::bind(y, compute("y", {{"i", M}}, [&](Var i) {
               return lut(clamp(i64(k(i)), 0, i64(N) - 1)) + lut(clamp(k(i), 0, N - 1)) +
                      lut(i64(N) - 1 - clamp(i64(k(i)), 0, i64(N) - 1)) + lut(min(u64(clamp(k(i), 0, 99)), u64(N) - 1));
             }));
  const lang::Built built = lang::build_program("p", {k, lut, y});
  const Schedule s(built, Target::parse("x86-64-v3"));
  means_the_same(built.program, s, {{23}, {4}, {23}});
}

TEST_CASE("a remainder by a Symbol is decided where it is not 0") {
  const lang::DefinitionScope scope;
  Symbol N{"N"}, M{"M", {.min = 1}};
  const Tensor x = lang::make_input("x", i32, {M}), y = lang::make_output("y", i32, {N});
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return x(i % M); }));
  const lang::Built built = lang::build_program("p", {x, y});
  means_the_same(built.program, Schedule(built, Target::parse("x86-64-v3")), {{3}, {11}});

  Symbol L{"L"}, K{"K"};  // each term is at a point of [0, K), which is not empty then
  const Tensor z = lang::make_input("z", i32, {K}), sums = lang::make_output("sums", i32, {L});
  const Axis k{"k", K};
  lang::bind(sums, compute("sums", {{"i", L}}, [&](Var i) { return sum(z((i + k) % K) * z(k), k); }));
  const lang::Built reduced = lang::build_program("q", {z, sums});
  means_the_same(reduced.program, Schedule(reduced, Target::parse("x86-64-v3")), {{3}, {11}});
  means_the_same(reduced.program, Schedule(reduced, Target::parse("x86-64-v3")), {{0}, {11}});

  Symbol P{"P"};
  const Tensor w = lang::make_input("w", i32, {P}), out = lang::make_output("out", i32, {L});
  lang::bind(out, compute("out", {{"i", L}}, [&](Var i) { return w(i % P); }));
  try {
    scheduled({w, out});
    FAIL("i % 0 lies in no table");
  } catch (const RefusalError& e) { CHECK(has(e.refusal.text(), "past its end P")); }
}

TEST_CASE("what may wrap is refused, and says where") {
  const std::string below = gathered(u8, 9, [](const Expr& x, const Symbol&) { return clamp(x, 0, 9) - 1; });
  CHECK(has(below, "past its end 9"));
  CHECK(has(below, "max(min(k[i], 9u8), 0u8) - 1u8 may wrap in u8 (convert before: i32(x))"));
  CHECK(has(below, "clamp(e, 0, 8), or promise in_range(e, 0, 9)"));
  CHECK(gathered(u8, 255, [](const Expr& x, const Symbol&) { return clamp(x, 0, 9) + 250; }) != "");
  CHECK(gathered(u8, 260, [](const Expr& x, const Symbol&) { return clamp(x, 0, 9) + 250; }) == "");  // any u8
  CHECK(gathered(i32, 100, [](const Expr& x, const Symbol&) { return clamp(x, 0, 9) * (1 << 30) / (1 << 30); }) != "");
  CHECK(gathered(i32, 300, [](const Expr& x, const Symbol&) { return u8(clamp(x, 0, 300)); }) == "");
  CHECK(gathered(i32, 255, [](const Expr& x, const Symbol&) { return u8(clamp(x, 0, 300)); }) != "");
  CHECK(gathered(i8, 100, [](const Expr& x, const Symbol&) { return u8(clamp(x, -1, 9)); }) != "");
  CHECK(gathered(i32, 5, [](const Expr& x, const Symbol&) { return x % 5; }) == "");
  CHECK(gathered(i32, 5, [](const Expr& x, const Symbol&) { return x % -5; }) != "");
  CHECK(gathered(i32, 5, [](const Expr& x, const Symbol&) { return -(x % -5); }) == "");
  CHECK(gathered(i8, 129, [](const Expr& x, const Symbol&) { return abs(x); }) != "");  // of -128: -128
  const std::string unbounded = gathered(i32, 5, [](const Expr& x, const Symbol&) { return x; });
  CHECK(has(unbounded, "(bound the index, which comes from data: clamp(e, 0, 4), or promise in_range(e, 0, 5))"));
}

TEST_CASE("a stage that an index from data may reach anywhere is refused at the line that reads") {
  const auto reached = [](const At& at) -> std::string {
    const lang::DefinitionScope scope;
    Symbol M{"M"};
    const Tensor x = lang::make_input("x", f32, {M}), y = lang::make_output("y", f32, {M});
    const Tensor t = compute("t", [&](Var v) { return f32(v) * 0.5f; });
    lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return t(at(i32(floor(x(i))), M)); }));
    try {
      scheduled({x, y});
    } catch (const RefusalError& e) { return e.refusal.text(); }
    return "";
  };
  const std::string any = reached([](const Expr& k, const Symbol&) { return k; });
  CHECK(has(any, "data_index_test.cpp:"));
  CHECK(has(any, "an index of t that reaches at most 2^30 elements"));
  CHECK(has(any, "index(i32(floor(x[i]))) in dimension 0, which is from -2147483648 to 2147483647"));
  CHECK(has(reached([](const Expr& k, const Symbol&) { return max(k, 0); }), "from 0 to 2147483647"));
  CHECK(has(reached([](const Expr& k, const Symbol& N) { return min(k, N - 1); }), "from -2147483648 to "));
  CHECK(has(reached([](const Expr& k, const Symbol&) { return clamp(k, 0, 8) * (1 << 30); }), "may wrap in i32"));
  CHECK(has(reached([](const Expr& k, const Symbol&) { return u32(clamp(k, 0, 8)) - 1; }), "from 0 to 4294967295"));
  CHECK(has(reached([](const Expr& k, const Symbol&) { return i64(k) * 3; }), "from -6442450944 to 6442450941"));
  CHECK(reached([](const Expr& k, const Symbol&) { return clamp(k, 0, 14) + 1; }) == "");
  CHECK(reached([](const Expr& k, const Symbol& N) { return clamp(k, 0, N) + 1; }) == "");
  CHECK(reached([](const Expr& k, const Symbol&) { return u16(k); }) == "");
}

TEST_CASE("a box that data makes large in several dimensions together is refused, a smaller one is not") {
  const auto reached = [](auto type) {
    const lang::DefinitionScope scope;
    Symbol M{"M"};
    const Tensor x = lang::make_input("x", type, {M, 2}), y = lang::make_output("y", i32, {M});
    const Tensor t = compute("t", [&](Var a, Var b) { return i32(a) - i32(b); });
    lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return t(x(i, 0), x(i, 1)); }));
    try {
      scheduled({x, y});
    } catch (const RefusalError& e) { return e.refusal.text(); }
    return std::string();
  };
  const std::string wide = reached(u16);
  CHECK(has(wide, "an index of t that reaches at most 2^30 elements"));
  CHECK(has(wide, "in dimension 1, which is from 0 to 65535, together with the dimensions before it"));
  CHECK(reached(u8) == "");
}

TEST_CASE("operands of two types: what an index meets is said") {
  const lang::DefinitionScope scope;
  Symbol N{"N"};
  const Tensor k = lang::make_input("k", i32, {N}), y = lang::make_output("y", i32, {N});
  std::string text;
  try {
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return clamp(k(i), 0, i64(N) - 1); }));
  } catch (const RefusalError& e) { text = e.refusal.text(); }
  CHECK(has(text, "an index, such as a Symbol, meets any integer without a conversion; or convert one by name: i64(x)"));
}

}  // namespace ashlar::test
