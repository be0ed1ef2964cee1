// The synchronization that lowering puts in is enough, and all needed: a kernel runs in race mode without a report; without one
// of its barriers, waits or commits, or with a wait that leaves one more group pending, or with a barrier of the warp where one
// of the block stood, it is reported, or computes something else.
#include <ashlar/schedule/step.h>

#include "tests/lower/check.h"
#include "tests/lower/launched.h"
#include "tests/support/gpu_operators.h"
#include "tests/support/mma_operators.h"

using namespace ashlar;
using handmade::Sizes;
using ir::KStmt;

namespace {

struct Mutants {
  ir::Kernel work;
  std::vector<std::pair<std::string, ir::Kernel>> found;
  int warp = 1;  // of the launch around

  void visit(std::vector<KStmt>& list) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (const auto* launch = list[k].as<ir::KLaunch>()) warp = launch->warp;
      for (auto* part : list[k].bodies()) visit(*part);
      if (!list[k].is<ir::KSync>()) continue;
      const KStmt held = list[k];
      const ir::Sync& sync = held.get<ir::KSync>();
      if (sync.kind == ir::Sync::Kind::wait) {
        list[k].get<ir::KSync>().count = ir::add(sync.count, ir::index(1));
        found.emplace_back("one more pending", work);
        list[k] = held;
      }
      if (sync.kind == ir::Sync::Kind::block && warp > 1) {
        list[k].get<ir::KSync>().kind = ir::Sync::Kind::warp;
        found.emplace_back("of the warp, number " + std::to_string(k), work);
        list[k] = held;
      }
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(k));
      found.emplace_back("without sync " + std::to_string(static_cast<int>(sync.kind)) + " number " + std::to_string(k), work);
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(k), held);
    }
  }
};

template <class Operator, class... How>
std::size_t all_are_found(const std::vector<Sizes>& shapes, const char* target, How... how) {
  Operator op{Target::parse(target), how...};
  handmade::same_on_device(op.built.program, op.s, shapes);
  Mutants m{handmade::launched(op.s), {}};
  m.visit(m.work.body);
  for (const auto& [what, kernel] : m.found) {
    CAPTURE(what);
    bool found = false;
    for (const Sizes& shape : shapes) {
      interp::Arguments expected = handmade::arguments_for(op.built.program, shape), run = expected;
      interp::run_algorithm(op.built.program, expected);
      interp::Options options;
      options.races = true;
      try {
        interp::run(kernel, run, options);
        for (std::size_t n = 0; n < run.size(); ++n)
          found = found || interp::difference(run[n].array, expected[n].array, 1e-6, 1e-6) != "";
      } catch (const interp::RunError&) { found = true; }
    }
    CHECK(found);
  }
  return m.found.size();
}

}  // namespace

TEST_CASE("every barrier of a reduction over threads is needed") {
  CHECK(all_are_found<gpu_operators::SoftmaxTree>({{{"M", 2}, {"N", 100}}}, "vulkan") == 4);
  CHECK(all_are_found<gpu_operators::SoftmaxTree>({{{"M", 2}, {"N", 100}}}, "cuda-sm_80") ==
        4);  // two barriers: none, of the warp
  CHECK(all_are_found<gpu_operators::SumTree>({{{"N", 9000}}}, "vulkan") == 4);
  CHECK(all_are_found<gpu_operators::RowSums>({{{"M", 5}, {"N", 40}}}, "vulkan") == 2);
}

TEST_CASE("every barrier, wait and commit of a pipeline is needed") {
  // more trips than twice the depth; fewer than the depth
  const std::vector<Sizes> shapes{{{"M", 32}, {"N", 32}, {"K", 112}}, {{"M", 33}, {"N", 8}, {"K", 20}}};
  using P = gpu_operators::PipelinedProduct;
  CHECK(all_are_found<P>(shapes, "vulkan", 2, false, 1) == 1);
  CHECK(all_are_found<P>(shapes, "vulkan", 3, false, 1) == 1);
  CHECK(all_are_found<P>(shapes, "cuda-sm_80", 2, true, 1) == 6);  // wait twice, barrier twice, two commits
  CHECK(all_are_found<P>(shapes, "cuda-sm_80", 3, true, 1) == 7);
  CHECK(all_are_found<P>(shapes, "vulkan", 2, false, 2) == 1);
}

TEST_CASE("every barrier of a product of fragments is needed, whatever guards its stores to the result") {
  // whole, ragged, one tile of an instruction; more trips than the depth
  const std::vector<Sizes> shapes{
      {{"M", 80}, {"N", 72}, {"K", 112}}, {{"M", 128}, {"N", 64}, {"K", 64}}, {{"M", 16}, {"N", 8}, {"K", 16}}};
  const auto product = [&](const mma_operators::Options& o) {
    return all_are_found<mma_operators::Product>(shapes, "cuda-sm_80", o);
  };
  // of each block barrier two mutants: without, and of the warp
  CHECK(product({.stages = 1}) == 4);
  CHECK(product({.stages = 2}) == 2);
  CHECK(product({.stages = 3}) == 7);  // wait twice, barrier twice, three commits
  CHECK(product({.stages = 2, .virtual_threads = false, .relu = true}) == 2);
  CHECK(product({.half = bf16, .stages = 2, .matrices = true}) == 2);
}
