// Barriers at the narrowest scope: the lanes of a warp meet where no thread of another one is concerned. Each kernel runs with
// the search for races on; with warps of half the size, or with a warp's barrier in the place of a block's, a race is found.
#include <functional>

#include "tests/lower/check.h"
#include "tests/lower/launched.h"
#include "tests/support/gpu_operators.h"
#include "tests/support/warp_operators.h"

using namespace ashlar;
using handmade::Sizes;
using ir::KStmt;
using ir::Sync;
using warp_operators::Threads;

namespace {

struct Barriers {
  std::size_t blocks = 0, warps = 0;
  friend bool operator==(const Barriers&, const Barriers&) = default;
};
std::ostream& operator<<(std::ostream& o, const Barriers& b) {
  return o << b.blocks << " of blocks, " << b.warps << " of warps";
}

Barriers barriers_of(const ir::Kernel& k) {
  return {handmade::barriers(k, Sync::Kind::block), handmade::barriers(k, Sync::Kind::warp)};
}

template <class Operator, class... How>
Barriers check(const std::vector<Sizes>& shapes, const char* target, How... how) {
  Operator op{Target::parse(target), how...};
  handmade::same_on_device(op.built.program, op.s, shapes);
  return barriers_of(handmade::launched(op.s));
}

template <class Operator, class... How>
Barriers check_golden(const std::string& name, const std::vector<Sizes>& shapes, How... how) {
  Operator op{Target::parse("cuda-sm_80"), how...};
  std::string text;
  handmade::launched(op.s, &text);
  handmade::golden("warps_" + name, op.s.text() + "\n" + text);
  return check<Operator>(shapes, "cuda-sm_80", how...);
}

// Does the run of a changed kernel end with a race, or with a read that comes before its write?
bool races(const ir::Program& algorithm, const ir::Kernel& kernel, const Sizes& shape) {
  interp::Arguments run = handmade::arguments_for(algorithm, shape);
  interp::Options options;
  options.races = true;
  try {
    interp::run(kernel, run, options);
  } catch (const interp::RunError& e) {
    return e.kind == interp::RunError::Kind::race || e.kind == interp::RunError::Kind::uninitialized;
  }
  return false;
}

using Change = std::function<void(KStmt&)>;
void each(std::vector<KStmt>& list, const Change& change) {
  for (KStmt& s : list) {
    change(s);
    for (auto* part : s.bodies()) each(*part, change);
  }
}

const std::vector<Sizes> rows{{{"M", 8}}, {{"M", 5}}, {{"M", 1}}, {{"M", 0}}}, fours{{{"M", 8}}, {{"M", 4}}, {{"M", 0}}};

}  // namespace

TEST_CASE("a tile of each warp: its lanes meet") {
  using warp_operators::Reversed;
  CHECK(check_golden<Reversed>("reversed", rows, Threads::warps) == Barriers{0, 1});
  CHECK(check<Reversed>(rows, "cuda-sm_80", Threads::grid) == Barriers{0, 1});
  // used again, it is also met before it is overwritten
  CHECK(check_golden<Reversed>("reversed_again", {{{"M", 32}}, {{"M", 19}}}, Threads::warps, 32, 3) == Barriers{0, 2});
}

TEST_CASE("rows of threads that lie in warps, and rows that do not") {
  using warp_operators::Reversed;
  CHECK(check<Reversed>(rows, "cuda-sm_80", Threads::grid, 8) == Barriers{0, 1});   // a warp: four rows
  CHECK(check<Reversed>(rows, "cuda-sm_80", Threads::grid, 16) == Barriers{0, 1});  // two warps of two rows
  CHECK(check<Reversed>(rows, "cuda-sm_80", Threads::grid, 24) == Barriers{1, 0});  // three warps
  CHECK(check<Reversed>(rows, "cuda-sm_80", Threads::grid, 64) == Barriers{1, 0});
  CHECK(check<Reversed>(rows, "cuda-sm_80", Threads::grid, 12) == Barriers{1, 0});  // 48 threads: the last warp is not whole
  CHECK(check<Reversed>(rows, "cuda-sm_80", Threads::grid, 4) == Barriers{1, 0});   // 16 threads, which are not a warp
}

TEST_CASE("where a device promises no warps, the block meets") {
  using warp_operators::Reversed;
  CHECK(check<Reversed>(rows, "vulkan", Threads::grid) == Barriers{1, 0});
  CHECK(check<warp_operators::Turned>(fours, "vulkan", Threads::grid) == Barriers{2, 0});
  CHECK(check<gpu_operators::Attention>({{{"H", 2}, {"M", 2}, {"N", 70}}}, "vulkan") == Barriers{2, 0});
}

TEST_CASE("both in one kernel") {
  CHECK(check_golden<warp_operators::Turned>("turned", fours, Threads::warps) == Barriers{1, 1});
  CHECK(check<warp_operators::Turned>(fours, "cuda-sm_80", Threads::grid) == Barriers{1, 1});
}

