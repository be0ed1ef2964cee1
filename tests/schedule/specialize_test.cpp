// specialize: two schedules of one program, apart from each other; what each may rely on, and what is refused.
#include "programs.h"

#include <ashlar/ir/print.h>
#include <ashlar/schedule/diff.h>

#include "tests/support/text_parts.h"

namespace ashlar::test {
namespace {

using text_parts::has;

// Narrow images without vectors, wide ones of whole tiles without guards, others with guards.
void by_width(Blur& t) {
  auto [y, x] = t.s[t.out].spatial<2>();
  Schedule& narrow = t.s.specialize(t.W < 8);
  Schedule& whole = t.s.specialize(t.W % 8 == 0);
  narrow[t.out].unroll(y, 2);
  auto [xo, xi] = whole[t.out].split(x, 8, Tail::exact);
  whole[t.out].vectorize(xi);
  whole[t.across].compute_at(y);
  t.s[t.out].vectorize(x, 8);
}

std::int64_t evaluations_of_across(const Blur& t, std::int64_t h, std::int64_t w) {
  interp::Arguments a{interp::Array::zeros(i32, {h, w}), interp::Array::zeros(i32, {h, w})};
  const ir::Program& p = t.s.scheduled().program;
  const interp::Counters counters = interp::run(p, a);
  std::int64_t count = 0;
  for (const auto& [id, n] : counters.evaluations)
    if (p.stage(id).name == "across") count += n;
  return count;
}

}  // namespace

TEST_CASE("a call takes the first variant whose condition holds") {
  Blur t;
  by_width(t);
  for (const std::int64_t width : {1, 2, 7, 8, 9, 16, 17, 24}) t.same(5, width);
  const std::string text = t.s.text();
  CAPTURE(text);
  CHECK(has(text, "where W < 8"));
  CHECK(has(text, "assume W < 8"));
  CHECK(has(text, "where W % 8 == 0"));
  CHECK(t.s.scheduled().variants.size() == 2);
  // the steps of one are not those of another
  const std::string narrow = t.s.specialize(t.W < 8).text(), whole = t.s.specialize(t.W % 8 == 0).text();
  CHECK(has(narrow, "unrolled"));
  CHECK_FALSE(has(narrow, "vectorized"));
  CHECK(has(whole, "vectorized"));
  CHECK_FALSE(has(whole, "unrolled"));
  CHECK(t.s.scheduled().variants.size() == 2);  // asked for again
  // what a variant computes is counted as it computes it: rows of `across` again for each row of `out`
  CHECK(evaluations_of_across(t, 5, 16) == 3 * 5 * 16);
  CHECK(evaluations_of_across(t, 5, 17) == 7 * 17);
}

TEST_CASE("a variant of a variant, and the stage's own call") {
  Blur t;
  auto [y, x] = t.s[t.out].spatial<2>();
  Stage narrow = t.s[t.out].specialize(t.W <= 16);
  Schedule& variant = t.s.specialize(t.W <= 16);
  Schedule& square = variant.specialize(t.H == t.W);
  square[t.out].reorder(x, y);
  narrow.unroll(y, 2);
  t.s[t.across].compute_at(y);
  CHECK(t.s.scheduled().variants.size() == 2);
  CHECK(has(t.s.trace(), "where W <= 16, where H == W: reorder(x of out, y of out)"));
  for (const auto& [h, w] : {std::pair{3, 3}, {16, 16}, {3, 5}, {17, 17}, {2, 40}}) t.same(h, w);
  CHECK(evaluations_of_across(t, 4, 4) == 6 * 4);
  CHECK(evaluations_of_across(t, 4, 40) == 3 * 4 * 40);
}

TEST_CASE("the condition is a fact in its variant, and its opposite one beside it") {
  Blur t;
  auto [y, x] = t.s[t.out].spatial<2>();
  Schedule& whole = t.s.specialize(t.W % 8 == 0);
  CHECK_FALSE(whole.attempt([&, l = x] { whole[t.out].split(l, 8, Tail::exact); }));
  says(refusal(t.s, [&, l = x] { t.s[t.out].split(l, 8, Tail::exact); }),
       {"expected an extent of x of out that 8 divides", "found W", "W = 1"});
  Blur u;
  auto [v, w] = u.s[u.out].spatial<2>();
  Schedule& narrow = u.s.specialize(u.W < 8);
  says(refusal(narrow, [&, l = w] { narrow[u.out].split(l, 8, Tail::shift); }),
       {"expected an extent of x of out of at least 8", "found W"});
  CHECK_FALSE(u.s.attempt([&, l = w] { u.s[u.out].split(l, 8, Tail::shift); }));
  u.same(3, 7), u.same(3, 9);
}

TEST_CASE("what only one of them assumes is asked of the calls that take it") {
  Blur t;
  Schedule& narrow = t.s.specialize(t.W < 8);
  narrow.assume(t.H == 2);
  t.s.assume(t.H % 3 == 0);
  t.same(2, 5), t.same(3, 9), t.same(6, 8);
  CHECK_THROWS_WITH_AS(t.same(3, 5), "an assumption does not hold: H == 2", interp::RunError);
  CHECK_THROWS_WITH_AS(t.same(2, 9), "an assumption does not hold: H % 3 == 0", interp::RunError);
}

TEST_CASE("what must hold at the end holds in every variant") {
  Blur t;
  Schedule& narrow = t.s.specialize(t.W < 8);
  narrow[t.across].store_in(Scope::stack);  // H x W of them
  CHECK_THROWS_WITH_AS(schedule::finish(t.s.scheduled(), t.s.target()),
                       doctest::Contains("expected a constant size for across in stack"), RefusalError);
}

TEST_CASE("steps that are taken back take their variants with them") {
  Blur t;
  Schedule* lost = nullptr;
  auto [y, x] = t.s[t.out].spatial<2>();
  const auto taken_back = t.s.attempt([&, l = x] {
    lost = &t.s.specialize(t.W % 8 == 0);
    (*lost)[t.out].split(l, 8, Tail::exact);
    t.s[t.out].split(l, 8, Tail::exact);
  });
  REQUIRE(taken_back);
  says(taken_back->text(), {"expected an extent of x of out that 8 divides", "found W"});
  CHECK(t.s.scheduled().variants.empty());
  CHECK(t.s.scheduled().program.variants.empty());
  says(refusal(t.s, [&] { (*lost)[t.out]; }),
       {"schedule: expected a variant of this schedule, found one whose step was taken back"});
  says(refusal(t.s, [&] { lost->assume(t.H > 3); }),
       {"assume: expected a variant of this schedule, found one whose step was taken back"});
  // and an attempt on a variant undoes what it made on the whole
  Schedule& kept = t.s.specialize(t.W < 8);
  const std::uint64_t hash = t.s.trace_hash();
  const auto undone = kept.attempt([&, l = y] {
    kept.specialize(t.H < 4)[t.out].unroll(l, 2);
    kept[t.out].split(l, 0);
  });
  REQUIRE(undone);
  says(undone->text(), {"split: expected a factor of at least 1, found 0"});
  CHECK(t.s.trace_hash() == hash);
  CHECK(t.s.scheduled().variants.size() == 1);
  kept[t.out].unroll(y, 2);
  t.same(3, 5), t.same(3, 9);
}

TEST_CASE("a schedule with variants is a value: copied, saved, replayed and compared") {
  Blur t;
  by_width(t);
  Schedule copy = t.s;
  copy.specialize(t.W < 8)[t.across].compute_root();
  CHECK(copy.trace_hash() != t.s.trace_hash());
  copy = t.s;
  CHECK(copy.text() == t.s.text());
  CHECK(diff(copy, t.s).equal);
  copy.specialize(t.W < 8)[t.out].split(copy.specialize(t.W < 8)[t.out].loops()[0], 3);
  CHECK_FALSE(diff(copy, t.s).equal);

  Blur again;
  again.s.replay(t.s.json());
  CHECK(again.s.text() == t.s.text());
  CHECK(again.s.trace_hash() == t.s.trace_hash());
  again.same(3, 5), again.same(3, 16), again.same(3, 17);
  const std::string text = t.s.to_cpp();
  CAPTURE(text);
  CHECK(has(text, "Schedule& variant = s.specialize(W < 8);"));
  CHECK(has(text, "variant[out].unroll(y, 2);"));
}

TEST_CASE("loops and stages from before serve in a variant, those from later do not") {
  Blur t;
  auto [y, x] = t.s[t.out].spatial<2>();
  auto [yo, yi] = t.s[t.out].split(y, 4);
  Stage copy = t.s.cache_read(t.in, {t.across}, Scope::global);
  Schedule& narrow = t.s.specialize(t.W < 8);
  narrow[t.across].compute_at(yo);
  narrow[copy].compute_at(yo);
  auto [xo, xi] = t.s[t.out].split(x, 8);
  says(refusal(t.s, [&, l = xi] { narrow[t.out].vectorize(l); }),
       {"vectorize: expected a loop of this schedule", "xi of out in another schedule"});
  Stage later = t.s.cache_write(t.across, Scope::stack);
  says(refusal(t.s, [&] { narrow[later]; }), {"expected a stage of this schedule, found one of another schedule"});
  auto [v, w] = narrow[t.out].split(x, 4);
  says(refusal(t.s, [&, l = w] { t.s[t.out].unroll(l); }), {"a loop of this schedule", "in another schedule"});
}

TEST_CASE("where more is known a box may be another one, and what it reads is looked at again (fuzz seed 803904)") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor a = lang::make_input("a", f32, {N + 3}), y = lang::make_output("y", f32, {N}),
               z = lang::make_output("z", f32, {});
  const Tensor shifted = compute("shifted", [&](Var i) { return a(i + 3) * 2; });
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return shifted(i) + 1; }));
  lang::bind(z, compute("z", [&] { return shifted(-2); }));
  const lang::Built built = lang::build_program("p", {a, y, z});
  // Where N is 0 or 1, y has one point or none: what none reads is not in the box, [-2, N) in every call.
  const auto same = [&](const Schedule& s, std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t n : sizes) {
      CAPTURE(n);
      interp::Arguments expected{
          interp::Array::make(f32, {n + 3}, [](std::span<const std::int64_t> i) { return static_cast<double>(i[0] + 1); }),
          interp::Array::zeros(f32, {n}), interp::Array::zeros(f32, {})};
      interp::Arguments found = expected;
      interp::run_algorithm(built.program, expected);
      REQUIRE_NOTHROW(interp::run(s.scheduled().program, found));
      for (const std::size_t k : {1, 2}) CHECK(interp::difference(found[k].array, expected[k].array) == "");
    }
  };
  Schedule divided(built, Target()), small(built, Target()), large(built, Target());
  divided.specialize(N >= 2);
  same(divided, {0, 1, 2, 7});
  small.assume(N < 2);
  same(small, {0, 1});
  large.assume(N >= 2);
  same(large, {2, 5});
}

