// Reductions whose axes run as far as tables say: schedules of them for processors and devices compute what the algorithm says,
// and nothing reads a table past its end.
#include "tests/support/table_operators.h"

#include "check.h"
#include "launched.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

const std::vector<Sizes> shapes{{{"M", 13}, {"N", 9}, {"Z", 40}},
                                {{"M", 1}, {"N", 1}, {"Z", 7}},
                                {{"M", 0}, {"N", 1}, {"Z", 0}},
                                {{"M", 8}, {"N", 3}, {"Z", 21}},
                                {{"M", 5}, {"N", 4}, {"Z", 0}}};

// Partial sums of the terms in four lanes, computed at a loop of the stage; and the loop over their steps.
struct TermsInLanes {
  Stage parts;
  Loop steps;
};
TermsInLanes terms_in_lanes(const Stage& stage, Loop at) {
  const Stage parts = stage.rfactor(stage.split(stage.reduction(), 4).inner);
  const Loop steps = parts.reduction();
  auto [r, lane] = parts.spatial<2>();
  parts.compute_at(at);
  parts.reorder(r, steps, lane).vectorize(lane);
  return {parts, steps};
}

// The scheduled program and its kernel, in race mode, on tables that keep their promises.
template <class O>
void same(const O& o, const std::vector<Sizes>& at = shapes) {
  const ir::Kernel k = handmade::launched(o.s);
  const std::string text = ir::text(k);
  CAPTURE(text);
  for (const Sizes& shape : at) {
    interp::Arguments expected = handmade::arguments_for(o.built.program, shape);
    tables::fill(o.built.program, shape, expected);
    interp::Arguments scheduled = expected, found = expected;
    interp::run_algorithm(o.built.program, expected);
    REQUIRE_NOTHROW(interp::run(o.s.scheduled().program, scheduled, {interp::Options::Order::shuffled, 5}));
    interp::Options options;
    options.races = true;
    options.parallel_order = interp::Options::Order::shuffled;
    REQUIRE_NOTHROW(interp::run(k, found, options));
    for (std::size_t n = 0; n < expected.size(); ++n) {
      CHECK(interp::difference(scheduled[n].array, expected[n].array) == "");
      CHECK(interp::difference(found[n].array, expected[n].array) == "");
    }
  }
}

template <class O, class F>
void scheduled(F&& steps, const char* target = "x86-64-v3") {
  CAPTURE(target);
  O o(target);
  REQUIRE_NOTHROW(steps(o));
  same(o);
}

}  // namespace

TEST_CASE("rows of a sparse matrix are what plain loops say") {
  tables::Sparse o("x86-64-v3");
  const Sizes at{{"M", 7}, {"N", 5}, {"Z", 20}};
  interp::Arguments args = handmade::arguments_for(o.built.program, at);
  tables::fill(o.built.program, at, args);
  interp::run_algorithm(o.built.program, args);
  for (std::int64_t i = 0; i < 7; ++i) {
    double sum = 0;
    for (std::int64_t p = tables::offset(i, 7, 20); p < tables::offset(i + 1, 7, 20); ++p)
      sum += args[2].array.real({p}) * args[3].array.real({(p * 7 + 2) % 5});
    CHECK(args[4].array.real({i}) == sum);
  }
}

TEST_CASE("rows as loops of a processor") {
  using O = tables::Sparse;
  scheduled<O>([](O&) {});
  scheduled<O>([](O& o) {  // rows past the last one have no entries, and read no table
    auto [i] = o.s[o.rows].spatial<1>();
    auto [io, ii] = o.s[o.rows].split(i, 4);
    o.s[o.rows].parallel(io);
  });
  scheduled<O>([](O& o) {  // the rows past the last one lie before the first one
    auto [i] = o.s[o.rows].spatial<1>();
    o.s[o.rows].reverse(i).split(i, 4);
  });
  scheduled<O>([](O& o) {
    auto [po, pi] = o.s[o.rows].split(o.s[o.rows].reduction(), 4, Tail::peel);
    o.s[o.rows].unroll(pi);
  });
  scheduled<O>([](O& o) { o.s[o.rows].peel(o.s[o.rows].reduction(), Peel::last); });
  scheduled<O>([](O& o) { o.s[o.rows].decompose_init(o.s[o.rows].spatial<1>()[0]); });
  scheduled<O>([](O& o) { o.s.cache_read(o.x, {o.rows}, Scope::global); });
}

