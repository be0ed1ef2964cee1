// gpu_matmul on tensor cores: every type and way that the factors lie, ragged shapes, rows that begin at multiples of 16 bytes
// and rows that do not, in the interpreter of launches with the search for races; when it takes tensor cores, and what it
// refuses. Small whole numbers are exact in any order of addition.

#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/ops.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules.h>

#include "tests/schedules/scheduled.h"
#include "tests/support/launched.h"

using namespace ashlar;

namespace {

struct Kind {
  const char* name;
  Type type;
  bool transposed_a = false, transposed_b = false, relu = false;
  schedules::GpuMatmulOptions::Math math = schedules::GpuMatmulOptions::Math::by_type;
  int stages = 0;
};

struct Scheduled {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  Tensor A, B, C, result;
  ops::Product p;
  lang::Built built;
  Schedule s;

  explicit Scheduled(const Kind& kind, const char* target = "cuda-sm_80")
      : A(lang::make_input("A", kind.type, kind.transposed_a ? std::vector<Extent>{K, M} : std::vector<Extent>{M, K})),
        B(lang::make_input("B", kind.type, kind.transposed_b ? std::vector<Extent>{N, K} : std::vector<Extent>{K, N})),
        p(ops::matmul(A, B, {.transpose_a = kind.transposed_a, .transpose_b = kind.transposed_b})),
        built((bind(kind.relu),
               lang::build_program("product", {lang::ArgumentRef(A), lang::ArgumentRef(B), lang::ArgumentRef(C)}))),
        s(built, Target::parse(target)) {}
  void bind(bool relu) {
    result = relu ? ops::relu(p.result) : p.result;
    C = lang::make_output("C", result.type(), result.shape().extents());
    lang::bind(C, result);
  }
  std::optional<Refusal> by_family(const Kind& kind) {
    const schedules::GpuMatmulOptions o{
        .math = kind.math, .stages = kind.stages, .transposed_a = kind.transposed_a, .transposed_b = kind.transposed_b};
    return s.attempt([&] {
      if (kind.relu && p.result.id() != p.sum.id()) s[p.result].inline_();
      if (result.id() == p.sum.id())
        schedules::gpu_matmul(s, s[p.sum], A, B, o);
      else
        schedules::gpu_matmul(s, s[p.sum], A, B, s[result], o);
    });
  }
  bool on_tensor_cores() const { return s.text().find("by mma_") != std::string::npos; }
};

interp::Array numbers(Type t, std::vector<std::int64_t> shape, unsigned seed) {
  return launched::whole_numbers(t, std::move(shape), seed, t.is_unsigned() ? 0 : -3, t.is_unsigned() ? 6 : 3);
}

}  // namespace

TEST_CASE("gpu_matmul on tensor cores computes what the algorithm says") {
  using Math = schedules::GpuMatmulOptions::Math;
  const Kind kinds[] = {{"bf16", bf16},
                        {"f16, A [k, i]", f16, true},
                        {"bf16, B [j, k], relu", bf16, false, true, true},
                        {"f16, both", f16, true, true},
                        {"i8, B [j, k]", i8, false, true},
                        {"u8", u8},
                        {"f32 as tf32", f32, false, true, false, Math::tf32},
                        {"f32 as two tf32", f32, false, false, true, Math::tf32_twice},
                        {"bf16 without a pipeline", bf16, false, false, false, Math::by_type, 1},
                        {"f16, a ring of three", f16, false, true, false, Math::by_type, 3},
                        {"bf16, a ring of five", bf16, true, false, true, Math::by_type, 5}};
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    Scheduled op(kind);
    const auto refused = op.by_family(kind);
    REQUIRE_MESSAGE(!refused, (refused ? refused->expected + ", found " + refused->found : ""));
    CHECK(op.on_tensor_cores());
    schedule::finish(op.s.scheduled(), op.s.target());
    const ir::Kernel k = lower(op.s.scheduled().program, options_for(op.s.target()));
    struct Shape {
      std::int64_t m, n, k;
    };
    for (const Shape& shape : {Shape{130, 72, 48}, Shape{65, 129, 33}, Shape{40, 16, 0}}) {
      CAPTURE(shape.m);
      interp::Arguments given;
      given.emplace_back(
          numbers(kind.type, kind.transposed_a ? std::vector{shape.k, shape.m} : std::vector{shape.m, shape.k}, 1));
      given.emplace_back(
          numbers(kind.type, kind.transposed_b ? std::vector{shape.n, shape.k} : std::vector{shape.k, shape.n}, 2));
      given.emplace_back(interp::Array::zeros(op.C.type(), {shape.m, shape.n}));
      launched::expect_as_defined(op.built.program, k, given, {.misaligned = {0, 2}});
    }
  }
}

