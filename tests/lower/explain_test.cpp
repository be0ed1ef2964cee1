// explain: the text for schedules of each kind, with no device present.
#include <ashlar/ir/refusal.h>
#include <ashlar/lower/explain.h>

#include "check.h"
#include "tests/support/gpu_operators.h"
#include "tests/support/warp_operators.h"

using namespace ashlar;

namespace {

template <class Operator, class... How>
std::string explained(const char* target, const ExplainSizes& sizes, How... how) {
  Operator op{Target::parse(target), how...};
  return explain(op.s, sizes);
}

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("what launches take of a device") {
  const ExplainSizes matrix{{"M", 1024}, {"N", 1024}};
  std::string text = explained<gpu_operators::AddBias>("cuda-sm_80", matrix);
  text += "\n" + explained<gpu_operators::Transpose>("cuda-sm_80", matrix);
  text += "\n" + explained<gpu_operators::SoftmaxTree>("cuda-sm_90a", matrix);
  text += "\n" + explained<gpu_operators::SumTree>("cuda-sm_80", {{"N", 1 << 20}});
  text += "\n" + explained<gpu_operators::PipelinedProduct>("cuda-sm_100a", {{"M", 1024}, {"N", 1024}, {"K", 512}}, 3, true, 1);
  text += "\n" + explained<gpu_operators::Transpose>("vulkan", {});
  text += "\n" + explained<warp_operators::Turned>("cuda-sm_80", {{"M", 1024}});
  handmade::golden("explain", text);
}

TEST_CASE("what the figures say") {
  // 64 threads are 2 warps: 32 blocks of them fill the multiprocessor's 2048 threads, and are all that it holds
  const std::string sums = explained<gpu_operators::AddBias>("cuda-sm_80", {{"M", 64}, {"N", 4096}});
  CHECK(says(sums, "32 blocks a multiprocessor, 64 of 64 warps (100 %), limited by threads and blocks"));
  CHECK(says(sums, "operations            262.1 k"));  // one addition an element
  CHECK(says(sums, "2114 kB, each once"));             // 64 * 4096 in and out, 4096 more: 4 bytes each
  // rows of 33 elements: a column lies in 32 banks; rows of 32 in one
  gpu_operators::Transpose padded{Target::parse("cuda-sm_80")}, plain{Target::parse("cuda-sm_80")};
  CHECK(says(explain(padded.s), "x_cache load          shared: bank conflicts 1, 1 wavefront"));
}

TEST_CASE("sizes name symbols") {
  gpu_operators::AddBias op{Target::parse("cuda-sm_80")};
  try {
    explain(op.s, {{"Q", 3}});
    FAIL("accepted");
  } catch (const RefusalError& e) {
    CHECK(e.refusal.text().find("explain_test.cpp") == 0);
    CHECK(says(e.refusal.text(), "expected sizes of symbols of add_bias, found Q"));
  }
}

TEST_CASE("what a kernel takes of a processor") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {N, M});
  Tensor twice = compute("twice", {M, N}, [&](Var i, Var j) { return x(i, j) * 2; });
  lang::bind(y, compute("y", {N, M}, [&](Var i, Var j) { return twice(j, i) + 1; }));
  Schedule s(lang::build_program("turned", {x, y}), Target::parse("x86-64-v3"));
  auto [i, j] = s[y].spatial<2>();
  s[y].parallel(i).vectorize(j, 8);
  auto [a, b] = s[twice].spatial<2>();
  s[twice].parallel(a).vectorize(b, 8);
  handmade::golden("explain_processor", explain(s, {{"M", 512}, {"N", 512}}));
}
