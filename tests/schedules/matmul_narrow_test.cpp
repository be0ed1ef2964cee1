// Products of bytes and of bf16 by the instructions that multiply and add neighbors: tiles and steps of k with and without a
// rest, several blocks, one element, none. Integers are exact; sums of bf16 are small whole numbers, which are exact too.
#include <ashlar/schedules/matmul_bytes.h>
#include <ashlar/schedules/matmul_dot.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

std::vector<std::vector<Dims>> products() {  // M, N, K
  std::vector<std::vector<Dims>> all;
  const std::int64_t sizes[][3] = {{15, 40, 23}, {8, 24, 64}, {1, 1, 1}, {3, 2, 0}, {0, 3, 4}, {3, 0, 4}};
  for (const auto& [m, n, k] : sizes) all.push_back({{m, k}, {k, n}});
  return all;
}
std::vector<std::vector<Dims>> transposed() {  // M, N, K
  std::vector<std::vector<Dims>> all = products();
  for (std::vector<Dims>& in : all) std::swap(in[1][0], in[1][1]);
  return all;
}
std::vector<Dims> rows_by_rows(const std::vector<Dims>& in) { return {{in[0][0], in[1][0]}}; }
std::vector<Dims> rows_by_columns(const std::vector<Dims>& in) { return {{in[0][0], in[1][1]}}; }

struct Factors {
  Tensor A, B, C;
};
Factors multiplied(Maker& m, Type a, Type b, Type wide, bool transposed_b = false) {
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const auto from = [](Type t, int most) { return ops_test::whole(t == u8 ? 0 : -most, most + 1); };
  Factors f{m.in("A", a, {M, K}, from(a, 8)), {}, {}};
  f.B = transposed_b ? m.in("B", b, {N, K}, from(b, 8)) : m.in("B", b, {K, N}, from(b, 8));
  Axis k{"k", K};
  f.C =
      compute("C", {M, N}, [&](Var i, Var j) { return sum(wide(f.A(i, k)) * wide(transposed_b ? f.B(j, k) : f.B(k, j)), k); });
  m.out(f.C);
  return f;
}
Steps by_dot(Maker& m, Type a, Type b, Type wide, const schedules::MatmulDotOptions& o) {
  const Factors f = multiplied(m, a, b, wide, o.transposed_b);
  return [=](Schedule& s) { schedules::matmul_dot(s, s[f.C], f.A, f.B, o); };
}
Steps by_bytes(Maker& m, const schedules::MatmulBytesOptions& o = {.block_k = 16, .block_j = 2}) {
  const Factors f = multiplied(m, i8, i8, i32);
  return [=](Schedule& s) { schedules::matmul_bytes(s, s[f.C], f.A, f.B, o); };
}

}  // namespace

TEST_CASE("u8 by i8, four k a step") {
  check_scheduled("u8s8", [](Maker& m) { return by_dot(m, u8, i8, i32, {.tile_i = 5, .block_bytes = 16, .block_j = 1}); },
                  products(), {.results = rows_by_columns, .targets = {"x86-64-v4+avx512vnni", "x86-64-v3+avxvnni"}});
}

TEST_CASE("u8 by i8 without VNNI, four k a step, where two products added fit 16 bits") {
  check_scheduled(
      "pairs",
      [](Maker& m) { return by_dot(m, u8, i8, i32, {.tile_i = 5, .block_bytes = 16, .block_j = 1, .pairs = x86::Pairs::fit}); },
      products(), {.results = rows_by_columns, .targets = {"x86-64-v3", "x86-64-v4"}});
}

