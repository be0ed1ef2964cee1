// Outputs computed inside of loops of what reads them: all of each is needed there, and computed.
#include "programs.h"

#include <ashlar/ir/refusal.h>

#include "schedule/force.h"

namespace ashlar::test {

namespace {

// y = 2 x, and what reads it: both are results. `read` makes the other one of y, a tensor of {M} or {N, M}.
struct Read {
  lang::DefinitionScope scope;
  Symbol N{"N"}, M{"M"};
  Tensor x = lang::make_input("x", i32, {N, M});
  Tensor twice = compute("twice", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return x(i, j) * 2; });
  Tensor other;
  lang::Built built;
  Schedule s;
  bool columns;

  using Reader = std::function<Tensor(const Tensor& y, Symbol N, Symbol M)>;
  explicit Read(const Reader& read, bool of_columns, const Target& target = Target::parse("x86-64-v3"), bool in_place = false)
      : built(build(read, of_columns, in_place)), s(built, target), columns(of_columns) {}
  void same() const {
    for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{7, 5}, {1, 1}, {0, 3}, {3, 0}, {17, 9}, {4, 40}}) {
      using Shape = std::vector<std::int64_t>;
      means_the_same(built.program, s, {{n, m}, {n, m}, columns ? Shape{m} : Shape{n, m}});
    }
  }

 private:
  lang::Built build(const Reader& read, bool of_columns, bool in_place) {
    const Tensor y =
        in_place ? lang::make_output("y", i32, {N, M}, {.may_alias_inputs = true}) : lang::make_output("y", i32, {N, M});
    other = of_columns ? lang::make_output("z", i32, {M}) : lang::make_output("z", i32, {N, M});
    lang::bind(y, twice);
    lang::bind(other, read(twice, N, M));
    return lang::build_program("read", {x, y, other});
  }
};

Tensor most(const Tensor& y, Symbol N, Symbol M) {
  const Axis k{"k", N};
  return compute("most", {{"j", M}}, [&](Var j) { return maximum(y(k, j), k).from(0); });
}
Tensor above(const Tensor& y, Symbol N, Symbol M) {  // each row of y is read twice
  return compute("above", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return y(i, j) + y(max(i - 1, 0), j); });
}
Tensor chosen(const Tensor& y, Symbol N, Symbol M) {
  return compute("chosen", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return select(i > 2, y(i, j), 0); });
}
Tensor mirrored(const Tensor& y, Symbol N, Symbol M) {
  return compute("mirrored", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return y(N - 1 - i, j); });
}
Tensor first_rows(const Tensor& y, Symbol N, Symbol M) {
  const Axis k{"k", min(N, 3)};
  return compute("first_rows", {{"j", M}}, [&](Var j) { return sum(y(k, j), k); });
}
Tensor diagonal(const Tensor& y, Symbol N, Symbol M) {
  return compute("diagonal", {{"i", N}, {"j", M}}, [&](Var i, Var) { return y(i, min(i, M - 1)); });
}

}  // namespace

TEST_CASE("an output at the terms of a reduction that reads all of it") {
  Read t(most, true);
  auto [j] = t.s[t.other].spatial<1>();
  auto [jo, ji] = t.s[t.other].split(j, 8);
  const Loop k = t.s[t.other].reduction();
  t.s[t.other].reorder(jo, k, ji);
  t.s[t.twice].compute_at(k);
  t.same();
  t.s[t.twice].vectorize(t.s[t.twice].spatial<2>()[1], 4);
  t.s[t.other].parallel(jo).vectorize(ji);
  t.same();
  Read again(most, true);
  again.s.replay(t.s.json());
  CHECK(again.s.text() == t.s.text());
}

TEST_CASE("an output whose rows two iterations compute is theirs one after the other") {
  Read t(above, false);
  auto [i, j] = t.s[t.other].spatial<2>();
  t.s[t.twice].compute_at(i);
  t.same();
  says(refusal(t.s, [&, i = i] { t.s[t.other].parallel(i); }),
       {"storage of its own for each iteration of i of above", "twice is computed inside and stored outside"});
  t.s[t.twice].slide(i);
  t.same();
}

TEST_CASE("an output of which not every element is sure to be read stays at root") {
  const std::initializer_list<const char*> expected{
      "compute_at: expected a stage that is not an output, or one that a result reads completely", "found twice"};
  for (const auto& reader : {chosen, mirrored, diagonal}) {
    Read t(reader, false);
    says(refusal(t.s, [&] { t.s[t.twice].compute_at(t.s[t.other].spatial<2>()[0]); }), expected);
    t.same();
  }
  Read t(first_rows, true);
  says(refusal(t.s, [&] { t.s[t.twice].compute_at(t.s[t.other].reduction()); }), expected);
  Read aliased(most, true, Target::parse("x86-64-v3"), true);
  says(refusal(aliased.s, [&] { aliased.s[aliased.twice].compute_at(aliased.s[aliased.other].reduction()); }),
       {"an output that lies apart from the inputs", "found y, which may be one"});
  Read device(most, true, Target::parse("cuda-sm_80"));
  says(refusal(device.s, [&] { device.s[device.twice].compute_at(device.s[device.other].reduction()); }),
       {"a stage that is not an output (an output is computed at root)"});
}