TEST_CASE("each piece of a partitioned loop counts (fuzz seed 102159 for cuda-sm_80)") {
  CHECK(check<warp_operators::Partitioned>({{{"M", 2}}, {{"M", 0}}}, "cuda-sm_80") == Barriers{1, 0});
}

TEST_CASE("what one thread computes for others under a condition that reads memory (fuzz seed 414620 for cuda-sm_80)") {
  lang::DefinitionScope scope;
  Tensor first = lang::make_input("first", i32, {}), x = lang::make_input("x", f32, {}), y = lang::make_output("y", f32, {});
  Axis k{"k", clamp(first(), 0, 2), 2};
  Tensor twice = compute("twice", [&] { return x() * 2; });
  Tensor total = compute("total", [&] { return sum(twice(), k); });
  lang::bind(y, total);
  const lang::Built built = lang::build_program("partial", {first, x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  const Loop threads = s[total].loop(k);
  s[twice].compute_at(threads).store_in(Scope::shared);
  s[total].cross_thread_reduce(threads).bind(threads, gpu::thread_x);
  handmade::same_on_device(built.program, s, {{}});
  CHECK(handmade::barriers(handmade::launched(s)) == 2);
}

TEST_CASE("virtual threads start a reduction and step through it at points of their own (fuzz seed 402517 for cuda-sm_80)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {4, N}), y = lang::make_output("y", f32, {4, N});
  Axis k{"k", 3};
  Tensor total = compute("total", {4, N}, [&](Var i, Var j) { return sum(x(i, j) * f32(k), k); });
  lang::bind(y, total);
  const lang::Built built = lang::build_program("virtual", {x, y});
  Schedule s(built, Target::parse("cuda-sm_80"));
  auto [i, j] = s[total].spatial<2>();
  s[total].vthread(i);
  auto [jo, ji] = s[total].split(j, Parts{2});
  const Loop skewed = s[total].skew(jo, ji, 1);
  s[total].tighten(skewed);
  s[total].bind(jo, gpu::thread_x);
  handmade::same_on_device(built.program, s, {{{"N", 5}}, {{"N", 1}}, {{"N", 0}}});
  CHECK(handmade::barriers(handmade::launched(s)) == 0);
}

TEST_CASE("a transposition goes from warp to warp") {
  CHECK(check_golden<gpu_operators::Transpose>("transpose", {{{"M", 33}, {"N", 40}}, {{"M", 1}, {"N", 1}}}) == Barriers{1, 0});
}

TEST_CASE("in a block of one warp no barrier is the block's") {
  CHECK(check_golden<gpu_operators::Attention>(
            "attention", {{{"H", 2}, {"M", 2}, {"N", 70}}, {{"H", 1}, {"M", 1}, {"N", 1}}}) == Barriers{0, 2});
}

TEST_CASE("a pipeline whose tiles are of warps begins its iterations with a barrier of theirs") {
  using warp_operators::Ring;
  const std::vector<Sizes> shapes{{{"M", 8}, {"K", 7}}, {{"M", 4}, {"K", 1}}, {{"M", 4}, {"K", 0}}};
  for (int stages : {2, 3})
    for (bool async : {false, true}) {
      CAPTURE(stages);
      CAPTURE(async);
      CHECK(check<Ring>(shapes, "cuda-sm_80", stages, async, false) == Barriers{0, 1});
      CHECK(check<Ring>(shapes, "cuda-sm_80", stages, async, true) == Barriers{1, 0});
    }
  CHECK(check_golden<Ring>("ring", shapes, 3, true, false) == Barriers{0, 1});
}

TEST_CASE("warps of half the size, or a warp's barrier for a block's: a race") {
  const auto halved = [](KStmt& s) {
    if (auto* launch = s.as<ir::KLaunch>()) launch->warp /= 2;
  };
  const auto weakened = [](KStmt& s) {
    if (auto* sync = s.as<Sync>(); sync && sync->kind == Sync::Kind::block) sync->kind = Sync::Kind::warp;
  };
  const auto reported = [](const auto& op, const Sizes& shape, const Change& change) {
    ir::Kernel k = handmade::launched(op.s);
    CHECK(!races(op.built.program, k, shape));
    each(k.body, change);
    return races(op.built.program, k, shape);
  };
  const Target target = Target::parse("cuda-sm_80");
  const warp_operators::Reversed reversed(target), again(target, Threads::warps, 32, 3), wide(target, Threads::grid, 64);
  CHECK(reported(reversed, {{"M", 8}}, halved));
  CHECK(reported(again, {{"M", 24}}, halved));
  CHECK(reported(wide, {{"M", 8}}, weakened));
  const warp_operators::Turned turned(target);
  CHECK(reported(turned, {{"M", 8}}, halved));
  CHECK(reported(turned, {{"M", 8}}, weakened));
  CHECK(reported(gpu_operators::Transpose(target), {{"M", 33}, {"N", 40}}, weakened));
  for (bool async : {false, true}) {
    CHECK(reported(warp_operators::Ring(target, 3, async, false), {{"M", 8}, {"K", 7}}, halved));
    CHECK(reported(warp_operators::Ring(target, 3, async, true), {{"M", 8}, {"K", 7}}, weakened));
  }
}
