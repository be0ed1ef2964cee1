// gpu_attention: one launch, for lengths that no tile divides, rows that begin at multiples of 16 bytes and rows that do not,
// in the interpreter of launches with the search for races; when the default schedule takes it, and what it refuses.
#include <cmath>
#include <limits>

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
  Type type = bf16;
  int D = 64, E = 64, groups = 1;
  ops::Causal causal = ops::Causal::no;
  enum class Mask { none, added, seen } mask = Mask::none;
  bool finite = false;
  int window = 0;
  bool rounded = false;
};

struct Scheduled {
  lang::DefinitionScope scope;
  Symbol B{"B"}, H{"H"}, M{"M"}, N{"N"};
  Tensor q, k, v, mask, out;
  ops::Attention y;
  lang::Built built;
  Schedule s;

  explicit Scheduled(const Kind& kind, const char* target = "cuda-sm_80")
      : q(lang::make_input("q", kind.type, {B, H * kind.groups, M, kind.D})),
        k(lang::make_input("k", kind.type, {B, H, N, kind.D})),
        v(lang::make_input("v", kind.type, {B, H, N, kind.E})),
        built(defined(kind)),
        s(built, Target::parse(target)) {}
  lang::Built defined(const Kind& kind) {
    std::vector<lang::ArgumentRef> arguments{q, k, v};
    if (kind.mask != Kind::Mask::none) {
      mask = lang::make_input("mask", kind.mask == Kind::Mask::seen ? bool_ : kind.type, {M, N});
      arguments.emplace_back(mask);
    }
    y = ops::attention(
        q, k, v,
        {.causal = kind.causal, .groups = kind.groups, .window = kind.window, .finite = kind.finite, .rounded = kind.rounded},
        mask);
    out = lang::make_output("y", kind.type, y.result.shape().extents());
    lang::bind(out, y.result);
    arguments.emplace_back(out);
    return lang::build_program("attention", arguments);
  }
  std::string refusal(const schedules::GpuAttentionOptions& o = {}) {
    const auto refused = s.attempt([&] { schedules::gpu_attention(s, y, o); });
    return refused ? refused->expected + ", found " + refused->found : "";
  }
  std::size_t launches() const {
    std::size_t n = 0;
    const std::string text = s.text();
    for (std::size_t at = 0; (at = text.find("  block_x", at)) != std::string::npos; ++at) ++n;
    return n;
  }
};

interp::Array numbers(Type t, std::vector<std::int64_t> shape, unsigned seed) {
  return launched::whole_numbers(t, std::move(shape), seed, -32, 32, 32);
}

}  // namespace

