// Attention of few queries, whose keys are split among blocks.
#include <ashlar/ops.h>
#include <ashlar/schedules/by_default.h>
#include <ashlar/schedules/tile_attention.h>
#include <ashlar/schedules/tile_matmul.h>

#include "tests/tileir/lowered.h"

using namespace tiles;

namespace {

std::string kernels(const Schedule& s) {
  std::string all;
  for (const TileLaunch& l : lowered(s)) all += ir::tile::text(l.kernel);
  return all;
}

int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

struct Decoding {
  lang::DefinitionScope scope;
  Symbol B{"B"}, H{"H"}, N{"N"};
  Tensor q, k, v, y;
  ops::Attention attention;
  lang::Built built;
  Schedule s;
  Decoding(Type type, Expr M, std::int64_t D, std::int64_t E, const ops::AttentionOptions& o, Target target)
      : q(lang::make_input("q", type, {B, H * o.groups, M, D})),
        k(lang::make_input("k", type, {B, H, N, D})),
        v(lang::make_input("v", type, {B, H, N, E})),
        y(lang::make_output("y", type, {B, H * o.groups, M, E})),
        attention(ops::attention(q, k, v, o)),
        built((lang::bind(y, attention), lang::build_program("decode", {q, k, v, y}))),
        s(built, target) {}
};

}  // namespace

TEST_CASE("attention with keys split among blocks: each keeps a maximum and sums, a second launch combines them") {
  const Target target = Target::parse("cuda-tile-sm_90");
  for (const auto& [M, groups, causal] :
       {std::tuple{1, 1, ops::Causal::no}, {1, 8, ops::Causal::last}, {2, 3, ops::Causal::last}, {1, 4, ops::Causal::no}}) {
    CAPTURE(groups);
    Decoding a(bf16, ir::index(M), 16, 12, {.causal = causal, .groups = groups, .finite = true, .rounded = true}, target);
    schedules::tile_attention(a.s, a.attention, {.keys = 16, .part_keys = 64});
    if (std::getenv("ASHLAR_SHOW")) MESSAGE(a.s.text());
    CHECK(lowered(a.s).size() == 2);
    const std::string kernel = kernels(a.s);
    if (std::getenv("ASHLAR_SHOW")) MESSAGE(kernel);
    CHECK(count(kernel, " = mma ") == (causal == ops::Causal::no ? 2 : 4));  // keys that all queries see, and the rest
    same(a.built, a.s,
         {{{"B", 1}, {"H", 2}, {"N", 137}},
          {{"B", 2}, {"H", 1}, {"N", M}},
          {{"B", 3}, {"H", 1}, {"N", 64}},
          {{"B", 0}, {"H", 1}, {"N", 64}}},
         2e-2, 2e-2);
  }
}

TEST_CASE("attention of few queries by default: a variant for calls with few blocks and many keys; numbers decide at once") {
  const Target target = Target::parse("cuda-tile-sm_90");
  Decoding a(bf16, ir::index(1), 16, 16, {.groups = 8, .rounded = true}, target);
  const ScheduledByDefault by = schedule_by_default(a.built, target);
  const std::string text = by.choices.text();
  CHECK_MESSAGE(text.find("a variant for ") != std::string::npos, text);
  CHECK_MESSAGE(text.find("whose keys are split among blocks, then combined") != std::string::npos, text);
  CHECK_MESSAGE(text.find("attention in one launch") != std::string::npos, text);
  CHECK(lowered(by.schedule).size() == 1);
  CHECK(lowered_variant(by.schedule).size() == 2);
  same(a.built, by.schedule,
       {{{"B", 1}, {"H", 2}, {"N", 1100}},
        {{"B", 1}, {"H", 1}, {"N", 1023}},
        {{"B", 3}, {"H", 1}, {"N", 5}},
        {{"B", 1}, {"H", 1}, {"N", 0}}},
       2e-2, 2e-2);

  for (const auto& [heads, keys, launches] : {std::tuple{2, 2000, 2}, {2, 1000, 1}, {200, 2000, 1}}) {
    CAPTURE(heads);
    lang::DefinitionScope scope;
    const Tensor q = lang::make_input("q", bf16, {1, heads, 1, 16}), k = lang::make_input("k", bf16, {1, heads, keys, 16}),
                 v = lang::make_input("v", bf16, {1, heads, keys, 16}), y = lang::make_output("y", bf16, {1, heads, 1, 16});
    lang::bind(y, ops::attention(q, k, v, {.rounded = true}));
    const lang::Built built = lang::build_program("decode", {q, k, v, y});
    const ScheduledByDefault of_numbers = schedule_by_default(built, target);
    CHECK(of_numbers.schedule.scheduled().program.variants.empty());
    CHECK_MESSAGE(lowered(of_numbers.schedule).size() == launches, of_numbers.choices.text());
    CHECK((of_numbers.choices.text().find("attention in two launches, keys split among blocks, then combined") !=
           std::string::npos) == (launches == 2));
    if (heads == 2) same(built, of_numbers.schedule, {{}}, 2e-2, 2e-2);
  }
}

