// Attention by blocks of queries: tiles with and without a rest, few heads and many, groups, causality and masks.
#include <ashlar/schedules/attention.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

// Heads of q, k; queries, keys; numbers of a key, of a value.
struct Shape {
  std::int64_t B, G, H, M, N, D, E;
};
std::vector<std::vector<Dims>> attentions(bool masked, const std::vector<Shape>& shapes) {
  std::vector<std::vector<Dims>> all;
  for (const Shape& s : shapes) {
    all.push_back({{s.B, s.G * s.H, s.M, s.D}, {s.B, s.H, s.N, s.D}, {s.B, s.H, s.N, s.E}});
    if (masked) all.back().push_back({s.M, s.N});
  }
  return all;
}
std::vector<Dims> results(const std::vector<Dims>& in) { return {{in[0][0], in[0][1], in[0][2], in[2][3]}}; }

Steps of_heads(Maker& m, Type type, const ops::AttentionOptions& what, bool masked, const schedules::AttentionOptions& how,
               int numbers = 0) {
  const Symbol B{"B"}, H{"H"}, M{"M"}, N{"N"}, any{"D", {.min = 1}}, E{"E"};
  const Extent D = numbers == 0 ? Extent(any) : Extent(numbers);
  const Tensor q = m.in("q", type, {B, H * what.groups, M, D}), k = m.in("k", type, {B, H, N, D}),
               v = m.in("v", type, {B, H, N, E});
  const auto y = ops::attention(q, k, v, what, masked ? m.in("mask", type, {M, N}) : Tensor());
  m.out(y.result);
  return [=](Schedule& s) { schedules::attention(s, y, q, k, v, how); };
}

constexpr double near = 1e-5;

}  // namespace

TEST_CASE("tiles of queries, with a rest and without, one query, no keys, none") {
  for (const bool few_heads : {false, true})
    check_scheduled(few_heads ? "attention, few heads" : "attention",
                    [=](Maker& m) { return of_heads(m, f32, {}, false, {.few_heads = few_heads}); },
                    attentions(false, {{1, 1, 2, 15, 40, 17, 5},
                                       {2, 1, 1, 26, 32, 16, 32},
                                       {1, 1, 1, 1, 1, 1, 1},
                                       {1, 1, 2, 3, 0, 4, 5},
                                       {1, 1, 2, 0, 5, 3, 2},
                                       {0, 1, 2, 3, 5, 3, 2}}),
                    {.relative = near, .absolute = near, .emulated = !few_heads, .results = results});
}

TEST_CASE("masks, causality and groups") {
  struct Kind {
    const char* name;
    ops::AttentionOptions options;
    bool masked, few_heads;
  };
  for (const Kind& kind :
       {Kind{"attention, mask", {}, true, false}, Kind{"attention, causal", {.causal = ops::Causal::last}, false, true},
        Kind{"attention, groups", {.causal = ops::Causal::first, .groups = 2}, false, true},
        Kind{"attention, groups apart", {.groups = 2, .scale = 0.5}, false, false}})
    check_scheduled(
        kind.name, [&](Maker& m) { return of_heads(m, f32, kind.options, kind.masked, {.few_heads = kind.few_heads}); },
        attentions(kind.masked, {{1, kind.options.groups, 1, 15, 33, 4, 3}, {1, kind.options.groups, 1, 2, 1, 1, 1}}),
        {.relative = near, .absolute = near, .results = results});
}

TEST_CASE("f64, tiles of four queries, keys of nine numbers") {
  check_scheduled("attention of f64", [](Maker& m) { return of_heads(m, f64, {}, false, {.tile_i = 4}, 9); },
                  attentions(false, {{1, 1, 2, 9, 17, 9, 5}}), {.relative = 1e-12, .absolute = 1e-12, .results = results});
}

TEST_CASE("attention refuses") {
  CHECK(refused_schedule([](Maker& m) { return of_heads(m, f16, {}, false, {}); }) ==
        "attention_test.cpp: attention: expected queries of the type that scores are in, found f16, and scores of f32");
  CHECK(
      refused_schedule([](Maker& m) { return of_heads(m, f32, {}, false, {}); }, Target::parse("vulkan")) ==
      "attention_test.cpp: attention: expected a processor, whose loops run in lanes and on threads, found the target vulkan");
  CHECK(refused_schedule([](Maker& m) {
          const Steps steps = of_heads(m, f32, {}, false, {});
          return [=](Schedule& s) { steps(s), steps(s); };
        }) ==
        "attention_test.cpp: attention: expected a sum over one dimension, of two to 4 dimensions, found attention_scores, "
        "which is no sum");
}
