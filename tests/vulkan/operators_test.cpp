// Every operator on every type, executed on the device, against ir/numeric.h: edge values, one lane and vectors of 7.
//
// Vulkan lets a device replace subnormal floats by zero unless it offers to preserve them; where this one does so is found by
// running it, and cases that have subnormal operands or results are left out then, by count.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include <doctest/doctest.h>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "tests/skip.h"
#include "tests/support/operator_cases.h"
#include "tests/vulkan/device.h"

using namespace ashlar;
using namespace ashlar::ir;
using kernels::Maker;
using operators::Case, operators::edges, operators::pairs;
using vulkan::Bytes;

namespace {

codegen::spirv::Options options;  // of the shaders

// All cases in one kernel, every thread one vector of `lanes` of up to eight cases that have as many elements.
std::vector<std::vector<Value>> executed(const std::vector<Case>& cases, int lanes) {
  constexpr std::size_t together = 8;
  Maker m("op");
  std::vector<Bytes> memory;
  std::map<std::size_t, ir::Id> inputs_at;
  std::vector<std::size_t> out_at;
  for (std::size_t first_case = 0, end = 0; first_case < cases.size(); first_case = end) {
    const std::size_t given = cases[first_case].inputs[0].size();
    for (end = first_case; end < cases.size() && end - first_case < together && cases[end].inputs[0].size() == given;) ++end;
    const auto width = static_cast<std::size_t>(lanes), vectors = (given + width - 1) / width;
    const auto n = static_cast<std::int64_t>(vectors * width);
    const vulkan::Launching l(m, std::string("from_") + op_name(cases[first_case].op), 64);
    const Expr i = ir::add(ir::mul(l.block[0], ir::index(64)), l.thread), first = ir::mul(i, ir::index(lanes));
    const Expr at = lanes == 1 ? first : ir::ramp(first, ir::index(1), lanes);
    std::vector<KStmt> body;
    for (std::size_t k = first_case; k < end; ++k) {
      const Case& c = cases[k];
      std::vector<Expr> operands;
      for (std::vector<Value> in : c.inputs) {
        while (in.size() < static_cast<std::size_t>(n)) in.push_back(in[0]);
        const Type t = in[0].type;
        Bytes bytes(static_cast<std::size_t>(n * t.bytes()));
        for (std::size_t e = 0; e < in.size(); ++e) write_value(bytes.data() + e * static_cast<std::size_t>(t.bytes()), in[e]);
        ir::Id id = 0;  // cases share the inputs that are the same
        for (const auto& [where, known] : inputs_at)
          if (m.k.buffers.at(known).type == t && memory[where] == bytes) id = known;
        if (!id) {
          id = m.tensor("in" + std::to_string(memory.size()), t, {ir::index(n)});
          inputs_at[memory.size()] = id;
          memory.push_back(std::move(bytes));
        }
        operands.push_back(m.load(id, at));
      }
      if (!c.constant.empty())
        operands.insert(c.constant_first ? operands.begin() : operands.end(),
                        lanes == 1 ? c.constant : ir::broadcast(c.constant, lanes));
      const ir::Id out = m.tensor("out" + std::to_string(memory.size()), c.result, {ir::index(n)}, true);
      out_at.push_back(memory.size());
      memory.emplace_back(static_cast<std::size_t>(n * c.result.bytes()), 0xAB);
      body.push_back(kernels::store(out, at, ir::make(c.op, c.result.with_lanes(lanes), operands)));
    }
    m.k.body.push_back(vulkan::launch(l, {ir::index(static_cast<std::int64_t>((vectors + 63) / 64))},
                                      {kernels::when(ir::lt(i, ir::index(static_cast<std::int64_t>(vectors))), body)}));
  }
  REQUIRE(vulkan::TestDevice::get()->run(m.k, memory, {}, options) == "");
  std::vector<std::vector<Value>> results(cases.size());
  for (std::size_t c = 0; c < cases.size(); ++c)
    for (std::size_t k = 0; k < cases[c].inputs[0].size(); ++k)
      results[c].push_back(
          read_value(cases[c].result, memory[out_at[c]].data() + k * static_cast<std::size_t>(cases[c].result.bytes())));
  return results;
}

bool subnormal(const Value& v) {
  if (!v.type.is_float() || v.type.bits < 32 || v.f == 0 || std::isnan(v.f)) return false;
  return std::fabs(v.f) < (v.type.bits == 64 ? 0x1p-1022 : 0x1p-126);
}

// Whether the device keeps a subnormal result and a subnormal operand.
bool keeps_subnormals(Type t) {
  const double smallest = t.bits == 64 ? 0x1p-1022 : 0x1p-126;
  const auto r = executed({{Op::mul, t, {{float_value(t, smallest)}, {float_value(t, 0.5)}}, {}},
                           {Op::mul, t, {{float_value(t, smallest * 0.5)}, {float_value(t, 4)}}, {}}},
                          1);
  return r[0][0].f == smallest * 0.5 && r[1][0].f == smallest * 2;
}

int left_out = 0;

void compare(const std::vector<Case>& cases, std::initializer_list<int> vectors = {1, 7}) {
  static const bool keeps32 = keeps_subnormals(f32), keeps64 = keeps_subnormals(f64);
  auto lost = [&](const Value& v) { return subnormal(v) && !(v.type.bits == 64 ? keeps64 : keeps32); };
  for (int lanes : vectors) {
    const auto results = executed(cases, lanes);
    for (std::size_t c = 0; c < cases.size(); ++c) {
      int wrong = 0;
      for (std::size_t k = 0; k < results[c].size() && wrong < 4; ++k) {
        const std::vector<Value> args = operators::operands_of(cases[c], k);
        std::string shown;
        bool skipped = false;
        for (const Value& v : args) shown += ir::text(v) + " ", skipped = skipped || lost(v);
        const auto want = evaluate(cases[c].op, cases[c].result, args);
        if (!want) continue;  // an index beyond 63 bits
        if (skipped || lost(*want)) {
          if (!same_value(*want, results[c][k])) ++left_out;
          continue;
        }
        if (same_value(*want, results[c][k])) continue;
        ++wrong;
        MESSAGE(lanes << " lanes, " << std::string(op_name(cases[c].op)) << " " << ir::text(args[0].type) << " -> "
                      << ir::text(cases[c].result) << " of " << shown << ": " << ir::text(results[c][k]) << ", expected "
                      << ir::text(*want));
      }
      CHECK(wrong == 0);
    }
  }
  CHECK(vulkan::TestDevice::get()->said() == "");
  vulkan::TestDevice::get()->forget();
}

const auto kIntegers = {i8, i16, i32, i64, u8, u16, u32, u64, index_type};
const auto kFloats = {f16, bf16, f32, f64};

}  // namespace

