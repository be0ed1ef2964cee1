// The math functions, expanded, compiled and executed: bit for bit what ir/numeric.h says, scalar and vector, on each level.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/ir/math.h>
#include <ashlar/ir/print.h>

#include "tests/codegen/kernels.h"
#include "tests/support/shell.h"

using namespace ashlar;
using namespace ashlar::ir;
using kernels::Maker;

namespace {

const Op unary_functions[] = {
    Op::exp,       Op::exp2,     Op::expm1,    Op::log,      Op::log2,      Op::log1p,     Op::sin,          Op::cos,
    Op::tan,       Op::asin,     Op::acos,     Op::atan,     Op::sinh,      Op::cosh,      Op::tanh,         Op::erf,
    Op::erfc,      Op::rsqrt,    Op::cbrt,     Op::sigmoid,  Op::fast_exp,  Op::fast_exp2, Op::fast_expm1,   Op::fast_log,
    Op::fast_log2, Op::fast_sin, Op::fast_cos, Op::fast_tan, Op::fast_tanh, Op::fast_erf,  Op::fast_sigmoid, Op::fast_rsqrt};
const Op binary_functions[] = {Op::atan2, Op::pow, Op::fast_pow, Op::mod};
bool takes_two(Op op) {
  return std::find(std::begin(binary_functions), std::end(binary_functions), op) != std::end(binary_functions);
}

// Numbers of every magnitude, and the corners; a multiple of 64 of them.
std::vector<Value> samples(Type t, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(-2, 2), exponent(-30, 30);
  std::vector<Value> all;
  for (double x : {1e300, 0x1p80, -0x1.fp126, 0.0,    -0.0,     1.0,  -1.0,  0.5,      -0.5,      1e-40,       -1e-40,
                   88.8,  -104.5, 709.9,      -746.0, 131072.0, 1e30, -1e30, HUGE_VAL, -HUGE_VAL, std::nan("")})
    all.push_back(float_value(t, x));
  while (all.size() < 1024) {
    all.push_back(float_value(t, unit(random) * std::exp2(exponent(random))));
    all.push_back(float_value(t, 10 * unit(random)));
  }
  all.resize(1024);
  return all;
}

// out[i] = op(x[i], y[i]), as lowering would leave it.
std::vector<Value> compiled(const Target& target, Op op, Type t, int lanes, const std::vector<Value>& x,
                            const std::vector<Value>& y) {
  const auto n = static_cast<std::int64_t>(x.size());
  Maker m("math");
  const ir::Id a = m.tensor("a", t, {ir::index(n)}), b = m.tensor("b", t, {ir::index(n)}),
               out = m.tensor("out", t, {ir::index(n)}, true);
  const Expr i = ir::var(m.next++, "i"), first = ir::mul(i, ir::index(lanes));
  const Expr at = lanes == 1 ? first : ir::ramp(first, ir::index(1), lanes);
  const Expr operands[2] = {m.load(a, at), m.load(b, at)};
  const bool two = takes_two(op);
  m.k.body = {kernels::loop(i, ir::index(n / lanes),
                            {kernels::store(out, at, expand_math_call(op, std::span(operands).first(two ? 2 : 1)))})};
  const auto width = static_cast<std::size_t>(t.bytes());
  std::vector<unsigned char> memory[3];
  for (auto& bytes : memory) bytes.resize(x.size() * width);
  for (std::size_t k = 0; k < x.size(); ++k) {
    write_value(memory[0].data() + k * width, x[k]);
    write_value(memory[1].data() + k * width, y[k]);
  }
  const codegen::Compiled code = codegen::compile(m.k, target);
  const void* args[3] = {memory[0].data(), memory[1].data(), memory[2].data()};
  REQUIRE(code.run(args, nullptr) == ASHLAR_OK);
  std::vector<Value> results;
  for (std::size_t k = 0; k < x.size(); ++k) results.push_back(read_value(t, memory[2].data() + k * width));
  return results;
}

void compare(const Target& target, Op op, Type t, int lanes) {
  const std::vector<Value> x = samples(t, 3), y = samples(t, 4);
  const std::vector<Value> found = compiled(target, op, t, lanes, x, y);
  int wrong = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Value args[2] = {x[k], y[k]};
    const bool two = takes_two(op);
    const Value want = evaluate(op, t, std::span(args).first(two ? 2 : 1)).value();
    if (same_value(want, found[k]) || wrong++ > 3) continue;
    MESSAGE(std::string(target.text()) << " " << op_name(op) << " " << std::string(ir::text(t)) << " in " << lanes
                                       << " lanes of " << ir::text(x[k]) << ", " << ir::text(y[k]) << ": " << ir::text(found[k])
                                       << ", expected " << ir::text(want));
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("math functions agree with the interpreter bit for bit") {
  for (const Target& target : kernels::runnable({"x86-64-v3", "x86-64-v4"})) {
    for (Op op : unary_functions) {
      compare(target, op, f32, target.lanes(f32));
      compare(target, op, f64, target.lanes(f64));
    }
    for (Op op : binary_functions) {
      compare(target, op, f32, target.lanes(f32));
      compare(target, op, f64, target.lanes(f64));
    }
    for (Op op : {Op::exp, Op::sigmoid, Op::fast_tanh}) compare(target, op, f16, target.lanes(f32));
    compare(target, Op::tanh, bf16, 1);
  }
}

// Where fma is made of other operators: of f64 slowly, in integers, so of each kind of expansion one.
TEST_CASE("math functions agree with the interpreter without an instruction for fma") {
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v2"})) {
    for (Op op :
         {Op::exp, Op::log, Op::sin, Op::tanh, Op::erf, Op::rsqrt, Op::cbrt, Op::atan, Op::sigmoid, Op::fast_exp, Op::fast_cos})
      compare(target, op, f32, target.lanes(f32));
    for (Op op : {Op::exp, Op::log, Op::tan}) compare(target, op, f64, 1);
    compare(target, Op::pow, f32, 1);
  }
}

TEST_CASE("every function on a target without operating system needs nothing else") {
  for (const char* name : {"x86-64-none", "x86-64-v4-none", "aarch64-none"}) {
    const Target target = Target::parse(name);
    Maker m("all_of_them");
    for (Type t : {f32, f64}) {
      const ir::Id x = m.tensor("x" + std::to_string(t.bits), t, {ir::index(16)}),
                   y = m.tensor("y" + std::to_string(t.bits), t, {ir::index(16)});
      const Expr at = ir::ramp(ir::index(0), ir::index(1), target.lanes(t));
      const Expr operands[] = {m.load(x, at), m.load(y, at)};
      const auto add = [&](Op op, std::size_t count) {
        const ir::Id out = m.tensor(std::string(op_name(op)) + std::to_string(t.bits), t, {ir::index(16)}, true);
        m.k.body.push_back(kernels::store(out, at, expand_math_call(op, std::span(operands).first(count))));
      };
      for (Op op : unary_functions) add(op, 1);
      for (Op op : binary_functions) add(op, 2);
    }
    const codegen::Output kinds[] = {codegen::Output::object};
    const test::TemporaryFolder folder;
    const std::string path = folder.file("math.o");
    std::ofstream(path, std::ios::binary) << codegen::emit(m.k, target, kinds)[0];
    std::FILE* nm = popen(("nm -u " + path).c_str(), "r");
    REQUIRE(nm != nullptr);
    std::string undefined;
    for (int ch; (ch = std::fgetc(nm)) != EOF;) undefined += static_cast<char>(ch);
    CHECK(pclose(nm) == 0);
    INFO(std::string(name));
    CHECK(undefined == "");
  }
}
