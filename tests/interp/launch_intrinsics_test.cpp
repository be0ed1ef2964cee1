// Intrinsics one by one, against what their comments in ir/intrinsics.h say: native functions against plain loops over logical
// elements, fragments' maps against each other.
#include <doctest/doctest.h>

#include <numeric>

#include <ashlar/analysis/verify.h>
#include <ashlar/interp/interpreter.h>

#include "tests/interp/launch_builder.h"

using namespace launches;
using interp::Array;
using ir::Completion;

namespace {

interp::Options with_races() {
  interp::Options o;
  o.races = true;
  return o;
}

Array numbers(Type t, std::vector<std::int64_t> shape) {
  std::int64_t n = 0;
  return Array::make(t, std::move(shape), [&](auto) { return static_cast<double>(n++ * 7 % 23 - 11); });
}

// One warp: out[lane] = shuffled in[lane].
std::vector<double> shuffled(const ir::Intrinsic& f, std::int64_t operand, std::int64_t warp) {
  Builder b("shuffled");
  const Id in = b.input("in", f32, {num(warp)}), out = b.output("out", f32, {num(warp)});
  const Id from = b.registers("from", f32, 1), to = b.registers("to", f32, 1);
  b.intrinsic(f);
  b.launch(
      num(1), warp, 0,
      [&](const Expr&, const Expr& thread) {
        b.store(from, num(0), b.at(in, thread));
        b.call(f, {{to, num(0)}, {from, num(0)}, operand});
        b.store(out, thread, b.at(to, num(0)));
      },
      Where::current(), warp);
  CHECK_NOTHROW(analysis::verify(b.k));
  interp::Arguments args{Array::make(f32, {warp}, [](auto at) { return static_cast<double>(at[0]); }),
                         Array::zeros(f32, {warp})};
  interp::run(b.k, args, with_races());
  std::vector<double> r;
  for (std::int64_t l = 0; l < warp; ++l) r.push_back(args[1].array.real({l}));
  return r;
}

}  // namespace

TEST_CASE("shuffles move between lanes, and keep a lane's own where there is no such lane") {
  for (std::int64_t warp : {8, 32}) {
    const int w = static_cast<int>(warp);
    for (std::int64_t n : {1, 3, 4}) {
      const auto x = shuffled(ir::shuffle_xor(f32, w), n, warp), i = shuffled(ir::shuffle_idx(f32, w), n, warp);
      const auto up = shuffled(ir::shuffle_up(f32, w), n, warp), down = shuffled(ir::shuffle_down(f32, w), n, warp);
      for (std::int64_t l = 0; l < warp; ++l) {
        const auto at = static_cast<std::size_t>(l);
        CHECK(x[at] == static_cast<double>(l ^ n));
        CHECK(i[at] == static_cast<double>(n));
        CHECK(up[at] == static_cast<double>(l >= n ? l - n : l));
        CHECK(down[at] == static_cast<double>(l + n < warp ? l + n : l));
      }
    }
  }
}

TEST_CASE(
    "matrices move between shared memory and fragments: stored the way they were loaded they are themselves, the other way "
    "transposed") {
  for (int matrices : {1, 2, 4})
    for (bool load_transposed : {false, true})
      for (bool store_transposed : {false, true}) {
        Builder b("matrices");
        const std::int64_t n = matrices * 64;
        const Id in = b.input("in", bf16, {num(n)}), out = b.output("out", bf16, {num(n)});
        const Id tile = b.shared("tile", bf16, n, 0), other = b.shared("other", bf16, n, 512);
        const Id r = b.registers("r", bf16, 2 * matrices);
        const ir::Intrinsic& load = b.intrinsic(ir::ldmatrix(bf16, matrices, load_transposed));
        const ir::Intrinsic& save = b.intrinsic(ir::stmatrix(bf16, matrices, store_transposed));
        b.launch(num(1), 32, 1024, [&](const Expr&, const Expr& thread) {
          b.loop("i", num(n / 32), [&](const Expr& i) { b.store(tile, i * 32 + thread, b.at(in, i * 32 + thread)); });
          b.warp_barrier({});
          const Expr row = thread % (8 * matrices) * 8;  // lanes without a row give any address
          b.call(load, {{r, num(0)}, {tile, row}});
          b.call(save, {{other, row}, {r, num(0)}});
          b.warp_barrier({});
          b.loop("i", num(n / 32), [&](const Expr& i) { b.store(out, i * 32 + thread, b.at(other, i * 32 + thread)); });
        });
        CHECK_NOTHROW(analysis::verify(b.k));
        interp::Arguments args{numbers(bf16, {n}), Array::zeros(bf16, {n})};
        interp::run(b.k, args, with_races());
        const bool same = load_transposed == store_transposed;
        const Array expected = Array::make(bf16, {n}, [&](auto at) {
          const std::int64_t m = at[0] / 64, y = at[0] / 8 % 8, x = at[0] % 8;
          return args[0].array.real({same ? at[0] : m * 64 + x * 8 + y});
        });
        CHECK(interp::difference(args[1].array, expected) == "");
      }
}

