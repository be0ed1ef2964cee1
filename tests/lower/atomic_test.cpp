// Atomic stages, lowered: kernels for processors, and launches, which run with the search for races on.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/step.h>

#include "check.h"
#include "launched.h"
#include "tests/support/atomic_gpu_operators.h"

using namespace ashlar;
using gpu_operators::AtomicCounts;
using handmade::Sizes;

namespace {

const std::vector<Sizes> rows{{{"M", 5}, {"N", 70}}, {{"M", 33}, {"N", 1}}, {{"M", 2}, {"N", 0}}, {{"M", 0}, {"N", 3}}};

struct Sums {  // of rows
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", i32, {M, N}), y = lang::make_output("y", i32, {M});
  Axis k{"k", N};
  Tensor t = compute("t", {{"i", M}}, [&](Var i) { return sum(x(i, k), k); });
  lang::Built built = (lang::bind(y, t), lang::build_program("sums", {x, y}));
  Schedule s;
  explicit Sums(const char* target) : s(built, Target::parse(target)) {}
  void same() {
    if (s.target().is_gpu()) return handmade::same_on_device(built.program, s, rows);
    handmade::check_kernel(built.program, lower(s.scheduled().program, handmade::options_for(s.target())), rows);
  }
};

std::size_t updates(const std::vector<ir::KStmt>& list) {
  std::size_t n = 0;
  for (const ir::KStmt& s : list) {
    const auto* store = s.as<ir::KStore>();
    n += store && store->atomic;
    for (const auto* part : s.bodies()) n += updates(*part);
  }
  return n;
}

const std::vector<Sizes> images{{{"H", 9}, {"W", 21}}, {{"H", 20}, {"W", 3}}, {{"H", 1}, {"W", 1}}, {{"H", 0}, {"W", 4}}};
const auto gpus = {"vulkan", "cuda-sm_80"};

}  // namespace

TEST_CASE("workers count into one histogram") {
  const lang::DefinitionScope scope;
  const Symbol H{"H"}, W{"W"};
  const Tensor in = lang::make_input("in", u8, {H, W}), out = lang::make_output("out", u32, {64});
  const Tensor counts = scatter("counts", {{"b", 64}}, Combine::add, u32(0), {{"y", H}, {"x", W}},
                                [&](Var y, Var x) { return put(u32(1), in(y, x) % 64); });
  lang::bind(out, counts);
  const lang::Built built = lang::build_program("counts", {in, out});
  Schedule s(built, Target::parse("x86-64-v3"));
  const auto kernel = [&] { return lower(s.scheduled().program, handmade::options_for(s.target())); };
  s[counts].atomic();
  CHECK(updates(kernel().body) == 0);  // no two steps run at once
  s[counts].parallel(s[counts].reduction<2>()[0]);
  CHECK(updates(kernel().body) == 1);
  handmade::check_kernel(built.program, kernel(), images);
}

TEST_CASE("blocks and threads count into one histogram, which a launch before has started") {
  for (const char* target : gpus) {
    AtomicCounts t(Target::parse(target), AtomicCounts::How::blocks);
    const ir::Kernel k = handmade::launched(t.s);
    CHECK(k.body.size() == 2);
    CHECK(updates(k.body) == 1);
    CHECK(handmade::barriers(k) == 0);
    handmade::same_on_device(t.built.program, t.s, images);
  }
}

TEST_CASE("threads of a block alone: one barrier between the init and the first update") {
  for (const char* target : gpus) {
    AtomicCounts t(Target::parse(target), AtomicCounts::How::threads);
    const ir::Kernel k = handmade::launched(t.s);
    CHECK(updates(k.body) == 1);
    CHECK(handmade::barriers(k) == 1);
    handmade::same_on_device(t.built.program, t.s, images);
  }
}

TEST_CASE("private counts in shared memory, added to the result by every block") {
  for (const char* target : gpus) {
    AtomicCounts t(Target::parse(target), AtomicCounts::How::shared);
    const ir::Kernel k = handmade::launched(t.s);
    CHECK(updates(k.body) == 2);
    CHECK(handmade::barriers(k) == 2);  // the counts are started; they are counted
    handmade::same_on_device(t.built.program, t.s, images);
  }
}

TEST_CASE("updates race with a read that no barrier orders, and not with one another") {
  AtomicCounts t(Target::parse("cuda-sm_80"), AtomicCounts::How::shared);
  ir::Kernel k = handmade::launched(t.s);
  std::vector<ir::KStmt>* last = nullptr;  // the list with the last barrier
  const std::function<void(std::vector<ir::KStmt>&)> find = [&](std::vector<ir::KStmt>& list) {
    for (ir::KStmt& s : list) {
      if (s.is<ir::KSync>()) last = &list;
      for (auto* part : s.bodies()) find(*part);
    }
  };
  find(k.body);
  REQUIRE(last);
  const auto barrier = std::find_if(last->rbegin(), last->rend(), [](const ir::KStmt& s) { return s.is<ir::KSync>(); });
  last->erase(std::next(barrier).base());
  interp::Arguments a = handmade::arguments_for(t.built.program, images.front());
  interp::Options options;
  options.races = true;
  try {
    interp::run(k, a, options);
    FAIL("no race was found");
  } catch (const interp::RunError& e) {
    const std::string what = e.what();
    CAPTURE(what);
    CHECK(what.find("reads counts_rf[") != std::string::npos);
    CHECK(what.find(" atomically updated at") != std::string::npos);
  }
}

TEST_CASE("terms of a sum are threads, those past the end add nothing") {
  for (const char* target : gpus) {
    Sums t(target);
    Stage sums = t.s[t.t];
    const Loop i = sums.spatial<1>()[0];
    auto [ko, ki] = sums.split(sums.reduction(), 16);
    sums.atomic().bind(i, gpu::block_x).bind(ki, gpu::thread_x);
    t.same();
    gpu_operators::AtomicRows u(Target::parse(target), i32, [](const Expr& e, const Axis& k) { return maximum(e, k); });
    handmade::same_on_device(u.built.program, u.s, rows);
  }
}

TEST_CASE("workers share the terms of sums, and lanes the rows") {
  Sums t("x86-64-v3");
  Stage sums = t.s[t.t];
  auto [ko, ki] = sums.split(sums.reduction(), 8);
  auto [io, ii] = sums.split(sums.spatial<1>()[0], 8);
  sums.reorder(ko, io, ki, ii).atomic().parallel(ko).vectorize(ii);
  t.same();
}

TEST_CASE("updates stay updates in loops that are unrolled (fuzz seed 41001167)") {
  Sums t("x86-64-v3");
  Stage sums = t.s[t.t];
  auto [ko, ki] = sums.split(sums.reduction(), 8);
  auto [io, ii] = sums.split(sums.spatial<1>()[0], 4);
  sums.reorder(io, ko, ii, ki).atomic().parallel(ko).unroll_and_jam(ii);
  CHECK(updates(lower(t.s.scheduled().program, handmade::options_for(t.s.target())).body) >= 4);
  t.same();
}
