// Addresses and masks: every kind of access reads and writes exactly the elements it names.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>

#include "codegen/uses.h"
#include "tests/codegen/kernels.h"

using namespace ashlar;
using kernels::Maker;

namespace {

const auto kLevels = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

// out[lane] = in[address(lane)] where mask, else 0, for one vector; `in` lies directly before a guard value.
template <class T>
std::vector<T> loaded(const Target& target, Type t, const std::vector<T>& in, const Expr& address, const Expr& mask = {}) {
  const int lanes = address.type().lanes;
  Maker m("access");
  m.k.next_id = 100;
  const ir::Id x = m.tensor("x", t, {ir::index(static_cast<std::int64_t>(in.size()))}),
               out = m.tensor("out", t, {ir::index(lanes)}, true);
  const Expr to = ir::ramp(ir::index(0), ir::index(1), lanes);
  m.k.body = {kernels::store(out, to, m.load(x, address, mask))};
  std::vector<T> result(static_cast<std::size_t>(lanes), T(99));
  const void* args[] = {in.data(), result.data()};
  REQUIRE(codegen::compile(m.k, target).run(args, nullptr) == ASHLAR_OK);
  return result;
}

template <class T>
std::vector<T> counting(int n) {
  std::vector<T> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), T(1));
  return v;
}

}  // namespace

TEST_CASE_TEMPLATE("loads of every stride", T, float, std::int8_t, double) {
  const Type t = sizeof(T) == 4 ? f32 : sizeof(T) == 1 ? i8 : f64;
  for (const Target& target : kernels::runnable(kLevels))
    for (std::int64_t stride : {-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5}) {
      const int lanes = 8;
      const std::int64_t low = stride < 0 ? -stride * (lanes - 1) : 0;
      const std::vector<T> in = counting<T>(static_cast<int>(std::abs(stride) * (lanes - 1) + 1));  // not one element more
      const std::vector<T> got = loaded(target, t, in, ir::ramp(ir::index(low), ir::index(stride), lanes));
      for (int k = 0; k < lanes; ++k) CHECK(got[static_cast<std::size_t>(k)] == in[static_cast<std::size_t>(low + stride * k)]);
    }
}

TEST_CASE_TEMPLATE("loads of elements that lanes repeat", T, float, std::int8_t, double) {
  const Type t = sizeof(T) == 4 ? f32 : sizeof(T) == 1 ? i8 : f64;
  constexpr int lanes = 8;
  const auto all = [](std::int64_t v) { return ir::broadcast(ir::index(v), lanes); };
  const Expr lane = ir::ramp(ir::index(0), ir::index(1), lanes);
  for (const Target& target : kernels::runnable(kLevels))
    for (const std::int64_t by : {2, 3, 5, 8, 9}) {
      const std::vector<T> halves = counting<T>(static_cast<int>(3 + (lanes - 1) / by + 1));  // not one element more
      const std::vector<T> divided = loaded(target, t, halves, ir::add(all(3), ir::div(lane, all(by))));
      const std::vector<T> cycle = counting<T>(static_cast<int>(std::min<std::int64_t>(by, lanes)));
      const std::vector<T> rest = loaded(target, t, cycle, ir::mod(lane, all(by)));
      const std::vector<T> turned = loaded(target, t, halves, ir::sub(all(3 + (lanes - 1) / by), ir::div(lane, all(by))));
      for (int k = 0; k < lanes; ++k) {
        const auto at = static_cast<std::size_t>(k);
        CHECK(divided[at] == halves[3 + at / static_cast<std::size_t>(by)]);
        CHECK(rest[at] == cycle[at % static_cast<std::size_t>(by)]);
        CHECK(turned[at] == halves[halves.size() - 1 - at / static_cast<std::size_t>(by)]);
      }
    }
}

