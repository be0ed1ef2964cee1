// Packed elements (i4, u4) as arguments: every access reads the elements it names, for every parity of the first one, and not a
// byte beside them; entry refuses rows that do not start on bytes.
#include <functional>
#include <memory>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/runtime/runtime.h>

#include "tests/codegen/kernels.h"
#include "tests/support/sentence.h"

using namespace ashlar;
using namespace ashlar::ir;
using kernels::Maker;

namespace {

const auto kLevels = {"x86-64", "x86-64-v3", "x86-64-v4"};

// Element e has the value value(e) modulo 16, in exactly as many bytes as hold n of them (a heap block, which sanitizers
// watch).
std::int64_t value(Type t, std::int64_t e) { return wrap_to(t, e * 7 + e / 16 + 3); }
std::unique_ptr<std::uint8_t[]> packed(Type t, std::int64_t n) {
  auto bytes = std::make_unique<std::uint8_t[]>(static_cast<std::size_t>((n + 1) / 2));
  for (std::int64_t e = 0; e < n; ++e)
    bytes[static_cast<std::size_t>(e / 2)] |= static_cast<std::uint8_t>((value(t, e) & 15) << (e % 2 * 4));
  return bytes;
}

// out[lane] = i32(in[address(lane)]) where mask, else 0; the address may use `begin`, a scalar that nothing is known of.
std::vector<std::int32_t> loaded(const Target& target, Type t, std::int64_t n, std::int64_t begin, int lanes,
                                 const std::function<Expr(const Expr& begin)>& address, const Expr& mask = {}) {
  Maker m("access");
  m.k.next_id = 100;
  const ir::Id x = m.tensor("x", t, {ir::index(n)}), out = m.tensor("out", i32, {ir::index(lanes)}, true);
  const Expr start = ir::cast(ir::index_type, m.scalar("begin", i64));
  const Expr to = lanes == 1 ? ir::index(0) : ir::ramp(ir::index(0), ir::index(1), lanes);
  m.k.body = {kernels::store(out, to, ir::cast(i32.with_lanes(lanes), m.load(x, address(start), mask)))};
  std::vector<std::int32_t> result(static_cast<std::size_t>(lanes), 99);
  const auto in = packed(t, n);
  struct {
    const void* x;
    void* out;
    std::int64_t begin;
  } args{in.get(), result.data(), begin};
  REQUIRE(codegen::compile(m.k, target).run(&args, nullptr) == ASHLAR_OK);
  return result;
}

}  // namespace

TEST_CASE("one element") {
  for (const Target& target : kernels::runnable(kLevels))
    for (Type t : {i4, u4})
      for (std::int64_t at = 0; at < 5; ++at)
        CHECK(loaded(target, t, 5, at, 1, [](const Expr& b) { return b; })[0] == value(t, at));
}

TEST_CASE("a vector of neighbors, from even and odd elements, known and unknown") {
  for (const Target& target : kernels::runnable(kLevels))
    for (Type t : {i4, u4})
      for (int lanes : {2, 8, 32})
        for (std::int64_t at : {0, 1, 6, 7})
          for (bool known : {false, true}) {
            const auto got = loaded(target, t, at + lanes, at, lanes,
                                    [&](const Expr& b) { return ir::ramp(known ? ir::index(at) : b, ir::index(1), lanes); });
            for (int k = 0; k < lanes; ++k) CHECK(got[static_cast<std::size_t>(k)] == value(t, at + k));
          }
}

TEST_CASE("masked lanes are 0 and read nothing") {
  const int lanes = 16;
  for (const Target& target : kernels::runnable(kLevels))
    for (Type t : {i4, u4})
      for (std::int64_t at : {0, 1})
        for (bool known : {false, true})
          for (std::int64_t last : {1, 6, 7, 16}) {
            const Expr lane = ir::ramp(ir::index(0), ir::index(1), lanes);
            const Expr mask = ir::binary(Op::lt, lane, ir::broadcast(ir::index(last), lanes));
            const auto got = loaded(
                target, t, at + last, at, lanes,
                [&](const Expr& b) { return ir::ramp(known ? ir::index(at) : b, ir::index(1), lanes); }, mask);
            for (int k = 0; k < lanes; ++k) CHECK(got[static_cast<std::size_t>(k)] == (k < last ? value(t, at + k) : 0));
          }
}

