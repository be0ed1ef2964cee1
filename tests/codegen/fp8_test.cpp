// 8-bit floats in compiled code against ir/numeric.h: every code to every type, every f16 and every kind of f32 back, in
// vectors and one by one.
#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/ir/print.h>

#include "tests/codegen/kernels.h"

using namespace ashlar;
using namespace ashlar::ir;
using kernels::Maker;

namespace {

struct Wanted {
  Op op;
  Type to;
};

// Each conversion of the values, all in one kernel: a kernel of more than a few outputs is slow to compile.
void compare(Type from, const std::vector<Value>& values, std::initializer_list<Wanted> all) {
  const std::size_t n = values.size() / 64 * 64;
  const auto size = [&](Type t) { return n * static_cast<std::size_t>(t.bytes()); };
  std::vector<std::vector<unsigned char>> memory(1 + all.size());
  memory[0].resize(size(from));
  for (std::size_t k = 0; k < n; ++k) write_value(memory[0].data() + k * static_cast<std::size_t>(from.bytes()), values[k]);
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3", "x86-64-v4"}))
    for (int lanes : {1, 16}) {
      Maker m("convert");
      const auto extent = ir::index(static_cast<std::int64_t>(n));
      const ir::Id x = m.tensor("x", from, {extent});
      const Expr i = ir::var(m.fresh(), "i"), first = ir::mul(i, ir::index(lanes));
      const Expr at = lanes == 1 ? first : ir::ramp(first, ir::index(1), lanes), v = m.load(x, at);
      std::vector<ir::KStmt> stores;
      std::vector<const void*> args{memory[0].data()};
      for (const Wanted& w : all) {
        std::vector<unsigned char>& out = memory[stores.size() + 1];
        out.assign(size(w.to), 0xAB);
        args.push_back(out.data());
        const ir::Id y = m.tensor("y" + std::to_string(stores.size()), w.to, {extent}, true);
        stores.push_back(kernels::store(y, at, ir::make(w.op, w.to.with_lanes(lanes), std::span(&v, 1))));
      }
      m.k.body = {kernels::loop(i, ir::index(static_cast<std::int64_t>(n) / lanes), stores)};
      REQUIRE(codegen::compile(m.k, target).run(args.data(), nullptr) == ASHLAR_OK);
      std::size_t c = 0;
      for (const Wanted& w : all) {
        int wrong = 0;
        const std::vector<unsigned char>& out = memory[++c];
        for (std::size_t k = 0; k < n; ++k) {
          const Value got = read_value(w.to, out.data() + k * static_cast<std::size_t>(w.to.bytes()));
          const Value want = *evaluate(w.op, w.to, std::span(&values[k], 1));
          if (same_value(got, want) || wrong++) continue;
          MESSAGE(target.text() << " " << op_name(w.op) << " " << ir::text(from) << " -> " << ir::text(w.to) << " of "
                                << ir::text(values[k]) << ": " << ir::text(got) << ", expected " << ir::text(want));
        }
        CHECK(wrong == 0);
      }
    }
}

}  // namespace

TEST_CASE("every code to every type") {
  for (Type from : {e4m3, e5m2}) {
    std::vector<Value> codes;
    for (std::uint64_t b = 0; b < 256; ++b) codes.push_back(from_bits(from, b));
    compare(from, codes, {{Op::cast, i8}, {Op::cast, u8}, {Op::cast, i32}, {Op::cast, u64}, {Op::cast, f16}, {Op::cast, bf16}});
    compare(from, codes, {{Op::cast, f32}, {Op::cast, f64}, {Op::cast, bool_}, {Op::cast, e4m3}, {Op::cast, e5m2}});
    compare(from, codes,
            {{Op::saturate, i8}, {Op::saturate, u16}, {Op::saturate, f16}, {Op::saturate, e4m3}, {Op::saturate, e5m2}});
  }
}

TEST_CASE("every f16, bytes, and every kind of f32 and f64 to 8-bit floats") {
  std::vector<Value> halves, bytes, singles, doubles;
  for (std::uint64_t b = 0; b < 65536; ++b) halves.push_back(from_bits(f16, b));
  for (int k = 0; k < 256; ++k) bytes.push_back(int_value(i8, k));
  std::mt19937 random(11);
  for (int k = 0; k < 20000; ++k) singles.push_back(from_bits(f32, random()));
  for (int e = -20; e < 18; ++e)
    for (int m = 0; m < 32; ++m) {
      const double tie = std::ldexp(1.0 + m / 32.0, e);
      for (double v : {tie, tie * (1 + 0x1p-23), tie * (1 - 0x1p-24), -tie}) singles.push_back(float_value(f32, v));
      for (double v : {tie, tie * (1 + 0x1p-52), tie * (1 - 0x1p-53), -tie * (1 + 0x1p-25)})
        doubles.push_back(float_value(f64, v));
    }
  const auto all = {Wanted{Op::cast, e4m3}, Wanted{Op::cast, e5m2}, Wanted{Op::saturate, e4m3}, Wanted{Op::saturate, e5m2}};
  compare(f16, halves, all);
  compare(i8, bytes, all);
  compare(f32, singles, all);
  compare(f64, doubles, all);
}
