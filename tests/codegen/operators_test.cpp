// Every operator on every type, compiled and executed, against ir/numeric.h: edge values, scalar and vector, on each level.
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "tests/codegen/kernels.h"
#include "tests/emulated/emulator.h"
#include "tests/support/operator_cases.h"

using namespace ashlar;
using namespace ashlar::ir;
using kernels::Maker;
using operators::Case, operators::edges, operators::pairs;

namespace kernels {
std::vector<Target> runnable(std::initializer_list<const char*> names) {
  std::vector<Target> here;
  for (const char* name : names) {
    std::string missing;
    const Target t = Target::parse(name);
    if (t.runs_here(&missing))
      here.push_back(t);
    else
      std::printf("skipped: %s, this machine lacks %s\n", name, missing.c_str());
  }
  return here;
}
}  // namespace kernels

namespace {

const auto kLevels = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

// Those of the names that run here, and the processors that are emulated.
std::vector<Target> targets(std::initializer_list<const char*> names) {
  std::vector<Target> all = kernels::runnable(names);
  for (const char* name : {"aarch64", "armv7+vfp4", "riscv64", "riscv64+v", "cortex-m4", "cortex-m55", "wasm32"}) {
    const Target t = Target::parse(name);
    if (const char* why = emulated::missing(t))
      std::printf("skipped: operators for %s, %s\n", name, why);
    else
      all.push_back(t);
  }
  return all;
}

bool has_doubles(const Target& t) { return t.architecture() != Architecture::thumb || t.has("fp64"); }

// Integers do it where there is no instruction, but WebAssembly has no products of 128 bits.
bool can_fuse_doubles(const Target& t) { return has_doubles(t) && t.architecture() != Architecture::wasm32; }

// Vectors of floats converted to integers on RISC-V: QEMU 7.2 stops with an assertion of its own (decode_save_opc).
bool emulator_stops(const Target& t) {
  const bool stops = t.architecture() == Architecture::riscv64 && t.has("v");
  if (stops)
    std::printf("skipped: conversions of vectors of floats to integers for %s, the emulator stops\n",
                std::string(t.text()).c_str());
  return stops;
}

void pad(std::vector<std::vector<Value>>& inputs, int lanes) {
  while (inputs[0].size() % static_cast<std::size_t>(lanes) != 0)
    for (auto& in : inputs) in.push_back(in[0]);
}

void execute(const ir::Kernel& k, const Target& target, std::vector<std::vector<unsigned char>>& memory) {
  if (!target.runs_here()) {
    std::vector<emulated::Tensor> tensors;
    for (std::size_t n = 0; n < memory.size(); ++n) {
      const ir::Buffer& b = k.argument_buffers.at(k.arguments[n].id);
      std::int64_t extent = 0;
      REQUIRE(ir::is_int(b.extents[0], &extent));
      const auto* first = reinterpret_cast<const std::byte*>(memory[n].data());
      tensors.push_back({b.type, {extent}, {first, first + memory[n].size()}});
    }
    emulated::run(k, target, tensors);
    for (std::size_t n = 0; n < memory.size(); ++n) std::memcpy(memory[n].data(), tensors[n].bytes.data(), memory[n].size());
    return;
  }
  const codegen::Compiled code = codegen::compile(k, target);
  std::vector<const void*> args;
  for (const auto& bytes : memory) args.push_back(bytes.data());
  REQUIRE(code.run(args.data(), nullptr) == ASHLAR_OK);
}

// Compiles all cases into one kernel, a loop each, in vectors of `lanes` (0: what a register holds), and executes it. The
// results of a type are parts of one tensor: entry checks that no output overlaps another tensor, pair by pair.
std::vector<std::vector<Value>> compiled(const Target& target, const std::vector<Case>& cases, int lanes) {
  Maker m("op");
  std::vector<std::vector<unsigned char>> memory;
  std::vector<ir::Id> ids;
  struct Part {  // of an output
    std::int64_t width = 1, begin = 0, elements = 0;
  };
  std::vector<Part> parts;
  std::map<std::string, std::int64_t> elements;  // of the result types
  std::vector<std::vector<Expr>> operands;
  std::vector<Expr> loops;
  for (const Case& c : cases) {
    auto inputs = c.inputs;
    Part part;
    part.width = lanes ? lanes : target.lanes(inputs[0][0].type);
    pad(inputs, static_cast<int>(part.width));
    part.elements = static_cast<std::int64_t>(inputs[0].size());
    std::int64_t& end = elements[ir::text(c.result)];
    part.begin = end;
    end += part.elements;
    const auto width = static_cast<int>(part.width);
    loops.push_back(ir::var(m.fresh(), "i"));
    const Expr first = ir::mul(loops.back(), ir::index(part.width));
    const Expr at = width == 1 ? first : ir::ramp(first, ir::index(1), width);
    auto& of = operands.emplace_back();
    for (const auto& in : inputs) {
      const Type t = in[0].type;
      std::vector<unsigned char> bytes(in.size() * static_cast<std::size_t>(t.bytes()));
      for (std::size_t k = 0; k < in.size(); ++k) write_value(bytes.data() + k * static_cast<std::size_t>(t.bytes()), in[k]);
      ir::Id id = 0;  // cases share the inputs that are the same
      for (std::size_t k = 0; k < memory.size(); ++k)
        if (m.k.buffers.at(ids[k]).type == t && memory[k] == bytes) id = ids[k];
      if (!id) {
        id = m.tensor("in" + std::to_string(memory.size()), t, {ir::index(part.elements)});
        ids.push_back(id);
        memory.push_back(std::move(bytes));
      }
      of.push_back(m.load(id, at));
    }
    if (!c.constant.empty()) of.push_back(width == 1 ? c.constant : ir::broadcast(c.constant, width));
    parts.push_back(part);
  }
  std::map<std::string, std::size_t> out_at;  // of the result types, in memory
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const Type t = cases[c].result;
    const auto width = static_cast<int>(parts[c].width);
    if (!out_at.count(ir::text(t))) {
      const std::int64_t n = elements.at(ir::text(t));
      out_at[ir::text(t)] = memory.size();
      ids.push_back(m.tensor("out" + std::to_string(memory.size()), t, {ir::index(n)}, true));
      memory.emplace_back(static_cast<std::size_t>(n * t.bytes()), 0xAB);
    }
    const Expr first = ir::add(ir::mul(loops[c], ir::index(parts[c].width)), ir::index(parts[c].begin));
    const Expr at = width == 1 ? first : ir::ramp(first, ir::index(1), width);
    m.k.body.push_back(kernels::loop(
        loops[c], ir::index(parts[c].elements / parts[c].width),
        {kernels::store(ids[out_at.at(ir::text(t))], at, ir::make(cases[c].op, t.with_lanes(width), operands[c]))}));
  }
  execute(m.k, target, memory);
  std::vector<std::vector<Value>> results(cases.size());
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const Type t = cases[c].result;
    const unsigned char* first = memory[out_at.at(ir::text(t))].data() + static_cast<std::size_t>(parts[c].begin * t.bytes());
    for (std::size_t k = 0; k < cases[c].inputs[0].size(); ++k)
      results[c].push_back(read_value(t, first + k * static_cast<std::size_t>(t.bytes())));
  }
  return results;
}