TEST_CASE("cp.async copies 4, 8 and 16 bytes, and fills with zero what it does not read") {
  for (int elements : {1, 2, 4})
    for (std::int64_t valid = 0; valid <= elements; ++valid) {
      Builder b("copies");
      const Id in = b.input("in", f32, {num(valid)}), out = b.output("out", f32, {num(elements)});
      const Id tile = b.shared("tile", f32, elements, 0);
      const ir::Intrinsic& copy = b.intrinsic(ir::copy_async(f32, elements));
      b.launch(num(1), 32, 128, [&](const Expr&, const Expr& thread) {
        b.when(below(thread, 1), [&] {
          b.call(copy, {{tile, num(0)}, {in, num(0)}, valid});  // in ends where the valid elements end
          b.commit({}, Completion::copy_group);
          b.wait_group({}, Completion::copy_group, 0);
          b.loop("i", num(elements), [&](const Expr& i) { b.store(out, i, b.at(tile, i)); });
        });
      });
      CHECK_NOTHROW(analysis::verify(b.k));
      interp::Arguments args{Array::make(f32, {valid}, [](auto at) { return 3.0 + static_cast<double>(at[0]); }),
                             Array::zeros(f32, {elements})};
      interp::run(b.k, args, with_races());
      for (std::int64_t e = 0; e < elements; ++e)
        CHECK(args[1].array.real({e}) == (e < valid ? 3.0 + static_cast<double>(e) : 0));
    }
}

TEST_CASE("boxes of tensor maps: swizzled granules, zero outside, nothing written outside") {
  // in[5, 10, 64] comes in as a box of 2 x 4 x 16 f32 from (-1, 8, 56) and goes out to the same place of out, but 8 further in
  // x.
  for (int swizzle : {0, 32, 64}) {
    const std::int64_t inner = swizzle == 32 ? 8 : 16;
    Builder b("boxes");
    const Id in = b.input("in", f32, {num(5), num(10), num(64)}), out = b.output("out", f32, {num(5), num(10), num(64)});
    const Id raw = b.output("raw", f32, {num(2 * 4 * inner)});
    const Id tile = b.shared("tile", f32, 2 * 4 * inner, 0), bar = b.barriers("bar", 1, 1024);
    const auto map = [&](const char* name, Id of) {
      return b.tensor_map(name, of, {num(5), num(10), num(64)}, {num(640), num(64), num(1)}, {2, 4, inner}, swizzle);
    };
    const Id in_map = map("in_map", in), out_map = map("out_map", out);
    const ir::Intrinsic &load = b.intrinsic(ir::tma_load(f32)), &save = b.intrinsic(ir::tma_store(f32));
    b.launch(num(1), 32, 1032, [&](const Expr&, const Expr& thread) {
      b.loop("i", num(100), [&](const Expr& i) { b.store(out, i * 32 + thread, ir::float_const(f32, 0)); });
      b.fence({}, Sync::Kind::fence_proxy);
      b.warp_barrier({});
      b.when(below(thread, 1), [&] {
        b.init(bar, num(0), 1);
        b.fence({}, Sync::Kind::fence_init);
        b.expect({}, bar, num(0), num(2 * 4 * inner * 4));
        b.call(load, {{tile, num(0)}, {in_map, {num(-1), num(8), num(56)}}, {bar, num(0)}});
        b.wait({}, bar, num(0), num(0));
        b.call(save, {{out_map, {num(-1), num(8), num(56 + 4)}}, {tile, num(0)}});
        b.commit({}, Completion::bulk_group);
        b.wait_read({}, 0);
        b.loop("i", num(2 * 4 * inner), [&](const Expr& i) { b.store(raw, i, b.at(tile, i)); });
      });
    });
    CHECK_NOTHROW(analysis::verify(b.k));
    interp::Arguments args{numbers(f32, {5, 10, 64}), Array::zeros(f32, {5, 10, 64}), Array::zeros(f32, {2 * 4 * inner})};
    interp::run(b.k, args, with_races());
    const auto source = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
      return z < 0 || z >= 5 || y < 0 || y >= 10 || x < 0 || x >= 64 ? 0.0 : args[0].array.real({z, y, x});
    };
    for (std::int64_t e = 0; e < 2 * 4 * inner; ++e) {  // where each element lies
      const std::int64_t row = e * 4 / 128;             // the bits that the granule is xored with
      const std::int64_t granule = e / 4 ^ (swizzle == 32 ? row % 2 : swizzle == 64 ? row % 4 : 0);
      CHECK(args[2].array.real({granule * 4 + e % 4}) == source(-1 + e / (4 * inner), 8 + e / inner % 4, 56 + e % inner));
    }
    const Array expected = Array::make(f32, {5, 10, 64}, [&](auto at) {
      const std::int64_t z = at[0] + 1, y = at[1] - 8, x = at[2] - 60;
      return z < 2 && y >= 0 && y < 4 && x >= 0 && x < inner ? source(at[0], at[1], at[2] - 4) : 0.0;
    });
    CHECK(interp::difference(args[1].array, expected) == "");
  }
}

