// choose: what nobody decides, what somebody does, the trace as the space of what was found, and what is refused.
#include "programs.h"

#include <set>

namespace ashlar::test {
namespace {

// Blocks of columns, their number of columns and what is inside of them by choice; the second choice is made in one way alone.
void by_choice(Blur& t) {
  auto [y, x] = t.s[t.out].spatial<2>();
  auto [xo, xi] = t.s[t.out].split(x, t.s.choose("edge", {8, 4, 16}));
  t.s.choose_one_of("place", {[&, l = y] { t.s[t.across].compute_at(l); }, [&] { t.s[t.across].compute_root(); },
                              [&, l = xo] {
                                t.s[t.out].reorder(l, y, xi);
                                t.s[t.across].compute_at(l);
                                t.s[t.out].unroll(y, t.s.choose_factor(y, Factors::powers_of_two(2, 8), 2));
                              }});
}

std::string text_of(const std::vector<Chosen>& choices) {
  std::string text;
  for (const Chosen& c : choices) {
    text += c.name + "=" + std::to_string(c.value) + " of";
    for (const std::int64_t v : c.values) text += " " + std::to_string(v);
    text += "; ";
  }
  return text;
}

}  // namespace

TEST_CASE("a choice that nobody decides is the usual one, and a decided one is taken") {
  Blur usual;
  by_choice(usual);
  CHECK(text_of(usual.s.choices()) == "edge=8 of 8 4 16; place=0 of 0 1 2; ");
  usual.same();
  for (const std::int64_t edge : {4, 8, 16})
    for (const std::int64_t place : {0, 1, 2}) {
      const Decision both[] = {{"place", place}, {"edge", edge}};
      Blur t;
      t.s.decide(both);
      by_choice(t);
      CHECK(t.s.choices().size() == (place == 2 ? 3 : 2));
      CHECK(t.s.choices()[0].value == edge);
      CHECK((ir::text(t.s.scheduled().program) == ir::text(usual.s.scheduled().program)) == (edge == 8 && place == 0));
      t.same();
      replays<Blur>(t.s);
    }
}

TEST_CASE("choices of one name are numbered; a later one may depend on an earlier one") {
  Blur t;
  const Decision decisions[] = {{"edge#2", 3}, {"place", 2}, {"out.y", 8}};
  t.s.decide(decisions);
  by_choice(t);
  CHECK(t.s.choose("edge", {2, 3}) == 3);
  CHECK(t.s.choose("edge", {2, 3}) == 2);
  CHECK(text_of(t.s.choices()) == "edge=8 of 8 4 16; place=2 of 0 1 2; out.y=8 of 2 4 8; edge#2=3 of 2 3; edge#3=2 of 2 3; ");
  t.same();
}

TEST_CASE("what is not decided can be drawn, for one seed alike") {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Blur t, again;
    const Decision decisions[] = {{"edge", 16}};
    for (Blur* b : {&t, &again}) {
      b->s.decide(decisions);
      b->s.draw_choices(seed);
      by_choice(*b);
    }
    CHECK(t.s.trace_hash() == again.s.trace_hash());
    CHECK(t.s.choices()[0].value == 16);
    seen.insert(text_of(t.s.choices()));
    t.same();
  }
  CHECK(seen.size() == 5);  // place is 0, 1, or 2 with the three factors of out.y
}

TEST_CASE("the trace says what was chosen among which, as text, as JSON and as C++") {
  Blur t;
  const Decision decisions[] = {{"edge", 16}};
  t.s.decide(decisions);
  by_choice(t);
  CHECK(t.s.trace().find("choose(edge = 16 of 8, 4, 16)") != std::string::npos);
  CHECK(t.s.to_cpp().find("s.choose(\"edge\", {8, 4, 16}, 2);") != std::string::npos);
  CHECK(t.s.to_cpp().find("s.choose(\"place\", {0, 1, 2});") != std::string::npos);
  Blur again;
  const Decision other[] = {{"edge", 4}};
  again.s.decide(other);  // says nothing about steps that were taken
  again.s.replay(t.s.json());
  CHECK(again.s.trace_hash() == t.s.trace_hash());
  CHECK(text_of(again.s.choices()) == text_of(t.s.choices()));
}