TEST_CASE("a window that slides must do so in the variant too, where its box is another one (fuzz seed 972003270)") {
  lang::DefinitionScope scope;
  const Symbol N("N", {.min = 1}), M("M", {.min = 1});
  const Tensor a = lang::make_input("a", f32, {N, M}), y = lang::make_output("y", f32, {N, M});
  const Tensor twice = compute("twice", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return a(i, j) * 2; });
  lang::bind(y, compute("y", {{"i", N}, {"j", M}},
                        [&](Var i, Var j) { return boundary::reflect(twice)(i - 2, j) + twice(clamp(j - 2, 0, N - 1), 0); }));
  const lang::Built built = lang::build_program("p", {a, y});
  Schedule s(built, Target());
  auto [i, j] = s[y].spatial<2>();
  s[twice].compute_at(j);
  s[twice].store_at(i);
  s[twice].slide(j);
  // Of an even width the box is known to end with column j: columns grow with j, while the rows are those of j + 1 alone.
  says(refusal(s, [&] { s.specialize(M % 2 == 0); }),
       {"a window that moves in one dimension", "twice along j of y moves in j too"});
  means_the_same(built.program, s, {{7, 6}, {7, 6}});
}

TEST_CASE("variants that were made before take all calls that keep a condition, or all that break it") {
  Blur t;
  const Symbol &W = t.W, &H = t.H;
  t.s.specialize(W < 8);
  says(refusal(t.s, [&] { t.s.specialize(8 > W); }), {"specialize: expected a condition that divides the calls that are left, "
                                                      "found 8 > W, while the variant where W < 8 takes "
                                                      "all calls that keep it"});
  says(refusal(t.s, [&] { t.s.specialize(W >= 8); }), {"while the variant where W < 8 takes all calls that break it"});
  t.s.specialize(H < 4);
  says(refusal(t.s, [&] { t.s.specialize(H < 4 && W > 20); }),
       {"while the variants where W < 8 and H < 4 take all calls that keep it"});
  says(refusal(t.s, [&] { t.s.specialize(W < 0); }), {"a condition that some call can keep, found W < 0, which is never true"});
}