#define NEEDS_DEVICE \
  if (!vulkan::TestDevice::get()) return

TEST_CASE("integer operators") {
  NEEDS_DEVICE;
  for (Type t : kIntegers) {
    std::vector<Case> cases;
    for (Op op : {Op::add, Op::sub, Op::mul, Op::div, Op::mod, Op::trunc_div, Op::trunc_rem, Op::min, Op::max, Op::bit_and,
                  Op::bit_or, Op::bit_xor, Op::shl, Op::shr, Op::rounding_shr, Op::mul_high_rounding})
      if (!t.is_index() || op != Op::mul_high_rounding) cases.push_back({op, t, pairs(t, t), {}});
    if (!t.is_index()) {
      for (Op op : {Op::add_sat, Op::sub_sat, Op::halving_add, Op::rounding_halving_add, Op::halving_sub, Op::mul_high})
        cases.push_back({op, t, pairs(t, t), {}});
      cases.push_back({Op::abs_diff, Type{Type::Code::unsigned_, t.bits}, pairs(t, t), {}});
    }
    for (Op op : {Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge}) cases.push_back({op, bool_, pairs(t, t), {}});
    for (Op op : {Op::neg, Op::bit_not, Op::abs, Op::popcount, Op::clz, Op::ctz, Op::floor})
      cases.push_back({op, t, {edges(t)}, {}});
    compare(cases);
  }
}

TEST_CASE("division by constants") {
  NEEDS_DEVICE;
  for (Type t : kIntegers) compare(operators::divisions_by_constants(t));
}

TEST_CASE("shifts by numbers of a wider type") {
  NEEDS_DEVICE;
  for (Type t : {i8, u8, i16, u16, i32, u32}) compare(operators::shifts_by_wider_numbers(t));
}

TEST_CASE("bool operators") {
  NEEDS_DEVICE;
  std::vector<Case> cases;
  for (Op op : {Op::logic_and, Op::logic_or, Op::bit_and, Op::bit_or, Op::bit_xor, Op::min, Op::max, Op::eq, Op::ne, Op::lt,
                Op::le, Op::gt, Op::ge})
    cases.push_back({op, bool_, pairs(bool_, bool_), {}});
  cases.push_back({Op::logic_not, bool_, {edges(bool_)}, {}});
  compare(cases);
}

