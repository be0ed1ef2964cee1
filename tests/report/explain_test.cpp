// explain: the text for schedules of each kind, with no device present.
#include <cstdio>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/report/explain.h>
#include <ashlar/schedule/step.h>

#include "tests/lower/check.h"
#include "report/device_figures.h"
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

TEST_CASE("bytes that are requested are those that the interpreter reads and writes") {
  // a trip of the pipelined loop loads for a later one: the last S - 1 trips load nothing
  for (int stages : {1, 2, 3, 4})
    for (std::int64_t k : {16, 64, 128}) {
      CAPTURE(stages);
      CAPTURE(k);
      gpu_operators::PipelinedProduct op{Target::parse("cuda-sm_80"), stages, true, 1};
      interp::Arguments a;
      a.emplace_back(interp::Array::zeros(f32, {64, k}));
      a.emplace_back(interp::Array::zeros(f32, {k, 32}));
      a.emplace_back(interp::Array::zeros(f32, {64, 32}));
      const interp::Counters counters = interp::run(op.s.scheduled().program, a);
      std::int64_t elements = 0;  // of A_cache and B_cache, each a load, and of C
      for (const auto& [id, n] : counters.evaluations) {
        const std::string& name = op.s.scheduled().program.stage(id).name;
        if (name == "A_cache" || name == "B_cache")
          elements += n / 64;  // computed for each of a block's 64 threads, loaded once
        if (name == "product") elements += n;
      }
      CHECK(elements == 2 * (32 * k + k * 32) + 64 * 32);  // 2 blocks, each of 32 rows of A and 32 columns of B
      const std::string text = explain(op.s, {{"M", 64}, {"N", 32}, {"K", k}});
      char bytes[80];
      std::snprintf(bytes, sizeof bytes, "requested             %.4g kB", static_cast<double>(elements * 4) / 1e3);
      CAPTURE(text);
      CHECK(says(text, bytes));
    }
}

TEST_CASE("each type of operation has a rate of its own, or none") {
  const report::DeviceFigures* a100 = report::figures_of("cuda-sm_80");
  const report::DeviceFigures* b200 = report::figures_of("cuda-sm_100a");
  REQUIRE(a100);
  REQUIRE(b200);
  CHECK(report::operations_a_second(*a100, f32, false) == 19.5e12);
  CHECK(report::operations_a_second(*a100, f16, false) == 78e12);
  CHECK(report::operations_a_second(*a100, f16, true) == 312e12);
  CHECK(report::operations_a_second(*b200, f16, true) == 2250e12);
  CHECK(report::operations_a_second(*b200, f16, false) == 0);
  CHECK(report::operations_a_second(*a100, i64, false) == 0);
  CHECK(b200->bandwidth == 7700e9);
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i64, {N}), y = lang::make_output("y", i64, {N});
  Tensor twice = compute("twice", {N}, [&](Var i) { return x(i) + x(i); });
  lang::bind(y, twice);
  const lang::Built built = lang::build_program("sums", {x, y});
  const auto text = [&](const char* target) {
    Schedule s(built, Target::parse(target));
    auto [o, i] = s[twice].split(s[twice].spatial<1>()[0], 64);
    s[twice].bind(o, gpu::block_x).bind(i, gpu::thread_x);
    return explain(s, {{"N", 1 << 20}});
  };
  CHECK(says(text("cuda-sm_80"), "(memory 10.79 us, operations 0 us); no rate is known of operations in i64"));
}

TEST_CASE("registers lie in the four parts of a multiprocessor") {
  const Target target = Target::parse("cuda-sm_80");
  const report::DeviceFigures* f = report::figures_of("cuda-sm_80");
  REQUIRE(f);
  // a warp of 41 registers a thread has 1536: 10 in each part of 16384, 40 in all; 42 would fit 65536 registers in one piece
  CHECK(report::resident_blocks(target.device(), *f, 96, 41, 0).by_registers == 13);
  CHECK(report::resident_blocks(target.device(), *f, 1024, 65, 0).by_registers == 0);
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

TEST_CASE("an access is listed once, however often its loop is visited") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, 8}), y = lang::make_output("y", f32, {N, 8});
  // the extent of the inner loop depends on i, so that every iteration of i is visited
  lang::bind(y, compute("y", {N, 8}, [&](Var i, Var j) {
               Axis k{"k", i + 1};
               return sum(x(k, j), k);
             }));
  Schedule s(lang::build_program("below", {x, y}), Target::parse("x86-64-v3"));
  auto [i, j] = s[y].spatial<2>();
  s[y].vectorize(j, 8);
  const std::string text = explain(s, {{"N", 200}});
  CHECK(says(text, "x load                1 of neighbors, up to 8 at once; 643.2 kB"));  // 200 * 201 / 2 rows of 32 bytes
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
  CHECK_THROWS_WITH_AS(explain(s, {{"M", -3}}),
                       doctest::Contains("explain: expected a size of M that its facts allow, found -3"), RefusalError);
}