TEST_CASE("entries of a row in lanes, summed apart") {
  using O = tables::Sparse;
  for (const Tail tail : {Tail::guard, Tail::peel})
    scheduled<O>([&](O& o) {
      auto rows = o.s[o.rows];
      auto [i] = rows.spatial<1>();
      const auto [parts, steps] = terms_in_lanes(rows, i);
      if (tail == Tail::peel) parts.peel(steps, Peel::last);
    });
}

TEST_CASE("entries computed before their rows, in the row, and in blocks of it") {
  using O = tables::Products;
  scheduled<O>([](O&) {});
  scheduled<O>([](O& o) { o.s[o.entry].inline_(); });
  scheduled<O>([](O& o) { o.s[o.entry].compute_at(o.s[o.rows].spatial<1>()[0]); });
  scheduled<O>([](O& o) { o.s[o.entry].compute_at(o.s[o.rows].reduction()); });
  scheduled<O>([](O& o) {
    auto [po, pi] = o.s[o.rows].split(o.s[o.rows].reduction(), 8);
    o.s[o.entry].compute_at(po).store_in(Scope::stack);
  });
}

TEST_CASE("a thread a row, and a warp a row") {
  using O = tables::Sparse;
  for (const char* target : {"cuda-sm_80", "vulkan"}) {
    scheduled<O>(
        [](O& o) {
          auto rows = o.s[o.rows];
          auto [io, ii] = rows.split(rows.spatial<1>()[0], 4);
          rows.bind(io, gpu::block_x).bind(ii, gpu::thread_x);
        },
        target);
    scheduled<O>(
        [](O& o) {
          auto rows = o.s[o.rows];
          auto [po, pi] = rows.split(rows.reduction(), 32);
          rows.bind(rows.spatial<1>()[0], gpu::block_x).cross_thread_reduce(pi).bind(pi, gpu::thread_x);
        },
        target);
  }
}

TEST_CASE("a triangle, its diagonals in lanes: partial sums follow bounds of points") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  const Tensor a = lang::make_input("a", f32, {N, N}), x = lang::make_input("x", f32, {N}),
               y = lang::make_output("y", f32, {N});
  const Tensor solved = compute("solved", {N}, [&](Var i) {
    Axis k{"k", 0, i + 1};
    return sum(a(i, k) * x(k), k);
  });
  lang::bind(y, solved);
  const lang::Built built = lang::build_program("triangle", {a, x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  auto stage = s[solved];
  auto [i] = stage.spatial<1>();
  terms_in_lanes(stage, i);
  handmade::check_kernel(built.program, lower(s.scheduled().program, handmade::options_for(s.target())),
                         {{{"N", 11}}, {{"N", 1}}, {{"N", 0}}, {{"N", 8}}});
}

TEST_CASE("a broken promise is found by the interpreter, at the table's element") {
  tables::Sparse o("x86-64-v3");
  const Sizes at{{"M", 3}, {"N", 5}, {"Z", 6}};
  interp::Arguments args = handmade::arguments_for(o.built.program, at);
  tables::fill(o.built.program, at, args);
  args[0].array.set(std::vector<std::int64_t>{2}, ir::int_value(i32, 7));
  CHECK_THROWS_WITH_AS(interp::run_algorithm(o.built.program, args), doctest::Contains("in_range promised [0, 7), found 7"),
                       interp::RunError);
}

TEST_CASE("tables that only bound axes are read where they lie") {
  tables::Sparse o("x86-64-v3");
  const auto refused = o.s.attempt([&] { o.s.cache_read(o.first, {o.rows}, Scope::global); });
  REQUIRE(refused);
  CHECK(refused->text().find("stages that read first, found rows, of whose axes it says how far they run") !=
        std::string::npos);
}

TEST_CASE("a grid is known before the launch, so no table says how large it is (fuzz seed 80004035)") {
  lang::DefinitionScope scope;
  const Tensor first = lang::make_input("first", i32, {1}), x = lang::make_input("x", i32, {64}),
               y = lang::make_output("y", i32, {1});
  const Tensor total = compute("total", {1}, [&](Var) {
    Axis p{"p", 0, in_range(first(0), 0, 65)};
    return sum(x(p), p);
  });
  lang::bind(y, total);
  const lang::Built built = lang::build_program("total", {first, x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  s[total].atomic().bind(s[total].spatial<1>()[0], gpu::block_y);
  const auto refused = s.attempt([&] { s[total].bind(s[total].reduction(), gpu::block_x); });
  REQUIRE(refused);
  CAPTURE(refused->text());
  CHECK(refused->text().find("a grid that is known before the launch, found p of total") != std::string::npos);
}