TEST_CASE("factors: powers of two, multiples, divisors; of what is above a constant extent, none") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {12, 40}), y = lang::make_output("y", f32, {12, 40});
  lang::bind(y, compute("y", {{"i", 12}, {"j", 40}}, [&](Var i, Var j) { return x(i, j) + 1.0f; }));
  Schedule s = scheduled({x, y});
  auto [i, j] = s[y].spatial<2>();
  CHECK(s.choose_factor(i, Factors::divisors(), 4) == 4);
  CHECK(s.choose_factor(i, Factors::powers_of_two(1, 64), 3) == 3);
  CHECK(s.choose_factor(j, Factors::multiples(16, 64), 32) == 32);
  CHECK(text_of(s.choices()) == "y.i=4 of 4 1 2 3 6 12; y.i#2=3 of 3 1 2 4 8; y.j=32 of 32 16; ");
  Blur symbols;
  auto [r, c] = symbols.s[symbols.out].spatial<2>();
  says(refusal(symbols.s, [&, l = c] { symbols.s.choose_factor(l, Factors::divisors(), 4); }),
       {"choose_factor: expected divisors of a constant extent, found out.x of W"});
  says(refusal(symbols.s, [&, l = c] { symbols.s.choose_factor(l, Factors::multiples(0, 8), 4); }),
       {"choose_factor: expected at most 4096 multiples of a positive number, found multiples of 0 up to 8"});
}

TEST_CASE("what choose refuses") {
  Blur t;
  const std::vector<std::int64_t> none;
  says(refusal(t.s, [&] { t.s.choose("edge", std::span(none)); }), {"choose: expected candidates, found none"});
  says(refusal(t.s, [&] { t.s.choose("edge", {4, 8, 4}); }), {"choose: expected candidates that differ, found 4 twice"});
  says(refusal(t.s, [&] { t.s.choose("edge", {4, 8}, 2); }),
       {"choose: expected as the usual one a candidate from 0 to 1, found 2"});
  says(refusal(t.s, [&] { t.s.choose("", {4, 8}); }), {"choose: expected a name, found \"\""});
  says(refusal(t.s, [&] { t.s.choose("edge#2", {4, 8}); }), {"choose: expected a name without #", "found \"edge#2\""});
  const Decision wrong[] = {{"edge", 5}, {"place", 3}};
  t.s.decide(wrong);
  says(refusal(t.s, [&] { t.s.choose("edge", {4, 8}); }), {"choose: expected edge to be one of 4, 8, found 5"});
  says(refusal(t.s, [&] { t.s.choose_one_of("place", {[] {}, [] {}}); }),
       {"choose_one_of: expected place to be one of 0, 1, found 3"});
  CHECK(t.s.choices().empty());
  t.s.decide({});
  auto [y, x] = t.s[t.out].spatial<2>();
  says(refusal(t.s, [&, l = x] { t.s.choose_one_of("place", {[&] { t.s[t.out].vectorize(l); }}); }), {"vectorize: expected"});
}

TEST_CASE("steps that are taken back take their choices back, and a copy decides alike") {
  Blur t;
  const Decision decisions[] = {{"edge", 4}};
  t.s.decide(decisions);
  const auto refused = t.s.attempt([&] {
    t.s.choose("edge", {8, 4});
    t.s[t.out].vectorize(t.s[t.out].spatial<2>()[1]);
  });
  REQUIRE(refused);
  CHECK(t.s.choices().empty());
  Schedule copy = t.s;
  CHECK(copy.choose("edge", {8, 4}) == 4);
  CHECK(t.s.choose("edge", {8, 4}) == 4);
  Schedule& narrow = t.s.specialize(t.W < 8);
  CHECK(narrow.choose("edge", {8, 4}) == 8);  // the second of this name
  CHECK(text_of(t.s.choices()) == "edge=4 of 8 4; edge#2=8 of 8 4; ");
}

}  // namespace ashlar::test