TEST_CASE("gpu_attention computes what the algorithm says") {
  const std::pair<Kind, schedules::GpuAttentionOptions> cases[] = {
      {{"bf16"}, {}},
      {{"bf16, a query of 80, a value of 128", bf16, 80, 128}, {}},
      {{"bf16, values in two parts", bf16, 16, 160}, {}},
      {{"bf16, rows of whole vectors", bf16, 40, 24}, {}},
      {{"f16, rows of any length", f16, 36, 7}, {}},
      {{"f16, groups, values longer than keys", f16, 32, 48, 2}, {}},
      {{"bf16, an added mask, other tiles", bf16, 16, 16, 1, ops::Causal::no, Kind::Mask::added},
       {.block_i = 32, .block_j = 16}},
      {{"f16, causal", f16, 16, 16, 1, ops::Causal::first, Kind::Mask::none, true}, {}},
      {{"bf16, causal from the ends, a window", bf16, 16, 32, 1, ops::Causal::last, Kind::Mask::none, true, 40}, {}},
      {{"bf16, a mask of bool", bf16, 16, 16, 1, ops::Causal::no, Kind::Mask::seen, true}, {}},
      {{"bf16, causal, v of any value", bf16, 16, 32, 1, ops::Causal::last}, {}},
      {{"bf16, causal, a window, v of any value", bf16, 16, 32, 1, ops::Causal::last, Kind::Mask::none, false, 20},
       {.block_i = 16, .block_j = 16}},
      {{"bf16, rounded weights", bf16, 32, 32, 1, ops::Causal::no, Kind::Mask::none, false, 0, true}, {}},
      {{"f16, causal, rounded weights", f16, 16, 16, 1, ops::Causal::first, Kind::Mask::none, false, 0, true}, {}},
      {{"bf16, causal, rounded weights, finite", bf16, 16, 16, 1, ops::Causal::last, Kind::Mask::none, true, 0, true}, {}},
      {{"f16, a mask of bool, groups, v of any value", f16, 16, 24, 2, ops::Causal::no, Kind::Mask::seen}, {}}};
  for (const auto& [kind, options] : cases) {
    CAPTURE(kind.name);
    Scheduled op(kind);
    REQUIRE(op.refusal(options) == "");
    CHECK(op.launches() == 1);
    schedule::finish(op.s.scheduled(), op.s.target());
    const ir::Kernel kernel = lower(op.s.scheduled().program, options_for(op.s.target()));
    struct Shape {
      std::int64_t b, h, m, n;
    };
    for (const Shape& shape : {Shape{1, 2, 70, 45}, Shape{2, 1, 33, 64}, Shape{1, 1, 1, 129}, Shape{1, 1, 1, 1},
                               Shape{1, 1, 5, 0}, Shape{1, 1, 0, 3}}) {
      CAPTURE(shape.m);
      CAPTURE(shape.n);
      interp::Arguments given;
      given.emplace_back(numbers(kind.type, {shape.b, shape.h * kind.groups, shape.m, kind.D}, 1));
      given.emplace_back(numbers(kind.type, {shape.b, shape.h, shape.n, kind.D}, 2));
      given.emplace_back(numbers(kind.type, {shape.b, shape.h, shape.n, kind.E}, 3));
      if (kind.mask == Kind::Mask::seen)
        given.emplace_back(
            interp::Array::make(bool_, {shape.m, shape.n}, [](auto at) { return at[0] > 2 && (at[0] * 5 + at[1]) % 3 > 0; }));
      else if (kind.mask == Kind::Mask::added)
        given.emplace_back(numbers(kind.type, {shape.m, shape.n}, 4));
      given.emplace_back(interp::Array::zeros(kind.type, {shape.b, shape.h * kind.groups, shape.m, kind.E}));
      // A place of bf16. Rounded weights are relative to the maximum of a tile, not to that of all keys: a place of each.
      launched::expect_as_defined(op.built.program, kernel, given,
                                  {.misaligned = {0, 2}, .relative = kind.rounded ? 1.2e-2 : 4e-3, .absolute = 1e-3});
    }
  }
}

TEST_CASE("scores of an attention are computed once, and lie in no memory") {
  Scheduled op({"bf16"});
  REQUIRE(op.refusal() == "");
  const ir::Program& p = op.s.scheduled().program;
  int scores = 0;
  for (const auto& [id, stage] : p.stages) scores += stage.name.starts_with("attention_scores") && stage.is_reduction();
  CHECK(scores == 1);
  for (const auto& [id, b] : p.buffers)
    if (b.name.starts_with("attention_")) CHECK((b.scope == Scope::fragment || b.role != ir::Role::temporary));
}

TEST_CASE("tiles of keys that no query of the block sees are left out") {
  // The iterations of the loop over tiles of 32 keys, by block of 64 queries.
  const auto loop_of = [](const Kind& kind) {
    Scheduled op(kind);
    REQUIRE(op.refusal() == "");
    schedule::finish(op.s.scheduled(), op.s.target());
    LowerOptions options = options_for(op.s.target());
    std::string found;
    options.observe = [&](std::string_view pass, const std::string& text) {
      const std::size_t at = text.find("for jo in ");
      if (pass == "flatten") found = text.substr(at, text.find('\n', at) - at);
    };
    (void)lower(op.s.scheduled().program, options);
    return found;
  };
  const std::string all = "for jo in [0, +(N + 31) / 32)", last = "max(io * 2 + (N - M + 31) / 32 + 2, 1)",
                    first_of_window = "max(io * 2 + (N - M + 29) / 32 - 4, 0)";
  for (const bool finite : {false, true}) {
    const auto causal = [&](ops::Causal c, int window = 0) {
      return Kind{"causal", bf16, 16, 16, 1, c, Kind::Mask::none, finite, window};
    };
    CHECK(loop_of(causal(ops::Causal::first)) == "for jo in [0, +min(io * 2 + 2, (N + 31) / 32))");
    CHECK(loop_of(causal(ops::Causal::last)) == "for jo in [0, +min((N + 31) / 32, " + last + "))");
    CHECK(loop_of(causal(ops::Causal::last, 100)) ==
          "for jo in [" + first_of_window + ", +min((N + 31) / 32, " + last + ") - " + first_of_window + ")");
  }
  CHECK(loop_of({"all keys"}) == all);
  CHECK(loop_of({"a mask of bool", bf16, 16, 16, 1, ops::Causal::no, Kind::Mask::seen}) == all);
  CHECK(loop_of({"an added mask", bf16, 16, 16, 1, ops::Causal::first, Kind::Mask::added}) ==
        "for jo in [0, +min(io * 2 + 2, (N + 31) / 32))");
}