TEST_CASE_TEMPLATE("loads at clamped indices", T, float, std::int8_t, double) {
  const Type t = sizeof(T) == 4 ? f32 : sizeof(T) == 1 ? i8 : f64;
  constexpr int lanes = 8;
  const auto all = [](std::int64_t v) { return ir::broadcast(ir::index(v), lanes); };
  const std::vector<T> in = counting<T>(6);  // not one element more
  for (const Target& target : kernels::runnable(kLevels))
    for (const std::int64_t begin : {-20, -7, -3, 0, 2, 4, 9})
      for (const bool masked : {false, true})
        for (int form = 0; form < 4; ++form) {
          const Expr x = ir::ramp(ir::index(begin), ir::index(1), lanes);
          const std::int64_t low = form == 3 ? 4 : 0, high = form == 3 ? 1 : 4;  // of the last form no index is between
          const Expr bent = form == 1 ? ir::min(ir::max(x, all(low)), all(high)) : ir::max(ir::min(x, all(high)), all(low));
          const Expr only = ir::min(ir::max(x, all(0)), all(5));
          const Expr mask = masked ? ir::ge(x, all(begin + 3)) : Expr();
          CAPTURE(begin);
          CAPTURE(form);
          const std::vector<T> got = loaded(target, t, in, form == 2 ? only : ir::add(all(1), bent), mask);
          for (int k = 0; k < lanes; ++k) {
            const std::int64_t i = begin + k;
            const std::int64_t at = form == 2   ? std::min<std::int64_t>(std::max<std::int64_t>(i, 0), 5)
                                    : form == 1 ? 1 + std::min(std::max(i, low), high)
                                                : 1 + std::max(std::min(i, high), low);
            CHECK(got[static_cast<std::size_t>(k)] == (masked && k < 3 ? T(0) : in[static_cast<std::size_t>(at)]));
          }
        }
}

// The elements lie between two pages that nobody may touch, first against one, then against the other.
TEST_CASE_TEMPLATE("masked loads of every stride touch the elements of active lanes alone", T, float, std::int8_t, std::int16_t,
                   double) {
  const Type t = sizeof(T) == 4 ? f32 : sizeof(T) == 1 ? i8 : sizeof(T) == 2 ? i16 : f64;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const pages =
      static_cast<std::byte*>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  REQUIRE(mprotect(pages, page, PROT_NONE) == 0);
  REQUIRE(mprotect(pages + 2 * page, page, PROT_NONE) == 0);
  constexpr int lanes = 16;
  for (const Target& target : kernels::runnable(kLevels))
    for (const std::int64_t stride : {-4, -3, -2, -1, 0, 1, 2, 3, 4}) {
      Maker m("masked");
      m.k.next_id = 100;
      const ir::Id x = m.tensor("x", t, {ir::index(1 << 20)}), on = m.tensor("on", u8, {ir::index(lanes)}),
                   out = m.tensor("out", t, {ir::index(lanes)}, true);
      const Expr lane = ir::ramp(ir::index(0), ir::index(1), lanes), from = ir::ramp(ir::index(0), ir::index(stride), lanes);
      const Expr active = ir::ne(m.load(on, lane), ir::broadcast(ir::int_const(u8, 0), lanes));
      m.k.body = {kernels::store(out, lane, m.load(x, from, active))};
      const codegen::Compiled code = codegen::compile(m.k, target);
      for (const unsigned bits : {0x0000u, 0x0001u, 0x007fu, 0xffffu, 0x8000u, 0x5a5au, 0x0ff0u, 0x1248u})
        for (const bool at_end : {false, true}) {
          std::uint8_t mask[lanes];
          int first = lanes, last = -1;
          for (int k = 0; k < lanes; ++k)
            if ((mask[k] = bits >> k & 1) != 0) first = std::min(first, k), last = k;
          // Element 0 of x such that the lowest active one is the first of the page, or the highest one its last.
          const std::int64_t low = std::min(stride * first, stride * last), high = std::max(stride * first, stride * last);
          auto* const begin = reinterpret_cast<T*>(pages + page);
          const std::int64_t elements = static_cast<std::int64_t>(page / sizeof(T));
          for (std::int64_t k = 0; k < elements; ++k) begin[k] = static_cast<T>(k % 100 + 1);
          T* const zero = last < 0 ? reinterpret_cast<T*>(pages + 16) : at_end ? begin + elements - 1 - high : begin - low;
          T got[lanes];
          const void* args[] = {zero, mask, got};
          REQUIRE(code.run(args, nullptr) == ASHLAR_OK);
          CAPTURE(stride);
          CAPTURE(bits);
          for (int k = 0; k < lanes; ++k) CHECK(got[k] == (mask[k] != 0 ? zero[stride * k] : T(0)));
        }
    }
  munmap(pages, 3 * page);
}

