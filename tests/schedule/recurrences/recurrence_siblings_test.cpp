// fuse_siblings of recurrences: steps of several in one loop, or their rows.
#include "tests/schedule/programs.h"

namespace ashlar::test {

namespace {

// fast and slow, both over x: [R, T] along {1}, or [T, R] along {0}; slow may read fast `ahead` steps later (earlier: negative)
struct Two {
  lang::DefinitionScope scope;
  Symbol A{"A"}, B{"B"};
  Tensor x = lang::make_input("x", i32, {A, B}), a = lang::make_output("a", i32, {A, B}),
         b = lang::make_output("b", i32, {A, B});
  Tensor fast, slow;
  lang::Built built;
  Schedule s;
  Two(int along, bool backwards, std::optional<int> ahead = {})
      : fast(made("fast", along, backwards, 3, {})),
        slow(made("slow", along, backwards, 5, ahead)),
        built(build()),
        s(built, Target::parse("x86-64-v3")) {}
  Tensor made(const char* name, int along, bool backwards, int by, std::optional<int> ahead) {
    const int step = backwards ? -1 : 1;
    const Expr end = along ? B : A;
    const auto at = [&](const auto& t, Var i, Var j, int moved) {
      return along ? t(i, clamp(j + moved, 0, end - 1)) : t(clamp(i + moved, 0, end - 1), j);
    };
    return recur(
        name, {{"i", A}, {"j", B}}, backwards ? Along{along}.backwards() : Along{along}, Lag{1},
        [&](Var i, Var j) { return ahead ? x(i, j) + at(fast, i, j, *ahead * step) : Expr(x(i, j)); },
        [&](Prior p, Var i, Var j) {
          const Expr before = along ? p(i, j - step) : p(i - step, j);
          return ahead ? before * by + at(fast, i, j, *ahead * step) : before * by + x(i, j);
        });
  }
  lang::Built build() {
    lang::bind(a, fast), lang::bind(b, slow);
    return lang::build_program("two", {x, a, b});
  }
  void same() const {
    for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{7, 5}, {1, 1}, {0, 3}, {3, 0}, {17, 9}})
      means_the_same(built.program, s, {{n, m}, {n, m}, {n, m}});
  }
};

}  // namespace

TEST_CASE("steps of two recurrences in one loop, forwards and backwards") {
  for (const bool backwards : {false, true}) {
    Two t(0, backwards);
    auto [i, j] = t.s[t.fast].spatial<2>();
    t.s[t.slow].fuse_siblings(i);
    t.same();
    t.s[t.fast].vectorize(j, 8);
    t.s[t.slow].vectorize(t.s[t.slow].spatial<2>()[1], 8);
    t.same();
    says(refusal(t.s, [&, i = i] { t.s[t.fast].parallel(i); }),
         {backwards ? "parallel: expected storage of its own for each iteration of i of fast (store slow inside it), found slow"
                    : "parallel: expected a loop whose iterations are independent, or one of kind serial, found i of fast"});
    auto [io, ii] = t.s[t.fast].split(i, 4);
    t.s[t.fast].unroll(ii);
    t.same();
    (void)io;
    Two again(0, backwards);
    again.s.replay(t.s.json());
    CHECK(again.s.text() == t.s.text());
  }
}

TEST_CASE("rows of two recurrences in one loop, on workers") {
  for (const bool backwards : {false, true}) {
    Two t(1, backwards);
    auto [i, j] = t.s[t.fast].spatial<2>();
    t.s[t.slow].fuse_siblings(i);
    t.s[t.fast].parallel(i);
    t.same();
    (void)j;
  }
}

TEST_CASE("a recurrence that alone carries the loop keeps its order") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N}), a = lang::make_output("a", i32, {N}), b = lang::make_output("b", i32, {N});
  Tensor twice = compute("twice", {{"i", N}}, [&](Var i) { return x(i) * 2; });
  Tensor sums = recur(
      "sums", {{"i", N}}, Along{0}, Lag{1}, [&](Var i) { return twice(i); },
      [&](Prior p, Var i) { return p(i - 1) * 3 + twice(i); });
  lang::bind(a, twice), lang::bind(b, sums);
  const lang::Built built = lang::build_program("carried", {x, a, b});
  Schedule s(built, Target::parse("x86-64-v3"));
  const Loop i = s[twice].spatial<1>()[0];
  s[sums].fuse_siblings(i);
  says(refusal(s, [&] { s[twice].parallel(i); }),
       {"parallel: expected iterations of i of twice in their order, or ones that are independent, found sums reads",
        "of another iteration of i"});
  says(refusal(s, [&] { s[twice].vectorize(i, 4); }),
       {"vectorize: expected a vectorized loop with nothing computed inside it, found sums is computed inside ii of twice"});
  for (const std::int64_t n : {5, 1, 0}) means_the_same(built.program, s, {{n}, {n}, {n}});
}

TEST_CASE("what a step reads of the other recurrence has been computed by then, in the direction of both") {
  for (const bool backwards : {false, true})
    for (const int ahead : {-2, 0, 1}) {
      Two t(0, backwards, ahead);
      const Loop i = t.s[t.fast].spatial<2>()[0];
      if (ahead > 0) {
        says(refusal(t.s, [&] { t.s[t.slow].fuse_siblings(i); }),
             {"fuse_siblings: expected what an iteration of i of fast reads to be computed by then, found slow reads a["});
        continue;
      }
      t.s[t.slow].fuse_siblings(i);
      t.same();
    }
}

TEST_CASE("directions that differ: each by itself, or one that reads nothing of the other") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  const auto steps = [&](const Tensor& of, bool back) {
    return recur(
        back ? "back" : "forth", {{"i", N}}, back ? Along{0}.backwards() : Along{0}, Lag{1}, [&](Var i) { return of(i); },
        [&](Prior p, Var i) { return p(back ? i + 1 : i - 1) * 3 + of(i); });
  };
  for (const bool reads : {false, true}) {
    lang::DefinitionScope inner;
    const Tensor in = lang::make_input("x", i32, {N}), first = lang::make_output("a", i32, {N}),
                 second = lang::make_output("b", i32, {N});
    const Tensor forth = steps(in, false), back = steps(reads ? forth : in, true);
    lang::bind(first, forth), lang::bind(second, back);
    const lang::Built built = lang::build_program("both", {in, first, second});
    Schedule s(built, Target::parse("x86-64-v3"));
    const Loop i = s[forth].spatial<1>()[0];
    if (reads) {
      says(refusal(s, [&] { s[back].fuse_siblings(i); }),
           {"expected what an iteration of i of forth reads to be computed by then"});
      continue;
    }
    s[back].fuse_siblings(i);
    for (const std::int64_t n : {5, 1, 0}) means_the_same(built.program, s, {{n}, {n}, {n}});
  }
}

}  // namespace ashlar::test