TEST_CASE("floating-point operators") {
  NEEDS_DEVICE;
  for (Type t : kFloats) compare(operators::operators_of_floats(t));
}

TEST_CASE("conversions, saturating conversions and bitcasts") {
  NEEDS_DEVICE;
  for (Type from : operators::every_type) {
    std::vector<Case> cases;
    for (Type to : operators::every_type)
      for (const Case& c : operators::conversions(from, to)) cases.push_back(c);
    compare(cases, {from == f32 || from == i32 ? 1 : 7});
  }
}

TEST_CASE("f16 as the device computes with it") {
  NEEDS_DEVICE;
  vulkan::TestDevice& device = *vulkan::TestDevice::get();
  if ((ashlar_vulkan_features(device.queue()) & ASHLAR_VULKAN_FLOAT16) == 0)
    return skip::because("arithmetic on f16", std::string(ashlar_vulkan_device_name(device.queue())) + " lacks shaderFloat16");
  options.float16 = true;
  compare(operators::operators_of_floats(f16));
  std::vector<Case> cases;
  for (const Type to : operators::every_type)
    for (const Type from : operators::every_type)
      if (from == f16 || to == f16)
        for (const Case& c : operators::conversions(from, to)) cases.push_back(c);
  std::vector<Value> all, wide;
  std::mt19937 random(9);
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) all.push_back(from_bits(f16, bits));
  for (int k = 0; k < 40000; ++k) {  // some in the range of f16 and half way between two of it
    const std::uint32_t bits = static_cast<std::uint32_t>(random());
    wide.push_back(from_bits(f32, k % 2 ? bits : ((bits & 0x87FFF000) + 0x34000000) | (k % 4 ? 0 : 1)));
  }
  cases.push_back({Op::cast, f32, {all}, {}});
  cases.push_back({Op::cast, f16, {wide}, {}});
  std::vector<std::vector<Value>> two(2), three(3);
  for (auto* list : {&two, &three})
    for (auto& column : *list)
      for (int k = 0; k < 30000; ++k) column.push_back(from_bits(f16, random() & 0xFFFF));
  for (const Op op : {Op::add, Op::sub, Op::mul, Op::lt, Op::eq})
    cases.push_back({op, op == Op::lt || op == Op::eq ? bool_ : f16, two, {}});
  cases.push_back({Op::fma, f16, three, {}});  // in f32, rounded twice
  compare(cases);
  for (const double zero : {0.0, -0.0})
    for (const bool first : {false, true})
      for (const Op op : {Op::add, Op::sub, Op::mul}) compare({{op, f16, {edges(f16)}, ir::float_const(f16, zero), first}});
  options.float16 = false;
}

TEST_CASE("roots are rounded to nearest") {
  NEEDS_DEVICE;
  std::mt19937 random(3);
  std::vector<Value> values;
  for (int k = 0; k < 4000; ++k) values.push_back(from_bits(f32, random() & 0x7FFFFFFF));
  for (int k = 0; k < 1000; ++k) values.push_back(from_bits(f32, random() & 0x007FFFFF));
  for (std::uint32_t power : {0x00800000u, 0x01000000u, 0x3F800000u, 0x40000000u, 0x40800000u, 0x7F000000u})
    for (std::uint32_t n = 0; n < 32; ++n) values.push_back(from_bits(f32, power - 16 + n));
  compare({{Op::sqrt, f32, {values}, {}}});
}

// Drivers round by way of integers where the processor has no instruction for the width; ctest runs this again on such ones.
TEST_CASE("to whole numbers, ties and signs of zero") {
  NEEDS_DEVICE;
  std::mt19937_64 random(5);
  for (const Type t : {f32, f64}) {
    std::vector<Value> values = edges(t);
    const auto add = [&](double v) {
      for (const double sign : {1.0, -1.0}) {
        const double x = float_value(t, sign * v).f,
                     up = t == f64 ? std::nextafter(x, 1e308) : std::nextafterf(float(x), 1e38f),
                     down = t == f64 ? std::nextafter(x, -1e308) : std::nextafterf(float(x), -1e38f);
        for (const double near : {x, up, down}) values.push_back(float_value(t, near));
      }
    };
    for (int quarter = 1; quarter < 20; ++quarter) add(quarter * 0.25);
    for (int power = 20; power < 65; ++power)
      for (const double part : {0.0, 0.5, 1.0, 1.5}) add(std::ldexp(1.0, power) + part);
    for (int k = 0; k < 2000; ++k) {
      values.push_back(from_bits(t, t == f64 ? random() : random() >> 32));
      values.push_back(
          float_value(t, std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -static_cast<int>(k % 64))));
    }
    std::vector<Case> cases;
    for (Op op : {Op::floor, Op::ceil, Op::round, Op::trunc}) cases.push_back({op, t, {values}, {}});
    for (Type to : {i8, u8, i32, u32, i64, u64}) cases.push_back({Op::saturate, to, {values}, {}});
    for (Type to : {u8, i32, u32, i64, u64}) cases.push_back({Op::cast, to, {values}, {}});
    compare(cases);
  }
}

