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
  for (const bool split_heads : {false, true})
    check_scheduled(split_heads ? "attention, few heads" : "attention",
                    [=](Maker& m) { return of_heads(m, f32, {}, false, {.split_heads = split_heads}); },
                    attentions(false, {{1, 1, 2, 15, 40, 17, 5},
                                       {2, 1, 1, 26, 32, 16, 32},
                                       {1, 1, 1, 1, 1, 1, 1},
                                       {1, 1, 2, 3, 0, 4, 5},
                                       {1, 1, 2, 0, 5, 3, 2},
                                       {0, 1, 2, 3, 5, 3, 2}}),
                    {.relative = near, .absolute = near, .emulated = !split_heads, .results = results});
}

TEST_CASE("masks, causality and groups") {
  struct Kind {
    const char* name;
    ops::AttentionOptions options;
    bool masked, split_heads;
  };
  for (const Kind& kind :
       {Kind{"attention, mask", {}, true, false}, Kind{"attention, causal", {.causal = ops::Causal::last}, false, true},
        Kind{"attention, groups", {.causal = ops::Causal::first, .groups = 2}, false, true},
        Kind{"attention, groups apart", {.groups = 2, .scale = 0.5}, false, false}})
    check_scheduled(
        kind.name, [&](Maker& m) { return of_heads(m, f32, kind.options, kind.masked, {.split_heads = kind.split_heads}); },
        attentions(kind.masked, {{1, kind.options.groups, 1, 15, 33, 4, 3}, {1, kind.options.groups, 1, 2, 1, 1, 1}}),
        {.relative = near, .absolute = near, .results = results});
}

TEST_CASE("f64, tiles of four queries, keys of nine numbers") {
  check_scheduled("attention of f64", [](Maker& m) { return of_heads(m, f64, {}, false, {.tile_i = 4}, 9); },
                  attentions(false, {{1, 1, 2, 9, 17, 9, 5}}), {.relative = 1e-12, .absolute = 1e-12, .results = results});
}

namespace {

// Heads share keys; as many queries as are known, 0: a Symbol.
Steps decoded(Maker& m, int queries, int numbers, const ops::AttentionOptions& what, const schedules::AttentionOptions& how,
              bool by_size = false) {
  const Symbol B{"B"}, H{"H"}, M{"M"}, N{"N"}, any{"D", {.min = 1}}, E{"E"};
  const Extent D = numbers == 0 ? Extent(any) : Extent(numbers), values = numbers == 0 ? Extent(E) : Extent(numbers),
               rows = queries == 0 ? Extent(M) : Extent(queries);
  const Tensor q = m.in("q", f32, {B, H * what.groups, rows, D}), k = m.in("k", f32, {B, H, N, D}),
               v = m.in("v", f32, {B, H, N, values});
  const auto y = ops::attention(q, k, v, what);
  m.out(y.result);
  return [=](Schedule& s) {
    by_size ? schedules::attention_by_size(s, y, q, k, v, how) : schedules::attention(s, y, q, k, v, how);
  };
}

}  // namespace

TEST_CASE("few queries: keys and values are read as they lie") {
  const Beside about{.relative = near, .absolute = near, .results = results};
  Beside emulated = about;
  emulated.emulated = true;
  check_scheduled(
      "one query", [](Maker& m) { return decoded(m, 1, 20, {}, {}); },
      attentions(false, {{2, 1, 3, 1, 37, 20, 20}, {1, 1, 2, 1, 1, 20, 20}, {1, 1, 2, 1, 0, 20, 20}, {0, 1, 2, 1, 5, 20, 20}}),
      emulated);
  check_scheduled(
      "one query, any numbers", [](Maker& m) { return decoded(m, 1, 0, {}, {}); },
      attentions(false, {{1, 1, 2, 1, 9, 33, 150}, {1, 1, 1, 1, 3, 1, 1}, {1, 1, 1, 1, 4, 5, 0}}), about);
  for (const bool split_heads : {false, true})
    check_scheduled(
        split_heads ? "groups apart" : "groups together",
        [=](Maker& m) { return decoded(m, 2, 16, {.causal = ops::Causal::last, .groups = 3}, {.split_heads = split_heads}); },
        attentions(false, {{1, 3, 2, 2, 19, 16, 16}, {1, 3, 1, 2, 1, 16, 16}}), about);
  check_scheduled(
      "by size", [](Maker& m) { return decoded(m, 0, 0, {}, {}, true); },
      attentions(false, {{1, 1, 2, 3, 12, 6, 7}, {1, 1, 1, 7, 12, 6, 7}, {1, 1, 1, 0, 3, 2, 2}}), about);
}

TEST_CASE("what has few queries is not packed, unless tiles are asked for") {
  const auto panels = [](int queries, const schedules::AttentionOptions& how, bool by_size = false) {
    const std::string text = text_of([=](Maker& m) { return decoded(m, queries, 16, {}, how, by_size); });
    return text.find("k_") != text.npos || text.find("k'") != text.npos;
  };
  CHECK(panels(0, {}));
  CHECK(panels(5, {}));
  CHECK_FALSE(panels(4, {}));
  CHECK(panels(4, {.tile_i = 4}));
  CHECK_FALSE(panels(1, {}, true));
  CHECK(panels(5, {}, true));
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
        "which is not a sum");
  CHECK(refused_schedule([](Maker& m) {
          const Tensor q = m.in("q", f16, {1, 2, 1, 8}), k = m.in("k", f16, {1, 2, 9, 8}), v = m.in("v", f16, {1, 2, 9, 8});
          const auto y = ops::attention(q, k, v);
          m.out(y);
          return [=](Schedule& s) { schedules::attention_decode(s, y, q, v); };
        }) ==
        "attention_test.cpp: attention_decode: expected queries of the type that scores are in, found f16, and scores of f32");
}