TEST_CASE("bytes by bytes, widened to 16 bits; the signed factor broadcast") {
  const schedules::MatmulDotOptions small{.tile_i = 5, .block_bytes = 16, .block_j = 1};
  for (const auto& [a, b] : {std::pair(u8, i8), {i8, u8}, {i8, i8}, {u8, u8}})
    check_scheduled(ir::text(a) + " by " + ir::text(b), [=](Maker& m) { return by_dot(m, a, b, i32, small); }, products(),
                    {.results = rows_by_columns, .targets = {"x86-64", "x86-64-v3", "x86-64-v4"}});
  check_scheduled("s8u8", [=](Maker& m) { return by_dot(m, i8, u8, i32, small); }, products(),
                  {.results = rows_by_columns, .targets = {"x86-64-v4+avx512vnni", "x86-64-v3+avxvnni"}});
}

TEST_CASE("B[j, k], as weights of layers lie") {
  schedules::MatmulDotOptions o{.tile_i = 5, .block_bytes = 64, .block_j = 1, .transposed_b = true};
  check_scheduled("u8s8, B[j, k]", [=](Maker& m) { return by_dot(m, u8, i8, i32, o); }, transposed(),
                  {.results = rows_by_rows, .targets = {"x86-64-v4+avx512vnni", "x86-64-v3+avxvnni", "x86-64-v3"}});
  o.subnormals = x86::Subnormals::as_zero;
  check_scheduled("bf16, B[j, k]", [=](Maker& m) { return by_dot(m, bf16, bf16, f32, o); }, transposed(),
                  {.results = rows_by_rows, .targets = {"x86-64-v4+avx512bf16"}});
}

TEST_CASE("bf16, two k a step") {
  check_scheduled("bf16",
                  [](Maker& m) {
                    return by_dot(m, bf16, bf16, f32,
                                  {.block_bytes = 24, .block_j = 1, .subnormals = x86::Subnormals::as_zero});
                  },
                  products(), {.results = rows_by_columns, .targets = {"x86-64-v4+avx512bf16"}});
}

TEST_CASE("i8 by i8: in vectors, and by the instructions of AArch64") {
  check_scheduled("s8s8", [](Maker& m) { return by_bytes(m); }, products(), {.results = rows_by_columns});
  check_scheduled("s8s8 on ARM", [](Maker& m) { return by_bytes(m); }, products(),
                  {.results = rows_by_columns, .targets = {"aarch64", "aarch64+dotprod", "aarch64+i8mm"}});
}

TEST_CASE("narrow products refuse") {
  const Target wide = Target::parse("x86-64-v4+avx512vnni+avx512bf16");
  const std::string expected =
      "matmul_narrow_test.cpp: matmul_dot: expected bytes by bytes on x86-64, or bf16 with subnormals "
      "as zero on a target with avx512bf16, found ";
  CHECK(refused_schedule([](Maker& m) { return by_dot(m, u8, i8, i32, {}); }, Target::parse("aarch64")) ==
        expected + "u8 by i8 on aarch64");
  CHECK(refused_schedule([](Maker& m) { return by_dot(m, u8, i16, i32, {}); }, wide) ==
        expected + "u8 by i16 on x86-64-v4+avx512vnni+avx512bf16");
  CHECK(refused_schedule([](Maker& m) { return by_dot(m, bf16, bf16, f32, {}); }, wide) ==
        expected + "bf16 by bf16 on x86-64-v4+avx512vnni+avx512bf16");
  CHECK(refused_schedule([](Maker& m) { return by_dot(m, u8, i8, i32, {.block_bytes = 6}); }, wide) ==
        "matmul_narrow_test.cpp: matmul_dot: expected block_bytes that are a multiple of 4, found 6");
  CHECK(refused_schedule([](Maker& m) { return by_bytes(m, {.block_k = 12}); }) ==
        "matmul_narrow_test.cpp: matmul_bytes: expected a block_k that is a multiple of 8, found 12");
  CHECK(refused_schedule([](Maker& m) {
          const Factors f = multiplied(m, u8, i8, i32);
          return [=](Schedule& s) { schedules::matmul_bytes(s, s[f.C], f.A, f.B); };
        }) == "matmul_narrow_test.cpp: matmul_bytes: expected i8 by i8 summed in i32, found u8 by i8 in i32");
}
