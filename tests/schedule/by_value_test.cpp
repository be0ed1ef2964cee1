// Tiles that the text of an intrinsic takes by value, {x.value} and {x.result}: what a text may name, where such tiles may lie,
// and each refusal.
#include "programs.h"

namespace ashlar::test {
namespace {

// y = x, of four elements, by a text for llvm (or another back end).
std::string described(const char* words, Backend end = Backend::llvm, bool accumulates = false) {
  try {
    intrinsic("f", [&](Meaning& m) {
      Tensor x = m.read("x", i32, {4, 1}), y = accumulates ? m.accumulate("y", i32, {4}) : m.write("y", i32, {4});
      Axis k{"k", 1};
      m.means(y, [&](Var i) { return accumulates ? sum(x(i, k), k).from(y(i)) : sum(x(i, k), k); });
      m.emit(end, words);
    });
  } catch (const RefusalError& e) { return e.what(); }
  return "";
}

Intrinsic copy4(bool by_value) {
  return intrinsic("copy4", [&](Meaning& m) {
    Tensor x = m.read("x", i32, {4}), y = m.write("y", i32, {4});
    m.means(y, [&](Var i) { return x(i); });
    m.emit(Backend::llvm,
           by_value ? "{y.result} = add <4 x i32> {x.value}, zeroinitializer" : "call void @copy4(ptr {y.ptr}, ptr {x.ptr})");
    m.emit(Backend::c, "copy4({y.ptr}, {x.ptr});");
  });
}

struct Doubled {  // y = 2 z where z = x is a stage of its own
  lang::DefinitionScope scope;
  Symbol N{"N", {.multiple_of = 4}};
  Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  Tensor z = compute("z", {{"i", N}}, [&](Var i) { return x(i); });
  lang::Built built =
      (lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return z(i) * 2; })), lang::build_program("doubled", {x, y}));
  Schedule s{built, Target::parse("x86-64-v3")};
  Loop lane;
  explicit Doubled(const Scope& where) {
    auto [o, i] = s[y].split(s[y].spatial<1>()[0], 4, Tail::exact);
    s[y].vectorize(i);
    s[z].compute_at(o).store_in(where);
    lane = s[z].spatial<1>()[0];
  }
};

}  // namespace

TEST_CASE("what a text may name by value") {
  CHECK(described("{y.result} = add <4 x i32> {x.value}, zeroinitializer") == "");
  CHECK(described("call void @f(ptr {y.ptr}, <4 x i32> {x.value})") == "");  // each operand its own way
  CHECK(described("{y.result} = add <4 x i32> {x.value}, {y.value}", Backend::llvm, true) == "");
  says(described("f({x.value}, {y.ptr});", Backend::c), {"{x.ptr} in the text for c, found {x.value}"});
  says(described("{y.result} = add <4 x i32> {y.value}, {x.value}"), {"{y.result}, since y is written, found {y.value}"});
  says(described("{x.result} = add <4 x i32> {x.value}, {x.value}"), {"{x.value}, since x is read, found {x.result}"});
  says(described("call void @f(ptr {x.ptr}, <4 x i32> {x.value}, ptr {y.ptr})"),
       {"x by its address or by its value, found both in the text for llvm"});
  says(described("call void @f(i64 {x.stride0}, <4 x i32> {x.value}, ptr {y.ptr})"), {"x by its address or by its value"});
  says(described("call void @f(<4 x i32> {x.value}, <4 x i32> {y.value})", Backend::llvm, true),
       {"{y.result} beside {y.value}, since y is accumulated, found none"});
  const auto sized = [] {
    intrinsic("f", [](Meaning& m) {
      Symbol n{"n"};
      Tensor x = m.read("x", i32, {n}), y = m.write("y", i32, {n});
      m.means(y, [&](Var i) { return x(i); });
      m.emit(Backend::llvm, "call void @f(ptr {y.ptr}, <4 x i32> {x.value})");
    });
  };
  CHECK_THROWS_WITH_AS(sized(),
                       doctest::Contains("constant extents of x, which the text for llvm takes by value, found a Symbol"),
                       RefusalError);
}

TEST_CASE("registers hold a tile that is taken by value, and no other") {
  Doubled a(Scope::registers);
  a.s[a.z].tensorize(a.lane, copy4(true));
  means_the_same(a.built.program, a.s, {{12}, {12}});
  Doubled b(Scope::registers);
  says(refusal(b.s, [&] { b.s[b.z].tensorize(b.lane, copy4(false)); }),
       {"y of copy4 in memory, since its text for llvm takes the address ({y.value} would be the elements), found z in "
        "registers"});
  Doubled c(Scope::stack);
  c.s[c.z].tensorize(c.lane, copy4(false));
  c.s[c.z].store_in(Scope::stack);
  says(refusal(c.s, [&] { c.s[c.z].store_in(Scope::registers); }), {"y of copy4 in memory", "found z in registers"});
}

TEST_CASE("a tile by value has constant distances") {
  Doubled a(Scope::registers);
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor p = lang::make_input("p", i32, {4, N}), q = lang::make_output("q", i32, {N, 4});
  lang::bind(q, compute("q", {{"j", N}, {"i", 4}}, [&](Var j, Var i) { return p(i, j); }));
  Schedule s(lang::build_program("transposed", {p, q}), Target::parse("x86-64-v3"));
  const Loop i = s[q].spatial<2>()[1];
  says(refusal(s, [&] { s[q].tensorize(i, copy4(true)); }),
       {"a constant distance between neighbors along dimension 0 of x of copy4, which copy4 takes by value, found p with "
        "neighbors p.stride0 apart"});
  says(refusal(s, [&] { s[q].tensorize(i, copy4(false)); }), {"a tile without gaps along dimension 0 of x of copy4"});
}

}  // namespace ashlar::test
