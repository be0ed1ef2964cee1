// cut: the terms of earlier iterations of a loop as a stage of their own, and where such a stage may be computed.
#include "programs.h"
#include "tests/support/recurrence_solves.h"

namespace ashlar::test {
namespace {

// Products of the rows of a lower triangle with columns; `mask` chooses terms.
struct Rows {
  lang::DefinitionScope scope;
  Symbol N{"N"}, M{"M"};
  Tensor x = lang::make_input("x", i32, {N, N}), w = lang::make_input("w", i32, {N, M}),
         out = lang::make_output("out", i32, {N, M});
  Tensor y;
  lang::Built built;
  Schedule s;

  static Tensor defined(const Tensor& x, const Tensor& w, const Symbol& N, const Symbol& M) {
    return compute("y", {{"i", N}, {"j", M}}, [&](Var i, Var j) {
      const Axis k{"k", i + 1};
      return sum(x(i, k) * w(k, j), k);
    });
  }
  Rows()
      : y(defined(x, w, N, M)),
        built((lang::bind(out, y), lang::build_program("rows", {x, w, out}))),
        s(built, Target::parse("x86-64-v3")) {}

  void same(std::int64_t n, std::int64_t m) const {
    const auto arguments = [&] {
      const auto some = [](std::span<const std::int64_t> at) { return static_cast<double>((at[0] * 7 + at[1] * 3) % 11 - 5); };
      interp::Arguments a;
      a.emplace_back(interp::Array::make(i32, {n, n}, some));
      a.emplace_back(interp::Array::make(i32, {n, m}, some));
      a.emplace_back(interp::Array::zeros(i32, {n, m}));
      return a;
    };
    interp::Arguments expected = arguments(), found = arguments();
    interp::run_algorithm(built.program, expected);
    interp::run(s.scheduled().program, found);
    CHECK(interp::difference(found.back().array, expected.back().array) == "");
  }
};

}  // namespace

TEST_CASE("a triangle becomes a rectangle for the rows of a block, and a small triangle") {
  Rows t;
  auto [i, j] = t.s[t.y].spatial<2>();
  auto [io, ii] = t.s[t.y].split(i, 4);
  const Stage before = t.s[t.y].cut(t.s[t.y].reduction(), io);
  before.compute_at(io);
  auto [bi, bj] = before.spatial<2>();
  before.reorder(before.reduction(), bi, bj);  // all rows of the block have these terms
  says(t.s.text(),
       {"y_cut[i, j] = sum over k in [0, i / 4 * 4)", "out[i, j] = sum over k in [i / 4 * 4, i + 1)", "from y_cut[i, j]"});
  for (const auto& [n, m] : {std::pair{0, 3}, {1, 1}, {4, 2}, {7, 3}, {13, 5}}) t.same(n, m);
  (void)j, (void)ii;
}

TEST_CASE("what cut expects") {
  Rows t;
  const Stage y = t.s[t.y];
  auto [i, j] = y.spatial<2>();
  const Loop k = y.reduction();
  says(refusal(t.s, [&, i = i] { y.cut(k, i); }), {"the outer loop of a split of a dimension by a constant", "i of y"});
  auto [io, ii] = y.split(i, 4);
  says(refusal(t.s, [&, io = io, ii = ii] { y.cut(ii, io); }), {"a loop over terms of y", "ii of y"});
  says(refusal(t.s, [&, ii = ii] { y.cut(k, ii); }), {"the outer loop of a split", "ii of y"});
  says(refusal(t.s, [&, io = io] { y.cut(y.split(k, 8).inner, io); }), {"a loop over terms that is whole", "before its split"});
  auto [jo, ji] = y.split(j, 12);
  auto [jp, jq] = y.split(ji, 5);
  says(refusal(t.s, [&, jp = jp] { y.cut(k, jp); }), {"a split of a block in equal parts", "jio of y, 5 of 12"});
  y.cut(k, jo);  // of a dimension that bounds nothing: the first terms, as many as columns before
  for (const auto& [n, m] : {std::pair{5, 9}, {9, 5}}) t.same(n, m);
  (void)jq;

  Rows r;
  r.s[r.y].reverse(r.s[r.y].reduction());
  const Loop rows = r.s[r.y].split(r.s[r.y].spatial<2>()[0], 4).outer;
  says(refusal(r.s, [&] { r.s[r.y].cut(r.s[r.y].reduction(), rows); }), {"terms in the order of definition", "before reverse"});

  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", u8, {N}), out = lang::make_output("counts", u32, {256});
  const Tensor counts =
      scatter("counts", {{"b", 256}}, Combine::add, u32(0), {{"n", N}}, [&](Var n) { return put(u32(1), x(n)); });
  lang::bind(out, counts);
  Schedule s(lang::build_program("histogram", {x, out}), Target::parse("x86-64-v3"));
  const Loop block = s[counts].split(s[counts].spatial<1>()[0], 4).outer;
  says(refusal(s, [&] { s[counts].cut(s[counts].reduction(), block); }),
       {"a reduction whose points have terms of their own", "counts, a scatter"});
}

TEST_CASE("blocks of loops that reverse turned around: of a declared domain alone") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N, N}), out = lang::make_output("out", i32, {N});
  const Tensor y = compute("y", [&](Var i) {
    const Axis k{"k", i + 1};
    return sum(x(i, k), k);
  });
  const Tensor z = compute("z", {{"i", N}}, [&](Var i) { return y(i) + 1; });
  lang::bind(out, z);
  Schedule s(lang::build_program("row", {x, out}), Target::parse("x86-64-v3"));
  s[y].reverse(s[y].spatial<1>()[0]);
  const Loop blocks = s[y].split(s[y].spatial<1>()[0], 4).outer;
  says(refusal(s, [&] { s[y].cut(s[y].reduction(), blocks); }), {"loops in the order of their variables", "i0o of y"});
  s[z].reverse(s[z].spatial<1>()[0]);
  const Loop readers = s[z].split(s[z].spatial<1>()[0], 4).outer;
  s[y].cut(s[y].reduction(), readers);  // the last terms first
  says(s.text(), {"y_cut[i0] = sum over k in [", "from y_cut[i0]"});
}

