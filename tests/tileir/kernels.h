#pragma once
// Tile kernels written by hand, one for each way of access.
#include <limits>

#include <ashlar/ir/build.h>
#include <ashlar/ir/tile_build.h>

namespace tiles {

using namespace ashlar;
using ir::Id;
using ir::Op;
using ir::tile::Builder;
using ir::tile::Extent;

// y(i) = x(i) * 2 + 1, by addresses under a mask
inline ir::tile::Kernel scaled() {
  Builder b("scaled");
  const Id n = b.parameter("n", {});
  const Id x = b.tensor("x", f32, {b.extent(n)}, {b.constant_extent(1)}, 16, false);
  const Id y = b.tensor("y", f32, {b.extent(n)}, {b.constant_extent(1)}, 16, true);
  const Id first = b.apply(Op::mul, {b.cast(i64, b.block(0)), b.integer(i64, 256)});
  const Id at = b.apply(Op::add, {b.spread(first, {256}), b.iota(i64, 256)});
  const Id inside = b.apply(Op::lt, {at, b.spread(b.cast(i64, n), {256})});
  const Id v = b.gather(x, at, inside, b.constant(ir::float_value(f32, 0), {256}));
  const Id twice = b.apply(Op::mul, {v, b.constant(ir::float_value(f32, 2), {256})});
  b.scatter(y, at, b.apply(Op::add, {twice, b.constant(ir::float_value(f32, 1), {256})}), inside);
  return std::move(b).kernel();
}

// y(r, c) = x(r, c) - maximum of x(r, ..), rows of up to 1024
inline ir::tile::Kernel below_the_largest() {
  Builder b("below_the_largest");
  const Id r = b.parameter("R", {}), c = b.parameter("C", {.divisor = 4}), sx = b.parameter("x_stride", {.divisor = 4}),
           sy = b.parameter("y_stride", {.divisor = 4});
  const Id x = b.tensor("x", f32, {b.extent(r), b.extent(c)}, {b.extent(sx), b.constant_extent(1)}, 16, false);
  const Id y = b.tensor("y", f32, {b.extent(r), b.extent(c)}, {b.extent(sy), b.constant_extent(1)}, 16, true);
  const Id row = b.block(0), zero = b.integer(i32, 0);
  const Id v = b.load(b.view(x, {4, 1024}), {row, zero});
  const Id inside = b.apply(Op::lt, {b.iota(i32, 1024), b.spread(c, {1024})});
  const ir::Value least = ir::float_value(f32, -std::numeric_limits<double>::infinity());
  const Id known = b.apply(Op::select, {b.broadcast(b.reshape(inside, {1, 1024}), {4, 1024}), v, b.constant(least, {4, 1024})});
  const Id largest = b.reduce({known}, 1, {least}, [](Builder& in, const std::vector<Id>& so_far, const std::vector<Id>& next) {
    return std::vector<Id>{in.apply(Op::max, {so_far[0], next[0]})};
  })[0];
  b.store(b.view(y, {4, 1024}), {row, zero}, b.apply(Op::sub, {v, b.broadcast(b.reshape(largest, {4, 1}), {4, 1024})}));
  return std::move(b).kernel();
}

// The place of the largest element of each row of 64, and the sums up to each element: components, a scan, a permutation.
inline ir::tile::Kernel largest_and_sums() {
  Builder b("largest_and_sums");
  const Id x = b.tensor("x", f32, {b.constant_extent(32), b.constant_extent(64)}, {b.constant_extent(64), b.constant_extent(1)},
                        16, false);
  const Id place = b.tensor("place", i32, {b.constant_extent(32)}, {b.constant_extent(1)}, 16, true);
  const Id sums = b.tensor("sums", f32, {b.constant_extent(64), b.constant_extent(32)},
                           {b.constant_extent(32), b.constant_extent(1)}, 16, true);
  const Id row = b.block(0), zero = b.integer(i32, 0);
  const Id v = b.load(b.view(x, {8, 64}), {row, zero});
  const Id at = b.broadcast(b.reshape(b.iota(i32, 64), {1, 64}), {8, 64});
  const ir::Value least = ir::float_value(f32, -std::numeric_limits<double>::infinity());
  const std::vector<Id> found = b.reduce(
      {v, at}, 1, {least, ir::int_value(i32, 64)}, [](Builder& in, const std::vector<Id>& a, const std::vector<Id>& n) {
        const Id later =
            in.apply(Op::logic_or, {in.apply(Op::gt, {n[0], a[0]}),
                                    in.apply(Op::logic_and, {in.apply(Op::eq, {n[0], a[0]}), in.apply(Op::lt, {n[1], a[1]})})});
        return std::vector<Id>{in.apply(Op::select, {later, n[0], a[0]}), in.apply(Op::select, {later, n[1], a[1]})};
      });
  b.store(b.view(place, {8}), {row}, found[1]);
  const Id up_to =
      b.scan({v}, 1, false, {ir::float_value(f32, 0)}, [](Builder& in, const std::vector<Id>& a, const std::vector<Id>& n) {
        return std::vector<Id>{in.apply(Op::add, {a[0], n[0]})};
      })[0];
  b.store(b.view(sums, {64, 8}), {zero, row}, b.permute(up_to, {1, 0}));
  return std::move(b).kernel();
}

// counts(table(x(i))) += 1, with a table that the kernel holds
inline ir::tile::Kernel counted() {
  Builder b("counted");
  const Id n = b.parameter("n", {});
  const Id x = b.tensor("x", u8, {b.extent(n)}, {b.constant_extent(1)}, 16, false);
  const Id counts = b.tensor("counts", i32, {b.constant_extent(16)}, {b.constant_extent(1)}, 16, true);
  auto data = std::make_shared<std::vector<std::byte>>(256);
  for (std::size_t i = 0; i < 256; ++i) (*data)[i] = static_cast<std::byte>(i * 7 % 16);
  const Id table = b.constant_tensor("table", u8, {256}, data);
  const Id first = b.apply(Op::mul, {b.cast(i64, b.block(0)), b.integer(i64, 64)});
  const Id at = b.apply(Op::add, {b.spread(first, {64}), b.iota(i64, 64)});
  const Id inside = b.apply(Op::lt, {at, b.spread(b.cast(i64, n), {64})});
  const Id none = b.integer(u8, 0, {64});
  const Id entry = b.gather(table, b.cast(i64, b.gather(x, at, inside, none)), inside, none);
  b.atomic(counts, Op::add, b.cast(i64, entry), b.integer(i32, 1, {64}), inside);
  return std::move(b).kernel();
}

// y(i, j) = x(2 i + 1, 3 j)
inline ir::tile::Kernel every_second() {
  Builder b("every_second");
  const Id m = b.parameter("M", {}), n = b.parameter("N", {}), s = b.parameter("x_stride", {.divisor = 4}),
           p = b.parameter("P", {}), q = b.parameter("Q", {});
  const Id x = b.tensor("x", f32, {b.extent(m), b.extent(n)}, {b.extent(s), b.constant_extent(1)}, 16, false);
  const Id y = b.tensor("y", f32, {b.extent(p), b.extent(q)}, {b.extent(q), b.constant_extent(1)}, 16, true);
  const std::vector<Id> at{b.block(0), b.block(1)};
  b.store(b.view(y, {4, 8}), at, b.load(b.view(x, {4, 8}, ir::tile::Outside::zero, {{2, 1}, {3, 0}}), at));
  return std::move(b).kernel();
}

// C = A B of numbers of tf32, 16 x 32 by 32 x 16
inline ir::tile::Kernel product_of_tf32() {
  Builder b("product_of_tf32");
  const Extent one = b.constant_extent(1), m = b.constant_extent(16), k = b.constant_extent(32);
  const Id a = b.tensor("A", f32, {m, k}, {k, one}, 16, false), w = b.tensor("B", f32, {k, m}, {m, one}, 16, false);
  const Id c = b.tensor("C", f32, {m, m}, {m, one}, 16, true);
  const Id at = b.integer(i32, 0), sum = b.constant(ir::float_value(f32, 0), {16, 16});
  b.store(b.view(c, {16, 16}), {at, at},
          b.mma(b.load(b.view(a, {16, 32}), {at, at}), b.load(b.view(w, {32, 16}), {at, at}), sum, true));
  return std::move(b).kernel();
}

// C = A B, tiles of tm x tn, steps of tk, summed in f32
inline ir::tile::Kernel product(std::int64_t tm, std::int64_t tn, std::int64_t tk, std::int64_t divisor = 16) {
  Builder b("product");
  const Id m = b.parameter("M", {.divisor = divisor}), n = b.parameter("N", {.divisor = divisor}),
           k = b.parameter("K", {.divisor = divisor});
  const Id sa = b.parameter("A_stride", {.divisor = divisor}), sb = b.parameter("B_stride", {.divisor = divisor}),
           sc = b.parameter("C_stride", {.divisor = divisor});
  const Extent one = b.constant_extent(1);
  const Id a = b.tensor("A", bf16, {b.extent(m), b.extent(k)}, {b.extent(sa), one}, 16, false);
  const Id w = b.tensor("B", bf16, {b.extent(k), b.extent(n)}, {b.extent(sb), one}, 16, false);
  const Id c = b.tensor("C", bf16, {b.extent(m), b.extent(n)}, {b.extent(sc), one}, 16, true);
  const Id i = b.block(0), j = b.block(1), zero = b.integer(i32, 0), step = b.integer(i32, 1);
  const Id steps = b.apply(Op::div, {b.apply(Op::add, {k, b.integer(i32, tk - 1)}), b.integer(i32, tk)});
  const Id start = b.constant(ir::float_value(f32, 0), {tm, tn});
  const Id av = b.view(a, {tm, tk}, ir::tile::Outside::zero), wv = b.view(w, {tk, tn}, ir::tile::Outside::zero);
  const Id sum = b.loop(zero, steps, step, {start}, [&](Builder& in, Id at, const std::vector<Id>& carried) {
    const Id left = in.load(av, {i, at}), right = in.load(wv, {at, j});
    return std::vector<Id>{in.mma(left, right, carried[0])};
  })[0];
  b.store(b.view(c, {tm, tn}), {i, j}, b.cast(bf16, sum));
  return std::move(b).kernel();
}

}  // namespace tiles