TEST_CASE(
    "stores past the caches: on a boundary of the register by their own instruction, elsewhere as usual, and waited for") {
  for (const Target& target : kernels::runnable(kLevels)) {
    const int lanes = target.lanes(f32);
    Maker m("stream");
    m.k.next_id = 100;
    const ir::Id x = m.tensor("x", f32, {ir::index(lanes)}), out = m.tensor("out", f32, {ir::index(lanes)}, true);
    m.k.argument_buffers.at(out).streamed = true;
    const Expr to = ir::ramp(ir::index(0), ir::index(1), lanes);
    m.k.body = {kernels::store(out, to, m.load(x, to))};
    const std::string text = codegen::emit(m.k, target, codegen::Output::assembly);
    CHECK(text.find("movntps") != std::string::npos);
    CHECK(text.find("sfence") != std::string::npos);
    const codegen::Compiled f = codegen::compile(m.k, target);
    const std::vector<float> in = counting<float>(lanes);
    alignas(64) float result[64] = {};
    for (int shift = 0; shift < 3; ++shift) {
      std::fill(std::begin(result), std::end(result), -1.0f);
      const void* args[] = {in.data(), result + shift};
      REQUIRE(f.run(args, nullptr) == ASHLAR_OK);
      for (int k = 0; k < 40; ++k)
        CHECK(result[k] == (k >= shift && k < shift + lanes ? in[static_cast<std::size_t>(k - shift)] : -1.0f));
    }
  }
}

TEST_CASE("an address of several terms is still a ramp; any other one is gathered") {
  for (const Target& target : kernels::runnable(kLevels)) {
    const std::vector<float> in = counting<float>(64);
    const Expr ramp = ir::ramp(ir::index(2), ir::index(3), 8);
    const Expr twice = ir::add(ir::mul(ramp, ir::broadcast(ir::index(2), 8)), ir::broadcast(ir::index(1), 8));  // 5 + 6 k
    const Expr scattered = ir::mod(ir::mul(ramp, ramp), ir::broadcast(ir::index(64), 8));
    const std::vector<float> a = loaded(target, f32, in, twice), b = loaded(target, f32, in, scattered);
    for (std::size_t k = 0; k < 8; ++k) {
      CHECK(a[k] == in[5 + 6 * k]);
      CHECK(b[k] == in[(2 + 3 * k) * (2 + 3 * k) % 64]);
    }
  }
}

