// Vectors at a border of a few points are moved inside, where a point may be computed twice. The interpreter compares each
// kernel with the algorithm.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "check.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

std::string lowered(const lang::Built& built, Schedule& s, const std::vector<Sizes>& shapes) {
  schedule::finish(s.scheduled(), s.target());
  const ir::Kernel k = lower(s.scheduled().program, options_for(s.target()));
  const std::string text = ir::text(k);
  CAPTURE(text);
  handmade::check_kernel(built.program, k, shapes);
  return text;
}

bool moves(const std::string& text) { return text.find("at = min(") != text.npos; }

std::vector<Sizes> lengths() {
  std::vector<Sizes> all;
  for (const std::int64_t n : {0, 1, 2, 5, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 20, 23, 24, 25, 33, 40, 41, 57})
    all.push_back({{"N", n}, {"M", 3}});
  return all;
}

using Formula = std::function<Expr(const Tensor& x, Var i, const Symbol& N)>;

// y[i] = f(x, i), in vectors of 8.
std::string row(const Formula& f, bool parallel = false) {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const Tensor made = compute("made", {{"i", N}}, [&](Var i) { return f(x, i, N); });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("row", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  const Split split = s[made].split(s[made].spatial<1>()[0], 8, Tail::guard);
  s[made].vectorize(split.inner);
  if (parallel) s[made].parallel(split.outer);
  return lowered(built, s, lengths());
}

}  // namespace

TEST_CASE("vectors at a border that is reflected lie inside") {
  const auto window = [](int reach) {
    return [=](const Tensor& x, Var i, auto&) {
      const Tensor wide = boundary::reflect(x);
      return wide(i - reach) + 2 * wide(i) + 3 * wide(i + 1);
    };
  };
  CHECK(moves(row(window(1))));
  CHECK(moves(row(window(8))));
  CHECK(!moves(row(window(9))));        // more points at the border than are worth it
  CHECK(!moves(row(window(1), true)));  // two threads would store one point
}

TEST_CASE("vectors at the seam of a circle lie inside, on one side or on both") {
  CHECK(moves(row([](const Tensor& x, Var i, const Symbol& N) { return x((i + 1) % N) - x(i); })));
  CHECK(moves(row([](const Tensor& x, Var i, const Symbol& N) { return x((i + 5) % N) * x((i + N - 3) % N); })));
}

TEST_CASE("a clamp that no active lane needs is dropped") {
  const std::string text = row([](const Tensor& x, Var i, const Symbol& N) {
    const Tensor wide = boundary::repeat(x);
    return wide(i) + 2 * wide(i + 1) + x(min(i * 2, N - 1));
  });
  CAPTURE(text);
  CHECK(text.find("x[ramp8(io * 8, 1), ramp8(io * 8, 1) < x8(N)]") != text.npos);
}

TEST_CASE("steps of a recurrence may be computed twice, sums that go on may not") {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, M{"M"};
  const Tensor x = lang::make_input("x", f32, {N}), a = lang::make_input("a", f32, {M, N}),
               y = lang::make_output("y", f32, {N}), z = lang::make_output("z", f32, {N});
  const Tensor steps = recur(
      "steps", {M + 1, N}, Along{0}, Lag{1}, [&](Var, Var i) { return x(i); },
      [&](Prior p, Var t, Var i) { return 0.5f * p(t - 1, (i + 1) % N) + a(t - 1, i) * p(t - 1, i); });
  const Axis k{"k", M};
  lang::bind(y, compute("last", {N}, [&](Var i) { return steps(M, i); }));
  const Tensor sums = compute("sums", {N}, [&](Var i) { return sum(a(k, (i + 1) % N), k); });
  lang::bind(z, sums);
  const lang::Built built = lang::build_program("steps", {x, a, y, z});
  for (const bool ring : {false, true}) {
    Schedule s(built, Target::parse("x86-64-v3"));
    s[steps].compute_root();
    if (ring) s[steps].fold(0, 2);
    s[steps].vectorize(s[steps].split(s[steps].spatial<2>()[1], 8, Tail::guard).inner);
    CHECK(moves(lowered(built, s, lengths())));
  }
  // The reduction outermost: each term is added to all columns.
  Schedule s(built, Target::parse("x86-64-v3"));
  s[steps].compute_root();
  const Split split = s[sums].split(s[sums].spatial<1>()[0], 8, Tail::guard);
  s[sums].reorder(s[sums].reduction(), split.outer, split.inner);
  s[sums].vectorize(split.inner);
  CHECK(!moves(lowered(built, s, lengths())));
}

TEST_CASE("a vector whose piece of another stage is computed beside it stays where it is") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const Tensor twice = compute("twice", {N}, [&](Var i) { return x(i) * 2; });
  const Tensor made = compute("made", {{"i", N}}, [&](Var i) { return twice(in_range((i + 1) % N, 0, N)) + twice(i); });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("beside", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  const Split split = s[made].split(s[made].spatial<1>()[0], 8, Tail::guard);
  s[made].vectorize(split.inner);
  s[twice].compute_at(split.outer);
  CHECK(!moves(lowered(built, s, lengths())));
}

