// The math functions, expanded, compiled and executed: bit for bit what ir/numeric.h says, scalar and vector, on each level.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <span>

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

// For each of the functions out[i] = op(x[i], y[i]), as lowering would leave it: a loop each in one kernel, the results one
// behind the other in one tensor.
std::vector<std::vector<Value>> compiled(const Target& target, std::span<const Op> ops, Type t, int lanes,
                                         const std::vector<Value>& x, const std::vector<Value>& y) {
  const auto n = static_cast<std::int64_t>(x.size());
  Maker m("math");
  const ir::Id a = m.tensor("a", t, {ir::index(n)}), b = m.tensor("b", t, {ir::index(n)}),
               out = m.tensor("out", t, {ir::index(n * static_cast<std::int64_t>(ops.size()))}, true);
  std::int64_t begin = 0;
  for (const Op op : ops) {
    const Expr i = ir::var(m.fresh(), "i");
    const auto at = [&](std::int64_t from) {
      const Expr first = ir::add(ir::mul(i, ir::index(lanes)), ir::index(from));
      return lanes == 1 ? first : ir::ramp(first, ir::index(1), lanes);
    };
    const Expr operands[2] = {m.load(a, at(0)), m.load(b, at(0))};
    const Expr value = expand_math_call(op, std::span(operands).first(takes_two(op) ? 2 : 1));
    m.k.body.push_back(kernels::loop(i, ir::index(n / lanes), {kernels::store(out, at(begin), value)}));
    begin += n;
  }
  const auto width = static_cast<std::size_t>(t.bytes());
  std::vector<unsigned char> memory[3];
  memory[0].resize(x.size() * width), memory[1].resize(x.size() * width), memory[2].resize(x.size() * width * ops.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    write_value(memory[0].data() + k * width, x[k]);
    write_value(memory[1].data() + k * width, y[k]);
  }
  const codegen::Compiled code = codegen::compile(m.k, target);
  const void* args[3] = {memory[0].data(), memory[1].data(), memory[2].data()};
  REQUIRE(code.run(args, nullptr) == ASHLAR_OK);
  std::vector<std::vector<Value>> results(ops.size());
  const unsigned char* at = memory[2].data();
  for (auto& of : results)
    for (std::size_t k = 0; k < x.size(); ++k, at += width) of.push_back(read_value(t, at));
  return results;
}

void compare(const Target& target, std::span<const Op> ops, Type t, int lanes) {
  constexpr std::size_t together = 9;
  if (ops.size() > together) {
    compare(target, ops.first(together), t, lanes);
    return compare(target, ops.subspan(together), t, lanes);
  }
  const std::vector<Value> x = samples(t, 3), y = samples(t, 4);
  const std::vector<std::vector<Value>> found = compiled(target, ops, t, lanes, x, y);
  for (std::size_t f = 0; f < ops.size(); ++f) {
    int wrong = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Value args[2] = {x[k], y[k]};
      const Value want = evaluate(ops[f], t, std::span(args).first(takes_two(ops[f]) ? 2 : 1)).value();
      if (same_value(want, found[f][k]) || wrong++ > 3) continue;
      MESSAGE(std::string(target.text()) << " " << op_name(ops[f]) << " " << std::string(ir::text(t)) << " in " << lanes
                                         << " lanes of " << ir::text(x[k]) << ", " << ir::text(y[k]) << ": "
                                         << ir::text(found[f][k]) << ", expected " << ir::text(want));
    }
    CHECK(wrong == 0);
  }
}
void compare(const Target& target, std::initializer_list<Op> ops, Type t, int lanes) {
  compare(target, std::span(ops.begin(), ops.size()), t, lanes);
}

}  // namespace

TEST_CASE("math functions agree with the interpreter bit for bit") {
  for (const Target& target : kernels::runnable({"x86-64-v3", "x86-64-v4"})) {
    for (Type t : {f32, f64}) {
      compare(target, unary_functions, t, target.lanes(t));
      compare(target, binary_functions, t, target.lanes(t));
    }
    compare(target, {Op::exp, Op::sigmoid, Op::fast_tanh}, f16, target.lanes(f32));
    compare(target, {Op::tanh}, bf16, 1);
  }
}

// Where fma is made of other operators: of f64 slowly, in integers, so of each kind of expansion one.
TEST_CASE("math functions agree with the interpreter without an instruction for fma") {
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v2"})) {
    compare(
        target,
        {Op::exp, Op::log, Op::sin, Op::tanh, Op::erf, Op::rsqrt, Op::cbrt, Op::atan, Op::sigmoid, Op::fast_exp, Op::fast_cos},
        f32, target.lanes(f32));
    compare(target, {Op::exp, Op::log, Op::tan}, f64, 1);
    compare(target, {Op::pow}, f32, 1);
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
      constexpr auto functions = static_cast<std::int64_t>(std::size(unary_functions) + std::size(binary_functions));
      const ir::Id out = m.tensor("out" + std::to_string(t.bits), t, {ir::index(16 * functions)}, true);
      std::int64_t begin = 0;
      const auto add = [&](Op op, std::size_t count) {
        const Expr to = ir::ramp(ir::index(begin), ir::index(1), target.lanes(t));
        m.k.body.push_back(kernels::store(out, to, expand_math_call(op, std::span(operands).first(count))));
        begin += 16;
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