TEST_CASE_TEMPLATE("indices from data: one element for all lanes is read once, and others each", T, float, std::int8_t,
                   double) {
  const Type t = sizeof(T) == 4 ? f32 : sizeof(T) == 1 ? i8 : f64;
  constexpr std::int64_t outside = std::int64_t{1} << 40;  // where nothing may be read
  const std::vector<T> in = counting<T>(20);
  const std::vector<std::vector<std::int64_t>> rows = {
      {7, 7, 7, 7, 7, 7, 7, 7}, {7, 7, 7, 7, 7, 7, 7, 8}, {19, 0, 3, 3, 18, 1, 0, 5}};
  const std::vector<std::vector<std::int32_t>> masks = {
      {1, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 0}, {0, 0, 0, 0, 0, 0, 0, 0}};
  for (const Target& target : kernels::runnable(kLevels))
    for (const bool masked : {false, true}) {
      Maker m("access");
      m.k.next_id = 100;
      const ir::Id x = m.tensor("x", t, {ir::index(20)}), at = m.tensor("at", i64, {ir::index(8)}),
                   active = m.tensor("active", i32, {ir::index(8)}), out = m.tensor("out", t, {ir::index(8)}, true);
      const Expr lane = ir::ramp(ir::index(0), ir::index(1), 8);
      const Expr mask = ir::ne(m.load(active, lane), ir::broadcast(ir::int_const(i32, 0), 8));
      const Expr index = ir::cast(ir::index_type.with_lanes(8), m.load(at, lane));
      m.k.body = {kernels::store(out, lane, m.load(x, index, masked ? mask : Expr{}))};
      const codegen::Compiled code = codegen::compile(m.k, target);
      for (const auto& row : rows)
        for (const auto& on : masks) {
          std::vector<std::int64_t> indices = row;
          for (std::size_t k = 0; k < 8; ++k)
            if (masked && !on[k]) indices[k] = row[0] == row[6] ? row[0] : outside;
          if (masked && on == masks.back()) indices.assign(8, outside);
          std::vector<T> result(8, T(99));
          const void* args[] = {in.data(), indices.data(), on.data(), result.data()};
          REQUIRE(code.run(args, nullptr) == ASHLAR_OK);
          for (std::size_t k = 0; k < 8; ++k)
            CHECK(result[k] == (masked && !on[k] ? T(0) : in[static_cast<std::size_t>(row[k])]));
        }
    }
}

TEST_CASE("lanes that are false read nothing and give 0") {
  for (const Target& target : kernels::runnable(kLevels)) {
    const std::vector<float> in = counting<float>(5);  // the vector has 8 lanes: the last three would lie outside
    const Expr lane = ir::ramp(ir::index(0), ir::index(1), 8);
    const Expr inside = ir::lt(lane, ir::broadcast(ir::index(5), 8));
    const std::vector<float> contiguous = loaded(target, f32, in, lane, inside);
    const std::vector<float> reversed = loaded(target, f32, in, ir::ramp(ir::index(4), ir::index(-1), 8), inside);
    const Expr odd = ir::eq(ir::mod(lane, ir::broadcast(ir::index(2), 8)), ir::broadcast(ir::index(1), 8));
    const std::vector<float> gathered =
        loaded(target, f32, in, ir::ramp(ir::index(-1), ir::index(1), 8), ir::logic_and(odd, inside));
    for (int k = 0; k < 8; ++k) {
      const auto n = static_cast<std::size_t>(k);
      CHECK(contiguous[n] == (k < 5 ? in[n] : 0));
      CHECK(reversed[n] == (k < 5 ? in[4 - n] : 0));
      CHECK(gathered[n] == (k < 5 && k % 2 == 1 ? in[n - 1] : 0));
    }
  }
}

TEST_CASE("stores of every stride, masked or not, leave the rest alone") {
  for (const Target& target : kernels::runnable(kLevels))
    for (std::int64_t stride : {-2, 1, 2, 7})
      for (bool masked : {false, true}) {
        Maker m("scatter");
        const ir::Id x = m.tensor("x", f32, {ir::index(8)}), out = m.tensor("out", f32, {ir::index(64)}, true);
        const Expr lane = ir::ramp(ir::index(0), ir::index(1), 8);
        const Expr mask = ir::ne(ir::mod(lane, ir::broadcast(ir::index(3), 8)), ir::broadcast(ir::index(1), 8));
        m.k.body = {
            kernels::store(out, ir::ramp(ir::index(14), ir::index(stride), 8), m.load(x, lane), masked ? mask : Expr{})};
        const std::vector<float> in = counting<float>(8);
        std::vector<float> result(64, -1), want(64, -1);
        const void* args[] = {in.data(), result.data()};
        REQUIRE(codegen::compile(m.k, target).run(args, nullptr) == ASHLAR_OK);
        for (int k = 0; k < 8; ++k)
          if (!masked || k % 3 != 1) want[static_cast<std::size_t>(14 + stride * k)] = static_cast<float>(k + 1);
        CHECK(result == want);
      }
}