TEST_CASE("a dimension that the reader has besides must have elements") {
  for (const bool some : {true, false}) {
    lang::DefinitionScope scope;
    const Symbol N{"N"}, K = some ? Symbol{"K", {.min = 1}} : Symbol{"K"};
    const Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N}),
                 z = lang::make_output("z", i32, {N, K});
    const Tensor twice = compute("twice", {{"i", N}}, [&](Var i) { return x(i) * 2; });
    lang::bind(y, twice);
    lang::bind(z, compute("z", {{"i", N}, {"k", K}}, [&](Var i, Var k) { return twice(i) + i32(k); }));
    const lang::Built built = lang::build_program("spread", {x, y, z});
    Schedule s(built, Target::parse("x86-64-v3"));
    const Loop i = s[z].spatial<2>()[0];
    if (some) {
      s[twice].compute_at(i);
      for (const std::int64_t n : {0, 1, 5}) means_the_same(built.program, s, {{n}, {n}, {n, 3}});
    } else {
      says(refusal(s, [&] { s[twice].compute_at(i); }), {"or one that a result reads completely"});
    }
  }
}

TEST_CASE("what is needed follows through stages, and is asked for again when they change") {
  std::optional<Tensor> next;
  const auto build = [&](bool partly) {
    return [&next, partly](const Tensor& y, Symbol N, Symbol M) {
      next = compute("next", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return y(i, j) + 1; });
      return compute("z", {{"i", N}, {"j", M}}, [&](Var i, Var j) {
        return partly ? select(j > 0, (*next)(i, j), 0) : (*next)(i, j) + (*next)(max(i - 1, 0), j);
      });
    };
  };
  Read whole(build(false), false);
  const Loop rows = whole.s[*next].spatial<2>()[0];
  whole.s[whole.twice].compute_at(rows);
  whole.same();
  Read part(build(true), false);
  says(refusal(part.s, [&] { part.s[part.twice].compute_at(part.s[*next].spatial<2>()[0]); }),
       {"or one that a result reads completely"});

  Read t(most, true);
  const Loop k = t.s[t.other].reduction();
  auto [ko, ki] = t.s[t.other].split(k, 4);
  const Loop j = t.s[t.other].spatial<1>()[0];
  t.s[t.twice].compute_at(j);
  t.same();
  says(refusal(t.s, [&, ki = ki] { t.s[t.other].rfactor(ki); }), {"rfactor: expected"});
}

TEST_CASE("a scan that is a result, step by step with its reader") {
  lang::DefinitionScope scope;
  const Symbol T{"T"}, M{"M"};
  const Tensor x = lang::make_input("x", i32, {T, M}), y = lang::make_output("y", i32, {T, M}),
               z = lang::make_output("z", i32, {T, M});
  const Tensor sums = scan("sums", {T, M}, Along{0}, Combine::add, [&](Var t, Var j) { return x(t, j); });
  lang::bind(y, sums);
  lang::bind(z, compute("z", {{"t", T}, {"j", M}}, [&](Var t, Var j) { return sums(t, j) * 3; }));
  const lang::Built built = lang::build_program("scan", {x, y, z});
  Schedule s(built, Target::parse("x86-64-v3"));
  const Loop t = s[z].spatial<2>()[0];
  s[sums].compute_at(t).slide(t);
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{7, 5}, {1, 1}, {0, 3}, {3, 0}})
    means_the_same(built.program, s, {{n, m}, {n, m}, {n, m}});
  says(refusal(s, [&] { s[sums].fold(0, 2); }), {"a stage with storage of its own, found sums, an output"});
}

TEST_CASE("an output that readers need in part, computed there all the same, is not whole") {
  Read t(first_rows, true);
  schedule::Step step;
  step.primitive = "compute_at";
  step.args = {schedule::Arg::stage(t.s[t.twice].id()), schedule::Arg::loop(t.s[t.other].reduction().id())};
  const schedule::Forced forced = schedule::force(t.s.scheduled(), step, t.s.target());
  REQUIRE(!forced.unproved_obligations.empty());
  CHECK(std::string(schedule::name_of(forced.unproved_obligations.front().owed)) == "COVER");
  interp::Arguments found;
  found.emplace_back(interp::Array::zeros(i32, {5, 2}));
  found.emplace_back(interp::Array::zeros(i32, {5, 2}));
  found.emplace_back(interp::Array::zeros(i32, {2}));
  CHECK_THROWS_WITH_AS(interp::run(forced.state.program, found),
                       "the output y was not written everywhere: element 6 in row-major order is missing", interp::RunError);
}

}  // namespace ashlar::test