TEST_CASE("scores that are minus infinity, and rows that see nothing, give what the algorithm gives") {
  const Kind kind{"bf16", bf16, 16, 16, 1, ops::Causal::no, Kind::Mask::added};
  Scheduled op(kind);
  REQUIRE(op.refusal() == "");
  schedule::finish(op.s.scheduled(), op.s.target());
  const ir::Kernel kernel = lower(op.s.scheduled().program, options_for(op.s.target()));
  const std::int64_t m = 20, n = 100;
  interp::Arguments given;
  given.emplace_back(numbers(bf16, {1, 1, m, 16}, 1)), given.emplace_back(numbers(bf16, {1, 1, n, 16}, 2));
  given.emplace_back(numbers(bf16, {1, 1, n, 16}, 3));
  given.emplace_back(interp::Array::make(bf16, {m, n}, [](auto at) {  // the first tile, the last one, all of a row, parts
    const bool none = at[0] == 0 ? at[1] < 40 : at[0] == 1 ? at[1] >= 64 : at[0] == 2 ? true : (at[0] + at[1]) % 3 == 0;
    return none ? -std::numeric_limits<double>::infinity() : static_cast<double>(at[1] % 7);
  }));
  given.emplace_back(interp::Array::zeros(bf16, {1, 1, m, 16}));
  interp::Arguments meant = given;
  interp::run_algorithm(op.built.program, meant);
  REQUIRE_NOTHROW(interp::run(kernel, given, {}));
  CHECK(interp::difference(given.back().array, meant.back().array, 4e-3, 1e-3) == "");
}

TEST_CASE("v of keys that a query does not see may be infinite or NaN") {
  for (const Type type : {bf16, f16}) {
    const Kind kind{"causal", type, 16, 16, 1, ops::Causal::first};
    Scheduled op(kind);
    REQUIRE(op.refusal() == "");
    schedule::finish(op.s.scheduled(), op.s.target());
    const ir::Kernel kernel = lower(op.s.scheduled().program, options_for(op.s.target()));
    const std::int64_t n = 70;
    interp::Arguments given;
    for (unsigned seed : {1u, 2u}) given.emplace_back(numbers(type, {1, 1, n, 16}, seed));
    given.emplace_back(interp::Array::make(type, {1, 1, n, 16}, [](auto at) {
      const double infinity = std::numeric_limits<double>::infinity();
      if (at[3] == 1 && at[2] == 9) return infinity;
      if (at[3] == 2 && (at[2] == 33 || at[2] == 40)) return at[2] == 33 ? infinity : -infinity;
      if (at[3] == 3 && at[2] == 50) return std::numeric_limits<double>::quiet_NaN();
      return static_cast<double>((at[2] * 5 + at[3] * 3) % 7) - 3;
    }));
    given.emplace_back(interp::Array::zeros(type, {1, 1, n, 16}));
    interp::Arguments meant = given;
    interp::run_algorithm(op.built.program, meant);
    const auto value = [&](std::int64_t i, std::int64_t e) { return meant.back().array.real({0, 0, i, e}); };
    CHECK(std::isfinite(value(8, 1)));
    CHECK(value(9, 1) > 1e30);
    CHECK(value(39, 2) > 1e30);
    CHECK(std::isnan(value(40, 2)));
    CHECK(std::isfinite(value(49, 3)));
    CHECK(std::isnan(value(50, 3)));
    REQUIRE_NOTHROW(interp::run(kernel, given, {}));
    CHECK(interp::difference(given.back().array, meant.back().array, 4e-3, 1e-3) == "");
  }
}