void compare(const Target& target, const std::vector<Case>& all) {
  const std::size_t together = target.runs_here() ? 24 : 48;  // an emulator takes its time to start
  if (all.size() > together) {
    for (std::size_t c = 0; c < all.size(); c += together)
      compare(target, {all.begin() + static_cast<std::ptrdiff_t>(c),
                       all.begin() + static_cast<std::ptrdiff_t>(std::min(c + together, all.size()))});
    return;
  }
  const std::vector<Case>& cases = all;
  for (int lanes : {1, 0}) {
    // in an emulator one element at a time is for processors without vectors
    if (!target.runs_here() && (lanes == 1) == (target.vector_bits() > 0)) continue;
    const auto results = compiled(target, cases, lanes);
    for (std::size_t c = 0; c < cases.size(); ++c) {
      int wrong = 0;
      for (std::size_t k = 0; k < results[c].size() && wrong < 4; ++k) {
        const std::vector<Value> args = operators::operands_of(cases[c], k);
        std::string shown;
        for (const Value& v : args) shown += ir::text(v) + " ";
        const auto want = evaluate(cases[c].op, cases[c].result, args);
        if (!want || same_value(*want, results[c][k])) continue;  // no value: an index beyond 63 bits
        ++wrong;
        MESSAGE((std::string(target.text()) + (lanes == 1 ? " " : " vector ") + op_name(cases[c].op) + " ")
                << ir::text(args[0].type) << " -> " << ir::text(cases[c].result) << " of " << shown << ": "
                << ir::text(results[c][k]) << ", expected " << ir::text(*want));
      }
      CHECK(wrong == 0);
    }
  }
}

