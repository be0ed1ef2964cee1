// Descriptions of intrinsics: what a well-formed one says, and each way in which one is not, at the user's line.
#include <ashlar/ir/print.h>

#include "programs.h"

namespace ashlar::test {
namespace {

// The refusal of a description, which stands around this call.
template <class F>
std::string refused_description(F&& describe, Where here = Where::current()) {
  try {
    intrinsic("f", describe, here);
  } catch (const RefusalError& e) {
    CHECK(e.refusal.primitive == "f");
    CHECK(std::string(e.refusal.where.file_name()) == here.file_name());
    CHECK(e.refusal.where.line() + 30 >= here.line());
    CHECK(e.refusal.where.line() <= here.line() + 30);
    return e.what();
  }
  FAIL_CHECK("nothing was refused");
  return "";
}

void copies(Meaning& m, const Tensor& to, const Tensor& from, Where here = Where::current()) {
  m.means(to, [&](Var i) { return from(i); }, here);
}

}  // namespace

TEST_CASE("an intrinsic as it was described") {
  const Intrinsic f = intrinsic("dot4", [](Meaning& m) {
    Symbol rows{"rows", {.min = 2, .max = 64, .multiple_of = 2}};
    Tensor a = m.read("a", i8, {rows, 4}), b = m.read("b", i8, {4}, Scope::stack);
    Tensor c = m.accumulate("c", i32, {rows});
    Expr zero = m.parameter("zero", i32);
    Axis k{"k", 4};
    m.means(c, [&](Var i) { return sum((i32(a(i, k)) - zero) * i32(b(k)), k).from(c(i)); });
    m.emit(Backend::c, "{token} = dot4({c.ptr}, {a.ptr}, {a.stride0}, {b.ptr}, {rows}, {zero}); if (0) {{ }}");
    m.asynchronous(Backend::c, "wait({token});");
    m.needs("dots");
    m.needs("more");
  });
  CHECK(f.name() == "dot4");
  CHECK(ir::meaning(f.node()) ==
        "dot4: c[i0] += sum over k in 4 of (i32(a[i0, k]) - zero) * i32(b[k]) for i0 in rows\n"
        "  a: i8[rows, 4] read in global\n"
        "  b: i8[4] read in stack\n"
        "  c: i32[rows] accumulate in global\n"
        "  zero: i32\n"
        "  rows: index from 2 to 64, multiple of 2\n"
        "  c: {token} = dot4({c.ptr}, {a.ptr}, {a.stride0}, {b.ptr}, {rows}, {zero}); if (0) {{ }}\n"
        "  c waits: wait({token});\n"
        "  needs dots more\n");
}

TEST_CASE("names") {
  CHECK_THROWS_WITH_AS(intrinsic("", [](Meaning&) {}), doctest::Contains("a name of letters, digits and _, found none"),
                       RefusalError);
  CHECK_THROWS_WITH_AS(intrinsic("a b", [](Meaning&) {}), doctest::Contains("a name of letters, digits and _, found a b"),
                       RefusalError);
  says(refused_description([](Meaning& m) { m.read("x y", i8, {4}); }),
       {"a name of letters, digits and _ for each operand, found x y"});
  says(refused_description([](Meaning& m) { m.read("x", i8, {4}), m.parameter("x", i8); }),
       {"a name of its own for each operand, found x twice"});
  says(refused_description([](Meaning& m) { m.parameter("token", i8); }), {"a name of its own", "token"});
}

TEST_CASE("operands") {
  says(refused_description([](Meaning& m) { m.read("x", i8, {4}, Scope::registers); }),
       {"an operand in memory or in Scope::fragment, found x in registers"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {0}), y = m.write("y", i8, {0});
         copies(m, y, x);
       }),
       {"extents of at least 1, found 0 in x"});
  says(refused_description([](Meaning& m) {
         Symbol n{"n"};
         Tensor x = m.read("x", i8, {n + 1}), y = m.write("y", i8, {n + 1});
         copies(m, y, x);
       }),
       {"extents that are numbers or Symbols, found n + 1 in x"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i8, {4});
         m.read("z", i8, {4});
         copies(m, y, x);
       }),
       {"a meaning that uses each operand, found z, which it does not read"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i8, {4});
         m.parameter("p", i8);
         copies(m, y, x);
       }),
       {"a meaning that uses each parameter, found p, which it does not"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i8, {4});
         m.write("z", i8, {4});
         copies(m, y, x);
       }),
       {"one tensor that is written or accumulated, found 2"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4});
         m.write("y", i8, {4});
         copies(m, x, x);
       }),
       {"the meaning of the written tensor, found that of x, which is read"});
}

