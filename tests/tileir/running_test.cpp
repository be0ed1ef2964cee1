// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that carry a maximum and a sum relative to it. Where the sum is proved to rescale, each part is relative to the maximum
// so far; otherwise parts are combined as the reducer says.
#include <functional>

#include "tests/tileir/lowered.h"

using namespace tiles;

namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// (maximum, sum), where the sum that belongs to the smaller maximum is worth exp(old - now) as much
auto joint() {
  return reducer(
      "joint", {f32, f32}, {lowest(f32), 0},
      [](Values<2> a, Values<2> b) {
        const Expr less = exp(min(a[0], b[0]) - max(a[0], b[0]));
        return values(max(a[0], b[0]),
                      select(a[0] == b[0], a[1] + b[1], select(a[0] < b[0], a[1] * less + b[1], a[1] + b[1] * less)));
      },
      Order::any);
}

using Term = std::function<Expr(const Expr& score, const Expr& most)>;
using Sees = std::function<Expr(const Tensor& mask, const Expr& part, const Expr& place)>;

// Parts of 16 scores of a row, each a maximum and a sum of terms, computed and combined in a loop
struct Parts {
  lang::DefinitionScope scope;
  Symbol M{"M"}, K{"K"};
  Tensor x = lang::make_input("x", f32, {M, K, 16}), mask = lang::make_input("mask", f32, {K, 16}),
         most = lang::make_output("most", f32, {M}), y = lang::make_output("y", f32, {M});
  Axis k{"k", 16}, t{"t", 16}, parts{"parts", K};
  Tensor top, terms, part;
  std::array<Tensor, 2> all;
  lang::Built built;
  Schedule s;

  Parts(const Term& term, const Sees& sees, bool backwards = false, bool from_zero = false)
      : built(build(term, sees, backwards, from_zero)), s(scheduled(built)) {
    auto [io, ii] = s[all[0]].split(s[all[0]].spatial<1>()[0], 8);
    const Loop loop = s[all[0]].reduction();
    s[all[0]].reorder(io, loop, ii).bind(io, gpu::block_x).as_tile(ii);
    for (const Tensor& of : {part, terms, top}) s[of].compute_at(loop);
    for (const Tensor& of : {part, top}) {
      auto [i, j] = s[of].spatial<2>();
      s[of].reorder(j, i, s[of].reduction()).as_tile(i, 8).as_tile(s[of].reduction(), 16);
    }
    auto [i, j, place] = s[terms].spatial<3>();
    s[terms].reorder(j, i, place).as_tile(i, 8).as_tile(place, 16);
  }

  std::string kernel() const { return ir::tile::text(lowered(s)[0].kernel); }
  // Maxima are compared before the terms of a part are computed, or else behind their sum.
  bool runs() const {
    const std::string text = kernel();
    REQUIRE(has(text, " = eq "));
    return text.find(" = eq ") < text.rfind(" = reduce ");
  }
  void check() const { same(built, s, {{{"M", 8}, {"K", 3}}, {{"M", 8}, {"K", 1}}, {{"M", 11}, {"K", 4}}}, 1e-4, 1e-5); }

 private:
  lang::Built build(const Term& term, const Sees& sees, bool backwards, bool from_zero) {
    const auto both = joint();
    top = compute("top", {M, K}, [&](Var i, Var j) {
      const Expr none = from_zero ? f32(0) : lowest(f32), seen = select(sees(mask, j, k), x(i, j, k), none);
      return from_zero ? maximum(seen, k).from(0.f) : maximum(seen, k);
    });
    terms = compute("terms", {M, K, 16},
                    [&](Var i, Var j, Var p) { return select(sees(mask, j, p), term(x(i, j, p), top(i, j)), 0.f); });
    part = compute("part", {M, K}, [&](Var i, Var j) { return sum(terms(i, j, t), t); });
    all = compute("all", {M}, [&](Var i) {
      const Expr at = backwards ? Expr(M - 1 - i) : Expr(i);
      return both(values(top(at, parts), part(at, parts)), parts);
    });
    lang::bind(most, all[0]), lang::bind(y, all[1]);
    return lang::build_program("parts", {x, mask, most, y});
  }
};

Expr power(const Expr& score, const Expr& most) { return exp(score - most); }
Expr from_20(const Tensor&, const Expr& part, const Expr& place) { return part * 16 + place >= 20; }

}  // namespace

TEST_CASE("a maximum and a sum that rescales: the loop carries a running maximum") {
  for (const bool base_2 : {false, true}) {
    const Parts parts(
        [&](const Expr& score, const Expr& most) { return base_2 ? exp2((score - most) * 1.44269504f) : power(score, most); },
        from_20);
    CHECK(parts.runs());
    parts.check();
  }
}