TEST_CASE("the default schedule computes attention in one launch where tensor cores may, and says so") {
  const auto chosen = [](const Kind& kind, const char* target = "cuda-sm_80", const schedules::DefaultOptions& o = {}) {
    Scheduled op(kind, target);
    const std::string text = schedule_by_default(op.s, o).text();
    const bool one = text.find("attention in one launch") != std::string::npos;
    if (one) CHECK(op.launches() == 1);
    return one;
  };
  CHECK(chosen({"bf16"}));
  CHECK(chosen({"f16, groups", f16, 64, 64, 4}, "cuda-sm_90a"));
  CHECK(chosen({"an added mask", bf16, 64, 64, 1, ops::Causal::no, Kind::Mask::added}));
  CHECK(chosen({"causal, finite", bf16, 64, 64, 1, ops::Causal::last, Kind::Mask::none, true}));
  CHECK_FALSE(chosen({"f32", f32}));
  CHECK(chosen({"causal", bf16, 64, 64, 1, ops::Causal::last}));
  CHECK(chosen({"rounded", bf16, 64, 64, 1, ops::Causal::last, Kind::Mask::none, false, 0, true}));
  CHECK(chosen({"a mask of bool", bf16, 64, 64, 1, ops::Causal::no, Kind::Mask::seen}));
  CHECK(chosen({"a length that 16 does not divide", bf16, 40, 40}));
  CHECK_FALSE(chosen({"bf16"}, "vulkan"));
  CHECK_FALSE(chosen({"bf16"}, "cuda-sm_80", {.regroup = false}));
  CHECK_FALSE(chosen({"bf16"}, "cuda-sm_80", {.tensor_cores = false}));
}

TEST_CASE("attention without tensor cores is products and rows") {
  for (const Kind& kind : {Kind{"f32", f32}, Kind{"causal", bf16, 64, 64, 1, ops::Causal::last}}) {
    CAPTURE(kind.name);
    Scheduled op(kind);
    const std::string text = schedule_by_default(op.s, {.tensor_cores = false}).text();
    CHECK(text.find("no families for devices") == std::string::npos);
    CHECK(text.find("gpu_matmul") != std::string::npos);
    CHECK(text.find("gpu_rows") != std::string::npos);
    schedule::finish(op.s.scheduled(), op.s.target());
    const ir::Kernel kernel = lower(op.s.scheduled().program, options_for(op.s.target()));
    interp::Arguments given;
    for (const auto& [n, seed] : {std::pair{40, 1u}, {45, 2u}, {45, 3u}})
      given.emplace_back(numbers(kind.type, {1, 1, n, 64}, seed));
    given.emplace_back(interp::Array::zeros(kind.type, {1, 1, 40, 64}));
    interp::Arguments meant = given;
    interp::run_algorithm(op.built.program, meant);
    REQUIRE_NOTHROW(interp::run(kernel, given, {}));
    CHECK(interp::difference(given.back().array, meant.back().array, 4e-3, 1e-3) == "");
  }
}

TEST_CASE("gpu_attention refuses what it does not compute") {
  const std::string form = "an attention of f16 or bf16, with queries and values of 1 to 256 elements";
  CHECK(Scheduled({"f32", f32}).refusal() == form + ", found attention");
  CHECK(Scheduled({"long", bf16, 512, 64}).refusal() == form + ", found attention");
  CHECK(Scheduled({"bf16"}, "x86-64").refusal() == "a device, found the target x86-64");
  CHECK(Scheduled({"bf16"}, "vulkan").refusal() == "a CUDA device from sm_80 on, found the target vulkan");
  CHECK(Scheduled({"bf16"}).refusal({.block_i = 40}) == "block_i of a multiple of 16, found 40");
  CHECK(Scheduled({"bf16"}).refusal({.block_j = 8}) == "block_j of at least 16, found 8");
}
