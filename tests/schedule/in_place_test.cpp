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
  CHECK(said({t.x, t.y, t.z}) == "");  // in either order of the arguments
  CHECK(said({t.x, t.z, t.y}) == "");
}

TEST_CASE("a copy of the input stands ahead of the output") {
  InPlace t;
  lang::bind(t.y, compute("y", {t.M, t.N}, [&](Var i, Var j) { return t.x(i, j) * 2; }));
  lang::bind(t.z, t.x);
  CHECK(said({t.x, t.y, t.z}) == "");
}

TEST_CASE("a result that reads the output and the input is refused") {
  InPlace t;
  const Tensor y = compute("y", {t.M, t.N}, [&](Var i, Var j) { return t.x(i, j) * 2; });
  lang::bind(t.y, y);
  lang::bind(t.z, compute("z", {t.M, t.N}, [&](Var i, Var j) { return t.x(i, j) + y(i, j); }));
  for (const auto& arguments : {std::vector<lang::ArgumentRef>{t.x, t.y, t.z}, {t.x, t.z, t.y}})
    CHECK(said(arguments).find("found z, which reads x[i0, i1] behind it") != std::string::npos);
}

TEST_CASE("rows that are read before they are stored may be computed inside") {
  InPlace t;
  const Axis k{"k", t.N};
  const Tensor most = compute("most", {t.M}, [&](Var i) { return maximum(t.x(i, k), k); }),
               y = compute("y", {t.M, t.N}, [&](Var i, Var j) { return t.x(i, j) - most(i); });
  lang::bind(t.y, y);
  const lang::Built built = lang::build_program("in_place", {t.x, t.y});
  for (const bool parallel : {false, true})
    for (const bool split : {false, true}) {
      Schedule s(built, Target::parse("x86-64-v3"));
      auto [i, j] = s[y].spatial<2>();
      const Loop rows = split ? s[y].split(i, 4).outer : i;
      s[most].compute_at(rows);
      if (parallel) s[y].parallel(rows);
      s[y].vectorize(j, 8);
      CHECK_NOTHROW(schedule::finish(s.scheduled(), s.target()));
    }
}

TEST_CASE("rows of fused loops are read before they are stored") {
  lang::DefinitionScope scope;
  const Symbol B{"B"}, M{"M"}, N{"N"};
  const Tensor x = lang::make_input("x", f32, {B, M, N}),
               out = lang::make_output("y", f32, {B, M, N}, {.may_alias_inputs = true});
  const Axis k{"k", N};
  const Tensor most = compute("most", {B, M}, [&](Var b, Var i) { return maximum(x(b, i, k), k); }),
               y = compute("y", {B, M, N}, [&](Var b, Var i, Var j) { return x(b, i, j) - most(b, i); });
  lang::bind(out, y);
  const lang::Built built = lang::build_program("in_place", {x, out});
  for (const bool parallel : {false, true}) {
    Schedule s(built, Target::parse("x86-64-v3"));
    auto [b, i, j] = s[y].spatial<3>();
    const Loop rows = s[y].fuse(b, i);
    s[most].compute_at(rows);
    if (parallel) s[y].parallel(rows);
    CHECK_NOTHROW(schedule::finish(s.scheduled(), s.target()));
  }
}

TEST_CASE("what is computed inside reads no row that an earlier iteration has stored") {
  InPlace t;
  const Tensor sums = compute("sums", {t.M, t.N}, [&](Var i, Var j) { return t.x(max(i - 1, 0), j) + t.x(i, j); }),
               y = compute("y", {t.M, t.N}, [&](Var i, Var j) { return sums(i, j) * 2; });
  lang::bind(t.y, y);
  const lang::Built built = lang::build_program("in_place", {t.x, t.y});
  const auto attempt = [&](const std::function<void(Schedule&)>& steps) -> std::string {
    Schedule s(built, Target::parse("x86-64-v3"));
    try {
      steps(s);
      schedule::finish(s.scheduled(), s.target());
    } catch (const RefusalError& e) { return e.refusal.primitive + ": " + e.refusal.found; }
    return "";
  };
  CHECK(attempt([](Schedule&) {}) == "");
  CHECK(attempt([&](Schedule& s) { s[sums].compute_at(s[y].spatial<2>()[0]); }) ==
        "compute_at: sums, which reads x[max(i0 - 1, 0), i1] where an earlier iteration of i0 may have stored it");
  CHECK(attempt([&](Schedule& s) { s[sums].compute_at(s[y].spatial<2>()[1]); }) ==
        "compute_at: sums, which reads x[max(i0 - 1, 0), i1] where an earlier iteration of i0 may have stored it");
}

TEST_CASE("rows ahead may be read in a serial loop, not in a parallel one") {
  InPlace t;
  const Tensor sums = compute("sums", {t.M, t.N}, [&](Var i, Var j) { return t.x(min(i + 1, t.M - 1), j) + t.x(i, j); }),
               y = compute("y", {t.M, t.N}, [&](Var i, Var j) { return sums(i, j) * 2; });
  lang::bind(t.y, y);
  const lang::Built built = lang::build_program("in_place", {t.x, t.y});
  Schedule s(built, Target::parse("x86-64-v3"));
  const Loop i = s[y].spatial<2>()[0];
  s[sums].compute_at(i);
  CHECK_NOTHROW(schedule::finish(s.scheduled(), s.target()));
  try {
    s[y].parallel(i);
    FAIL("parallel was accepted");
  } catch (const RefusalError& e) {
    CHECK(e.refusal.primitive == "parallel");
    CHECK(e.refusal.found == "sums, which reads x[min(i0 + 1, M - 1), i1] where another iteration of i0 may have stored it");
  }
}

TEST_CASE("a tensor whose elements have the size of the output's may be it") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor a = lang::make_input("a", i32, {N}), b = lang::make_output("b", f32, {N}, {.may_alias_inputs = true});
  lang::bind(b, compute("b", {N}, [&](Var i) { return f32(a(max(i - 1, 0))); }));
  CHECK(said({a, b}).find("found b reads a[max(i0 - 1, 0)]") != std::string::npos);
}

TEST_CASE("a tensor of another shape or size of elements is never the output") {
  InPlace t;
  const Tensor a = lang::make_input("a", f32, {8}), b = lang::make_output("b", f32, {4}, {.may_alias_inputs = true});
  lang::bind(b, compute("b", {4}, [&](Var i) { return a(i) + a(i + 4); }));
  CHECK(said({a, b}) == "");
}
