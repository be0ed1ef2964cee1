// The inner loop of a packed matrix product, read off the assembly: a register tile of 14 x 32 keeps its 28 accumulators in
// registers, and one step of k is 2 loads, 14 broadcasts and 28 fused multiply-adds, with nothing on the stack.
#include <algorithm>
#include <sstream>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"

using namespace ashlar;
using kernels::Maker;

namespace {

// C[rows, columns] = A^T B for packed panels A[K, rows] and B[K, columns], all in one register tile.
ir::Kernel tile(int rows, int columns, int lanes) {
  Maker m("tile");
  const Expr K = m.symbol("K");
  const auto wide = [&](const Expr& first) { return ir::ramp(first, ir::index(1), lanes); };
  const ir::Id a = m.tensor("A", f32, {K, ir::index(rows)}, false, 64),
               b = m.tensor("B", f32, {K, ir::index(columns)}, false, 64),
               c = m.tensor("C", f32, {ir::index(rows), ir::index(columns)}, true, 64);
  const ir::Id acc = m.storage("acc", f32, ir::Storage::registers, ir::index(rows * columns));
  const Expr k = ir::var(m.fresh(), "k");
  std::vector<ir::KStmt> zeros, steps, stores;
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < columns; j += lanes) {
      const Expr at = wide(ir::index(r * columns + j));
      zeros.push_back(kernels::store(acc, at, ir::broadcast(ir::float_const(f32, 0), lanes)));
      const Expr left = ir::broadcast(m.load(a, ir::add(ir::mul(k, ir::index(rows)), ir::index(r))), lanes);
      const Expr right = m.load(b, wide(ir::add(ir::mul(k, ir::index(columns)), ir::index(j))));
      steps.push_back(kernels::store(acc, at, ir::fma(left, right, m.load(acc, at))));
      stores.push_back(kernels::store(c, at, m.load(acc, at)));
    }
  m.k.body = zeros;
  m.k.body.push_back(kernels::loop(k, K, steps));
  m.k.body.insert(m.k.body.end(), stores.begin(), stores.end());
  return m.k;
}

// The lines of the basic block of `assembly` that holds most vfmadd.
std::vector<std::string> hottest_block(const std::string& assembly) {
  std::vector<std::string> best, block;
  std::size_t most = 0;
  auto finish = [&] {
    const auto count = static_cast<std::size_t>(
        std::count_if(block.begin(), block.end(), [](const std::string& l) { return l.find("vfmadd") != l.npos; }));
    if (count > most) most = count, best = block;
    block.clear();
  };
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '\t')
      finish();
    else
      block.push_back(line);
  }
  finish();
  return best;
}

int count(const std::vector<std::string>& lines, const std::string& text) {
  return static_cast<int>(
      std::count_if(lines.begin(), lines.end(), [&](const std::string& l) { return l.find(text) != l.npos; }));
}

}  // namespace

TEST_CASE("a 14 x 32 tile of f32 on AVX-512") {
  const auto loop = hottest_block(codegen::emit(tile(14, 32, 16), Target::parse("x86-64-v4"), codegen::Output::assembly));
  std::string shown;
  for (const std::string& l : loop) shown += l + "\n";
  INFO(shown);
  CHECK(count(loop, "vfmadd") == 28);
  CHECK(count(loop, "vfmadd231ps") == 28);
  CHECK(count(loop, "zmm") >= 28 + 14);
  CHECK(count(loop, "vbroadcastss") == 14);
  CHECK(count(loop, "(%rsp") == 0);
  CHECK(count(loop, "%k1") == 0);         // no mask
  CHECK(loop.size() <= 28 + 14 + 2 + 6);  // and the loop itself
}

TEST_CASE("a 6 x 16 tile of f32 on AVX2") {
  const auto loop = hottest_block(codegen::emit(tile(6, 16, 8), Target::parse("x86-64-v3"), codegen::Output::assembly));
  CHECK(count(loop, "vfmadd231ps") == 12);
  CHECK(count(loop, "ymm") >= 12 + 6);
  CHECK(count(loop, "(%rsp") == 0);
}

TEST_CASE("a tile that begins in every iteration of a loop is not carried from one to the next") {
  ir::Kernel k = tile(14, 32, 16);
  const Expr t = ir::var(1000, "t"), once = ir::var(1001, "once"), K = ir::var(k.symbols.begin()->first, "K");
  std::vector<ir::KStmt> computed(k.body.begin(), k.body.begin() + 29), stores(k.body.begin() + 29, k.body.end());
  std::vector<ir::KStmt> body = {kernels::loop(once, ir::min(K, ir::index(1)), computed)};  // perhaps not at all
  body.insert(body.end(), stores.begin(), stores.end());
  k.body = {kernels::loop(t, K, body)};
  for (auto& [id, buffer] : k.buffers)
    if (buffer.storage == ir::Storage::registers) buffer.inside = {1000};
  std::istringstream lines(codegen::emit(k, Target::parse("x86-64-v4"), codegen::Output::assembly));
  int spilled = 0;
  for (std::string l; std::getline(lines, l);) spilled += l.find("zmm") != l.npos && l.find("(%rsp") != l.npos;
  CHECK(spilled == 0);
}

