// Steps as raw records, and schedules saved by one run and replayed by another.
#include "programs.h"

#include <limits>

namespace ashlar::test {

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
  says(told({}, "split"), {"split: expected a loop as argument 1 (loop), found a step of 0 arguments"});
  says(told({Arg::loop(i)}, "split"), {"split: expected a number as argument 2 (factor), found a step of 1 argument"});
  says(told({Arg::integer(3)}, "split"), {"a loop as argument 1 (loop), found a number"});
  says(told({Arg::loop(100000)}, "unroll"), {"a loop of this schedule, found one whose step was taken back"});
  says(told({Arg::loop(i)}, "inline"), {"inline_: expected a stage as argument 1 (stage), found a loop"});
  says(told({Arg::stage(100000)}, "inline"), {"a stage of this schedule, found one whose step was taken back"});
  says(told({Arg::loop(i), Arg::buffer(100000), Arg::integer(1)}, "prefetch"),
       {"a tensor of this schedule, found one whose step was taken back"});
  says(told({Arg::loop(i), Arg::stage(1), Arg::integer(1)}, "prefetch"), {"a tensor as argument 2 (tensor), found a stage"});
  says(told({Arg::loop(i), Arg::integer(4), Arg::integer(4)}, "split"), {"a word as argument 3 (tail), found a number"});
  says(told({Arg::loop(i), Arg::text("four"), Arg::text("guard")}, "split"), {"a number as argument 2 (factor), found a word"});
  says(told({Arg::loop(i), Arg::integer(4), Arg::text("ragged")}, "split"),
       {"a tail: guard, predicate, shift, pad, peel, exact or cover", "\"ragged\""});
  says(told({Arg::loop(i), Arg::text("middle")}, "peel"), {"an end: first, last or both", "\"middle\""});
  says(told({Arg::loop(i), Arg::loop(i)}, "reverse"), {"reverse: expected at most 1 argument, found 2"});
  says(told({Arg::loop(i), Arg::integer(4), Arg::text("guard"), Arg::text("kept")}, "split"), {"a handle: keep", "\"kept\""});
  says(told({Arg::loop(i), Arg::map({}, {ir::index(0), ir::index(1)})}, "partition"), {"one point, an index"});
  says(told({Arg::map({}, {ir::index(0)})}, "assume"), {"one condition, found something else"});
  says(told({Arg::integer(1)}, "specialize"), {"a condition as argument 1 (condition), found a number"});
  says(told({Arg::stage(1), Arg::text("attic")}, "set_scope"),
       {"store_in: expected a scope: global, stack, shared, registers, fragment or tile", "\"attic\""});
  const ir::Id A = program.program.arguments[0].id, product = t.s[t.product].id();
  const auto filled = [&](std::vector<Expr> fill) {
    return told(
        {Arg::buffer(A), Arg::place(Scope::global), Arg::integer(1), Arg::map({}, std::move(fill)), Arg::stage(product)},
        "cache_read");
  };
  says(told({Arg::buffer(A), Arg::place(Scope::global), Arg::integer(1)}, "cache_read"),
       {"a value as argument 4 (fill value), found a step of 3 arguments"});
  says(told({Arg::buffer(A), Arg::place(Scope::global), Arg::integer(0)}, "cache_read"),
       {"at least one stage that reads A, found none"});
  says(filled({}), {"one fill value, found 0"});
  says(filled({ir::int_const(i32, 3)}), {"a fill value of type f32, found 3i32 of type i32"});
  CHECK(told({Arg::loop(i), Arg::integer(4), Arg::text("guard")}, "split") == "");
  says(told({Arg::loop(i), Arg::integer(4), Arg::text("guard")}, "split"), {"i of product, which was split into io and ii"});
}

TEST_CASE("a map that mirrors is saved and replayed") {
  Product t, again;
  for (Product* p : {&t, &again}) {
    Stage copy = p->s.cache_read(p->B, {p->product}, Scope::global);
    if (p == &t) copy.transform_layout([](Var k, Var j) { return at(-k, j); });
  }
  again.s.replay(schedule::json({t.s.scheduled().trace.back()}));
  CHECK(again.s.text() == t.s.text());
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
  says(refusal(fresh.s, [&] { fresh.s.replay("[3]"); }),
       {"schedule JSON: expected a step with \"primitive\" and \"args\" in entry 0, found 3"});
}