TEST_CASE("the terms of a block's own steps are not there when it begins") {
  solves::Made m(solves::named("renewal"));  // u(t) = sum of p(k) u(t - k): the first terms are the nearest steps
  Schedule s(m.built, Target::parse("x86-64-v3"));
  const Stage u = s[m.result], sum = u.inside();
  const Loop to = u.split(u.spatial<1>()[0], 8).outer;
  const Stage first = sum.cut(sum.reduction(), to);
  says(refusal(s, [&] { first.compute_at(to); }), {"computed outside of ti of u, where it reads out[t - k]"});

  solves::Made l(solves::named("increasing"));
  Schedule r(l.built, Target::parse("x86-64-v3"));
  const Stage x = r[l.result], most = x.inside();
  const auto [xo, xi] = x.split(x.spatial<1>()[0], 8);
  const Stage before = most.cut(most.reduction(), xo);
  before.compute_at(xo);
  says(refusal(r, [&] { most.compute_at(xo); }), {"l_maximum, computed outside of ti of l, where it reads out[k]"});
  says(refusal(r, [&] { x.parallel(xo); }), {"which is parallel, while"});
  says(r.to_cpp(), {".cut("});
}

TEST_CASE("two sums as they were written: the first one may stand at blocks that it ends before, and at no other loop") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor L = lang::make_input("L", i32, {N, N}), out = lang::make_output("out", i32, {N, N});
  const Tensor x = recur(
      "x", {{"i", N}, {"t", N}}, Along{1}, Lag{0}, [](Var, Var) { return i32(1); },
      [&](Prior before, Var i, Var t) {
        const Axis far{"far", t / 8 * 8}, near{"near", t / 8 * 8, t};
        const Expr later = sum(L(t, near) * before(i, near), near) + 0;  // x_sum: operands have no order in C++
        return sum(L(t, far) * before(i, far), far) + 2 * later + i32(t);
      });
  lang::bind(out, x);
  Schedule s(lang::build_program("sums", {L, out}), Target::parse("x86-64-v3"));
  const Stage steps = s[x], far = steps.inside("x_sum2"), near = steps.inside("x_sum");
  auto [i, t] = steps.spatial<2>();
  const auto at = [&](const Stage& sum, int block, const char* found) {
    const auto taken_back = s.attempt([&, t = t] {
      const auto [to, ti] = steps.split(t, block);
      if (found)
        says(refusal(s, [&] { sum.compute_at(to); }), {found});
      else
        sum.compute_at(to);
      steps.split(ti, 0);
    });
    REQUIRE(taken_back);
    says(taken_back->text(), {"split: expected a factor of at least 1, found 0"});
  };
  at(far, 8, nullptr);
  at(far, 4, nullptr);
  at(far, 16, "x_sum2, computed outside of ti of x, where it reads out[i, far]");
  at(far, 12, "x_sum2, computed outside of ti of x, where it reads out[i, far]");
  at(near, 8, "x_sum, computed outside of ti of x, where it reads out[i, near]");
  says(refusal(s, [&, i = i] { far.compute_at(i); }), {"x_sum2, computed outside of t of x, where it reads out[i, far]"});
}

