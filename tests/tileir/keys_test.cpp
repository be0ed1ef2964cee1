// Attention whose queries see keys that data name: lengths, packed sequences, pages.
#include <ashlar/ops/attention_keys.h>
#include <ashlar/schedules/by_default.h>
#include <ashlar/schedules/tile_attention.h>

#include "tests/tileir/lowered.h"

using namespace tiles;

namespace {

std::string kernels(const std::vector<TileLaunch>& launches) {
  std::string all;
  for (const TileLaunch& l : launches) all += ir::tile::text(l.kernel);
  return all;
}

int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

// What is stored is what the algorithm says, for these integers.
void same_with(const lang::Built& built, const Schedule& s, const Sizes& shape, const std::string& name,
               const std::vector<std::int64_t>& numbers) {
  interp::Arguments given = handmade::arguments_for(built.program, shape);
  for (std::size_t k = 0; k < given.size(); ++k)
    if (built.program.buffer(built.program.arguments[k].id).name == name)
      given[k].array = interp::Array::make(i32, given[k].array.shape, [&, n = std::size_t{0}](auto) mutable {
        return static_cast<double>(numbers[n++ % numbers.size()]);
      });
  interp::Arguments expected = given;
  interp::run_algorithm(built.program, expected);
  const ir::Program program = taken(s.scheduled().program, given);
  const std::vector<TileLaunch> launches = lower_to_tiles(program, {.aligned = false});
  for (const bool executed : {false, true}) {
    CAPTURE(executed);
    interp::Arguments found = given;
    REQUIRE_NOTHROW(executed ? execute(program, launches, found, 7) : run(program, launches, found));
    CHECK(interp::difference(found.back().array, expected.back().array, 2e-2, 2e-2) == "");
  }
}

}  // namespace

TEST_CASE("attention of sequences of several lengths: loops over keys end where the sequence does") {
  for (const auto& [causal, part] : {std::pair{ops::Causal::no, 0}, {ops::Causal::last, 0}, {ops::Causal::no, 32}}) {
    CAPTURE(static_cast<int>(causal));
    CAPTURE(part);
    lang::DefinitionScope scope;
    Symbol B{"B"}, H{"H"}, M{"M"}, N{"N"};
    const Tensor q = lang::make_input("q", bf16, {B, H, M, 16}), k = lang::make_input("k", bf16, {B, H, N, 16}),
                 v = lang::make_input("v", bf16, {B, H, N, 16}), lengths = lang::make_input("lengths", i32, {B}),
                 y = lang::make_output("y", bf16, {B, H, M, 16});
    const ops::Attention result =
        ops::attention(q, k, v, {.causal = causal, .finite = true, .rounded = true}, ops::SeenKeys{.ends = lengths});
    lang::bind(y, result);
    const lang::Built built = lang::build_program("lengths", {q, k, v, lengths, y});
    Schedule s(built, Target::parse("cuda-tile-sm_90"));
    schedules::tile_attention(s, result, {.queries = 16, .keys = 16, .part_keys = part});
    const std::string kernel = kernels(lowered(s));
    CHECK(count(kernel, " = mma ") == 2);
    const std::size_t loop = kernel.find("  for ");
    CHECK_MESSAGE(kernel.substr(0, loop).find("lengths") != std::string::npos, kernel);
    for (const std::vector<std::int64_t>& of :
         {std::vector<std::int64_t>{37, 5, 0, 21}, {100, -3, 16, 1}, {INT32_MAX, INT32_MIN}})
      same_with(built, s, {{"B", 4}, {"H", 2}, {"M", 19}, {"N", 37}}, "lengths", of);
    same_with(built, s, {{"B", 1}, {"H", 1}, {"M", 1}, {"N", 0}}, "lengths", {0});
  }
}

TEST_CASE("attention of sequences behind one another in one tensor: blocks compute tiles of their own sequences alone") {
  lang::DefinitionScope scope;
  Symbol H{"H"}, T{"T"}, S{"S", {.min = 1}};
  const Tensor q = lang::make_input("q", bf16, {1, H, T, 16}), k = lang::make_input("k", bf16, {1, H, T, 16}),
               v = lang::make_input("v", bf16, {1, H, T, 16}), offsets = lang::make_input("offsets", i32, {S}),
               y = lang::make_output("y", bf16, {1, H, T, 16});
  const ops::SeenKeys seen = ops::packed_keys(offsets, T);
  const ops::Attention result = ops::attention(q, k, v, {.causal = ops::Causal::first, .finite = true, .rounded = true}, seen);
  lang::bind(y, result);
  const lang::Built built = lang::build_program("packed", {q, k, v, offsets, y});
  const ScheduledByDefault by = schedule_by_default(built, Target::parse("cuda-tile-sm_90"));
  const std::string text = by.choices.text();
  CHECK_MESSAGE(text.find("attention in one launch") != std::string::npos, text);
  const std::vector<TileLaunch> launches = lowered(by.schedule);
  const std::string kernel = ir::tile::text(launches.back().kernel), before = kernel.substr(0, kernel.find("  for "));
  CHECK_MESSAGE(count(kernel, " = mma ") == 4, kernel);  // keys that all queries of a block see, and those at the diagonal
  CHECK_MESSAGE(count(before, " = reduce ") == 2, kernel);
  same_with(built, by.schedule, {{"H", 2}, {"T", 150}, {"S", 5}}, "offsets", {0, 3, 70, 70, 150});
  same_with(built, by.schedule, {{"H", 1}, {"T", 40}, {"S", 2}}, "offsets", {0, 30});
}