TEST_CASE("scalar masks, lets, ifs and empty loops") {
  Maker m("control");
  const Expr n = m.symbol("n");
  const ir::Id x = m.tensor("x", i32, {n}), out = m.tensor("out", i32, {n}, true);
  const Expr i = ir::var(m.fresh(), "i"), twice = ir::var(m.fresh(), "twice", i32), j = ir::var(m.fresh(), "j");
  const Expr inside = ir::lt(ir::add(i, ir::index(1)), n);
  const Expr right = m.load(x, ir::add(i, ir::index(1)), inside);  // 0 behind the last
  m.k.body = {kernels::loop(
      i, n,
      {kernels::let(twice, ir::add(m.load(x, i), m.load(x, i)),
                    {kernels::when(ir::gt(twice, ir::int_const(i32, 6)), {kernels::store(out, i, ir::add(twice, right))},
                                   {kernels::store(out, i, ir::neg(twice))}),
                     kernels::loop(j, ir::sub(i, ir::index(1000)), {kernels::store(out, j, twice)}),
                     kernels::store(out, i, ir::int_const(i32, 77), ir::eq(i, ir::index(2)))})})};
  const std::vector<std::int32_t> in = {1, 2, 3, 4, 5};
  std::vector<std::int32_t> result(5, -1);
  struct {
    const void *x, *out;
    std::int64_t n;
  } args{in.data(), result.data(), 5};
  REQUIRE(codegen::compile(m.k, Target::parse("x86-64-v2")).run(&args, nullptr) == ASHLAR_OK);
  CHECK(result == std::vector<std::int32_t>{-2, -4, 77, 13, 10});
}

TEST_CASE("comparisons of ramps are masks of the first lanes or the last") {
  for (const Target& target : kernels::runnable({"x86-64-v2", "x86-64-v4"}))
    for (ir::Op op : {ir::Op::lt, ir::Op::le, ir::Op::gt, ir::Op::ge})
      for (std::int64_t slope : {-1, 1, 2})
        for (std::int64_t base : {-30, -3, 0, 4, 9, 40}) {
          Maker m("mask");
          const ir::Id n = m.tensor("n", i64, {ir::index(1)}), out = m.tensor("out", bool_, {ir::index(16)}, true);
          const Expr lane = ir::ramp(ir::index(0), ir::index(1), 8),
                     limit = ir::broadcast(ir::cast(ir::index_type, m.load(n, ir::index(0))), 8);
          const Expr x = ir::ramp(ir::index(base), ir::index(slope), 8);
          m.k.body = {kernels::store(out, lane, ir::binary(op, x, limit)),
                      kernels::store(out, ir::add(lane, ir::broadcast(ir::index(8), 8)), ir::binary(op, limit, x))};
          const codegen::Compiled code = codegen::compile(m.k, target);
          for (std::int64_t value : {-5, 0, 3, 4, 5, 12, 13}) {
            bool got[16];
            const void* args[] = {&value, got};
            REQUIRE(code.run(args, nullptr) == ASHLAR_OK);
            for (int k = 0; k < 8; ++k) {
              const ir::Value a = ir::int_value(ir::index_type, base + slope * k), b = ir::int_value(ir::index_type, value);
              const ir::Value there[2] = {a, b}, back[2] = {b, a};
              CHECK(got[k] == (ir::evaluate(op, bool_, there)->i != 0));
              CHECK(got[8 + k] == (ir::evaluate(op, bool_, back)->i != 0));
            }
          }
        }
}

