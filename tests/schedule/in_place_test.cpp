// Outputs that may be an input: what is read of it stands ahead of what is stored, or the schedule is refused.
#include <doctest/doctest.h>

#include "tests/schedule/programs.h"

using namespace ashlar;

namespace {
struct InPlace {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N}, {.may_alias_inputs = true}),
         z = lang::make_output("z", f32, {M, N});
};
std::string said(const std::vector<lang::ArgumentRef>& arguments, void (*schedule)(Schedule&) = nullptr) {
  Schedule s(lang::build_program("in_place", arguments), Target::parse("x86-64-v3"));
  if (schedule) schedule(s);
  try {
    schedule::finish(s.scheduled(), s.target());
  } catch (const RefusalError& e) { return e.refusal.expected + ", found " + e.refusal.found; }
  return "";
}
}  // namespace

TEST_CASE("a point that reads its own element may store it") {
  InPlace t;
  const Axis k{"k", t.N};
  const Tensor most = compute("most", {t.M}, [&](Var i) { return maximum(t.x(i, k), k); });
  lang::bind(t.y, compute("y", {t.M, t.N}, [&](Var i, Var j) { return t.x(i, j) - most(i); }));
  CHECK(said({t.x, t.y}) == "");
}

TEST_CASE("a point that reads another one's element is refused") {
  InPlace t;
  lang::bind(t.y, compute("y", {t.M, t.N}, [&](Var i, Var j) { return t.x(i, j) + t.x(i, max(j - 1, 0)); }));
  CHECK(
      said({t.x, t.y}) ==
      "y to store no element of x that is read afterwards, since it may be x (without .alias_inputs it may not), found y reads "
      "x[i0, max(i1 - 1, 0)]");
}

TEST_CASE("so is a sum into the elements that it reads") {
  InPlace t;
  const Tensor w = lang::make_input("w", f32, {t.N, t.N});
  const Axis k{"k", t.N};
  lang::bind(t.y, compute("y", {t.M, t.N}, [&](Var i, Var j) { return sum(t.x(i, k) * w(k, j), k); }));
  CHECK(said({t.x, w, t.y}).find("found y, a reduction, which stores its element before it has read all terms") !=
        std::string::npos);
}

TEST_CASE("what reads the input stands ahead of the output") {
  InPlace t;
  lang::bind(t.y, compute("y", {t.M, t.N}, [&](Var i, Var j) { return t.x(i, j) * 2; }));
  lang::bind(t.z, compute("z", {t.M, t.N}, [&](Var i, Var j) { return t.x(i, j) + 1; }));
  CHECK(said({t.x, t.y, t.z}).find("found z, which reads x[i0, i1] behind it") != std::string::npos);
  CHECK(said({t.x, t.z, t.y}) == "");
}

TEST_CASE("a tensor of another shape or type is never the output") {
  InPlace t;
  const Tensor a = lang::make_input("a", f32, {8}), b = lang::make_output("b", f32, {4}, {.may_alias_inputs = true});
  lang::bind(b, compute("b", {4}, [&](Var i) { return a(i) + a(i + 4); }));
  CHECK(said({a, b}) == "");
}
