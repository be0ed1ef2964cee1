// Vectors as long as the machine has them: the same values for every length, and what is refused.
#include "programs.h"

#include <ashlar/ir/print.h>

namespace ashlar::test {
namespace {

struct Axpy {  // y[i, j] = x[i, j] * 3 + x[i, 0]
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", i32, {M, N + 1}), y = lang::make_output("y", i32, {M, N});
  lang::Built built = (lang::bind(y, compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return x(i, j) * 3 + x(i, 0); })),
                       lang::build_program("axpy", {x, y}));
  Schedule s;
  explicit Axpy(const char* target = "aarch64+sve") : s(built, Target::parse(target)) {}
  void same() const {
    for (const int vscale : {1, 2, 3, 16})
      for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{3, 37}, {2, 8}, {1, 1}, {2, 0}}) {
        const std::int64_t rows = m, columns = n;
        interp::Arguments expected{
            interp::Array::make(i32, {rows, columns + 1}, [](auto at) { return static_cast<double>(at[0] * 100 + at[1]); }),
            interp::Array::zeros(i32, {rows, columns})};
        interp::Arguments found = expected;
        interp::run_algorithm(built.program, expected);
        interp::Options options;
        options.vscale = vscale;
        interp::run(s.scheduled().program, found, options);
        CHECK(expected[1].array.bytes == found[1].array.bytes);
      }
  }
};

}  // namespace

TEST_CASE("a loop over as many lanes as the machine has") {
  Axpy t;
  auto [i, j] = t.s[t.y].spatial<2>();
  t.s[t.y].vectorize(j, Scalable{4}).parallel(i);
  CAPTURE(t.s.text());
  CHECK(t.s.text().find("for ji in vscale * 4 ") != std::string::npos);
  t.same();
  Axpy again;
  again.s.replay(t.s.json());
  CHECK(again.s.text() == t.s.text());
  CHECK(t.s.to_cpp().find("s[y].vectorize(j, Scalable{4});") != std::string::npos);
}

TEST_CASE("what a loop over scalable lanes is not") {
  for (const char* target : {"x86-64-v4", "aarch64"}) {
    Axpy t(target);
    Loop j = t.s[t.y].spatial<2>()[1];
    says(refusal(t.s, [&] { t.s[t.y].vectorize(j, Scalable{4}); }),
         {"vectorize: expected a target with scalable vectors (aarch64+sve)"});
  }
  Axpy t;
  auto [i, j] = t.s[t.y].spatial<2>();
  says(refusal(t.s, [&, l = j] { t.s[t.y].vectorize(l, Scalable{1}); }), {"2, 4, 8 or 16 lanes"});
  for (const int lanes : {3, 5, 6, 12, 64})  // no vectors that instructions have
    says(refusal(t.s, [&, l = j] { t.s[t.y].vectorize(l, Scalable{lanes}); }), {"2, 4, 8 or 16 lanes"});
  says(refusal(t.s, [&, l = i] { t.s[t.y].vectorize(l, Scalable{4}); }),
       {"expected scalable lanes innermost, found j of y inside ii of y"});

  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", i64, {N}), small = lang::make_input("small", i4, {N});
  const Tensor a = lang::make_output("a", i64, {N}), b = lang::make_output("b", i32, {N}), c = lang::make_output("c", i32, {});
  lang::bind(a, compute("a", {{"i", N}}, [&](Var k) { return mul_high(x(k), x(k)); }));
  lang::bind(b, compute("b", {{"i", N}}, [&](Var k) { return i32(small(k)); }));
  const Axis k("k", N);
  lang::bind(c, compute("c", [&] { return sum(i32(small(k)), k); }));
  Schedule s(lang::build_program("p", {x, small, a, b, c}), Target::parse("aarch64+sve"));
  says(refusal(s, [&] { s[a].vectorize(s[a].nest()[0], Scalable{2}); }),
       {"operations that scalable vectors have, found a, with", "of 64 bits"});
  says(refusal(s, [&] { s[b].vectorize(s[b].nest()[0], Scalable{4}); }), {"small, which is packed"});
  says(refusal(s, [&] { s[c].vectorize(s[c].reduction(), Scalable{4}); }), {"vectorize: expected", "small, which is packed"});
  says(refusal(s, [&] { s[b].store_in(Scope::registers).vectorize(s[b].nest()[0], Scalable{4}); }),
       {"store_in: expected a stage with storage of its own (cache_write gives an output one), found b, an output"});
}

TEST_CASE("partial sums have so many dimensions on every machine (seed 425)") {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", i32, {N}), z = lang::make_output("z", i32, {});
  const Axis k("k", N);
  lang::bind(z, compute("total", [&] { return sum(x(k), k); }));
  const Target target = Target::parse("aarch64+sve");
  schedule::Scheduled s = Schedule(lang::build_program("p", {x, z}), target).scheduled();
  const auto step = [&](const char* primitive, std::vector<schedule::Arg> args) {
    schedule::Step made;
    made.primitive = primitive, made.args = std::move(args);
    return schedule::apply(s, std::move(made), target);
  };
  using schedule::Arg;
  const ir::Stmt& nest = s.program.body.front();
  const ir::Id stage = nest.get<ir::NestStmt>().stage;
  const auto loops = step("split", {Arg::loop(nest.body().front().id), Arg::integer(4), Arg::text("guard"), Arg::text("keep"),
                                    Arg::text("scalable")});
  const auto refused = [&](ir::Id loop) {
    std::string found;
    try {
      step("rfactor", {Arg::stage(stage), Arg::loop(loop)});
    } catch (const RefusalError& e) { found = e.refusal.text(); }
    says(found,
         {"rfactor: expected reduction loops of so many iterations on every machine", "found ki of total in vscale * 4"});
  };
  for (const ir::Id loop : loops) refused(loop);
  refused(step("fuse", {Arg::loop(loops.at(0)), Arg::loop(loops.at(1))}).front());
}

}  // namespace ashlar::test