TEST_CASE("strides, one element in all lanes, and any addresses") {
  const int lanes = 8;
  for (const Target& target : kernels::runnable(kLevels))
    for (Type t : {i4, u4}) {
      for (std::int64_t stride : {-3, -2, -1, 0, 2, 3}) {
        const std::int64_t low = stride < 0 ? -stride * (lanes - 1) : 0;
        const auto got = loaded(target, t, std::abs(stride) * (lanes - 1) + 1, low, lanes,
                                [&](const Expr& b) { return ir::ramp(b, ir::index(stride), lanes); });
        for (int k = 0; k < lanes; ++k) CHECK(got[static_cast<std::size_t>(k)] == value(t, low + stride * k));
      }
      const Expr squares = ir::mul(ir::ramp(ir::index(0), ir::index(1), lanes), ir::ramp(ir::index(0), ir::index(1), lanes));
      const Expr some = ir::binary(Op::lt, squares, ir::broadcast(ir::index(20), lanes));
      const auto got = loaded(target, t, 50, 0, lanes, [&](const Expr&) { return squares; });
      const auto masked = loaded(target, t, 20, 0, lanes, [&](const Expr&) { return squares; }, some);
      for (int k = 0; k < lanes; ++k) {
        CHECK(got[static_cast<std::size_t>(k)] == value(t, k * k));
        CHECK(masked[static_cast<std::size_t>(k)] == (k * k < 20 ? value(t, k * k) : 0));
      }
    }
}

TEST_CASE("rows start on bytes, or the call is refused and nothing is written") {
  Maker m("rows");
  const Expr M = m.symbol("M"), N = m.symbol("N");
  const ir::Id w = m.tensor("W", i4, {M, N}), out = m.tensor("out", i8, {M, N}, true);
  const Expr ws = m.stride(w, 0), os = m.stride(out, 0);
  const Expr i = ir::var(m.fresh(), "i"), j = ir::var(m.fresh(), "j");
  m.k.body = {kernels::loop(
      i, M,
      {kernels::loop(j, N,
                     {kernels::store(out, ir::add(ir::mul(i, os), j), ir::cast(i8, m.load(w, ir::add(ir::mul(i, ws), j))))})})};
  const codegen::Compiled code = codegen::compile(m.k, Target::host());
  const auto bytes = packed(i4, 24);
  for (const bool tensors : {true, false})
    for (std::int64_t stride : {3, 4, 5, 6}) {
      std::int8_t result[12];
      std::fill(std::begin(result), std::end(result), std::int8_t{99});
      std::int64_t shape[] = {4, 3}, strides[] = {stride, 1};
      ashlar_error error{};
      ashlar_context context{};
      context.size = sizeof context;
      context.error = &error;
      int rc = 0;
      if (tensors) {
        ashlar_tensor in{}, to{};
        in.data = bytes.get(), in.device_type = 1, in.ndim = 2, in.type_code = 0, in.type_bits = 4, in.type_lanes = 1;
        in.shape = shape, in.strides = strides;
        to = in, to.data = result, to.type_bits = 8, to.strides = nullptr;
        const void* arguments[] = {&in, &to};
        rc = code.call(arguments, &context);
      } else {
        struct {
          const void* w;
          void* out;
          std::int64_t M, N, W_stride0, out_stride0;
        } args{bytes.get(), result, 4, 3, stride, 0};
        rc = code.run(&args, &context);
      }
      CAPTURE(stride);
      if (stride % 2 == 0) {
        REQUIRE(rc == ASHLAR_OK);
        for (std::int64_t k = 0; k < 12; ++k) CHECK(result[k] == value(i4, k / 3 * stride + k % 3));
        continue;
      }
      CHECK(rc == ASHLAR_E_STRIDE);
      CHECK(result[0] == 99);
      CHECK(test::sentence(error).find("W.strides[0] is " + std::to_string(stride) +
                                       ", expected a multiple of 2 (rows start on bytes)") != std::string::npos);
    }
}

TEST_CASE("a vector of weights is unpacked by vector shifts") {
  Maker m("weights");
  const ir::Id w = m.tensor("W", i4, {ir::index(1024)}), out = m.tensor("out", i8, {ir::index(1024)}, true);
  const Expr i = ir::var(m.fresh(), "i"), at = ir::ramp(ir::mul(i, ir::index(32)), ir::index(1), 32);
  m.k.body = {kernels::loop(i, ir::index(32), {kernels::store(out, at, ir::cast(i8.with_lanes(32), m.load(w, at)))})};
  const std::string text = codegen::emit(m.k, Target::parse("x86-64-v3"), codegen::Output::assembly);
  CHECK(text.find("vpunpcklbw") != text.npos);
  CHECK(text.find("vpinsrb") == text.npos);
  CHECK(text.find("vpextrb") == text.npos);
}