TEST_CASE("the tile computes the product") {
  struct Args {
    const float *a, *b;
    float* c;
    std::int64_t k;
  };
  for (const Target& target : kernels::runnable({"x86-64-v2", "x86-64-v3", "x86-64-v4", "host"})) {
    const std::int64_t depth = 37;
    std::vector<float> memory(static_cast<std::size_t>(depth * 46 + 448 + 64));
    auto* a = reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
    float *b = a + (depth * 14 + 15) / 16 * 16, *c = b + depth * 32;
    for (std::int64_t x = 0; x < depth * 14; ++x) a[x] = static_cast<float>(x % 11 - 5);
    for (std::int64_t x = 0; x < depth * 32; ++x) b[x] = static_cast<float>(x % 7 - 3);
    const codegen::Compiled code = codegen::compile(tile(14, 32, target.lanes(f32)), target);
    const Args args{a, b, c, depth};
    REQUIRE(code.run(&args, nullptr) == ASHLAR_OK);
    int wrong = 0;
    for (int i = 0; i < 14; ++i)
      for (int j = 0; j < 32; ++j) {
        float want = 0;
        for (std::int64_t k = 0; k < depth; ++k) want += a[k * 14 + i] * b[k * 32 + j];
        wrong += c[i * 32 + j] != want;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("sums of a last vector, under a mask, stay in registers") {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, K{"K"};
  const Tensor a = lang::make_input("a", f32, {K}), B = lang::make_input("B", f32, {K, N}),
               c = lang::make_output("c", f32, {N});
  const Axis k{"k", K};
  lang::bind(c, compute("c", {N}, [&](Var j) { return sum(a(k) * B(k, j), k); }));
  const lang::Built built = lang::build_program("row", {lang::ArgumentRef(a), lang::ArgumentRef(B), lang::ArgumentRef(c)});
  const Target target = Target::parse("x86-64-v4");
  Schedule s(built, target);
  const Stage row = s[c];
  Stage sums = s.cache_write(row, Scope::registers);
  const auto [panel, column] = row.split(row.spatial<1>()[0], 32, Tail::guard);
  const auto [half, lane] = row.split(column, 16, Tail::exact);
  row.unroll(half).vectorize(lane);
  sums.compute_at(panel);
  const auto [tile, of_tile] = sums.split(sums.spatial<1>()[0], 32, Tail::guard);
  const auto [part, l] = sums.split(of_tile, 16, Tail::exact);
  sums.reorder(tile, sums.reduction<1>()[0], part, l).unroll(part).vectorize(l);
  schedule::finish(s.scheduled(), target);
  const std::string text = codegen::emit(lower(s.scheduled().program, options_for(target)), target, codegen::Output::assembly);
  std::istringstream lines(text);
  int masked = 0, in_memory = 0;
  for (std::string line; std::getline(lines, line);) {
    masked += line.find("{%k") != line.npos;
    in_memory += line.find("zmm") != line.npos && line.find("(%rsp") != line.npos;
  }
  CHECK(masked > 0);
  CHECK(in_memory == 0);
}

// Sums of 48 columns in three vectors, which are read as one behind the loop.
TEST_CASE("a vector of three registers stays in them from block to block") {
  Maker m("three");
  const Expr K = m.symbol("K");
  const auto wide = [&](const Expr& first, int lanes) { return ir::ramp(first, ir::index(1), lanes); };
  const ir::Id b = m.tensor("B", i32, {K, ir::index(48)}), c = m.tensor("C", i32, {ir::index(48)}, true);
  const ir::Id acc = m.storage("acc", i32, ir::Storage::stack, ir::index(48));
  const Expr k = ir::var(m.fresh(), "k");
  std::vector<ir::KStmt> steps;
  for (int j = 0; j < 48; j += 16) {
    const Expr at = wide(ir::index(j), 16);
    m.k.body.push_back(kernels::store(acc, at, ir::broadcast(ir::int_const(i32, 0), 16)));
    const Expr term = m.load(b, wide(ir::add(ir::mul(k, ir::index(48)), ir::index(j)), 16));
    steps.push_back(kernels::store(acc, at, ir::add(m.load(acc, at), term)));
  }
  m.k.body.push_back(kernels::loop(k, K, steps));
  const Expr all = wide(ir::index(0), 48);
  m.k.body.push_back(kernels::store(c, all, ir::max(m.load(acc, all), ir::broadcast(ir::int_const(i32, 7), 48))));
  for (const char* target : {"x86-64-v3", "x86-64-v4"}) {
    const std::string text = codegen::emit(m.k, Target::parse(target), codegen::Output::assembly);
    CAPTURE(text);
    CHECK(text.find("vpmaxsd") != text.npos);
    CHECK(text.find("vpextrd") == text.npos);
  }
}
