// Domains of stages, and the boxes that nests take from them: where a stage may be computed, and that nothing is computed on
// behalf of readers without a point.
#include <ashlar/analysis/domains.h>

#include <string>

#include <ashlar/analysis/regions.h>
#include <ashlar/ashlar.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang/build_program.h>
#include <doctest/doctest.h>

using namespace ashlar;
using namespace ashlar::analysis;
using ir::Program;

namespace {

Program built(std::initializer_list<lang::ArgumentRef> arguments) {
  Program p = lang::build_program("domains", arguments).program;
  derive_regions(p);
  return p;
}

ir::Id stage_named(const Program& p, const std::string& name) {
  for (const auto& [id, s] : p.stages)
    if (s.name == name) return id;
  FAIL("no stage " << name);
  return 0;
}

std::string show(const Interval& i) {
  return "[" + (i.lo.empty() ? "-" : ir::text(i.lo)) + ", " + (i.hi.empty() ? "-" : ir::text(i.hi)) + "]";
}

// The box of a stage, then the conditions under which it has points: "[-1, N] where N >= 1".
std::string domain(const Program& p, const std::string& name) {
  const Domains all = domains_of(p);
  const Domain& d = all.at(stage_named(p, name));
  std::string t;
  for (const Interval& i : d.box) t += (t.empty() ? "" : " x ") + show(i);
  for (std::size_t k = 0; k < d.inhabited.size(); ++k) t += (k ? " and " : " where ") + ir::text(d.inhabited[k]);
  return t;
}

// The box of the only nest of a stage: begin and extent of each iteration variable.
std::string nest(const Program& p, const std::string& name) {
  std::string t;
  for (const ir::Root& r : ir::nests_of(p, stage_named(p, name)).at(0)->get<ir::NestStmt>().roots)
    t += (t.empty() ? "" : " x ") + ir::text(r.begin) + " +" + ir::text(r.extent);
  return t;
}

}  // namespace

TEST_CASE("an inferred domain is what all readers read, inhabited where each of them is") {
  lang::DefinitionScope scope;
  const Symbol N("N"), M("M");
  const Tensor x = lang::make_input("x", f32, {N + 2, M}), y = lang::make_output("y", f32, {N, M});
  const Tensor z = lang::make_output("z", f32, {N});
  const Tensor t = compute("t", [&](Var i, Var j) { return x(i, j) + 1; });
  const Axis k("k", M);
  lang::bind(y, compute("y", {N, M}, [&](Var i, Var j) { return t(i, j) + t(i + 2, j); }));
  lang::bind(z, compute("z", {N}, [&](Var i) { return sum(t(i + 1, k), k); }));
  const Program p = built({x, y, z});
  CHECK(domain(p, "y") == "[0, N - 1] x [0, M - 1] where N >= 1 and M >= 1");
  CHECK(domain(p, "t") == "[0, N + 1] x [0, M - 1] where N >= 1");  // z has points where M is 0, and reads none
}

TEST_CASE("the condition of a domain is left out where it is known") {
  lang::DefinitionScope scope;
  const Symbol N("N"), M("M");
  const Tensor x = lang::make_input("x", f32, {N}), w = lang::make_input("w", f32, {M});
  const Tensor t = compute("t", [&](Var i) { return x(clamp(i, 0, N - 1)); });
  const Tensor y = lang::make_output("y", f32, {N}), z = lang::make_output("z", f32, {M});
  lang::bind(y, compute("y", {N}, [&](Var i) { return t(i - 1) + t(i + 1); }));
  SUBCASE("it is not, beside an output that has points without it") {
    lang::bind(z, compute("z", {M}, [&](Var i) { return w(i) * 2; }));
    const Program p = built({x, w, y, z});
    CHECK(nest(p, "t") == "-1 +select(N > 0, N + 2, 0)");
    CHECK_FALSE(
        holds_in_calls(p, ir::ge(ir::nests_of(p, stage_named(p, "y"))[0]->get<ir::NestStmt>().roots[0].extent, ir::index(1))));
  }
  SUBCASE("by the only output") { CHECK(nest(built({x, y}), "t") == "-1 +N + 2"); }
  SUBCASE("by each of two outputs") {
    lang::bind(z, compute("z", {M}, [&](Var i) { return w(i) * x(N - 1); }));
    const Tensor v = lang::make_output("v", f32, {N, M});
    lang::bind(v, compute("v", {N, M}, [&](Var i, Var j) { return x(i) * w(j); }));
    CHECK(nest(built({x, w, y, v}), "t") == "-1 +N + 2");
  }
  SUBCASE("by the loop around") {
    lang::bind(z, compute("z", {M}, [&](Var i) { return w(i) * 2; }));
    Program p = built({x, w, y, z});
    const ir::Id t_id = stage_named(p, "t"), y_nest = ir::nests_of(p, stage_named(p, "y"))[0]->id;
    std::vector<ir::Stmt> moved;
    for (const ir::Stmt& s : p.body)
      if (s.is<ir::AllocStmt>() || ir::is_nest_of(s, t_id)) moved.push_back(s);
    p.body.erase(p.body.begin(), p.body.begin() + static_cast<std::ptrdiff_t>(moved.size()));
    std::vector<ir::Stmt>& inside = ir::find(p, y_nest)->body().at(0).body();
    inside.insert(inside.begin(), moved.begin(), moved.end());
    derive_regions(p);
    CHECK(nest(p, "t") == "i0 - 1 +3");
  }
}

TEST_CASE("a box that is empty without the condition needs none") {
  lang::DefinitionScope scope;
  const Symbol N("N"), M("M");
  const Tensor x = lang::make_input("x", f32, {N}), w = lang::make_input("w", f32, {M});
  const Tensor y = lang::make_output("y", f32, {N}), z = lang::make_output("z", f32, {M});
  const Tensor t = compute("t", [&](Var i) { return x(i) + 1; });
  lang::bind(y, compute("y", {N}, [&](Var i) { return t(i) * 2; }));
  lang::bind(z, compute("z", {M}, [&](Var i) { return w(i) * 2; }));
  CHECK(nest(built({x, w, y, z}), "t") == "0 +N");
}

TEST_CASE("the start of a reduction is read at every spatial point, its terms only where there are some") {
  lang::DefinitionScope scope;
  const Symbol K("K");
  const Tensor x = lang::make_input("x", f32, {K}), b = lang::make_input("b", f32, {K + 4});
  const Tensor y = lang::make_output("y", f32, {max(K, 3)});
  const Tensor bias = compute("bias", [&](Var i) { return b(i); });
  const Axis k("k", K);
  lang::bind(y, compute("y", {max(K, 3)}, [&](Var i) { return sum(x(k) + f32(i), k).from(bias(i)); }));
  const Program p = built({x, b, y});
  CHECK(domain(p, "bias") == "[0, max(K - 1, 2)] where max(K, 3) >= 1");
  CHECK(nest(p, "bias") == "0 +max(K, 3)");
  for (const Read& r : reads_of(p.stage(stage_named(p, "y"))))
    CHECK(r.of_start == (p.buffer(r.load.node()->id).name == "bias"));
}

TEST_CASE("an index that data chooses takes the range of the data") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", u8, {N}), y = lang::make_output("y", i32, {N});
  const Tensor table = compute("table", [&](Var i) { return i32(i); });
  lang::bind(y, compute("y", {N}, [&](Var i) { return table(select(x(i) > 7, x(i), i + 1)); }));
  const Program p = built({x, y});
  CHECK(domain(p, "table") == "[0, max(N, 255)] where N >= 1");
  CHECK(nest(p, "table") == "0 +max(N + 1, 256)");
}