TEST_CASE("a fused multiply-add rounds once") {
  NEEDS_DEVICE;
  compare({{Op::fma, f32, operators::fused_operands(1, 20000), {}}});
}

TEST_CASE("f64 fma where the device rounds twice is computed in integers") {
  NEEDS_DEVICE;
  std::mt19937_64 random(7);
  std::vector<std::vector<Value>> in(3);
  const auto add = [&](double x, double y, double z) {
    int k = 0;
    for (const double v : {x, y, z}) in[k++].push_back(float_value(f64, v));
  };
  std::vector<Value> values = edges(f64);
  for (const double v : {1.7976931348623157e308, 2.2250738585072014e-308, 1.1e-308, 1e-160, 0x1.fffffffffffffp0})
    for (const double sign : {1.0, -1.0}) values.push_back(float_value(f64, sign * v));
  for (const Value& x : values)
    for (const Value& y : values) add(x.f, y.f, values[random() % values.size()].f);
  for (int k = 0; k < 30000; ++k) {  // near cancellation, ties, the smallest numbers, and anything at all
    const double x = from_bits(f64, (random() & 0x800FFFFFFFFFFFFF) | 0x3FE0000000000000).f,
                 y = from_bits(f64, (random() & 0x800FFFFFFFFFFFFF) | 0x3FF0000000000000).f, p = x * y;
    switch (k % 6) {
      case 0:
        add(x, y, -p);
        break;
      case 1:
        add(x, y, p * 0x1p53);
        break;
      case 2:
        add(x, y, p * 0x1p-54 * (1 + static_cast<int>(random() % 5)));
        break;
      case 3:
        add(x * 0x1p-530, y * 0x1p-530, -p * 0x1p-1060 * static_cast<int>(random() % 9));
        break;
      case 4:
        add(x * 0x1p511, y * 0x1p512, -p * 0x1p1000 * static_cast<int>(random() % 9));
        break;
      default:
        add(from_bits(f64, random()).f, from_bits(f64, random()).f, from_bits(f64, random()).f);
    }
  }
  compare({{Op::fma, f64, in, {}}});
}

TEST_CASE("a constant 0 keeps signs, infinities and NaN") {
  NEEDS_DEVICE;
  for (const Type t : {f16, bf16, f32, f64}) {
    std::vector<Case> cases;
    for (const double zero : {0.0, -0.0})
      for (const bool first : {false, true})
        for (const Op op : {Op::add, Op::sub, Op::mul, Op::div})
          cases.push_back({op, t, {edges(t)}, ir::float_const(t, zero), first});
    compare(cases);
  }
}

TEST_CASE("a product and a sum are not contracted") {
  NEEDS_DEVICE;
  Maker m("apart");
  const ir::Id x = m.tensor("x", f32, {ir::index(3)}), out = m.tensor("out", f32, {ir::index(1)}, true);
  const vulkan::Launching l(m, "apart", 1);
  const auto at = [&](std::int64_t k) { return m.load(x, ir::index(k)); };
  m.k.body = {vulkan::launch(l, {ir::index(1)}, {kernels::store(out, ir::index(0), ir::add(ir::mul(at(0), at(1)), at(2)))})};
  const float in[3] = {1 + 0x1p-23f, 1 - 0x1p-23f, -1};
  std::vector<Bytes> memory = {Bytes(12), Bytes(4, 7)};
  std::memcpy(memory[0].data(), in, 12);
  REQUIRE(vulkan::TestDevice::get()->run(m.k, memory) == "");
  CHECK(memory[1] == Bytes(4, 0));
}

TEST_CASE("subnormal numbers that the device did not keep are counted") {
  NEEDS_DEVICE;
  std::printf("results with subnormal numbers that differ on %s: %d\n",
              ashlar_vulkan_device_name(vulkan::TestDevice::get()->queue()), left_out);
  CHECK((left_out == 0 || !keeps_subnormals(f32) || !keeps_subnormals(f64)));
}
