// associative_scan: what it makes of a scan, and what it refuses. That the values are the definition's is tested with the other
// schedules of recurrences (tests/support/recurrence_schedules.h).
#include "programs.h"
#include "tests/golden.h"
#include "tests/support/recurrence_operators.h"

namespace ashlar::test {

namespace {

struct Scanned : recurrences::WithSchedule {
  using WithSchedule::WithSchedule;
  Loop along(std::size_t dim = 1) { return s[y].spatial<2>()[dim]; }
};

struct Line {  // y = the scan of x by a combiner
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x, y, t;
  lang::Built built;
  Schedule s;
  template <class C>
  Line(Type type, const C& combiner, Scan kind = Scan::inclusive, const char* target = "x86-64-v3")
      : x(lang::make_input("x", type, {N})),
        y(lang::make_output("y", type, {N})),
        t(scan(
            "t", {{"i", N}}, Along{0}, combiner, [&](Var i) { return x(i); }, kind)),
        built((lang::bind(y, t), lang::build_program("line", {x, y}))),
        s(built, Target::parse(target)) {}
  Split blocks(std::int64_t size, Tail tail = Tail::guard) { return s[t].split(s[t].spatial<1>()[0], size, tail); }
  void same() const {
    for (const std::int64_t n : {0, 1, 3, 4, 5, 8, 17}) means_the_same(built.program, s, {{n}, {n}});
  }
};

}  // namespace

TEST_CASE("a scan in blocks: totals, what is before each block, and each by itself") {
  Scanned u("running_sum");
  auto [to, ti] = u.s[u.y].split(u.along(), 8);
  auto [total, carry, block] = u.s[u.y].associative_scan(to);
  block.compute_at(to);
  u.s[u.y].parallel(to).vectorize(ti);
  CHECK(::golden("schedule/golden/associative_scan.txt", u.s.text()) == "");
  (void)total, (void)carry;
}

TEST_CASE("the first element is a case of its own where it is no step from the identity") {
  Line exclusive(i32, Combine::add, Scan::exclusive);
  exclusive.s[exclusive.t].associative_scan(exclusive.blocks(4).outer);
  exclusive.same();
  Line inclusive(i32, Combine::multiply);
  inclusive.s[inclusive.t].associative_scan(inclusive.blocks(4).outer);
  CHECK(inclusive.s.text().find("i < 1, ") == inclusive.s.text().rfind("i < 1, "));  // in t_block alone
  inclusive.same();
}

TEST_CASE("every combiner in blocks") {
  for (const Combine c :
       {Combine::add, Combine::multiply, Combine::max, Combine::min, Combine::bit_or, Combine::bit_and, Combine::bit_xor}) {
    Line line(i32, c);
    const Loop o = line.blocks(3).outer;
    auto [total, carry, block] = line.s[line.t].associative_scan(o);
    block.compute_at(o);
    line.s[line.t].parallel(o);
    line.same();
    (void)total, (void)carry;
  }
}

TEST_CASE("a reducer that does not commute may be scanned in blocks, one in order may not") {
  Scanned u("composed");
  u.s[u.y].associative_scan(u.s[u.y].split(u.along(), 4).outer);
  const auto add =
      reducer("in_order", {f32}, {0.f}, [](Values<1> a, Values<1> b) { return values(a[0] + b[0]); }, Order::exact);
  Line line(f32, add);
  const Loop o = line.blocks(4).outer;
  says(refusal(line.s, [&] { line.s[line.t].associative_scan(o); }),
       {"associative_scan: expected a reducer declared with Order::regroup or Order::any",
        "in_order of t, whose terms are met in order", "conflict: the terms of io = 1 are combined by themselves"});
}

TEST_CASE("an identity that is none for itself is refused") {
  const auto drifting = reducer(
      "drifting", {i32}, {0}, [](Values<1> a, Values<1> b) { return values(select(a[0] == 0 && b[0] == 0, 1, a[0] + b[0])); },
      Order::any);
  Line line(i32, drifting);
  const Loop o = line.blocks(4).outer;
  says(refusal(line.s, [&] { line.s[line.t].associative_scan(o); }),
       {"a reducer whose identity combines with itself (before the first block stands the identity)"});
}

TEST_CASE("what is no scan, and loops that are no blocks") {
  Scanned u("smooth", true);
  const Loop o = u.s[u.y].split(u.along(), 4).outer;
  says(refusal(u.s, [&] { u.s[u.y].associative_scan(o); }),
       {"associative_scan: expected a scan, found y, a recurrence by another step"});
  const Loop j = u.s[u.results[0]].spatial<2>()[1];
  says(refusal(u.s, [&] { u.s[u.results[0]].associative_scan(j); }), {"a scan, found result, which does not read itself"});

  Scanned v("running_sum");
  const char* const expected = "the outer loop of a split by a constant of t, along which y scans";
  auto [r, t] = v.s[v.y].spatial<2>();
  says(refusal(v.s, [&, t = t] { v.s[v.y].associative_scan(t); }), {expected, "found t of y"});
  auto [ro, ri] = v.s[v.y].split(r, 4);
  says(refusal(v.s, [&, ro = ro] { v.s[v.y].associative_scan(ro); }), {expected, "ro of y, made of r"});
  auto [to, ti] = v.s[v.y].split(t, 4);
  says(refusal(v.s, [&, ti = ti] { v.s[v.y].associative_scan(ti); }), {expected, "ti of y"});
  auto [too, toi] = v.s[v.y].split(to, 2);
  says(refusal(v.s, [&, too = too] { v.s[v.y].associative_scan(too); }), {expected, "too of y, made of to"});
  (void)toi, (void)ri;

  Scanned w("running_sum");
  auto [wo, wi] = w.s[w.y].split(w.along(), 4);
  const Loop first = w.s[w.y].peel(wo, Peel::first);
  says(refusal(w.s, [&, wo = wo] { w.s[w.y].associative_scan(wo); }),
       {"a stage of whole loops (move this call before the peel)"});
  (void)wi, (void)first;
}

TEST_CASE("what a scan reads is placed afterwards") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  Tensor twice = compute("twice", {{"i", N}}, [&](Var i) { return x(i) * 2; });
  Tensor t = scan("t", {{"i", N}}, Along{0}, Combine::add, [&](Var i) { return twice(i); });
  lang::bind(y, t);
  const lang::Built built = lang::build_program("p", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  auto [o, n] = s[t].split(s[t].spatial<1>()[0], 4);
  s[twice].compute_at(o);
  says(refusal(s, [&, o = o] { s[t].associative_scan(o); }),
       {"a stage with nothing placed in it yet (move this call before compute_at of its producers)", "twice inside t"});
  s[twice].compute_root();
  auto [total, carry, block] = s[t].associative_scan(o);
  block.compute_at(o);
  const Stage own = s.clone(twice, {total});
  own.compute_at(total.spatial<1>()[0]);
  s[twice].compute_at(block.spatial<2>()[0]);
  for (const std::int64_t size : {0, 1, 4, 9}) means_the_same(built.program, s, {{size}, {size}});
  (void)carry, (void)n;
}

}  // namespace ashlar::test