TEST_CASE("meanings") {
  says(refused_description([](Meaning& m) { m.write("y", i8, {4}); }),
       {"a meaning: m.means(result, [&](Var i, ...) { return ...; }), found none"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i8, {4});
         copies(m, y, x), copies(m, y, x);
       }),
       {"one meaning, found a second one"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i8, {4, 4});
         copies(m, y, x);
       }),
       {"2 indices, as y has, found 1"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i16, {4});
         copies(m, y, x);
       }),
       {"values of type i16, found i8"});
  Tensor foreign = lang::make_input("foreign", i8, {4});
  says(refused_description([&](Meaning& m) {
         Tensor y = m.write("y", i8, {4});
         copies(m, y, foreign);
       }),
       {"elements of its operands, found foreign[i"});
  says(refused_description([&](Meaning& m) { copies(m, foreign, foreign); }),
       {"an operand of this description, found foreign"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i8, {4});
         m.means(y, [&](Var i) { return x(i) + y(i); });
       }),
       {"operands that are read (the start of a sum apart)", "which is written"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i8, {4});
         m.means(y, [&](Var i) { return x(i) + i8(i); });
       }),
       {"indices as indices only", "as a value"});
  Symbol outside{"outside"};
  says(refused_description([&](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i8, {4});
         m.means(y, [&](Var i) { return x(i) + i8(outside); });
       }),
       {"values over operands and parameters (m.parameter), found outside"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i8, {4});
         m.means(y, [&](Var i) { return x(3 - i); });
       }),
       {"a variable of its own as each index of x, found x["});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4, 4}), y = m.write("y", i8, {4});
         m.means(y, [&](Var i) { return x(i, i); });
       }),
       {"a variable of its own as each index of x"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {8}), y = m.write("y", i8, {4});
         copies(m, y, x);
       }),
       {"over the extent of", "found x of extent 8"});
}

TEST_CASE("sums") {
  const auto sums = [](Meaning& m, auto&& value, bool accumulates = true) {
    Tensor x = m.read("x", i32, {4, 8});
    Tensor y = accumulates ? m.accumulate("y", i32, {4}) : m.write("y", i32, {4});
    Axis k{"k", 8};
    m.means(y, [&](Var i) { return value(x, y, i, k); });
  };
  says(refused_description([&](Meaning& m) { sums(m, [](Tensor x, Tensor, Var i, Axis k) { return sum(x(i, k), k); }); }),
       {"a sum .from(y(", "since y is accumulated, found one from 0"});
  says(refused_description(
           [&](Meaning& m) { sums(m, [](Tensor x, Tensor, Var i, Axis k) { return sum(x(i, k), k).from(7); }, false); }),
       {"a sum from 0, since y is written (m.accumulate starts from what was there), found 7"});
  says(refused_description(
           [&](Meaning& m) { sums(m, [](Tensor x, Tensor, Var i, Axis k) { return maximum(x(i, k), k); }, false); }),
       {"an elementwise value or a sum, found another reduction"});
  says(refused_description(
           [&](Meaning& m) { sums(m, [](Tensor x, Tensor, Var i, Axis k) { return sum(x(i, k), k.where(k < 4)); }, false); }),
       {"a sum over whole axes, found one with a condition"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i32, {4}), y = m.accumulate("y", i32, {4});
         copies(m, y, x);
       }),
       {"a sum .from(y(", "found a value without a sum"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i32, {4, 8}), y = m.write("y", i32, {4});
         Axis k{"k", 1, 8};
         m.means(y, [&](Var i) { return sum(x(i, k), k); });
       }),
       {"an Axis from 0, found k from 1"});
  Symbol n{"n"};
  says(refused_description([&](Meaning& m) {
         Tensor x = m.read("x", i32, {4, 8}), y = m.write("y", i32, {4});
         Axis k{"k", n};
         m.means(y, [&](Var i) { return sum(x(i, k), k); });
       }),
       {"an Axis whose end is a number, or a Symbol of an operand, found k to n"});
}