TEST_CASE("iterations in which every score is seen have no mask, and the others one for the maximum and the terms") {
  // The loops of the kernel, and how many of them compare places.
  const auto loops_of = [](const std::string& text) {
    std::pair<int, int> found{0, 0};
    for (std::size_t at = text.find("\n  for "); at != std::string::npos; at = text.find("\n  for ", at + 1)) {
      const std::string loop = text.substr(at, text.find("the loop's", at) - at);
      ++found.first, found.second += has(loop, ": bool 1x16");
    }
    return found;
  };
  using Seen = std::function<Expr(const Expr& at)>;
  const struct {
    Seen sees;
    int loops, masked;
  } cases[] = {{[](const Expr& at) { return at >= 20; }, 2, 1},
               {[](const Expr& at) { return at < 40; }, 2, 1},
               {[](const Expr& at) { return at >= 20 && at < 40; }, 3, 2},
               {[](const Expr& at) { return at % 3 == 0; }, 1, 1},
               {[](const Expr& at) { return at >= 20 && at < 70 && at % 2 == 0; }, 3, 3}};
  for (const auto& c : cases) {
    const Parts parts(power, [&](const Tensor&, const Expr& part, const Expr& place) { return c.sees(part * 16 + place); });
    const std::string text = parts.kernel();
    CHECK(parts.runs());
    CHECK_MESSAGE(loops_of(text) == std::pair(c.loops, c.masked), text);
    parts.check();
    same(parts.built, parts.s, {{{"M", 3}, {"K", 0}}, {{"M", 9}, {"K", 2}}, {{"M", 8}, {"K", 6}}}, 1e-4, 1e-5);
  }
}

TEST_CASE("a running maximum of parts without any score: two infinities are not subtracted") {
  const Parts parts(
      power, [](const Tensor& mask, const Expr& part, const Expr& place) { return mask(part, place) < f32(part) * 100 - 50; });
  CHECK(parts.runs());
  parts.check();
}

TEST_CASE("a sum that does not rescale, or only nearly, is combined as its reducer says") {
  const Parts others_count([](const Expr& score, const Expr& most) { return select(score > 0.5f, exp(score - most), 1.f); },
                           from_20);
  CHECK(!others_count.runs());
  others_count.check();
  const Parts cut_off(
      [](const Expr& score, const Expr& most) {
        const Expr d = score - most;
        return select(d > -1.f, exp(d), 0.f);
      },
      from_20);
  CHECK(!cut_off.runs());
  cut_off.check();
  const Parts faster([](const Expr& score, const Expr& most) { return exp((score - most) * 1.0002f); }, from_20);
  CHECK(!faster.runs());
  faster.check();
}

TEST_CASE("parts that start from a value of their own are not left out") {
  const Parts parts([](const Expr& score, const Expr& most) { return exp(score - most); }, from_20, false, true);
  parts.check();
}

TEST_CASE("parts of other points than those they are combined for are refused") {
  const Parts parts(power, from_20, true);
  const std::string why = refusal([&] { lowered(parts.s); });
  CHECK_MESSAGE(has(why, "running_test.cpp:"), why);
  CHECK_MESSAGE(has(why, "expected a read of top at the points of its tile, each in its place"), why);
}

TEST_CASE("parts whose dimensions stand in another order") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, K{"K"};
  Tensor x = lang::make_input("x", f32, {M, 8, K, 16}), most = lang::make_output("most", f32, {M, 8}),
         y = lang::make_output("y", f32, {M, 8});
  Axis k{"k", 16}, t{"t", 16}, parts{"parts", K};
  const auto both = joint();
  Tensor top = compute("top", {8, M, K}, [&](Var h, Var i, Var j) { return maximum(x(i, h, j, k), k); });
  Tensor terms = compute("terms", {8, M, K, 16}, [&](Var h, Var i, Var j, Var p) { return exp(x(i, h, j, p) - top(h, i, j)); });
  Tensor part = compute("part", {8, M, K}, [&](Var h, Var i, Var j) { return sum(terms(h, i, j, t), t); });
  std::array<Tensor, 2> all =
      compute("all", {M, 8}, [&](Var i, Var h) { return both(values(top(h, i, parts), part(h, i, parts)), parts); });
  const lang::Built built = (lang::bind(most, all[0]), lang::bind(y, all[1]), lang::build_program("turned", {x, most, y}));
  Schedule s = scheduled(built);
  auto [i, h] = s[all[0]].spatial<2>();
  auto [io, ii] = s[all[0]].split(i, 8);
  const Loop loop = s[all[0]].reduction();
  s[all[0]].reorder(io, loop, ii, h).bind(io, gpu::block_x).as_tile(ii).as_tile(h);
  for (const Tensor& of : {part, terms, top}) s[of].compute_at(loop);
  for (const Tensor& of : {part, top}) {
    auto [oh, oi, oj] = s[of].spatial<3>();
    s[of].reorder(oj, oh, oi, s[of].reduction()).as_tile(oh).as_tile(oi, 8).as_tile(s[of].reduction());
  }
  auto [th, ti, tj, tp] = s[terms].spatial<4>();
  s[terms].reorder(tj, th, ti, tp).as_tile(th).as_tile(ti, 8).as_tile(tp);
  same(built, s, {{{"M", 8}, {"K", 3}}, {{"M", 11}, {"K", 4}}}, 1e-4, 1e-5);
}