TEST_CASE("gpu_matmul takes tensor cores for narrow types, and for f32 where they are asked for") {
  using Math = schedules::GpuMatmulOptions::Math;
  const auto takes = [](Kind kind, const char* target = "cuda-sm_80") {
    Scheduled op(kind, target);
    const auto refused = op.by_family(kind);
    return refused ? refused->expected + ", found " + refused->found : op.on_tensor_cores() ? "tensor cores" : "fma";
  };
  CHECK(takes({"bf16", bf16}) == "tensor cores");
  CHECK(takes({"f16", f16}, "cuda-sm_90a") == "tensor cores");
  CHECK(takes({"bf16", bf16}, "vulkan") == "fma");
  CHECK(takes({"bf16", bf16, false, false, false, Math::exact}) == "fma");
  CHECK(takes({"i8", i8, false, true}) == "tensor cores");
  CHECK(takes({"f32", f32}) == "fma");
  CHECK(takes({"f32", f32, false, false, false, Math::tf32}) == "tensor cores");
  CHECK(takes({"f64", f64}) == "fma");
  CHECK(takes({"bf16", bf16, false, false, false, Math::tf32}) == "factors and sums of f32 for tf32, found bf16, bf16 and f32");
  CHECK(takes({"f32", f32, false, false, false, Math::tf32}, "vulkan") ==
        "a CUDA device, and no tiles of threads, for tf32, found vulkan");
}

TEST_CASE("the default schedule takes tensor cores, and says so; not where sums keep their order") {
  const auto chosen = [](Type type, const schedules::DefaultOptions& o) {
    Scheduled op({"", type});
    const std::string text = schedule_by_default(op.s, o).text();
    CHECK((text.find("products by tensor cores") != std::string::npos) == op.on_tensor_cores());
    return op.on_tensor_cores();
  };
  CHECK(chosen(bf16, {}));
  CHECK(chosen(f16, {}));
  CHECK_FALSE(chosen(f32, {}));
  CHECK_FALSE(chosen(bf16, {.regroup = false}));
  CHECK_FALSE(chosen(bf16, {.tensor_cores = false}));
  CHECK(chosen(i8, {.regroup = false}));  // integers are exact
}

TEST_CASE(
    "few results of many terms are summed in parts where the order of the sum is free, and the default schedule says so") {
  using Math = schedules::GpuMatmulOptions::Math;
  struct Sizes {
    std::int64_t m, n, k;
  };
  // Terms of a part: of the family, and of the default schedule with these options. 0: one sum.
  const auto part = [](Type type, const Sizes& size, const schedules::GpuMatmulOptions& o,
                       const schedules::DefaultOptions* by = nullptr) {
    const lang::DefinitionScope scope;
    const Tensor A = lang::make_input("A", type, {size.m, size.k}), B = lang::make_input("B", type, {size.k, size.n});
    const ops::Product p = ops::matmul(A, B);
    const Tensor C = lang::make_output("C", p.sum.type(), {size.m, size.n});
    lang::bind(C, p.sum);
    Schedule s(lang::build_program("product", {lang::ArgumentRef(A), lang::ArgumentRef(B), lang::ArgumentRef(C)}),
               Target::parse("cuda-sm_80"));
    std::string said;
    if (by)
      said = schedule_by_default(s, *by).text();
    else
      schedules::gpu_matmul(s, s[C], A, B, o);
    std::int64_t terms = 0;
    for (const auto& [id, stage] : s.scheduled().program.stages) {
      if (stage.name.find("_rf") == std::string::npos || !stage.is_reduction()) continue;
      REQUIRE(ir::is_int(stage.iters.back().end, &terms));
      if (by) CHECK(said.find("of " + std::to_string(terms) + " terms each, then their sum") != std::string::npos);
    }
    return terms;
  };
  const Sizes small{64, 128, 8192};  // two blocks of 64 x 64, of 108 multiprocessors
  CHECK(part(bf16, small, {}) == 512);
  CHECK(part(f16, {64, 64, 1 << 17}, {}) == 1216);  // 108 parts: more than 512 terms each, in steps of 32
  CHECK(part(i8, small, {}) == 512);
  CHECK(part(bf16, {64, 128, 1000}, {}) == 0);
  CHECK(part(bf16, {2048, 2048, 8192}, {}) == 0);
  CHECK(part(bf16, small, {.part_k = 100}) == 128);
  CHECK(part(bf16, small, {.part_k = schedules::GpuMatmulOptions::all_k}) == 0);
  CHECK(part(bf16, small, {.part_k = 8192}) == 0);
  CHECK(part(bf16, small, {.math = Math::exact}) == 0);
  CHECK(part(f32, small, {}) == 0);
  CHECK(part(f32, small, {.part_k = 1000}) == 1000);
  CHECK(part(f32, small, {.math = Math::tf32}) == 512);
  const schedules::DefaultOptions usual, in_order{.regroup = false};
  CHECK(part(bf16, small, {}, &usual) == 512);
  CHECK(part(bf16, small, {}, &in_order) == 0);
  CHECK(part(i8, small, {}, &in_order) == 512);
  CHECK(part(f32, small, {}, &usual) == 0);
}