TEST_CASE("explain of a processor opens with what a schedule loses most by") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N});
  Tensor wide = compute("wide", [&](Var i, Var j) { return (x(i, clamp(j, 0, N - 1)) * 2 + 1) * 3; });
  Tensor sums = compute("sums", {M, N}, [&](Var i, Var j) {
    return wide(i, j - 2) + wide(i, j - 1) + wide(i, j) + wide(i, j + 1) + wide(i, j + 2);
  });
  lang::bind(y, sums);
  const lang::Built built = lang::build_program("sums", {x, y});
  const auto opening = [&](auto schedule) {
    Schedule s(built, Target::parse("x86-64-v3"));
    schedule(s);
    const std::string text = explain(s, {{"M", 64}, {"N", 1000}});
    const std::size_t at = text.find("worst first\n");
    REQUIRE(at != std::string::npos);
    return text.substr(at + 12, text.find("\n\n") - at - 12);
  };
  // 64000 points of 4 additions, and 64256 of 3 operations
  CHECK(opening([](Schedule&) {}) ==
        "  1. sums: one element at a time, where a register holds 8 of f32\n"
        "  2. wide: one element at a time, where a register holds 8 of f32");
  CHECK(opening([&](Schedule& s) {
          auto [i, j] = s[sums].spatial<2>();
          auto [a, b] = s[wide].spatial<2>();
          s[sums].vectorize(j, 4), s[wide].compute_at(i).vectorize(b, 8);
        }) == "  1. sums: i1i has 4 lanes, where a register holds 8 of f32");
  CHECK(opening([&](Schedule& s) {  // 12 of `wide` in vectors of 8 for 8 of `sums`
          auto [i, j] = s[sums].spatial<2>();
          auto [jo, ji] = s[sums].split(j, 8);
          auto [a, b] = s[wide].spatial<2>();
          s[sums].vectorize(ji), s[wide].compute_at(jo).vectorize(b, 8);
        }) ==
        "  1. wide: 33.3 % of the operations in vectors of i1i that are not full, 25 % of the lanes without work\n"
        "  2. wide: 9.6e+04 points computed where 6.426e+04 are wanted, by being computed in i1o of sums");
  CHECK(opening([&](Schedule& s) {
          auto [i, j] = s[sums].spatial<2>();
          auto [a, b] = s[wide].spatial<2>();
          s[sums].vectorize(j, 8), s[wide].compute_at(i).vectorize(b, 8);
        }) == "  nothing costs a tenth of what full vectors take that touch each byte once");
}

TEST_CASE("sums that pass a cache in every step are among the worst") {
  lang::DefinitionScope scope;
  Symbol n{"n"};
  Tensor A = lang::make_input("A", f32, {n, n}), B = lang::make_input("B", f32, {n, n}),
         y = lang::make_output("y", f32, {n, n});
  Axis k{"k", n};
  Tensor C = compute("C", {n, n}, [&](Var i, Var j) { return ashlar::sum(A(i, k) * B(k, j), k); });
  lang::bind(y, C);
  Schedule s(lang::build_program("product", {A, B, y}), Target::parse("x86-64-v3"));
  auto [i, j] = s[C].spatial<2>();
  s[C].reorder(s[C].reduction(), i, j).vectorize(j, 8);
  const std::string text = explain(s, {{"n", 1000}});
  CAPTURE(text);
  CHECK(says(
      text,
      "worst first\n  1. C: 4000 MB stored beyond L3 for 4000 kB of results, 4068 MB loaded for 8000 kB that are touched"));
  CHECK(says(text, "; cache_write(C, Scope::registers) keeps sums until they are whole\n"));
}