namespace {
// y[i] = 2 x[i] in vectors, and the last of them.
std::string tail(const char* target, Type type, bool below = false, bool in_place = false) {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, M{"M"};
  const Tensor x = lang::make_input("x", type, {M, N}),
               y = lang::make_output("y", type, {M, N}, {.may_alias_inputs = in_place});
  const Tensor made = compute("made", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return x(i, j) * 2; });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("tail", {x, y});
  Schedule s(built, Target::parse(target));
  auto [i, j] = s[made].spatial<2>();
  const Split split = s[made].split(j, 8, Tail::guard);
  if (below) s[made].reorder(split.outer, i, split.inner);
  s[made].vectorize(split.inner);
  return lowered(built, s, lengths());
}
bool masked(const std::string& text) { return text.find(" where ") != text.npos; }
}  // namespace

TEST_CASE("where no instruction stores a vector under a mask, the last one of a row is moved, or taken point by point") {
  for (const auto& [target, type] :
       {std::pair{"x86-64-v3", i16}, {"x86-64-v3", u8}, {"x86-64", f32}, {"aarch64", f32}, {"armv7+vfp4", i32}}) {
    const std::string text = tail(target, type);
    CAPTURE(text);
    CHECK(moves(text));
    CHECK(!masked(text));
    CHECK(text.find("for side") == text.npos);
    const std::string around = tail(target, type, true);  // the vectors of a column: the loop around does not go along the row
    CHECK(!moves(around));
    CHECK(!masked(around));
  }
  for (const auto& [target, type] : {std::pair{"x86-64-v3", f32}, {"x86-64-v4", u8}, {"aarch64+sve", i16}}) {
    const std::string text = tail(target, type);
    CHECK(!moves(text));
    CHECK(masked(text));
  }
}

TEST_CASE("loads that indices keep in bounds are not masked by what each lane reads") {
  const std::string text = row([](const Tensor& x, Var i, const Symbol& N) {
    return select(x(i) > 0 && i > 0, x(i - 1), 0) + select(x(i) < 2, x(min(i, N - 1)), 1);
  });
  CAPTURE(text);
  CHECK(text.find("x[ramp8(io * 8 - 1, 1)]") != text.npos);
  CHECK(text.find("x[ramp8(io * 8 - 1, 1), x[") == text.npos);
}

TEST_CASE("a vector is moved in the tiles of its loop alone") {
  for (const std::int64_t n : {8, 16, 24}) {  // all of them whole
    lang::DefinitionScope scope;
    const Symbol M{"M", {.min = 1}};
    const Tensor x = lang::make_input("x", f32, {M}), y = lang::make_output("y", f32, {n});
    const Tensor made = compute("made", {{"i", n}}, [&](Var i) { return x((i + M - 3) % M) + x((i + 1) % M); });
    lang::bind(y, made);
    const lang::Built built = lang::build_program("tiles", {x, y});
    Schedule s(built, Target::parse("x86-64-v3"));
    s[made].vectorize(s[made].split(s[made].spatial<1>()[0], 8, Tail::exact).inner);
    lowered(built, s, {{{"M", 64}}, {{"M", 25}}, {{"M", 18}}, {{"M", 9}}, {{"M", 3}}, {{"M", 1}}});
  }
}

TEST_CASE("a vector that stores to a ring along its tile stays where it is") {
  lang::DefinitionScope scope;
  const Symbol K{"K", {.min = 1}}, R{"R"};
  const Tensor x = lang::make_input("x", f32, {R, K}), y = lang::make_output("y", f32, {R, K});
  const Tensor mid = compute("mid", {R, K}, [&](Var r, Var i) { return x(r, (i + 1) % K) * 2; });
  const Tensor wide = boundary::repeat(mid);
  const Tensor made = compute("made", {R, K}, [&](Var r, Var i) { return wide(r, i - 1) + wide(r, i) + 3 * wide(r, i + 1); });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("ring", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  auto [r, i] = s[made].spatial<2>();
  const Split split = s[made].split(i, 16, Tail::guard);
  s[mid].store_at(r).compute_at(split.outer).slide(split.outer).fold(1, 32);
  s[mid].vectorize(s[mid].split(s[mid].spatial<2>()[1], 8, Tail::guard).inner);
  std::vector<Sizes> shapes;
  for (const Sizes& n : lengths())
    if (n.at("N") > 0) shapes.push_back({{"K", n.at("N")}, {"R", 2}});
  CHECK(!moves(lowered(built, s, shapes)));
}

TEST_CASE("where an output may lie where an input does, no point is computed twice") {
  CHECK(moves(tail("x86-64-v3", i16)));
  CHECK(!moves(tail("x86-64-v3", i16, false, true)));
}