TEST_CASE("sums that the machine rounds otherwise") {
  const auto sums = [](Meaning& m, Type t, const auto& value) {
    Tensor x = m.read("x", t, {4, 8}), y = m.write("y", t, {4});
    Axis k{"k", 8};
    m.means(y, [&](Var i) { return value(x, i, k); });
    m.rounds_freely();
  };
  const auto summed = [](const Tensor& x, Var i, const Axis& k) { return sum(x(i, k), k); };
  const Intrinsic f = intrinsic("f", [&](Meaning& m) { sums(m, f32, summed); });
  CHECK(f.node().rounds_freely);
  CHECK(ir::text(f.node()) == "f: y[i0] = sum over k in 8 of x[i0, k] for i0 in 4, rounded freely");
  says(refused_description([&](Meaning& m) { sums(m, i32, summed); }),
       {"a sum of floats, which m.rounds_freely is about, found a sum of i32"});
  says(refused_description(
           [&](Meaning& m) { sums(m, f32, [](const Tensor& x, Var i, const Axis& k) { return strict_sum(x(i, k), k); }); }),
       {"a sum of floats, which m.rounds_freely is about, found a strict_sum"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", f32, {4}), y = m.write("y", f32, {4});
         copies(m, y, x);
         m.rounds_freely();
       }),
       {"found a value without a sum"});
}

TEST_CASE("fragments have a place for each element") {
  const auto fragment = [](Meaning& m, auto&& map, int lanes = 4) {
    Tensor x = m.read("x", f32, {8}), y = m.write("y", f32, {8}, Scope::fragment);
    m.means(y, [&](Var i) { return x(i); });
    m.holds(y, lanes, map);
  };
  const Intrinsic good = intrinsic("f", [&](Meaning& m) { fragment(m, [](Var i) { return held(i / 2, i % 2); }); });
  CHECK(good.node().group == 4);
  says(refused_description([&](Meaning& m) { fragment(m, [](Var i) { return held(i / 2, 0); }); }),
       {"a place of its own for each element of y", "are both in register 0 of thread 0"});
  says(refused_description([&](Meaning& m) { fragment(m, [](Var i) { return held(i, 0); }); }), {"is held by thread 4 of 4"});
  // lanes 2 and 3 hold what lanes 0 and 1 do
  const Intrinsic copies = intrinsic("f", [&](Meaning& m) { fragment(m, [](Var i) { return held(i / 4, i % 4); }); });
  CHECK(copies.node().group == 4);
  says(refused_description([&](Meaning& m) { fragment(m, [](Var i) { return held(i / 2, i % 2 * 2); }); }),
       {"a bijection between the elements of y and its lanes' registers, found 8 elements in 4 lanes of 3 registers"});
  says(refused_description([&](Meaning& m) { fragment(m, [](Var i) { return held(i / 2, i % 2); }, 3); }),
       {"a power of two of lanes, up to 128, found 3"});
  says(refused_description([&](Meaning& m) { fragment(m, [](Var i, Var j) { return held(i, j); }); }),
       {"1 indices in m.holds of y, found 2"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", f32, {8}), y = m.write("y", f32, {8}, Scope::fragment);
         m.means(y, [&](Var i) { return x(i); });
       }),
       {"m.holds(y, lanes, ...): who holds its elements, found none"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", f32, {8}), y = m.write("y", f32, {8});
         m.means(y, [&](Var i) { return x(i); });
         m.holds(y, 4, [](Var i) { return held(i / 2, i % 2); });
       }),
       {"m.holds of an operand in Scope::fragment, found y in global"});
  says(refused_description([](Meaning& m) {
         Symbol n{"n"};
         Tensor x = m.read("x", f32, {n}), y = m.write("y", f32, {n}, Scope::fragment);
         m.means(y, [&](Var i) { return x(i); });
         m.holds(y, 4, [](Var i) { return held(i / 2, i % 2); });
       }),
       {"a fragment of constant extents, found y"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", f32, {8}, Scope::fragment), y = m.write("y", f32, {8}, Scope::fragment);
         m.means(y, [&](Var i) { return x(i); });
         m.holds(x, 4, [](Var i) { return held(i / 2, i % 2); });
         m.holds(y, 8, [](Var i) { return held(i, 0); });
       }),
       {"the same number of lanes for all fragments, 4, found 8 for y"});
  says(refused_description([](Meaning& m) {
         Tensor y = m.write("y", f32, {8}, Scope::fragment);
         m.holds(y, 4, [](Var i) { return held(i / 2, i % 2); });
         m.holds(y, 4, [](Var i) { return held(i / 2, i % 2); });
       }),
       {"one m.holds of y, found a second one"});
}