TEST_CASE("a copy of a variant that was taken back is refused at the line that made it") {
  Blur t;
  Schedule* lost = nullptr;
  const auto line = Where::current().line() + 2;
  const auto taken_back = t.s.attempt([&, l = t.s[t.out].spatial<2>()[1]] {
    lost = &t.s.specialize(t.W < 8);
    t.s[t.out].split(l, 0);
  });
  REQUIRE(taken_back);
  says(taken_back->text(), {"split: expected a factor of at least 1, found 0"});
  const auto r = t.s.attempt([&] { const Schedule copy = *lost; });
  REQUIRE(r);
  says(r->text(),
       {"specialize: expected a reference to the variant: Schedule& narrow = s.specialize(...), found a copy of it"});
  CHECK(r->where.line() == line);
}

TEST_CASE("what specialize refuses") {
  Blur t;
  const Symbol other{"other"};
  says(refusal(t.s, [&] { t.s.specialize(t.W); }), {"specialize: expected a condition over symbols, such as N <= 8"});
  says(refusal(t.s, [&] { t.s.specialize(other > 3); }), {"expression: expected one over symbols and scalars"});
  says(refusal(t.s, [&] { t.s.specialize(t.W < 0); }), {"specialize: expected a condition that some call can keep", "W < 0"});
  says(refusal(t.s, [&] { t.s.specialize(t.W >= 0); }), {"specialize: expected a condition that some call breaks", "W >= 0"});
  says(refusal(t.s, [&] { t.s.specialize(select(t.H < 3, t.W, t.H) > 6); }),
       {"specialize: expected comparisons of index arithmetic over symbols", "found select(H < 3, W, H) > 6"});
  says(refusal(t.s, [&] { t.s.assume(u8(t.H) < 7); }), {"assume: expected comparisons of index arithmetic over symbols"});
  const auto narrow_at = Where::current().line() + 1;
  Schedule& narrow = t.s.specialize(t.W < 8);
  says(refusal(t.s, [&] { narrow.specialize(t.W < 9); }),
       {"a condition that some call breaks, found W < 9, which always holds"});
  const std::pair<std::optional<Refusal>, const char*> copied[] = {
      {t.s.attempt([&] { const Schedule copy = narrow; }),
       "specialize: expected a reference to the variant: Schedule& narrow = s.specialize(...), found a copy of it"},
      {t.s.attempt([&] { t.s = narrow; }),
       "specialize: expected a general schedule on both sides of the assignment, found a variant"}};
  for (const auto& [r, text] : copied) {
    REQUIRE(r);
    CHECK(r->where.line() == narrow_at);
    says(r->text(), {text});
  }
  says(refusal(t.s, [&] { t.s.pack_argument(t.in, [](Var r, Var c) { return at(c, r); }, Pack::by_caller); }),
       {"pack_argument: expected what all variants share, as their arguments (move this call before specialize)"});
  says(refusal(t.s, [&] { narrow[t.out].stream_store(); }), {"stream_store: expected what all variants share"});
  says(refusal(t.s, [&] { t.s.replay(R"([{"primitive": "compute_root", "args": [{"stage": 1}], "variant": 7}])"); }),
       {"a step of one of 1 variants, found one of variant 8"});
}

}  // namespace ashlar::test