TEST_CASE("products of a warpgroup: every swizzle, A from shared memory and from registers") {
  for (int swizzle : {0, 32, 64, 128})
    for (bool from_registers : {false, true}) {
      constexpr std::int64_t n = 24;
      Builder b("product");
      const Id A = b.input("A", f16, {num(64), num(16)}), B = b.input("B", f16, {num(n), num(16)});
      const Id C = b.output("C", f32, {num(64), num(n)});
      const Id As = b.shared("As", f16, 64 * 64, 0), Bs = b.shared("Bs", f16, n * 64, 8192);
      const Id acc = b.registers("acc", f32, n / 2), a = b.registers("a", f16, 8);
      const ir::Intrinsic& f = b.intrinsic(ir::wgmma(n, f16, from_registers));
      // Element (i, k) in elements: rows of `swizzle` bytes, eight rows to a group; or 8 x 16-byte core matrices, those along k
      // 128 bytes apart.
      const auto place = [&](const Expr& i, const Expr& k) {
        if (swizzle == 0) return i / 8 * 128 + k / 8 * 64 + i % 8 * 8 + k % 8;
        const Expr at = i * (swizzle / 2) + k;
        return exclusive_or(at, at / 64 % (swizzle / 16) * 8);
      };
      const std::int64_t stride = swizzle == 0 ? 256 : 8 * swizzle;
      b.launch(num(1), 128, 16384, [&](const Expr&, const Expr& thread) {
        b.loop("i", num(8), [&](const Expr& i) {
          const Expr e = i * 128 + thread;
          b.store(As, place(e / 16, e % 16), b.at(A, e));
        });
        b.loop("i", num(n / 8), [&](const Expr& i) {
          const Expr e = i * 128 + thread;
          b.store(Bs, place(e / 16, e % 16), b.at(B, e));
        });
        const Expr row = b.let("row", thread / 32 * 16 + thread % 32 / 4), pair = b.let("pair", thread % 4 * 2);
        for (std::int64_t r = 0; r < 8; ++r)
          b.store(a, num(r), b.at(A, (row + r / 2 % 2 * 8) * 16 + pair + (r / 4 * 8 + r % 2)));
        for (std::int64_t r = 0; r < n / 2; ++r) b.store(acc, num(r), ir::float_const(f32, 1));
        b.fence({}, Sync::Kind::fence_proxy);
        b.block_barrier({});
        b.fence({}, Sync::Kind::fence_product);
        using Operands = std::vector<Builder::Operand>;
        if (from_registers)
          b.call(f, Operands{{acc, num(0)}, {a, num(0)}, {Bs, num(0)}, 128, stride, swizzle, 1});
        else
          b.call(f, Operands{{acc, num(0)}, {As, num(0)}, {Bs, num(0)}, 128, stride, 128, stride, swizzle, 1});
        b.commit({}, Completion::product_group);
        b.wait_group({}, Completion::product_group, 0);
        for (std::int64_t r = 0; r < n / 2; ++r)
          b.store(C, (row + r / 2 % 2 * 8) * n + pair + (r / 4 * 8 + r % 2), b.at(acc, num(r)));
      });
      CHECK_NOTHROW(analysis::verify(b.k));
      interp::Arguments args{numbers(f16, {64, 16}), numbers(f16, {n, 16}), Array::zeros(f32, {64, n})};
      interp::run(b.k, args, with_races());
      const Array expected = Array::make(f32, {64, n}, [&](auto at) {
        double sum = 1;
        for (std::int64_t k = 0; k < 16; ++k) sum += args[0].array.real({at[0], k}) * args[1].array.real({at[1], k});
        return sum;
      });
      CAPTURE(swizzle);
      CAPTURE(from_registers);
      CHECK(interp::difference(args[2].array, expected) == "");
    }
}

TEST_CASE("a swizzle is a permutation of each span, and its own inverse") {
  for (int swizzle : {0, 32, 64, 128})
    for (std::int64_t byte = 0; byte < 4096; ++byte) {
      const std::int64_t to = ir::swizzled(byte, swizzle);
      REQUIRE(ir::swizzled(to, swizzle) == byte);
      REQUIRE(to / 128 == byte / 128);
      REQUIRE(to % 16 == byte % 16);
      if (swizzle == 0) REQUIRE(to == byte);
    }
}