TEST_CASE("a buffer that is allocated inside of a parallel loop belongs to each copy of the loop, not to the function around") {
  // for h: t = x[h] in lanes; y[h] = t        twice, as where a loop around was unrolled
  for (const bool inside : {true, false}) {
    Maker m("copies");
    m.k.next_id = 100;
    const ir::Id x = m.tensor("x", f32, {ir::index(32)}), out = m.tensor("out", f32, {ir::index(32)}, true),
                 t = m.storage("t", f32, ir::Storage::stack, ir::index(4));
    const Expr h = ir::var(m.fresh(), "h");
    if (inside) m.k.buffers.at(t).inside = {h.node()->id};
    const auto part = [&](std::int64_t first) {
      const Expr lanes = ir::ramp(ir::index(0), ir::index(1), 4),
                 at = ir::ramp(ir::add(ir::index(first), ir::mul(h, ir::index(4))), ir::index(1), 4);
      return kernels::loop(h, ir::index(4),
                           {kernels::store(t, lanes, m.load(x, at)), kernels::store(out, at, m.load(t, lanes))},
                           ir::LoopKind::parallel);
    };
    m.k.body = {part(0), part(16)};
    CHECK(codegen::used_here(m.k.body, m.k.buffers.at(t), true) == !inside);
    CHECK(codegen::used_here(m.k.body.front().get<ir::KFor>().body, m.k.buffers.at(t), false));
    CHECK_FALSE(codegen::used_here({m.k.body.front()}, m.k.buffers.at(t), true));  // of one loop alone
    for (const Target& target : kernels::runnable(kLevels)) {
      const std::vector<float> in = counting<float>(32);
      std::vector<float> result(32);
      const void* args[] = {in.data(), result.data()};
      REQUIRE(codegen::compile(m.k, target).run(args, nullptr) == ASHLAR_OK);
      if (inside) CHECK(result == in);
    }
  }
}

TEST_CASE("of the terms of an unrolled sum the last one alone is stored") {
  // y[0] = 0; y[0] = y[0] + x[places[k]] for 8 k; the result is an argument, the places are read in between
  Maker m("sum");
  const ir::Id x = m.tensor("x", f32, {ir::index(16)}), places = m.tensor("places", u8, {ir::index(8)}),
               y = m.tensor("y", f32, {ir::index(1)}, true);
  m.k.body = {kernels::store(y, ir::index(0), ir::float_const(f32, 0))};
  for (int k = 0; k < 8; ++k)
    m.k.body.push_back(kernels::store(
        y, ir::index(0), ir::add(m.load(y, ir::index(0)), m.load(x, ir::cast(ir::index_type, m.load(places, ir::index(k)))))));
  const std::string text = codegen::emit(m.k, Target::parse("x86-64-v3"), codegen::Output::assembly);
  CAPTURE(text);
  int stores = 0;
  for (std::size_t at = text.find("vmovss\t%xmm"); at != text.npos; at = text.find("vmovss\t%xmm", at + 1)) ++stores;
  CHECK(stores == 1);
  const std::vector<float> in = counting<float>(16);
  const std::vector<std::uint8_t> where{3, 0, 15, 15, 7, 1, 2, 9};
  float sum = -1;
  const void* args[] = {in.data(), where.data(), &sum};
  for (const Target& target : kernels::runnable(kLevels)) {
    REQUIRE(codegen::compile(m.k, target).run(args, nullptr) == ASHLAR_OK);
    CHECK(sum == 4 + 1 + 16 + 16 + 8 + 2 + 3 + 10);
  }
}