TEST_CASE("what is wrong in a saved schedule is shown, with its entry") {
  Product t;
  const auto told = [&](const std::string& entry) {
    const std::string text = refusal(t.s, [&] { t.s.replay("[" + entry + "]"); });
    says(text, {"schedule JSON: expected ", " in entry 0, found "});
    return text;
  };
  says(told("3"), {"a step with \"primitive\" and \"args\"", "found 3"});
  says(told(R"({"primitive": "split"})"), {"a step with \"primitive\" and \"args\""});
  const auto argument = [&](const std::string& a) { return told(R"({"primitive": "set_layout", "args": [)" + a + "]}"); };
  says(argument(R"({"loop": -1})"), {"an argument: a number, a word, {\"loop\": id}", R"(found {"loop":-1})"});
  says(argument("1.5"), {"an argument: ", "found 1.5"});
  says(argument(R"({"map": [1], "vars": ["k"]})"), {"ids of variables"});
  const auto map = [&](const std::string& e) { return argument(R"({"map": [)" + e + R"(], "vars": [1]})"); };
  says(map(R"("k")"), {"an expression in entry 0, found \"k\""});
  says(map(R"({"var": "k"})"), {"the id of a variable"});
  says(map(R"({"args": []})"), {"schedule JSON: expected an operator in entry 0, found {\"args\":[]}"});
  says(map(R"({"op": "add"})"), {"schedule JSON: expected operands in entry 0, found {\"op\":\"add\"}"});
  says(map(R"({"op": "sqrt", "args": [4]})"),
       {"arithmetic (add, sub, mul, div, min, max, neg, abs; of indices also mod, bit operations and select"});
  says(map(R"({"op": "add", "args": [4]})"), {"arithmetic (add, sub"});
  says(map(R"({"op": "int_const", "value": 3})"), {"a typed constant"});
  says(map(R"({"op": "int_const", "type": "i7", "value": 3})"), {"a type in entry 0, found \"i7\""});
  says(map(R"({"op": "int_const", "type": "f32", "value": 3})"), {"a constant of its type"});
  says(map(R"({"op": "int_const", "type": "u8", "value": 2.5})"), {"a constant of its type"});
  says(map(R"({"op": "int_const", "type": "u8", "value": 300})"), {"a constant in the range of its type"});
  std::string deep = "1";
  for (int k = 0; k < 70; ++k) deep = R"({"op": "add", "args": [1, )" + deep + "]}";
  says(map(deep), {"an expression of at most 64 levels"});
  says(refusal(t.s, [&] { t.s.replay("{}"); }), {"schedule JSON: expected an array of steps, found \"{}\""});
}

TEST_CASE("fills that are no finite numbers are replayed") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double fill : {inf, -inf, std::numeric_limits<double>::quiet_NaN()}) {
    Product p, again;
    p.s.cache_read(p.A, {p.product}, Scope::global, fill);
    again.s.replay(p.s.json());
    CHECK(again.s.text() == p.s.text());
    CHECK(again.s.json() == p.s.json());
  }
}

TEST_CASE("rfactor of a reduction whose init stands apart") {
  Product p;
  Stage product = p.s[p.product];
  auto [ko, ki] = product.split(product.reduction(), 3);
  product.decompose_init(ko);
  Stage partial = product.rfactor(ko);
  partial.compute_at(ko);
  p.same();
}

TEST_CASE("fills of packed and 8-bit types are replayed (fuzz seed 45001325)") {
  for (const Type type : {i4, u4, e4m3}) {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", type, {N}), y = lang::make_output("y", f32, {N});
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return f32(x(i)); }));
    const lang::Built built = lang::build_program("p", {x, y});
    Schedule s(built, Target::parse("x86-64")), again(built, Target::parse("x86-64"));
    s.cache_read(x, {y}, Scope::global, 0);
    again.replay(s.json());
    CHECK(again.text() == s.text());
  }
}

}  // namespace ashlar::test
