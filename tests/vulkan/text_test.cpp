// What the translator writes: golden disassembly of small modules, tables "this expression has this instruction", and every
// module of the tests through the spirv-val program as well as through the library.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include <doctest/doctest.h>

#include <ashlar/ir/placed_text.h>
#include <ashlar/ir/refusal.h>

#include "tests/golden.h"
#include "tests/support/text_rows.h"
#include "tests/vulkan/device.h"
#include "tests/vulkan/programs.h"

using namespace launches;
using text_rows::has;
namespace spirv = codegen::spirv;

namespace {

// The text of a kernel that stores f(x[thread], y[thread], z[thread]).
std::string text_of(Type t, Type result, const std::function<Expr(Expr, Expr, Expr)>& f, const spirv::Options& options = {}) {
  Builder b("one");
  const Id x = b.input("x", t, {num(8)}), y = b.input("y", t, {num(8)}), z = b.input("z", t, {num(8)});
  const Id out = b.output("out", result, {num(8)});
  b.launch(num(1), 8, 0, [&](const Expr&, const Expr& thread) {
    b.store(out, thread, f(b.at(x, thread), b.at(y, thread), b.at(z, thread)));
  });
  return spirv::disassemble(spirv::translate(b.k, options).words);
}

}  // namespace

TEST_CASE("expressions and their instructions") {
  using ir::Op;
  using text_rows::bin, text_rows::un;
  text_rows::check(
      {
          {"a sum of f32 is one addition, never contracted", f32, f32, bin(Op::add), {"OpFAdd", "NoContraction"}, {"OpFMul"}},
          {"a product and a sum stay two",
           f32,
           f32,
           [](Expr x, Expr y, Expr z) { return ir::add(ir::mul(x, y), z); },
           {"OpFMul", "OpFAdd", "NoContraction"},
           {"Fma"}},
          {"fma is Fma", f32, f32, [](Expr x, Expr y, Expr z) { return ir::fma(x, y, z); }, {"Fma"}, {"OpFMul", "OpFAdd"}},
          {"sqrt", f32, f32, un(Op::sqrt), {"Sqrt"}, {}},
          {"round to even", f32, f32, un(Op::round), {"RoundEven"}, {}},
          {"a signed comparison",
           i32,
           bool_,
           [](Expr x, Expr y, Expr) { return ir::lt(x, y); },
           {"OpSLessThan"},
           {"OpULessThan"}},
          {"an unsigned comparison",
           u32,
           bool_,
           [](Expr x, Expr y, Expr) { return ir::lt(x, y); },
           {"OpULessThan"},
           {"OpSLessThan"}},
          {"a comparison of floats is ordered",
           f32,
           bool_,
           [](Expr x, Expr y, Expr) { return ir::lt(x, y); },
           {"OpFOrdLessThan"},
           {}},
          {"ne of floats is unordered",
           f32,
           bool_,
           [](Expr x, Expr y, Expr) { return ir::ne(x, y); },
           {"OpFUnordNotEqual"},
           {}},
          {"division by a power of two is a shift",
           i32,
           i32,
           [](Expr x, Expr, Expr) { return ir::binary(Op::div, x, ir::int_const(i32, 8)); },
           {"OpShiftRightArithmetic"},
           {"OpSDiv"}},
          {"division by another constant has no test for zero",
           i32,
           i32,
           [](Expr x, Expr, Expr) { return ir::binary(Op::trunc_div, x, ir::int_const(i32, 7)); },
           {"OpSDiv"},
           {"OpSelect"}},
          {"a remainder is never OpSRem, which is not defined for negative operands",
           i32,
           i32,
           bin(Op::mod),
           {"OpSDiv", "OpISub"},
           {"OpSRem", "OpSMod"}},
          {"a quotient of 64 bits by a number is one of magnitudes",
           i64,
           i64,
           [](Expr x, Expr, Expr) { return ir::binary(Op::mod, x, ir::int_const(i64, 3)); },
           {"OpUDiv"},
           {"OpSDiv"}},
          {"f64 to f32", f64, f32, [](Expr x, Expr, Expr) { return ir::cast(f32, x); }, {"OpFConvert"}, {}},
          {"8-bit elements", u8, u8, bin(Op::add), {"OpCapability Int8", "StorageBuffer8BitAccess", "Aligned 1"}, {}},
          {"popcount", u32, u32, un(Op::popcount), {"OpBitCount"}, {}},
      },
      [](Type t, Type result, const text_rows::Formula& f) { return text_of(t, result, f); });
  const std::string emulated =
      text_of(f32, f32, [](Expr x, Expr y, Expr z) { return ir::fma(x, y, z); }, {.native_fma = false});
  CHECK(has(emulated, "OpCapability Float64"));
  CHECK(!has(emulated, "Fma"));
}

TEST_CASE("vectors: one access for four lanes, as aligned as is known") {
  const std::string text = spirv::disassemble(spirv::translate(programs::elementwise_vectors().k).words);
  CHECK(has(text, "%v4float"));
  CHECK(has(text, "OpLoad %v4float"));
}

