// The families of schedules for tiles: what they make of their operators, and that the bytecode computes it.
#include <ashlar/ops.h>
#include <ashlar/schedules/by_default.h>
#include <ashlar/schedules/tile_attention.h>

#include "tests/golden.h"
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

struct Attending {
  lang::DefinitionScope scope;
  Symbol B{"B"}, H{"H"}, M{"M"}, N{"N"};
  Tensor q, k, v, y;
  ops::Attention attention;
  lang::Built built;
  Schedule s;
  Attending(Type type, std::int64_t D, std::int64_t E, const ops::AttentionOptions& o, Target target)
      : q(lang::make_input("q", type, {B, H * o.groups, M, D})),
        k(lang::make_input("k", type, {B, H, N, D})),
        v(lang::make_input("v", type, {B, H, N, E})),
        y(lang::make_output("y", type, {B, H * o.groups, M, E})),
        attention(ops::attention(q, k, v, o)),
        built((lang::bind(y, attention), lang::build_program("attention", {q, k, v, y}))),
        s(built, target) {}
};

}  // namespace

TEST_CASE("attention in one launch: both products by mma, nothing between launches") {
  const Target target = Target::parse("cuda-tile-sm_90");
  for (const auto& [causal, groups, window] :
       {std::tuple{ops::Causal::no, 1, 0}, {ops::Causal::first, 2, 0}, {ops::Causal::last, 1, 0}, {ops::Causal::last, 2, 5}}) {
    CAPTURE(static_cast<int>(causal));
    Attending a(bf16, 16, 12, {.causal = causal, .groups = groups, .window = window, .finite = true, .rounded = true}, target);
    schedules::tile_attention(a.s, a.attention, {.queries = 16, .keys = 16});
    if (std::getenv("ASHLAR_SHOW")) MESSAGE(a.s.text());
    CHECK(lowered(a.s).size() == 1);
    CHECK(count(kernels(a.s), " = mma ") == 2);
    CHECK(tile_temporaries(a.s.scheduled().program).empty());
    same(a.built, a.s, {{{"B", 1}, {"H", 2}, {"M", 21}, {"N", 37}}, {{"B", 2}, {"H", 1}, {"M", 1}, {"N", 1}}}, 2e-2, 2e-2);
  }
}
