// Steps in an order that does not work, steps as raw records, and schedules saved by one run and replayed by another.
#include "programs.h"

namespace ashlar::test {

TEST_CASE("a refusal stands at the caller's line") {
  Product t;
  const Loop k = t.s[t.product].reduction();
  const std::string here = "steps_test.cpp:" + std::to_string(__LINE__ + 1);
  says(refusal(t.s, [&] { t.s[t.product].parallel(k); }), {here.c_str()});
  const std::string split = "steps_test.cpp:" + std::to_string(__LINE__ + 1);
  t.s[t.product].split(k, 4);
  says(refusal(t.s, [&] { t.s[t.product].split(k, 2); }), {"k of product, which was split into ko and ki at", split.c_str()});
}

TEST_CASE("handles: as many as there are, of the stage's own axes") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.product].spatial<3>(); }), {"2 loops of product"});
  says(refusal(t.s, [&] { t.s[t.C].reduction(); }), {"loops of C"});
  const Axis other{"other", 4};
  says(refusal(t.s, [&] { t.s[t.product].loop(other); }), {"an Axis that product reduces over", "other"});
  CHECK(t.s[t.product].loop(t.k) == t.s[t.product].reduction());
  says(refusal(t.s, [&] { t.s[t.product].split(Loop(), 4); }), {"a loop of this schedule, found a handle that names none"});
}

TEST_CASE("loops that hold or are held by something are not reordered") {
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  says(refusal(t.s, [&, i = i] { t.s[t.C].reorder(i); }), {"at least two loops"});
  t.s[t.product].compute_at(i);
  says(refusal(t.s, [&, i = i, j = j] { t.s[t.C].reorder(j, i); }),
       {"loops with nothing between them", "product is computed inside i of C", "move this call before its compute_at"});
  says(refusal(t.s, [&, i = i, j = j] { t.s[t.C].fuse(i, j); }), {"a loop whose body is exactly the other one"});
  t.same();
}

TEST_CASE("a peeled loop stands in parts") {
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  t.s[t.C].peel(i, Peel::last);
  says(refusal(t.s, [&, i = i] { t.s[t.C].split(i, 4); }),
       {"a whole loop", "i of C, of which iterations were peeled at steps_test.cpp:"});
  says(refusal(t.s, [&, i = i] { t.s[t.C].peel(i, Peel::first); }), {"a whole loop"});
  says(refusal(t.s, [&, j = j] { t.s[t.C].split(j, 4); }),
       {"a loop that stands at one place", "j of C, which peel copied (move the split before the peel)"});
  t.same(), t.same(1, 1, 1);
}

TEST_CASE("a window that slides stays where it slides") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 64);
  b.s[b.across].store_at(yo).compute_at(yi);
  says(refusal(b.s, [&, yi = yi] { b.s[b.across].slide(yi); }),
       {"a window that moves forward without gaps", "across along yi of out", "conflict: H = "});
  b.s[b.out].tighten(yi);
  b.s[b.across].slide(yi);
  says(refusal(b.s, [&, yi = yi] { b.s[b.out].split(yi, 8); }),
       {"a loop that no stage slides along", "move the split before the slide"});
  says(refusal(b.s, [&, yi = yi] { b.s[b.out].peel(yi, Peel::first); }),
       {"a loop that no stage slides along", "its warm-up is its first iteration"});
  says(refusal(b.s, [&, yi = yi] { b.s[b.across].slide(yi); }), {"a stage that does not slide yet, found across"});
  says(refusal(b.s, [&] { b.s[b.across].compute_root(); }), {"a stage that does not slide yet (move this call before slide)"});
  b.same(), b.same(70, 2);
}

TEST_CASE("storage choices are made once") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.product].transform_layout([](Var a) { return at(a); }); }),
       {"an index map of 2 variables for product"});
  says(refusal(t.s, [&] { t.s[t.product].align(1, 0); }), {"a multiple of at least 1, found 0"});
  t.s[t.product].transform_layout([](Var a, Var b) { return at(b, a); });
  says(refusal(t.s, [&] { t.s[t.product].transform_layout([](Var a, Var b) { return at(b, a); }); }),
       {"a tensor whose layout was not set yet"});
  t.same();
  Blur b;
  b.s[b.across].transform_layout([](Var r, Var c) { return at(c, r); });
  says(refusal(b.s, [&] { b.s[b.across].inline_(); }), {"a stage without storage choices", "whose layout was set"});
  b.same();
}

TEST_CASE("rfactor needs a loop of constant bounds, prefetch one that runs as a loop") {
  Product t;
  auto [ko, ki] = t.s[t.product].split(t.s[t.product].reduction(), 4);
  t.s[t.product].tighten(ki);
  says(refusal(t.s, [&, ki = ki] { t.s[t.product].rfactor(ki); }), {"a loop that was not tightened"});
  t.s[t.C].vectorize(t.s[t.C].spatial<2>()[1], 8);
  const Loop lanes = t.s[t.C].nest().back();
  says(refusal(t.s, [&] { t.s[t.C].prefetch(lanes, t.bias, 1); }), {"a loop that is not vectorized"});
  t.same();
}