TEST_CASE("a gather by numbers of 32 bits and what all lanes share") {
  constexpr int lanes = 8;
  constexpr std::int64_t width = 21;
  const auto all = [](const Expr& e) { return ir::broadcast(e, lanes); };
  const auto number = [&](std::int64_t n) { return all(ir::index(n)); };
  const Expr lane = ir::ramp(ir::index(0), ir::index(1), lanes);
  const std::vector<float> in = counting<float>(3 * width);
  const std::vector<std::int32_t> where{5, -1, 0, INT32_MIN, INT32_MAX, 20, 21, 7};
  const std::vector<std::uint8_t> bytes{1, 0, 6, 2, 255, 4, 200, 3};
  struct Case {
    std::string what;
    bool narrow;  // 32 bits hold what each lane has of its own
    std::function<Expr(const Expr& W, const Expr& v, const Expr& b)> index;
    std::function<std::int64_t(std::int64_t v, std::int64_t b)> meant;
  };
  const auto clamped = [](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, width - 1); };
  const std::vector<Case> cases = {
      {"clamped to a Symbol, in a row", true,
       [&](const Expr& W, const Expr& v, const Expr&) {
         const Expr column = ir::max(ir::min(v, all(ir::sub(W, ir::index(1)))), number(0));
         return ir::add(all(ir::mul(W, ir::index(2))), column);
       },
       [&](std::int64_t v, std::int64_t) { return 2 * width + clamped(v); }},
      {"the other way round, and a sum", true,
       [&](const Expr&, const Expr& v, const Expr& b) {
         const Expr column = ir::max(number(0), ir::min(number(width - 1), v));
         const Expr row = ir::min(ir::mul(b, number(3)), number(30));
         return ir::sub(ir::add(column, row), number(0));
       },
       [&](std::int64_t v, std::int64_t b) { return clamped(v) + std::min<std::int64_t>(3 * b, 30); }},
      {"a sum that may leave 32 bits", false,
       [&](const Expr& W, const Expr& v, const Expr&) {
         return ir::max(ir::min(ir::add(v, number(1)), all(ir::sub(W, ir::index(1)))), number(0));
       },
       [&](std::int64_t v, std::int64_t) { return clamped(v + 1); }},
      {"a product that may leave 32 bits", false,
       [&](const Expr& W, const Expr& v, const Expr&) {
         return ir::max(ir::min(ir::mul(v, number(2)), all(ir::sub(W, ir::index(1)))), number(0));
       },
       [&](std::int64_t v, std::int64_t) { return clamped(v * 2); }}};
  for (const Case& c : cases) {
    Maker m("gather");
    m.k.next_id = 100;
    const Expr W = m.symbol("W", 1);
    const ir::Id x = m.tensor("x", f32, {ir::mul(W, ir::index(3))}), v = m.tensor("v", i32, {ir::index(lanes)}),
                 b = m.tensor("b", u8, {ir::index(lanes)}), out = m.tensor("out", f32, {ir::index(lanes)}, true);
    const auto index_of = [&](ir::Id buffer) { return ir::cast(ir::index_type.with_lanes(lanes), m.load(buffer, lane)); };
    m.k.body = {kernels::store(out, lane, m.load(x, c.index(W, index_of(v), index_of(b))))};
    CAPTURE(c.what);
    const std::string text = codegen::emit(m.k, Target::parse("x86-64-v4"), codegen::Output::assembly);
    CAPTURE(text);
    CHECK((text.find("vgatherdps") != text.npos) == c.narrow);
    CHECK((text.find("vgatherqps") != text.npos) == !c.narrow);
    struct {
      const void *x, *v, *b;
      float* out;
      std::int64_t W;
    } args{};
    float got[lanes] = {};
    args.x = in.data(), args.v = where.data(), args.b = bytes.data(), args.out = got, args.W = width;
    for (const Target& target : kernels::runnable(kLevels)) {
      REQUIRE(codegen::compile(m.k, target).run(&args, nullptr) == ASHLAR_OK);
      for (std::size_t k = 0; k < lanes; ++k) CHECK(got[k] == in[static_cast<std::size_t>(c.meant(where[k], bytes[k]))]);
    }
  }
}