TEST_CASE("a strict_sum is no product for this family, whatever its factors are") {
  using Math = schedules::GpuMatmulOptions::Math;
  const auto scheduled = [](Type type, Math math) {
    const lang::DefinitionScope scope;
    const Symbol M{"M"}, N{"N"}, K{"K"};
    const Tensor A = lang::make_input("A", type, {M, K}), B = lang::make_input("B", type, {K, N}),
                 C = lang::make_output("C", f32, {M, N});
    const Axis k{"k", K};
    lang::bind(C, compute("C", {M, N}, [&](Var i, Var j) { return strict_sum(f32(A(i, k)) * f32(B(k, j)), k); }));
    Schedule s(lang::build_program("product", {lang::ArgumentRef(A), lang::ArgumentRef(B), lang::ArgumentRef(C)}),
               Target::parse("cuda-sm_80"));
    const auto refused = s.attempt([&] { schedules::gpu_matmul(s, s[C], A, B, {.math = math}); });
    if (refused) return refused->expected + ", found " + refused->found;
    return std::string(s.text().find("by mma_") == std::string::npos ? "fma" : "tensor cores");
  };
  for (const Type type : {bf16, f32})
    CHECK(scheduled(type, Math::by_type) == "a sum over one dimension, of two to 4 dimensions, found C");
}

TEST_CASE("where extents are Symbols, calls with few results of many terms add them in parts") {
  const auto said = [](Type type, const char* target = "cuda-sm_80", const schedules::DefaultOptions& o = {}) {
    Scheduled op({"", type}, target);
    const std::string text = schedule_by_default(op.s, o).text();
    const bool variant = !op.s.scheduled().program.variants.empty();
    CHECK(variant == (text.find(", whose terms are added in parts") != std::string::npos));
    return variant;
  };
  CHECK(said(f16, "cuda-sm_90a"));
  CHECK(said(i8, "cuda-sm_80", {.regroup = false}));
  CHECK_FALSE(said(bf16, "cuda-sm_80", {.regroup = false}));
  CHECK_FALSE(said(bf16, "cuda-sm_80", {.tensor_cores = false}));
  CHECK_FALSE(said(f32));
  CHECK_FALSE(said(bf16, "vulkan"));

  CHECK(said(bf16));
  Scheduled op({"", bf16, false, false, true});
  CHECK(schedule_by_default(op.s).text().find(
            "a variant for (M + 63) / 64 * ((N + 63) / 64) <= 54 && K >= 1024 && K <= 65536") != std::string::npos);
  const ir::Kernel k = lower(op.s.scheduled().program, options_for(op.s.target()));
  struct Shape {
    std::int64_t m, n, k, misaligned;
  };
  for (const Shape& shape : {Shape{3, 5, 1030, 0}, Shape{2, 66, 1024, 2}, Shape{0, 7, 2000, 0}, Shape{65, 5, 40, 0}}) {
    CAPTURE(shape.n);
    CAPTURE(shape.k);
    interp::Arguments given;
    given.emplace_back(numbers(bf16, {shape.m, shape.k}, 1));
    given.emplace_back(numbers(bf16, {shape.k, shape.n}, 2));
    given.emplace_back(interp::Array::zeros(op.C.type(), {shape.m, shape.n}));
    launched::expect_as_defined(op.built.program, k, given, {.misaligned = {shape.misaligned}, .races = shape.m == 3});
  }
}