TEST_CASE("a register tile lives in values, not in arrays") {
  const std::string text = spirv::disassemble(spirv::translate(programs::matmul().k).words);
  CHECK(!has(text, "OpVariable %_ptr_Function"));
  CHECK(has(text, "OpControlBarrier"));
  CHECK(has(text, "%uint_264 = OpConstant %uint 264"));  // AcquireRelease | WorkgroupMemory
}

TEST_CASE("a barrier of the warp is one of the subgroup, in execution and in memory") {
  const spirv::Code code = spirv::translate(programs::warp_reversed(f32, 8).k);
  CHECK(code.entries.at(0).uses_subgroups);  // so the runtime checks the number of lanes
  const std::string text = spirv::disassemble(code.words);
  CHECK(has(text, "OpControlBarrier %uint_3 %uint_3 %uint_264"));
}

TEST_CASE("the same kernel gives the same words") {
  CHECK(spirv::translate(programs::matmul().k).words == spirv::translate(programs::matmul().k).words);
}

namespace {

// The text without lines, and with ids in the order in which they occur: %7, %_struct_5.
std::string without_lines(const std::string& text) {
  static const std::regex id("%([0-9]+)\\b|_struct_([0-9]+)");
  std::istringstream in(text);
  std::string out;
  std::map<std::string, std::string> numbers;
  for (std::string line; std::getline(in, line);) {
    if (has(line, "OpLine ") || has(line, "= OpString ") || has(line, "OpNoLine")) continue;
    std::string::const_iterator from =
        line.cbegin() + static_cast<std::ptrdiff_t>(std::min(line.find_first_not_of(' '), line.size()));
    for (std::smatch found; std::regex_search(from, line.cend(), found, id); from = found.suffix().first) {
      const std::string number = found[1].matched ? found[1] : found[2];
      out += found.prefix().str() + "#" + numbers.try_emplace(number, std::to_string(numbers.size())).first->second;
    }
    out += std::string(from, line.cend()) + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("lines of the user's are in the module, and change nothing else") {
  const Where here[] = {
      Where::current(),  // the first line of the kernel's text, and so on
      Where::current(), Where::current(), Where::current(), Where::current(), Where::current(), Where::current(),
      Where::current(), Where::current(), Where::current(), Where::current(), Where::current(), Where::current(),
  };
  for (const Builder& b : {programs::elementwise(), programs::transposition(), programs::matmul(), programs::row_softmax()}) {
    INFO(b.k.name);
    ir::Kernel k = b.k;
    ir::place_at_lines(k, here);
    const spirv::Code code = spirv::translate(k, {.line_tables = true});
    CHECK(spirv::invalid(code.words) == "");
    const std::string text = spirv::disassemble(code.words), plain = spirv::disassemble(spirv::translate(k).words);
    CHECK(has(text, "OpString \"tests/vulkan/text_test.cpp\""));
    CHECK(has(text, "OpLine "));
    CHECK(!has(plain, "OpLine "));
    CHECK(!has(plain, "OpString "));
    CHECK(without_lines(text) == without_lines(plain));
    const std::string whole = spirv::disassemble(spirv::translate(k, {.optimize = false, .line_tables = true}).words);
    CHECK(without_lines(whole) == without_lines(spirv::disassemble(spirv::translate(k, {.optimize = false}).words)));
  }
}

TEST_CASE("golden modules") {
  for (const Builder& b : {programs::elementwise(), programs::transposition()})
    CHECK(golden("vulkan/golden/" + b.k.name + ".spvasm", spirv::disassemble(spirv::translate(b.k).words)) == "");
}

TEST_CASE("spirv-val takes every module") {
  const char* where = std::getenv("TMPDIR");
  const std::string path = std::string(where ? where : "/tmp") + "/ashlar_vulkan_text.spv";
  for (const Builder& b : {programs::elementwise(), programs::elementwise_vectors(), programs::large_sum(f32),
                           programs::large_sum(i32), programs::transposition(), programs::matmul(), programs::row_softmax(),
                           programs::warp_sums(f16, 8), programs::warp_reversed(f32, 8)})
    for (const spirv::Options& o : {spirv::Options{}, spirv::Options{.native_fma = false}, spirv::Options{.optimize = false}}) {
      const spirv::Code code = spirv::translate(b.k, o);
      CHECK(spirv::invalid(code.words) == "");
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(code.words.data()), static_cast<std::streamsize>(code.words.size() * 4));
      INFO(b.k.name);
      CHECK(std::system(("spirv-val --target-env vulkan1.2 --scalar-block-layout " + path).c_str()) == 0);
    }
  std::vector<std::uint32_t> broken = spirv::translate(programs::elementwise().k).words;
  broken[broken.size() - 3] ^= 0x00FF0000;  // and what is broken is told
  CHECK(spirv::invalid(broken) != "");
}