TEST_CASE("a step is a record: what is wrong in one is named") {
  Product t;
  schedule::Scheduled program = t.s.scheduled();
  const ir::Id i = t.s[t.product].spatial<2>()[0].id();
  const auto told = [&](std::vector<schedule::Arg> args, const char* primitive) -> std::string {
    const std::size_t steps = program.trace.size();
    schedule::Step step;
    step.primitive = primitive, step.args = std::move(args);
    try {
      schedule::apply(program, step, t.s.target());
    } catch (const RefusalError& e) {
      CHECK(program.trace.size() == steps);
      return e.refusal.text();
    }
    return "";
  };
  using schedule::Arg;
  says(told({}, "split"), {"split: expected at least 1 arguments, found 0"});
  says(told({Arg::integer(3)}, "split"), {"a loop as argument 1"});
  says(told({Arg::loop(100000)}, "unroll"), {"a loop of this schedule"});
  says(told({Arg::loop(i)}, "inline"), {"a stage as argument 1"});
  says(told({Arg::loop(i), Arg::text("four"), Arg::text("guard")}, "split"), {"a number as argument 2"});
  says(told({Arg::loop(i), Arg::integer(4), Arg::text("ragged")}, "split"),
       {"a tail: guard, predicate, shift, pad, peel or exact", "\"ragged\""});
  says(told({Arg::loop(i), Arg::text("middle")}, "peel"), {"first, last or both", "\"middle\""});
  CHECK(told({Arg::loop(i), Arg::integer(4), Arg::text("guard")}, "split") == "");
}

TEST_CASE("what one run saved another replays, to the same text") {
  const auto blur = [](Blur& b) {
    auto [y, x] = b.s[b.out].spatial<2>();
    auto [yo, yi] = b.s[b.out].split(y, 16);
    b.s[b.out].tighten(yi);
    b.s[b.across].store_at(yo).compute_at(yi).slide(yi).fold(0, 4);
    b.s[b.out].vectorize(x, 4).parallel(yo);
  };
  Blur first, second;
  blur(first);
  second.s.replay(first.s.json());
  CHECK(second.s.text() == first.s.text());
  CHECK(second.s.json() == first.s.json());
  second.same(), second.same(33, 7);

  Product made, again;
  auto [i, j] = made.s[made.product].spatial<2>();
  auto [io, jo, ii, ji] = made.s[made.product].tile(i, j, 4, 8);
  auto [ko, ki] = made.s[made.product].split(made.s[made.product].reduction(), 2);
  made.s[made.product].reorder(io, jo, ko, ki, ii, ji).vectorize(ji).unroll(ii).parallel(io);
  again.s.replay(made.s.json());
  CHECK(again.s.text() == made.s.text());
  again.same();

  lang::DefinitionScope scope;  // a fill value of each kind of type
  Tensor flags = lang::make_input("flags", bool_, {8}), bytes = lang::make_input("bytes", u8, {8});
  Tensor y = lang::make_output("y", i32, {8});
  lang::bind(y, compute("y", {8}, [&](Var at) { return select(flags(at), i32(bytes(at)), 0); }));
  const lang::Built program = lang::build_program("fills", {flags, bytes, y});
  Schedule filled(program, Target()), replayed(program, Target());
  filled.cache_read(flags, {y}, Scope::global, 0);
  filled.cache_read(bytes, {y}, Scope::global, 7);
  replayed.replay(filled.json());
  CHECK(replayed.text() == filled.text());
}

TEST_CASE("a replay is all or nothing, and its errors name the entry") {
  Product t;
  t.s[t.product].split(t.s[t.product].spatial<2>()[0], 4);
  const std::string saved = t.s.json();
  Product fresh;
  for (std::size_t cut : {saved.size() / 4, saved.size() / 2, saved.size() - 2})
    says(refusal(fresh.s, [&] { fresh.s.replay(saved.substr(0, cut)); }), {"an array of steps"});
  const std::string twice = saved.substr(0, saved.rfind(']')) + "," + saved.substr(saved.find('[') + 1);
  says(refusal(fresh.s, [&] { fresh.s.replay(twice); }), {"i of product, which was split into io and ii"});
  says(refusal(fresh.s, [&] { fresh.s.replay("[3]"); }), {"in entry 0"});
}

TEST_CASE("what was fused, placed or asked for ahead keeps later steps away") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  t.s[t.C].fuse_into(i);
  says(refusal(t.s, [&, j = j] { t.s[t.C].fuse_into(j); }),
       {"a stage computed at root", "C, which is computed inside another"});
  says(refusal(t.s, [&, j = j] { t.s[t.C].compute_at(j); }), {"a stage computed before its readers", "by fuse_into"});
  t.same(), t.same(1, 3, 2);

  Product u;
  const Loop row = u.s[u.C].spatial<2>()[0];
  says(refusal(u.s, [&] { u.s[u.C].store_at(row); }), {"store_at: expected", "C, an output"});
  u.s[u.product].compute_at(row);
  says(refusal(u.s, [&] { u.s.cache_write(u.C, Scope::global); }),
       {"a stage with nothing placed in it yet", "product inside C"});
  u.same();

  Product v;
  const Loop k = v.s[v.product].reduction();
  v.s[v.product].prefetch(k, v.A, 4);
  says(refusal(v.s, [&] { v.s[v.product].split(k, 4); }),
       {"the loop along which the prefetch of A runs to stay as it is", "move this call before the prefetch"});
  v.same();
}

}  // namespace ashlar::test