TEST_CASE("a stage inside does not stand in a skewed loop for points of several of its iterations") {  // fuzz, seed 100956
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor a = lang::make_input("a", f32, {N}), out = lang::make_output("out", f32, {N, N, N});
  const Tensor x = recur(
      "x", {{"i", N}, {"t", N}, {"j", N}}, Along{1}, Lag{0}, [&](Var, Var, Var) { return f32(0); },
      [&](Prior before, Var i, Var t, Var j) {
        const Axis k{"k", t};
        return min(a(i), maximum(before(i, k, j), k));
      });
  lang::bind(out, x);
  Schedule s(lang::build_program("skewed", {a, out}), Target::parse("x86-64-v3"));
  auto [i, t, j] = s[x].spatial<3>();
  says(refusal(s, [&, i = i, j = j] { s[x].skew(j, i, 1); }),
       {"x_maximum, computed at once for points of several iterations of"});
  (void)t;
}

TEST_CASE("a loop that counts down has the last terms first") {
  solves::Made m(solves::named("backward"));
  Schedule s(m.built, Target::parse("x86-64-v3"));
  const Stage x = s[m.result], sum = x.inside();
  const Loop blocks = x.split(x.spatial<1>()[0], 8).outer;
  sum.cut(sum.reduction(), blocks).compute_at(blocks);
  says(s.text(), {"x_sum_cut[t] = sum over k in [max(t + 1, "});

  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor U = lang::make_input("U", f32, {N, N}), out = lang::make_output("out", f32, {N});
  const Tensor v = recur(
      "v", {{"t", N}}, Along{0}.backwards(), Lag{0}, [](Var) { return f32(0); },
      [&](Prior before, Var t) {
        const Axis k{"k", t + 1, N};
        return strict_sum(U(t, k) * before(k), k);
      });
  lang::bind(out, v);
  Schedule strict(lang::build_program("strict", {U, out}), Target::parse("x86-64-v3"));
  const Stage step = strict[v], terms = step.inside();
  const Loop to = step.split(step.spatial<1>()[0], 8).outer;
  says(refusal(strict, [&] { terms.cut(terms.reduction(), to); }),
       {"a reduction that may be regrouped", "cut takes its last terms first", "counts down"});
}

}  // namespace ashlar::test
