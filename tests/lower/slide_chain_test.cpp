// Chains of stages, each a window of the one before, that slide along one loop of the last stage, in rings.
#include <functional>

#include <ashlar/lower/lower.h>

#include "tests/schedule/programs.h"

using namespace ashlar;
using test::means_the_same;

namespace {

using Stage_of = std::function<Tensor(const Tensor& before, int k, const Symbol& H, const Symbol& W)>;
enum class Rows { unsplit, guard, tight, shift, exact, unrolled, twice, tiles };

struct Sliding {
  lang::DefinitionScope scope;
  Symbol H, W{"W", {.min = 1}};
  Tensor x = lang::make_input("x", i32, {H, W}), y = lang::make_output("y", i32, {H, W});
  std::vector<Tensor> stages;
  lang::Built built;
  Schedule s;
  Rows rows;

  Sliding(int n, Rows how, const Stage_of& form)
      : H("H", how == Rows::shift   ? Symbol::Facts{.min = 8}
               : how == Rows::exact ? Symbol::Facts{.min = 8, .multiple_of = 8}
                                    : Symbol::Facts{.min = 1}),
        built(build(n, form)),
        s(built, Target::parse("x86-64-v3")),
        rows(how) {
    auto [r, c] = s[y].spatial<2>();
    Loop along = r;
    if (how == Rows::tiles) {
      auto [ro, ri] = s[y].split(r, 8);
      auto [co, ci] = s[y].split(c, 4);
      s[y].reorder(ro, co, ri, ci);
      along = ri;
    } else if (how == Rows::twice) {  // a guard around the loop, which is the inner one of another
      auto [ro, ri] = s[y].split(r, 12);
      along = s[y].split(ri, 5).inner;
    } else if (how != Rows::unsplit) {
      const Tail tail = how == Rows::shift ? Tail::shift : how == Rows::exact ? Tail::exact : Tail::guard;
      along = s[y].split(r, 8, tail).inner;
      if (how == Rows::tight) s[y].tighten(along);
      if (how == Rows::unrolled) s[y].unroll(along);
    }
    for (std::size_t k = stages.size(); k-- > 0;) s[stages[k]].compute_at(along).slide(along);
  }
  // Every stage in the smallest ring of at most 64 that is proved to hold what is alive.
  std::string rings() {
    std::string found;
    for (const Tensor& t : stages) {
      std::int64_t n = 1;
      while (n <= 64 && s.attempt([&] { s[t].fold(0, n); })) ++n;
      found += (found.empty() ? "" : " ") + std::to_string(n);
    }
    return found;
  }
  void same() const {
    const ir::Kernel kernel = lower(s.scheduled().program);
    for (const auto& [h, w] : {std::pair{8, 5}, {16, 9}, {24, 3}, {13, 6}, {1, 1}, {37, 2}}) {
      if ((rows == Rows::exact && h % 8 != 0) || (rows == Rows::shift && h < 8)) continue;
      CAPTURE(h);
      means_the_same(built.program, s, {{h, w}, {h, w}});
      interp::Arguments meant{interp::Array::make(i32, {h, w}, [](auto i) { return static_cast<double>(i[0] * 3 % 7 + i[1]); }),
                              interp::Array::zeros(i32, {h, w})};
      interp::Arguments found = meant;
      interp::run_algorithm(built.program, meant);
      interp::run(kernel, found);
      CHECK(interp::difference(found[1].array, meant[1].array) == "");
    }
  }
  // Points of each stage that are computed, the first stage first.
  std::vector<std::int64_t> computed(std::int64_t h, std::int64_t w) const {
    interp::Arguments args{interp::Array::zeros(i32, {h, w}), interp::Array::zeros(i32, {h, w})};
    const interp::Counters n = interp::run(s.scheduled().program, args);
    std::vector<std::int64_t> points;
    for (const Tensor& t : stages) points.push_back(n.evaluations.at(s[t].id()));
    return points;
  }