const auto kIntegers = {i8, i16, i32, i64, u8, u16, u32, u64, index_type};
const auto kFloats = {f16, bf16, f32, f64};

}  // namespace

TEST_CASE("integer operators") {
  for (const Target& target : targets({"x86-64-v2", "x86-64-v4"}))
    for (Type t : kIntegers) {
      std::vector<Case> cases;
      for (Op op : {Op::add, Op::sub, Op::mul, Op::div, Op::mod, Op::trunc_div, Op::trunc_rem, Op::min, Op::max, Op::bit_and,
                    Op::bit_or, Op::bit_xor, Op::shl, Op::shr, Op::rounding_shr, Op::mul_high_rounding})
        if (!t.is_index() || op != Op::mul_high_rounding) cases.push_back({op, t, pairs(t, t), {}});
      for (Op op : {Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge}) cases.push_back({op, bool_, pairs(t, t), {}});
      for (Op op : {Op::neg, Op::bit_not, Op::abs, Op::popcount, Op::clz, Op::ctz}) cases.push_back({op, t, {edges(t)}, {}});
      compare(target, cases);
    }
}

TEST_CASE("division by constants") {
  for (const Target& target : targets({"x86-64-v3"}))
    for (Type t : kIntegers) compare(target, operators::divisions_by_constants(t));
}

TEST_CASE("shifts by numbers of a wider type") {
  for (const Target& target : targets({"x86-64-v3"}))
    for (Type t : {i8, u8, i16, u16, i32, u32}) compare(target, operators::shifts_by_wider_numbers(t));
}

TEST_CASE("bool operators") {
  for (const Target& target : targets(kLevels)) {
    std::vector<Case> cases;
    for (Op op : {Op::logic_and, Op::logic_or, Op::bit_xor, Op::min, Op::max, Op::eq, Op::ne, Op::lt})
      cases.push_back({op, bool_, pairs(bool_, bool_), {}});
    cases.push_back({Op::logic_not, bool_, {edges(bool_)}, {}});
    compare(target, cases);
  }
}

TEST_CASE("floating-point operators") {
  for (const Target& target : targets(kLevels))
    for (Type t : kFloats)
      if (t != f64 || has_doubles(target)) compare(target, operators::operators_of_floats(t));
}

TEST_CASE("conversions, saturating conversions and bitcasts") {
  for (const Target& target : targets({"x86-64", "x86-64-v3", "x86-64-v4"}))
    for (Type from : operators::every_type) {
      std::vector<Case> cases;
      for (Type to : operators::every_type) {
        if ((from == f64 || to == f64) && !has_doubles(target)) continue;
        if (from.is_float() && !to.is_float() && emulator_stops(target)) continue;
        for (const Case& c : operators::conversions(from, to)) cases.push_back(c);
      }
      compare(target, cases);
    }
}

TEST_CASE("narrow floats from every kind of f32") {
  std::mt19937 random(7);
  std::vector<Value> values;
  for (int k = 0; k < 20000; ++k) values.push_back(from_bits(f32, random()));
  for (int e = -30; e < 20; ++e)  // ties and their neighbors
    for (std::uint32_t m = 0; m < 64; ++m) {
      const double tie = std::ldexp(1.0 + m / 64.0, e);
      for (double v : {tie, tie * (1 + 0x1p-23), tie * (1 - 0x1p-24), -tie}) values.push_back(float_value(f32, v));
    }
  for (const Target& target : targets(kLevels)) {
    std::vector<Case> cases;
    for (Type t : {f16, bf16, e4m3, e5m2}) cases.push_back({Op::cast, t, {values}, {}});
    compare(target, cases);
  }
}