TEST_CASE("attention of keys in pages: a table names each page, whose rows are tiles of views") {
  lang::DefinitionScope scope;
  Symbol B{"B"}, H{"H"}, P{"P"}, C{"C", {.min = 1}};
  const Tensor q = lang::make_input("q", bf16, {B, 8 * H, 1, 16}), k = lang::make_input("k", bf16, {C, H, 32, 16}),
               v = lang::make_input("v", bf16, {C, H, 32, 16}), table = lang::make_input("table", i32, {B, P}),
               y = lang::make_output("y", bf16, {B, 8 * H, 1, 16});
  const Tensor K = ops::paged(k, table), V = ops::paged(v, table);
  const ops::Attention result = ops::attention(q, K, V, {.groups = 8, .finite = true, .rounded = true});
  lang::bind(y, result);
  const lang::Built built = lang::build_program("pages", {q, k, v, table, y});
  for (const int part : {0, 64}) {
    CAPTURE(part);
    Schedule s(built, Target::parse("cuda-tile-sm_90"));
    schedules::tile_attention(s, result, {.keys = 16, .part_keys = part});
    const std::string kernel = kernels(lowered(s));
    CHECK_MESSAGE(count(kernel, " = mma ") == 2, kernel);
    CHECK_MESSAGE(count(kernel, "load k_tiles") == 1, kernel);
    CHECK(count(kernel, "load v_tiles") == 1);
    same_with(built, s, {{"B", 2}, {"H", 2}, {"P", 5}, {"C", 7}}, "table", {3, 0, 6, 2, 5, 1, 4, 100, -7, 0});
    same_with(built, s, {{"B", 1}, {"H", 1}, {"P", 0}, {"C", 1}}, "table", {0});
  }
  const ScheduledByDefault by = schedule_by_default(built, Target::parse("cuda-tile-sm_90"));
  CHECK_MESSAGE(by.choices.text().find("keys are split among blocks") != std::string::npos, by.choices.text());
  CHECK_MESSAGE(lowered(by.schedule).size() == 1, by.choices.text());
  CHECK(count(kernels(lowered(by.schedule)), "load k_tiles") == 1);
  same_with(built, by.schedule, {{"B", 1}, {"H", 1}, {"P", 40}, {"C", 3}}, "table", {2, 0, 1});
}

TEST_CASE("keys that data name: what is refused, by the argument") {
  lang::DefinitionScope scope;
  Symbol B{"B"}, M{"M"}, N{"N"}, S{"S"};
  const Tensor q = lang::make_input("q", bf16, {B, 1, M, 16}), k = lang::make_input("k", bf16, {B, 1, N, 16}),
               each = lang::make_input("each", i32, {B, M}), floats = lang::make_input("floats", f32, {B}),
               of_m = lang::make_input("of_m", i32, {M}), pages = lang::make_input("pages", bf16, {N, 1, S, 16});
  const auto why = [&](const ops::AttentionOptions& o, const ops::SeenKeys& seen) {
    return refusal([&] { ops::attention(q, k, k, o, seen); });
  };
  CHECK(why({}, {.ends = each}) == "");
  CHECK(why({}, {.ends = floats}).find("expected ends of an integer type, found f32") != std::string::npos);
  CHECK(why({}, {.begins = of_m}).find("attention: expected begins") != std::string::npos);
  CHECK(why({.causal = ops::Causal::last}, {.ends = each})
            .find("expected ends of shape [B], for Causal::last, found ends of each query") != std::string::npos);
  CHECK(refusal([&] { ops::paged(pages, each); }).find("paged: expected pages with a number of rows, found S") !=
        std::string::npos);
  CHECK(refusal([&] { ops::packed_keys(each, N); }).find("packed_keys: expected offsets of rank 1") != std::string::npos);
}