 private:
  lang::Built build(int n, const Stage_of& form) {
    for (int k = 0; k < n; ++k) stages.push_back(form(k == 0 ? x : stages.back(), k, H, W));
    const Tensor last = stages.back();
    lang::bind(y, compute("y", {{"y", H}, {"x", W}}, [&](Var i, Var j) { return last(i, j) + last(i, j) / 3; }));
    return lang::build_program("chain", {x, y});
  }
};

Tensor borders(const Tensor& t, int k) { return k == 0 ? boundary::repeat(t) : t; }

Tensor around(const Tensor& before, int k, const Symbol&, const Symbol&) {
  const Tensor b = borders(before, k);
  return compute("s", [&](Var i, Var j) { return b(i - 1, j) + b(i, j) * 2 + b(i + 1, j); });
}
Tensor both_ways(const Tensor& before, int k, const Symbol&, const Symbol&) {
  const Tensor b = borders(before, k);
  return compute("s", [&](Var i, Var j) { return b(i - 1, j) + b(i, j - 1) * 2 + b(i + 1, j + 1); });
}
Tensor ahead(const Tensor& before, int k, const Symbol&, const Symbol&) {
  const Tensor b = borders(before, k);
  return compute("s", [&](Var i, Var j) { return b(i, j) + b(i + 2, j) * 2; });
}
Tensor behind(const Tensor& before, int k, const Symbol&, const Symbol&) {
  const Tensor b = borders(before, k);
  return compute("s", [&](Var i, Var j) { return b(i - 2, j) + b(i - 1, j) * 2; });
}
Tensor repeated(const Tensor& before, int, const Symbol& H, const Symbol& W) {
  const Tensor b = boundary::repeat(before);
  return compute("s", {H, W}, [&](Var i, Var j) { return b(i - 1, j) + b(i, j) * 2 + b(i + 1, j); });
}
Tensor in_zeros(const Tensor& before, int, const Symbol& H, const Symbol& W) {
  const Tensor b = boundary::constant(before, 0);
  return compute("s", {H, W}, [&](Var i, Var j) { return b(i - 1, j) + b(i, j) * 2 + b(i + 1, j); });
}
Tensor halved(const Tensor& before, int k, const Symbol&, const Symbol&) {  // every other row of the stage before, once
  const Tensor b = borders(before, k);
  if (k != 2) return around(before, k, Symbol("H"), Symbol("W"));
  return compute("s", [&](Var i, Var j) { return b(i * 2, j) + b(i * 2 + 1, j) + b(i * 2 - 1, j); });
}
Stage_of skipping() {  // of the two stages before
  auto all = std::make_shared<std::vector<Tensor>>();
  return [all](const Tensor& before, int k, const Symbol&, const Symbol&) {
    if (k == 0) all->clear();
    all->push_back(borders(before, k));
    const Tensor b = all->back(), c = k > 0 ? (*all)[static_cast<std::size_t>(k) - 1] : b;
    return compute("s", [&](Var i, Var j) { return b(i - 1, j) + c(i + 1, j); });
  };
}

constexpr Rows all_rows[] = {Rows::unsplit, Rows::guard,    Rows::tight, Rows::shift,
                             Rows::exact,   Rows::unrolled, Rows::twice, Rows::tiles};

void slides(const char* what, int n, const Stage_of& form) {
  CAPTURE(what);
  CAPTURE(n);
  for (const Rows how : all_rows) {
    CAPTURE(static_cast<int>(how));
    Sliding chain(n, how, form);
    chain.same();
    CHECK(chain.rings().find("65") == std::string::npos);  // each is bounded
    chain.same();
  }
}

}  // namespace

TEST_CASE("windows of windows slide along one loop, however it was made") {
  for (const int n : {2, 3}) {
    slides("around", n, around), slides("both ways", n, both_ways), slides("ahead", n, ahead), slides("behind", n, behind);
    slides("repeated", n, repeated), slides("in zeros", n, in_zeros), slides("halved", n, halved);
    slides("skipping", n, skipping());
  }
}

TEST_CASE("seven stages slide") {
  for (const Rows how : all_rows) {
    CAPTURE(static_cast<int>(how));
    Sliding chain(7, how, how == Rows::tiles ? both_ways : around);
    CHECK(chain.rings() == "13 11 9 7 5 3 1");
    chain.same();
  }
  Sliding clamped(7, Rows::guard, repeated);
  CHECK(clamped.rings() == "13 11 9 7 5 3 1");
  clamped.same();
}

TEST_CASE("of a chain that slides along all rows each point is computed once") {
  Sliding chain(7, Rows::unsplit, repeated);
  CHECK(chain.computed(20, 6) == std::vector<std::int64_t>(7, 20 * 6));
  Sliding wider(7, Rows::unsplit, around);  // k rows more at both ends
  CHECK(wider.computed(20, 6) == std::vector<std::int64_t>{32 * 6, 30 * 6, 28 * 6, 26 * 6, 24 * 6, 22 * 6, 20 * 6});
  Sliding tiles(3, Rows::tiles, around);  // in tiles of 8 rows the first of each has them too
  CHECK(tiles.computed(16, 8) == std::vector<std::int64_t>{24 * 8, 20 * 8, 16 * 8});
}

TEST_CASE("a ring of a chain that is too small, and a window that leaves gaps, are refused") {
  Sliding chain(3, Rows::guard, around);
  const auto message = [&](const std::function<void()>& f) -> std::string {
    try {
      f();
    } catch (const RefusalError& e) { return e.what(); }
    return "accepted";
  };
  CHECK(message([&] { chain.s[chain.stages[0]].fold(0, 4); }).find("holds 5, found 4") != std::string::npos);
  // every third row of a stage that slides
  const auto thirds = [](const Tensor& before, int k, const Symbol& H, const Symbol& W) {
    if (k != 1) return around(before, k, H, W);
    return compute("s", [&](Var i, Var j) { return before(i * 3, j); });
  };
  const std::string gap = message([&] { Sliding gaps(2, Rows::tight, thirds); });
  CHECK(gap.find("slide: expected a window that moves forward without gaps, found s along") != std::string::npos);
  CHECK(gap.find("leaves a gap after the one of the iteration before") != std::string::npos);
  CHECK(gap.find("conflict: ") != std::string::npos);
}