TEST_CASE("texts") {
  const auto text = [](Meaning& m, const char* words, const char* wait = nullptr, Where here = Where::current()) {
    Tensor x = m.read("x", i8, {4, 4}), y = m.write("y", i8, {4, 4});
    m.means(y, [&](Var i, Var j) { return x(i, j); });
    if (words) m.emit(Backend::c, words, here);
    if (wait) m.asynchronous(Backend::c, wait, here);
  };
  says(refused_description([&](Meaning& m) { text(m, "f({z.ptr});"); }),
       {"names of operands in the text for c: {x.ptr}, {y.ptr}, found {z.ptr}"});
  says(refused_description([&](Meaning& m) { text(m, "f({x});"); }), {"{x.ptr} or {x.stride0} to {x.stride1}, found {x}"});
  says(refused_description([&](Meaning& m) { text(m, "f({x.stride2});"); }),
       {"{x.ptr} or {x.stride0} to {x.stride1}, found {x.stride2}"});
  says(refused_description([&](Meaning& m) { text(m, "f({x.ptr);"); }),
       {"braces around names ({{ for a brace itself), found `{x.ptr);` in the text for c"});
  says(refused_description([&](Meaning& m) { text(m, "f(x});"); }), {"braces around names"});
  says(refused_description([&](Meaning& m) { text(m, "{token} = f({x.ptr});"); }),
       {"{token} in a text whose completion is waited for (m.asynchronous)"});
  says(refused_description([&](Meaning& m) { text(m, "f({x.ptr});", "wait({token});"); }),
       {"{token} in the text for c, by which its completion is waited for"});
  says(refused_description([&](Meaning& m) { text(m, "{token} = f({x.ptr});", "wait();"); }), {"{token} in the text for c"});
  says(refused_description([&](Meaning& m) { text(m, nullptr, "wait({token});"); }),
       {"m.emit for c beside its m.asynchronous, found none"});
  says(refused_description([&](Meaning& m) { text(m, "f({x.ptr});"), m.emit(Backend::c, "g();"); }),
       {"one text for c, found a second one"});
  says(refused_description([&](Meaning& m) { m.needs(""); }), {"the name of a feature, found none"});
  says(refused_description([](Meaning& m) {
         Tensor x = m.read("x", i8, {4}), y = m.write("y", i8, {4});
         Expr p = m.parameter("p", i8);
         m.means(y, [&](Var i) { return x(i) - p; });
         m.emit(Backend::c, "f({p.ptr});");
       }),
       {"a value, {p}, found {p.ptr}"});
}

TEST_CASE("features of the user's own") {
  const TargetFeature feature("users.engine");
  CHECK(Target::parse("x86-64+users.engine").has("users.engine"));
  CHECK(!Target::parse("x86-64").has("users.engine"));
  CHECK(!Target::parse("x86-64+users.engine-users.engine").has("users.engine"));
  CHECK(Target::parse("x86-64+users.engine+avx2").text() == "x86-64+users.engine+avx2");
  CHECK_THROWS_WITH_AS(Target::parse("x86-64+users.engines"), doctest::Contains("`+users.engines`"), RefusalError);
  CHECK_THROWS_WITH_AS(TargetFeature("avx2"), doctest::Contains("a name of its own"), RefusalError);
  CHECK_THROWS_WITH_AS(TargetFeature("Engine"), doctest::Contains("a name of its own"), RefusalError);
  const Target gpu = Target::parse("cuda-sm_90a");
  CHECK(gpu.has("sm_80"));
  CHECK(gpu.has("sm_90"));
  CHECK(gpu.has("sm_90a"));
  CHECK(!gpu.has("sm_100a"));
  CHECK(!gpu.has("sm_100"));
  CHECK(!Target::parse("cuda-sm_80").has("sm_90"));
  CHECK(!Target::parse("x86-64").has("sm_80"));
}

}  // namespace ashlar::test