TEST_CASE("products with few results and many terms: parts of k, then their sum") {
  const Target target = Target::parse("cuda-tile-sm_90");
  const auto product = [](Type type, Expr M, Expr N, Expr K, auto&& use) {
    lang::DefinitionScope scope;
    const Tensor A = lang::make_input("A", type, {M, K}), B = lang::make_input("B", type, {K, N}),
                 bias = lang::make_input("bias", f32, {N}), y = lang::make_output("y", type, {M, N});
    const Axis k{"k", Operand(K)};
    const Tensor sums = compute("sums", {M, N}, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k); });
    const Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return ir::cast(type, max(sums(i, j) + bias(j), 0)); });
    lang::bind(y, result);
    use(lang::build_program("product", {A, B, bias, y}), sums, result);
  };
  Symbol M{"M"}, N{"N"}, K{"K"};
  product(bf16, M, N, K, [&](const lang::Built& built, const Tensor& sums, const Tensor& result) {
    Schedule s(built, target);
    schedules::tile_matmul(s, s[sums], s[result], {.rows = 16, .columns = 32, .terms = 16, .part_k = 40});  // 48
    CHECK(lowered(s).size() == 2);
    CHECK(count(kernels(s), " = mma ") == 1);
    same(built, s,
         {{{"M", 21}, {"N", 37}, {"K", 137}},
          {{"M", 1}, {"N", 1}, {"K", 1}},
          {{"M", 3}, {"N", 5}, {"K", 48}},
          {{"M", 3}, {"N", 5}, {"K", 0}},
          {{"M", 0}, {"N", 5}, {"K", 3}}},
         2e-2, 2e-2);

    const ScheduledByDefault by = schedule_by_default(built, target);
    CHECK_MESSAGE(by.choices.text().find("whose terms are added in parts, then the parts") != std::string::npos,
                  by.choices.text());
    CHECK(lowered(by.schedule).size() == 1);
    CHECK(lowered_variant(by.schedule).size() == 2);
    same(built, by.schedule, {{{"M", 5}, {"N", 9}, {"K", 1100}}, {{"M", 5}, {"N", 9}, {"K", 1023}}}, 2e-2, 2e-2);
    const ScheduledByDefault exact = schedule_by_default(built, target, {.regroup = false});
    CHECK(exact.schedule.scheduled().program.variants.empty());
  });
  for (const auto& [terms, parts] : {std::pair{2000, true}, {1000, false}})
    product(f16, ir::index(20), ir::index(40), ir::index(terms),
            [&](const lang::Built& built, const Tensor& sums, const Tensor& result) {
              Schedule s(built, target), all(built, target);
              schedules::tile_matmul(s, s[sums], s[result]);
              CHECK(lowered(s).size() == (parts ? 2 : 1));
              same(built, s, {{}}, 2e-2, 2e-2);
              const std::string said = schedule_by_default(built, target).choices.text();
              const bool tells =
                  said.find("by mma, of a part of the terms, then the sum of the parts (schedules::tile_matmul)") !=
                  std::string::npos;
              CHECK_MESSAGE(tells == parts, said);
              schedules::tile_matmul(all, all[sums], all[result], {.part_k = schedules::TileMatmulOptions::all_k});
              CHECK(lowered(all).size() == 1);
            });
}
