// The interpreter of the tile form: what kernels compute, and what it reports.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include <ashlar/interp/tiles.h>
#include <ashlar/ir/refusal.h>

#include "tests/tileir/kernels.h"

using namespace tiles;
using interp::Array;
using interp::RunError;
using interp::TileCall;

namespace {

using Index = std::span<const std::int64_t>;
ir::Value number(std::int64_t n) { return ir::int_value(i32, n); }

std::string error(const ir::tile::Kernel& k, const TileCall& call, RunError::Kind kind) {
  try {
    interp::run(k, call);
  } catch (const RunError& e) {
    CHECK(e.kind == kind);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("elements by addresses, the last block under a mask") {
  for (const std::int64_t n : {1, 255, 256, 700}) {
    Array x = Array::make(f32, {n}, [](Index i) { return double(i[0]) / 4; }), y = Array::zeros(f32, {n});
    interp::run(scaled(), {{&x, &y}, {number(n)}, {(n + 255) / 256, 1, 1}});
    CHECK(interp::difference(y, Array::make(f32, {n}, [](Index i) { return double(i[0]) / 2 + 1; })) == "");
  }
}

TEST_CASE("rows reduced in tiles that reach beyond their ends") {
  for (const auto& [r, c] : {std::pair<std::int64_t, std::int64_t>{5, 12}, {4, 1024}, {1, 4}}) {
    const std::int64_t columns = c;
    Array x = Array::make(f32, {r, c}, [&](Index i) { return -100 - double((i[0] * 7 + i[1] * 5) % columns); });
    Array y = Array::zeros(f32, {r, c});
    interp::run(below_the_largest(), {{&x, &y}, {number(r), number(c), number(c), number(c)}, {(r + 3) / 4, 1, 1}});
    const Array expected = Array::make(f32, {r, c}, [&](Index i) {
      double most = -1e9;
      for (std::int64_t j = 0; j < columns; ++j) most = std::max(most, x.real({i[0], j}));
      return x.real({i[0], i[1]}) - most;
    });
    CHECK(interp::difference(y, expected) == "");
  }
}

TEST_CASE("components, a scan, a permutation") {
  Array x = Array::make(f32, {32, 64}, [](Index i) { return double((i[0] * 11 + i[1] * 37) % 64); });
  Array place = Array::zeros(i32, {32}), sums = Array::zeros(f32, {64, 32});
  interp::run(largest_and_sums(), {{&x, &place, &sums}, {}, {4, 1, 1}});
  for (std::int64_t r = 0; r < 32; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < 64; ++c) {
      sum += x.real({r, c});
      CHECK(sums.real({c, r}) == sum);
    }
    CHECK(x.real({r, place.integer({r})}) == 63);
  }
}

TEST_CASE("a product with ragged ends is the chain of fma along k") {
  for (const std::int64_t size : {16, 33, 40}) {
    const std::int64_t m = size, n = size + 5, depth = size + 9;
    Array a = Array::make(bf16, {m, depth}, [](Index i) { return double((i[0] * 3 + i[1]) % 7) - 3; });
    Array b = Array::make(bf16, {depth, n}, [](Index i) { return double((i[0] + i[1] * 5) % 9) - 4; });
    Array c = Array::zeros(bf16, {m, n});
    interp::run(product(16, 32, 16, 1), {{&a, &b, &c},
                                         {number(m), number(n), number(depth), number(depth), number(n), number(n)},
                                         {(m + 15) / 16, (n + 31) / 32, 1}});
    const Array expected = Array::make(bf16, {m, n}, [&](Index i) {
      float sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) sum = std::fma(float(a.real({i[0], k})), float(b.real({k, i[1]})), sum);
      return ir::float_value(bf16, double(sum)).f;
    });
    CHECK(interp::difference(c, expected) == "");
  }
}

TEST_CASE("updates of memory by all blocks, a constant of the kernel, every second element") {
  Array x = Array::make(u8, {200}, [](Index i) { return double(i[0] * i[0] % 251); }), counts = Array::zeros(i32, {16});
  interp::run(counted(), {{&x, &counts}, {number(200)}, {4, 1, 1}});
  std::array<std::int64_t, 16> expected{};
  for (std::int64_t i = 0; i < 200; ++i) ++expected[static_cast<std::size_t>(x.integer({i}) * 7 % 16)];
  for (std::int64_t k = 0; k < 16; ++k) CHECK(counts.integer({k}) == expected[static_cast<std::size_t>(k)]);

  Array grid = Array::make(f32, {15, 40}, [](Index i) { return double(i[0] * 100 + i[1]); }), some = Array::zeros(f32, {7, 14});
  interp::run(every_second(), {{&grid, &some}, {number(15), number(40), number(40), number(7), number(14)}, {2, 2, 1}});
  for (std::int64_t i = 0; i < 7; ++i)
    for (std::int64_t j = 0; j < 14; ++j) CHECK(some.real({i, j}) == grid.real({2 * i + 1, 3 * j}));
}

TEST_CASE("a factor that is no number of tf32 breaks a promise") {
  Array a = Array::zeros(f32, {16, 32}), b = Array::zeros(f32, {32, 16}), c = Array::zeros(f32, {16, 16});
  interp::run(product_of_tf32(), {{&a, &b, &c}, {}, {1, 1, 1}});
  b = Array::make(f32, {32, 16}, [](Index) { return 1 + 0x1p-20; });
  const std::string why = error(product_of_tf32(), {{&a, &b, &c}, {}, {1, 1, 1}}, RunError::Kind::broken_promise);
  CHECK_MESSAGE(why == "product_of_tf32: a factor of tf32 is 1.000001, expected an f32 with 10 bits of fraction", why);
}

TEST_CASE("two blocks that write one element, tiles outside, promises that do not hold") {
  Array x = Array::zeros(f32, {700}), y = Array::zeros(f32, {700});
  CHECK(error(scaled(), {{&x, &y}, {number(700)}, {1, 2, 1}}, RunError::Kind::race) ==
        "blocks (0, 0, 0) and (0, 1, 0) both write element 0 of y");
  Array short_x = Array::zeros(f32, {5, 12}), short_y = Array::zeros(f32, {5, 12});
  CHECK(error(below_the_largest(), {{&short_x, &short_y}, {number(5), number(12), number(12), number(12)}, {3, 1, 1}},
              RunError::Kind::out_of_bounds) == "block (2, 0, 0) accesses tile (2, 0) of x_tiles, whose grid is (2, 1)");
  Array odd_x = Array::zeros(f32, {5, 13}), odd_y = Array::zeros(f32, {5, 13});
  CHECK(error(below_the_largest(), {{&odd_x, &odd_y}, {number(5), number(13), number(13), number(13)}, {2, 1, 1}},
              RunError::Kind::broken_promise) == "C is 13, and promised to be a multiple of 4 from 0 on");
  CHECK(error(scaled(), {{&x, &y}, {number(699)}, {3, 1, 1}}, RunError::Kind::arguments) ==
        "x is f32 (699) of strides (1), the array f32 (700) of strides (1)");

  Builder b("outside");  // reads one element past the end
  const Id in = b.tensor("x", f32, {b.constant_extent(8)}, {b.constant_extent(1)}, 16, false);
  const Id at = b.apply(Op::add, {b.iota(i64, 8), b.integer(i64, 1, {8})}), mask = b.integer(bool_, 1, {8});
  b.gather(in, at, mask, b.constant(ir::float_value(f32, 0), {8}));
  Array eight = Array::zeros(f32, {8});
  CHECK(error(std::move(b).kernel(), {{&eight}, {}, {1, 1, 1}}, RunError::Kind::out_of_bounds) ==
        "block (0, 0, 0) accesses element 8 of x, which has (8)");
}