TEST_CASE("a fused multiply-add rounds once, with or without the instruction") {
  const std::vector<std::vector<Value>> in = operators::fused_operands(6, 50000);
  for (const Target& target : targets(kLevels)) compare(target, {{Op::fma, f32, in, {}}});
  std::vector<std::vector<Value>> wide(3);
  for (std::size_t a = 0; a < 3; ++a)
    for (const Value& v : in[a]) wide[a].push_back(float_value(f64, v.f));
  for (const Target& target : targets(kLevels))
    if (can_fuse_doubles(target)) compare(target, {{Op::fma, f64, wide, {}}});
}

// By an instruction, or where there is none in integers: what a wrong sticky bit, shift or exponent would change.
TEST_CASE("fma of f64 rounds once, on every level") {
  std::mt19937_64 random(17);
  std::vector<std::vector<Value>> in(3);
  const auto push = [&](double x, double y, double z) {
    in[0].push_back(float_value(f64, x));
    in[1].push_back(float_value(f64, y));
    in[2].push_back(float_value(f64, z));
  };
  const double corners[] = {0.0,
                            -0.0,
                            1,
                            -1,
                            0x1p-1074,
                            -0x1p-1074,
                            0x1p-1022,
                            0x1.fffffffffffffp1023,
                            -0x1.fffffffffffffp1023,
                            0x1p-537,
                            0x1.8p512,
                            HUGE_VAL,
                            -HUGE_VAL,
                            std::nan("")};
  for (double x : corners)
    for (double y : corners)
      for (double z : corners) push(x, y, z);
  std::uniform_int_distribution<int> near(-130, 130), shift(-60, 60);
  for (int k = 0; k < 60000; ++k) {
    const double x = std::bit_cast<double>(random()), y = std::bit_cast<double>(random()), z = std::bit_cast<double>(random());
    const auto unit = [](double v) {
      return std::copysign(std::bit_cast<double>((std::bit_cast<std::uint64_t>(v) & ~(0x7ffull << 52)) | (1023ull << 52)), v);
    };
    const double a = unit(x), b = unit(y), c = unit(z);
    push(x, y, z);
    push(a, b, std::ldexp(c, near(random)));
    push(a, b, -a * b * (1 + std::ldexp(1.0, shift(random))));            // cancels, in part or except for the rounding
    push(a, std::ldexp(b, -1022), std::ldexp(c, -1022 + shift(random)));  // subnormal results
    push(std::ldexp(a, 511), std::ldexp(b, 511), std::ldexp(c, 1000 + near(random) / 6));  // and the other end
    push(1 + std::ldexp(1.0, -(k % 53)), 1 + std::ldexp(1.0, -(k / 53 % 53)),
         std::ldexp(k & 1 ? 1.0 : -1.0, near(random)));  // ties
  }
  for (const Target& target : targets(kLevels))
    if (can_fuse_doubles(target)) compare(target, {{Op::fma, f64, in, {}}});
}

TEST_CASE("a product and a sum are not contracted") {
  for (const Target& target : kernels::runnable({"x86-64-v3", "x86-64-v4"})) {
    Maker m("apart");
    const ir::Id x = m.tensor("x", f32, {ir::index(3)}), out = m.tensor("out", f32, {ir::index(1)}, true);
    const auto at = [&](std::int64_t k) { return m.load(x, ir::index(k)); };
    m.k.body = {kernels::store(out, ir::index(0), ir::add(ir::mul(at(0), at(1)), at(2)))};
    const float in[3] = {1 + 0x1p-23f, 1 - 0x1p-23f, -1};
    float result = 7;
    const void* args[] = {in, &result};
    REQUIRE(codegen::compile(m.k, target).run(args, nullptr) == ASHLAR_OK);
    CHECK(result == 0);
  }
}
