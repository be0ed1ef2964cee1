// Two small parallel programs: a reduction by a block through shuffles and shared memory, and a transposition through padded
// and through swizzled shared memory. Each equals a plain reference on every shape, and no weakened form of it goes unnoticed.
#include <doctest/doctest.h>

#include <ashlar/analysis/verify.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>

#include "tests/golden.h"
#include "tests/interp/launch_builder.h"
#include "tests/interp/mutation.h"

using namespace launches;
using interp::Array;
using interp::RunError;

namespace {

constexpr std::int64_t blocks = 2;

// The rows that this block sums: block, block + 2, …
Expr rounds(const Expr& n, const Expr& block) { return ir::ceil_div(n - block, num(blocks)); }

Builder block_sum() {
  Builder b("block_sum");
  const Expr M = b.symbol("M"), N = b.symbol("N");
  const Id x = b.input("x", f32, {M, N}), sum = b.output("sum", f32, {M});
  const Id acc = b.registers("acc", f32, 1), other = b.registers("other", f32, 1), partial = b.shared("partial", f32, 8, 0);
  const ir::Intrinsic& shuffle = b.intrinsic(ir::shuffle_xor(f32));
  const auto add_lanes = [&](std::int64_t from) {
    for (std::int64_t mask = from; mask > 0; mask /= 2) {
      b.call(shuffle, {{other, num(0)}, {acc, num(0)}, mask});
      b.store(acc, num(0), ir::add(b.at(acc, num(0)), b.at(other, num(0))));
    }
  };
  b.launch(num(blocks), 256, 64, [&](const Expr& block, const Expr& thread) {
    const Expr lane = b.let("lane", thread % 32);
    b.loop("round", rounds(M, block), [&](Expr round) {
      const Expr row = b.let("row", block + round * blocks);
      b.store(acc, num(0), ir::float_const(f32, 0));
      b.loop("step", ir::ceil_div(N - thread, num(256)),
             [&](Expr step) { b.store(acc, num(0), ir::add(b.at(acc, num(0)), b.at(x, row * N + thread + step * 256))); });
      add_lanes(16);
      b.when(below(lane, 1), [&] { b.store(partial, thread / 32, b.at(acc, num(0))); });
      b.block_barrier({"partial"});
      b.when(below(thread, 32), [&] {
        b.store(acc, num(0), b.at(partial, lane, below(lane, 8)));
        add_lanes(4);
        b.when(below(lane, 1), [&] { b.store(sum, row, b.at(acc, num(0))); });
      });
      b.block_barrier({"partial"});
    });
  });
  return b;
}

enum class Tile { padded, swizzled };

Builder transposition(Tile form) {
  Builder b(form == Tile::padded ? "transposition_padded" : "transposition_swizzled");
  const Expr M = b.symbol("M"), N = b.symbol("N");
  const Id in = b.input("in", f32, {M, N}), out = b.output("out", f32, {N, M});
  const Id tile = b.shared("tile", f32, form == Tile::padded ? 32 * 33 : 32 * 32, 0);
  const auto place = [&](const Expr& y, const Expr& x) {
    return form == Tile::padded ? y * 33 + x : y * 32 + exclusive_or(x, y);
  };
  b.launch(num(blocks), 256, 32 * 33 * 4, [&](const Expr& block, const Expr& thread) {
    const Expr x = b.let("x", thread % 32), y = b.let("y", thread / 32);
    const Expr across = b.let("across", ir::ceil_div(N, num(32)));
    b.loop("round", rounds(ir::ceil_div(M, num(32)) * across, block), [&](Expr round) {
      const Expr number = b.let("number", block + round * blocks);
      const Expr top = b.let("top", number / across * 32), left = b.let("left", number % across * 32);
      b.loop("step", num(4), [&](Expr step) {
        const Expr row = y + step * 8;
        b.when(ir::logic_and(ir::lt(top + row, M), ir::lt(left + x, N)),
               [&] { b.store(tile, place(row, x), b.at(in, (top + row) * N + left + x)); });
      });
      b.block_barrier({"tile"});
      b.loop("step", num(4), [&](Expr step) {
        const Expr row = y + step * 8;
        b.when(ir::logic_and(ir::lt(left + row, N), ir::lt(top + x, M)),
               [&] { b.store(out, (left + row) * M + top + x, b.at(tile, place(x, row))); });
      });
      b.block_barrier({"tile"});
    });
  });
  return b;
}

Array counting(std::int64_t m, std::int64_t n) {
  return Array::make(f32, {m, n}, [](auto at) { return static_cast<double>((at[0] * 7 + at[1] * 3) % 11 - 5); });
}

std::string sum_differs(const ir::Kernel& k, std::int64_t m, std::int64_t n, bool races) {
  interp::Arguments args{counting(m, n), Array::zeros(f32, {m})};
  const Array expected = Array::make(f32, {m}, [&](auto at) {
    double s = 0;
    for (std::int64_t j = 0; j < n; ++j) s += args[0].array.real({at[0], j});
    return s;
  });
  interp::Options o;
  o.races = races;
  interp::run(k, args, o);
  return interp::difference(args[1].array, expected);
}

std::string transposition_differs(const ir::Kernel& k, std::int64_t m, std::int64_t n, bool races) {
  interp::Arguments args{counting(m, n), Array::zeros(f32, {n, m})};
  const Array expected = Array::make(f32, {n, m}, [&](auto at) { return args[0].array.real({at[1], at[0]}); });
  interp::Options o;
  o.races = races;
  interp::run(k, args, o);
  return interp::difference(args[1].array, expected);
}

using Differs = std::string (*)(const ir::Kernel&, std::int64_t, std::int64_t, bool);

void check(const Builder& b, Differs differs, const std::string& file) {
  CHECK_NOTHROW(analysis::verify(b.k));
  CHECK(golden("interp/golden/" + file, ir::text(b.k)) == "");
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{6, 600}, {1, 64}, {2, 256}, {5, 1}, {67, 45}, {1, 1}};
  for (const auto& [m, n] : shapes)
    for (bool races : {false, true}) CHECK(differs(b.k, m, n, races) == "");
  std::vector<Run> runs;
  for (const auto& [m, n] : shapes)
    runs.push_back([differs, m = m, n = n](const ir::Kernel& k) { return differs(k, m, n, true); });
  const Killed killed = kill(b, runs);
  MESSAGE(b.k.name << ": " << killed.made << " mutants made, " << killed.killed << " killed (" << killed.by_report
                   << " by a report, " << killed.by_result << " by the result)");
  CHECK(killed.made > 0);
  CHECK(killed.killed == killed.made);
  CHECK(killed.survivors == "");
  CHECK(killed.astray == "");
}

}  // namespace

TEST_CASE("a sum over each row by a block: shuffles, then shared memory") { check(block_sum(), sum_differs, "block_sum.txt"); }

TEST_CASE("a transposition through padded shared memory") {
  check(transposition(Tile::padded), transposition_differs, "transposition_padded.txt");
}

TEST_CASE("a transposition through swizzled shared memory") {
  check(transposition(Tile::swizzled), transposition_differs, "transposition_swizzled.txt");
}
